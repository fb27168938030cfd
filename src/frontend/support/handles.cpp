#include "support/handles.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace ucd {

// A hash table in parts, each with a lock. Its members need no destructor, so that handles can be
// freed at any time until the process ends.
class HandleTable {
public:
    void add(HandleEntry &entry) {
        const std::lock_guard lock(mutex_);
        HandleEntry *&first = chain(entry.handle_);
        entry.next_ = first;
        first = &entry;
    }
    void remove(HandleEntry &entry) {
        const std::lock_guard lock(mutex_);
        unlink(*find(entry.handle_));
    }
    // Looks a handle up and, if it is of this kind and to be removed, removes it.
    Status look_up(const void *handle, HandleKind kind, const char *argument, bool removes) {
        constexpr const char *names[] = {"a type", "a request", "an info", "a plan"};
        const std::lock_guard lock(mutex_);
        HandleEntry **const link = find(handle);
        if (*link == nullptr) {
            const bool freed = std::find(freed_.begin(), freed_.end(), handle) != freed_.end();
            return fail(UCD_ERR__INVALID_ARG, "%s is %p, which %s", argument, handle,
                        freed ? "was freed" : "is no handle of this libucd, or was freed long ago");
        }
        if ((*link)->kind_ != kind)
            return fail(UCD_ERR__INVALID_ARG, "%s is %p, which is %s and not %s", argument, handle,
                        names[static_cast<unsigned>((*link)->kind_)],
                        names[static_cast<unsigned>(kind)]);
        if (removes) unlink(*link);
        return success;
    }

    static HandleTable &part_of(const void *handle);

private:
    static constexpr unsigned chain_bits = 7;

    static uint64_t hash(const void *handle) {
        return reinterpret_cast<uintptr_t>(handle) * 0x9e3779b97f4a7c15;
    }
    HandleEntry *&chain(const void *handle) {
        return chains_[hash(handle) >> (64 - part_bits - chain_bits) & ((1 << chain_bits) - 1)];
    }
    // The link that points to the handle's entry, or the null one at the chain's end.
    HandleEntry **find(const void *handle) {
        HandleEntry **link = &chain(handle);
        while (*link != nullptr && (*link)->handle_ != handle) link = &(*link)->next_;
        return link;
    }
    void unlink(HandleEntry *&link) {
        freed_[next_freed_++ % freed_.size()] = link->handle_;
        link->handle_ = nullptr;
        link = link->next_;
    }

    std::mutex mutex_; // protects the entries in the chains, too
    std::array<HandleEntry *, 1 << chain_bits> chains_{};
    std::array<const void *, 64> freed_{}; // the last ones, for messages
    unsigned next_freed_ = 0;

    static constexpr unsigned part_bits = 5;
    static HandleTable parts_[1 << part_bits];
};

constinit HandleTable HandleTable::parts_[1 << part_bits];

HandleTable &HandleTable::part_of(const void *handle) {
    return parts_[hash(handle) >> (64 - part_bits)];
}

void HandleEntry::add(const void *handle, HandleKind kind) noexcept {
    handle_ = handle;
    kind_ = kind;
    HandleTable::part_of(handle).add(*this);
}

void HandleEntry::remove() noexcept {
    HandleTable::part_of(handle_).remove(*this);
}

void check_handles(bool on) {
    __atomic_store_n(&max_checked_handle, on ? UINTPTR_MAX : max_reserved_handle, __ATOMIC_RELAXED);
}

Status look_up_handle(const void *handle, HandleKind kind, const char *argument) {
    return HandleTable::part_of(handle).look_up(handle, kind, argument, false);
}

Status remove_handle(const void *handle, HandleKind kind, const char *argument) {
    return HandleTable::part_of(handle).look_up(handle, kind, argument, true);
}

} // namespace ucd
