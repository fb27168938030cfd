#include "engine/ucx_version.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ucd_ucx {
namespace {

// Minor versions of UCX 1 with which all tests run: tools/run-tests and tools/release.
constexpr unsigned oldest_tested = 13, newest_tested = 22;

} // namespace

std::string warning_of(const UcxVersion &version) {
    const unsigned minor = version.minor;
    const bool same_major = version.major == 1;
    if (same_major && (minor == oldest_tested || minor == newest_tested)) return {};
    const bool is_between = same_major && minor > oldest_tested && minor < newest_tested;
    char text[200];
    std::snprintf(text, sizeof text,
                  "libucd-ucx was tested with UCX 1.%u and 1.%u, and not with %u.%u.%u, %s",
                  oldest_tested, newest_tested, version.major, minor, version.release,
                  is_between ? "which is between them and expected to work"
                             : "of which nothing is known");
    return text;
}

void log_untested_version() {
    const std::string warning = warning_of(ucx_version());
    const char *level = secure_getenv("UCD_LOG_LEVEL"); // libucd has checked the value
    if (!warning.empty() && level != nullptr && std::string_view(level) != "off")
        std::fprintf(stderr, "ucd: %s\n", warning.c_str());
}

} // namespace ucd_ucx
