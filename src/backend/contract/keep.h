// References that keep an object of the library alive, as std::shared_ptr does. They cross the
// boundary between libucd and its plugins, so the object brings the functions that count them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ucd {

struct KeptObject;

struct KeptFunctions {
    uint32_t struct_size;
    void (*retain)(KeptObject *);
    void (*release)(KeptObject *);
};

struct KeptObject {
    const KeptFunctions *functions;
};

class Keep {
public:
    Keep() = default;
    Keep(std::nullptr_t) {}
    // Adds a reference to the object, if it is not null.
    explicit Keep(KeptObject *object) : object_(object) {
        if (object_ != nullptr) object_->functions->retain(object_);
    }
    Keep(const Keep &other) : Keep(other.object_) {}
    Keep(Keep &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Keep &operator=(Keep other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Keep() {
        if (object_ != nullptr) object_->functions->release(object_);
    }

    KeptObject *get() const { return object_; }
    friend bool operator==(const Keep &keep, std::nullptr_t) { return keep.object_ == nullptr; }

private:
    KeptObject *object_ = nullptr;
};

// A value that references keep alive. KeepOf is a reference that knows its type.
template <class T>
class KeptValue : public KeptObject {
public:
    explicit KeptValue(T &&made) : KeptObject{&own_functions}, value(std::move(made)) {}
    KeptValue(const KeptValue &) = delete;
    KeptValue &operator=(const KeptValue &) = delete;

    T value;

private:
    static void retain(KeptObject *object) {
        static_cast<KeptValue *>(object)->count_.fetch_add(1, std::memory_order_relaxed);
    }
    static void release(KeptObject *object) {
        auto *self = static_cast<KeptValue *>(object);
        if (self->count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete self;
    }
    static constexpr KeptFunctions own_functions{sizeof(KeptFunctions), retain, release};

    std::atomic<std::size_t> count_{0};
};

template <class T>
class KeepOf {
public:
    KeepOf() = default;
    explicit KeepOf(T &&value) : keep_(new KeptValue<T>(std::move(value))) {}
    const T *operator->() const { return &**this; }
    const T &operator*() const { return static_cast<KeptValue<T> *>(keep_.get())->value; }
    operator const Keep &() const { return keep_; }
    friend bool operator==(const KeepOf &keep, std::nullptr_t) { return keep.keep_ == nullptr; }

private:
    Keep keep_;
};

} // namespace ucd
