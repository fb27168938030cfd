// What the figures were measured on and with.
#pragma once

#include "report/result.hpp"

namespace bench {

Facts machine_facts();

} // namespace bench
