// SPIR-V on PoCL.
#pragma once

#include "support/ze_driver/state.h"

namespace zedriver {

Result make_module(Context *context, const ze_module_desc_t &description, Module *&module);
// The work of a launch; `often`: which may be done several times.
std::function<void()> launch(const Kernel &kernel, const ze_group_count_t &groups, bool often);

} // namespace zedriver
