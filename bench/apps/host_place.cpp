#include "apps/place.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace bench::apps {
namespace {

class BusyThreads : public BusyLoad {
public:
    explicit BusyThreads(double share) {
        const double threads = share * std::thread::hardware_concurrency();
        for (int i = 0; i < std::max(1, static_cast<int>(threads)); ++i)
            threads_.emplace_back([this] {
                while (!stop_) rounds_.fetch_add(1, std::memory_order_relaxed);
            });
        while (rounds_ == 0) std::this_thread::yield();
    }
    ~BusyThreads() override {
        stop_ = true;
        for (std::thread &thread : threads_) thread.join();
    }
    std::uint64_t done() const override { return rounds_; }

private:
    std::atomic<bool> stop_ = false;
    std::atomic<std::uint64_t> rounds_ = 0;
    std::vector<std::thread> threads_;
};

class HostPlace : public Place {
public:
    bool on_device() const override { return false; }
    std::string name() const override { return "host memory"; }
    char *allocate(std::size_t bytes) override {
        constexpr std::size_t page = 4096;
        void *memory = std::aligned_alloc(page, std::max(page, (bytes + page - 1) / page * page));
        if (memory == nullptr) throw std::bad_alloc();
        return static_cast<char *>(memory);
    }
    void release(char *memory) override { std::free(memory); }
    char *allocate_on_host(std::size_t bytes) override { return allocate(bytes); }
    void release_on_host(char *memory) override { release(memory); }

    void copy(void *to, const void *from, std::size_t bytes) override {
        std::memcpy(to, from, bytes);
    }
    void set(char *memory, int value, std::size_t bytes) override {
        std::memset(memory, value, bytes);
    }
    std::size_t count_different(const char *a, const char *b, std::size_t bytes) override {
        std::size_t count = 0;
        for (std::size_t i = 0; i < bytes; ++i) count += a[i] != b[i];
        return count;
    }
    void start_copy(void *to, const void *from, std::size_t bytes) override {
        copy(to, from, bytes);
    }
    void start_copy_2d(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                       std::size_t width, std::size_t rows) override {
        for (std::size_t row = 0; row < rows; ++row)
            std::memcpy(static_cast<char *>(to) + row * to_pitch,
                        static_cast<const char *>(from) + row * from_pitch, width);
    }
    void wait() override {}

    std::unique_ptr<BusyLoad> start_load(double share) override {
        return std::make_unique<BusyThreads>(share);
    }
};

} // namespace

std::unique_ptr<Place> host_place() {
    return std::make_unique<HostPlace>();
}

} // namespace bench::apps
