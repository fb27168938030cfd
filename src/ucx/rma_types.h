// Types that origin and target remember, so that a name stands for them.
#pragma once

#include "content_name.h"
#include "operand.h"

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ucd_ucx::rma {

struct KnownType {
    OwnedType type;
    std::string flattened; // kept by the origin only
    Name name = {};
    uint64_t cost = 0; // bytes flattened
};
using TypePtr = std::shared_ptr<const KnownType>;

// What was used last, up to a limit on the cost of all together.
template <class Key, class Hash>
class Recent {
public:
    explicit Recent(uint64_t limit) : limit_(limit) {}

    TypePtr find(const Key &key) {
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
        }
        cost_ += type->cost;
        order_.emplace_front(key, std::move(type));
        places_.emplace(key, order_.begin());
    }

private:
    using Order = std::list<std::pair<Key, TypePtr>>;
    const uint64_t limit_;
    uint64_t cost_ = 0;
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
    TypePtr find(const Name &name) { return recent_.find(name); }
    // From anyone's bytes.
    Status learn(std::string_view flattened, TypePtr &type);

private:
    Recent<Name, HashOfName> recent_;
};

// Stands for a predefined type's class, width and alignment; 0 for UCD_TYPE__NULL.
Status element_signature(ucd_type_t element, uint64_t &signature);

} // namespace ucd_ucx::rma
