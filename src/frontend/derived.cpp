#include "derived.h"

#include "layout_text.h"
#include "log.h"
#include "normalise/lower.h"

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

} // namespace

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
    made->layout = lower_to_layout(type);
    return publish(slot, std::move(made));
}

Status make_plan(const Type &type, const Backend &backend, unsigned backend_index, bool repeated,
                 const Plan *&plan) {
    Derived &d = const_cast<Derived &>(derived(type));
    auto &slot = d.plans[backend_index][repeated];
    std::unique_ptr<Plan> made;
    UCD_TRY(backend.plan(d.layout, type.extent(), repeated, made));
    if (logs(LogLevel::plan))
        log_line("%s, %s %s: %s", backend.name(), repeated ? "several" : "one",
                 to_text(d.layout).c_str(), made->describe().c_str());
    plan = &publish(slot, std::move(made));
    return success;
}

const Elements &elements_of(const Type &type) {
    Derived &d = const_cast<Derived &>(derived(type));
    if (const Elements *e = d.elements.load(std::memory_order_acquire)) return *e;
    auto made = std::make_unique<Elements>();
    made->kind = type.element;
    made->extent = static_cast<int64_t>(type.size);
    if (type.element == Element::none) made->runs = lower_to_elements(type);
    return publish(d.elements, std::move(made));
}

} // namespace ucd
