// Where a section's data is: memory of the host, or of a GPU. One process uses one place.
#pragma once

#include "apps/busy_load.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace bench::apps {

class Place {
public:
    virtual ~Place() = default;
    virtual bool on_device() const = 0;
    virtual std::string name() const = 0;
    // Throw if there is none.
    virtual char *allocate(std::size_t bytes) = 0;
    virtual void release(char *memory) = 0;
    // Host memory that the device's copies reach at full speed.
    virtual char *allocate_on_host(std::size_t bytes) = 0;
    virtual void release_on_host(char *memory) = 0;

    // Copies between any memory of the two kinds; wait.
    virtual void copy(void *to, const void *from, std::size_t bytes) = 0;
    virtual void set(char *memory, int value, std::size_t bytes) = 0;
    virtual std::size_t count_different(const char *a, const char *b, std::size_t bytes) = 0;
    // Copies in the order in which they, and kernels, are started; done after wait().
    virtual void start_copy(void *to, const void *from, std::size_t bytes) = 0;
    virtual void start_copy_2d(void *to, std::size_t to_pitch, const void *from,
                               std::size_t from_pitch, std::size_t width, std::size_t rows) = 0;
    virtual void wait() = 0;

    // Computes on so much of the processors.
    virtual std::unique_ptr<BusyLoad> start_load(double share) = 0;
};

std::unique_ptr<Place> host_place();
std::unique_ptr<Place> cuda_place(int device);
// Asks in a process of its own, so that this one stays free to be copied. 0 if there is no driver.
int count_cuda_devices();

class Memory {
public:
    Memory(Place &place, std::size_t bytes, bool on_host = false)
        : place_(place), on_host_(on_host), bytes_(bytes),
          data_(on_host ? place.allocate_on_host(bytes) : place.allocate(bytes)) {}
    ~Memory() { on_host_ ? place_.release_on_host(data_) : place_.release(data_); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    char *data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    Place &place_;
    bool on_host_;
    std::size_t bytes_;
    char *data_;
};

} // namespace bench::apps
