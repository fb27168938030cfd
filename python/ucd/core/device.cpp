#include "core/device.h"

#include "core/move.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace ucdpy {

namespace {

// Returns why a backend cannot be used. The text is empty if it can.
std::string reason_against(const std::string &backend) {
    int count = 0;
    check(ucd_backend_count(&count));
    // Backends behind the one that is asked for are not, since that initialises their drivers.
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t d{};
        d.struct_size = sizeof d;
        check(run(false, [&] { return ucd_backend_get(i, &d); }));
        if (backend == d.name) return d.available ? "" : d.reason;
    }
    return "libucd does not know it";
}

[[noreturn]] void refuse(const View &array, const char *what, const std::string &why) {
    const std::string sentence =
        std::string(what) + " is in device memory of " + array.backend + ", and " + why;
    raise_status(UCD_ERR__NOT_SUPPORTED, sentence.c_str());
}

void require_backend(const View &array, const char *what) {
    static std::atomic<bool> usable[2]; // cuda, hip: for good
    std::atomic<bool> &known = usable[std::strcmp(array.backend, "hip") == 0];
    if (known.load(std::memory_order_relaxed)) return;
    const std::string reason = reason_against(array.backend);
    if (!reason.empty()) refuse(array, what, "that backend cannot be used: " + reason);
    known.store(true, std::memory_order_relaxed);
}

// The hints of the environment. libucd reads them once, too.
std::string inbuf_of_environment, outbuf_of_environment;

// Returns the memory that a key of the info names for a buffer, or else the environment. The text
// is empty if neither names one.
std::string hinted(ucd_info_t info, const char *key, const std::string &of_environment) {
    char value[64] = "";
    uintptr_t needed = 0;
    check(ucd_info_get(info, key, value, sizeof value, &needed));
    return needed > 0 ? value : of_environment;
}

} // namespace

void read_environment() {
    const auto value_of = [](const char *variable) -> std::string {
        const char *const value = std::getenv(variable);
        return value ? value : "";
    };
    if (value_of("UCD_IGNORE_ENVIRONMENT") == "1") return;
    inbuf_of_environment = value_of("UCD_INBUF");
    outbuf_of_environment = value_of("UCD_OUTBUF");
}

std::string memory_of(const View &array) {
    const Typed whole = typed(array);
    char name[32];
    uintptr_t needed;
    check(ucd_get_memory(array.data, whole.count, whole.type, UCD_INFO__NULL, name, sizeof name,
                         &needed));
    return name;
}

std::vector<ucd_backend_desc_t> backend_list() {
    int count = 0;
    check(ucd_backend_count(&count));
    std::vector<ucd_backend_desc_t> list(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t &d = list[static_cast<std::size_t>(i)];
        d.struct_size = sizeof d;
        check(run(false, [&] { return ucd_backend_get(i, &d); }));
    }
    return list;
}

void require_device(const View &array, HintOf hint, ucd_info_t info, Notices notices,
                    const char *what) {
    if (!array.backend || array.size() == 0) return;
    require_backend(array, what);
    if (notices == Notices::yes) return;
    char found[32];
    uintptr_t needed;
    check(ucd_get_memory(array.data, 1, UCD_TYPE__BYTE, info, found, sizeof found, &needed));
    if (std::strcmp(found, "host") == 0)
        refuse(array, what,
               "libucd would take it for the host's: the driver does not know the address, or "
               "ucd.gpu is none");
    const char *const device = std::strchr(found, ':');
    if (hint == HintOf::none || !device) return; // the host reads managed and pinned memory
    const bool in = hint == HintOf::inbuf;
    const char *const key = in ? "ucd.inbuf" : "ucd.outbuf";
    const std::string said = hinted(info, key, in ? inbuf_of_environment : outbuf_of_environment);
    if (!said.empty() && !said.starts_with(std::string_view(found, device + 1)))
        refuse(array, what, "the hint " + std::string(key) + " is " + said);
}

void require_device(const IndexLists &indices, ucd_info_t info, Notices notices) {
    for (const auto &list : indices) require_device(*list, HintOf::none, info, notices, "indices");
}

} // namespace ucdpy
