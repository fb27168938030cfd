// Moves that a backend of the test's own is given as the frontend gives them: of any range, checked
// against the type map, with gaps and guards.
#pragma once

#include "support/catch.hpp"

#include "backend.h"
#include "prepared/type_cache.h"
#include "types/type.h"

#include "support/host_vendor/capture.h"
#include "support/moves/backend_move.hpp"
#include "support/moves/device_moves.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ucdtest {

// A backend of the test's own.
class OwnBackend {
public:
    ~OwnBackend() {
        backend_.reset();
        CHECK(ucd::hostgpu::live_events == 0);
        CHECK(mock::counts.live_allocations == 0);
    }
    ucd::Backend *operator->() const { return backend_.get(); }

    // Of the launch, or else of its work.
    static ucd::Status wait(const ucd::Owner<ucd::Event> &done) {
        for (bool completed = done == nullptr; !completed; std::this_thread::yield())
            UCD_TRY(done->poll(completed));
        return ucd::success;
    }
    ucd::Status run(const ucd::MoveList &list) const {
        ucd::Owner<ucd::Event> done;
        UCD_TRY(backend_->launch(0, list, done));
        return wait(done);
    }
    ucd::Status run(const ucd::PreparedLaunch &prepared) const {
        ucd::Owner<ucd::Event> done;
        UCD_TRY(backend_->launch_prepared(prepared, done));
        return wait(done);
    }

private:
    DeviceSession session_;
    ucd::Owner<ucd::Backend> backend_ = ucd::hostgpu::make_backend();
};

// A subject with the backend's plan.
struct Planned {
    Subject subject;
    ucd::Owner<ucd::KernelPlan> plan;

    Planned(const OwnBackend &backend, Subject of) : subject(std::move(of)) {
        const ucd::Type *type;
        REQUIRE(ucd::resolve(subject.type(), "type", type).ok());
        REQUIRE(
            backend
                ->plan(ucd::layout_of(*type), type->extent(), subject.count > 1, UINT64_MAX, plan)
                .ok());
    }
};

inline char *address_in(const DeviceBuffer &buffer, std::size_t at = 0) {
    return static_cast<char *>(buffer.real_base()) + at;
}

// A part of the stream: anything, or what is a multiple of 8 bytes where there is such a thing.
inline void choose_range(Rng &rng, std::size_t size, std::size_t &offset, std::size_t &length) {
    offset = rng.below(size);
    if (rng.chance(50)) offset = offset / 8 * 8;
    if (rng.chance(20)) offset = 0;
    length = 1 + rng.below(size - offset);
    if (rng.chance(50) && length > 8) length = length / 8 * 8;
    if (rng.chance(20)) length = size - offset;
}

// A pack or an unpack of a part of a stream, or a copy between parts of two.
class TestMove {
public:
    TestMove(Case &one, const Planned &typed, ucd::Direction direction)
        : one_(one), bytes_(typed.subject.bytes),
          typed_(one.rng(), typed.subject.range, Memory::device0) {
        Rng &rng = one.rng();
        choose_range(rng, bytes_.size(), offset_, length_);
        const TouchedRange packed{0, static_cast<std::intptr_t>(length_)};
        other_ = std::make_unique<DeviceBuffer>(rng, packed, Memory::device0);
        move = move_of(*typed.plan, address_in(typed_), address_in(*other_), length_, direction,
                       typed.subject.count, offset_);
    }
    TestMove(Case &one, const Planned &from, const Planned &to)
        : one_(one), bytes_(from.subject.bytes), other_bytes_(&to.subject.bytes),
          typed_(one.rng(), from.subject.range, Memory::device0),
          other_(std::make_unique<DeviceBuffer>(one.rng(), to.subject.range, Memory::device0)) {
        Rng &rng = one.rng();
        choose_range(rng, bytes_.size(), offset_, length_);
        std::size_t room;
        choose_range(rng, other_bytes_->size(), other_offset_, room);
        if (rng.chance(30) && offset_ < other_bytes_->size()) {
            other_offset_ = offset_; // as pipelines have it
            room = other_bytes_->size() - offset_;
        }
        length_ = std::min(length_, room);
        move =
            copy_of({from.plan.get(), address_in(typed_), from.subject.count, offset_},
                    {to.plan.get(), address_in(*other_), to.subject.count, other_offset_}, length_);
    }
    ucd::Move move;

    // Anything in both buffers.
    void set_up() {
        typed_.randomise(one_.rng());
        other_->randomise(one_.rng());
        const bool unpack = !move.is_copy() && move.direction() == ucd::Direction::unpack;
        for (std::size_t i = 0; i < length_; ++i) {
            const std::intptr_t here = bytes_[offset_ + i];
            const std::intptr_t there =
                move.is_copy() ? (*other_bytes_)[other_offset_ + i] : static_cast<std::intptr_t>(i);
            if (unpack)
                *typed_.expected(here) = *other_->actual(there);
            else
                *other_->expected(there) = *typed_.actual(here);
        }
        typed_.send();
        other_->send();
    }
    void check(const char *when) {
        typed_.fetch();
        other_->fetch();
        const std::string text = std::string(move.is_copy() ? "copy" : "move") + " of " +
                                 std::to_string(length_) + " bytes from " +
                                 std::to_string(offset_) + " on to " +
                                 std::to_string(other_offset_) + ", " + when;
        require_intact(one_, typed_, text.c_str());
        require_intact(one_, *other_, text.c_str());
    }

private:
    Case &one_;
    const ByteMap &bytes_;
    const ByteMap *other_bytes_ = nullptr;
    std::size_t offset_ = 0, other_offset_ = 0, length_ = 0;
    DeviceBuffer typed_;
    std::unique_ptr<DeviceBuffer> other_;
};

struct TestList {
    std::list<TestMove> members;
    std::vector<ucd::Move> moves;

    void note() {
        for (const TestMove &m : members) moves.push_back(m.move);
    }
    bool is_one_pack() const { return moves.size() == 1 && !moves[0].is_copy(); }
    void set_up() {
        for (TestMove &m : members) m.set_up();
    }
    void check(const char *when) {
        for (TestMove &m : members) m.check(when);
    }
};

// Ints at places that only a list tells.
inline RecipePtr a_list() {
    Ints displs;
    for (std::intptr_t k = 0; k < 100; ++k) displs.push_back(3 * k + k % 5 % 2);
    return recipes::indexed_block(1, displs, recipes::leaf(UCD_TYPE__INT));
}

// Packs of a list, unpacks to rows, and copies from one to the other, which are set up.
struct MixedList {
    Planned from, to;
    TestList list;

    MixedList(Case &one, const OwnBackend &backend)
        : from(backend, make_subject(one, a_list(), 1)),
          to(backend,
             make_subject(one, recipes::vector(40, 2, 5, recipes::leaf(UCD_TYPE__INT)), 1)) {
        for (int i = 0; i < 60; ++i) {
            list.members.emplace_back(one, from, ucd::Direction::pack);
            list.members.emplace_back(one, to, ucd::Direction::unpack);
            list.members.emplace_back(one, from, to);
        }
        list.note();
        list.set_up();
    }
};

} // namespace ucdtest
