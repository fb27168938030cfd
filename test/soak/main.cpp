// Mixed calls for as long as it is told: types made, used in all ways and freed in any order, by
// several threads, with requests outstanding. Each result is checked, memory is sampled, and the
// run fails if memory grows.
//
//   soak --minutes 60 --memory host|NAME|NAME:0 --threads 2 --seed 1 --csv FILE --limit-bytes N
//
// --first-thread N runs what thread N of a run of more threads does, by itself.
// NAME is the backend that the program was linked with: hostgpu, cuda or hip. With --limit-bytes,
// the process may have so much address space only.
#include "memory_use.hpp"
#include "worker.hpp"

#include "support/fake_device/fake_driver.h"
#include "support/test_start.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <execinfo.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int patience = 60; // seconds

struct Options {
    double minutes = 1;
    bool on_devices = false;
    unsigned threads = 2, first = 0;
    std::uint64_t seed = 1, limit_bytes = 0, steps = 0;
    std::string csv;
};

[[noreturn]] void wrong(const char *what) {
    std::fprintf(stderr,
                 "soak: %s\nusage: soak [--minutes N | --steps N] [--memory host|%s] [--threads N] "
                 "[--first-thread N] [--seed N] [--csv FILE] "
                 "[--limit-bytes N]\n",
                 what, mock::backend.name);
    std::exit(2);
}

Options read_options(int argc, char **argv) {
    Options o;
    for (int i = 1; i < argc; i += 2) {
        const std::string key = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        if (value.empty()) wrong("an option without a value");
        if (key == "--minutes")
            o.minutes = std::strtod(value.c_str(), nullptr);
        else if (key == "--steps")
            o.steps = std::strtoull(value.c_str(), nullptr, 10);
        else if (key == "--memory" && (value == "host" || value == mock::backend.name ||
                                       value == mock::backend.name + std::string(":0")))
            o.on_devices = value != "host";
        else if (key == "--threads")
            o.threads = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
        else if (key == "--first-thread")
            o.first = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
        else if (key == "--seed")
            o.seed = std::strtoull(value.c_str(), nullptr, 10);
        else if (key == "--limit-bytes")
            o.limit_bytes = std::strtoull(value.c_str(), nullptr, 10);
        else if (key == "--csv")
            o.csv = value;
        else
            wrong((key + " " + value).c_str());
    }
    if (o.threads == 0) wrong("--threads 0");
    return o;
}

struct Shared {
    std::vector<soak::Worker *> workers; // by thread
    std::atomic<bool> stop{false}, failed{false};
    std::atomic<std::uint64_t> steps{0};
    std::mutex printing;
};

void work(Shared &shared, const Options &o, unsigned number) {
    try {
        soak::Worker worker(o.seed * 1000 + o.first + number, o.on_devices);
        shared.workers[number] = &worker;
        while (!shared.stop && (o.steps == 0 || shared.steps < o.steps))
            shared.steps += worker.step();
    } catch (const std::exception &e) {
        const std::lock_guard lock(shared.printing);
        std::fprintf(stderr, "soak: thread %u of seed %llu: %s\n", number,
                     static_cast<unsigned long long>(o.seed), e.what());
        shared.failed = shared.stop = true;
    }
    shared.workers[number] = nullptr;
    shared.stop = shared.stop || o.steps > 0;
}

// Where a thread is that does not get on.
void print_stack(int) {
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

// A run that hangs says where, and ends.
[[noreturn]] void report_hang(const Shared &shared, std::vector<std::thread> &threads) {
    std::fprintf(stderr, "soak: no thread has ended a step for %d s\n", patience);
    std::signal(SIGUSR1, print_stack);
    for (std::size_t i = 0; i < threads.size(); ++i) {
        std::fprintf(stderr, "thread %zu: %s\n", i,
                     shared.workers[i] == nullptr ? "" : shared.workers[i]->doing().c_str());
        pthread_kill(threads[i].native_handle(), SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    std::_Exit(1);
}

void write_line(std::FILE *csv, const soak::MemoryUse &u) {
    if (csv == nullptr) return;
    std::fprintf(
        csv, "%.1f,%llu,%llu,%llu,%llu,%llu\n", u.seconds, static_cast<unsigned long long>(u.steps),
        static_cast<unsigned long long>(u.resident), static_cast<unsigned long long>(u.allocated),
        static_cast<unsigned long long>(u.allocations), static_cast<unsigned long long>(u.device));
    std::fflush(csv);
}

std::vector<soak::MemoryUse> sample_until_end(Shared &shared, const Options &o, std::FILE *csv,
                                              std::vector<std::thread> &threads) {
    const auto begun = Clock::now();
    const double seconds = o.minutes * 60, interval = std::min(5.0, seconds / 40);
    std::vector<soak::MemoryUse> samples;
    while (!shared.stop) {
        std::this_thread::sleep_for(std::chrono::duration<double>(interval));
        const double now = std::chrono::duration<double>(Clock::now() - begun).count();
        samples.push_back(soak::memory_use(now, shared.steps));
        write_line(csv, samples.back());
        const auto since =
            std::ranges::lower_bound(samples, samples.back().steps, {}, &soak::MemoryUse::steps);
        if (now - since->seconds > patience) report_hang(shared, threads);
        if (o.steps == 0 && now >= seconds) shared.stop = true;
    }
    return samples;
}

// Of each kind of memory, what may be more in a quarter without a reason to worry: what allocators
// keep, and what the random types of that time happen to need.
bool judge(const std::vector<soak::MemoryUse> &samples, unsigned threads) {
    struct Kind {
        const char *name;
        std::uint64_t soak::MemoryUse::*member;
        std::uint64_t slack;
    };
    constexpr std::uint64_t mib = 1 << 20;
    const Kind kinds[] = {{"resident bytes", &soak::MemoryUse::resident, 16 * mib},
                          {"bytes of malloc", &soak::MemoryUse::allocated, 8 * mib},
                          {"allocations", &soak::MemoryUse::allocations, 1000 * threads},
                          {"device memory", &soak::MemoryUse::device,
                           mock::backend.name == std::string("hostgpu") ? 64 : 16 * mib}};
    bool grew = false;
    for (const Kind &k : kinds) {
        std::vector<std::uint64_t> values;
        for (const soak::MemoryUse &u : samples) values.push_back(u.*k.member);
        const bool grows = samples.size() >= 16 && soak::has_grown(values, k.slack);
        std::printf("%s: medians of the quarters %llu, %llu, %llu, %llu%s\n", k.name,
                    static_cast<unsigned long long>(soak::median_of_quarter(values, 0)),
                    static_cast<unsigned long long>(soak::median_of_quarter(values, 1)),
                    static_cast<unsigned long long>(soak::median_of_quarter(values, 2)),
                    static_cast<unsigned long long>(soak::median_of_quarter(values, 3)),
                    grows ? ": it grows" : "");
        grew = grew || grows;
    }
    return !grew;
}

} // namespace

int main(int argc, char **argv) {
    const Options o = read_options(argc, argv);
    if (o.limit_bytes != 0) {
        const rlimit limit{o.limit_bytes, o.limit_bytes};
        if (setrlimit(RLIMIT_AS, &limit) != 0) wrong("--limit-bytes cannot be set");
    }
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) wrong(ucd_last_error());
    if (!ucdtest::tests_can_fail()) return 2;
    std::FILE *const csv = o.csv.empty() ? nullptr : std::fopen(o.csv.c_str(), "w");
    if (!o.csv.empty() && csv == nullptr) wrong("--csv cannot be written");
    if (csv != nullptr) std::fputs("seconds,steps,resident,allocated,allocations,device\n", csv);
    Shared shared;
    shared.workers.resize(o.threads);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < o.threads; ++i)
        threads.emplace_back([&shared, &o, i] { work(shared, o, i); });
    const std::vector<soak::MemoryUse> samples = sample_until_end(shared, o, csv, threads);
    for (std::thread &t : threads) t.join();
    if (csv != nullptr) std::fclose(csv);
    std::printf("seed %llu, %u threads, %s memory: %llu steps, all results right: %s\n",
                static_cast<unsigned long long>(o.seed), o.threads,
                o.on_devices ? mock::backend.name : "host",
                static_cast<unsigned long long>(shared.steps.load()), shared.failed ? "no" : "yes");
    const bool steady = judge(samples, o.threads);
    const bool ended = ucd_finalize() == UCD_SUCCESS;
    return !shared.failed && steady && ended ? 0 : 1;
}
