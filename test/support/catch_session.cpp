#define CATCH_CONFIG_RUNNER
#include "support/catch_session.hpp"
#include "support/catch.hpp"

namespace {

Catch::Session &session() {
    static Catch::Session one;
    return one;
}

} // namespace

int ucdtest::read_command_line(int argc, char **argv) {
    return session().applyCommandLine(argc, argv);
}

int ucdtest::run_session() {
    return session().run();
}
