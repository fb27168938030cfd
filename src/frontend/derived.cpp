#include "derived.h"

#include "flatten.h"
#include "footprint.h"
#include "layout_text.h"
#include "log.h"
#include "normalise/lower.h"

#include <algorithm>

namespace ucd {

Derived::~Derived() {
    for (auto &of_backend : plans)
        for (auto &plan : of_backend) delete plan.load(std::memory_order_acquire);
    delete elements.load(std::memory_order_acquire);
}

namespace {

// Publishes what a thread has made, unless another thread was first; its work then goes unused.
template <class T>
const T &publish(std::atomic<T *> &slot, std::unique_ptr<std::remove_const_t<T>> made) {
    T *expected = nullptr;
    if (slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel))
        return *made.release();
    return *expected;
}

constexpr uint64_t unlimited = UINT64_MAX;

// What layout, elements and plans of the type may be expanded to together; ucd.h states it.
uint64_t budget_of(const Type &type) {
    constexpr uint64_t at_least = 64 * 1024, per_flattened_byte = 16;
    if (!type.unflattened) return unlimited;
    const uint64_t bytes = type.flattened_bytes > 0 ? type.flattened_bytes : flatten(type).size();
    return at_least + per_flattened_byte * bytes;
}

constexpr uint64_t layout_share(uint64_t budget) {
    return budget == unlimited ? unlimited : budget / 2;
}

} // namespace

uint64_t most_layout_bytes(const Type &type) {
    return layout_share(budget_of(type));
}

const Derived &make_derived(const Type &type) {
    auto &slot = const_cast<Type &>(type).derived;
    if (type.shares_derived()) {
        const Type *original = type.child;
        while (original->shares_derived()) original = original->child;
        const Derived &shared = derived(*original);
        slot.store(const_cast<Derived *>(&shared), std::memory_order_release);
        return shared;
    }
    auto made = std::make_unique<Derived>();
    const uint64_t budget = budget_of(type);
    made->layout = lower_to_layout(type, layout_share(budget));
    if (budget != unlimited) made->bytes_left = budget - std::min(budget, bytes_of(made->layout));
    return publish(slot, std::move(made));
}

namespace {

// What a type of flattened bytes derives besides its layout is made by one thread at a time: `make`
// is given the bytes that it may take, and returns those that it took.
template <class T, class Make>
Status make_within_budget(Derived &derived, const std::atomic<T *> &slot, Make make) {
    const std::lock_guard lock(derived.making);
    if (slot.load(std::memory_order_acquire) != nullptr) return success;
    uint64_t taken = 0;
    UCD_TRY(make(derived.bytes_left, taken));
    derived.bytes_left -= std::min(derived.bytes_left, taken);
    return success;
}

} // namespace

Status make_plan(const Type &type, const Backend &backend, unsigned backend_index, bool repeated,
                 const Plan *&plan) {
    Derived &d = const_cast<Derived &>(derived(type));
    auto &slot = d.plans[backend_index][repeated];
    const auto make = [&](uint64_t most_bytes, uint64_t &taken) -> Status {
        std::unique_ptr<Plan> made;
        UCD_TRY(backend.plan(d.layout, type.extent(), repeated, most_bytes, made));
        if (logs(LogLevel::plan))
            log_line("%s, %s %s: %s", backend.name(), repeated ? "several" : "one",
                     to_text(d.layout).c_str(), made->describe().c_str());
        taken = made->memory();
        publish(slot, std::move(made));
        return success;
    };
    uint64_t taken;
    UCD_TRY(type.unflattened ? make_within_budget(d, slot, make) : make(unlimited, taken));
    plan = slot.load(std::memory_order_acquire);
    return success;
}

const Elements &elements_of(const Type &type) {
    Derived &d = const_cast<Derived &>(derived(type));
    if (const Elements *e = d.elements.load(std::memory_order_acquire)) return *e;
    const auto make = [&](uint64_t most_bytes, uint64_t &taken) -> Status {
        auto made = std::make_unique<Elements>();
        made->kind = type.element;
        made->extent = static_cast<int64_t>(type.size);
        // Plans have at least as much.
        if (type.element == Element::none)
            made->runs =
                lower_to_elements(type, most_bytes == unlimited ? unlimited : most_bytes / 2);
        taken = sizeof *made + bytes_of(made->runs);
        publish(d.elements, std::move(made));
        return success;
    };
    uint64_t taken;
    (void)(type.unflattened ? make_within_budget(d, d.elements, make) : make(unlimited, taken));
    return *d.elements.load(std::memory_order_acquire);
}

} // namespace ucd
