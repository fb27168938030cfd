// Device memory that several processes use.
#pragma once

namespace ucd::ze {

// Before memory is freed: lets go of what other processes opened it by.
void forget_export(void *memory);

} // namespace ucd::ze
