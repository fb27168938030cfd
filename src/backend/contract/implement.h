// Makes the tables of functions that stand before objects which cross the boundary between libucd
// and its plugins. A class T derives from the template of its kind, and defines functions with the
// names, arguments and results of function_list.h; plans return texts, and launches may get the
// Keep by value. Exceptions of T become statuses here; a function without a status then answers
// what is safe: that the backend cannot do it, or that it still needs the plan.
#pragma once

#include "backend.h"
#include "exception_status.h"

#include <type_traits>
#include <utility>
#include <vector>

namespace ucd {

// Makes an object of a class T.
template <class T, class... Arguments>
Owner<T> make_owned(Arguments &&...arguments) {
    return Owner<T>(new T(std::forward<Arguments>(arguments)...));
}

// How the side that is called gets what the function of a class takes from an argument of a table's
// function. What is kept becomes a Keep, and what an owner has got goes to the caller if the
// function succeeds.
template <class A>
struct Received {
    A get(typename Sent<A>::Type value) const {
        if constexpr (std::is_reference_v<A>)
            return *value;
        else
            return value;
    }
    void end(typename Sent<A>::Type) const {}
};
template <>
struct Received<const Keep &> {
    Keep get(KeptObject *object) const { return Keep(object); }
    void end(KeptObject *) const {}
};
template <class T>
struct Received<Owner<T> &> {
    Owner<T> owner;
    Owner<T> &get(T **) { return owner; }
    void end(T **made) { *made = owner.release(); }
};

// Makes the function of a table that calls one of a class T, as a Body does, and ends its
// exceptions: a status then is a failure, and an answer 0, false or TrueIfUnknown. Where there is
// nothing to answer, an exception ends the process.
template <class T, class Object, class Body, class Result, class... A>
constexpr Function<Object, Result(A...)> guarding(Body, std::type_identity<Result(A...)>) {
    return [](Object *object, typename Sent<A>::Type... arguments) noexcept -> Answer<Result> {
        const auto run = [&](Received<A>... received) -> Result {
            using Self = std::conditional_t<std::is_const_v<Object>, const T, T>;
            if constexpr (std::is_same_v<Result, Status>) {
                UCD_TRY(Body()(static_cast<Self &>(*object), received.get(arguments)...));
                (received.end(arguments), ...);
                return success;
            } else {
                return Body()(static_cast<Self &>(*object), received.get(arguments)...);
            }
        };
        const auto called = [&] { return run(Received<A>()...); };
        if constexpr (std::is_same_v<Result, Status>)
            return guarded(called);
        else if constexpr (std::is_void_v<Result> || std::is_pointer_v<Result>)
            return called();
        else
            return guarded_or(Result(), called);
    };
}

inline LastError *own_last_error() noexcept {
    return &last_error();
}

// The table of a class T. The definitions for the objects are below.
template <class Object, class T>
constexpr int table_of = 0;
#define UCD_OBJECT(Object)                                                                         \
    template <class T>                                                                             \
    constexpr Object##Functions table_of<Object, T> {                                              \
        .struct_size = sizeof(Object##Functions), .last_error = own_last_error,
#define UCD_FUNCTION(result, name, parameters, ...)                                                \
    .name = guarding<T, __VA_ARGS__ typename T::Interface>(                                        \
        [](auto &self, auto &&...given) {                                                          \
            return self.name(std::forward<decltype(given)>(given)...);                             \
        },                                                                                         \
        std::type_identity<result parameters>()),
#include "function_list.h"

// Hides what calls the functions of a table, so that a class that lacks one does not compile,
// rather than call itself.
template <class Object>
struct Hidden;
#define UCD_OBJECT(Object)                                                                         \
    template <>                                                                                    \
    struct Hidden<Object> : Object {                                                               \
        using Object::Object;
#define UCD_FUNCTION(result, name, ...) void name() = delete;
#include "function_list.h"

// What a class T derives from.
template <class Object, class T>
class Implementation : public Hidden<Object> {
public:
    Implementation() : Hidden<Object>(table()) {}
    static constexpr const auto &table() { return table_of<Object, T>; }

    void destroy() const { delete static_cast<const T *>(this); }
};

template <class T>
using EventOf = Implementation<Event, T>;
template <class T>
using PreparedLaunchOf = Implementation<PreparedLaunch, T>;
template <class T>
using MoveMakerOf = Implementation<MoveMaker, T>;

template <class T>
class KernelPlanOf : public Implementation<KernelPlan, T> {
public:
    Status describe(char *text, std::size_t room, std::size_t &length) const {
        const std::string all = static_cast<const T *>(this)->description();
        length = all.size();
        text[all.copy(text, room - 1)] = '\0';
        return success;
    }
    bool is_needed_by(const Move &) const { return true; }
};

// Backends may leave out what has a definition here.
template <class T>
class BackendOf : public Implementation<Backend, T> {
public:
    Status use_context(uint64_t, int /*device*/) { return success; }
    bool hides_memory() const { return false; }
    Status check_unknown(const void *) const { return success; }
    bool takes(const Move &move) const {
        return move.from.plan == nullptr && move.to.plan == nullptr;
    }

    // For backends for which making the moves in portions has no advantage.
    Status launch_made(int device, MoveMaker &maker, Owner<Event> &done) {
        std::vector<Move> moves;
        UCD_TRY(make_all(maker, moves));
        return moves.empty() ? success : self(this).launch(device, moves, done);
    }
    Status launch_made_in(const NativeStream &stream, MoveMaker &maker, Keep keep) {
        std::vector<Move> moves;
        UCD_TRY(make_all(maker, moves));
        return moves.empty() ? success : self(this).launch_in(stream, moves, std::move(keep));
    }

    Status device_of(const NativeStream &, int &) {
        return fail(UCD_ERR__INVALID_ARG,
                    "stream.device is -1; backend %s does not tell a stream's device",
                    self(this).name());
    }
    Status allocate(int, MemoryKind, std::size_t, void *&) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s has no staging memory", self(this).name());
    }
    void release(int, MemoryKind, void *) {}
    Status export_memory(const void *, std::size_t, MemoryHandle &) { return shares_no_memory(); }
    Status open_memory(int, const MemoryHandle &, std::size_t, void *&) {
        return shares_no_memory();
    }
    Status export_fds(const void *, std::size_t, FdHandle &, int *, std::size_t,
                      std::size_t &count) {
        count = 0;
        return success;
    }
    Status open_fds(int, const FdHandle &, std::size_t, const int *, std::size_t, void *&) {
        return shares_no_memory();
    }
    void close_memory(int /*device*/, void * /*allocation*/) {}
    Status finish() { return success; }
    Status device_plan(int, const Layout &, int64_t, uint64_t, uint64_t, ucd_device_plan &) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s has no plans for device code",
                    self(this).name());
    }
    uint64_t device_identity(int) const { return 0; }

private:
    static T &self(Backend *backend) { return static_cast<T &>(*backend); }

    Status shares_no_memory() {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s shares no memory", self(this).name());
    }
};

} // namespace ucd
