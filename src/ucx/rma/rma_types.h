// Types that origin and target remember, so that an index or a content id stands for them.
#pragma once

#include "common/content_id.h"
#include "datatype/typed_buffer.h"
#include "rma/overlap.h"

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
    // Whether so many of it have bytes twice, as find_overlap says.
    Status find_overlap(uint64_t count, uint64_t &work, Overlap &found) const;

    OwnedType type;
    std::string flattened; // kept by the origin only
    ContentId id = {};
    uint64_t cost = 0; // bytes of memory, at most
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

// What was used last, up to a limit on the cost of all together.
template <class Key, class Hash>
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

    void add(const Key &key, TypePtr type) {
        if (type->cost > limit_ || places_.contains(key)) return;
        while (cost_ > limit_ - type->cost) {
            cost_ -= order_.back().second->cost;
            places_.erase(order_.back().first);
            order_.pop_back();
            ++forgotten_;
        }
        const uint64_t cost = type->cost;
        order_.emplace_front(key, std::move(type));
        try {
            places_.emplace(key, order_.begin());
        } catch (...) {
            order_.pop_front();
            throw;
        }
        cost_ += cost;
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

// By content.
class TypesOfTarget {
public:
    explicit TypesOfTarget(uint64_t limit) : recent_(limit) {}
    TypePtr find(const ContentId &id) { return recent_.find(id); }
    uint64_t forgotten() const { return recent_.forgotten(); }
    // From anyone's bytes.
    Status learn(std::string_view flattened, TypePtr &type);

private:
    Recent<ContentId, HashOfContentId> recent_;
};

} // namespace ucd_ucx::rma
