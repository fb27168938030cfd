// Recommends how to send data of a layout: as I/O vectors, by a copy engine, or packed.
#pragma once

#include "layout.h"

#include <string>

namespace ucd {

// One of none, iov, dma and pack, and the reason: "iov: 16 segments of 4096 bytes: ...".
std::string advice_for(const Layout &layout);

} // namespace ucd
