// What a vendor's driver is to a real backend, for the mock: two devices with memory of their own,
// pinned and managed memory, and queues of work that is done later by other threads.
//
// Device memory is strict. It is mapped twice: at the address that users get, where every access
// faults, and at a secret one, for the devices' threads. So the host, and whatever runs on the
// wrong device, is found out; and since the size of each allocation is known to the byte, so is
// what reaches beyond it.
#pragma once

#include "memory.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mock {

inline constexpr int device_count = 2;

// The backend over this driver that the program was linked with.
struct BackendTraits {
    const char *name; // as hints and streams have it
    bool remembers;   // who reaches what, and device memory: the knobs for that are for ucd_init
    int second_device = 1;
};
extern const BackendTraits backend;

// Set by tests; read by driver and backend. All zero: everything works, at once.
struct Knobs {
    std::atomic<bool> peers;             // each device reaches the memory of the other
    std::atomic<bool> pools;             // device memory has access of its own, for good if it
                                         // is allocated meanwhile,
    std::atomic<bool> pools_for_peers;   // which others have, too
    std::atomic<bool> private_pinned;    // pinned memory is reached by the device it is for only
    std::atomic<bool> hides_memory;      // for ucd_init: there may be memory that it does not know
    std::atomic<bool> out_of_memory;     // the backend's allocations fail
    std::atomic<bool> complete_at_once;  // what is launched is complete on return, with no event
    std::atomic<int> failing_launch;     // n: the n-th launch or copy from now on is refused
    std::atomic<int> failing_work;       // n: the n-th one is accepted, but its work fails
    std::atomic<int> failing_allocation; // n: the n-th allocation of the backend from now on
    std::atomic<int> failing_handle;     // n: the n-th stream, event or record of one from now on
    std::atomic<int> failing_plan;       // n: the n-th plan from now on
    std::atomic<int> failing_query;      // n: the n-th question where an address is
    std::atomic<int> failing_export;     // n: the n-th time that memory is shared
    std::atomic<int> failing_opens;      // n: the next n times that shared memory is opened
    std::atomic<unsigned> delay_us;      // before each piece of work
    // The identity of a device; null: its number, plus one, in all processes.
    std::atomic<std::uint64_t (*)(int device)> identity;
};
extern Knobs knobs;

// What has happened.
struct Counts {
    std::atomic<int> launches, moves, copies, stream_launches, prepared, queries, polls;
    std::atomic<int> events_recorded;
    std::atomic<int> unknown; // addresses that nobody knows, and that it was asked about
    std::atomic<int> allocations, live_allocations; // the backend's: staging chunks
    std::atomic<int> live_plans, live_prepared, live_events;
    std::atomic<int> exports, opens, live_opens; // of memory shared between processes
};
extern Counts counts;

// Knobs to zero, and the counts of what has happened (not those of what is alive).
void reset();

// While held, work that has been queued does not begin, but for the next `pieces` of it.
void hold();
void allow(int pieces);
void let_go();
// Waits until `pieces` pieces of work have begun since hold().
void wait_until_begun(int pieces);

struct Allocation {
    char *address = nullptr; // as users see it
    char *memory = nullptr;  // as devices do
    std::size_t bytes = 0;
    ucd::MemoryKind kind = ucd::MemoryKind::device;
    int device = 0;
    int file = -1;           // of device memory: other processes open it
    std::uint64_t inode = 0; // of the file
    // Of memory that file descriptors identify (fake_pieces.h); else 0.
    std::uint64_t identity = 0;
    // Pieces that are mapped one behind the other have the same one; else 0.
    std::uint64_t range = 0;
    std::size_t file_offset = 0;
    bool exportable = true;
    bool pooled = false; // allocated with Knobs::pools
};

// Adds memory that has been mapped already.
void add(const Allocation &allocation);

// Null if there is no memory. `kind` is anything but pageable host memory.
void *allocate(ucd::MemoryKind kind, int device, std::size_t bytes);
// Pinned memory of which devices have copies in caches: they see what the host has written when
// they fetch it, and the host what they have written once they publish it.
void *allocate_incoherent(int device, std::size_t bytes);
void fetch_incoherent();
void publish_incoherent();
void release(void *address);
bool find(const void *address, Allocation &allocation);
// But for the owner.
bool find(const void *address, ucd::MemoryLocation &location);

// Device memory for other processes: by the number of its file in the process that allocated it.
struct Shared {
    std::int64_t process = 0;
    int file = -1, device = 0;
    std::uint64_t inode = 0, bytes = 0; // of the file
};
bool share(const void *address, Shared &shared);
// Null if it is not there. Ended with release().
void *open_shared(const Shared &shared);

bool reaches(int device, ucd::MemoryKind kind, int memory_device, bool own_access = knobs.pools);
std::uint64_t identity(int device);

// What tests do in place of the driver's memcpy; `address` may be host memory as well.
void write(void *address, const void *from, std::size_t bytes);
void read(void *to, const void *address, std::size_t bytes);

// Addresses as a device's thread may use them. Throws std::runtime_error for what is out of reach.
class DeviceView {
public:
    explicit DeviceView(int device) : device_(device) {}
    char *at(const char *address, std::size_t bytes);

private:
    int device_;
    Allocation last_;
};

// Work in order (one worker) or in any (several).
class Queue {
public:
    explicit Queue(unsigned workers);
    ~Queue(); // finishes what is queued

    void add(std::function<void()> work);
    void drain();

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    unsigned busy_ = 0;
    bool closing_ = false;
    std::vector<std::thread> workers_;
};

// A stream of the user's: ucd_stream_t::native.
class Stream {
public:
    explicit Stream(int device) : device_(device), queue_(1) {}
    int device() const { return device_; }
    void add(std::function<void()> work) { queue_.add(std::move(work)); }
    void synchronise() { queue_.drain(); }

    void fail(const std::string &why);
    std::string failure(); // the first one; "" if none

private:
    const int device_;
    std::mutex mutex_;
    std::string failure_;
    Queue queue_;
};

} // namespace mock
