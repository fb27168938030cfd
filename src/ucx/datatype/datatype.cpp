#include "datatype/datatype.h"

#include "common/generic_datatype.h"
#include "datatype/options.h"
#include "datatype/typed_buffer.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <ucd_ucx.h>
#include <unordered_map>

namespace ucd_ucx {
namespace {

// The context of a generic datatype, in UCX's sense: there is one for each datatype, and any number
// of operations read it.
struct DatatypeContext {
    Status make(ucd_type_t of, ucd_info_t info) {
        UCD_TRY(type.keep(of));
        UCD_TRY(ucd_ok(ucd_get_size(of, &size)));
        UCD_TRY(copy_hints(info, to_pack));
        UCD_TRY(copy_hints(info, to_unpack));
        UCD_TRY(to_pack.copy(info, "ucd.inbuf"));
        UCD_TRY(to_unpack.copy(info, "ucd.outbuf"));
        return datatype.make(datatype_callbacks, this);
    }

    void record(int code, const char *message) noexcept {
        const std::lock_guard lock(mutex_);
        if (code_ != UCD_SUCCESS) return;
        code_ = code;
        std::strncpy(message_, message, sizeof message_ - 1);
    }
    Status take() {
        const std::lock_guard lock(mutex_);
        const int code = std::exchange(code_, UCD_SUCCESS);
        return code == UCD_SUCCESS ? success : fail(code, "%s", message_);
    }

    GenericDatatype datatype;
    OwnedType type;
    uintptr_t size = 0;
    OwnedInfo to_pack, to_unpack;

private:
    std::mutex mutex_;
    int code_ = UCD_SUCCESS;
    char message_[256] = {};
};

// The state of one operation. If it cannot be allocated, an odd number takes the place of the
// pointer: it encodes the length of the stream, so that the message still has the right length.
struct State {
    DatatypeContext *context;
    char *buf;
    uintptr_t count, bytes;
};

bool is_length(const void *state) {
    return (reinterpret_cast<uintptr_t>(state) & 1) != 0;
}

void *start(void *context_argument, const void *buf, std::size_t count) {
    auto *context = static_cast<DatatypeContext *>(context_argument);
    uintptr_t bytes;
    if (__builtin_mul_overflow(context->size, count, &bytes) || bytes > INTPTR_MAX) {
        context->record(UCD_ERR__OVERFLOW, "the packed bytes of count times the type overflow");
        bytes = 0;
    } else if (auto *state = new (std::nothrow)
                   State{context, static_cast<char *>(const_cast<void *>(buf)), count, bytes}) {
        return state;
    } else {
        context->record(UCD_ERR__OUT_OF_MEM, "no memory for the state of an operation");
    }
    return reinterpret_cast<void *>(bytes << 1 | 1);
}

void *start_unpack(void *context, void *buf, std::size_t count) {
    return start(context, buf, count);
}

std::size_t packed_size(void *state) {
    return is_length(state) ? reinterpret_cast<uintptr_t>(state) >> 1
                            : static_cast<State *>(state)->bytes;
}

std::size_t pack(void *state_argument, std::size_t offset, void *to, std::size_t room) {
    const std::size_t total = packed_size(state_argument);
    const std::size_t length = std::min(room, total - offset);
    if (!is_length(state_argument)) {
        const auto *s = static_cast<State *>(state_argument);
        uintptr_t packed;
        const int rc = ucd_pack(s->buf, s->count, s->context->type.get(), offset, to, length,
                                &packed, s->context->to_pack.get(), UCD_OP__REPLACE);
        if (rc == UCD_SUCCESS) [[likely]]
            return packed;
        s->context->record(rc, ucd_base::without_function(ucd_last_error()));
    }
    std::memset(to, 0, length);
    return length;
}

ucs_status_t unpack(void *state_argument, std::size_t offset, const void *from,
                    std::size_t length) {
    if (is_length(state_argument)) return UCS_ERR_NO_MEMORY;
    const auto *s = static_cast<State *>(state_argument);
    uintptr_t unpacked;
    const int rc = ucd_unpack(from, length, s->buf, s->count, s->context->type.get(), offset,
                              &unpacked, s->context->to_unpack.get(), UCD_OP__REPLACE);
    if (rc == UCD_SUCCESS) [[likely]]
        return unpacked == length ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED;
    s->context->record(rc, ucd_base::without_function(ucd_last_error()));
    return ucx_status_of(rc);
}

void finish(void *state) {
    if (!is_length(state)) delete static_cast<State *>(state);
}

// UCX does not return the context of a datatype, so this table maps datatypes to contexts.
std::mutex table_mutex;
std::unordered_map<ucp_datatype_t, std::unique_ptr<DatatypeContext>>
    table; // protected by table_mutex

Status fail_unknown() {
    return fail(UCD_ERR__INVALID_ARG, "ucp_dt is a generic datatype that libucd-ucx did not make");
}

} // namespace

const ucp_generic_dt_ops_t datatype_callbacks = {
    .start_pack = start,
    .start_unpack = start_unpack,
    .packed_size = packed_size,
    .pack = pack,
    .unpack = unpack,
    .finish = finish,
};

Status create_datatype(ucd_type_t type, ucd_info_t info, ucp_datatype_t &datatype) {
    auto context = std::make_unique<DatatypeContext>();
    UCD_TRY(context->make(type, info));
    const std::lock_guard lock(table_mutex);
    const auto &added = table[context->datatype.handle()] = std::move(context);
    datatype = added->datatype.handle();
    return success;
}

void *context_of(ucp_datatype_t datatype) {
    const std::lock_guard lock(table_mutex);
    const auto found = table.find(datatype);
    return found == table.end() ? nullptr : found->second.get();
}

Status take_failure(ucp_datatype_t datatype) {
    auto *context = static_cast<DatatypeContext *>(context_of(datatype));
    return context == nullptr ? fail_unknown() : context->take();
}

Status destroy_datatype(ucp_datatype_t datatype) {
    std::unique_lock lock(table_mutex);
    const auto removed = table.extract(datatype);
    lock.unlock();
    return removed.empty() ? fail_unknown() : removed.mapped()->take();
}

bool is_generic(ucp_datatype_t datatype) {
    return (datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_GENERIC;
}

} // namespace ucd_ucx

using namespace ucd_ucx;

int ucd_ucx_datatype(ucd_type_t type, ucd_info_t info, ucp_datatype_t *ucp_dt) {
    return guard("ucd_ucx_datatype", [&]() -> Status {
        UCD_TRY(require(ucp_dt, "ucp_dt"));
        UCD_TRY(check_keys(info));
        return create_datatype(type, info, *ucp_dt);
    });
}

int ucd_ucx_status(ucp_datatype_t ucp_dt) {
    return guard("ucd_ucx_status",
                 [&]() -> Status { return is_generic(ucp_dt) ? take_failure(ucp_dt) : success; });
}
