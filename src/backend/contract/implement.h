// Makes the tables of functions that stand before objects which cross the boundary between libucd
// and its plugins. A class T derives from the template of its kind, and defines functions with the
// names, arguments and results of the ones in backend.h; plans return texts, and launches get the
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

// An argument of a table's function, as the function of a class takes it: a pointer to an object
// may become a reference, and what is kept becomes a Keep.
template <class A>
struct Argument {
    A value;
    operator A() const { return value; }
};
template <class A>
requires(!std::is_void_v<A>) struct Argument<A *> {
    A *value;
    operator A *() const { return value; }
    operator A &() const { return *value; }
};
template <>
struct Argument<KeptObject *> {
    KeptObject *value;
    operator Keep() const { return Keep(value); }
};

// Becomes the function of a table that calls function `member` of class T with the same arguments.
// An answer that is not a status is 0 or false after an exception.
template <class T, auto member>
struct Calling {
    template <class Result, class... A>
    using Function = Result (*)(A...);
    template <class Result, class Object, class... A>
    constexpr operator Function<Result, Object *, A...>() const {
        using Self = std::conditional_t<std::is_const_v<Object>, const T, T>;
        return [](Object *object, A... arguments) noexcept -> Result {
            const auto call = [&] {
                return (static_cast<Self *>(object)->*member)(Argument<A>{arguments}...);
            };
            if constexpr (std::is_same_v<decltype(call()), Status>)
                return guarded(call);
            else
                return guarded_or(Result{}, call);
        };
    }
};

template <class T>
class KernelPlanOf : public KernelPlan {
public:
    KernelPlanOf() : KernelPlan(own_functions) {}
    static constexpr const KernelPlanFunctions &table() { return own_functions; }

    void describe() const = delete; // T defines these
    void memory() const = delete;
    bool is_needed_by(const Move &) const { return true; }

private:
    static const T &self(const KernelPlan *plan) { return static_cast<const T &>(*plan); }

    static constexpr KernelPlanFunctions own_functions{
        .struct_size = sizeof(KernelPlanFunctions),
        .destroy = [](const KernelPlan *plan) { delete &self(plan); },
        .describe =
            [](const KernelPlan *plan, char *text, std::size_t room, std::size_t *length) {
                return guarded([&] {
                    const std::string all = self(plan).describe();
                    *length = all.size();
                    text[all.copy(text, room - 1)] = '\0';
                    return success;
                });
            },
        .memory = Calling<T, &T::memory>(),
        .is_needed_by =
            [](const KernelPlan *plan, const Move *move) {
                return guarded_or(true, [&] { return self(plan).is_needed_by(*move); });
            },
    };
};

template <class T>
class EventOf : public Event {
public:
    EventOf() : Event(own_functions) {}
    static constexpr const EventFunctions &table() { return own_functions; }

    void poll() = delete; // T defines it

private:
    static T &self(Event *event) { return static_cast<T &>(*event); }

    static constexpr EventFunctions own_functions{
        .struct_size = sizeof(EventFunctions),
        .destroy = [](Event *event) { delete &self(event); },
        .poll = Calling<T, &T::poll>(),
    };
};

template <class T>
class PreparedLaunchOf : public PreparedLaunch {
public:
    PreparedLaunchOf() : PreparedLaunch(own_functions) {}
    static constexpr const PreparedLaunchFunctions &table() { return own_functions; }

private:
    static constexpr PreparedLaunchFunctions own_functions{
        .struct_size = sizeof(PreparedLaunchFunctions),
        .destroy = [](const PreparedLaunch *launch) { delete static_cast<const T *>(launch); },
    };
};

template <class T>
class MoveMakerOf : public MoveMaker {
public:
    MoveMakerOf() : MoveMaker(own_functions) {}

    void members() const = delete; // T defines these
    void make() = delete;
    void divide() = delete;
    void part() = delete;
    void unite() = delete;

private:
    static T &self(MoveMaker *maker) { return static_cast<T &>(*maker); }

    static constexpr MoveMakerFunctions own_functions{
        .struct_size = sizeof(MoveMakerFunctions),
        .members =
            [](const MoveMaker *maker) noexcept {
                return static_cast<const T &>(*maker).members();
            },
        .make =
            [](MoveMaker *maker, std::size_t *first, Move *move, MoveAddresses *at,
               std::size_t room, std::size_t *made) {
                return guarded([&] { return self(maker).make(*first, *move, {at, room}, *made); });
            },
        .divide = Calling<T, &T::divide>(),
        .part = [](MoveMaker *maker, unsigned i) noexcept -> MoveMaker * {
            return &self(maker).part(i);
        },
        .unite = Calling<T, &T::unite>(),
    };
};

// Backends may leave out what has a definition here.
template <class T>
class BackendOf : public Backend {
public:
    BackendOf() : Backend(own_functions) {}
    static constexpr const BackendFunctions &table() { return own_functions; }

    void name() const = delete; // T defines these
    void probe() = delete;
    void inspect() = delete;
    void find() const = delete;
    void reaches() const = delete;
    void supports() const = delete;
    void plan() const = delete;
    void launch() = delete;
    void launch_in() = delete;
    void prepare_launch() = delete;
    void prepare() = delete;
    void copy() = delete;

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
    Status device_plan(int, const Layout &, int64_t, uint64_t, uint64_t, ucd_device_plan &) {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s has no plans for device code",
                    self(this).name());
    }

private:
    static T &self(Backend *backend) { return static_cast<T &>(*backend); }
    static const T &self(const Backend *backend) { return static_cast<const T &>(*backend); }

    Status shares_no_memory() const {
        return fail(UCD_ERR__NOT_SUPPORTED, "backend %s shares no memory", self(this).name());
    }

    // Runs a body that returns a status and sets the owner of an object that it has made.
    template <class Object, class Body>
    [[gnu::always_inline]] static int make(Object **made, const Body &body) noexcept {
        return guarded([&]() -> Status {
            Owner<Object> owner;
            UCD_TRY(body(owner));
            *made = owner.release();
            return success;
        });
    }

    static constexpr BackendFunctions own_functions{
        .struct_size = sizeof(BackendFunctions),
        .destroy = [](Backend *b) { delete &self(b); },
        .name = [](const Backend *b) noexcept { return self(b).name(); },
        .probe =
            [](Backend *b, BackendState *state) {
                return guarded([&] {
                    *state = self(b).probe();
                    return success;
                });
            },
        .inspect =
            [](Backend *b, const BackendState **state) {
                return guarded([&] {
                    *state = &self(b).inspect();
                    return success;
                });
            },
        .use_context = Calling<T, &T::use_context>(),
        .find = Calling<T, &T::find>(),
        .hides_memory = Calling<T, &T::hides_memory>(),
        .check_unknown = Calling<T, &T::check_unknown>(),
        .reaches = Calling<T, &T::reaches>(),
        .supports = Calling<T, &T::supports>(),
        .plan =
            [](const Backend *b, const Layout *layout, int64_t extent, bool repeated,
               uint64_t max_bytes, KernelPlan **plan) {
                return make(plan, [&](Owner<KernelPlan> &made) {
                    return self(b).plan(*layout, extent, repeated, max_bytes, made);
                });
            },
        .launch =
            [](Backend *b, int device, const MoveList *list, Event **done) {
                return make(done, [&](Owner<Event> &event) {
                    return self(b).launch(device, *list, event);
                });
            },
        .launch_made =
            [](Backend *b, int device, MoveMaker *maker, Event **done) {
                return make(done, [&](Owner<Event> &event) {
                    return self(b).launch_made(device, *maker, event);
                });
            },
        .device_of = Calling<T, &T::device_of>(),
        .launch_in =
            [](Backend *b, const NativeStream *stream, const MoveList *list, KeptObject *keep) {
                return guarded([&] { return self(b).launch_in(*stream, *list, Keep(keep)); });
            },
        .launch_made_in = Calling<T, &T::launch_made_in>(),
        .prepare_launch =
            [](Backend *b, int device, const MoveList *list, PreparedLaunch **prepared) {
                return make(prepared, [&](Owner<PreparedLaunch> &made) {
                    return self(b).prepare_launch(device, *list, made);
                });
            },
        .launch_prepared =
            [](Backend *b, const PreparedLaunch *prepared, Event **done) {
                return make(done,
                            [&](Owner<Event> &event) { return self(b).launch(*prepared, event); });
            },
        .launch_prepared_in =
            [](Backend *b, const NativeStream *stream, const PreparedLaunch *prepared,
               KeptObject *keep) {
                return guarded([&] { return self(b).launch_in(*stream, *prepared, Keep(keep)); });
            },
        .prepare = Calling<T, &T::prepare>(),
        .takes = Calling<T, &T::takes>(),
        .copy =
            [](Backend *b, int device, void *to, const void *from, std::size_t bytes,
               Event **done) {
                return make(done, [&](Owner<Event> &event) {
                    return self(b).copy(device, to, from, bytes, event);
                });
            },
        .allocate = Calling<T, &T::allocate>(),
        .release = [](Backend *b, int device, MemoryKind kind,
                      void *memory) noexcept { self(b).release(device, kind, memory); },
        .export_memory = Calling<T, &T::export_memory>(),
        .open_memory = Calling<T, &T::open_memory>(),
        .export_fds = Calling<T, &T::export_fds>(),
        .open_fds = Calling<T, &T::open_fds>(),
        .close_memory = [](Backend *b, int device,
                           void *allocation) noexcept { self(b).close_memory(device, allocation); },
        .device_plan = Calling<T, &T::device_plan>(),
    };
};

} // namespace ucd
