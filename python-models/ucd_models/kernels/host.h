// Moves on the host. host.cpp is compiled for several instruction sets, each in a namespace of its
// own.
#pragma once

#include "member.h"

#include <cstddef>

namespace ucd_models {

// The formats by the numbers that the Python side gives them. An element that is not converted has
// so many bytes.
enum class Number : uint32_t {
    float32,
    bfloat16,
    float16,
    e4m3,
    e5m2,
    bytes1 = 8,
    bytes2,
    bytes4,
    bytes8
};

struct Kind {
    Number from, to;
    bool saturate;
};

namespace plain {
void run(const Member *members, std::size_t count, Kind kind);
}
#if defined(__x86_64__)
namespace with_avx2 {
void run(const Member *members, std::size_t count, Kind kind);
}
namespace with_avx512 {
void run(const Member *members, std::size_t count, Kind kind);
}
#endif

} // namespace ucd_models
