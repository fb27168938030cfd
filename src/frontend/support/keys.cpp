#include "support/keys.h"

#include "edit_distance.h"
#include "environment.h"
#include "registry.h"
#include "support/log.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace ucd {
namespace {

template <class Number>
bool parse(std::string_view text, Number &number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

// Finds the known name with the smallest edit distance.
struct Nearest {
    std::string_view name; // NUL-terminated
    std::size_t changes = SIZE_MAX;

    void consider(std::string_view given, std::string_view known) {
        const std::size_t n = ucd_base::edit_distance(given, known);
        if (n < changes) *this = {known, n};
    }
};

constexpr std::size_t max_quoted = 100; // characters; known names are much shorter

bool known_backend(std::string_view name) {
    const auto entries = registry();
    return std::any_of(entries.begin(), entries.end(),
                       [&](const RegistryEntry &e) { return name == e.name; });
}

bool parse_backends(std::string_view text, std::vector<std::string> &names) {
    for (;;) {
        const std::size_t comma = text.find(',');
        const std::string_view name = text.substr(0, comma);
        if (!known_backend(name)) return false;
        names.emplace_back(name);
        if (comma == std::string_view::npos) return true;
        text.remove_prefix(comma + 1);
    }
}

Nearest nearest_of(std::span<const RegistryEntry> backends, std::string_view name) {
    Nearest nearest;
    for (const RegistryEntry &e : backends) nearest.consider(name.substr(0, max_quoted), e.name);
    return nearest;
}

// For a value that is refused: the name that is nearest to what names no backend in it, or null.
const char *nearest_in_list(std::string_view text) {
    for (std::size_t comma = 0; comma != std::string_view::npos; text.remove_prefix(comma + 1)) {
        comma = text.find(',');
        const std::string_view name = text.substr(0, comma);
        if (!known_backend(name)) return name.empty() ? nullptr : nearest_backend(name);
        if (comma == std::string_view::npos) break;
    }
    return nullptr;
}
const char *nearest_location(std::string_view text) {
    const std::string_view name = text.substr(0, std::min(text.find(':'), max_quoted));
    if (name.empty() || known_backend(name)) return nullptr;
    Nearest nearest = nearest_of(registry().subspan(1), name); // not the host
    for (const char *kind : {"host", "pinned", "managed"}) nearest.consider(name, kind);
    return nearest.name.data();
}

} // namespace

const char *nearest_backend(std::string_view name) {
    return nearest_of(registry(), name).name.data();
}

bool parse_location(std::string_view text, LocationHint &hint) {
    static std::atomic<uint64_t> last_number{0};
    hint.number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
    if (text == "host" || text == "pinned" || text == "managed") {
        hint.kind = text == "host"     ? MemoryKind::host
                    : text == "pinned" ? MemoryKind::pinned
                                       : MemoryKind::managed;
        return true;
    }
    const std::size_t colon = text.find(':');
    const std::string_view backend = text.substr(0, colon);
    // The first backend is the host's, which has no devices.
    if (colon == std::string_view::npos || !known_backend(backend) ||
        backend == registry().front().name)
        return false;
    hint.kind = MemoryKind::device;
    hint.backend = backend;
    return parse(text.substr(colon + 1), hint.device) && hint.device >= 0;
}

namespace {

bool parse_engine(std::string_view text, Engine &engine) {
    if (text != "auto" && text != "kernel" && text != "dma") return false;
    engine = text == "auto" ? Engine::automatic : text == "kernel" ? Engine::kernel : Engine::dma;
    return true;
}

bool parse_positive(std::string_view text, uint32_t &number) {
    return parse(text, number) && number > 0;
}

// A key: how its value is parsed into its member, and what a value must be.
struct Key {
    const char *name, *variable; // null if there is none
    const char *rule;
    bool (*set)(Info &, std::string_view);
    const char *(*nearest)(std::string_view) = nullptr;
};

template <auto Member, auto Parse>
bool set_member(Info &info, std::string_view text) {
    typename std::decay_t<decltype(info.*Member)>::value_type value{};
    if (!Parse(text, value)) return false;
    info.*Member = std::move(value);
    return true;
}

bool parse_gpu(std::string_view text, bool &host_only) {
    return host_only = text == "none";
}
bool parse_check(std::string_view text, bool &checks) {
    checks = text == "handles";
    return checks || text == "none";
}
bool parse_environment(std::string_view text, bool &reads) {
    reads = text == "yes";
    return reads || text == "no";
}
bool parse_peers(std::string_view text, bool &peers) {
    peers = text == "auto";
    return peers || text == "none";
}
bool parse_address(std::string_view text, uint64_t &address) {
    return parse(text, address);
}

constexpr const char *location_rule =
    "it must be host, pinned, managed or a backend's name, a colon and "
    "a device number";
// All keys of libucd. test/keys_test.py reads this list and the three below.
constexpr Key keys[] = {
    {"ucd.backends", "UCD_BACKENDS", "it must be a comma-separated list of backend names",
     set_member<&Info::backends, parse_backends>, nearest_in_list},
    {"ucd.gpu", "UCD_GPU", "it must be none", set_member<&Info::host_only, parse_gpu>},
    {"ucd.inbuf", "UCD_INBUF", location_rule, set_member<&Info::inbuf, parse_location>,
     nearest_location},
    {"ucd.outbuf", "UCD_OUTBUF", location_rule, set_member<&Info::outbuf, parse_location>,
     nearest_location},
    {"ucd.peers", "UCD_PEERS", "it must be auto or none", set_member<&Info::peers, parse_peers>},
    {"ucd.engine", "UCD_ENGINE", "it must be auto, kernel or dma",
     set_member<&Info::engine, parse_engine>},
    {"ucd.max_blocks", "UCD_MAX_BLOCKS", "it must be a number in 1 .. 4294967295",
     set_member<&Info::max_blocks, parse_positive>},
    {"ucd.threads", "UCD_THREADS", "it must be a number in 1 .. 4294967295",
     set_member<&Info::threads, parse_positive>},
    {"ucd.list_memory", "UCD_LIST_MEMORY", "it must be a number of bytes",
     set_member<&Info::list_memory, parse<uint64_t>>},
    {"ucd.check", "UCD_CHECK", "it must be handles or none",
     set_member<&Info::checks_handles, parse_check>},
    {"ucd.environment", nullptr, "it must be yes or no",
     set_member<&Info::reads_environment, parse_environment>},
    {"ucd.ze.context", "UCD_ZE_CONTEXT", "it must be a ze_context_handle_t as a decimal number",
     set_member<&Info::ze_context, parse_address>},
};

// The prefixes of keys of libraries over libucd, which check these keys where they use them.
constexpr std::string_view key_families[] = {"ucd.mpi.", "ucd.ucx."};

// Variables of libucd and libucd-mpi-preload that do not correspond to a key.
constexpr std::string_view other_variables[] = {
    "UCD_IGNORE_ENVIRONMENT", "UCD_LOG_LEVEL",   "UCD_MPI",       "UCD_MPI_ALWAYS",
    "UCD_MPI_GPU_AWARE",      "UCD_MPI_GPU_WAY", "UCD_MPI_STATS", "UCD_PLUGIN_PATH",
};

// The prefixes of variables that are read only by tests and by their replacements for drivers.
constexpr std::string_view test_variables[] = {
    "UCD_REQUIRE_BACKEND", "UCD_SOURCE", "UCD_STAND_IN", "UCD_TEST_", "UCD_ZE_DRIVER_",
};

template <std::size_t N>
bool begins_with_one_of(std::string_view name, const std::string_view (&prefixes)[N]) {
    return std::any_of(std::begin(prefixes), std::end(prefixes),
                       [name](std::string_view prefix) { return name.starts_with(prefix); });
}

Status fail_unknown_key(std::string_view key) {
    const std::string_view given = key.substr(0, max_quoted);
    Nearest nearest;
    for (const Key &known : keys) nearest.consider(given, known.name);
    // Only the prefix of a family is known here, which ends with the second dot.
    const std::size_t dot = given.find('.', given.find('.') + 1);
    if (dot != std::string_view::npos)
        for (const std::string_view family : key_families)
            nearest.consider(given.substr(0, dot + 1), family);
    return fail(
        UCD_ERR__INVALID_ARG,
        "key is \"%.*s\"; it must be a known key if it begins with ucd.; the nearest is %s%s",
        static_cast<int>(given.size()), given.data(), nearest.name.data(),
        nearest.name.ends_with('.') ? "*" : "");
}

bool is_known_variable(std::string_view name) {
    const auto is_of = [name](const Key &key) {
        return key.variable != nullptr && name == key.variable;
    };
    return std::any_of(std::begin(keys), std::end(keys), is_of) ||
           std::find(std::begin(other_variables), std::end(other_variables), name) !=
               std::end(other_variables) ||
           begins_with_one_of(name, test_variables);
}

Status set(Info &info, const Key &key, const char *called, std::string_view value) {
    if (key.set(info, value)) return success;
    const char *const nearest = key.nearest == nullptr ? nullptr : key.nearest(value);
    return fail(UCD_ERR__INVALID_ARG, "%s is \"%.*s\"; %s%s%s", called,
                static_cast<int>(std::min(value.size(), max_quoted)), value.data(), key.rule,
                nearest == nullptr ? "" : "; the nearest is ", nearest == nullptr ? "" : nearest);
}

} // namespace

Status set_hint(Info &info, std::string_view name, std::string_view value) {
    for (const Key &key : keys)
        if (name == key.name) {
            const Status status = set(info, key, key.name, value);
            const auto is_host = [](const std::optional<LocationHint> &hint) {
                return hint && hint->kind == MemoryKind::host;
            };
            info.names_host_only = is_host(info.inbuf) && is_host(info.outbuf) && !info.threads;
            return status;
        }
    if (!name.starts_with("ucd.") || begins_with_one_of(name, key_families)) return success;
    return fail_unknown_key(name);
}

namespace {

// Whether a line about this variable is to be logged: once in a process.
bool is_first_line_about(std::string_view variable) {
    static std::vector<std::string> logged;
    if (std::find(logged.begin(), logged.end(), variable) != logged.end()) return false;
    logged.emplace_back(variable);
    return true;
}

void log_unknown_variables() {
    for (char *const *entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string name(text.substr(0, text.find('=')));
        if (!name.starts_with("UCD_") || is_known_variable(name)) continue;
        if (environment_variable(name.c_str()) == nullptr) continue; // setuid programs read none
        if (!is_first_line_about(name)) continue;
        const std::string_view given = std::string_view(name).substr(0, max_quoted);
        Nearest nearest;
        for (const Key &key : keys)
            if (key.variable != nullptr) nearest.consider(given, key.variable);
        for (const std::string_view known : other_variables) nearest.consider(given, known);
        log_line("the environment variable %.*s is unknown; the nearest is %s",
                 static_cast<int>(given.size()), given.data(), nearest.name.data());
    }
}

// Sets why the variables of keys are not read, or null.
Status find_why_ignored(const Info *info, const char *&why) {
    constexpr const char *variable = "UCD_IGNORE_ENVIRONMENT";
    const char *const value = environment_variable(variable);
    const std::string_view text = value == nullptr ? "0" : value;
    if (text != "0" && text != "1")
        return fail(UCD_ERR__INVALID_ARG, "%s is \"%.40s\"; it must be 0 or 1", variable, value);
    why = info != nullptr && !info->reads_environment.value_or(true) ? "ucd.environment is no"
          : text == "1"                                              ? "UCD_IGNORE_ENVIRONMENT is 1"
                                                                     : nullptr;
    return success;
}

} // namespace

Status read_environment(const Info *info, Info &environment) {
    if (logs(LogLevel::error)) log_unknown_variables();
    const char *ignored = nullptr;
    UCD_TRY(find_why_ignored(info, ignored));
    for (const Key &key : keys) {
        const char *const value =
            key.variable == nullptr ? nullptr : environment_variable(key.variable);
        if (value == nullptr) continue;
        if (ignored == nullptr)
            UCD_TRY(set(environment, key, key.variable, value));
        else if (logs(LogLevel::error) && is_first_line_about(key.variable))
            log_line("the environment variable %s has no effect, because %s", key.variable,
                     ignored);
    }
    return success;
}

} // namespace ucd
