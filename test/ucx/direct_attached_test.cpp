// Direct transfers from memory that the receiver maps: what is offered and taken, and hostile
// offers.

#include "direct/attachable_memory.h"
#include "support/device_test.hpp"
#include "ucx/offer_victim.hpp"
#include "ucx/window_of.hpp"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <system_error>

namespace direct_attached_test {

using namespace ucdtest;
using ucd_ucx::AttachableMemory;
using ucd_ucx::AttachableName;
using ucd_ucx::FileDescriptor;

namespace {

// How often this process has mapped memory of windows for reading only.
std::size_t mappings_to_read() {
    std::ifstream maps("/proc/self/maps");
    std::size_t found = 0;
    for (std::string line; std::getline(maps, line);)
        found += line.find("ucd-window ") != std::string::npos &&
                 line.find(" r--s ") != std::string::npos;
    return found;
}

// How many descriptors this process has of memory of windows.
std::size_t open_windows() {
    std::size_t found = 0;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone; // the one that this list is read from
        found += std::filesystem::read_symlink(entry, gone).string().find("ucd-window") !=
                 std::string::npos;
    }
    return found;
}

// Blocks of some bytes at a distance, as a list of their places that shares nothing with the
// library.
struct Blocks {
    std::size_t count, bytes, stride;
    ucd_type_t type = UCD_TYPE__NULL;
    Blocks(std::size_t n, std::size_t length, std::size_t distance)
        : count(n), bytes(length), stride(distance) {
        ok(ucd_create_vector(static_cast<std::intptr_t>(n), static_cast<std::intptr_t>(length),
                             static_cast<std::intptr_t>(distance), UCD_TYPE__BYTE, UCD_INFO__NULL,
                             &type),
           "vector");
    }
    ~Blocks() { (void)ucd_free(&type); }
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;
    std::size_t size() const { return count * bytes; }
    std::size_t range() const { return (count - 1) * stride + bytes; }
    std::size_t place(std::size_t i) const { return i / bytes * stride + i % bytes; }
};

// A transfer from `from` into a buffer of its own, in which what lies between stays as it is.
bool arrives(TwoSides &sides, const char *from, const Blocks &sent_as, const Blocks &received_as) {
    std::vector<char> out(received_as.range(), 'o');
    Outcome sent, received;
    start_receive(sides.b, {out.data(), 1, received_as.type}, received);
    start_send(sides.a, {from, 1, sent_as.type}, sent);
    sides.until([&] { return sent.done() && received.done(); });
    if (received.result.status != UCS_OK || received.result.bytes != sent_as.size()) return false;
    std::vector<char> expected(out.size(), 'o');
    for (std::size_t i = 0; i < sent_as.size(); ++i)
        expected[received_as.place(i)] = from[sent_as.place(i)];
    return out == expected;
}

void fill(char *data, std::size_t bytes, Rng &rng) {
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(rng.bits());
}

} // namespace

DEVICE_TEST("data in memory of a window is copied from a mapping, from any layout to any") {
    TwoSides sides({ALWAYS_DIRECT, {"ucd.ucx.direct_bytes", "0"}});
    link_up(sides);
    constexpr std::size_t bytes = 1 << 20;
    WindowOf window(sides.a, bytes);
    const std::size_t before = mappings_to_read();
    run_cases("ucx attached", 300, [&](Case &one) {
        Rng &rng = one.rng();
        const std::size_t length = 1 + rng.below(100), distance = length + rng.below(100);
        const Blocks from(1 + rng.below(3000), length, distance);
        const Blocks to(from.size(), 1, 1 + rng.below(3));
        // Often up to the window's last byte.
        const std::size_t room = bytes - from.range();
        char *const data = window.data + (rng.chance(50) ? room : rng.below(room + 1));
        fill(data, from.range(), rng);
        if (!arrives(sides, data, from, to)) one.fail("other bytes have arrived");
        if (from.size() > 64 && !has_offered_directly(sides.a)) one.fail("it was not offered");
    });
    CHECK(mappings_to_read() == before + 1);
}

DEVICE_TEST("a mapping is made once for a window, and another window is another memory") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    Rng rng(1);
    const Blocks blocks(1000, 8, 16);
    const std::size_t before = mappings_to_read();
    for (std::size_t round = 1; round <= 66; ++round) {
        INFO("window " << round);
        WindowOf window(sides.a, blocks.range());
        for (int i = 0; i < 3; ++i) {
            fill(window.data, blocks.range(), rng);
            CHECK(arrives(sides, window.data, blocks, blocks));
        }
        CHECK(mappings_to_read() == std::min(before + round, std::size_t{64}));
    }
    // Whoever had the endpoint has no memory here any more.
    sides.b.lose_endpoint();
    ucd_ucx_progress(sides.b.pipeline);
    CHECK(mappings_to_read() == 0);
}

DEVICE_TEST("short rows are offered from memory that can be mapped, and not from other memory") {
    TwoSides sides({{"ucd.ucx.direct", "yes"}});
    const Blocks short_rows(4 << 10, 256, 512), few(1 << 10, 256, 512), tiny_rows(128 << 10, 8, 16),
        many_tiny_rows(2 << 20, 8, 12), some_rows(64, 4 << 10, 8 << 10),
        too_few(63, 4 << 10, 8 << 10), long_rows(256, 64 << 10, 128 << 10);
    WindowOf window(sides.a, long_rows.range());
    std::vector<char> other(long_rows.range(), 'x');
    sides.until([&] {
        CHECK(arrives(sides, window.data, long_rows, long_rows));
        return has_offered_directly(sides.a);
    });
    CHECK(arrives(sides, window.data, short_rows, short_rows));
    CHECK(has_offered_directly(sides.a));
    CHECK(arrives(sides, window.data, many_tiny_rows, many_tiny_rows));
    CHECK(has_offered_directly(sides.a));
    // Though UCX would take them as one message.
    CHECK(arrives(sides, window.data, some_rows, some_rows));
    CHECK(has_offered_directly(sides.a));
    // An offer of these costs more than it saves.
    for (const Blocks *rows : {&few, &tiny_rows, &too_few}) {
        CHECK(arrives(sides, window.data, *rows, *rows));
        CHECK_FALSE(has_offered_directly(sides.a));
    }
    CHECK(arrives(sides, other.data(), short_rows, short_rows));
    CHECK_FALSE(has_offered_directly(sides.a));
}

DEVICE_TEST("memory beside a window is not offered with it") {
    Side side;
    WindowOf window(side, 10000);
    ucd_ipc_handle_t handle;
    const auto found = [&](std::ptrdiff_t at, uint64_t bytes) {
        uint64_t offset = 0;
        const bool is_there = AttachableMemory::find(reinterpret_cast<uintptr_t>(window.data) +
                                                         static_cast<uintptr_t>(at),
                                                     bytes, handle, offset);
        if (is_there) CHECK(offset == static_cast<uint64_t>(at));
        return is_there;
    };
    CHECK(found(0, 10000));
    CHECK(found(9999, 1));
    CHECK_FALSE(found(-1, 2));
    CHECK_FALSE(found(0, 1 << 20));
    CHECK_FALSE(found(1, UINT64_MAX));
    CHECK_FALSE(found(1 << 20, 1));
    REQUIRE(found(0, 1));
    // Whoever gets the descriptor can read, and no more.
    const FileDescriptor descriptor = AttachableMemory::open_to_read(handle);
    REQUIRE(descriptor);
    CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0) ==
          MAP_FAILED);
    CHECK((::fcntl(descriptor.get(), F_GETFD) & FD_CLOEXEC) != 0);
    handle.bytes[20] ^= 1;
    CHECK_FALSE(AttachableMemory::open_to_read(handle));
}

DEVICE_TEST("a mapping that the sender's account has no room for is not made") {
    TwoSides sides({ALWAYS_DIRECT, {"ucd.ucx.peer_memory", "1048576"}});
    link_up(sides);
    WindowOf window(sides.a, std::size_t{1} << 30); // its tables of pages would take 2 MiB
    const Blocks blocks(1000, 8, 16);
    Rng rng(1);
    fill(window.data, blocks.range(), rng);
    CHECK(arrives(sides, window.data, blocks, blocks));
    CHECK(mappings_to_read() == 0); // those from before made room
}

// Hostile offers --------------------------------------------------------------------

DEVICE_TEST("hostile offers of memory to map are declined, and nothing stays mapped") {
    OfferVictim a;
    CHECK(a.takes(a.honest())); // the others differ from it in one thing
    CHECK(open_windows() == 1); // its own: of what was passed, the mapping is enough
    const std::size_t before = mappings_to_read();
    const auto check = [&](const char *what, auto &&change) {
        INFO(what);
        for (const bool is_known : {false, true}) {
            const Shared another(a.data);
            DirectHeader offer = a.honest(is_known ? a.shared : another);
            change(offer);
            CHECK_FALSE(a.takes(offer));
        }
    };
    check("beyond the end", [](DirectHeader &o) { o.place.base = 1; });
    check("before the beginning", [](DirectHeader &o) { o.place.base = UINT64_MAX; });
    check("far beyond", [](DirectHeader &o) { o.place.base = uint64_t{1} << 40; });
    check("a sum that wraps around", [](DirectHeader &o) { o.place.base = UINT64_MAX - 4095; });
    // Memory that is known is found without its descriptor.
    const auto check_new = [&](const char *what, auto &&change) {
        INFO(what);
        const Shared another(a.data);
        DirectHeader offer = a.honest(another);
        change(offer);
        CHECK_FALSE(a.takes(offer));
    };
    check_new("no descriptor", [](DirectHeader &o) { o.place.descriptors = 0; });
    check_new("two descriptors", [](DirectHeader &o) { o.place.descriptors = 2; });
    check_new("a descriptor that has not come",
              [](DirectHeader &o) { o.place.first_descriptor += 1; });
    check_new("another kind of handle", [](DirectHeader &o) { o.place.handle.bytes[0] ^= 1; });
    check_new("a name that is followed by more",
              [](DirectHeader &o) { o.place.handle.bytes[sizeof(AttachableName)] = 1; });
    for (const uint64_t bytes :
         {uint64_t{0}, uint64_t{4095}, uint64_t{8192}, uint64_t{1} << 40, UINT64_MAX})
        check_new("another size", [&](DirectHeader &o) {
            std::memcpy(o.place.handle.bytes + offsetof(AttachableName, bytes), &bytes,
                        sizeof bytes);
        });
    CHECK(mappings_to_read() <= before + 4); // those whose range was wrong
    check_usable(a.pair);
}

DEVICE_TEST("memory whose size may change is not mapped") {
    OfferVictim a;
    for (const int seals :
         {0, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW | F_SEAL_SEAL, F_SEAL_SHRINK | F_SEAL_SEAL}) {
        const Shared shared(a.data, seals);
        const std::size_t before = mappings_to_read();
        CHECK_FALSE(a.takes(a.honest(shared)));
        CHECK(mappings_to_read() == before);
    }
    // Nor what is no such memory at all.
    Shared pipe(a.data);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pipe.file = FileDescriptor(ends[0]);
    const FileDescriptor other(ends[1]);
    CHECK_FALSE(a.takes(a.honest(pipe)));
    check_usable(a.pair);
}

} // namespace direct_attached_test
