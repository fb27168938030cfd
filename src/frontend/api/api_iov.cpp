// The functions that list I/O vectors.

#include "api/api_guard.h"
#include "api/whole.h"
#include "entry_holding.h"
#include "layout/segments.h"

#include <ucd.h>

using namespace ucd;

namespace {

// (count, type) as one node. If there is nothing to list, the node is not set.
struct Listed : Whole {
    Node top;
    uint64_t segments() const { return top.segments.count; }
};

Status whole_of(uintptr_t count, ucd_type_t type, Listed &whole) {
    UCD_TRY(find_whole(count, type, whole));
    if (whole.bytes > 0)
        whole.top = repeat(whole.layout->top(), whole.layout->root, count, whole.type->extent());
    return success;
}

Status array_present(const struct iovec *iov, uintptr_t max_iov_len) {
    return max_iov_len == 0 ? success : require(iov, "iov");
}

auto store_into(const void *buf, struct iovec *iov, uint64_t *bytes) {
    return [=](uint64_t i, const Segment &s) {
        iov[i].iov_base = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(buf) +
                                                   static_cast<uintptr_t>(s.displ));
        iov[i].iov_len = s.bytes;
        if (bytes != nullptr) *bytes += s.bytes;
    };
}

} // namespace

int ucd_iov_len(uintptr_t count, ucd_type_t type, uintptr_t *iov_len) {
    return guard("ucd_iov_len", [&]() -> Status {
        Listed whole;
        UCD_TRY(whole_of(count, type, whole));
        UCD_TRY(require(iov_len, "iov_len"));
        *iov_len = whole.segments();
        return success;
    });
}

int ucd_iov_len_max(uintptr_t count, ucd_type_t type, uintptr_t max_iov_bytes, uintptr_t *iov_len,
                    uintptr_t *actual_iov_bytes) {
    return guard("ucd_iov_len_max", [&]() -> Status {
        Listed whole;
        UCD_TRY(whole_of(count, type, whole));
        UCD_TRY(require(iov_len, "iov_len"));
        UCD_TRY(require(actual_iov_bytes, "actual_iov_bytes"));
        // Finds the last segment boundary at or below the limit.
        const auto start = [&](uint64_t segment) {
            return segment_start(*whole.layout, whole.top, segment);
        };
        *iov_len = entry_holding(whole.segments() + 1, max_iov_bytes, start);
        *actual_iov_bytes = *iov_len > 0 ? start(*iov_len) : 0;
        return success;
    });
}

int ucd_iov(const void *buf, uintptr_t count, ucd_type_t type, uintptr_t iov_offset,
            struct iovec *iov, uintptr_t max_iov_len, uintptr_t *actual_iov_len) {
    return guard("ucd_iov", [&]() -> Status {
        Listed whole;
        UCD_TRY(whole_of(count, type, whole));
        UCD_TRY(require(actual_iov_len, "actual_iov_len"));
        UCD_TRY(array_present(iov, max_iov_len));
        UCD_TRY(check_first("iov_offset", iov_offset, whole.segments(), "segments"));
        uint64_t listed = 0;
        if (iov_offset < whole.segments() && max_iov_len > 0) {
            const uint64_t start = segment_start(*whole.layout, whole.top, iov_offset);
            listed = list_segments(*whole.layout, whole.top, start, whole.bytes - start,
                                   max_iov_len, store_into(buf, iov, nullptr));
        }
        *actual_iov_len = listed;
        return success;
    });
}

int ucd_iov_bytes(const void *buf, uintptr_t count, ucd_type_t type, uintptr_t offset,
                  uintptr_t max_bytes, struct iovec *iov, uintptr_t max_iov_len,
                  uintptr_t *actual_iov_len, uintptr_t *actual_bytes) {
    return guard("ucd_iov_bytes", [&]() -> Status {
        Listed whole;
        UCD_TRY(whole_of(count, type, whole));
        UCD_TRY(require(actual_iov_len, "actual_iov_len"));
        UCD_TRY(require(actual_bytes, "actual_bytes"));
        UCD_TRY(array_present(iov, max_iov_len));
        if (offset > whole.bytes)
            return fail(UCD_ERR__INVALID_ARG,
                        "offset is %ju; it must be at most the packed size, %ju",
                        static_cast<uintmax_t>(offset), static_cast<uintmax_t>(whole.bytes));
        uint64_t listed = 0, bytes = 0;
        if (whole.bytes > 0)
            listed = list_segments(*whole.layout, whole.top, offset,
                                   std::min<uint64_t>(whole.bytes - offset, max_bytes), max_iov_len,
                                   store_into(buf, iov, &bytes));
        *actual_iov_len = listed;
        *actual_bytes = bytes;
        return success;
    });
}
