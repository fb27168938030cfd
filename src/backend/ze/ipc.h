// Sharing of device memory between processes.
#pragma once

namespace ucd::ze {

// Must be called before memory is freed: closes the descriptor by which other processes opened it.
void forget_export(void *memory);

} // namespace ucd::ze
