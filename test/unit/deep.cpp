#include "unit/deep.hpp"

#include "support/catch.hpp"

#include <cstdlib>
#include <exception>

#include <pthread.h>

// The address sanitizer's, if it is there.
extern "C" [[gnu::weak]] void __asan_init();

namespace ucdtest {
namespace {

// With the sanitizer, frames are larger.
std::size_t stack_bytes() {
    return __asan_init != nullptr ? 1 << 20 : 1 << 18;
}

struct Started {
    const std::function<void()> &body;
    std::exception_ptr failure;
};

void *start(void *argument) {
    auto &started = *static_cast<Started *>(argument);
    try {
        started.body();
    } catch (...) {
        started.failure = std::current_exception(); // Catch's, too
    }
    return nullptr;
}

} // namespace

void on_small_stack(const std::function<void(std::intptr_t levels)> &body) {
    const char *value = std::getenv("UCD_TEST_LEVELS");
    const std::intptr_t levels =
        value == nullptr || *value == '\0' ? 100000 : std::strtol(value, nullptr, 0);
    const std::function<void()> run = [&] { body(levels); };
    Started started = {run, nullptr};
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, stack_bytes()) == 0);
    REQUIRE(pthread_create(&thread, &attributes, start, &started) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    if (started.failure) std::rethrow_exception(started.failure);
}

} // namespace ucdtest
