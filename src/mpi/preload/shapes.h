// From how many bytes on it pays to read a type, for programs that make a type anew for each
// message. What is remembered of types that are gone is their shape: about their size and extent.
// Types of one shape may differ; then one is read earlier or later than is best, and nothing else
// happens.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace ucd_mpi {

using Shape = std::uint64_t;
Shape shape_of(std::int64_t size, std::int64_t extent);

// Any thread, without a lock.
class Shapes {
public:
    // So many bytes of a type are moved by MPI before the type is read.
    std::uint64_t bytes_to_read(Shape shape) const;
    // Reading one of these types did not pay, and no measurement has told from when on it does.
    bool is_unsettled(Shape shape) const;

    void did_not_pay(Shape shape);
    void settle(Shape shape, std::uint64_t bytes);

private:
    // A later shape takes the place of an earlier one. The members are stored one by one: what
    // another thread reads between may belong to two shapes.
    struct Known {
        std::atomic<Shape> shape{0};
        std::atomic<std::uint64_t> bytes{0};
        std::atomic<bool> settled{false};
    };
    static constexpr std::size_t max_shapes = 256;
    const Known &place_of(Shape shape) const { return known_[shape >> 32 & (max_shapes - 1)]; }
    Known &place_of(Shape shape) { return known_[shape >> 32 & (max_shapes - 1)]; }
    void remember(Shape shape, std::uint64_t bytes, bool settled);

    std::array<Known, max_shapes> known_;
};

// What measuring may take: a hundredth of the time since the first type was committed. A
// measurement costs as much as hundreds of messages, so a program that ends soon has none.
class MeasuringTime {
public:
    using Nanoseconds = std::chrono::nanoseconds;
    // `elapsed`: since the first type was committed.
    bool is_left(Nanoseconds elapsed) const;
    void spend(Nanoseconds time);

private:
    std::atomic<Nanoseconds::rep> spent_{0};
};

} // namespace ucd_mpi
