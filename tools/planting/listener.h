// Writes, for each test case of a Catch2 program, how long it took and which defects it reached: a
// line of JSON each, to the file that PLANTED_LOG names. Included at the end of test_main.cpp.
#pragma once

#include "planted.h"

#include <chrono>
#include <fstream>
#include <string>

#if __has_include(<catch2/catch_all.hpp>) || __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
using UcdPlantedBase = Catch::EventListenerBase;
#else
using UcdPlantedBase = Catch::TestEventListenerBase;
#endif

class UcdPlantedListener : public UcdPlantedBase {
public:
    using UcdPlantedBase::UcdPlantedBase;

    void testCaseStarting(const Catch::TestCaseInfo &info) override {
        UcdPlantedBase::testCaseStarting(info);
        name_ = info.name;
        if (!writes()) return;
        write("", 0); // what the start of the program, or what comes between cases, reached
        start_ = std::chrono::steady_clock::now();
    }

    void testCaseEnded(const Catch::TestCaseStats &stats) override {
        UcdPlantedBase::testCaseEnded(stats);
        if (!writes()) return;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
        write(name_, took.count(), stats.totals.assertions.failed == 0);
    }

private:
    // Programs that a test starts, and forks, leave what they reach to the test's own process.
    static bool writes() {
        if (ucd_planted::state.map == nullptr) return false;
        const std::string self = std::to_string(::getpid());
        ::setenv("PLANTED_OWNER", self.c_str(), 0);
        return std::getenv("PLANTED_OWNER") == self;
    }
    static void write(const std::string &name, double seconds, bool passed = true) {
        std::ofstream log(std::getenv("PLANTED_LOG"), std::ios::app);
        log << "{\"case\": \"";
        for (const char c : name) log << (c == '"' || c == '\\' ? "\\" : "") << c;
        log << "\", \"seconds\": " << seconds << ", \"passed\": " << (passed ? "true" : "false")
            << ", \"reached\": [";
        struct stat about;
        if (::stat(std::getenv("PLANTED_MAP"), &about) != 0) std::abort();
        const char *comma = "";
        for (long i = 0; i < about.st_size; ++i)
            if (ucd_planted::state.map[i] != 0) {
                log << comma << i;
                comma = ", ";
                ucd_planted::state.map[i] = 0;
            }
        log << "]}\n";
    }

    std::string name_;
    std::chrono::steady_clock::time_point start_;
};

CATCH_REGISTER_LISTENER(UcdPlantedListener)
