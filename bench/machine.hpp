// What the figures were measured on and with.
#pragma once

#include "report.hpp"

namespace bench {

Facts machine_facts();

} // namespace bench
