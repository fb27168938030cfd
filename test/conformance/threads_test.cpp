// One type, one buffer, several threads: neighbouring fragments are packed and unpacked at the same
// time, and derived types come and go meanwhile.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/moving.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace threads_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

constexpr std::size_t thread_count = 4;

// Runs work(thread) in several threads that start together. Catch2 may not be used in them, so they
// return what went wrong, "" if nothing did.
template <class Work>
std::string in_threads(Work work) {
    std::atomic<std::size_t> ready = 0;
    std::vector<std::string> failures(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t id = 0; id < thread_count; ++id) {
        threads.emplace_back([&, id] {
            ++ready;
            while (ready.load() < thread_count) std::this_thread::yield();
            try {
                failures[id] = work(id);
            } catch (const std::exception &error) {
                failures[id] = error.what();
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    for (const std::string &failure : failures) {
        if (!failure.empty()) return failure;
    }
    return "";
}

// Fragments of a few bytes, dealt to the threads in turn, so that neighbours in the stream and in
// memory are always another thread's.
std::vector<std::size_t> random_cuts(Rng &rng, std::size_t total) {
    std::vector<std::size_t> cuts = {0};
    const std::size_t longest = 1 + rng.mostly_small(200);
    while (cuts.back() < total) {
        cuts.push_back(std::min(total, cuts.back() + 1 + rng.below(longest)));
    }
    return cuts;
}

// Uses the shared type for something of the thread's own, and ends it again.
std::string derive_and_free(ucd_type_t shared) {
    ucd_type_t derived = UCD_TYPE__NULL, again = UCD_TYPE__NULL;
    if (ucd_create_vector(3, 1, 2, shared, UCD_INFO__NULL, &derived) != UCD_SUCCESS ||
        ucd_create_dup(derived, UCD_INFO__NULL, &again) != UCD_SUCCESS ||
        ucd_free(&derived) != UCD_SUCCESS) {
        return ucd_last_error();
    }
    std::uintptr_t length = 0;
    if (ucd_iov_len(2, again, &length) != UCD_SUCCESS || ucd_free(&again) != UCD_SUCCESS) {
        return ucd_last_error();
    }
    return "";
}

// Each thread moves every thread_count-th fragment.
std::string move_fragments(const Subject &subject, const GuardedBuffer &memory,
                           const GuardedBuffer &stream, const std::vector<std::size_t> &cuts,
                           bool packing, std::uint64_t seed) {
    return in_threads([&](std::size_t id) -> std::string {
        Rng rng(mix_seed(seed, id));
        for (std::size_t i = id; i + 1 < cuts.size(); i += thread_count) {
            const std::size_t offset = cuts[i], length = cuts[i + 1] - cuts[i];
            void *const part = stream.actual(static_cast<std::intptr_t>(offset));
            std::uintptr_t actual = untouched;
            const int rc = packing ? call_pack(rng, memory.base(), subject.count, subject.type(),
                                               offset, part, length, &actual)
                                   : call_unpack(rng, part, length, memory.base(), subject.count,
                                                 subject.type(), offset, &actual);
            if (rc != UCD_SUCCESS) return ucd_last_error();
            if (actual != length) return "moved " + std::to_string(actual) + " bytes";
            if (rng.chance(10)) {
                if (std::string failure = derive_and_free(subject.type()); !failure.empty()) {
                    return failure;
                }
            }
        }
        return "";
    });
}

// Starts the library, packs some of the type, and ends the library, time and again.
std::string come_and_go(ucd_type_t type) {
    const std::vector<char> in(64, 'x');
    std::vector<char> out(16);
    for (int round = 0; round < 300; ++round) {
        std::uintptr_t packed = 0;
        if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) return ucd_last_error();
        if (ucd_pack(in.data(), 1, type, 0, out.data(), out.size(), &packed, UCD_INFO__NULL,
                     UCD_OP__REPLACE) != UCD_SUCCESS)
            return ucd_last_error();
        if (packed != out.size() || out.back() != 'x') return "packed something else";
        const std::string failure = derive_and_free(type);
        if (!failure.empty()) return failure;
        if (ucd_finalize() != UCD_SUCCESS) return ucd_last_error();
    }
    return "";
}

} // namespace

TEST_CASE("threads start and end the library whenever they like") {
    const BuiltType type(vector(4, 4, 16, leaf(UCD_TYPE__BYTE)));
    // Without the one that main() has made, each last ucd_finalize is really the last.
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    const std::string failure = in_threads([&](std::size_t) { return come_and_go(type.get()); });
    std::uintptr_t size = 0;
    CHECK(ucd_get_size(type.get(), &size) == UCD_ERR__NOT_INITIALIZED);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    CHECK(failure == "");
}

TEST_CASE("threads pack and unpack neighbouring fragments of one type") {
    run_cases("threads", 800, [](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options;
        options.unpack_safe = true;
        const Subject subject = random_nonempty_subject(one, options);
        GuardedBuffer memory(rng, subject.range);
        GuardedBuffer stream = packed_buffer(rng, subject.size());
        const auto at = [](std::size_t i) { return static_cast<std::intptr_t>(i); };

        // The first use of the type is by all threads at once.
        for (std::size_t i = 0; i < subject.size(); ++i) {
            *stream.expected(at(i)) = *memory.actual(subject.bytes[i]);
        }
        std::string failure = move_fragments(subject, memory, stream,
                                             random_cuts(rng, subject.size()), true, rng.bits());
        if (!failure.empty()) one.fail("packing: ", failure);
        require_intact(one, stream, "what the threads packed");

        stream.randomise(rng);
        for (std::size_t i = 0; i < subject.size(); ++i) {
            *memory.expected(subject.bytes[i]) = *stream.actual(at(i));
        }
        failure = move_fragments(subject, memory, stream, random_cuts(rng, subject.size()), false,
                                 rng.bits());
        if (!failure.empty()) one.fail("unpacking: ", failure);
        require_intact(one, memory, "what the threads unpacked");
    });
}

TEST_CASE("threads race for the first use of a list") {
    run_cases("first uses", 300, [](Case &one) {
        Rng &rng = one.rng();
        Ints lengths, displs;
        for (std::size_t i = 1 + rng.mostly_small(200); i > 0; --i) {
            displs.push_back(rng.between(-500, 500));
            lengths.push_back(rng.between(0, 5));
        }
        lengths.push_back(1);
        displs.push_back(0);
        const RecipePtr child = contig(rng.between(1, 3), leaf(UCD_TYPE__INT));
        const Subject subject = make_subject(one, indexed(lengths, displs, child), 1);
        GuardedBuffer memory(rng, subject.range);
        const std::uint64_t seed = rng.bits();
        const std::string failure = in_threads([&](std::size_t id) -> std::string {
            Rng own(mix_seed(seed, id));
            std::vector<std::byte> packed(subject.size());
            std::uintptr_t actual = untouched;
            if (call_pack(own, memory.base(), 1, subject.type(), 0, packed.data(), packed.size(),
                          &actual) != UCD_SUCCESS)
                return ucd_last_error();
            for (std::size_t i = 0; i < packed.size(); ++i)
                if (packed[i] != *memory.actual(subject.bytes[i])) return "other bytes";
            return "";
        });
        if (!failure.empty()) one.fail(failure);
    });
}

TEST_CASE("threads create, use and free types of their own on a shared one") {
    run_cases("threads types", 200, [](Case &one) {
        const Subject shared = random_subject(one);
        const std::string failure = in_threads([&](std::size_t) -> std::string {
            for (int i = 0; i < 20; ++i) {
                if (std::string text = derive_and_free(shared.type()); !text.empty()) return text;
            }
            return "";
        });
        if (!failure.empty()) one.fail(failure);
    });
}

TEST_CASE("the last error is the thread's own") {
    ucd_type_t type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_contig(-3, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_ERR__INVALID_ARG);
    const std::string mine = ucd_last_error();
    REQUIRE(mine.find("-3") != std::string::npos);
    const std::string failure = in_threads([](std::size_t id) -> std::string {
        if (std::string(ucd_last_error()) != "") return "a new thread has an error";
        const std::intptr_t wrong = -100 - static_cast<std::intptr_t>(id);
        ucd_type_t none = UCD_TYPE__NULL;
        if (ucd_create_contig(wrong, UCD_TYPE__INT, UCD_INFO__NULL, &none) !=
            UCD_ERR__INVALID_ARG) {
            return "a negative count is accepted";
        }
        const std::string message = ucd_last_error();
        return message.find(std::to_string(wrong)) == std::string::npos ? message : "";
    });
    REQUIRE(failure == "");
    REQUIRE(ucd_last_error() == mine);
}

} // namespace threads_test
