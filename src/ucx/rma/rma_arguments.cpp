#include "rma/rma_arguments.h"

#include "rma/rma_window.h"

namespace ucd_ucx::rma {
namespace {

Status packed_bytes(uint64_t count, uint64_t one, uint64_t &bytes) {
    if (__builtin_mul_overflow(one, count, &bytes) || bytes > INTPTR_MAX)
        return fail(UCD_ERR__OVERFLOW, "count is %s; that many of the type exceed INTPTR_MAX",
                    ucd_base::CountText(count).text);
    return success;
}

Status check_op(const PeerType &type, ucd_op_t op) {
    if (type.takes(op)) return success;
    // libucd refuses it also for no data, and names op and type.
    uintptr_t moved;
    return ucd_ok(
        ucd_unpack(nullptr, 0, nullptr, 0, type.type.get(), 0, &moved, UCD_INFO__NULL, op));
}

} // namespace

const char *name_of(Verb verb) {
    constexpr const char *names[] = {"ucd_ucx_put_nbx", "ucd_ucx_get_nbx", "ucd_ucx_accumulate_nbx",
                                     "ucd_ucx_get_accumulate_nbx"};
    return names[static_cast<int>(verb) - static_cast<int>(Verb::put)];
}

Status CheckedArguments::check(const RmaArguments &a, ucd_info_t hints, TypesOfOrigin &types,
                               const BufferHints &for_host) {
    verb = a.verb;
    op = a.op;
    sends = verb != Verb::get && op != UCD_UCX_OP__NO_OP;
    displacement = a.displacement;
    count = a.target.count;
    // Everything that a transfer may read later, except hints.
    if (hints != UCD_INFO__NULL) UCD_TRY(copy_transfer_options(hints, info));
    const Status fits = packed_bytes(count, type->one.bytes, bytes);
    if (!fits.ok()) return of_argument("target_", fits);
    if (accumulates(verb) && bytes > 0 && type->element == 0)
        return fail(UCD_ERR__INVALID_ARG, "target_type is not made of one predefined type");
    if (sends) {
        static_cast<Data &>(sent) = a.sent;
        const Status checked = check_type(a.target.type, types, sent);
        if (!checked.ok()) return of_argument("origin_", checked);
        UCD_TRY(find_hints(sent.buf, sent.count, sent.type, hints, TransferDirection::send,
                           for_host, sent.own_hints, sent.hints));
    }
    if (fetches(verb)) {
        static_cast<Data &>(received) = a.received;
        const Status checked = check_type(a.target.type, types, received);
        if (!checked.ok()) return of_argument(verb == Verb::get ? "origin_" : "result_", checked);
        if (received.type != type->type.get()) {
            UCD_TRY(received.kept_type.keep(received.type));
            received.type = received.kept_type.get();
        }
        UCD_TRY(find_hints(received.buf, received.count, received.type, hints,
                           TransferDirection::receive, for_host, received.own_hints,
                           received.hints));
    }
    if (accumulates(verb) && sends && bytes > 0) UCD_TRY(check_op(*type, op));
    return read_window_key(*a.key, window);
}

// The buffer must have as many bytes as the target's, and for accumulates the same element.
Status CheckedArguments::check_type(ucd_type_t target, TypesOfOrigin &types,
                                    OriginBuffer &buffer) const {
    uint64_t one = type->one.bytes, element = type->element, here;
    if (buffer.type == target) {
        buffer.type = type->type.get(); // is kept anyway
    } else if (accumulates(verb) && bytes > 0) {
        TypePtr its;
        UCD_TRY(types.find(buffer.type, its));
        one = its->one.bytes;
        element = its->element;
    } else {
        uintptr_t size;
        UCD_TRY(ucd_ok(ucd_get_size(buffer.type, &size)));
        one = size;
    }
    if (element != type->element)
        return fail(UCD_ERR__INVALID_ARG,
                    "the types of origin and target are not made of the same predefined type");
    UCD_TRY(packed_bytes(buffer.count, one, here));
    if (here == bytes) return success;
    return fail(UCD_ERR__INVALID_ARG, "there are %ju bytes at the origin, and %ju at the target",
                uintmax_t{here}, uintmax_t{bytes});
}

Status CheckedArguments::hold() {
    if (!sends || sent.type == type->type.get()) return success;
    UCD_TRY(sent.kept_type.keep(sent.type));
    sent.type = sent.kept_type.get();
    return success;
}

char *CheckedArguments::contiguous(const OriginBuffer &buffer) const {
    const bool is_one = buffer.type == type->type.get() && buffer.count == 1 &&
                        type->one.contiguous != 0 && buffer.hints->on_host;
    return is_one ? address_at(buffer.buf, type->one.low) : nullptr;
}

} // namespace ucd_ucx::rma
