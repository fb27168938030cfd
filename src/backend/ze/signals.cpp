#include "signals.h"

#include "context.h"
#include "loader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

namespace ucd::ze {

Signals &Signals::of(int device) {
    static std::array<std::atomic<Signals *>, max_drivers> known;
    auto &slot = known[found().of(device).driver];
    Signals *signals = slot.load(std::memory_order_acquire);
    if (signals != nullptr) [[likely]]
        return *signals;
    std::unique_ptr<Signals> made(new Signals(context_of(device)));
    if (slot.compare_exchange_strong(signals, made.get())) signals = made.release();
    return *signals;
}

bool Signals::is_over(const Signal &signal) const {
    const auto is_set = [](const Signal *s) {
        return calls().zeEventQueryStatus(s->event) != ZE_RESULT_NOT_READY;
    };
    return is_set(&signal) && std::all_of(signal.readers.begin(), signal.readers.end(), is_set);
}

ze_result_t Signals::take(Signal *&signal) {
    const std::lock_guard lock(mutex_);
    // Checks only a few, because some may belong to a stream that makes no progress.
    constexpr std::size_t looks = 4;
    for (std::size_t left = std::min(looks, retired_.size()); left > 0; --left) {
        Signal *oldest = retired_.front();
        retired_.pop_front();
        if (!is_over(*oldest)) {
            retired_.push_back(oldest);
            continue;
        }
        for (Signal *reader : oldest->readers) retired_.push_back(reader);
        oldest->readers.clear();
        if (const ze_result_t result = calls().zeEventHostReset(oldest->event);
            result != ZE_RESULT_SUCCESS)
            return result;
        free_.push_back(oldest);
    }
    if (free_.empty())
        if (const ze_result_t result = make(); result != ZE_RESULT_SUCCESS) return result;
    signal = free_.back();
    free_.pop_back();
    return ZE_RESULT_SUCCESS;
}

void Signals::retire(Signal *signal) noexcept {
    const std::lock_guard lock(mutex_);
    retired_.push_back(signal);
}

// Pools and their events are never destroyed.
ze_result_t Signals::make() {
    constexpr uint32_t events = 64; // in a pool
    if (pool_ == nullptr || made_ == events) {
        ze_event_pool_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        description.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        description.count = events;
        ze_event_pool_handle_t pool = nullptr;
        if (const ze_result_t result =
                calls().zeEventPoolCreate(context_, &description, 0, nullptr, &pool);
            result != ZE_RESULT_SUCCESS)
            return result;
        pool_ = pool;
        made_ = 0;
    }
    ze_event_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    description.index = made_;
    // Makes earlier writes visible to the host and to other devices.
    description.signal = description.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    auto signal = std::make_unique<Signal>();
    signal->home = this;
    if (const ze_result_t result = calls().zeEventCreate(pool_, &description, &signal->event);
        result != ZE_RESULT_SUCCESS)
        return result;
    ++made_;
    free_.push_back(signal.release());
    return ZE_RESULT_SUCCESS;
}

} // namespace ucd::ze
