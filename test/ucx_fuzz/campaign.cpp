#include "campaign.hpp"

#include "live_bytes.hpp"
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <new>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ucdfuzz {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
    return std::chrono::duration<double>(Clock::now() - began).count();
}

// That of libucd's calls.
class Session {
public:
    Session() {
        if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) found_fatal("setup", ucd_last_error());
    }
    ~Session() { (void)ucd_finalize(); }
};

bool is_over(const Campaign &c, const Tally &tally, Clock::time_point began) {
    const std::uint64_t worlds =
        c.worlds == 0 && c.messages == 0 && c.seconds == 0 ? 100 : c.worlds;
    return (worlds > 0 && tally.worlds >= worlds) ||
           (c.messages > 0 && tally.messages >= c.messages) ||
           (c.seconds > 0 && seconds_since(began) >= static_cast<double>(c.seconds));
}

// Looks at what is in use when UCX's context has ended: it keeps something of each endpoint until
// then.
class Growth {
public:
    void look(std::uint64_t worlds) {
        const std::size_t now = live_bytes();
        if (first_ == 0) first_ = now;
        if (now > first_ + tolerated)
            found(finding::growing, std::to_string(first_) + " bytes were in use at first, and " +
                                        std::to_string(now) + " after " + std::to_string(worlds) +
                                        " worlds");
    }

private:
    static constexpr std::size_t tolerated = 1 << 20;
    std::size_t first_ = 0;
};

constexpr int worlds_of_a_context = 500;

void run_worlds(const Campaign &c, Tally &tally, Clock::time_point began) {
    watch();
    const Session session;
    const Samples samples;
    Growth growth;
    while (!is_over(c, tally, began)) {
        auto net = std::make_unique<Net>();
        for (int i = 0; i < worlds_of_a_context && !is_over(c, tally, began); ++i) {
            const std::uint64_t seed =
                c.replays ? c.replay : ucdtest::mix_seed(c.seed, tally.worlds);
            ++tally.worlds;
            begin_world(tally, seed, c.options);
            World world(*net, samples, c.plan, seed);
            const Counts counts = world.run();
            tally.messages += counts.messages;
            tally.bytes += counts.bytes;
            if (c.replays) return;
        }
        net.reset();
        growth.look(tally.worlds);
    }
}

void print_tally(const Tally &tally, Clock::time_point began) {
    const double seconds = seconds_since(began);
    std::printf("%llu worlds, %llu hostile messages of %llu bytes in %.1f s: %.0f a second\n",
                static_cast<unsigned long long>(tally.worlds),
                static_cast<unsigned long long>(tally.messages),
                static_cast<unsigned long long>(tally.bytes), seconds,
                static_cast<double>(tally.messages) / seconds);
}

// Findings by kind.
class Findings {
public:
    Findings(const Campaign &campaign, const Tally &tally, Clock::time_point began)
        : campaign_(campaign), tally_(tally), began_(began) {
        std::istringstream kinds(campaign.until);
        for (std::string kind; std::getline(kinds, kind, ',');) awaited_.push_back(kind);
    }

    void add(const std::string &kind, std::uint64_t world, const std::string &details) {
        if (++counts_[kind] > 1) return;
        std::printf("found %s after %.1f s, %llu messages: --replay %llu%s: %s\n", kind.c_str(),
                    seconds_since(began_), static_cast<unsigned long long>(tally_.messages),
                    static_cast<unsigned long long>(world), campaign_.options.c_str(),
                    details.c_str());
        std::fflush(stdout);
    }
    bool are_all() const {
        return !awaited_.empty() &&
               std::all_of(awaited_.begin(), awaited_.end(),
                           [this](const std::string &kind) { return counts_.contains(kind); });
    }
    void print() const {
        for (const auto &[kind, count] : counts_) std::printf("%s: %llu\n", kind.c_str(), count);
    }
    bool any() const { return !counts_.empty(); }

private:
    const Campaign &campaign_;
    const Tally &tally_;
    const Clock::time_point began_;
    std::vector<std::string> awaited_;
    std::map<std::string, unsigned long long> counts_;
};

// What a process that has crashed says of it: the kind, and where.
std::pair<std::string, std::string> read_crash(std::FILE *errors, int status) {
    std::string kind = "crash", place;
    char line[1000];
    for (int frames = 0; std::fgets(line, sizeof line, errors) != nullptr;) {
        const std::string text = line;
        const auto asan = text.find("AddressSanitizer: ");
        if (asan != std::string::npos && kind == "crash")
            kind = text.substr(asan + 18, text.find_first_of(" (\n", asan + 18) - asan - 18);
        if (text.find("runtime error: ") != std::string::npos && kind == "crash") {
            kind = "undefined-behaviour";
            place = text.substr(0, text.size() - 1);
        }
        if (text.find("ERROR: hang") != std::string::npos) kind = "hang";
        const auto in = text.find(" in ");
        if (in == std::string::npos || text.find("    #") != 0 || frames >= 4) continue;
        if (text.find("ucd") == std::string::npos && text.find("Ucd") == std::string::npos)
            continue;
        ++frames;
        place += (place.empty() ? "" : " < ") +
                 text.substr(in + 4, text.find_first_of("(\n", in) - in - 4);
    }
    if (kind == "crash") place = "wait status " + std::to_string(status);
    return {kind, place};
}

// One process; until it ends, or all is found.
void run_child(const Campaign &c, Tally &tally, Clock::time_point began, Findings &findings) {
    int ends[2];
    std::FILE *errors = std::tmpfile();
    if (errors == nullptr || pipe(ends) != 0) std::abort();
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        dup2(fileno(errors), STDERR_FILENO);
        report_to(ends[1]);
        run_worlds(c, tally, began);
        std::_Exit(0);
    }
    close(ends[1]);
    std::FILE *lines = fdopen(ends[0], "r");
    char line[1000];
    while (std::fgets(line, sizeof line, lines) != nullptr) {
        std::istringstream text(line);
        std::string kind, details;
        std::uint64_t world = 0;
        text >> kind >> world;
        std::getline(text, details);
        findings.add(kind, world, details);
        if (findings.are_all()) kill(child, SIGKILL);
    }
    std::fclose(lines);
    int status = 0;
    waitpid(child, &status, 0);
    const bool was_fatal = WIFEXITED(status) && WEXITSTATUS(status) == 1;
    std::rewind(errors);
    const auto [kind, place] = read_crash(errors, status);
    if (status != 0 && !findings.are_all() && !(was_fatal && kind == "crash"))
        findings.add(kind, tally.world_seed, place);
    std::fclose(errors);
}

int keep_going(const Campaign &c, Tally &tally, Clock::time_point began) {
    Findings findings(c, tally, began);
    while (!is_over(c, tally, began) && !findings.are_all()) run_child(c, tally, began, findings);
    findings.print();
    return findings.any();
}

} // namespace

int run(const Campaign &campaign) {
    const Clock::time_point began = Clock::now();
    void *shared =
        mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    auto &tally = *new (shared) Tally;
    std::printf("seed %llu%s\n", static_cast<unsigned long long>(campaign.seed),
                campaign.options.c_str());
    std::fflush(stdout);
    int status = 0;
    if (campaign.keep_going)
        status = keep_going(campaign, tally, began);
    else
        run_worlds(campaign, tally, began);
    print_tally(tally, began);
    return status;
}

} // namespace ucdfuzz
