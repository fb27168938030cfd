// I/O vectors: segments in packed order, from any segment, from any byte, in chunks of any size.
#include "support/catch.hpp"

#include "support/moves/calls.hpp"
#include "support/moves/subject.hpp"

#include <algorithm>

namespace iov_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// An address to add displacements to: nothing is ever loaded from it.
void *random_address(Rng &rng) {
    if (rng.chance(20)) return nullptr;
    return reinterpret_cast<void *>(0x10000000000u + rng.below(1 << 20));
}

// An array with a canary behind the entries that a call may write.
class IovArray {
public:
    explicit IovArray(std::size_t entries) : entries_(entries), array_(entries + 2, canary()) {}

    iovec *data() { return array_.data(); }
    std::size_t size() const { return entries_; }

    // Whether the first entries are these segments and all others were left alone.
    bool holds(const void *buffer, const Segment *pieces, std::size_t count) const {
        for (std::size_t i = 0; i < array_.size(); ++i) {
            const iovec wanted =
                i < count ? iovec{address(buffer, pieces[i].displ), pieces[i].bytes} : canary();
            if (array_[i].iov_base != wanted.iov_base || array_[i].iov_len != wanted.iov_len) {
                return false;
            }
        }
        return true;
    }

private:
    static iovec canary() { return {reinterpret_cast<void *>(untouched), untouched}; }
    static void *address(const void *buffer, std::intptr_t displ) {
        return reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(buffer) +
                                        static_cast<std::uintptr_t>(displ));
    }

    std::size_t entries_;
    std::vector<iovec> array_;
};

void check_iov(Case &one, const Subject &subject, const void *buffer,
               const std::vector<Segment> &pieces, std::size_t from, std::size_t room) {
    IovArray array(room);
    std::uintptr_t written = untouched;
    const int rc = ucd_iov(buffer, subject.count, subject.type(), from,
                           room == 0 ? nullptr : array.data(), room, &written);
    one.succeed(rc, "ucd_iov");
    const std::size_t expected = std::min(room, pieces.size() - from);
    if (written != expected) {
        one.fail("ucd_iov from ", from, ", room ", room, ": ", written, " entries, not ", expected);
    }
    if (!array.holds(buffer, pieces.data() + from, expected)) {
        one.fail("ucd_iov from ", from, ", room ", room, ": wrong entries");
    }
}

void check_iov_bytes(Case &one, const Subject &subject, const void *buffer, std::size_t offset,
                     std::uintptr_t max_bytes, std::size_t room) {
    const std::size_t length =
        static_cast<std::size_t>(std::min<std::uintptr_t>(max_bytes, subject.size() - offset));
    std::vector<Segment> pieces = segments(subject.bytes, offset, length);
    if (pieces.size() > room) pieces.resize(room);
    std::size_t bytes = 0;
    for (const Segment &piece : pieces) bytes += piece.bytes;

    IovArray array(room);
    std::uintptr_t written = untouched, covered = untouched;
    const int rc = ucd_iov_bytes(buffer, subject.count, subject.type(), offset, max_bytes,
                                 room == 0 ? nullptr : array.data(), room, &written, &covered);
    one.succeed(rc, "ucd_iov_bytes");
    const auto fail = [&](const char *what) {
        one.fail("ucd_iov_bytes from ", offset, ", at most ", max_bytes, " bytes and ", room,
                 " entries: ", written, " entries of ", covered, " bytes, expected ", pieces.size(),
                 " of ", bytes, ": ", what);
    };
    if (written != pieces.size() || covered != bytes) fail("wrong numbers");
    if (!array.holds(buffer, pieces.data(), pieces.size())) fail("wrong entries");
}

void check_iov_len_max(Case &one, const Subject &subject, const std::vector<Segment> &pieces,
                       std::uintptr_t max_bytes) {
    std::size_t most = 0, bytes = 0;
    while (most < pieces.size() && bytes + pieces[most].bytes <= max_bytes) {
        bytes += pieces[most++].bytes;
    }
    std::uintptr_t length = untouched, covered = untouched;
    one.succeed(ucd_iov_len_max(subject.count, subject.type(), max_bytes, &length, &covered),
                "ucd_iov_len_max");
    if (length != most || covered != bytes) {
        one.fail("ucd_iov_len_max of ", max_bytes, " bytes: ", length, " segments of ", covered,
                 " bytes, expected ", most, " of ", bytes);
    }
}

std::uintptr_t random_limit(Rng &rng, std::size_t total) {
    if (rng.chance(10)) return UINTPTR_MAX;
    return rng.below(total + 10);
}

} // namespace

TEST_CASE("I/O vectors of random layouts") {
    run_cases("iov", 20000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_subject(one);
        const std::vector<Segment> pieces = segments(subject.bytes);
        const void *const buffer = random_address(rng);

        std::uintptr_t length = untouched;
        one.succeed(ucd_iov_len(subject.count, subject.type(), &length), "ucd_iov_len");
        if (length != pieces.size()) one.fail(length, " segments, not ", pieces.size());

        // All of them in one go, then in chunks, then from anywhere.
        check_iov(one, subject, buffer, pieces, 0, pieces.size() + rng.below(3));
        const std::size_t chunk = 1 + rng.mostly_small(40);
        for (std::size_t from = 0; from <= pieces.size(); from += chunk) {
            check_iov(one, subject, buffer, pieces, from, chunk);
        }
        for (int i = 0; i < 3; ++i) {
            check_iov(one, subject, buffer, pieces, rng.below(pieces.size() + 1),
                      rng.mostly_small(20));
        }
        for (int i = 0; i < 5; ++i) {
            check_iov_bytes(one, subject, buffer, rng.below(subject.size() + 1),
                            random_limit(rng, subject.size()), rng.mostly_small(pieces.size() + 2));
        }
        check_iov_bytes(one, subject, buffer, 0, subject.size(), pieces.size());
        for (int i = 0; i < 3; ++i) {
            check_iov_len_max(one, subject, pieces, random_limit(rng, subject.size()));
        }
    });
}

TEST_CASE("I/O vectors from every byte of small types") {
    run_cases("iov every byte", 2000, [](Case &one) {
        RecipeOptions options;
        options.max_bytes = 24;
        const Subject subject = random_subject(one, options, 3);
        if (subject.size() > 40) return;
        const void *const buffer = random_address(one.rng());
        const std::vector<Segment> pieces = segments(subject.bytes);
        for (std::size_t offset = 0; offset <= subject.size(); ++offset) {
            for (std::size_t bytes = 0; bytes <= subject.size() - offset + 1; ++bytes) {
                check_iov_bytes(one, subject, buffer, offset, bytes, pieces.size());
            }
        }
        for (std::size_t bytes = 0; bytes <= subject.size() + 1; ++bytes) {
            check_iov_len_max(one, subject, pieces, bytes);
        }
    });
}

TEST_CASE("I/O vectors from beyond the end are refused") {
    run_cases("iov beyond", 1000, [](Case &one) {
        const Subject subject = random_subject(one);
        const std::size_t pieces = segments(subject.bytes).size();
        IovArray array(4);
        std::uintptr_t written = untouched, covered = untouched;
        int rc =
            ucd_iov(nullptr, subject.count, subject.type(), pieces + 1, array.data(), 4, &written);
        if (rc != UCD_ERR__INVALID_ARG) one.fail("ucd_iov returned ", ucd_strerror(rc));
        rc = ucd_iov_bytes(nullptr, subject.count, subject.type(), subject.size() + 1, 10,
                           array.data(), 4, &written, &covered);
        if (rc != UCD_ERR__INVALID_ARG) one.fail("ucd_iov_bytes returned ", ucd_strerror(rc));
        if (written != untouched || covered != untouched || !array.holds(nullptr, nullptr, 0)) {
            one.fail("a refused call wrote something");
        }
    });
}

TEST_CASE("I/O vectors count far beyond what could be listed") {
    // 2^40 segments; skipping must not walk.
    const BuiltType type(vector(1 << 20, 1, 2, leaf(UCD_TYPE__INT)));
    const std::uintptr_t count = std::uintptr_t{1} << 20;
    std::uintptr_t length = 0, bytes = 0, written = 0;
    // Elements are (2^21 - 1) * 4 bytes apart, so the last piece of each touches the next one's.
    REQUIRE(ucd_iov_len(count, type.get(), &length) == UCD_SUCCESS);
    REQUIRE(length == count * ((1 << 20) - 1) + 1);
    iovec entry = {};
    REQUIRE(ucd_iov(nullptr, count, type.get(), length - 1, &entry, 1, &written) == UCD_SUCCESS);
    REQUIRE((written == 1 && entry.iov_len == 4));
    REQUIRE(reinterpret_cast<std::uintptr_t>(entry.iov_base) == count * ((1 << 21) - 1) * 4 - 4);
    const std::uintptr_t offset = (count / 2) * (4 << 20) + 6;
    REQUIRE(ucd_iov_bytes(nullptr, count, type.get(), offset, 1, &entry, 1, &written, &bytes) ==
            UCD_SUCCESS);
    REQUIRE((written == 1 && bytes == 1 && entry.iov_len == 1));
    REQUIRE(reinterpret_cast<std::uintptr_t>(entry.iov_base) ==
            (count / 2) * ((1 << 21) - 1) * 4 + 8 + 2);
}

} // namespace iov_test
