// Files of measured figures, and the choice that figures make between engine and kernel.
#include "plan/tuning_file.h"

#include "support/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace tuning_file_test {

using namespace ucd;
using namespace ucd::gpu;

namespace {

constexpr CopyEngines before = {.to_host = {.earlier = 1,
                                            .per_row = 2,
                                            .per_odd_row = 3,
                                            .kernel_per_byte = 4,
                                            .row_per_byte = 5,
                                            .list_block = 6},
                                .from_host = {.earlier = 7,
                                              .per_row = 8,
                                              .per_odd_row = 9,
                                              .kernel_per_byte = 10,
                                              .row_per_byte = 11,
                                              .list_block = 12}};

std::string text_of(const CopyEngines &engines) {
    std::string text;
    for (const CopyEngine &e : {engines.to_host, engines.from_host})
        for (const double figure :
             {e.earlier, e.per_row, e.per_odd_row, e.kernel_per_byte, e.row_per_byte, e.list_block})
            text += std::to_string(figure) + " ";
    return text;
}

std::string message() {
    return last_error().text;
}

} // namespace

TEST_CASE("a tuning file: the figures of a device's section") {
    CopyEngines engines = before;
    const std::string text = "# a comment\r\n"
                             "\n"
                             "[Other]\n"
                             "to_host.earlier = 100\n"
                             "[NVIDIA H200]\n"
                             "to_host.earlier = 2600\n"
                             "  to_host.per_row=1.25  \n"
                             "\tto_host.per_odd_row\t=\t0\n"
                             "to_host.kernel_per_byte = 1.97e-2\r\n"
                             "from_host.row_per_byte = 0.5\n"
                             "from_host.list_block = 262144\n"
                             "[NVIDIA H200 NVL]\n"
                             "from_host.earlier = 100\n"
                             "[NVIDIA H200]\n"
                             "from_host.per_row = 3"; // no newline
    REQUIRE(apply_tuning(text, "f", "NVIDIA H200", engines).ok());
    CopyEngines expected = before;
    expected.to_host.earlier = 2600;
    expected.to_host.per_row = 1.25;
    expected.to_host.per_odd_row = 0;
    expected.to_host.kernel_per_byte = 0.0197;
    expected.from_host.row_per_byte = 0.5;
    expected.from_host.list_block = 262144;
    expected.from_host.per_row = 3;
    REQUIRE(text_of(engines) == text_of(expected));

    // The largest number that is allowed; one of which more digits stand behind the text.
    engines = before;
    REQUIRE(apply_tuning("[d]\nto_host.earlier = 1e18", "f", "d", engines).ok());
    REQUIRE(engines.to_host.earlier == 1e18);
    const std::string_view longer = "[d]\nto_host.per_row = 255";
    REQUIRE(apply_tuning(longer.substr(0, longer.size() - 1), "f", "d", engines).ok());
    REQUIRE(engines.to_host.per_row == 25);

    engines = before;
    REQUIRE(apply_tuning(text, "f", "NVIDIA", engines).ok());
    REQUIRE(apply_tuning("", "f", "NVIDIA", engines).ok());
    REQUIRE(text_of(engines) == text_of(before));
}

TEST_CASE("a tuning file: what is none changes nothing, and names its line") {
    for (const std::string wrong : {"to_host.earlier",
                                    "to_host.earlier =",
                                    "to_host.earlier = fast",
                                    "to_host.earlier = -1",
                                    "to_host.earlier = nan",
                                    "to_host.earlier = inf",
                                    "to_host.earlier = 1e19",
                                    "to_host.earlier = 1e999",
                                    "to_host.earlier = 1 2",
                                    "to_host.earlier = 0x10",
                                    "to_host. earlier = 1",
                                    "to_host.earliest = 1",
                                    "to_host = 1",
                                    ".earlier = 1",
                                    "earlier = 1",
                                    "host.earlier = 1",
                                    "host.per_row = 1",
                                    "= 1",
                                    "[device",
                                    "device]",
                                    "\x01\x02"}) {
        INFO(wrong);
        for (const char *const section : {"[device]\n", "[another]\n"}) {
            CopyEngines engines = before;
            const std::string text =
                std::string("[device]\nto_host.per_row = 77\n") + section + wrong + "\n";
            const Status status = apply_tuning(text, "/a/file", "device", engines);
            REQUIRE(status.code() == UCD_ERR__INVALID_ARG);
            REQUIRE(message().find("line 4 of the tuning file /a/file") == 0);
            REQUIRE(text_of(engines) == text_of(before));
        }
    }
    CopyEngines engines = before;
    REQUIRE(apply_tuning("to_host.earlier = 1", "f", "", engines).code() == UCD_ERR__INVALID_ARG);
}

TEST_CASE("a tuning file that cannot be read, or is too long") {
    CopyEngines engines = before;
    REQUIRE(apply_tuning_file("/no/such/file", "d", engines).code() == UCD_ERR__INVALID_ARG);
    REQUIRE(message() == "UCD_TUNING names /no/such/file: No such file or directory");
    REQUIRE(apply_tuning_file("/", "d", engines).code() == UCD_ERR__INVALID_ARG);

    char name[] = "/tmp/ucd-tuning-XXXXXX";
    const int descriptor = mkstemp(name);
    REQUIRE(descriptor >= 0);
    std::FILE *const file = fdopen(descriptor, "w");
    std::string text = "[d]\nto_host.earlier = 5\n";
    text.resize(max_tuning_bytes, '\n');
    std::fputs(text.c_str(), file);
    std::fflush(file);
    const bool taken = apply_tuning_file(name, "d", engines).ok();
    std::fputs("\n", file);
    std::fclose(file);
    const int too_long = apply_tuning_file(name, "d", engines).code();
    std::remove(name);
    REQUIRE(taken);
    REQUIRE(engines.to_host.earlier == 5);
    REQUIRE(too_long == UCD_ERR__INVALID_ARG);
    REQUIRE(message().find("longer than 65536 bytes") != std::string::npos);
}

TEST_CASE("which of engine and kernel is faster for rows") {
    CopyEngines e = before;
    e.to_host = {.earlier = 2600,
                 .per_row = 1.3,
                 .per_odd_row = 0.8,
                 .kernel_per_byte = 0.02,
                 .row_per_byte = 0.0205,
                 .list_block = 1e18};
    e.from_host = e.to_host;
    e.from_host.per_row = 2.6;
    const auto engine = [&](uint64_t row, uint64_t rows, uint64_t bits = 0, bool to_host = true) {
        return is_engine_faster(e, to_host, row, rows, bits);
    };
    // 8 bytes: 1.14 ns a row more than a kernel, 2600 less in all.
    REQUIRE(engine(8, 2280));
    REQUIRE_FALSE(engine(8, 2282));
    REQUIRE_FALSE(engine(8, 2280, 0, false));
    REQUIRE(engine(8, 1000, 0, false));
    // 128 bytes: 0.064 ns a row more.
    REQUIRE(engine(128, 40000));
    REQUIRE_FALSE(engine(128, 41000));
    // The same, not aligned: 0.8 ns a row more.
    REQUIRE(engine(128, 3249, 8));
    REQUIRE_FALSE(engine(128, 3251, 8));
    // Long rows.
    REQUIRE_FALSE(engine(999, 10000000, 1));
    REQUIRE(engine(1000, 10000000, 1));
}

} // namespace tuning_file_test
