#include "transfer/members.h"

#include <algorithm>

namespace ucd {

bool OneWay::begin(std::span<const ucd_move_t> descs) {
    // A hint applies to all addresses.
    if (hints_.inbuf != nullptr && hints_.outbuf != nullptr) return finds(nullptr, nullptr);
    CheckedMove m;
    for (const ucd_move_t &desc : descs) {
        if (!is_move(desc, direction_) || !check_member(desc, UCD_OP__REPLACE, m).ok())
            return false;
        if (m.length == 0) continue;
        use_bytes(m);
        if (m.type().by_reference || m.typed().address == nullptr) return false;
        const char *const typed = first_byte(m.type(), m.typed().address);
        return m.from_type != nullptr ? finds(typed, m.to.address) : finds(m.from.address, typed);
    }
    return false;
}

bool OneWay::finds(const char *in, const char *out) {
    if (hints_.limits.engine == Engine::dma) return false;
    Route route;
    if (!router_.locations().find(hints_.inbuf, in, in_).ok() ||
        !router_.locations().find(hints_.outbuf, out, out_).ok() ||
        !router_.find(direction_, in, out, route).ok() || route.kind != RouteKind::direct)
        return false;
    if (route_.kind == RouteKind::direct && !(route == route_)) return false;
    route_ = route;
    const auto everywhere = [](MemoryLocation &at) { at.begin = 0, at.end = UINTPTR_MAX; };
    if (hints_.inbuf != nullptr) everywhere(in_);
    if (hints_.outbuf != nullptr) everywhere(out_);
    return true;
}

// The members of one thread, which looks up their memories by itself.
struct MembersMade::ThreadShare {
    ThreadShare(const OneWay &whole, std::span<ucd_move_t> descs, std::size_t before)
        : one_way(whole), moves(one_way, descs, before) {}
    OneWay one_way;
    MembersMade moves;
};

void MembersMade::keep_lengths() {
    lengths_.leave();
    for (const auto &part : parts_) part->moves.lengths_.leave();
}

namespace {

// How many threads pay for processing this many members; at most `most`.
unsigned batch_threads(std::size_t members, uint32_t most) {
    // In a process that uses a GPU, starting and ending a thread takes 100 us or more.
    constexpr std::size_t worth_a_thread = 32768;
    return static_cast<unsigned>(std::clamp<std::size_t>(members / worth_a_thread, 1, most));
}

// The members of thread `i`.
struct Share {
    std::size_t begin, count;
};
Share share_of(std::size_t members, unsigned i, unsigned threads) {
    const std::size_t begin = members / threads * i + std::min<std::size_t>(i, members % threads);
    return {begin, members / threads + (i < members % threads ? 1 : 0)};
}

} // namespace

Status MembersMade::divide(unsigned &threads) {
    threads = batch_threads(descs_.size(), one_way_.limits().threads);
    if (threads == 1) return success;
    parts_.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) {
        const Share share = share_of(descs_.size(), i, threads);
        parts_.push_back(std::make_shared<ThreadShare>(
            one_way_, descs_.subspan(share.begin, share.count), share.begin));
    }
    return success;
}

MoveMaker *MembersMade::part(unsigned i) {
    return &parts_[i]->moves;
}

Status MembersMade::unite() {
    for (const auto &part : parts_) {
        types_->add(*part->moves.types_);
        is_mixed_ = is_mixed_ || part->moves.is_mixed_;
    }
    return success;
}

} // namespace ucd
