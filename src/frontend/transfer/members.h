// The members of a list: whether one device can move all of them together, and their moves, which
// are made from the caller's when a backend asks for them.
#pragma once

#include "implement.h"
#include "transfer/check.h"
#include "transfer/progress.h"
#include "transfer/submission.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

namespace ucd {

// Whether two members of one direction differ only in their addresses.
inline bool is_alike(const ucd_move_t &a, const ucd_move_t &b) {
    return ((reinterpret_cast<uintptr_t>(a.intype) ^ reinterpret_cast<uintptr_t>(b.intype)) |
            (reinterpret_cast<uintptr_t>(a.outtype) ^ reinterpret_cast<uintptr_t>(b.outtype)) |
            (a.incount ^ b.incount) | (a.inoffset ^ b.inoffset) | (a.outcount ^ b.outcount) |
            (a.outoffset ^ b.outoffset) | (a.bytes ^ b.bytes)) == 0;
}

inline MoveAddresses addresses_of(const ucd_move_t &d) {
    return {static_cast<char *>(const_cast<void *>(d.inbuf)), static_cast<char *>(d.outbuf)};
}

// For a member that is alike to a checked one: whether the fields that may differ are invalid.
inline bool is_wrong(const ucd_move_t &d) {
    return (d.inbuf == nullptr && d.intype == UCD_TYPE__NULL) ||
           (d.outbuf == nullptr && d.outtype == UCD_TYPE__NULL) || !is_zero(d.reserved);
}

// How many threads pay for processing this many members; at most `most`.
inline unsigned batch_threads(std::size_t members, uint32_t most) {
    // In a process that uses a GPU, starting and ending a thread takes 100 us or more.
    constexpr std::size_t worth_a_thread = 32768;
    return static_cast<unsigned>(std::clamp<std::size_t>(members / worth_a_thread, 1, most));
}

// The members of thread `i`.
struct Share {
    std::size_t begin, count;
};
inline Share share_of(std::size_t members, unsigned i, unsigned threads) {
    const std::size_t begin = members / threads * i + std::min<std::size_t>(i, members % threads);
    return {begin, members / threads + (i < members % threads ? 1 : 0)};
}

// Writes how many bytes packs and unpacks move, and takes it back unless all members have started.
class WrittenLengths {
public:
    explicit WrittenLengths(std::span<ucd_move_t> moves) : moves_(moves) {}
    WrittenLengths(WrittenLengths &&other) noexcept = default;
    ~WrittenLengths() {
        for (const Replaced &r : replaced_)
            for (ucd_move_t &move : moves_.subspan(r.first, r.count)) {
                move.actual_bytes = r.actual;
                move.consumed_bytes = r.consumed;
            }
    }
    WrittenLengths(const WrittenLengths &) = delete;
    WrittenLengths &operator=(const WrittenLengths &) = delete;

    [[gnu::always_inline]] void write(std::size_t member, uintptr_t length) {
        const ucd_move_t &move = moves_[member];
        if (((move.actual_bytes ^ length) | (move.consumed_bytes ^ length)) != 0)
            replace(member, length);
    }
    void keep() { replaced_.clear(); }

private:
    void replace(std::size_t member, uintptr_t length) {
        ucd_move_t &move = moves_[member];
        if (replaced_.empty() || replaced_.back().actual != move.actual_bytes ||
            replaced_.back().consumed != move.consumed_bytes ||
            replaced_.back().first + replaced_.back().count != member)
            replaced_.push_back({member, 0, move.actual_bytes, move.consumed_bytes});
        ++replaced_.back().count;
        move.actual_bytes = move.consumed_bytes = length;
    }
    // Consecutive members that had the same lengths before.
    struct Replaced {
        std::size_t first, count;
        uintptr_t actual, consumed;
    };
    std::span<ucd_move_t> moves_;
    std::vector<Replaced> replaced_;
};

// Makes the moves of members of one direction, which are checked when they are made. Writes their
// lengths at once, while their descriptors are in a cache.
class MembersMade final : public MoveMakerOf<MembersMade> {
public:
    // `dispatch`, which must have no op, and `descs` outlive this object.
    MembersMade(const Dispatch &dispatch, std::span<ucd_move_t> descs, std::size_t before = 0)
        : dispatch_(dispatch), descs_(descs), before_(before), lengths_(descs) {
        move_.from_kind = dispatch.from_kind;
        move_.to_kind = dispatch.to_kind;
        move_.limits = dispatch.limits;
    }

    std::size_t members() const { return descs_.size(); }

    Status make(std::size_t &first, Move &move, MoveAddresses *at, std::size_t room,
                std::size_t &made) {
        made = 0;
        CheckedMove &m = move_;
        do {
            if (first == descs_.size()) return success;
            UCD_TRY(at_member(before_ + first, check(descs_[first], m)));
            lengths_.write(first, m.length);
            ++first;
        } while (m.length == 0);
        UCD_TRY(at_member(before_ + first - 1, complete(m)));
        move = m;
        at[0] = {m.from.address, m.to.address};
        // Copies, which the compiler keeps in registers.
        const ucd_move_t checked = descs_[first - 1];
        const uint64_t length = m.length;
        const ucd_move_t *const begin = descs_.data() + first;
        const ucd_move_t *const end = begin + std::min(room - 1, descs_.size() - first);
        const ucd_move_t *desc = begin;
        for (MoveAddresses *next = at + 1; desc != end; ++desc) {
            if (!is_alike(*desc, checked) || is_wrong(*desc)) break;
            *next++ = addresses_of(*desc);
            lengths_.write(static_cast<std::size_t>(desc - descs_.data()), length);
        }
        made = 1 + static_cast<std::size_t>(desc - begin);
        first += made - 1;
        return success;
    }

    // To be called if all members have started.
    void keep_lengths() {
        lengths_.keep();
        for (const auto &part : parts_) part->lengths_.keep();
    }

    Status divide(unsigned &threads) {
        threads = batch_threads(descs_.size(), dispatch_.limits.threads);
        if (threads == 1) return success;
        parts_.reserve(threads);
        for (unsigned i = 0; i < threads; ++i) {
            const Share share = share_of(descs_.size(), i, threads);
            parts_.push_back(std::make_unique<MembersMade>(
                dispatch_, descs_.subspan(share.begin, share.count), share.begin));
        }
        return success;
    }
    MoveMaker *part(unsigned i) { return parts_[i].get(); }
    Status unite() {
        for (const auto &part : parts_) {
            types_->add(*part->types_);
            is_mixed_ = is_mixed_ || part->is_mixed_;
        }
        return success;
    }

    // The types of the members made so far.
    std::shared_ptr<KeptTypes> types() const { return types_; }
    // Whether a member is of another kind or has lists by reference. Such lists have to be handled
    // member by member, so nothing was made.
    bool is_mixed() const { return is_mixed_; }

private:
    Status check(const ucd_move_t &desc, CheckedMove &m) {
        const bool is_made = is_move(desc, dispatch_.direction);
        if (is_made) UCD_TRY(check_one_way(desc, m));
        use_bytes(m);
        if (!is_made || m.type().by_reference) {
            is_mixed_ = true;
            return fail(UCD_ERR__NOT_SUPPORTED,
                        "moves made at once are alike, and read no indices");
        }
        keep(m.type());
        return success;
    }

    // Checks a pack or an unpack by the direction's checks alone, and what else counts as one by
    // all checks.
    [[gnu::always_inline]] Status check_one_way(const ucd_move_t &d, CheckedMove &m) const {
        const bool pack = dispatch_.direction == Direction::pack;
        const ucd_type_t type = pack ? d.intype : d.outtype;
        if (type == UCD_TYPE__NULL || (pack ? d.outoffset : d.inoffset) != 0 ||
            !is_zero(d.reserved)) [[unlikely]]
            return check_member(d, UCD_OP__REPLACE, m);
        m.from = side_of(d.inbuf, pack ? d.incount : 0, d.inoffset);
        m.to = side_of(d.outbuf, pack ? 0 : d.outcount, d.outoffset);
        m.length = std::min(pack ? d.outcount : d.incount, d.bytes);
        return pack ? check_move(type, "intype", UCD_OP__REPLACE, Direction::pack, m)
                    : check_move(type, "outtype", UCD_OP__REPLACE, Direction::unpack, m);
    }

    // Sets the plan of the typed side.
    [[gnu::always_inline]] Status complete(CheckedMove &m) const {
        const bool pack = dispatch_.direction == Direction::pack;
        const Executor &executor = dispatch_.executor;
        Side &side = pack ? m.from : m.to;
        return plan_of(pack ? *m.from_type : *m.to_type, *executor.backend, executor.index,
                       side.count > 1, side.plan);
    }

    // Members take turns with few types, so most types are kept already.
    void keep(const Type &type) {
        // performance only: a type may be kept several times
        const Type *&seen = kept_[reinterpret_cast<uintptr_t>(&type) / 64 % kept_.size()];
        if (seen == &type) return;
        types_->add(type);
        seen = &type;
    }

    const Dispatch &dispatch_;
    const std::span<ucd_move_t> descs_;
    const std::size_t before_; // the number of members of the batch before these
    std::vector<std::unique_ptr<MembersMade>> parts_;
    const std::shared_ptr<KeptTypes> types_ = std::make_shared<KeptTypes>();
    std::array<const Type *, 64> kept_{}; // some of types_
    bool is_mixed_ = false;
    CheckedMove move_; // the last one, whose settings are those of all
    WrittenLengths lengths_;
};

// Finds out whether one device moves all packs, or all unpacks, in the same way.
class OneWay {
public:
    OneWay(Router &router, const Hints &hints, Direction direction)
        : router_(router), hints_(hints), direction_(direction) {}

    const Dispatch &dispatch() const { return dispatch_; }

    // Whether the hints say so, whatever the addresses are. Errors in hints are left to
    // Submission::add(), which reports them for a member.
    bool is_hinted() {
        return hints_.inbuf != nullptr && hints_.outbuf != nullptr && includes(nullptr, nullptr);
    }

    // Checks the addresses of each member. False, too, if a member is invalid, has lists by
    // reference, or may be in several memories.
    bool includes_all(std::span<const ucd_move_t> descs) {
        const bool pack = direction_ == Direction::pack;
        const Type *type = &byte_type();
        ucd_type_t handle = UCD_TYPE__NULL; // of packed bytes that become packed bytes
        uintptr_t start = 0;                // of the type's first byte
        for (const ucd_move_t &desc : descs) {
            if (!is_move(desc, direction_)) return false;
            const ucd_type_t given = pack ? desc.intype : desc.outtype;
            if (given != handle) {
                const ucd_type_t named = given == UCD_TYPE__NULL ? UCD_TYPE__BYTE : given;
                if (!resolve(named, "type", type).ok() || type->by_reference) return false;
                handle = given;
                if (type->size > 0) start = reinterpret_cast<uintptr_t>(first_byte(*type, nullptr));
            }
            const bool is_empty =
                type->size == 0 || desc.incount == 0 || desc.outcount == 0 || desc.bytes == 0;
            if (is_empty) continue;
            auto in = reinterpret_cast<uintptr_t>(desc.inbuf),
                 out = reinterpret_cast<uintptr_t>(desc.outbuf);
            uintptr_t &typed = pack ? in : out;
            if (typed == 0) return false;
            typed += start;
            const auto *const first_in = reinterpret_cast<const char *>(in);
            const auto *const first_out = reinterpret_cast<const char *>(out);
            // Most members of a list are in the allocations of the member before.
            if (in_.holds(first_in) && out_.holds(first_out)) [[likely]]
                continue;
            if (!includes(first_in, first_out)) return false;
        }
        return has_dispatch_;
    }

private:
    // The first member sets the dispatch; for others, returns true if theirs is the same.
    bool includes(const char *in, const char *out) {
        if (hints_.limits.engine == Engine::dma) return false;
        Route route;
        if (!router_.locations().find(hints_.inbuf, in, in_).ok() ||
            !router_.locations().find(hints_.outbuf, out, out_).ok() ||
            !router_.find(direction_, in, out, route).ok() || route.kind != RouteKind::direct)
            return false;
        const Dispatch here{route.to, direction_, route.from_kind, route.to_kind, hints_.limits};
        if (has_dispatch_ && !(here == dispatch_)) return false;
        dispatch_ = here;
        has_dispatch_ = true;
        // A hint applies to all addresses.
        const auto everywhere = [](MemoryLocation &at) { at.begin = 0, at.end = UINTPTR_MAX; };
        if (hints_.inbuf != nullptr) everywhere(in_);
        if (hints_.outbuf != nullptr) everywhere(out_);
        return true;
    }

    Router &router_;
    const Hints &hints_;
    const Direction direction_;
    Dispatch dispatch_;
    bool has_dispatch_ = false;
    MemoryLocation in_, out_; // of the last member that was looked up
};

// Writes to each descriptor how many bytes move. All members must have been checked.
inline void write_lengths(std::span<ucd_move_t> descs, ucd_op_t op) {
    CheckedMove m;
    const ucd_move_t *checked = nullptr;
    for (ucd_move_t &desc : descs) {
        if (checked == nullptr || !is_alike(desc, *checked)) {
            (void)check_member(desc, op, m);
            checked = &desc;
        }
        write_lengths(desc, m);
    }
}

} // namespace ucd
