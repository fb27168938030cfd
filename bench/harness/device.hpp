// Who has the data and works on it: the host, or a GPU. One process uses one device.
#pragma once

#include "harness/measure.hpp"
#include "shapes/shapes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace bench {

enum class MemoryKind {
    own,        // the GPU's, or the host's if that is the device
    pinned,     // host memory of the driver's
    registered, // pages of the process that the driver knows: other processes may copy from them
    managed,
    pageable,
    other_device, // a second GPU's
};

// Other work on a device while something is measured there. Goes on until it is destroyed.
class Load {
public:
    virtual ~Load() = default;
    // Operations, or bytes copied, since it began. Throws if it has failed.
    virtual std::uint64_t done() const = 0;
};

// Rows, and planes of rows, in one buffer, and next to each other in another; and so many such
// boxes at a distance.
struct Boxes {
    shapes::Nest<2> box;
    shapes::Level boxes = {1, 0};
};

class Device {
public:
    virtual ~Device() = default;
    virtual bool is_gpu() const = 0;
    virtual std::string name() const = 0;
    // As values of UCD's hints ucd.inbuf and ucd.outbuf.
    virtual std::string hint(MemoryKind kind) const = 0;

    // Starts on a page. Throws if there is none.
    virtual char *allocate(MemoryKind kind, std::size_t bytes) = 0;
    virtual void release(MemoryKind kind, char *memory) = 0;

    // Between memory of any kinds; wait.
    void copy(void *to, const void *from, std::size_t bytes) {
        start_copy(to, from, bytes);
        wait();
    }
    // Of memory that the device reaches; wait.
    virtual void set(char *memory, int value, std::size_t bytes) = 0;
    virtual void fill(char *memory, std::size_t bytes) = 0; // with content.hpp's content
    virtual std::size_t count_different(const char *a, const char *b, std::size_t bytes) = 0;
    virtual std::size_t count_filled(const char *memory, std::size_t bytes) = 0;  // not blank
    virtual std::size_t count_foreign(const char *memory, std::size_t bytes) = 0; // nor content

    // In the order in which they, and kernels, are started; done after wait(), which throws if what
    // was started has failed.
    virtual void start_copy(void *to, const void *from, std::size_t bytes) = 0;
    virtual void start_boxes(const Boxes &boxes, char *typed, char *packed, bool pack) = 0;
    virtual void wait() = 0;

    // Computes on so much of the processors.
    virtual std::unique_ptr<Load> start_load(double share) = 0;
};

std::unique_ptr<Device> open_host();
// Throws if this program was built without that vendor's runtime, or there is none such.
std::unique_ptr<Device> open_gpu(const std::string &vendor, int ordinal);
// Asks in a process of its own, so that this one stays free to be copied. 0 if there is no driver.
int count_gpus();

// "host", or a vendor's name and a number: "cuda:0".
std::unique_ptr<Device> open_device(const std::string &name);

class Buffer {
public:
    // Starts `stagger` bytes behind a page: buffers that all start on one would meet in few cache
    // sets.
    Buffer(Device &device, std::size_t bytes, MemoryKind kind = MemoryKind::own,
           std::size_t stagger = 0)
        : device_(device), kind_(kind), bytes_(bytes),
          start_(device.allocate(kind, bytes + stagger)), data_(start_ + stagger) {}
    ~Buffer() { device_.release(kind_, start_); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    char *data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    template <class T>
    T *as() const {
        return reinterpret_cast<T *>(data_);
    }

private:
    Device &device_;
    MemoryKind kind_;
    std::size_t bytes_;
    char *start_, *data_;
};

// Starts something, and waits until it is done.
Work blocking(Device &device, std::function<void()> start);
Work copy_work(Device &device, char *to, const char *from, std::size_t bytes);

} // namespace bench
