#include "preload/shapes.h"

#include "preload/tuning.h"

#include <algorithm>
#include <bit>

namespace ucd_mpi {
namespace {

// The number's two highest bits. Programs that send whatever has changed, such as particles that
// leave a cell, have a slightly different number of bytes each time.
std::uint64_t roughly(std::int64_t number) {
    const auto all = static_cast<std::uint64_t>(number);
    const int dropped = std::max(static_cast<int>(std::bit_width(all)) - 2, 0);
    return all >> dropped << dropped;
}

} // namespace

Shape shape_of(std::int64_t size, std::int64_t extent) {
    const auto mixed = (roughly(size) * 0x9e3779b97f4a7c15 ^ roughly(extent)) * 0xbf58476d1ce4e5b9;
    return mixed | 1; // 0 means none
}

std::uint64_t Shapes::bytes_to_read(Shape shape) const {
    const Known &known = place_of(shape);
    if (known.shape.load(std::memory_order_acquire) != shape) return bytes_to_read_first;
    return known.bytes.load(std::memory_order_relaxed);
}

bool Shapes::is_unsettled(Shape shape) const {
    const Known &known = place_of(shape);
    return known.shape.load(std::memory_order_acquire) == shape &&
           !known.settled.load(std::memory_order_relaxed);
}

void Shapes::did_not_pay(Shape shape) {
    const Known &known = place_of(shape);
    if (known.shape.load(std::memory_order_acquire) == shape &&
        known.settled.load(std::memory_order_relaxed))
        return; // a measured value is not replaced by the default
    remember(shape, bytes_to_read_again, false);
}

void Shapes::settle(Shape shape, std::uint64_t bytes) {
    remember(shape, std::clamp(bytes, min_bytes_to_read, max_bytes_to_read), true);
}

void Shapes::remember(Shape shape, std::uint64_t bytes, bool settled) {
    Known &known = place_of(shape);
    known.bytes.store(bytes, std::memory_order_relaxed);
    known.settled.store(settled, std::memory_order_relaxed);
    known.shape.store(shape, std::memory_order_release);
}

bool MeasuringTime::is_left(Nanoseconds elapsed) const {
    constexpr Nanoseconds longest = std::chrono::milliseconds{4}; // of one measurement
    constexpr int share = 100;
    return (Nanoseconds{spent_.load(std::memory_order_relaxed)} + longest) * share <= elapsed;
}

void MeasuringTime::spend(Nanoseconds time) {
    spent_.fetch_add(time.count(), std::memory_order_relaxed);
}

} // namespace ucd_mpi
