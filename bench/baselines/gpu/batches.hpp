// Kernels that do many small packs at once, each written for what its members have in common.
#pragma once

#include <cstdint>

namespace bench::gpu::hand {

// Rows of bytes in planes, and where their packed bytes go.
struct BoxMember {
    const char *from;
    char *to;
    std::int64_t row_stride, plane_stride;
    std::int32_t row, rows, planes;
};

// A block of threads for each member; `members` is in device memory. In the null stream.
void pack_rows_of_64(const BoxMember *members, unsigned number); // one plane, rows of 64 bytes
void add_rows_of_64(const BoxMember *members, unsigned number);  // as doubles
void pack_boxes_of_doubles(const BoxMember *members, unsigned number);
void pack_pages(const BoxMember *members, unsigned number); // one row, a multiple of 16 bytes

} // namespace bench::gpu::hand
