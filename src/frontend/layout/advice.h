// How data of a layout is best sent: as I/O vectors, by a copy engine, or packed.
#pragma once

#include "layout.h"

#include <string>

namespace ucd {

// "iov: 16 segments of 4096 bytes: ..." - none, iov, dma or pack, and the reason.
std::string advice_for(const Layout &layout);

} // namespace ucd
