// The members of a list: whether one device can move all of them together, and their moves, which
// are made from the caller's when a backend asks for them.
#pragma once

#include "implement.h"
#include "transfer/check.h"
#include "transfer/host.h"
#include "transfer/progress.h"
#include "transfer/submission_builder.h"

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

// For a member that is alike to a checked one: whether it must be checked by itself. Null addresses
// are wrong, or those of a type with absolute addresses.
inline bool must_be_checked(const ucd_move_t &d) {
    return d.inbuf == nullptr || d.outbuf == nullptr || !is_zero(d.reserved);
}

// Writes how many bytes members move, and takes it back unless all members have started.
class WrittenLengths {
public:
    explicit WrittenLengths(std::span<ucd_move_t> moves) : moves_(moves) {}
    ~WrittenLengths() {
        for (const Replaced &r : replaced_) set(r.first, r.count, r.before);
    }
    WrittenLengths(const WrittenLengths &) = delete;
    WrittenLengths &operator=(const WrittenLengths &) = delete;

    // Of `count` members from `first` on, which move the same.
    void write(std::size_t first, std::size_t count, uintptr_t actual, uintptr_t consumed) {
        const Lengths lengths{actual, consumed};
        for (const std::size_t end = first + count; first < end;) {
            const Lengths before = lengths_of(first);
            std::size_t next = first + 1;
            while (next < end && lengths_of(next) == before) ++next;
            if (!(before == lengths)) replace(first, next - first, before, lengths);
            first = next;
        }
    }
    void leave() { replaced_.clear(); } // written

private:
    struct Lengths {
        uintptr_t actual, consumed;
        friend bool operator==(const Lengths &, const Lengths &) = default;
    };
    Lengths lengths_of(std::size_t member) const {
        return {moves_[member].actual_bytes, moves_[member].consumed_bytes};
    }
    void set(std::size_t first, std::size_t count, Lengths lengths) {
        for (ucd_move_t &move : moves_.subspan(first, count)) {
            move.actual_bytes = lengths.actual;
            move.consumed_bytes = lengths.consumed;
        }
    }
    void replace(std::size_t first, std::size_t count, Lengths before, Lengths lengths) {
        if (replaced_.empty() || !(replaced_.back().before == before) ||
            replaced_.back().first + replaced_.back().count != first)
            replaced_.push_back({first, 0, before});
        replaced_.back().count += count;
        set(first, count, lengths);
    }
    // Consecutive members that had the same lengths before.
    struct Replaced {
        std::size_t first, count;
        Lengths before;
    };
    std::span<ucd_move_t> moves_;
    std::vector<Replaced> replaced_;
};

// Finds out whether one device moves all packs, or all unpacks, in the same way. A copy serves
// another thread.
class OneWay {
public:
    OneWay(const Router &router, Direction direction)
        : router_(router), hints_(router.hints()), direction_(direction) {}

    Router &router() { return router_; }

    // Finds how the first member that is not empty is moved. False if no device moves it by a
    // launch. Errors are left to SubmissionBuilder::add(), which reports them for a member.
    bool begin(std::span<const ucd_move_t> descs);

    // How the members are moved, all in this direction.
    const Route &route() const { return route_; }
    Direction direction() const { return direction_; }
    const Limits &limits() const { return hints_.limits; }

    // Whether a member without an address of its layout may be in several memories.
    bool may_be_divided() const {
        return (direction_ == Direction::pack ? hints_.inbuf : hints_.outbuf) == nullptr;
    }

    // Whether a move between these first bytes is known to be like the first one: most members of a
    // list are in the same allocations.
    bool holds(const char *in, const char *out) const { return in_.holds(in) && out_.holds(out); }
    // Same, but finds it out.
    bool includes(const char *in, const char *out) { return holds(in, out) || finds(in, out); }

private:
    bool finds(const char *in, const char *out);

    Router router_;
    const Hints &hints_;
    const Direction direction_;
    Route route_;             // direct, if it is known
    MemoryLocation in_, out_; // of the last member that was looked up
};

// Makes the moves of members of one direction, which are checked, and whose memories are looked up,
// when they are made. Writes their lengths at once, while their descriptors are in a cache.
class MembersMade final : public MoveMakerOf<MembersMade> {
public:
    // `one_way` has found how the members of the whole list are moved, `before` of which are before
    // these. It and the descriptors outlive this object.
    MembersMade(OneWay &one_way, std::span<ucd_move_t> descs, std::size_t before = 0)
        : one_way_(one_way), descs_(descs), before_(before), lengths_(descs) {
        move_.from_kind = one_way.route().from_kind;
        move_.to_kind = one_way.route().to_kind;
        move_.limits = one_way.limits();
    }

    std::size_t members() const { return descs_.size(); }

    Status make(std::size_t &first, Move &move, MoveAddresses *at, std::size_t room,
                std::size_t &made) {
        made = 0;
        CheckedMove &m = move_;
        for (;; ++first) {
            if (first == descs_.size()) return success;
            UCD_TRY(at_member(before_ + first, check(descs_[first], m)));
            if (m.length > 0) break;
            lengths_.write(first, 1, 0, 0);
        }
        UCD_TRY(at_member(before_ + first, complete(m, one_way_.direction(), one_way_.route().to)));
        move = m;
        at[0] = {m.from.address, m.to.address};
        const ucd_move_t *const begin = descs_.data() + first;
        const ucd_move_t checked = *begin; // a copy, which the compiler keeps in registers
        const ucd_move_t *const end = begin + std::min(room, descs_.size() - first);
        const ucd_move_t *desc = begin + 1;
        for (MoveAddresses *next = at + 1; desc != end; ++desc) {
            prefetch(desc + prefetched);
            const MoveAddresses each = addresses_of(*desc);
            if (!is_alike(*desc, checked) || must_be_checked(*desc) || !is_included(each)) break;
            *next++ = each;
        }
        made = static_cast<std::size_t>(desc - begin);
        lengths_.write(first, made, m.length, m.length);
        first += made;
        return success;
    }

    // To be called if all members have started.
    void keep_lengths();

    Status divide(unsigned &threads);
    MoveMaker *part(unsigned i);
    Status unite();

    // The types of the members made so far.
    std::shared_ptr<KeptTypes> types() const { return types_; }
    // Whether a member is of another kind, has lists by reference, or is not moved by the device of
    // the others. Such lists have to be handled member by member, so nothing was made.
    bool is_mixed() const { return is_mixed_; }

private:
    Status check(const ucd_move_t &desc, CheckedMove &m) {
        if (!is_move(desc, one_way_.direction())) return fail_mixed();
        UCD_TRY(check_one_way(desc, m));
        use_bytes(m);
        if (m.type().by_reference) return fail_mixed();
        if (m.length == 0) return success;
        if (m.typed().address == nullptr && one_way_.may_be_divided()) return fail_mixed();
        const char *const first = first_byte(m.type(), nullptr);
        const uintptr_t start = reinterpret_cast<uintptr_t>(first);
        const bool pack = one_way_.direction() == Direction::pack;
        start_in_ = pack ? start : 0;
        start_out_ = pack ? 0 : start;
        if (!one_way_.includes(displaced(m.from.address, start_in_),
                               displaced(m.to.address, start_out_)))
            return fail_mixed();
        keep(m.type());
        return success;
    }
    Status fail_mixed() {
        is_mixed_ = true;
        return fail(UCD_ERR__NOT_SUPPORTED, "moves made at once are alike, and read no indices");
    }

    // Long lists are read once from memory, and a page of memory holds 34 descriptors, behind which
    // the processor does not look by itself.
    static constexpr std::size_t prefetched = 64;
    static void prefetch(const ucd_move_t *desc) {
        const auto *const line = reinterpret_cast<const char *>(desc);
        __builtin_prefetch(line);
        __builtin_prefetch(line + sizeof *desc / 2);
    }

    // For a member that is alike to the last checked one.
    bool is_included(const MoveAddresses &at) const {
        return one_way_.holds(displaced(at.from, start_in_), displaced(at.to, start_out_));
    }

    // Checks a pack or an unpack by the direction's checks alone, and what else counts as one by
    // all checks.
    [[gnu::always_inline]] Status check_one_way(const ucd_move_t &d, CheckedMove &m) const {
        const bool pack = one_way_.direction() == Direction::pack;
        const ucd_type_t type = pack ? d.intype : d.outtype;
        if (type == UCD_TYPE__NULL || (pack ? d.outoffset : d.inoffset) != 0 ||
            !is_zero(d.reserved)) [[unlikely]]
            return check_member(d, UCD_OP__REPLACE, m);
        m.from = side_of(d.inbuf, d.incount, d.inoffset);
        m.to = side_of(d.outbuf, d.outcount, d.outoffset);
        m.length = std::min(pack ? d.outcount : d.incount, d.bytes);
        return pack ? check_move(type, "intype", UCD_OP__REPLACE, Direction::pack, m)
                    : check_move(type, "outtype", UCD_OP__REPLACE, Direction::unpack, m);
    }

    // Members take turns with few types, so most types are kept already.
    void keep(const Type &type) {
        // performance only: a type may be kept several times
        const Type *&seen = kept_[reinterpret_cast<uintptr_t>(&type) / 64 % kept_.size()];
        if (seen == &type) return;
        types_->add(type);
        seen = &type;
    }

    struct ThreadShare;

    OneWay &one_way_;
    const std::span<ucd_move_t> descs_;
    const std::size_t before_; // the number of members of the batch before these
    std::vector<std::shared_ptr<ThreadShare>> parts_;
    const std::shared_ptr<KeptTypes> types_ = std::make_shared<KeptTypes>();
    std::array<const Type *, 64> kept_{}; // some of types_
    bool is_mixed_ = false;
    CheckedMove move_; // the last one, whose settings are those of all
    uintptr_t start_in_ = 0,
              start_out_ = 0; // from its addresses to the first bytes that it touches
    WrittenLengths lengths_;
};

} // namespace ucd
