// From views to types of libucd.
#include "core/view.h"

#include <algorithm>
#include <array>

namespace ucdpy {

namespace {

constexpr int cached_dims = 6;
constexpr std::size_t cached_types = 64;

// What the type of a strided view depends on.
struct Key {
    ucd_type_t element = UCD_TYPE__NULL;
    intptr_t ndim = -1;
    std::array<intptr_t, cached_dims> shape{}, strides{};

    bool operator==(const Key &) const = default;
    std::size_t slot() const {
        uint64_t h = reinterpret_cast<uintptr_t>(element);
        for (intptr_t k = 0; k < ndim; ++k) {
            h = (h ^ static_cast<uint64_t>(shape[static_cast<std::size_t>(k)])) *
                0x9E3779B97F4A7C15u;
            h = (h ^ static_cast<uint64_t>(strides[static_cast<std::size_t>(k)])) *
                0xC2B2AE3D27D4EB4Fu;
            h ^= h >> 29;
        }
        return (h ^ h >> 32) % cached_types;
    }
};

struct Entry {
    Key key;
    SharedType type;
};

// The entry's type holds a reference to its element, so no other type gets that handle.
thread_local std::array<Entry, cached_types> type_cache;

SharedType make(int ndim, const intptr_t *shape, const intptr_t *strides, ucd_type_t element) {
    ucd_type_t made = UCD_TYPE__NULL;
    check(ucd_create_ndarray(ndim, shape, strides, element, UCD_INFO__NULL, &made));
    return std::make_shared<const TypeHandle>(made, true);
}

const SharedType &cached(int ndim, const intptr_t *shape, const intptr_t *strides,
                         ucd_type_t element) {
    Key key;
    key.element = element;
    key.ndim = ndim;
    std::copy_n(shape, ndim, key.shape.begin());
    std::copy_n(strides, ndim, key.strides.begin());
    Entry &entry = type_cache[key.slot()];
    if (!(entry.key == key)) entry = {key, make(ndim, shape, strides, element)};
    return entry.type;
}

} // namespace

SharedType shared_type(int ndim, const intptr_t *shape, const intptr_t *strides,
                       ucd_type_t element) {
    return ndim > cached_dims ? make(ndim, shape, strides, element)
                              : cached(ndim, shape, strides, element);
}

Typed typed(const View &view) {
    Typed t;
    t.keep = view.element_owner();
    if (view.contiguous()) {
        t.type = view.element;
        t.count = static_cast<uintptr_t>(view.size());
        return t;
    }
    t.owner = shared_type(view.ndim, view.shape, view.strides, view.element);
    t.type = t.owner->get();
    return t;
}

View::Range touched(const Typed &whole) {
    intptr_t lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    check(ucd_get_extent(whole.type, &lb, &extent));
    check(ucd_get_true_extent(whole.type, &true_lb, &true_extent));
    View::Range range;
    if (whole.count == 0 || true_extent == 0) return range;
    intptr_t last = 0;
    bool fits = !__builtin_mul_overflow(static_cast<intptr_t>(whole.count) - 1, extent, &last);
    fits = fits && !__builtin_add_overflow(true_lb, std::min<intptr_t>(last, 0), &range.low);
    fits = fits &&
           !__builtin_add_overflow(true_lb + true_extent, std::max<intptr_t>(last, 0), &range.high);
    if (!fits) raise(PyExc_OverflowError, "the type's range of bytes does not fit");
    return range;
}

Typed typed(const View &view, const Type &type, intptr_t count, const char *what) {
    if (count < 0) raise(PyExc_ValueError, "count is %zd; it must be >= 0", count);
    Typed t;
    t.owner = type.handle();
    t.type = type.get();
    t.count = static_cast<uintptr_t>(count);
    t.indices = type.indices();
    // Where the type's bytes are must be memory of the array: a Python program cannot know better.
    const View::Range used = touched(t), memory = view.range();
    if (used.low != used.high && (used.low < memory.low || used.high > memory.high))
        raise(PyExc_ValueError,
              "the type touches bytes %zd to %zd of %s, whose memory is bytes %zd to %zd", used.low,
              used.high, what, memory.low, memory.high);
    return t;
}

} // namespace ucdpy
