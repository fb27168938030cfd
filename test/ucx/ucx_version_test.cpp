// What is said of versions of UCX with which libucd-ucx was not tested, and what is expected of
// each.

#include "engine/ucx_version.h"
#include "pipeline/routes.h"
#include "support/catch.hpp"
#include "ucx/pair.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <unistd.h>

// The version that UCD_TEST_PRETENDED_UCX says, if it says one; else UCX's own.
void ucp_get_version(unsigned *major, unsigned *minor, unsigned *release) {
    const char *pretended = std::getenv("UCD_TEST_PRETENDED_UCX");
    if (pretended != nullptr && std::sscanf(pretended, "%u.%u.%u", major, minor, release) == 3)
        return;
    using Function = void(unsigned *, unsigned *, unsigned *);
    reinterpret_cast<Function *>(dlsym(RTLD_NEXT, "ucp_get_version"))(major, minor, release);
}

namespace ucx_version_test {

using namespace ucdtest;
using namespace ucd_ucx;

namespace {

// The lines on the version that this program prints on standard error in the hidden test case
// below.
std::string logged_with(const std::string &variables) {
    std::array<char, 4096> text = {};
    REQUIRE(readlink("/proc/self/exe", text.data(), text.size() - 1) > 0);
    const std::string command = variables + " '" + text.data() +
                                "' '[opens_two]' 2>&1 >/dev/null | grep 'libucd-ucx was tested'";
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> out(popen(command.c_str(), "r"), pclose);
    REQUIRE(out != nullptr);
    return {text.data(), std::fread(text.data(), 1, text.size(), out.get())};
}

} // namespace

TEST_CASE("two objects over workers of one process", "[.][opens_two]") {
    const TwoSides sides;
    CHECK(sides.a.pipeline != sides.b.pipeline);
}

TEST_CASE("nothing is said of the versions of UCX that are tested, whatever their release") {
    for (const unsigned minor : {13U, 22U})
        for (const unsigned release : {0U, 1U, 9U}) CHECK(warning_of({1, minor, release}).empty());
}

TEST_CASE("versions between those that are tested are expected to work, and others are not") {
    const std::string tested = "libucd-ucx was tested with UCX 1.13 and 1.22, and not with ";
    CHECK(warning_of({1, 14, 0}) == tested + "1.14.0, which is between them and expected to work");
    CHECK(warning_of({1, 21, 7}) == tested + "1.21.7, which is between them and expected to work");
    for (const UcxVersion other : {UcxVersion{1, 12, 1}, {1, 23, 0}, {2, 15, 0}, {0, 15, 3}})
        CHECK(warning_of(other).ends_with(", of which nothing is known"));
}

TEST_CASE("a version of UCX that was not tested is logged once, where failures are") {
    const std::string line = "ucd: " + warning_of({1, 18, 1}) + "\n";
    for (const std::string level : {"error", "plan"})
        CHECK(logged_with("UCD_TEST_PRETENDED_UCX=1.18.1 UCD_LOG_LEVEL=" + level) == line);
    CHECK(logged_with("UCD_TEST_PRETENDED_UCX=1.18.1 UCD_LOG_LEVEL=off").empty());
    CHECK(logged_with("UCD_TEST_PRETENDED_UCX=1.18.1").empty());
    CHECK(logged_with("UCD_TEST_PRETENDED_UCX=1.22.3 UCD_LOG_LEVEL=error").empty());
}

// Over shared memory, as this program runs, and over TCP.
TEST_CASE("what UCX expects of an endpoint tells shared memory from a network") {
    const auto transport = [] {
        TwoSides sides;
        const int sent = 1;
        int received = 0;
        Outcome of_send, of_receive;
        start_receive(sides.b, {&received, 1, UCD_TYPE__INT}, of_receive);
        start_send(sides.a, {&sent, 1, UCD_TYPE__INT}, of_send);
        sides.until([&] { return of_send.done() && of_receive.done(); });
        return host_transport(sides.a.ep, {}, true);
    };
    CHECK(transport() == Transport::shared_memory);
    const std::string transports = std::getenv("UCX_TLS");
    REQUIRE(setenv("UCX_TLS", "tcp", 1) == 0);
    CHECK(transport() == Transport::slow_network);
    REQUIRE(setenv("UCX_TLS", transports.c_str(), 1) == 0);
}

} // namespace ucx_version_test
