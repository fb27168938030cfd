// A range of an array that has another owner.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace ucd {

// Like std::span, but its layout in memory does not depend on the C++ library, because it crosses
// the boundary between libucd and its plugins.
template <class T>
class Span {
public:
    constexpr Span() = default;
    constexpr explicit Span(T *data, std::size_t size) : data_(data), size_(size) {}
    template <class Range>
    requires std::is_convertible_v <
        std::remove_pointer_t<decltype(std::data(std::declval<Range &>()))>(*)
    [],
        T (*)[] >
            // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): a span of a span is its copy
            constexpr Span(Range &&range) : data_(std::data(range)),
    size_(std::size(range)) {}

    constexpr T *data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T &operator[](std::size_t i) const { return data_[i]; }
    constexpr T &front() const { return data_[0]; }
    constexpr T &back() const { return data_[size_ - 1]; }
    constexpr T *begin() const { return data_; }
    constexpr T *end() const { return data_ + size_; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace ucd
