// Pack and unpack. libucd moves the data; yaksa's rule is that only whole elements move.
#include "failure.h"
#include "info.h"
#include "pair_arithmetic.h"
#include "request.h"
#include "stream.h"
#include "type.h"

#include <array>

namespace ucd_yaksa {
namespace {

constexpr std::array<ucd_op_t, YAKSA_OP__LAST> ucd_ops = {
    UCD_OP__MAX, UCD_OP__MIN, UCD_OP__SUM,  UCD_OP__PROD, UCD_OP__LAND,    UCD_OP__BAND,
    UCD_OP__LOR, UCD_OP__BOR, UCD_OP__LXOR, UCD_OP__BXOR, UCD_OP__REPLACE,
};

int find_op(yaksa_op_t op, ucd_op_t &found) {
    if (op >= YAKSA_OP__LAST)
        return fail(YAKSA_ERR__INTERNAL, "op is %llu, which is none",
                    static_cast<unsigned long long>(op));
    found = ucd_ops[op];
    return YAKSA_SUCCESS;
}

int last_boundary(const Range &range, std::uintptr_t offset, std::uintptr_t &boundary) {
    const std::uintptr_t bytes = range.type->traits.element_bytes;
    if (bytes != 0) {
        boundary = offset - offset % bytes;
        return YAKSA_SUCCESS;
    }
    return from_ucd(ucd_element_boundary(range.count, range.type->layout, offset, &boundary));
}

// Finds the range that fits into `room` bytes. It ends at an element boundary.
int whole_elements(std::uintptr_t count, const Type &type, std::uintptr_t offset,
                   std::uintptr_t room, Range &range) {
    range = {count, &type, offset, 0};
    std::uintptr_t total = 0;
    if (__builtin_mul_overflow(count, type.size, &total) || total > INTPTR_MAX)
        return fail(YAKSA_ERR__INTERNAL, "count times the type's size does not fit intptr_t");
    if (offset > total)
        return fail(YAKSA_ERR__INTERNAL, "the offset is %ju; the packed stream has %ju bytes",
                    static_cast<std::uintmax_t>(offset), static_cast<std::uintmax_t>(total));
    range.length = total - offset;
    if (room >= range.length) [[likely]]
        return YAKSA_SUCCESS;
    std::uintptr_t end = 0;
    UCD_TRY(last_boundary(range, offset + room, end));
    range.length = end > offset ? end - offset : 0;
    return YAKSA_SUCCESS;
}

// The checked arguments that pack and unpack share.
struct Arguments {
    Range range;
    ucd_op_t op = UCD_OP__REPLACE;

    bool by_members() const { return op != UCD_OP__REPLACE && range.type->traits.has_pairs; }
};

int check(std::uintptr_t count, yaksa_type_t handle, std::uintptr_t offset, std::uintptr_t room,
          const std::uintptr_t *actual, yaksa_op_t op, Arguments &arguments) {
    if (actual == nullptr)
        return fail(YAKSA_ERR__INTERNAL, "the actual number of bytes is NULL; it must not be");
    const Type *type = nullptr;
    UCD_TRY(find_type(handle, type));
    UCD_TRY(find_op(op, arguments.op));
    UCD_TRY(whole_elements(count, *type, offset, room, arguments.range));
    if (!arguments.by_members()) return YAKSA_SUCCESS;
    std::uintptr_t boundary = 0;
    UCD_TRY(last_boundary(arguments.range, offset, boundary));
    if (boundary == offset) return YAKSA_SUCCESS;
    return fail(YAKSA_ERR__INTERNAL, "the offset is %ju, within an element; op is not REPLACE",
                static_cast<std::uintmax_t>(offset));
}

// The three kinds of call. check() checks the argument that only this kind has; complete() is
// called when the work is already complete.
struct Blocking {
    static constexpr bool in_stream = false;

    int check() const { return YAKSA_SUCCESS; }
    void complete() const {}
    int pack(const void *inbuf, const Arguments &arguments, void *outbuf, std::uintptr_t *actual,
             ucd_info_t hints, yaksa_info_t) const {
        const Range &range = arguments.range;
        return from_ucd(ucd_pack(inbuf, range.count, range.type->layout, range.offset, outbuf,
                                 range.length, actual, hints, arguments.op));
    }
    int unpack(const void *inbuf, void *outbuf, const Arguments &arguments, std::uintptr_t *actual,
               ucd_info_t hints, yaksa_info_t) const {
        const Range &range = arguments.range;
        return from_ucd(ucd_unpack(inbuf, range.length, outbuf, range.count, range.type->layout,
                                   range.offset, actual, hints, arguments.op));
    }
};

struct Nonblocking {
    static constexpr bool in_stream = false;
    yaksa_request_t *request;

    int check() const {
        if (request != nullptr) return YAKSA_SUCCESS;
        return fail(YAKSA_ERR__INTERNAL, "request is NULL; it must not be");
    }
    void complete() const { *request = YAKSA_REQUEST__NULL; }
    int pack(const void *inbuf, const Arguments &arguments, void *outbuf, std::uintptr_t *actual,
             ucd_info_t hints, yaksa_info_t) const {
        const Range &range = arguments.range;
        ucd_request_t started = UCD_REQUEST__NULL;
        UCD_TRY(from_ucd(ucd_ipack(inbuf, range.count, range.type->layout, range.offset, outbuf,
                                   range.length, actual, hints, arguments.op, &started)));
        return add_request(started, request);
    }
    int unpack(const void *inbuf, void *outbuf, const Arguments &arguments, std::uintptr_t *actual,
               ucd_info_t hints, yaksa_info_t) const {
        const Range &range = arguments.range;
        ucd_request_t started = UCD_REQUEST__NULL;
        UCD_TRY(from_ucd(ucd_iunpack(inbuf, range.length, outbuf, range.count, range.type->layout,
                                     range.offset, actual, hints, arguments.op, &started)));
        return add_request(started, request);
    }
};

struct InStream {
    static constexpr bool in_stream = true;
    void *stream;

    int check() const {
        if (stream != nullptr) return YAKSA_SUCCESS;
        return fail(YAKSA_ERR__INTERNAL, "stream is NULL; it must not be");
    }
    void complete() const {}
    int pack(const void *inbuf, const Arguments &arguments, void *outbuf, std::uintptr_t *actual,
             ucd_info_t hints, yaksa_info_t info) const {
        const Range &range = arguments.range;
        return from_ucd(ucd_pack_stream(inbuf, range.count, range.type->layout, range.offset,
                                        outbuf, range.length, actual, hints, arguments.op,
                                        find_stream(stream, info)));
    }
    int unpack(const void *inbuf, void *outbuf, const Arguments &arguments, std::uintptr_t *actual,
               ucd_info_t hints, yaksa_info_t info) const {
        const Range &range = arguments.range;
        return from_ucd(ucd_unpack_stream(inbuf, range.length, outbuf, range.count,
                                          range.type->layout, range.offset, actual, hints,
                                          arguments.op, find_stream(stream, info)));
    }
};

int refuse_pairs_in_stream() {
    return fail(YAKSA_ERR__NOT_SUPPORTED,
                "type has pairs, which support only REPLACE in the order of a stream");
}

template <class Call>
int pack(const Call &call, const void *inbuf, std::uintptr_t count, yaksa_type_t type,
         std::uintptr_t offset, void *outbuf, std::uintptr_t room, std::uintptr_t *actual,
         yaksa_info_t info, yaksa_op_t op) {
    UCD_TRY(call.check());
    Arguments arguments;
    UCD_TRY(check(count, type, offset, room, actual, op, arguments));
    if (arguments.range.length != 0 && !arguments.by_members()) [[likely]]
        return call.pack(inbuf, arguments, outbuf, actual, hints_of(info), info);
    if (arguments.range.length != 0) {
        if (Call::in_stream) return refuse_pairs_in_stream();
        UCD_TRY(
            pack_pairs(inbuf, arguments.range, outbuf, hints_without_buffers(info), arguments.op));
    }
    *actual = arguments.range.length;
    call.complete();
    return YAKSA_SUCCESS;
}

template <class Call>
int unpack(const Call &call, const void *inbuf, std::uintptr_t insize, void *outbuf,
           std::uintptr_t count, yaksa_type_t type, std::uintptr_t offset, std::uintptr_t *actual,
           yaksa_info_t info, yaksa_op_t op) {
    UCD_TRY(call.check());
    Arguments arguments;
    UCD_TRY(check(count, type, offset, insize, actual, op, arguments));
    if (arguments.range.length != 0 && !arguments.by_members()) [[likely]]
        return call.unpack(inbuf, outbuf, arguments, actual, hints_of(info), info);
    if (arguments.range.length != 0) {
        if (Call::in_stream) return refuse_pairs_in_stream();
        UCD_TRY(unpack_pairs(inbuf, outbuf, arguments.range, hints_without_buffers(info),
                             arguments.op));
    }
    *actual = arguments.range.length;
    call.complete();
    return YAKSA_SUCCESS;
}

} // namespace
} // namespace ucd_yaksa

using namespace ucd_yaksa;

int yaksa_ipack(const void *inbuf, uintptr_t incount, yaksa_type_t type, uintptr_t inoffset,
                void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                yaksa_info_t info, yaksa_op_t op, yaksa_request_t *request) {
    return guarded(__func__, [&] {
        return pack(Nonblocking{request}, inbuf, incount, type, inoffset, outbuf, max_pack_bytes,
                    actual_pack_bytes, info, op);
    });
}

int yaksa_pack(const void *inbuf, uintptr_t incount, yaksa_type_t type, uintptr_t inoffset,
               void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
               yaksa_info_t info, yaksa_op_t op) {
    return guarded(__func__, [&] {
        return pack(Blocking{}, inbuf, incount, type, inoffset, outbuf, max_pack_bytes,
                    actual_pack_bytes, info, op);
    });
}

int yaksa_pack_stream(const void *inbuf, uintptr_t incount, yaksa_type_t type, uintptr_t inoffset,
                      void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                      yaksa_info_t info, yaksa_op_t op, void *stream) {
    return guarded(__func__, [&] {
        return pack(InStream{stream}, inbuf, incount, type, inoffset, outbuf, max_pack_bytes,
                    actual_pack_bytes, info, op);
    });
}

int yaksa_iunpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                  yaksa_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                  yaksa_info_t info, yaksa_op_t op, yaksa_request_t *request) {
    return guarded(__func__, [&] {
        return unpack(Nonblocking{request}, inbuf, insize, outbuf, outcount, type, outoffset,
                      actual_unpack_bytes, info, op);
    });
}

int yaksa_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                 yaksa_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                 yaksa_info_t info, yaksa_op_t op) {
    return guarded(__func__, [&] {
        return unpack(Blocking{}, inbuf, insize, outbuf, outcount, type, outoffset,
                      actual_unpack_bytes, info, op);
    });
}

int yaksa_unpack_stream(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                        yaksa_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                        yaksa_info_t info, yaksa_op_t op, void *stream) {
    return guarded(__func__, [&] {
        return unpack(InStream{stream}, inbuf, insize, outbuf, outcount, type, outoffset,
                      actual_unpack_bytes, info, op);
    });
}
