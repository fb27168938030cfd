#include "prepared/type_cache.h"

#include "flatten/writer.h"
#include "layout/layout_text.h"
#include "layout/normalise/lower.h"
#include "support/list_memory.h"
#include "support/log.h"
#include "types/create.h"

#include <algorithm>

namespace ucd {

TypeCache::~TypeCache() {
    for (auto &of_backend : plans)
        for (auto &slot : of_backend)
            if (const KernelPlan *plan = slot.load(std::memory_order_acquire)) plan->destroy();
    delete elements.load(std::memory_order_acquire);
    delete runs.load(std::memory_order_acquire);
    delete boxes.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < own->tables.size(); ++i) {
        TableLists lists = own.take_lists(i);
        keep_list(lists.displs);
        keep_list(lists.first);
        keep_list(lists.segments_first);
        keep_list(lists.pieces);
    }
}

namespace {

constexpr uint64_t unlimited = UINT64_MAX;

// The budget for layout, elements and plans of the type together; ucd.h documents it.
uint64_t budget_of(const Type &type) {
    constexpr uint64_t at_least = uint64_t{64} * 1024, per_flattened_byte = 16;
    if (!type.unflattened) return unlimited;
    const uint64_t known = type.form == Form::nest ? as<NestType>(type).flattened_bytes : 0;
    return at_least + per_flattened_byte * (known > 0 ? known : flatten(type).size());
}

constexpr uint64_t layout_share(uint64_t budget) {
    return budget == unlimited ? unlimited : budget / 2;
}

// If the type only changes the bounds of a long list, that list, whose layout it shares; else null.
const Type *list_below(const Type &type) {
    constexpr int64_t long_list = 1024;
    if (type.unflattened) return nullptr; // each of these has its own budget
    const auto [below, by] = below_displacements(type);
    const bool is_below = below != &type && by == 0 && is_indexed(*below);
    return is_below && as<ListType>(*below).count() >= long_list ? below : nullptr;
}

} // namespace

uint64_t max_layout_bytes(const Type &type) {
    return layout_share(budget_of(type));
}

TypeCache &make_cache(const Type &type) {
    if (type.shares_cache()) {
        TypeCache &shared = cache_of(type.original());
        type.state.cache.store(&shared, std::memory_order_release);
        return shared;
    }
    const Type *const list = type.size > 0 ? list_below(type) : nullptr;
    auto made = list != nullptr ? std::make_unique<TypeCache>(layout_of(*list))
                                : std::make_unique<TypeCache>();
    const uint64_t budget = budget_of(type);
    if (list == nullptr) made->own = lower(type, Lower::bytes, layout_share(budget));
    if (budget != unlimited) {
        const uint64_t taken = bytes_of(made->own) + BoxIndex::memory_for(made->layout);
        made->bytes_left = budget - std::min(budget, taken);
    }
    if (type.form == Form::structure || is_indexed(type))
        made->own.share(as<ListType>(type).displs, as<ListType>(type).first);
    CachedOnType *first = nullptr; // another thread's, if it was faster
    if (type.state.cache.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel))
        return *made.release();
    return static_cast<TypeCache &>(*first);
}

ConstTypeOwner with_layout(const Type &type, OwnedLayout layout) {
    auto cache = std::make_unique<TypeCache>();
    cache->own = std::move(layout);
    TypeOwner made;
    (void)create_resized(type.lb, type.extent(), type, made); // cannot fail, because the bounds are
                                                              // valid
    made->state.cache.store(cache.release(), std::memory_order_release);
    return ConstTypeOwner(made.release());
}

namespace {

// What a type caches besides its layout. make(bytes, taken, made) makes it at first use; for a type
// from flattened bytes, it may take what is left of the budget, and returns what it has used of it.
template <class T, class Make>
Status made_once(TypeCache &cache, std::atomic<const T *> &slot, Make make) {
    if (slot.load(std::memory_order_acquire) != nullptr) return success;
    const std::lock_guard lock(cache.making);
    if (slot.load(std::memory_order_acquire) != nullptr) return success;
    uint64_t taken = 0;
    const T *made = nullptr;
    UCD_TRY(make(cache.bytes_left, taken, made));
    slot.store(made, std::memory_order_release);
    if (cache.bytes_left != unlimited) cache.bytes_left -= std::min(cache.bytes_left, taken);
    return success;
}

// The same, where it cannot fail. make(bytes, taken) returns it.
template <class T, class Make>
const T &get_once(TypeCache &cache, std::atomic<const T *> &slot, Make make) {
    (void)made_once(cache, slot, [&](uint64_t max_bytes, uint64_t &taken, const T *&made) {
        made = make(max_bytes, taken);
        return success;
    });
    return *slot.load(std::memory_order_acquire);
}

} // namespace

Status make_plan(const Type &type, const Backend &backend, unsigned backend_index, bool repeated,
                 const KernelPlan *&plan) {
    TypeCache &cache = cache_of(type);
    auto &slot = cache.plans[backend_index][repeated];
    const auto make = [&](uint64_t max_bytes, uint64_t &taken, const KernelPlan *&made) -> Status {
        Owner<KernelPlan> owner;
        UCD_TRY(backend.plan(cache.layout, type.extent(), repeated, max_bytes, owner));
        if (logs(LogLevel::plan))
            log_line("%s, %s %s: %s", backend.name(), repeated ? "several" : "one",
                     to_text(cache.layout).c_str(), description_of(*owner).c_str());
        taken = owner->memory();
        made = owner.release();
        return success;
    };
    UCD_TRY(made_once(cache, slot, make));
    plan = slot.load(std::memory_order_acquire);
    return success;
}

// Elements and runs leave at least as much of the budget to plans.
const Elements &elements_of(const Type &type) {
    TypeCache &cache = cache_of(type);
    return get_once(cache, cache.elements, [&](uint64_t max_bytes, uint64_t &taken) {
        auto made = std::make_unique<OwnedElements>();
        made->kind = type.element;
        made->extent = static_cast<int64_t>(type.size);
        if (type.element == Element::none)
            made->owned_runs = lower(type, Lower::elements, layout_share(max_bytes));
        made->runs = made->owned_runs;
        taken = sizeof *made + bytes_of(made->owned_runs);
        return made.release();
    });
}

const OwnedLayout &runs_of(const Type &type) {
    TypeCache &cache = cache_of(type);
    return get_once(cache, cache.runs, [&](uint64_t max_bytes, uint64_t &taken) {
        auto made =
            std::make_unique<OwnedLayout>(lower(type, Lower::runs, layout_share(max_bytes)));
        taken = sizeof *made + bytes_of(*made);
        return made.release();
    });
}

const BoxIndex &boxes_of(const Type &type) {
    TypeCache &cache = cache_of(type);
    // make_cache() has charged the budget for it.
    return get_once(cache, cache.boxes,
                    [&](uint64_t, uint64_t &) { return new BoxIndex(cache.layout); });
}

} // namespace ucd
