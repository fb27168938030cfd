#include "plugin_probe.hpp"

int main(int count, char **arguments) {
    return probe_plugin(count, arguments);
}
