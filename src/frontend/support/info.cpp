#include "support/info.h"

#include "environment.h"
#include "registry.h"

#include <algorithm>
#include <charconv>

namespace ucd {
namespace {

template <class Number>
bool parse(std::string_view text, Number &number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

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

} // namespace

bool parse_location(std::string_view text, LocationHint &hint) {
    if (text == "host" || text == "pinned" || text == "managed") {
        hint.kind = text == "host"     ? MemoryKind::host
                    : text == "pinned" ? MemoryKind::pinned
                                       : MemoryKind::managed;
        return true;
    }
    const std::size_t colon = text.find(':');
    const std::string_view backend = text.substr(0, colon);
    // The first backend is for host memory and has no devices.
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

// A key, the environment variable for it, the rule for its values and the function that sets it.
struct Key {
    const char *name, *variable, *rule;
    bool (*set)(Info &, std::string_view);
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
constexpr Key keys[] = {
    {"ucd.backends", "UCD_BACKENDS", "it must be a comma-separated list of backend names",
     set_member<&Info::backends, parse_backends>},
    {"ucd.gpu", "UCD_GPU", "it must be none", set_member<&Info::host_only, parse_gpu>},
    {"ucd.inbuf", "UCD_INBUF", location_rule, set_member<&Info::inbuf, parse_location>},
    {"ucd.outbuf", "UCD_OUTBUF", location_rule, set_member<&Info::outbuf, parse_location>},
    {"ucd.peers", "UCD_PEERS", "it must be auto or none", set_member<&Info::peers, parse_peers>},
    {"ucd.engine", "UCD_ENGINE", "it must be auto, kernel or dma",
     set_member<&Info::engine, parse_engine>},
    {"ucd.max_blocks", "UCD_MAX_BLOCKS", "it must be a number in 1 .. 4294967295",
     set_member<&Info::max_blocks, parse_positive>},
    {"ucd.threads", "UCD_THREADS", "it must be a number in 1 .. 4294967295",
     set_member<&Info::threads, parse_positive>},
    {"ucd.list_memory", "UCD_LIST_MEMORY", "it must be a number of bytes",
     set_member<&Info::list_memory, parse<uint64_t>>},
    {"ucd.ze.context", "UCD_ZE_CONTEXT", "it must be a ze_context_handle_t as a decimal number",
     set_member<&Info::ze_context, parse_address>},
};

Status set(Info &info, const Key &key, const char *called, std::string_view value) {
    if (key.set(info, value)) return success;
    return fail(UCD_ERR__INVALID_ARG, "%s is \"%.*s\"; %s", called,
                static_cast<int>(std::min<std::size_t>(value.size(), 100)), value.data(), key.rule);
}

} // namespace

Status set_hint(Info &info, std::string_view name, std::string_view value) {
    for (const Key &key : keys)
        if (name == key.name) return set(info, key, key.name, value);
    return success;
}

namespace {

// The place of a key's text, or the place to insert it at.
auto place_of(const Info &info, std::string_view key) {
    return std::lower_bound(info.texts.begin(), info.texts.end(), key,
                            [](const auto &text, std::string_view k) { return text.first < k; });
}

} // namespace

const std::string *find_text(const Info &info, std::string_view key) {
    const auto place = place_of(info, key);
    return place != info.texts.end() && place->first == key ? &place->second : nullptr;
}

Status set_text(Info &info, std::string_view key, std::string_view value) {
    // Allocates first, so that hint and text are either both set or both unchanged.
    std::string text(value);
    auto *old = const_cast<std::string *>(find_text(info, key));
    if (old == nullptr) {
        std::string name(key);
        info.texts.reserve(info.texts.size() + 1);
        UCD_TRY(set_hint(info, key, value));
        info.texts.emplace(place_of(info, key), std::move(name), std::move(text));
        return success;
    }
    UCD_TRY(set_hint(info, key, value));
    *old = std::move(text);
    return success;
}

Status hints_from_environment(Info &info) {
    for (const Key &key : keys)
        if (const char *value = environment_variable(key.variable))
            UCD_TRY(set(info, key, key.variable, value));
    return success;
}

} // namespace ucd
