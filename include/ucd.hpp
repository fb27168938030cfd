/*
 * ucd.hpp - ownership, spans and exceptions over ucd.h; no logic of its own.
 *
 * Each function is the ucd_* function of the same name: ucd.h gives the rules. A status other than
 * UCD_SUCCESS becomes an Error. Factories and functions take a TypeRef, to which Type and every
 * ucd_type_t, predefined ones too, convert.
 */
#ifndef UCD_HPP_INCLUDED
#define UCD_HPP_INCLUDED

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ucd {

/* A failed call: what() is the sentence of ucd_last_error, code() the UCD_ERR__*. */
class Error : public std::runtime_error {
public:
    /* To be made in the thread of the failed call, before it makes another. */
    explicit Error(int rc) : std::runtime_error(ucd_last_error()), rc_(rc) {}
    /* With a message of the caller's. */
    Error(int rc, const char *message) : std::runtime_error(message), rc_(rc) {}
    int code() const noexcept { return rc_; }

private:
    int rc_;
};

/* Throws Error unless rc is UCD_SUCCESS. */
inline void check(int rc) {
    if (rc != UCD_SUCCESS) throw Error(rc);
}

namespace detail {
/* The length, as the C function's count, of arrays that must agree in it. */
template <class Int, class A, class... B>
Int length(const A &a, const B &...b) {
    if (((a.size() != b.size()) || ...))
        throw Error(UCD_ERR__INVALID_ARG, "ucd.hpp: arrays of one call differ in length");
    return static_cast<Int>(a.size());
}

/* Calls a function whose last argument is its one output. */
template <class T, class F, class... A>
T result(F function, A... args) {
    T value{};
    check(function(args..., &value));
    return value;
}
} // namespace detail

/* ucd_init and ucd_finalize as a scope. */
class Session {
public:
    explicit Session(ucd_info_t info = {}) { check(ucd_init(info)); }
    ~Session() { (void)ucd_finalize(); }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
};

/* An owned set of hints. */
class Info {
public:
    Info() { check(ucd_info_create(&info_)); }
    ~Info() {
        if (info_) (void)ucd_info_free(&info_);
    }
    Info(Info &&o) noexcept : info_(std::exchange(o.info_, UCD_INFO__NULL)) {}
    Info &operator=(Info o) noexcept {
        std::swap(info_, o.info_);
        return *this;
    }
    /* Sets a key; chains. */
    Info &set(const char *key, const char *value) {
        check(ucd_info_set(info_, key, value));
        return *this;
    }
    ucd_info_t get() const noexcept { return info_; }
    operator ucd_info_t() const noexcept { return info_; }

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

/* Lower bound and extent, in bytes. */
struct Bounds {
    intptr_t lb = 0, extent = 0;
};

/* What a type can be asked; the base of TypeRef and Type. */
template <class Self>
class TypeQueries {
public:
    /* Packed bytes of one. */
    uintptr_t size() const { return detail::result<uintptr_t>(ucd_get_size, raw()); }
    /* Lower bound and extent. */
    Bounds extent() const {
        Bounds b;
        check(ucd_get_extent(raw(), &b.lb, &b.extent));
        return b;
    }
    /* Bounds of what is touched. */
    Bounds true_extent() const {
        Bounds b;
        check(ucd_get_true_extent(raw(), &b.lb, &b.extent));
        return b;
    }
    /* What count of them look like in memory. */
    ucd_layout_t layout(uintptr_t count = 1) const {
        ucd_layout_t l{};
        l.struct_size = sizeof l;
        check(ucd_get_layout(count, raw(), &l));
        return l;
    }
    /* The type as text, for people. */
    std::string describe() const {
        uintptr_t needed = 0;
        if (int rc = ucd_describe(raw(), nullptr, 0, &needed); rc != UCD_ERR__TRUNCATED) check(rc);
        std::string text(needed, '\0');
        check(ucd_describe(raw(), text.data(), text.size(), &needed));
        text.resize(needed - 1); // without the NUL
        return text;
    }

private:
    ucd_type_t raw() const noexcept { return static_cast<const Self *>(this)->get(); }
};

/* A predefined type, or one that somebody else owns and keeps alive. For static initialisers take
 * ucd_type_t itself. */
class TypeRef : public TypeQueries<TypeRef> {
public:
    TypeRef() noexcept = default;
    constexpr TypeRef(ucd_type_t type) noexcept : type_(type) {}
    constexpr ucd_type_t get() const noexcept { return type_; }
    constexpr operator ucd_type_t() const noexcept { return type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

/* A type of one's own; freed at the end. Move only. */
class Type : public TypeQueries<Type> {
    using Ints = std::span<const intptr_t>;

public:
    Type() noexcept = default;
    /* Takes over a handle that is the caller's to free; never a predefined type. */
    explicit Type(ucd_type_t owned) noexcept : type_(owned) {}
    ~Type() {
        if (type_) (void)ucd_free(&type_);
    }
    Type(Type &&o) noexcept : type_(o.release()) {}
    Type &operator=(Type o) noexcept {
        std::swap(type_, o.type_);
        return *this;
    }
    ucd_type_t get() const noexcept { return type_; }
    operator TypeRef() const noexcept { return type_; }
    /* Hands the handle to the caller, who is to free it. */
    [[nodiscard]] ucd_type_t release() noexcept { return std::exchange(type_, UCD_TYPE__NULL); }

    /* ucd_create_contig */
    static Type contig(intptr_t count, TypeRef old, ucd_info_t info = {}) {
        return make(ucd_create_contig, count, old, info);
    }
    /* ucd_create_dup */
    static Type dup(TypeRef old, ucd_info_t info = {}) { return make(ucd_create_dup, old, info); }
    /* ucd_create_vector: stride in extents */
    static Type vector(intptr_t count, intptr_t blocklength, intptr_t stride, TypeRef old,
                       ucd_info_t info = {}) {
        return make(ucd_create_vector, count, blocklength, stride, old, info);
    }
    /* ucd_create_hvector: stride in bytes */
    static Type hvector(intptr_t count, intptr_t blocklength, intptr_t stride, TypeRef old,
                        ucd_info_t info = {}) {
        return make(ucd_create_hvector, count, blocklength, stride, old, info);
    }
    /* ucd_create_indexed_block: displacements in extents */
    static Type indexed_block(intptr_t blocklength, Ints displs, TypeRef old,
                              ucd_info_t info = {}) {
        return make(ucd_create_indexed_block, detail::length<intptr_t>(displs), blocklength,
                    displs.data(), old, info);
    }
    /* ucd_create_hindexed_block: displacements in bytes */
    static Type hindexed_block(intptr_t blocklength, Ints displs, TypeRef old,
                               ucd_info_t info = {}) {
        return make(ucd_create_hindexed_block, detail::length<intptr_t>(displs), blocklength,
                    displs.data(), old, info);
    }
    /* ucd_create_indexed: displacements in extents */
    static Type indexed(Ints blocklengths, Ints displs, TypeRef old, ucd_info_t info = {}) {
        return make(ucd_create_indexed, detail::length<intptr_t>(blocklengths, displs),
                    blocklengths.data(), displs.data(), old, info);
    }
    /* ucd_create_hindexed: displacements in bytes */
    static Type hindexed(Ints blocklengths, Ints displs, TypeRef old, ucd_info_t info = {}) {
        return make(ucd_create_hindexed, detail::length<intptr_t>(blocklengths, displs),
                    blocklengths.data(), displs.data(), old, info);
    }
    /* ucd_create_struct: displacements in bytes */
    static Type structure(Ints blocklengths, Ints displs, std::span<const ucd_type_t> types,
                          ucd_info_t info = {}) {
        return make(ucd_create_struct, detail::length<intptr_t>(blocklengths, displs, types),
                    blocklengths.data(), displs.data(), types.data(), info);
    }
    /* ucd_create_subarray */
    static Type subarray(Ints sizes, Ints subsizes, Ints starts, int order, TypeRef old,
                         ucd_info_t info = {}) {
        return make(ucd_create_subarray, detail::length<int>(sizes, subsizes, starts), sizes.data(),
                    subsizes.data(), starts.data(), order, old, info);
    }
    /* ucd_create_darray */
    static Type darray(int size, int rank, Ints gsizes, std::span<const int> distribs, Ints dargs,
                       std::span<const int> psizes, int order, TypeRef old, ucd_info_t info = {}) {
        return make(ucd_create_darray, size, rank,
                    detail::length<int>(gsizes, distribs, dargs, psizes), gsizes.data(),
                    distribs.data(), dargs.data(), psizes.data(), order, old, info);
    }
    /* ucd_create_ndarray: strides in bytes */
    static Type ndarray(Ints shape, Ints byte_strides, TypeRef old, ucd_info_t info = {}) {
        return make(ucd_create_ndarray, detail::length<int>(shape, byte_strides), shape.data(),
                    byte_strides.data(), old, info);
    }
    /* ucd_create_resized: in bytes */
    static Type resized(TypeRef old, intptr_t lb, intptr_t extent, ucd_info_t info = {}) {
        return make(ucd_create_resized, old, lb, extent, info);
    }

private:
    template <class F, class... A>
    static Type make(F create, A... args) {
        return Type(detail::result<ucd_type_t>(create, args...));
    }
    ucd_type_t type_ = UCD_TYPE__NULL;
};

/* Work that may be under way. The end of a Request waits for it; its status is lost then, so wait()
 * first where it matters. */
class Request {
public:
    Request() noexcept = default;
    explicit Request(ucd_request_t owned) noexcept : request_(owned) {}
    ~Request() {
        if (request_) (void)ucd_wait(&request_);
    }
    Request(Request &&o) noexcept : request_(o.release()) {}
    Request &operator=(Request o) noexcept {
        std::swap(request_, o.request_);
        return *this;
    }
    /* Waits. */
    void wait() { check(ucd_wait(&request_)); }
    /* True if done. */
    bool test() {
        int completed = 0;
        check(ucd_test(&request_, &completed));
        return completed != 0;
    }
    ucd_request_t get() const noexcept { return request_; }
    /* Hands the handle to the caller, who is to complete it. */
    [[nodiscard]] ucd_request_t release() noexcept {
        return std::exchange(request_, UCD_REQUEST__NULL);
    }

private:
    ucd_request_t request_ = UCD_REQUEST__NULL;
};

/* Packs from offset on into out; returns the bytes moved. */
inline uintptr_t pack(const void *in, uintptr_t count, TypeRef type, std::span<std::byte> out,
                      uintptr_t offset = 0, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    uintptr_t n = 0;
    check(ucd_pack(in, count, type, offset, out.data(), out.size(), &n, info, op));
    return n;
}

/* Unpacks in, from stream offset on; returns the bytes moved. */
inline uintptr_t unpack(std::span<const std::byte> in, void *out, uintptr_t count, TypeRef type,
                        uintptr_t offset = 0, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    uintptr_t n = 0;
    check(ucd_unpack(in.data(), in.size(), out, count, type, offset, &n, info, op));
    return n;
}

/* Copies layout to layout; returns the bytes moved. */
inline uintptr_t copy(const void *in, uintptr_t incount, TypeRef intype, void *out,
                      uintptr_t outcount, TypeRef outtype, ucd_op_t op = UCD_OP__REPLACE,
                      ucd_info_t info = {}) {
    uintptr_t n = 0;
    check(ucd_copy(in, incount, intype, out, outcount, outtype, &n, info, op));
    return n;
}

/* As pack, without waiting; moved is set to the bytes that it moves. */
[[nodiscard]] inline Request ipack(const void *in, uintptr_t count, TypeRef type,
                                   std::span<std::byte> out, uintptr_t &moved, uintptr_t offset = 0,
                                   ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return Request(detail::result<ucd_request_t>(ucd_ipack, in, count, type, offset, out.data(),
                                                 out.size(), &moved, info, op));
}

/* As unpack, without waiting; moved is set to the bytes that it moves. */
[[nodiscard]] inline Request iunpack(std::span<const std::byte> in, void *out, uintptr_t count,
                                     TypeRef type, uintptr_t &moved, uintptr_t offset = 0,
                                     ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return Request(detail::result<ucd_request_t>(ucd_iunpack, in.data(), in.size(), out, count,
                                                 type, offset, &moved, info, op));
}

/* As copy, without waiting; moved is set to the bytes that it moves. */
[[nodiscard]] inline Request icopy(const void *in, uintptr_t incount, TypeRef intype, void *out,
                                   uintptr_t outcount, TypeRef outtype, uintptr_t &moved,
                                   ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return Request(detail::result<ucd_request_t>(ucd_icopy, in, incount, intype, out, outcount,
                                                 outtype, &moved, info, op));
}

/* All segments. */
inline std::vector<iovec> iov(const void *buf, uintptr_t count, TypeRef type) {
    std::vector<iovec> v(detail::result<uintptr_t>(ucd_iov_len, count, type));
    (void)detail::result<uintptr_t>(ucd_iov, buf, count, type, uintptr_t{0}, v.data(), v.size());
    return v;
}

/* Segments from number offset on, as many as out holds; returns the part of out that was filled. */
inline std::span<iovec> iov(const void *buf, uintptr_t count, TypeRef type, uintptr_t offset,
                            std::span<iovec> out) {
    return out.first(
        detail::result<uintptr_t>(ucd_iov, buf, count, type, offset, out.data(), out.size()));
}

/* The type as bytes. */
inline std::vector<std::byte> flatten(TypeRef type) {
    std::vector<std::byte> bytes(detail::result<uintptr_t>(ucd_flatten_size, type));
    check(ucd_flatten(type, bytes.data(), bytes.size()));
    return bytes;
}

/* The type that flatten wrote. */
inline Type unflatten(std::span<const std::byte> bytes) {
    ucd_type_t t = UCD_TYPE__NULL;
    check(ucd_unflatten(&t, bytes.data(), bytes.size()));
    return Type(t);
}

} // namespace ucd

#endif // UCD_HPP_INCLUDED
