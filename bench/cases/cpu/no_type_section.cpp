#include "cases/sections.hpp"

#include <stdexcept>

namespace bench::cpu {

void run_type(const Setting &) {
    throw std::runtime_error("built without the tool, whose language types are given in");
}

} // namespace bench::cpu
