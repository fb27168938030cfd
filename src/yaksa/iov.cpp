// I/O vectors. libucd joins segments of neighbouring elements; yaksa does not.
#include "failure.h"
#include "type.h"

#include <algorithm>

namespace ucd_yaksa {
namespace {

// The segments of `count` elements.
struct ListedSegments {
    bool contiguous;           // all elements are one segment
    std::uintptr_t in_element; // otherwise the segments of each element
    std::uintptr_t number, bytes;
};

int segments_of(std::uintptr_t count, const Type &type, ListedSegments &segments) {
    UCD_TRY(from_ucd(ucd_iov_len(1, type.layout, &segments.in_element)));
    if (__builtin_mul_overflow(count, type.size, &segments.bytes) ||
        __builtin_mul_overflow(count, segments.in_element, &segments.number))
        return fail(YAKSA_ERR__INTERNAL, "count times the type does not fit uintptr_t");
    // If an element has no gaps and its extent is its size, there are no gaps between elements
    // either. A type without data counts as contiguous, too.
    segments.contiguous =
        segments.in_element <= 1 && type.extent == static_cast<std::intptr_t>(type.size);
    if (segments.contiguous) segments.number = 1;
    return YAKSA_SUCCESS;
}

int whole_segment(const char *buf, const Type &type, std::uintptr_t bytes, struct iovec &entry) {
    std::intptr_t true_lb = 0, true_extent = 0;
    UCD_TRY(from_ucd(ucd_get_true_extent(type.layout, &true_lb, &true_extent)));
    entry.iov_base = reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(buf) +
                                              static_cast<std::uintptr_t>(true_lb));
    entry.iov_len = bytes;
    return YAKSA_SUCCESS;
}

int list(const char *buf, std::uintptr_t count, const Type &type, std::uintptr_t first,
         struct iovec *iov, std::uintptr_t room, std::uintptr_t *written) {
    ListedSegments segments;
    UCD_TRY(segments_of(count, type, segments));
    const std::uintptr_t left = first < segments.number ? segments.number - first : 0;
    const std::uintptr_t wanted = std::min(room, left);
    if (wanted != 0 && iov == nullptr)
        return fail(YAKSA_ERR__INTERNAL, "iov is NULL; max_iov_len is not 0");
    if (wanted == 0) {
        *written = 0;
        return YAKSA_SUCCESS;
    }
    if (segments.contiguous) {
        UCD_TRY(whole_segment(buf, type, segments.bytes, iov[0]));
        *written = 1;
        return YAKSA_SUCCESS;
    }
    // libucd's segments are the same, unless an element ends where the next one begins.
    std::uintptr_t joined = 0, got = 0;
    UCD_TRY(from_ucd(ucd_iov_len(count, type.layout, &joined)));
    if (joined == segments.number)
        return from_ucd(ucd_iov(buf, count, type.layout, first, iov, wanted, written));
    std::uintptr_t element = first / segments.in_element, skipped = first % segments.in_element;
    for (std::uintptr_t done = 0; done < wanted; done += got, ++element, skipped = 0) {
        const std::uintptr_t at = element * static_cast<std::uintptr_t>(type.extent);
        const void *const start =
            reinterpret_cast<const void *>(reinterpret_cast<std::uintptr_t>(buf) + at);
        UCD_TRY(from_ucd(ucd_iov(start, 1, type.layout, skipped, iov + done, wanted - done, &got)));
    }
    *written = wanted;
    return YAKSA_SUCCESS;
}

int largest_number(std::uintptr_t count, const Type &type, std::uintptr_t max_bytes,
                   std::uintptr_t *number, std::uintptr_t *bytes) {
    ListedSegments segments;
    UCD_TRY(segments_of(count, type, segments));
    if (segments.bytes <= max_bytes) {
        *number = segments.number;
        *bytes = segments.bytes;
        return YAKSA_SUCCESS;
    }
    if (segments.contiguous) {
        *number = *bytes = 0;
        return YAKSA_SUCCESS;
    }
    const std::uintptr_t elements = max_bytes / type.size;
    std::uintptr_t more = 0, more_bytes = 0;
    UCD_TRY(from_ucd(ucd_iov_len_max(1, type.layout, max_bytes % type.size, &more, &more_bytes)));
    *number = elements * segments.in_element + more;
    *bytes = elements * type.size + more_bytes;
    return YAKSA_SUCCESS;
}

} // namespace
} // namespace ucd_yaksa

using namespace ucd_yaksa;

int yaksa_iov_len(uintptr_t count, yaksa_type_t type, uintptr_t *iov_len) {
    return guarded(__func__, [&] {
        if (iov_len == nullptr) return fail(YAKSA_ERR__INTERNAL, "iov_len is NULL; it must not be");
        const Type *known = nullptr;
        ListedSegments segments;
        UCD_TRY(find_type(type, known));
        UCD_TRY(segments_of(count, *known, segments));
        *iov_len = segments.number;
        return YAKSA_SUCCESS;
    });
}

int yaksa_iov_len_max(uintptr_t count, yaksa_type_t type, uintptr_t max_iov_bytes,
                      uintptr_t *iov_len, uintptr_t *actual_iov_bytes) {
    return guarded(__func__, [&] {
        if (iov_len == nullptr || actual_iov_bytes == nullptr)
            return fail(YAKSA_ERR__INTERNAL, "an output is NULL; it must not be");
        const Type *known = nullptr;
        UCD_TRY(find_type(type, known));
        return largest_number(count, *known, max_iov_bytes, iov_len, actual_iov_bytes);
    });
}

int yaksa_iov(const char *buf, uintptr_t count, yaksa_type_t type, uintptr_t iov_offset,
              struct iovec *iov, uintptr_t max_iov_len, uintptr_t *actual_iov_len) {
    return guarded(__func__, [&] {
        if (actual_iov_len == nullptr)
            return fail(YAKSA_ERR__INTERNAL, "actual_iov_len is NULL; it must not be");
        const Type *known = nullptr;
        UCD_TRY(find_type(type, known));
        return list(buf, count, *known, iov_offset, iov, max_iov_len, actual_iov_len);
    });
}
