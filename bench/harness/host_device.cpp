#include "harness/content.hpp"
#include "harness/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace bench {
namespace {

class BusyThreads final : public Load {
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

// The content of eight bytes, which are compared or written at once.
class ContentWord {
public:
    static constexpr std::size_t bytes = 8;
    explicit ContentWord(std::size_t at) {
        const std::uint64_t word = mixed(at / bytes);
        for (std::size_t i = 0; i < bytes; ++i) byte[i] = static_cast<char>(content_of(word, i));
    }
    char byte[bytes];
};

// Calls visit(bytes, at, how many) for words with bytes that are not blank. Most memory is blank.
template <class Visit>
void each_filled_word(const char *memory, std::size_t bytes, Visit visit) {
    constexpr std::uint64_t all_blank = 0x0101010101010101u * blank;
    for (std::size_t at = 0; at < bytes; at += ContentWord::bytes) {
        const std::size_t here = std::min(ContentWord::bytes, bytes - at);
        std::uint64_t word = 0;
        std::memcpy(&word, memory + at, here);
        if (word != all_blank) visit(memory + at, at, here);
    }
}

class HostDevice final : public Device {
public:
    bool is_gpu() const override { return false; }
    std::string name() const override { return "host memory"; }
    std::string hint(MemoryKind) const override { return "host"; }

    char *allocate(MemoryKind, std::size_t bytes) override {
        constexpr std::size_t page = 4096;
        void *memory = std::aligned_alloc(page, std::max(page, (bytes + page - 1) / page * page));
        if (memory == nullptr) throw std::bad_alloc();
        return static_cast<char *>(memory);
    }
    void release(MemoryKind, char *memory) override { std::free(memory); }

    void set(char *memory, int value, std::size_t bytes) override {
        std::memset(memory, value, bytes);
    }
    void fill(char *memory, std::size_t bytes) override {
        for (std::size_t at = 0; at < bytes; at += ContentWord::bytes)
            std::memcpy(memory + at, ContentWord(at).byte,
                        std::min(ContentWord::bytes, bytes - at));
    }
    std::size_t count_different(const char *a, const char *b, std::size_t bytes) override {
        if (std::memcmp(a, b, bytes) == 0) return 0;
        std::size_t count = 0;
        for (std::size_t i = 0; i < bytes; ++i) count += a[i] != b[i];
        return count;
    }
    std::size_t count_filled(const char *memory, std::size_t bytes) override {
        std::size_t count = 0;
        each_filled_word(memory, bytes, [&](const char *word, std::size_t, std::size_t here) {
            for (std::size_t i = 0; i < here; ++i) count += word[i] != static_cast<char>(blank);
        });
        return count;
    }
    std::size_t count_foreign(const char *memory, std::size_t bytes) override {
        std::size_t count = 0;
        each_filled_word(memory, bytes, [&](const char *word, std::size_t at, std::size_t here) {
            const ContentWord expected(at);
            for (std::size_t i = 0; i < here; ++i)
                count += word[i] != static_cast<char>(blank) && word[i] != expected.byte[i];
        });
        return count;
    }

    void start_copy(void *to, const void *from, std::size_t bytes) override {
        std::memcpy(to, from, bytes);
    }
    void start_boxes(const Boxes &b, char *typed, char *packed, bool pack) override {
        const auto row = static_cast<std::size_t>(b.box.block);
        for (std::int64_t i = 0; i < b.boxes.count; ++i)
            for (std::int64_t plane = 0; plane < b.box.levels[0].count; ++plane)
                for (std::int64_t r = 0; r < b.box.levels[1].count; ++r, packed += row) {
                    char *const at = typed + i * b.boxes.stride + plane * b.box.levels[0].stride +
                                     r * b.box.levels[1].stride;
                    pack ? std::memcpy(packed, at, row) : std::memcpy(at, packed, row);
                }
    }
    void wait() override {}

    std::unique_ptr<Load> start_load(double share) override {
        return std::make_unique<BusyThreads>(share);
    }
};

} // namespace

std::unique_ptr<Device> open_host() {
    return std::make_unique<HostDevice>();
}

} // namespace bench
