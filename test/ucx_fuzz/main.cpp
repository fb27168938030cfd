// A model-based fuzzer of libucd-ucx's wire protocols. See docs/guide/security.md.
//
//   ucx_fuzz [--protocol pipeline|one-sided|both] [--wire 2|3] [--seed N]
//            [--runs WORLDS] [--messages N] [--seconds N] [--keep-going [--until KIND,...]]
//            [--mute]
//            [--replay WORLD]
//
// In one process: two honest peers, which are the library as programs use it, two hostile ones,
// which speak by UCP's calls alone, and endpoints that are lost and made again. A world is some
// hundred hostile messages; all that happens in it follows from its seed. The first finding ends
// the program and says how to see it again. With --keep-going a child process does the work,
// findings are counted by kind, and after a crash another goes on. With --mute hostile peers say
// nothing, and nothing may be found.
//
// A long run, for instance of 10^7 messages: ucx_fuzz --seed $RANDOM --messages 10000000

#include "campaign.hpp"
#include "report.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <unistd.h>

// Fresh memory is in nobody's alphabet, and freed memory neither.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
    return "malloc_fill_byte=190:max_malloc_fill_size=65536:free_fill_byte=221:"
           "max_free_fill_size=4096:allocator_may_return_null=1:detect_stack_use_after_return=0:"
           "quarantine_size_mb=32";
}
extern "C" const char *__ubsan_default_options();
extern "C" const char *__ubsan_default_options() {
    return "halt_on_error=1:print_stacktrace=1";
}

namespace {

using ucdfuzz::Campaign;

bool read(const char *text, std::uint64_t &number) {
    char *end;
    number = std::strtoull(text, &end, 0);
    return *text != '\0' && *end == '\0';
}

bool read_protocol(const std::string &text, ucdfuzz::Protocols &protocols) {
    protocols = {text != "one-sided", text != "pipeline"};
    return text == "both" || text == "pipeline" || text == "one-sided";
}

bool read_arguments(int argc, char **argv, Campaign &c) {
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--keep-going" || name == "--mute") {
            (name == "--mute" ? c.plan.mute : c.keep_going) = true;
            continue;
        }
        if (++i == argc) return false;
        std::uint64_t wire = 0;
        const bool good = name == "--seed"       ? read(argv[i], c.seed)
                          : name == "--runs"     ? read(argv[i], c.worlds)
                          : name == "--messages" ? read(argv[i], c.messages)
                          : name == "--seconds"  ? read(argv[i], c.seconds)
                          : name == "--replay"   ? (c.replays = read(argv[i], c.replay))
                          : name == "--until"    ? (c.until = argv[i], true)
                          : name == "--wire"     ? read(argv[i], wire)
                          : name == "--protocol" ? read_protocol(argv[i], c.plan.protocols)
                                                 : false;
        if (name == "--wire") c.plan.wire = static_cast<int>(wire);
        if (!good || c.plan.wire < 2 || c.plan.wire > 3) return false;
        if (name == "--wire" || name == "--protocol") c.options += " " + name + " " + argv[i];
    }
    return true;
}

} // namespace

int main(int argc, char **argv) {
    Campaign campaign;
    if (!read_arguments(argc, argv, campaign)) {
        std::fprintf(stderr,
                     "usage: ucx_fuzz [--protocol pipeline|one-sided|both] [--wire 2|3] [--seed N]"
                     " [--runs N] [--messages N] [--seconds N] [--keep-going [--until KIND,...]]"
                     " [--mute] [--replay WORLD]\n");
        return 2;
    }
    mallopt(M_PERTURB, 0xbe ^ 0xff);
    if (std::getenv("UCX_TLS") == nullptr) {
        // UCX reads them when it is loaded. Errors are what sanitizers handle.
        setenv("UCX_TLS", "sm,self", 1);
        setenv("UCX_LOG_LEVEL", "fatal", 0);
        setenv("UCX_HANDLE_ERRORS", "none", 0);
        setenv("UCX_ERROR_SIGNALS", "", 0);
        execv("/proc/self/exe", argv);
    }
    return ucdfuzz::run(campaign);
}
