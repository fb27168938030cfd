// What all libraries of UCD make of failures, and how they compare words.
#include "edit_distance.h"
#include "exception_status.h"
#include "failures.h"
#include "support/catch.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace failures_test {

namespace {

struct Failure {
    int code = UCD_SUCCESS;
    std::string message;
    bool ok() const { return code == UCD_SUCCESS; }
};

Failure failure_of(const std::function<void()> &body) {
    return ucd_base::without_exceptions(
        [&]() -> Failure {
            body();
            return {};
        },
        [](int code, const char *message) -> Failure {
            return {code, message};
        });
}

std::string prefixed(const std::string &prefix, const std::string &message) {
    ucd_base::LastError error;
    message.copy(error.text, sizeof error.text - 1);
    error.text[std::min(message.size(), sizeof error.text - 1)] = '\0';
    ucd_base::prefix_message(error, prefix.c_str());
    return error.text;
}

int first_failure(int first, int second) {
    UCD_TRY(first);
    UCD_TRY(second);
    return 0;
}

Failure passed_on(const Failure &failure) {
    UCD_TRY(failure);
    return {UCD_SUCCESS, "not reached after a failure"};
}

} // namespace

TEST_CASE("each exception becomes a failure with a code and a message") {
    CHECK(failure_of([] {}).ok());
    const auto is = [](const Failure &failure, int code, const char *message) {
        CHECK(failure.code == code);
        CHECK(failure.message == message);
    };
    is(failure_of([] { throw std::bad_alloc(); }), UCD_ERR__OUT_OF_MEM, "out of memory");
    is(failure_of([] { throw std::bad_array_new_length(); }), UCD_ERR__OUT_OF_MEM, "out of memory");
    is(failure_of([] { throw std::length_error("vector"); }), UCD_ERR__OUT_OF_MEM, "out of memory");
    const auto system_error = [](std::errc code) {
        return failure_of([code] { throw std::system_error(std::make_error_code(code), "mutex"); });
    };
    is(system_error(std::errc::not_enough_memory), UCD_ERR__OUT_OF_MEM, "out of memory");
    const Failure no_thread = system_error(std::errc::resource_unavailable_try_again);
    CHECK(no_thread.code == UCD_ERR__INTERNAL);
    CHECK(no_thread.message.starts_with("mutex: "));
    is(failure_of([] { throw std::runtime_error("a reason"); }), UCD_ERR__INTERNAL, "a reason");
    is(failure_of([] { throw 7; }), UCD_ERR__INTERNAL, "an exception that is no std::exception");
}

TEST_CASE("libucd's statuses of exceptions have the message as the last error") {
    const ucd::Status status =
        ucd::without_exceptions([]() -> ucd::Status { throw std::runtime_error("100%s"); });
    CHECK(status.code() == UCD_ERR__INTERNAL);
    CHECK(ucd::last_error().text == std::string("100%s"));
    CHECK(ucd::without_exceptions([] { return ucd::success; }).ok());
}

TEST_CASE("UCD_TRY passes on the first failure, as a code or as an object") {
    CHECK(first_failure(0, 0) == 0);
    CHECK(first_failure(3, 4) == 3);
    CHECK(first_failure(0, -4) == -4);
    CHECK(passed_on({}).message == "not reached after a failure");
    CHECK(passed_on({UCD_ERR__DEVICE, "said"}).message == "said");
}

TEST_CASE("a message that becomes too long with its prefix loses its end") {
    CHECK(prefixed("ucd_pack", "count is 7") == "ucd_pack: count is 7");
    CHECK(prefixed("ucd_pack", "") == "ucd_pack: ");
    const std::string full(511, 'm');
    CHECK(prefixed("f", full) == "f: " + full.substr(3));
    CHECK(prefixed("f", full.substr(3)) == "f: " + full.substr(3));
    CHECK(prefixed(std::string(600, 'p'), "m") == std::string(509, 'p') + ": ");
}

TEST_CASE("the edit distance counts insertions, deletions, replacements and swaps") {
    using ucd_base::edit_distance;
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("abc", "abc") == 0);
    CHECK(edit_distance("abc", "abxc") == 1);
    CHECK(edit_distance("abc", "ac") == 1);
    CHECK(edit_distance("abc", "axc") == 1);
    CHECK(edit_distance("abcd", "acbd") == 1);
    CHECK(edit_distance("ab", "ba") == 1);
    CHECK(edit_distance("ab", "bc") == 2); // not a swap: the second letter is another one
    CHECK(edit_distance("ab", "ca") == 2);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

} // namespace failures_test
