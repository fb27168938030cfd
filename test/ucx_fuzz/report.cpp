#include "report.hpp"

#include "contents.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <unistd.h>

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace ucdfuzz {
namespace {

constexpr unsigned seconds_of_a_world = 120;

int findings = -1;
std::uint64_t current = 0, index_of_current = 0;
std::string options_of_current;
std::set<std::string> found_in_this_world;

void print_replay() {
    // What UCX keeps is the same only if the worlds before are run, too.
    std::fprintf(stderr, "%s--replay %llu%s, world %llu\n", replay_mark,
                 static_cast<unsigned long long>(current), options_of_current.c_str(),
                 static_cast<unsigned long long>(index_of_current));
}

void on_time(int) {
    static const char text[] = "ERROR: hang: a world does not end\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    print_replay();
    std::abort();
}

} // namespace

void report_to(int descriptor) {
    findings = descriptor;
}

void begin_world(Tally &tally, std::uint64_t seed, const std::string &options) {
    tally.world_seed = current = seed;
    index_of_current = tally.worlds;
    options_of_current = options;
    found_in_this_world.clear();
    alarm(seconds_of_a_world);
}

void watch() {
    if (&__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print_replay);
    std::signal(SIGALRM, on_time);
}

void found(const char *what, const std::string &details) {
    if (findings >= 0) {
        if (!found_in_this_world.insert(what).second) return;
        const std::string line =
            std::string(what) + " " + std::to_string(current) + " " + details + "\n";
        (void)!write(findings, line.data(), line.size());
        return;
    }
    std::fprintf(stderr, "ERROR: %s: %s\n", what, details.c_str());
    print_replay();
    std::_Exit(1);
}

void found_fatal(const char *what, const std::string &details) {
    found(what, details);
    std::_Exit(1);
}

} // namespace ucdfuzz
