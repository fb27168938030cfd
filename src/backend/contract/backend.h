// The interface between the frontend and a backend. A backend performs moves on the memory that its
// devices can access. It knows layouts and addresses, but no types, counts of calls, requests or
// hints.
//
// Thread safety: several threads may call any function at once, but one Event or one native stream
// is used by one thread at a time.
//
// Tables of functions: a backend may be a plugin, which another compiler has built with another C++
// library. Everything that crosses the boundary is therefore plain data: structs of standard
// layout, and objects whose first member points to a table of functions. A function of a table
// never throws. If it returns an int, that is UCD_SUCCESS or the code of a failure, whose message
// the table's `last_error` returns in the same thread until it calls again. So neither side keeps
// anything of the other, and calls that succeed pay nothing. An object is freed by its own table's
// `destroy`. function_list.h lists the functions, and says what each does. The classes below call
// them, and compile in the caller; implement.h makes the tables of a class that implements such an
// object. plugin.h says how a plugin is opened.
#pragma once

#include "fixed_text.h"
#include "keep.h"
#include "layout.h"
#include "memory.h"
#include "move.h"
#include "status.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct ucd_device_plan; // ucd_device.h

namespace ucd {

class KernelPlan;
class Event;
class PreparedLaunch;
class MoveMaker;
class Backend;

struct Destroy {
    template <class T>
    void operator()(T *object) const {
        object->destroy();
    }
};

// Owns an object of the frontend's or the backend's side.
template <class T>
using Owner = std::unique_ptr<T, Destroy>;

// ---- what functions take ------------------------------------------------------------------------

struct BackendState {
    bool available = false;
    uint32_t devices = 0;
    FixedText<32> version;
    FixedText<512> reason; // a sentence that says why it is not available; empty if it is
};

// A caller's stream, in the terms of the backend.
struct NativeStream {
    int device = 0;
    void *native = nullptr;
    void *context = nullptr;
};

// What another process needs to open memory of a device. The bytes are untrusted.
struct MemoryHandle {
    unsigned char native[72] = {}; // identifies a whole allocation
    uint64_t offset = 0;           // from the beginning of the allocation
};

// Whether the bytes of an array from one on are 0. Bytes of handles that have no meaning must be,
// so that a later version can give them one.
template <class Byte, std::size_t N>
bool is_zero_from(const Byte (&bytes)[N], std::size_t first) {
    for (std::size_t i = first; i < N; ++i)
        if (bytes[i] != 0) return false;
    return true;
}

// The most file descriptors of a range.
inline constexpr std::size_t max_fds = 253;

// Another process needs this to open memory that is identified by file descriptors, which are
// passed beside the handle. The bytes are untrusted.
struct FdHandle {
    // Not 0. In the process that exported the memory: equal only if it is the same memory.
    uint64_t identity = 0;
    uint64_t offset = 0; // from the beginning of what the descriptors identify
    unsigned char native[64] = {};
};

// ---- how functions are called -------------------------------------------------------------------

// An answer that is true if it cannot be found out.
struct TrueIfUnknown {
    bool answer;
    constexpr TrueIfUnknown(bool found = true) : answer(found) {}
    constexpr operator bool() const { return answer; }
};

// Gives the result that a listed function has in a table, where a status is its code.
template <class Result>
using Answer =
    std::conditional_t<std::is_same_v<Result, Status>, int,
                       std::conditional_t<std::is_same_v<Result, TrueIfUnknown>, bool, Result>>;

// Gives the type that an argument of type A has in a table, and makes it on the caller's side.
// Plain values remain what they are.
template <class A>
struct Sent {
    using Type = A;
    Type get(A value) const { return value; }
    void end(A) const {}
};
// A reference becomes a pointer.
template <class A>
struct Sent<A &> {
    using Type = A *;
    Type get(A &value) const { return &value; }
    void end(A &) const {}
};
// A Keep becomes the object that counts its references.
template <>
struct Sent<const Keep &> {
    using Type = KeptObject *;
    Type get(const Keep &keep) const { return keep.get(); }
    void end(const Keep &) const {}
};
// An owner becomes the address of a pointer. If an object was made, the owner has it after the
// call.
template <class T>
struct Sent<Owner<T> &> {
    using Type = T **;
    T *made = nullptr;
    Type get(Owner<T> &) { return &made; }
    void end(Owner<T> &owner) const {
        if (made != nullptr) owner.reset(made);
    }
};

// A function of a table, by its signature in the list, the object that it is called for, and the
// table. Inlined, because it is on the path of every small call.
template <class Object, class Signature>
struct Call;
template <class Object, class Result, class... A>
struct Call<Object, Result(A...)> {
    Answer<Result> (*function)(Object *, typename Sent<A>::Type...) noexcept;
    Object *object;
    const LastErrorOfThread &last_error;
    [[gnu::always_inline]] Result operator()(A... arguments) const {
        return run(arguments..., Sent<A>()...);
    }

private:
    [[gnu::always_inline]] Result run(A... arguments, Sent<A>... sent) const {
        if constexpr (std::is_same_v<Result, Status>) {
            const Status status(function(object, sent.get(arguments)...));
            if (!status.ok()) [[unlikely]]
                fetch_last_error(last_error);
            (sent.end(arguments), ...);
            return status;
        } else {
            return Result(function(object, sent.get(arguments)...));
        }
    }
};

// A function of a table, by its signature in the list.
template <class Object, class Signature>
using Function = decltype(Call<Object, Signature>::function);

// ---- tables and objects -------------------------------------------------------------------------

// The tables, as KernelPlanFunctions.
#define UCD_OBJECT(Object)                                                                         \
    struct Object##Functions {                                                                     \
        using Interface = Object;                                                                  \
        uint32_t struct_size;                                                                      \
        LastErrorOfThread last_error;
#define UCD_FUNCTION(result, name, parameters, ...)                                                \
    Function<__VA_ARGS__ Interface, result parameters> name;
#include "function_list.h"

// An object that crosses the boundary begins with the address of its table.
template <class Functions>
class WithFunctions {
public:
    using Interface = typename Functions::Interface;

    WithFunctions(const WithFunctions &) = delete;
    WithFunctions &operator=(const WithFunctions &) = delete;

    const Functions &functions() const { return *functions_; }
    // From now on, the object's functions are those of this table.
    void use(const Functions &functions) { functions_ = &functions; }

protected:
    explicit WithFunctions(const Functions &functions) : functions_(&functions) {}
    ~WithFunctions() = default;

    const Functions *functions_;
};

// The classes, as KernelPlan. Their functions call those of the table.
#define UCD_OBJECT(Object)                                                                         \
    class Object : public WithFunctions<Object##Functions> {                                       \
    protected:                                                                                     \
        using WithFunctions::WithFunctions;                                                        \
        ~Object() = default;                                                                       \
                                                                                                   \
    public:
#define UCD_FUNCTION(result, name, parameters, ...)                                                \
    template <class... Given>                                                                      \
    [[gnu::always_inline]] result name(Given &&...given) __VA_ARGS__ {                             \
        return Call<__VA_ARGS__ Interface, result parameters>{                                     \
            functions_->name, this, functions_->last_error}(std::forward<Given>(given)...);        \
    }
#include "function_list.h"

// Returns what describe() writes, or the message of its failure.
inline std::string description_of(const KernelPlan &plan) {
    std::string text;
    for (std::size_t length = 255; text.size() <= length;) {
        text.resize(length + 1);
        if (!plan.describe(text.data(), text.size(), length).ok()) return last_error().text;
    }
    text.resize(std::strlen(text.c_str()));
    return text;
}

// Makes all moves as a list.
inline Status make_all(MoveMaker &maker, std::vector<Move> &moves) {
    moves.clear();
    moves.reserve(maker.members()); // performance only: the list grows once
    std::array<MoveAddresses, 64> at;
    Move move;
    for (std::size_t first = 0, made = 1; made > 0;) {
        UCD_TRY(maker.make(first, move, at.data(), at.size(), made));
        for (const MoveAddresses &each : std::span(at).first(made)) {
            moves.push_back(move);
            moves.back().from.address = each.from;
            moves.back().to.address = each.to;
        }
    }
    return success;
}

} // namespace ucd
