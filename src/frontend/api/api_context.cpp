// ucd_init, ucd_finalize, versions, messages, hints, backends.

#include "api/api_guard.h"
#include "api/copy_note.h"
#include "exception_status.h"
#include "support/keys.h"
#include "support/list_memory.h"
#include "transfer/check.h"
#include "transfer/context.h"
#include "transfer/progress.h"
#include "types/ops.h"
#include "types/predefined.h"

#include <ucd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace ucd;

namespace {

std::mutex life_cycle;
int initialisations = 0; // protected by life_cycle

void copy_cut(char *to, std::size_t room, std::string_view text) {
    const std::size_t n = std::min(room - 1, text.size());
    std::memcpy(to, text.data(), n);
    to[n] = '\0';
}

// Called by the first ucd_init.
Status start(const Info *info) noexcept {
    return without_exceptions([&]() -> Status {
        Info environment;
        UCD_TRY(read_log_level());
        UCD_TRY(read_environment(info, environment));
        if (!ever_initialised.load(std::memory_order_relaxed)) make_predefined_types();
        auto context = std::make_unique<Context>(std::move(environment), info);
        check_handles(context->environment.checks_handles.value_or(false));
        ever_initialised.store(true, std::memory_order_release);
        running_context.store(context.release(), std::memory_order_release);
        return success;
    });
}

} // namespace

int ucd_init(ucd_info_t info) {
    return guard("ucd_init", [&]() -> Status {
        const std::lock_guard lock(life_cycle);
        UCD_TRY(check_handle(info, HandleKind::info, "info"));
        if (initialisations == 0) {
            const Status started = start(info_of(info));
            set_start_failure(started.ok() ? "" : last_error().text);
            UCD_TRY(started);
        }
        ++initialisations;
        return success;
    });
}

int ucd_finalize(void) {
    return guard("ucd_finalize", [&]() -> Status {
        const std::lock_guard lock(life_cycle);
        Context *context;
        UCD_TRY(current(context));
        if (--initialisations > 0) return success;
        running_context.store(nullptr, std::memory_order_release);
        delete context;     // completes outstanding work
        set_list_memory(0); // types may be freed later: their lists are not kept then
        release_kept_lists();
        return success;
    });
}

int ucd_version(int *major, int *minor, int *patch) {
    return guard("ucd_version", [&]() -> Status {
        UCD_TRY(require(major, "major"));
        UCD_TRY(require(minor, "minor"));
        UCD_TRY(require(patch, "patch"));
        *major = UCD_VERSION_MAJOR;
        *minor = UCD_VERSION_MINOR;
        *patch = UCD_VERSION_PATCH;
        return success;
    });
}

const char *ucd_strerror(int rc) {
    switch (rc) {
    case UCD_SUCCESS: return "UCD_SUCCESS";
    case UCD_ERR__INVALID_ARG: return "UCD_ERR__INVALID_ARG";
    case UCD_ERR__OUT_OF_MEM: return "UCD_ERR__OUT_OF_MEM";
    case UCD_ERR__NOT_SUPPORTED: return "UCD_ERR__NOT_SUPPORTED";
    case UCD_ERR__NOT_INITIALIZED: return "UCD_ERR__NOT_INITIALIZED";
    case UCD_ERR__OVERFLOW: return "UCD_ERR__OVERFLOW";
    case UCD_ERR__CORRUPT: return "UCD_ERR__CORRUPT";
    case UCD_ERR__TRUNCATED: return "UCD_ERR__TRUNCATED";
    case UCD_ERR__DEVICE: return "UCD_ERR__DEVICE";
    case UCD_ERR__INTERNAL: return "UCD_ERR__INTERNAL";
    default: return "not a UCD status";
    }
}

const char *ucd_last_error(void) {
    return last_error().text;
}

int ucd_info_create(ucd_info_t *info) {
    return guard("ucd_info_create", [&]() -> Status {
        UCD_TRY(require(info, "info"));
        auto *const made = new UserInfo;
        made->entry.add(made, HandleKind::info);
        *info = reinterpret_cast<ucd_info_t>(made);
        return success;
    });
}

int ucd_info_set(ucd_info_t info, const char *key, const char *value) {
    return guard("ucd_info_set", [&]() -> Status {
        UCD_TRY(require(info, "info"));
        UCD_TRY(check_handle(info, HandleKind::info, "info"));
        UCD_TRY(require(key, "key"));
        UCD_TRY(require(value, "value"));
        return set_text(*info_of(info), key, value);
    });
}

int ucd_info_get(ucd_info_t info, const char *key, char *value, uintptr_t value_size,
                 uintptr_t *needed) {
    return guard("ucd_info_get", [&]() -> Status {
        UCD_TRY(check_handle(info, HandleKind::info, "info"));
        UCD_TRY(require(key, "key"));
        UCD_TRY(require(needed, "needed"));
        const std::string *text = info == UCD_INFO__NULL ? nullptr : find_text(*info_of(info), key);
        return copy_text(text == nullptr ? nullptr : text->c_str(), "value", value, value_size,
                         needed);
    });
}

int ucd_info_get_nthkey(ucd_info_t info, uintptr_t n, char *key, uintptr_t key_size,
                        uintptr_t *needed) {
    return guard("ucd_info_get_nthkey", [&]() -> Status {
        UCD_TRY(check_handle(info, HandleKind::info, "info"));
        UCD_TRY(require(needed, "needed"));
        const Info *set = info_of(info);
        const bool exists = set != nullptr && n < set->texts.size();
        return copy_text(exists ? set->texts[n].first.c_str() : nullptr, "key", key, key_size,
                         needed);
    });
}

int ucd_info_free(ucd_info_t *info) {
    return guard("ucd_info_free", [&]() -> Status {
        UCD_TRY(require(info, "info"));
        if (*info == UCD_INFO__NULL) return success;
        UCD_TRY(check_freed_handle(*info, HandleKind::info, "*info"));
        delete info_of(*info);
        *info = UCD_INFO__NULL;
        return success;
    });
}

int ucd_backend_count(int *count) {
    return guard("ucd_backend_count", [&](Context &context) -> Status {
        UCD_TRY(require(count, "count"));
        *count = static_cast<int>(context.slots.size());
        return success;
    });
}

int ucd_backend_get(int index, ucd_backend_desc_t *desc) {
    return guard("ucd_backend_get", [&](Context &context) -> Status {
        UCD_TRY(require(desc, "desc"));
        if (index < 0 || static_cast<std::size_t>(index) >= context.slots.size())
            return fail(UCD_ERR__INVALID_ARG, "index is %d; it must be in 0 .. %zu", index,
                        context.slots.size() - 1);
        const BackendSlot &slot = context.slots[static_cast<std::size_t>(index)];
        ucd_backend_desc_t d = {};
        const BackendState *state;
        UCD_TRY(slot.inspect(state));
        d.available = state->available;
        d.devices = state->devices;
        copy_cut(d.name, sizeof d.name, slot.name);
        copy_cut(d.version, sizeof d.version, state->version.view());
        copy_cut(d.reason, sizeof d.reason, state->reason.view());
        return fill_sized(d, desc);
    });
}

namespace ucd {
namespace {

// Calls visit(element) for every representation in the type; some may be visited several times.
template <class Visit>
void for_each_element_kind(const Type &type, Visit visit) {
    if (type.size == 0) return;
    const Elements &elements = elements_of(type);
    if (elements.kind != Element::none) return visit(elements.kind);
    for (const Node &n : elements.runs.nodes)
        if (n.kind == NodeKind::block) visit(n.element);
}

} // namespace
} // namespace ucd

int ucd_op_is_supported(ucd_op_t op, ucd_type_t type, const char *backend, int *supported) {
    return guard("ucd_op_is_supported", [&](Context &context) -> Status {
        const Type *t;
        UCD_TRY(resolve(type, "type", t));
        UCD_TRY(require(backend, "backend"));
        UCD_TRY(require(supported, "supported"));
        UCD_TRY(check_op(op));
        const int index = context.index_of(backend);
        if (index < 0)
            return fail(UCD_ERR__INVALID_ARG,
                        "backend is \"%.32s\"; no backend has that name; the nearest is %s",
                        backend, nearest_backend(backend));
        const Backend *b = context.slots[static_cast<std::size_t>(index)].backend.get();
        const auto asked = static_cast<Op>(op);
        bool yes = b != nullptr && (t->ops & op_bit(asked)) != 0;
        if (yes && asked != Op::replace)
            for_each_element_kind(*t, [&](Element e) { yes = yes && b->supports(asked, e); });
        *supported = yes;
        return success;
    });
}
