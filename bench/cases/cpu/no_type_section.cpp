#include "cases/cpu/sections.hpp"

#include <stdexcept>

namespace bench::cpu {

void run_type(const Setting &, const std::string &, std::int64_t) {
    throw std::runtime_error("built without the tool, whose language types are given in");
}

} // namespace bench::cpu
