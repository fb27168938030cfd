// The handles that the user holds. With ucd.check=handles they are all in a table, and each call
// looks up those that it gets.
#pragma once

#include "status.h"

#include <cstdint>

namespace ucd {

enum class HandleKind : uint8_t { type, request, info, plan };

// The entry in the table, a member of what the handle points to. Being part of it, it costs no
// allocation, so that entering a handle cannot fail.
class HandleEntry {
public:
    HandleEntry() = default;
    HandleEntry(const HandleEntry &) = delete;
    HandleEntry &operator=(const HandleEntry &) = delete;
    ~HandleEntry() {
        if (handle_ != nullptr) remove();
    }
    // Enters `handle`.
    void add(const void *handle, HandleKind kind) noexcept;

private:
    friend class HandleTable;
    void remove() noexcept;

    HandleEntry *next_ = nullptr; // in the table
    const void *handle_ = nullptr;
    HandleKind kind_ = HandleKind::type;
};

// Handle values up to this one are never addresses.
inline constexpr uintptr_t max_reserved_handle = 4095;

// Handle values up to this one are looked up: all of them, or only those that are no addresses.
// Every call compares a type's handle with it anyway, so the check costs nothing there when it is
// off. No atomic type, which compilers load before they compare; only the first ucd_init changes
// it.
inline uintptr_t max_checked_handle = max_reserved_handle;

// For calls after ucd_init.
inline bool is_checked_type(const void *handle) {
    return reinterpret_cast<uintptr_t>(handle) <= max_checked_handle;
}
// For all calls.
inline bool is_checked(const void *handle) {
    return reinterpret_cast<uintptr_t>(handle) <=
           __atomic_load_n(&max_checked_handle, __ATOMIC_RELAXED);
}

// Switches the check on or off. Infos are always in the table, because they exist before ucd_init;
// other handles are if they were made while the check was on.
void check_handles(bool on);

// INVALID_ARG unless the handle is in the table, and of this kind.
Status look_up_handle(const void *handle, HandleKind kind, const char *argument);
// The same, and removes it from the table. Of two threads that free the same handle, one fails.
Status remove_handle(const void *handle, HandleKind kind, const char *argument);

// Makes a new handle known if handles are checked.
inline void add_handle(HandleEntry &entry, const void *handle, HandleKind kind) noexcept {
    if (is_checked(handle)) entry.add(handle, kind);
}

// For handles that may be null, but have no other values that are no addresses.
[[gnu::always_inline]] inline Status check_handle(const void *handle, HandleKind kind,
                                                  const char *argument) {
    if (handle == nullptr || !is_checked(handle)) [[likely]]
        return success;
    return look_up_handle(handle, kind, argument);
}
inline Status check_freed_handle(const void *handle, HandleKind kind, const char *argument) {
    return is_checked(handle) ? remove_handle(handle, kind, argument) : success;
}

} // namespace ucd
