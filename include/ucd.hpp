/*
 * ucd.hpp - ucd.h as C++ users expect it: ownership, spans, types from C++ types, and errors as
 * exceptions or as values; no logic of its own.
 *
 * Each function is the ucd_* function of the same name: ucd.h gives the rules. Arguments that are
 * types may be a Type, a TypeRef or a ucd_type_t, predefined ones too; lists of integers a braced
 * list or any contiguous range of intptr_t; packed data any contiguous range of trivially copyable
 * elements.
 *
 * Order. Most arguments come as in ucd.h. An operation and hints come last, in the order (op,
 * info), where ucd.h has (info, op): both have defaults here, and the operation is given more
 * often. The compiler refuses the other order.
 *
 * Errors. By default a status other than UCD_SUCCESS is thrown as Error. Each function takes a
 * policy as its first template argument instead: with as_value it throws nothing of UCD's, and
 * returns a Result that holds the value or the failure:
 *
 *     ucd::Type t = ucd::Type::vector(3, 1, 4, UCD_TYPE__DOUBLE);
 *     auto r = ucd::Type::vector<ucd::as_value>(3, -1, 4, UCD_TYPE__DOUBLE);
 *     if (!r) std::puts(r.message());
 *
 * ucd_types.hpp, which is included at the end, makes types from C++ types.
 */
#ifndef UCD_HPP_INCLUDED
#define UCD_HPP_INCLUDED

/* Not 202002L, because GCC 10 defines 201709L with -std=c++20. */
#if __cplusplus <= 201703L
#error "ucd.hpp needs C++20: compile with -std=c++20, or use ucd.h, which is C"
#else

#include <ucd.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/* The inner namespace is named after the ABI version, and the prefix if there is one. It keeps
 * these names apart from those of other copies in the same process, and from the library's own,
 * which are in ucd, too: with libucd.a, both are in one program. Do not declare them otherwise than
 * by including this file. */
#ifdef UCD_PREFIX
#define UCD_INNER_NAMESPACE UCD_PREFIXED(UCD_PREFIX, v1)
#else
#define UCD_INNER_NAMESPACE v1
#endif
namespace ucd {
inline namespace UCD_INNER_NAMESPACE {

/* ---- Errors ---------------------------------------------------------------------------------- */

/* A failed call: what() is the sentence of ucd_last_error, code() the UCD_ERR__*. */
class Error : public std::runtime_error {
public:
    /* Construct it in the thread of the failed call, before that makes another call. */
    explicit Error(int rc) : std::runtime_error(ucd_last_error()), rc_(rc) {}
    /* With a message from the caller. */
    Error(int rc, const char *message) : std::runtime_error(message), rc_(rc) {}
    int code() const noexcept { return rc_; }

private:
    int rc_;
};

/* Throws Error unless rc is UCD_SUCCESS. */
inline void check(int rc) {
    if (rc != UCD_SUCCESS) throw Error(rc);
}

/* The value of a Result of a function that returns none. */
struct Nothing {};

/* A value, or the failure because of which there is none. */
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : value_(std::move(value)) {}
    /* Construct it in the thread of the failed call, before that makes another call. */
    static Result failure(int rc) { return Result(rc, ucd_last_error()); }
    static Result failure(int rc, const char *message) { return Result(rc, message); }

    explicit operator bool() const noexcept { return value_.has_value(); }
    /* UCD_SUCCESS, or the UCD_ERR__* of the failure. */
    int code() const noexcept { return rc_; }
    /* The sentence of ucd_last_error, "" after success. */
    const char *message() const noexcept { return message_.c_str(); }

    /* The value; throws Error if there is none. */
    T &value() & { return require(), *value_; }
    const T &value() const & { return require(), *value_; }
    T &&value() && { return require(), std::move(*value_); }
    /* The value, or another if there is none. */
    T value_or(T other) && { return value_ ? std::move(*value_) : std::move(other); }
    /* The value; there must be one. */
    T &operator*() noexcept { return *value_; }
    const T &operator*() const noexcept { return *value_; }
    T *operator->() noexcept { return &*value_; }
    const T *operator->() const noexcept { return &*value_; }

private:
    Result(int rc, const char *message) : rc_(rc), message_(message) {}
    void require() const {
        if (!value_) throw Error(rc_, message_.c_str());
    }
    std::optional<T> value_;
    int rc_ = UCD_SUCCESS;
    std::string message_;
};

/* The policy that throws Error, which is the default. */
struct throwing {
    template <class T>
    using of = std::conditional_t<std::is_same_v<T, Nothing>, void, T>;
    template <class T, class Value>
    static of<T> give(int rc, Value &&value) {
        check(rc);
        if constexpr (!std::is_same_v<T, Nothing>) return T(std::forward<Value>(value));
    }
    template <class T>
    static of<T> fail(int rc, const char *message) {
        throw Error(rc, message);
    }
};

/* The policy that returns Result. */
struct as_value {
    template <class T>
    using of = Result<T>;
    template <class T, class Value>
    static of<T> give(int rc, Value &&value) {
        if (rc != UCD_SUCCESS) return Result<T>::failure(rc);
        return Result<T>(T(std::forward<Value>(value)));
    }
    template <class T>
    static of<T> fail(int rc, const char *message) {
        return Result<T>::failure(rc, message);
    }
};

/* ---- Arguments ------------------------------------------------------------------------------- */

namespace detail {
template <class R, class T>
concept ContiguousOf = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::same_as<std::remove_cv_t<std::ranges::range_value_t<R>>, T>;
template <class R, class T>
concept OtherIntegers = std::ranges::range<R> && std::integral<std::ranges::range_value_t<R>> &&
    !std::same_as<std::remove_cv_t<std::ranges::range_value_t<R>>, T>;
template <class R>
concept Packed = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
} // namespace detail

/* A list of T for the duration of a call: {1, 2, 3}, or any contiguous range of T. */
template <class T>
class List : public std::span<const T> {
public:
    List(std::initializer_list<T> list) : std::span<const T>(list.begin(), list.size()) {}
    template <class R>
    requires detail::ContiguousOf<R, T> List(const R &range)
        : std::span<const T>(std::ranges::data(range), std::ranges::size(range)) {}
    /* Lists of other integers do not compile; the message says why. */
    template <class R>
    requires detail::OtherIntegers<R, T> List(const R &) {
        static_assert(std::same_as<std::ranges::range_value_t<R>, T>,
                      "counts, lengths and displacements are intptr_t, as in "
                      "std::vector<intptr_t>; distribs and psizes are int");
    }
};
using Ints = List<intptr_t>;

/* Packed data that is read: the bytes of a contiguous range of trivially copyable elements. */
class ConstBytes : public std::span<const std::byte> {
public:
    template <detail::Packed R>
    ConstBytes(const R &range) : std::span<const std::byte>(std::as_bytes(std::span(range))) {}
};

/* Packed data that is written. */
class Bytes : public std::span<std::byte> {
public:
    template <detail::Packed R>
    Bytes(R &&range) : std::span<std::byte>(std::as_writable_bytes(std::span(range))) {}
};

namespace detail {
/* The lengths of arrays that must be equal, with the arrays' names. */
using Lengths = std::initializer_list<std::pair<const char *, std::size_t>>;

template <class A, class... B>
bool equal_lengths(const A &a, const B &...b) {
    return ((a.size() == b.size()) && ...);
}

/* Fails with the lengths of arrays that must be equal and are not. */
template <class P, class T>
typename P::template of<T> unequal(Lengths arrays) {
    std::string message = "ucd.hpp: arrays of one call differ in length:";
    for (const auto &[name, length] : arrays)
        message.append(" ").append(name).append(" has ").append(std::to_string(length)).append(",");
    message.pop_back();
    return P::template fail<T>(UCD_ERR__INVALID_ARG, message.c_str());
}

/* Calls a function whose last argument is its only output, of type Raw, and returns that as a T. */
template <class P, class T, class Raw = T, class F, class... A>
typename P::template of<T> call(F function, A... args) {
    Raw value{};
    const int rc = function(args..., &value);
    return P::template give<T>(rc, std::move(value));
}

/* The whole list that a function of (count, type) writes piece by piece. */
template <class P, class T, class F>
typename P::template of<std::vector<T>> listed(F function, uintptr_t count, ucd_type_t type) {
    std::vector<T> all;
    uintptr_t n = 0, total = 0;
    int rc = function(count, type, 0, nullptr, 0, &n, &total);
    if (rc == UCD_SUCCESS) {
        all.resize(total);
        rc = function(count, type, 0, all.data(), all.size(), &n, &total);
    }
    return P::template give<std::vector<T>>(rc, std::move(all));
}
} // namespace detail

/* ---- The library ----------------------------------------------------------------------------- */

/* An owned set of hints. Move only. */
class Info {
public:
    Info() { check(ucd_info_create(&info_)); }
    /* Takes over a handle, which the caller must then not free. */
    explicit Info(ucd_info_t owned) noexcept : info_(owned) {}
    ~Info() {
        if (info_) (void)ucd_info_free(&info_);
    }
    Info(Info &&o) noexcept : info_(std::exchange(o.info_, UCD_INFO__NULL)) {}
    Info &operator=(Info o) noexcept {
        std::swap(info_, o.info_);
        return *this;
    }
    /* ucd_info_create */
    template <class P = throwing>
    static typename P::template of<Info> create() {
        return detail::call<P, Info, ucd_info_t>(ucd_info_create);
    }
    /* Sets a key; returns this object, so that calls can be chained. */
    Info &set(const char *key, const char *value) {
        check(ucd_info_set(info_, key, value));
        return *this;
    }
    /* Sets a key; the policy decides how an error is reported. */
    template <class P>
    typename P::template of<Nothing> set(const char *key, const char *value) {
        return P::template give<Nothing>(ucd_info_set(info_, key, value), Nothing());
    }
    ucd_info_t get() const noexcept { return info_; }
    operator ucd_info_t() const noexcept { return info_; }

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

/* ucd_init and ucd_finalize as a scope. Move only. */
class Session {
public:
    explicit Session(ucd_info_t info = {}) { check(ucd_init(info)); }
    ~Session() {
        if (started_) (void)ucd_finalize();
    }
    Session(Session &&o) noexcept : started_(std::exchange(o.started_, false)) {}
    Session &operator=(Session o) noexcept {
        std::swap(started_, o.started_);
        return *this;
    }
    /* ucd_init */
    template <class P = throwing>
    static typename P::template of<Session> start(ucd_info_t info = {}) {
        const int rc = ucd_init(info);
        if (rc != UCD_SUCCESS) return P::template fail<Session>(rc, ucd_last_error());
        return Session(Started());
    }

private:
    struct Started {};
    explicit Session(Started) noexcept {}
    bool started_ = true;
};

/* The version of the library at run time. */
struct Version {
    int major = 0, minor = 0, patch = 0;
};
inline Version version() noexcept {
    Version v;
    (void)ucd_version(&v.major, &v.minor, &v.patch);
    return v;
}

/* The description of each backend: ucd_backend_get. */
template <class P = throwing>
typename P::template of<std::vector<ucd_backend_desc_t>> backends() {
    int count = 0, rc = ucd_backend_count(&count);
    std::vector<ucd_backend_desc_t> list(static_cast<std::size_t>(count));
    for (int i = 0; rc == UCD_SUCCESS && i < count; ++i) {
        list[static_cast<std::size_t>(i)].struct_size = sizeof list[0];
        rc = ucd_backend_get(i, &list[static_cast<std::size_t>(i)]);
    }
    return P::template give<std::vector<ucd_backend_desc_t>>(rc, std::move(list));
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* Lower bound and extent, in bytes. */
struct Bounds {
    intptr_t lb = 0, extent = 0;
};

/* Queries of a type; the base of TypeRef and Type. */
template <class Self>
class TypeQueries {
public:
    /* The packed size of one, in bytes. */
    template <class P = throwing>
    typename P::template of<uintptr_t> size() const {
        return detail::call<P, uintptr_t>(ucd_get_size, raw());
    }
    /* Lower bound and extent. */
    template <class P = throwing>
    typename P::template of<Bounds> extent() const {
        Bounds b;
        const int rc = ucd_get_extent(raw(), &b.lb, &b.extent);
        return P::template give<Bounds>(rc, b);
    }
    /* Lower bound and extent of the bytes that are touched. */
    template <class P = throwing>
    typename P::template of<Bounds> true_extent() const {
        Bounds b;
        const int rc = ucd_get_true_extent(raw(), &b.lb, &b.extent);
        return P::template give<Bounds>(rc, b);
    }
    /* The layout of count elements of the type in memory. */
    template <class P = throwing>
    typename P::template of<ucd_layout_t> layout(uintptr_t count = 1) const {
        ucd_layout_t l{};
        l.struct_size = sizeof l;
        const int rc = ucd_get_layout(count, raw(), &l);
        return P::template give<ucd_layout_t>(rc, l);
    }
    /* How to send count elements of the type; 0 stands for the library's thresholds. */
    template <class P = throwing>
    typename P::template of<ucd_advice_t> advice(uintptr_t count = 1, uintptr_t min_segment = 0,
                                                 uintptr_t max_entries = 0) const {
        ucd_advice_t a{};
        a.struct_size = sizeof a;
        const int rc = ucd_get_advice(count, raw(), min_segment, max_entries, &a);
        return P::template give<ucd_advice_t>(rc, a);
    }
    /* The type in words: lines of "key: value". */
    template <class P = throwing>
    typename P::template of<std::string> describe() const {
        uintptr_t needed = 0;
        std::string text;
        int rc;
        /* The text may become longer, because another thread may make plans in between. */
        do {
            text.resize(needed);
            rc = ucd_describe(raw(), text.data(), text.size(), &needed);
        } while (text.size() < needed);
        if (rc == UCD_SUCCESS) text.resize(needed - 1); /* without the NUL */
        return P::template give<std::string>(rc, std::move(text));
    }

private:
    ucd_type_t raw() const noexcept { return static_cast<const Self *>(this)->get(); }
};

/* A predefined type, or one that another object owns and keeps alive. In static initialisers, use
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

/* An owned type, which the destructor frees. Move only. */
class Type : public TypeQueries<Type> {
    template <class P>
    using Made = typename P::template of<Type>;

public:
    Type() noexcept = default;
    /* Takes over a handle, which the caller must then not free; never a predefined type. */
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
    explicit operator bool() const noexcept { return type_ != UCD_TYPE__NULL; }
    /* Returns the handle, which the caller must free. */
    [[nodiscard]] ucd_type_t release() noexcept { return std::exchange(type_, UCD_TYPE__NULL); }

    /* ucd_create_contig */
    template <class P = throwing>
    static Made<P> contig(intptr_t count, TypeRef old, ucd_info_t info = {}) {
        return make<P>(ucd_create_contig, count, old, info);
    }
    /* ucd_create_dup */
    template <class P = throwing>
    static Made<P> dup(TypeRef old, ucd_info_t info = {}) {
        return make<P>(ucd_create_dup, old, info);
    }
    /* ucd_create_vector: stride in extents */
    template <class P = throwing>
    static Made<P> vector(intptr_t count, intptr_t blocklength, intptr_t stride, TypeRef old,
                          ucd_info_t info = {}) {
        return make<P>(ucd_create_vector, count, blocklength, stride, old, info);
    }
    /* ucd_create_hvector: stride in bytes */
    template <class P = throwing>
    static Made<P> hvector(intptr_t count, intptr_t blocklength, intptr_t stride, TypeRef old,
                           ucd_info_t info = {}) {
        return make<P>(ucd_create_hvector, count, blocklength, stride, old, info);
    }
    /* ucd_create_indexed_block: displacements in extents */
    template <class P = throwing>
    static Made<P> indexed_block(intptr_t blocklength, Ints displs, TypeRef old,
                                 ucd_info_t info = {}) {
        return make<P>(ucd_create_indexed_block, ssize(displs), blocklength, displs.data(), old,
                       info);
    }
    /* ucd_create_hindexed_block: displacements in bytes */
    template <class P = throwing>
    static Made<P> hindexed_block(intptr_t blocklength, Ints displs, TypeRef old,
                                  ucd_info_t info = {}) {
        return make<P>(ucd_create_hindexed_block, ssize(displs), blocklength, displs.data(), old,
                       info);
    }
    /* ucd_create_indexed_block_ref: indices that are read when data moves */
    template <class P = throwing>
    static Made<P> indexed_block_ref(intptr_t count, intptr_t blocklength, const void *indices,
                                     ucd_type_t index_type, intptr_t unit, intptr_t lb,
                                     intptr_t extent, TypeRef old, ucd_info_t info = {}) {
        return make<P>(ucd_create_indexed_block_ref, count, blocklength, indices, index_type, unit,
                       lb, extent, old, info);
    }
    /* ucd_create_indexed: displacements in extents */
    template <class P = throwing>
    static Made<P> indexed(Ints blocklengths, Ints displs, TypeRef old, ucd_info_t info = {}) {
        if (!detail::equal_lengths(blocklengths, displs))
            return unequal<P>({{"blocklengths", blocklengths.size()}, {"displs", displs.size()}});
        return make<P>(ucd_create_indexed, ssize(displs), blocklengths.data(), displs.data(), old,
                       info);
    }
    /* ucd_create_hindexed: displacements in bytes */
    template <class P = throwing>
    static Made<P> hindexed(Ints blocklengths, Ints displs, TypeRef old, ucd_info_t info = {}) {
        if (!detail::equal_lengths(blocklengths, displs))
            return unequal<P>({{"blocklengths", blocklengths.size()}, {"displs", displs.size()}});
        return make<P>(ucd_create_hindexed, ssize(displs), blocklengths.data(), displs.data(), old,
                       info);
    }
    /* ucd_create_struct: displacements in bytes */
    template <class P = throwing>
    static Made<P> structure(Ints blocklengths, Ints displs, List<ucd_type_t> types,
                             ucd_info_t info = {}) {
        if (!detail::equal_lengths(blocklengths, displs, types))
            return unequal<P>({{"blocklengths", blocklengths.size()},
                               {"displs", displs.size()},
                               {"types", types.size()}});
        return make<P>(ucd_create_struct, ssize(displs), blocklengths.data(), displs.data(),
                       types.data(), info);
    }
    /* ucd_create_subarray: order is a UCD_ORDER__* */
    template <class P = throwing>
    static Made<P> subarray(Ints sizes, Ints subsizes, Ints starts, int order, TypeRef old,
                            ucd_info_t info = {}) {
        if (!detail::equal_lengths(sizes, subsizes, starts))
            return unequal<P>({{"sizes", sizes.size()},
                               {"subsizes", subsizes.size()},
                               {"starts", starts.size()}});
        return make<P>(ucd_create_subarray, static_cast<int>(sizes.size()), sizes.data(),
                       subsizes.data(), starts.data(), order, old, info);
    }
    /* ucd_create_darray: distribs are UCD_DISTRIBUTE__* */
    template <class P = throwing>
    static Made<P> darray(int size, int rank, Ints gsizes, List<int> distribs, Ints dargs,
                          List<int> psizes, int order, TypeRef old, ucd_info_t info = {}) {
        if (!detail::equal_lengths(gsizes, distribs, dargs, psizes))
            return unequal<P>({{"gsizes", gsizes.size()},
                               {"distribs", distribs.size()},
                               {"dargs", dargs.size()},
                               {"psizes", psizes.size()}});
        return make<P>(ucd_create_darray, size, rank, static_cast<int>(gsizes.size()),
                       gsizes.data(), distribs.data(), dargs.data(), psizes.data(), order, old,
                       info);
    }
    /* ucd_create_ndarray: strides in bytes */
    template <class P = throwing>
    static Made<P> ndarray(Ints shape, Ints byte_strides, TypeRef old, ucd_info_t info = {}) {
        if (!detail::equal_lengths(shape, byte_strides))
            return unequal<P>({{"shape", shape.size()}, {"byte_strides", byte_strides.size()}});
        return make<P>(ucd_create_ndarray, static_cast<int>(shape.size()), shape.data(),
                       byte_strides.data(), old, info);
    }
    /* ucd_create_resized: in bytes */
    template <class P = throwing>
    static Made<P> resized(TypeRef old, intptr_t lb, intptr_t extent, ucd_info_t info = {}) {
        return make<P>(ucd_create_resized, old, lb, extent, info);
    }

private:
    template <class T>
    static intptr_t ssize(const List<T> &list) {
        return static_cast<intptr_t>(list.size());
    }
    template <class P>
    static Made<P> unequal(detail::Lengths arrays) {
        return detail::unequal<P, Type>(arrays);
    }
    template <class P, class F, class... A>
    static Made<P> make(F create, A... args) {
        return detail::call<P, Type, ucd_type_t>(create, args...);
    }
    ucd_type_t type_ = UCD_TYPE__NULL;
};

/* Whether a backend supports an operation for a type: ucd_op_is_supported. */
template <class P = throwing>
typename P::template of<bool> supports(ucd_op_t op, TypeRef type, const char *backend) {
    return detail::call<P, bool, int>(ucd_op_is_supported, op, type, backend);
}

/* ---- Moving data ----------------------------------------------------------------------------- */

/* Work that may be in progress. The destructor waits for it and discards its status, so call wait()
 * first if the status matters. Move only. */
class Request {
public:
    Request() noexcept = default;
    /* Takes over a handle, which the caller must then not complete. */
    explicit Request(ucd_request_t owned) noexcept : request_(owned) {}
    ~Request() {
        if (request_) (void)ucd_wait(&request_);
    }
    Request(Request &&o) noexcept : request_(o.release()) {}
    Request &operator=(Request o) noexcept {
        std::swap(request_, o.request_);
        return *this;
    }
    /* Waits until the work is complete: ucd_wait. */
    template <class P = throwing>
    typename P::template of<Nothing> wait() {
        return P::template give<Nothing>(ucd_wait(&request_), Nothing());
    }
    /* Returns true if the work is complete: ucd_test. */
    template <class P = throwing>
    typename P::template of<bool> test() {
        return detail::call<P, bool, int>(ucd_test, &request_);
    }
    ucd_request_t get() const noexcept { return request_; }
    /* Returns the handle, which the caller must complete. */
    [[nodiscard]] ucd_request_t release() noexcept {
        return std::exchange(request_, UCD_REQUEST__NULL);
    }

private:
    ucd_request_t request_ = UCD_REQUEST__NULL;
};

/* Waits for all requests, even if some fail: ucd_waitall. */
template <class P = throwing>
typename P::template of<Nothing> wait_all(std::span<Request> requests) {
    std::vector<ucd_request_t> handles;
    handles.reserve(requests.size());
    for (Request &r : requests) handles.push_back(r.release());
    return P::template give<Nothing>(ucd_waitall(handles.size(), handles.data()), Nothing());
}

/* Packs from offset on into out; returns the bytes moved. */
template <class P = throwing>
typename P::template of<uintptr_t> pack(const void *in, uintptr_t count, TypeRef type, Bytes out,
                                        uintptr_t offset = 0, ucd_op_t op = UCD_OP__REPLACE,
                                        ucd_info_t info = {}) {
    uintptr_t n = 0;
    const int rc = ucd_pack(in, count, type, offset, out.data(), out.size(), &n, info, op);
    return P::template give<uintptr_t>(rc, n);
}

/* Packs everything into a new vector. */
template <class P = throwing>
typename P::template of<std::vector<std::byte>> packed(const void *in, uintptr_t count,
                                                       TypeRef type, ucd_info_t info = {}) {
    using Out = std::vector<std::byte>;
    const auto layout = type.layout<as_value>(count);
    if (!layout) return P::template fail<Out>(layout.code(), layout.message());
    Out out(layout->bytes);
    uintptr_t n = 0;
    const int rc = ucd_pack(in, count, type, 0, out.data(), out.size(), &n, info, UCD_OP__REPLACE);
    return P::template give<Out>(rc, std::move(out));
}

/* Unpacks in, from stream offset on; returns the bytes moved. */
template <class P = throwing>
typename P::template of<uintptr_t> unpack(ConstBytes in, void *out, uintptr_t count, TypeRef type,
                                          uintptr_t offset = 0, ucd_op_t op = UCD_OP__REPLACE,
                                          ucd_info_t info = {}) {
    uintptr_t n = 0;
    const int rc = ucd_unpack(in.data(), in.size(), out, count, type, offset, &n, info, op);
    return P::template give<uintptr_t>(rc, n);
}

/* Copies layout to layout; returns the bytes moved. */
template <class P = throwing>
typename P::template of<uintptr_t> copy(const void *in, uintptr_t incount, TypeRef intype,
                                        void *out, uintptr_t outcount, TypeRef outtype,
                                        ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    uintptr_t n = 0;
    const int rc = ucd_copy(in, incount, intype, out, outcount, outtype, &n, info, op);
    return P::template give<uintptr_t>(rc, n);
}

/* As pack, without waiting; moved is set to the bytes that it moves. */
template <class P = throwing>
[[nodiscard]] typename P::template of<Request>
ipack(const void *in, uintptr_t count, TypeRef type, Bytes out, uintptr_t &moved,
      uintptr_t offset = 0, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return detail::call<P, Request, ucd_request_t>(ucd_ipack, in, count, type, offset, out.data(),
                                                   out.size(), &moved, info, op);
}

/* As unpack, without waiting; moved is set to the bytes that it moves. */
template <class P = throwing>
[[nodiscard]] typename P::template of<Request>
iunpack(ConstBytes in, void *out, uintptr_t count, TypeRef type, uintptr_t &moved,
        uintptr_t offset = 0, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return detail::call<P, Request, ucd_request_t>(ucd_iunpack, in.data(), in.size(), out, count,
                                                   type, offset, &moved, info, op);
}

/* As copy, without waiting; moved is set to the bytes that it moves. */
template <class P = throwing>
[[nodiscard]] typename P::template of<Request>
icopy(const void *in, uintptr_t incount, TypeRef intype, void *out, uintptr_t outcount,
      TypeRef outtype, uintptr_t &moved, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return detail::call<P, Request, ucd_request_t>(ucd_icopy, in, incount, intype, out, outcount,
                                                   outtype, &moved, info, op);
}

/* ucd_imove */
template <class P = throwing>
[[nodiscard]] typename P::template of<Request>
imove(std::span<ucd_move_t> moves, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return detail::call<P, Request, ucd_request_t>(ucd_imove, moves.data(), moves.size(), info, op);
}

/* ucd_move */
template <class P = throwing>
typename P::template of<Nothing> move_all(std::span<ucd_move_t> moves,
                                          ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return P::template give<Nothing>(ucd_move(moves.data(), moves.size(), info, op), Nothing());
}

/* Moves to be started repeatedly, with one op and hints for all of them. The destructor frees the
 * plan; starts in progress continue. Move only. */
class MovePlan {
public:
    MovePlan() noexcept = default;
    /* Takes over a handle, which the caller must then not free. */
    explicit MovePlan(ucd_plan_t owned) noexcept : plan_(owned) {}
    ~MovePlan() {
        if (plan_) (void)ucd_plan_free(&plan_);
    }
    MovePlan(MovePlan &&o) noexcept : plan_(o.release()) {}
    MovePlan &operator=(MovePlan o) noexcept {
        std::swap(plan_, o.plan_);
        return *this;
    }
    ucd_plan_t get() const noexcept { return plan_; }
    explicit operator bool() const noexcept { return plan_ != UCD_PLAN__NULL; }
    /* Returns the handle, which the caller must free. */
    [[nodiscard]] ucd_plan_t release() noexcept { return std::exchange(plan_, UCD_PLAN__NULL); }

    /* ucd_plan_create: sets actual_bytes and consumed_bytes of each move */
    template <class P = throwing>
    static typename P::template of<MovePlan>
    of(std::span<ucd_move_t> moves, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
        return detail::call<P, MovePlan, ucd_plan_t>(ucd_plan_create, moves.data(), moves.size(),
                                                     info, op);
    }
    /* ucd_plan_start */
    template <class P = throwing>
    [[nodiscard]] typename P::template of<Request> start() {
        return detail::call<P, Request, ucd_request_t>(ucd_plan_start, plan_);
    }
    /* ucd_plan_start_stream */
    template <class P = throwing>
    typename P::template of<Nothing> start(ucd_stream_t stream) {
        return P::template give<Nothing>(ucd_plan_start_stream(plan_, stream), Nothing());
    }
    /* ucd_plan_start_with: a buffer for each side of each move of the plan */
    template <class P = throwing>
    [[nodiscard]] typename P::template of<Request> start_with(List<const void *> inbufs,
                                                              List<void *> outbufs) const {
        return detail::call<P, Request, ucd_request_t>(ucd_plan_start_with, plan_, inbufs.data(),
                                                       outbufs.data());
    }
    /* ucd_plan_start_with_stream */
    template <class P = throwing>
    typename P::template of<Nothing> start_with(ucd_stream_t stream, List<const void *> inbufs,
                                                List<void *> outbufs) const {
        return P::template give<Nothing>(
            ucd_plan_start_with_stream(plan_, inbufs.data(), outbufs.data(), stream), Nothing());
    }
    /* ucd_plan_rebase of both sides, from move number first on: as many inputs as outputs */
    template <class P = throwing>
    typename P::template of<Nothing> rebase(uintptr_t first, List<const void *> inbufs,
                                            List<void *> outbufs) {
        if (!detail::equal_lengths(inbufs, outbufs))
            return detail::unequal<P, Nothing>(
                {{"inbufs", inbufs.size()}, {"outbufs", outbufs.size()}});
        return P::template give<Nothing>(
            ucd_plan_rebase(plan_, first, inbufs.size(), inbufs.data(), outbufs.data()), Nothing());
    }
    /* Same, for the inputs only, and for the outputs only. */
    template <class P = throwing>
    typename P::template of<Nothing> rebase_inputs(uintptr_t first, List<const void *> inbufs) {
        return P::template give<Nothing>(
            ucd_plan_rebase(plan_, first, inbufs.size(), inbufs.data(), nullptr), Nothing());
    }
    template <class P = throwing>
    typename P::template of<Nothing> rebase_outputs(uintptr_t first, List<void *> outbufs) {
        return P::template give<Nothing>(
            ucd_plan_rebase(plan_, first, outbufs.size(), nullptr, outbufs.data()), Nothing());
    }

private:
    ucd_plan_t plan_ = UCD_PLAN__NULL;
};

/* ---- In a native stream ---------------------------------------------------------------------- */

/* As pack, in stream order; returns the bytes that will be moved. */
template <class P = throwing>
typename P::template of<uintptr_t> pack(ucd_stream_t stream, const void *in, uintptr_t count,
                                        TypeRef type, Bytes out, uintptr_t offset = 0,
                                        ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    uintptr_t n = 0;
    const int rc =
        ucd_pack_stream(in, count, type, offset, out.data(), out.size(), &n, info, op, stream);
    return P::template give<uintptr_t>(rc, n);
}

/* As unpack, in stream order; returns the bytes that will be moved. */
template <class P = throwing>
typename P::template of<uintptr_t> unpack(ucd_stream_t stream, ConstBytes in, void *out,
                                          uintptr_t count, TypeRef type, uintptr_t offset = 0,
                                          ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    uintptr_t n = 0;
    const int rc =
        ucd_unpack_stream(in.data(), in.size(), out, count, type, offset, &n, info, op, stream);
    return P::template give<uintptr_t>(rc, n);
}

/* As copy, in stream order; returns the bytes that will be moved. */
template <class P = throwing>
typename P::template of<uintptr_t>
copy(ucd_stream_t stream, const void *in, uintptr_t incount, TypeRef intype, void *out,
     uintptr_t outcount, TypeRef outtype, ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    uintptr_t n = 0;
    const int rc =
        ucd_copy_stream(in, incount, intype, out, outcount, outtype, &n, info, op, stream);
    return P::template give<uintptr_t>(rc, n);
}

/* ucd_move_stream */
template <class P = throwing>
typename P::template of<Nothing> move_all(ucd_stream_t stream, std::span<ucd_move_t> moves,
                                          ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return P::template give<Nothing>(ucd_move_stream(moves.data(), moves.size(), info, op, stream),
                                     Nothing());
}

/* Does in advance what the first use on the stream's device would do: ucd_prepare. */
template <class P = throwing>
typename P::template of<Nothing> prepare(uintptr_t count, TypeRef type, ucd_stream_t stream,
                                         ucd_op_t op = UCD_OP__REPLACE, ucd_info_t info = {}) {
    return P::template give<Nothing>(ucd_prepare(count, type, op, stream, info), Nothing());
}

/* ---- I/O vectors, boxes, elements, flattening ------------------------------------------------ */

/* The number of segments. */
template <class P = throwing>
typename P::template of<uintptr_t> iov_len(uintptr_t count, TypeRef type) {
    return detail::call<P, uintptr_t>(ucd_iov_len, count, type);
}

/* All segments. */
template <class P = throwing>
typename P::template of<std::vector<iovec>> iov(const void *buf, uintptr_t count, TypeRef type) {
    std::vector<iovec> v;
    uintptr_t n = 0;
    int rc = ucd_iov_len(count, type, &n);
    if (rc == UCD_SUCCESS) {
        v.resize(n);
        rc = ucd_iov(buf, count, type, 0, v.data(), v.size(), &n);
    }
    return P::template give<std::vector<iovec>>(rc, std::move(v));
}

/* Segments from number offset on, as many as out holds; returns the part of out that was filled. */
template <class P = throwing>
typename P::template of<std::span<iovec>> iov(const void *buf, uintptr_t count, TypeRef type,
                                              uintptr_t offset, std::span<iovec> out) {
    uintptr_t n = 0;
    const int rc = ucd_iov(buf, count, type, offset, out.data(), out.size(), &n);
    return P::template give<std::span<iovec>>(rc, out.first(n));
}

/* Segments of packed bytes [offset, offset + bytes), as far as out holds them. */
template <class P = throwing>
typename P::template of<std::span<iovec>> iov_bytes(const void *buf, uintptr_t count, TypeRef type,
                                                    uintptr_t offset, uintptr_t bytes,
                                                    std::span<iovec> out) {
    uintptr_t n = 0, found = 0;
    const int rc =
        ucd_iov_bytes(buf, count, type, offset, bytes, out.data(), out.size(), &n, &found);
    return P::template give<std::span<iovec>>(rc, out.first(n));
}

/* The most whole segments, from the first on, that fit in a number of bytes: their number and
 * bytes: ucd_iov_len_max. */
struct IovPrefix {
    uintptr_t segments = 0, bytes = 0;
};
template <class P = throwing>
typename P::template of<IovPrefix> iov_len_max(uintptr_t count, TypeRef type, uintptr_t bytes) {
    IovPrefix prefix;
    const int rc = ucd_iov_len_max(count, type, bytes, &prefix.segments, &prefix.bytes);
    return P::template give<IovPrefix>(rc, prefix);
}

/* All boxes. */
template <class P = throwing>
typename P::template of<std::vector<ucd_box_t>> boxes(uintptr_t count, TypeRef type) {
    return detail::listed<P, ucd_box_t>(ucd_get_boxes, count, type);
}

/* Boxes from number first on, as many as out holds; returns the part of out that was filled. */
template <class P = throwing>
typename P::template of<std::span<ucd_box_t>> boxes(uintptr_t count, TypeRef type, uintptr_t first,
                                                    std::span<ucd_box_t> out) {
    uintptr_t n = 0, total = 0;
    const int rc = ucd_get_boxes(count, type, first, out.data(), out.size(), &n, &total);
    return P::template give<std::span<ucd_box_t>>(rc, out.first(n));
}

/* All runs of elements. */
template <class P = throwing>
typename P::template of<std::vector<ucd_element_run_t>> element_runs(uintptr_t count,
                                                                     TypeRef type) {
    return detail::listed<P, ucd_element_run_t>(ucd_get_element_runs, count, type);
}

/* Runs from number first on, as many as out holds; returns the part of out that was filled. */
template <class P = throwing>
typename P::template of<std::span<ucd_element_run_t>>
element_runs(uintptr_t count, TypeRef type, uintptr_t first, std::span<ucd_element_run_t> out) {
    uintptr_t n = 0, total = 0;
    const int rc = ucd_get_element_runs(count, type, first, out.data(), out.size(), &n, &total);
    return P::template give<std::span<ucd_element_run_t>>(rc, out.first(n));
}

/* The number of boxes, and the number of runs of elements. */
template <class P = throwing>
typename P::template of<uintptr_t> box_count(uintptr_t count, TypeRef type) {
    uintptr_t n = 0, total = 0;
    const int rc = ucd_get_boxes(count, type, 0, nullptr, 0, &n, &total);
    return P::template give<uintptr_t>(rc, total);
}
template <class P = throwing>
typename P::template of<uintptr_t> element_run_count(uintptr_t count, TypeRef type) {
    uintptr_t n = 0, total = 0;
    const int rc = ucd_get_element_runs(count, type, 0, nullptr, 0, &n, &total);
    return P::template give<uintptr_t>(rc, total);
}

/* The elements in the first bytes of the packed stream: ucd_get_elements. */
template <class P = throwing>
typename P::template of<uintptr_t> elements(uintptr_t count, TypeRef type, uintptr_t bytes) {
    return detail::call<P, uintptr_t>(ucd_get_elements, count, type, bytes);
}

/* The last element boundary at or below a packed offset: ucd_element_boundary. */
template <class P = throwing>
typename P::template of<uintptr_t> element_boundary(uintptr_t count, TypeRef type,
                                                    uintptr_t offset) {
    return detail::call<P, uintptr_t>(ucd_element_boundary, count, type, offset);
}

/* The size that the first 16 bytes of a flattened type state, unverified: ucd_flattened_size. */
template <class P = throwing>
typename P::template of<uintptr_t> flattened_size(ConstBytes available) {
    return detail::call<P, uintptr_t>(ucd_flattened_size, available.data(), available.size());
}

/* The type as bytes. */
template <class P = throwing>
typename P::template of<std::vector<std::byte>> flatten(TypeRef type) {
    std::vector<std::byte> bytes;
    uintptr_t size = 0;
    int rc = ucd_flatten_size(type, &size);
    if (rc == UCD_SUCCESS) {
        bytes.resize(size);
        rc = ucd_flatten(type, bytes.data(), bytes.size());
    }
    return P::template give<std::vector<std::byte>>(rc, std::move(bytes));
}

/* The type whose flattened bytes these are. */
template <class P = throwing>
typename P::template of<Type> unflatten(ConstBytes bytes) {
    ucd_type_t t = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&t, bytes.data(), bytes.size());
    return P::template give<Type>(rc, t);
}

} // namespace UCD_INNER_NAMESPACE
} // namespace ucd

#include <ucd_types.hpp>

#endif /* C++20 */

#endif // UCD_HPP_INCLUDED
