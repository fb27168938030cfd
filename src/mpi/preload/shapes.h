// How many bytes must be moved with a type before reading it pays, for programs that make a new
// type for each message. What was learnt from types that are gone is kept by shape: rounded size
// and extent. Types of one shape may differ; one of them is then read earlier or later than is
// best, with no other effect.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace ucd_mpi {

using Shape = std::uint64_t;
Shape shape_of(std::int64_t size, std::int64_t extent);

// Thread-safe and lock-free.
class Shapes {
public:
    // The number of bytes that MPI moves with a type before the type is read.
    std::uint64_t bytes_to_read(Shape shape) const;
    // True if reading a type of this shape did not pay, and no measurement has found how many bytes
    // it takes.
    bool is_unsettled(Shape shape) const;

    void did_not_pay(Shape shape);
    void settle(Shape shape, std::uint64_t bytes);

private:
    // A table without chaining: a later shape replaces an earlier one in the same place. The
    // members are stored one by one, so another thread may read members of two shapes.
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

// The budget for measurements: a hundredth of the time since the first type was committed. A
// measurement costs as much as hundreds of messages, so short programs make none.
class MeasuringTime {
public:
    using Nanoseconds = std::chrono::nanoseconds;
    // `elapsed` is the time since the first type was committed.
    bool is_left(Nanoseconds elapsed) const;
    void spend(Nanoseconds time);

private:
    std::atomic<Nanoseconds::rep> spent_{0};
};

} // namespace ucd_mpi
