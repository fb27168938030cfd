// What is printed on standard error, at which level.
#include "support/catch.hpp"

#include "support/keys.h"
#include "support/log.h"

#include <ucd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <unistd.h>

namespace log_test {

namespace {

// What `body` prints on standard error at a level.
template <class Body>
std::string printed_at(ucd::LogLevel level, Body body) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::tmpfile(), std::fclose);
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int before = ::dup(2);
    REQUIRE(::dup2(::fileno(file.get()), 2) == 2);
    const ucd::LogLevel old = ucd::log_level.exchange(level);
    body();
    ucd::log_level = old;
    std::fflush(stderr);
    ::dup2(before, 2);
    ::close(before);
    std::string text(4096, '\0');
    std::rewind(file.get());
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return text;
}

} // namespace

TEST_CASE("a failure is one line, where failures are asked for") {
    const auto fails = [] {
        uintptr_t size = 0;
        (void)ucd_get_size(UCD_TYPE__NULL, &size);
    };
    const std::string line = printed_at(ucd::LogLevel::error, fails);
    CHECK(line == "ucd: " + std::string(ucd_last_error()) + "\n");
    CHECK(line.find("ucd_get_size: ") != std::string::npos);
    CHECK(printed_at(ucd::LogLevel::plan, fails) == line);
    CHECK(printed_at(ucd::LogLevel::off, fails).empty());
}

TEST_CASE("an unknown variable is logged once in a process") {
    const auto log = [] {
        ucd::Info info;
        CHECK(ucd::read_environment(nullptr, info).ok());
    };
    REQUIRE(setenv("UCD_THREDS", "2", 1) == 0);
    CHECK(printed_at(ucd::LogLevel::error, log) ==
          "ucd: the environment variable UCD_THREDS is unknown; the nearest is UCD_THREADS\n");
    CHECK(printed_at(ucd::LogLevel::error, log).empty());
    // One that comes later is logged then. Long names are cut.
    const std::string endless = "UCD_" + std::string(5000, 'X');
    REQUIRE(setenv(endless.c_str(), "", 1) == 0);
    const std::string line = printed_at(ucd::LogLevel::error, log);
    CHECK(line.starts_with("ucd: the environment variable UCD_XXX"));
    CHECK(line.size() < 200);
    REQUIRE(unsetenv(endless.c_str()) == 0);
    REQUIRE(unsetenv("UCD_THREDS") == 0);
}

} // namespace log_test
