#include "support/fake_device/fake_driver.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mock {

Knobs knobs;
Counts counts;

void reset() {
    knobs.peers = knobs.pools = knobs.pools_for_peers = knobs.private_pinned = knobs.out_of_memory =
        knobs.complete_at_once = knobs.hides_memory = false;
    knobs.failing_plan = knobs.failing_query = 0;
    knobs.failing_launch = knobs.failing_work = knobs.failing_allocation = 0;
    knobs.failing_export = knobs.failing_opens = knobs.failing_handle = 0;
    knobs.delay_us = 0;
    knobs.identity = nullptr;
    counts.launches = counts.moves = counts.copies = counts.stream_launches = counts.prepared = 0;
    counts.queries = counts.polls = counts.allocations = counts.events_recorded = 0;
    counts.exports = counts.opens = counts.unknown = 0;
}

// The gate that work passes before it begins
// --------------------------------------------------------------

namespace {

struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool held = false;
    int allowed = 0, begun = 0;
};
Gate gate;

void pass_gate() {
    {
        std::unique_lock lock(gate.mutex);
        gate.changed.wait(lock, [] { return !gate.held || gate.allowed > 0; });
        if (gate.held) --gate.allowed;
        ++gate.begun;
    }
    gate.changed.notify_all();
    if (const unsigned delay = knobs.delay_us; delay > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(delay));
}

} // namespace

void hold() {
    const std::lock_guard lock(gate.mutex);
    gate.held = true;
    gate.allowed = gate.begun = 0;
}

void allow(int pieces) {
    {
        const std::lock_guard lock(gate.mutex);
        gate.allowed += pieces;
    }
    gate.changed.notify_all();
}

void let_go() {
    {
        const std::lock_guard lock(gate.mutex);
        gate.held = false;
    }
    gate.changed.notify_all();
}

void wait_until_begun(int pieces) {
    std::unique_lock lock(gate.mutex);
    gate.changed.wait(lock, [pieces] { return gate.begun >= pieces; });
}

// Memory --------------------------------------------------------------

namespace {

struct Memory {
    std::mutex mutex;
    std::map<uintptr_t, Allocation> allocations; // by address
};
// Never destroyed: memory may be freed by whatever goes last.
Memory &memory() {
    static Memory *m = new Memory;
    return *m;
}

std::size_t whole_pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

char *map(int protection, int file, std::size_t bytes) {
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *address = ::mmap(nullptr, bytes, protection, flags, file, 0);
    return address == MAP_FAILED ? nullptr : static_cast<char *>(address);
}

constexpr const char *file_name = "mock device memory";

// For programs whose other libraries read device memory, as some MPI libraries do.
bool host_may_read() {
    return std::getenv("UCD_TEST_DEVICE_IS_READ") != nullptr;
}

// The file becomes the allocation's.
bool map_file(Allocation &a, int file) {
    const std::size_t size = whole_pages(a.bytes);
    a.memory = map(PROT_READ | PROT_WRITE, file, size);
    a.address = map(host_may_read() ? PROT_READ | PROT_WRITE : PROT_NONE, file, size);
    a.file = file;
    struct stat state = {};
    const bool is_known = ::fstat(file, &state) == 0;
    a.inode = state.st_ino;
    if (is_known && a.memory != nullptr && a.address != nullptr) return true;
    if (a.memory != nullptr) ::munmap(a.memory, size);
    if (a.address != nullptr) ::munmap(a.address, size);
    ::close(file);
    return false;
}

bool map_device_memory(Allocation &a) {
    const int file = ::memfd_create(file_name, MFD_CLOEXEC);
    if (file < 0) return false;
    if (::ftruncate(file, static_cast<off_t>(whole_pages(a.bytes))) == 0) return map_file(a, file);
    ::close(file);
    return false;
}

// Whether it is one of the files that device memory is made of.
bool is_device_memory(const std::string &path, int file, const Shared &shared) {
    char name[64] = {};
    struct stat state;
    return ::readlink(path.c_str(), name, sizeof name - 1) > 0 &&
           std::strstr(name, file_name) != nullptr && ::fstat(file, &state) == 0 &&
           state.st_ino == shared.inode && shared.bytes > 0 &&
           shared.bytes <= static_cast<std::uint64_t>(state.st_size);
}

} // namespace

void add(const Allocation &a) {
    const std::lock_guard lock(memory().mutex);
    memory().allocations[reinterpret_cast<uintptr_t>(a.address)] = a;
}

bool share(const void *address, Shared &shared) {
    Allocation a;
    if (!find(address, a) || a.file < 0 || a.identity != 0) return false;
    shared = {::getpid(), a.file, a.device, a.inode, a.bytes};
    return true;
}

void *open_shared(const Shared &shared) {
    const std::string path =
        "/proc/" + std::to_string(shared.process) + "/fd/" + std::to_string(shared.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return nullptr;
    if (!is_device_memory(path, file, shared) || shared.device < 0 ||
        shared.device >= device_count) {
        ::close(file);
        return nullptr;
    }
    Allocation a{.bytes = shared.bytes, .device = shared.device};
    if (!map_file(a, file)) return nullptr;
    add(a);
    return a.address;
}

void *allocate(ucd::MemoryKind kind, int device, std::size_t bytes) {
    Allocation a{
        .bytes = bytes == 0 ? 1 : bytes, .kind = kind, .device = device, .pooled = knobs.pools};
    if (kind == ucd::MemoryKind::device) {
        if (!map_device_memory(a)) return nullptr;
    } else {
        a.address = a.memory = map(PROT_READ | PROT_WRITE, -1, whole_pages(a.bytes));
        if (a.address == nullptr) return nullptr;
    }
    std::memset(a.memory, 0xdb, a.bytes);
    add(a);
    return a.address;
}

void *allocate_incoherent(int device, std::size_t bytes) {
    Allocation a{.bytes = bytes, .kind = ucd::MemoryKind::pinned, .device = device};
    a.address = map(PROT_READ | PROT_WRITE, -1, whole_pages(bytes));
    a.memory = map(PROT_READ | PROT_WRITE, -1, whole_pages(bytes));
    add(a);
    return a.address;
}

namespace {

template <class Copy>
void copy_incoherent(Copy copy) {
    const std::lock_guard lock(memory().mutex);
    for (const auto &[position, a] : memory().allocations)
        if (a.kind == ucd::MemoryKind::pinned && a.address != a.memory) copy(a);
}

} // namespace

void fetch_incoherent() {
    copy_incoherent([](const Allocation &a) { std::memcpy(a.memory, a.address, a.bytes); });
}

void publish_incoherent() {
    copy_incoherent([](const Allocation &a) { std::memcpy(a.address, a.memory, a.bytes); });
}

void release(void *address) {
    Allocation a;
    {
        const std::lock_guard lock(memory().mutex);
        const auto it = memory().allocations.find(reinterpret_cast<uintptr_t>(address));
        if (it == memory().allocations.end())
            throw std::logic_error("mock::release: that memory was not allocated");
        a = it->second;
        memory().allocations.erase(it);
    }
    const std::size_t size = whole_pages(a.bytes);
    ::munmap(a.memory, size);
    if (a.address != a.memory) ::munmap(a.address, size);
    if (a.file >= 0) ::close(a.file);
}

bool find(const void *address, Allocation &allocation) {
    const auto position = reinterpret_cast<uintptr_t>(address);
    const std::lock_guard lock(memory().mutex);
    auto it = memory().allocations.upper_bound(position);
    if (it == memory().allocations.begin()) return false;
    --it;
    if (position - it->first >= it->second.bytes) return false;
    allocation = it->second;
    return true;
}

namespace {
bool has_own_access(const Allocation &a) {
    return a.pooled || knobs.pools;
}
} // namespace

bool find(const void *address, ucd::MemoryLocation &location) {
    Allocation a;
    if (!find(address, a)) return false;
    const auto begin = reinterpret_cast<uintptr_t>(a.address);
    location = {a.kind, a.device, nullptr, begin, begin + a.bytes, has_own_access(a)};
    return true;
}

bool reaches(int device, ucd::MemoryKind kind, int memory_device, bool own_access) {
    switch (kind) {
    case ucd::MemoryKind::host: return false;
    case ucd::MemoryKind::managed: return true;
    case ucd::MemoryKind::pinned: return device == memory_device || !knobs.private_pinned;
    case ucd::MemoryKind::device:
        return device == memory_device || (own_access ? knobs.pools_for_peers : knobs.peers);
    }
    return false;
}

std::uint64_t identity(int device) {
    const auto chosen = knobs.identity.load();
    return chosen != nullptr ? chosen(device) : static_cast<std::uint64_t>(device) + 1;
}

namespace {

// The bytes from the address on that are in the allocation, or in pieces behind it.
std::size_t bytes_from(const Allocation &a, const char *address) {
    auto bytes = static_cast<std::size_t>(a.address + a.bytes - address);
    for (Allocation next; a.range != 0 && find(address + bytes, next) && next.range == a.range;)
        bytes += next.bytes;
    return bytes;
}

char *secret_address(const void *address, std::size_t bytes) {
    Allocation a;
    if (!find(address, a)) return static_cast<char *>(const_cast<void *>(address));
    const auto into = static_cast<std::size_t>(static_cast<const char *>(address) - a.address);
    if (bytes > bytes_from(a, static_cast<const char *>(address)))
        throw std::logic_error("mock: copy beyond the end of an allocation");
    return a.memory + into;
}

} // namespace

void write(void *address, const void *from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(secret_address(address, bytes), from, bytes);
}

void read(void *to, const void *address, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, secret_address(address, bytes), bytes);
}

char *DeviceView::at(const char *address, std::size_t bytes) {
    const auto within = [&](const Allocation &a) {
        const uintptr_t into =
            reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(a.address);
        return a.address != nullptr && into < a.bytes &&
               (bytes <= a.bytes - into || (a.range != 0 && bytes <= bytes_from(a, address)));
    };
    if (!within(last_)) {
        char text[128];
        std::snprintf(text, sizeof text, "device %d does not reach %zu bytes at %p", device_, bytes,
                      static_cast<const void *>(address));
        if (!find(address, last_) || !within(last_) ||
            !reaches(device_, last_.kind, last_.device, has_own_access(last_))) {
            last_ = {};
            throw std::runtime_error(text);
        }
    }
    return last_.memory + (address - last_.address);
}

// Queues --------------------------------------------------------------

Queue::Queue(unsigned workers) {
    for (unsigned i = 0; i < workers; ++i) workers_.emplace_back([this] { serve(); });
}

Queue::~Queue() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    for (std::thread &worker : workers_) worker.join();
}

void Queue::add(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(work));
    }
    changed_.notify_all();
}

void Queue::drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && busy_ == 0; });
}

void Queue::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        std::function<void()> work = std::move(waiting_.front());
        waiting_.pop_front();
        ++busy_;
        lock.unlock();
        pass_gate();
        work();
        work = nullptr; // what it keeps goes before anyone is told
        lock.lock();
        --busy_;
        changed_.notify_all();
    }
}

void Stream::fail(const std::string &why) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
}

std::string Stream::failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
}

} // namespace mock
