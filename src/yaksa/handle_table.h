// Maps numeric handles to objects. Look-ups take no lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ucd_yaksa {

// A handle has an index in its lower 32 bits and the number of the insertion in its upper ones. A
// handle value is used again only after 2^32 insertions, so a freed handle is recognised. Entries
// keep their addresses. All functions are thread-safe, but no handle may be removed while another
// thread uses its entry.
template <class Entry>
class HandleTable {
public:
    // Indices of handles start at `first`; smaller numbers are left for constants.
    HandleTable(std::uint32_t first, std::uint32_t max_entries)
        : first_(first), max_entries_(max_entries) {}
    ~HandleTable() {
        for (auto &segment : segments_) delete[] segment.load(std::memory_order_relaxed);
    }
    HandleTable(const HandleTable &) = delete;
    HandleTable &operator=(const HandleTable &) = delete;

    // Null if no entry has this handle.
    Entry *find(std::uint64_t handle) noexcept {
        Slot *const slot = slot_of(handle);
        return slot == nullptr ? nullptr : &slot->entry;
    }

    // Returns 0 if the table is full. In that case, and if an allocation fails, `entry` is
    // unchanged.
    std::uint64_t insert(Entry &&entry) {
        const std::lock_guard lock(mutex_);
        std::uint32_t index = 0;
        if (!free_.empty()) {
            index = free_.back();
        } else {
            const std::uint32_t used = used_.load(std::memory_order_relaxed);
            if (used == max_entries_) return 0;
            index = used;
            make_room_for(index);
        }
        Slot &slot = slot_at(index);
        slot.entry = std::move(entry);
        if (!free_.empty()) {
            free_.pop_back();
        } else {
            used_.store(index + 1, std::memory_order_release);
        }
        const std::uint64_t handle =
            std::uint64_t{insertions_++} << 32 | (std::uint64_t{index} + first_);
        slot.handle.store(handle, std::memory_order_release);
        return handle;
    }

    // Moves the entry out. False if no entry has this handle.
    bool remove(std::uint64_t handle, Entry &entry) noexcept {
        const std::lock_guard lock(mutex_);
        Slot *const slot = slot_of(handle);
        if (slot == nullptr) return false;
        take(*slot, entry);
        free_.push_back(static_cast<std::uint32_t>(handle) -
                        first_); // make_room_for has reserved it
        return true;
    }

    // Removes all entries, and passes each to `drop`.
    template <class Drop>
    void clear(Drop &&drop) noexcept {
        const std::lock_guard lock(mutex_);
        for (std::uint32_t i = 0; i < used_.load(std::memory_order_relaxed); ++i) {
            Slot &slot = slot_at(i);
            if (slot.handle.load(std::memory_order_relaxed) == 0) continue;
            Entry entry{};
            take(slot, entry);
            drop(entry);
        }
        used_.store(0, std::memory_order_release);
        free_ = {};
        for (auto &segment : segments_) {
            delete[] segment.exchange(nullptr, std::memory_order_relaxed);
        }
    }

private:
    struct Slot {
        std::atomic<std::uint64_t> handle{0}; // 0: free
        Entry entry{};
    };
    // Segment k has 64 * 2^k slots.
    static constexpr std::uint64_t first_segment = 64;

    static unsigned segment_of(std::uint64_t index) {
        return static_cast<unsigned>(std::bit_width(index + first_segment)) - 7;
    }

    Slot &slot_at(std::uint64_t index) noexcept {
        const unsigned k = segment_of(index);
        return segments_[k].load(
            std::memory_order_relaxed)[index + first_segment - (first_segment << k)];
    }

    Slot *slot_of(std::uint64_t handle) noexcept {
        const std::uint64_t index = (handle & UINT32_MAX) - first_; // wraps below first_
        if (handle == 0 || index >= used_.load(std::memory_order_acquire)) return nullptr;
        Slot &slot = slot_at(index);
        return slot.handle.load(std::memory_order_acquire) == handle ? &slot : nullptr;
    }

    static void take(Slot &slot, Entry &entry) noexcept {
        slot.handle.store(0, std::memory_order_release);
        entry = std::move(slot.entry);
        slot.entry = Entry{};
    }

    void make_room_for(std::uint32_t index) {
        const unsigned k = segment_of(index);
        if (segments_[k].load(std::memory_order_relaxed) == nullptr) {
            segments_[k].store(new Slot[first_segment << k], std::memory_order_relaxed);
        }
        if (free_.capacity() <= index) free_.reserve(2 * (std::size_t{index} + 1));
    }

    const std::uint32_t first_, max_entries_;
    std::mutex mutex_; // for changes
    std::atomic<std::uint32_t> used_{0};
    std::array<std::atomic<Slot *>, 27> segments_{}; // enough for 2^32 slots
    std::vector<std::uint32_t> free_;                // indices below used_
    std::uint32_t insertions_ = 1;
};

} // namespace ucd_yaksa
