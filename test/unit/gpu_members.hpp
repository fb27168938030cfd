// Moves with memory of their own, for tests that give a GPU backend what the frontend would.
#pragma once

#include "implement.h"
#include "vendor.h"

#include "launch/create_backend.h"

#include "support/catch.hpp"
#include "support/fake_device/fake_driver.h"
#include "support/host_vendor/capture.h"
#include "support/moves/backend_move.hpp"
#include "support/random/rng.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ucdtest {

inline const ucd::Elements unsigned_ints{ucd::Element::uint32, {}, 0};

// The backend, new: no stream, event, list or table is there yet. At its end all is given back.
class FreshBackend {
public:
    FreshBackend() { mock::reset(); }
    ~FreshBackend() {
        mock::reset();
        backend_.reset();
        CHECK(mock::counts.live_allocations == 0);
        CHECK(ucd::hostgpu::live_streams == 0);
        CHECK(ucd::hostgpu::live_events == 0);
    }
    FreshBackend(const FreshBackend &) = delete;
    FreshBackend &operator=(const FreshBackend &) = delete;
    ucd::Backend *operator->() const { return backend_.get(); }

    ucd::Owner<ucd::KernelPlan> plan(const ucd::Layout &layout, std::int64_t extent = 0,
                                     bool repeated = false,
                                     std::uint64_t max_bytes = UINT64_MAX) const {
        ucd::Owner<ucd::KernelPlan> plan;
        REQUIRE(backend_->plan(layout, extent, repeated, max_bytes, plan).ok());
        return plan;
    }
    // Of the launch, or else of its work.
    ucd::Status run(const ucd::MoveList &list) const {
        ucd::Owner<ucd::Event> done;
        UCD_TRY(backend_->launch(0, list, done));
        return wait(done);
    }
    ucd::Status run(ucd::MoveMaker &maker) const {
        ucd::Owner<ucd::Event> done;
        UCD_TRY(backend_->launch_made(0, maker, done));
        return wait(done);
    }
    static ucd::Status wait(const ucd::Owner<ucd::Event> &done) {
        for (bool completed = done == nullptr; !completed; std::this_thread::yield())
            UCD_TRY(done->poll(completed));
        return ucd::success;
    }

private:
    ucd::Owner<ucd::Backend> backend_ = ucd::hostgpu::create_backend();
};

// What test cases begin with that have a backend of their own.
struct OnBackend {
    FreshBackend backend;
};

// In memory of device 0, which begins on 16 bytes.
class DeviceBytes {
public:
    explicit DeviceBytes(std::size_t bytes, ucd::MemoryKind kind = ucd::MemoryKind::device)
        : bytes_(bytes), memory_(static_cast<char *>(mock::allocate(kind, 0, bytes + alignment))) {}
    ~DeviceBytes() { mock::release(memory_); }
    DeviceBytes(const DeviceBytes &) = delete;
    DeviceBytes &operator=(const DeviceBytes &) = delete;

    char *at(std::size_t offset) const {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_);
        return memory_ + (alignment - address % alignment) % alignment + offset;
    }
    void fill(Rng &rng) {
        std::vector<char> values(bytes_);
        for (char &value : values) value = static_cast<char>(rng.bits());
        set(values);
    }
    void set(const std::vector<char> &values) { mock::write(at(0), values.data(), bytes_); }
    std::vector<char> get() const {
        std::vector<char> values(bytes_);
        mock::read(values.data(), at(0), bytes_);
        return values;
    }

private:
    static constexpr std::size_t alignment = 16;
    const std::size_t bytes_;
    char *const memory_;
};

// A move for equal blocks at given places, and what it is to do.
class Member {
public:
    ucd::Move move;

    // Both sides begin `odd` bytes behind an aligned address.
    Member(const ucd::KernelPlan &plan, std::size_t block, std::vector<std::size_t> places,
           ucd::Direction direction = ucd::Direction::pack, std::size_t odd = 0,
           ucd::MemoryKind packed_kind = ucd::MemoryKind::device)
        : block_(block), places_(std::move(places)), odd_(odd),
          typed_(odd + places_.back() + block + 32),
          packed_(odd + places_.size() * block + 32, packed_kind) {
        move = move_of(plan, typed_.at(odd), packed_.at(odd), places_.size() * block, direction);
        (direction == ucd::Direction::pack ? move.to_kind : move.from_kind) = packed_kind;
    }
    // Moves only the blocks from one to before another.
    void restrict(std::size_t from, std::size_t to) {
        first_ = from, last_ = to;
        typed_of(move).offset = from * block_;
        move.length = (to - from) * block_;
        packed_of(move).address = packed_.at(odd_ + from * block_);
    }

    // Anything in both buffers.
    void set_up(Rng &rng) {
        typed_.fill(rng);
        packed_.fill(rng);
        expected_typed_ = typed_.get(), expected_packed_ = packed_.get();
        const bool pack = move.direction() == ucd::Direction::pack;
        for (std::size_t i = first_; i < std::min(last_, places_.size()); ++i) {
            char *const typed = &expected_typed_[odd_ + places_[i]];
            char *const packed = &expected_packed_[odd_ + i * block_];
            char *const to = pack ? packed : typed, *const from = pack ? typed : packed;
            if (move.op == ucd::Op::sum)
                add(to, from);
            else
                std::memcpy(to, from, block_);
        }
    }
    bool is_right() const {
        return typed_.get() == expected_typed_ && packed_.get() == expected_packed_;
    }

private:
    // Integers of 32 bits, without a sign: they wrap.
    void add(char *to, const char *from) const {
        for (std::size_t at = 0; at < block_; at += sizeof(std::uint32_t)) {
            std::uint32_t a, b;
            std::memcpy(&a, to + at, sizeof a);
            std::memcpy(&b, from + at, sizeof b);
            a += b;
            std::memcpy(to + at, &a, sizeof a);
        }
    }

    const std::size_t block_;
    const std::vector<std::size_t> places_;
    const std::size_t odd_;
    std::size_t first_ = 0, last_ = SIZE_MAX;
    DeviceBytes typed_, packed_;
    std::vector<char> expected_typed_, expected_packed_;
};

inline std::vector<std::size_t> steps(std::size_t count, std::size_t stride) {
    std::vector<std::size_t> places(count);
    for (std::size_t i = 0; i < count; ++i) places[i] = i * stride;
    return places;
}

// A stream that is captured while this lives.
class Capture {
public:
    Capture() { ucd::hostgpu::begin_capture(stream_); }
    ~Capture() {
        if (!ended_) (void)end();
    }
    Capture(const Capture &) = delete;
    Capture &operator=(const Capture &) = delete;
    ucd::NativeStream native() { return {0, &stream_, nullptr}; }
    std::size_t end() {
        ended_ = true;
        return ucd::hostgpu::end_capture(stream_).nodes.size();
    }

private:
    mock::Stream stream_{0};
    bool ended_ = false;
};

} // namespace ucdtest
