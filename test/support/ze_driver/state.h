// A Level Zero driver for tests, which the real loader loads (ZE_ENABLE_ALT_DRIVERS): its devices
// are the CPU, and kernels run as SPIR-V on PoCL. What a real driver leaves open, environment
// variables decide, so that tests find code that takes something for granted:
//     UCD_ZE_DRIVER_DEVICES=N    how many devices there are (1)
//     UCD_ZE_DRIVER_STRICT=1     device memory has no access rights while no command runs
//     UCD_ZE_DRIVER_SHUFFLE=N    commands that nothing orders run in random order, with this seed
//     UCD_ZE_DRIVER_DELAY_US=N   every command starts late
//     UCD_ZE_DRIVER_NO_DOUBLES=1 devices compute with 32-bit floats only
//     UCD_ZE_DRIVER_NO_PEERS=1   no device reaches another one's memory
//     UCD_ZE_DRIVER_PARTS=N      each device has so many sub-devices (0)
//     UCD_ZE_DRIVER_KEEPS=1      the driver keeps an allocation's descriptor, as newer ones do
//     UCD_ZE_DRIVER_BLOCKS=1     immediate lists return when a command is done
//     UCD_ZE_DRIVER_FAIL=NAME:N  the N-th call of that function fails; of all, without N
// What no driver takes ends the process: a list or a kernel in two threads at once, and any call
// after a zeInit that has failed. A program that has loaded it can change that, and ask what there
// is: controls.h.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <level_zero/ze_api.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace zedriver {

using Result = ze_result_t;

struct Device {
    unsigned index;
    Device *whole = nullptr; // of a sub-device
    std::vector<std::unique_ptr<Device>> parts;
};

struct Context {};

struct Knobs {
    unsigned devices, parts, delay_us, seed;
    bool strict, shuffle, doubles, peers, keeps, blocks;
};
const Knobs &knobs();

// Whether this call of a function is to fail.
bool is_failing(const char *function);

// What may be in use by one thread at a time.
class OneThread {
public:
    OneThread(std::atomic<int> &users, const char *what);
    ~OneThread() { --users_; }
    OneThread(const OneThread &) = delete;
    OneThread &operator=(const OneThread &) = delete;

private:
    std::atomic<int> &users_;
};

// Memory, command lists, event pools, modules and kernels: what there is of them, for tests that
// look for leaks.
extern std::atomic<int> objects;

// PoCL; null if it is missing.
struct OpenCl {
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    std::mutex mutex; // of a kernel's arguments, until it is enqueued
};
OpenCl *open_cl();

std::vector<std::unique_ptr<Device>> &devices();

// Memory --------------------------------------------------------------

struct Allocation {
    void *address;
    std::size_t bytes, mapped;
    ze_memory_type_t type;
    Device *device;
    Context *context;
    uint64_t id;
    int file;    // that it is a mapping of; -1 if it cannot be shared
    bool opened; // it is another allocation's memory
};
// The allocation of this context that an address is in; false if there is none.
bool find(const Context *context, const void *address, Allocation &found);
// Whether commands of that context may use the address: it is not in another one's memory.
bool may_use(const Context *context, const void *address);
// While one lives, devices may touch their memory.
class DeviceAccess {
public:
    DeviceAccess();
    ~DeviceAccess();
    DeviceAccess(const DeviceAccess &) = delete;
    DeviceAccess &operator=(const DeviceAccess &) = delete;
};

// Commands --------------------------------------------------------------

class Event {
public:
    void set(bool value);
    bool is_set();
    bool wait(uint64_t nanoseconds);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

struct EventPool {
    uint32_t events;
};

struct Command {
    std::function<void()> run;
    std::vector<Event *> waits;
    Event *signal = nullptr;
    bool barrier = false;
};

// A queue: a thread that does its commands.
class Queue {
public:
    Queue();
    ~Queue(); // waits for none: a command that has not started is never done
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;
    void add(Command command);
    void wait_until_idle();

private:
    void work();
    // Removes a command that may start; false if there is none.
    bool take(Command &command);
    static bool may_start(const Command &command);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Command> commands_;
    bool ends_ = false, running_ = false;
    std::minstd_rand random_;
    std::thread thread_; // the last member: it uses all others
};

// An immediate one has a queue of its own; a regular one's commands are for queues that come later.
struct CommandList {
    Context *context;
    bool only_copies;
    std::unique_ptr<Queue> queue; // null: a regular one
    std::vector<Command> commands;
    bool closed = false;
    std::atomic<int> users{0};
};

// Kernels --------------------------------------------------------------

struct Module {
    cl_program program;
    Context *context;
};
struct Kernel {
    cl_kernel kernel;
    Context *context;
    std::vector<unsigned char> argument; // there is one
    uint32_t group[3] = {1, 1, 1};
    std::atomic<int> users{0};
};

} // namespace zedriver
