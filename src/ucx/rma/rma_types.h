// Types that origin and target remember, so that an index or a content id stands for them.
#pragma once

#include "common/content_id.h"
#include "common/ledger.h"
#include "datatype/typed_buffer.h"
#include "rma/overlap.h"

#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ucd_ucx::rma {

struct KnownType {
    // Of so many of it; quick for 1, and for the count that was asked for last. What is found stays
    // until another count is asked for.
    Status measure(uint64_t count, const ucd_layout_t *&found) const;
    // Whether its element takes an op on the host.
    bool takes(ucd_op_t op) const;
    // Whether so many of it have bytes twice: for a peer that may cause so much work, and on its
    // account. *refused: there is no room there now.
    Status find_overlap(uint64_t count, Ledger &ledger, ucp_ep_h peer, uint64_t &work,
                        Overlap &found, bool *refused) const;

    OwnedType type;
    std::string flattened; // kept by the origin only
    ContentId id = {};
    uint64_t cost = 0; // bytes of memory, at most
    // At a target: on the account of the peer that brought it, or of what is remembered.
    mutable Charge charge;
    ucd_layout_t one = {};
    // Of the one predefined type that it is made of: what stands for it, or 0 if there is none; and
    // its size.
    uint64_t element = 0, element_bytes = 0;

private:
    mutable uint32_t asked_ops_ = 0, known_ops_ = 0;      // bits
    mutable uint64_t last_count_ = 0, overlap_count_ = 0; // 0: none
    mutable ucd_layout_t last_ = {};
    mutable Overlap overlap_ = Overlap::unknown;
};
using TypePtr = std::shared_ptr<const KnownType>;

// What was used last, up to a limit on the cost of all together. What somebody else still uses
// counts as used last if `keeps_used` is set: then the limit holds for all that exists of it.
template <class Key, class Hash, bool keeps_used = false>
class Recent {
public:
    explicit Recent(uint64_t limit) : limit_(limit) {}

    TypePtr find(const Key &key) {
        if (!order_.empty() && order_.front().first == key) return order_.front().second;
        const auto found = places_.find(key);
        if (found == places_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return found->second->second;
    }

    // Whether it was added.
    bool add(const Key &key, TypePtr type) {
        if (type->cost > limit_ || places_.contains(key) || !make_room(type->cost)) return false;
        const uint64_t cost = type->cost;
        order_.emplace_front(key, std::move(type));
        try {
            places_.emplace(key, order_.begin());
        } catch (...) {
            order_.pop_front();
            throw;
        }
        cost_ += cost;
        return true;
    }

    // Whether there is room for so much more; something is forgotten for it.
    bool make_room(uint64_t cost) {
        for (std::size_t left = order_.size(); cost > limit_ || cost_ > limit_ - cost; --left) {
            if (left == 0) return false;
            const auto last = std::prev(order_.end());
            if (keeps_used && last->second.use_count() > 1) {
                order_.splice(order_.begin(), order_, last);
                continue;
            }
            cost_ -= last->second->cost;
            places_.erase(last->first);
            order_.pop_back();
            ++forgotten_;
        }
        return true;
    }

    // How many were forgotten. While it is the same, all that was found is still here.
    uint64_t forgotten() const { return forgotten_; }

private:
    using Order = std::list<std::pair<Key, TypePtr>>;
    const uint64_t limit_;
    uint64_t cost_ = 0, forgotten_ = 0;
    Order order_;
    std::unordered_map<Key, typename Order::iterator, Hash> places_;
};

// By handle. No other type gets the handle's value while a duplicate of it is kept here.
class TypesOfOrigin {
public:
    explicit TypesOfOrigin(uint64_t limit) : recent_(limit) {}
    Status find(ucd_type_t handle, TypePtr &type);

private:
    Recent<ucd_type_t, std::hash<ucd_type_t>> recent_;
};

// By content. Each type that exists is charged: to what is remembered, or to the peer that brought
// it if there is no room for it there.
class TypesOfTarget {
public:
    explicit TypesOfTarget(Ledger &ledger) : ledger_(ledger), recent_(ledger.remembered_limit()) {}
    TypePtr find(const ContentId &id) { return recent_.find(id); }
    uint64_t forgotten() const { return recent_.forgotten(); }
    // What libucd may take for a type that comes as so many bytes, with all that it makes of it.
    static uint64_t bytes_of_type(uint64_t flattened);
    // Whether there may ever be a budget for it.
    bool is_possible(uint64_t flattened) const {
        const uint64_t bytes = bytes_of_type(flattened);
        return ledger_.is_possible(bytes, Use::type) || bytes <= ledger_.remembered_limit();
    }
    // In place of types that nobody uses.
    Charge take_remembered(uint64_t bytes) {
        return recent_.make_room(bytes) ? ledger_.take_remembered(bytes) : Charge();
    }
    // From anyone's bytes, whose charge it takes over. *remembered: others find it from now on.
    Status learn(std::string_view flattened, Charge charge, TypePtr &type, bool *remembered);

private:
    Ledger &ledger_;
    Recent<ContentId, HashOfContentId, true> recent_;
};

} // namespace ucd_ucx::rma
