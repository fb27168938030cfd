// Types that origins and targets remember, so that an index or a content id is enough to name them.
#pragma once

#include "common/ledger.h"
#include "common/tokens.h"
#include "datatype/typed_buffer.h"

#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ucd_ucx {

// Whether a layout contains bytes more than once.
enum class Overlap : uint8_t {
    none,
    some,
    unknown, // only a list of the segments can tell
};
// What the layout tells without a list of its segments.
Overlap overlap_of(const ucd_layout_t &layout);

struct PeerType {
    // The layout of `count` of the type. It is cached for a count of 1, and for the last other
    // count, and stays valid until yet another count is asked for.
    Status measure(uint64_t count, const ucd_layout_t *&found) const;
    // Whether the host can apply the op to the type's element.
    bool takes(ucd_op_t op) const;
    // Whether `count` of the type contain bytes more than once. The memory is charged to `peer`,
    // and `work` limits the segments to check. *refused: the account has no room at present.
    Status find_overlap(uint64_t count, Ledger &ledger, ucp_ep_h peer, uint64_t &work,
                        Overlap &found, bool *refused) const;

    OwnedType type;
    std::string flattened; // only at the origin
    ContentId id = {};
    uint64_t cost = 0; // an upper limit of its memory in bytes
    // At a target: on the account of the peer that sent the type, or of remembered types.
    mutable Charge charge;
    ucd_layout_t one = {};
    // If the type consists of one predefined type: the signature of this type and its size. Else 0.
    uint64_t element = 0, element_bytes = 0;

private:
    mutable uint64_t last_count_ = 0, overlap_count_ = 0; // 0: none
    mutable ucd_layout_t last_ = {};
    mutable Overlap overlap_ = Overlap::unknown;
};
using TypePtr = std::shared_ptr<const PeerType>;

// A least-recently-used cache of types with a limit on their total cost. With keeps_used, types in
// use count as recently used and are not dropped, so that the limit holds for all types that exist.
// A call that makes room looks at most at `max_looks` of them, so that its time does not depend
// on how many there are. The next call goes on from there.
template <class Key, class Hash, bool keeps_used = false>
class Recent {
public:
    static constexpr std::size_t max_looks = 16;

    explicit Recent(uint64_t limit) : limit_(limit) {}

    TypePtr find(const Key &key) {
        if (!order_.empty() && order_.front().first == key) return order_.front().second;
        const auto found = places_.find(key);
        if (found == places_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return found->second->second;
    }

    // Returns whether the type was added.
    bool add(const Key &key, const TypePtr &type) {
        if (type->cost > limit_ || places_.contains(key) || !make_room(type->cost)) return false;
        Order added; // first, so that nothing has changed if this fails
        added.emplace_front(key, type);
        places_.emplace(key, added.begin());
        cost_ += type->cost;
        order_.splice(order_.begin(), added);
        return true;
    }

    // Drops types to make room for one of this cost. Returns whether there is room.
    bool make_room(uint64_t cost) {
        for (std::size_t looks = 0; cost > limit_ || cost_ > limit_ - cost;) {
            if (order_.empty() || looks == max_looks) return false;
            const auto last = std::prev(order_.end());
            if (keeps_used && last->second.use_count() > 1) {
                order_.splice(order_.begin(), order_, last);
                ++looks;
                continue;
            }
            cost_ -= last->second->cost;
            places_.erase(last->first);
            order_.pop_back();
            ++forgotten_;
        }
        return true;
    }

    // The number of types dropped so far. While it is unchanged, all types found earlier are still
    // here.
    uint64_t forgotten() const { return forgotten_; }

private:
    using Order = std::list<std::pair<Key, TypePtr>>;
    const uint64_t limit_;
    uint64_t cost_ = 0, forgotten_ = 0;
    Order order_;
    std::unordered_map<Key, typename Order::iterator, Hash> places_;
};

// By handle. Each entry keeps a duplicate of its handle, so that no other type gets the same value.
class TypesOfOrigin {
public:
    explicit TypesOfOrigin(uint64_t limit) : recent_(limit) {}
    Status find(ucd_type_t handle, TypePtr &type); // fails if it cannot be flattened

private:
    Recent<ucd_type_t, std::hash<ucd_type_t>> recent_;
};

// By content. Each type that exists is charged to the remembered types, or if these have no room,
// to the peer that sent it.
class TypesOfTarget {
public:
    // A longer flattened type is not sent in advance: data takes a route that needs none.
    static constexpr uint64_t max_sent = 256 << 10;

    explicit TypesOfTarget(Ledger &ledger) : ledger_(ledger), recent_(ledger.remembered_limit()) {}
    TypePtr find(const ContentId &id) { return recent_.find(id); }
    uint64_t forgotten() const { return recent_.forgotten(); }
    // The memory that libucd may need for a type of this flattened size, including all that is
    // derived from it.
    static uint64_t bytes_of_type(uint64_t flattened);
    // Whether the limits allow such a type at all.
    bool is_possible(uint64_t flattened) const {
        const uint64_t bytes = bytes_of_type(flattened);
        return ledger_.is_possible(bytes, LedgerUse::type) || bytes <= ledger_.remembered_limit();
    }
    // Takes a charge; types that are not in use make room for it.
    Charge take_remembered(uint64_t bytes) {
        return recent_.make_room(bytes) ? ledger_.take_remembered(bytes) : Charge();
    }
    // Builds a type from untrusted bytes and takes over the charge. *remembered: other peers can
    // find it.
    Status learn(std::string_view flattened, Charge charge, TypePtr &type, bool *remembered);
    // Untrusted bytes have come from a peer, of a type that offers may name later. If they are no
    // type, if there is no room for it, or if the peer has caused enough work in this call of
    // progress, nothing happens.
    void learn(ucp_ep_h from, std::string_view flattened);

private:
    Ledger &ledger_;
    Recent<ContentId, HashOfId, true> recent_;
};

} // namespace ucd_ucx
