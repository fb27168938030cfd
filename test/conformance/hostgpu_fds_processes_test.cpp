// Device memory that file descriptors identify, between processes, of which one may end at any
// time.
#include "support/catch.hpp"

#include "support/fd_ranges.hpp"
#include "support/moves/strided_move.hpp"

#include <ucd_memory.h>

#include <algorithm>
#include <memory>
#include <vector>

#include <sys/socket.h>

namespace hostgpu_fds_processes_test {

using namespace ucdtest;

// Begun by the tests below.
TEST_CASE("the process that opens", "[.]") {
    DeviceSession session;
    const int socket = OtherProcess::its_socket();
    SharedRange range;
    void *memory = nullptr;
    for (char word; (word = receive_word(socket, &range)) != 0; send_word(socket, word)) {
        std::uintptr_t bytes = 0;
        switch (word) {
        case 'o':
            memory = open_range(range, bytes);
            range = {};
            break;
        case 'c': complement(memory, ints); break;
        case 'e': REQUIRE(ucd_ipc_close(memory) == UCD_SUCCESS); break;
        default: FAIL("an unknown word");
        }
    }
    CHECK(mock::counts.live_opens == 0);
}

TEST_CASE("the process that exports", "[.]") {
    DeviceSession session;
    const int socket = OtherProcess::its_socket();
    Pieces pieces({unit, unit, unit});
    const std::vector<char> data = filled(3 * unit);
    mock::write(pieces.address, data.data(), data.size());
    {
        const SharedRange range = export_range(pieces.address + unit / 2, 2 * unit);
        send_word(socket, 'o', &range);
    }
    if (receive_word(socket) == 'u') {
        pieces.unmap();
        send_word(socket, 'u');
    }
    while (receive_word(socket) != 0) {
    }
}

TEST_CASE("another process changes pieces across their seams, until it closes or dies") {
    DeviceSession session;
    const Pieces pieces({unit, 2 * unit, unit});
    const std::size_t offset = unit / 2 + 4;
    std::vector<char> before = filled(4 * unit), after(before.size());
    mock::write(pieces.address, before.data(), before.size());
    const int open_before = count_open_files();
    for (const bool dies : {false, true}) {
        OtherProcess other("the process that opens");
        {
            const SharedRange range = export_range(pieces.address + offset, extent);
            say(other, 'o', &range);
        }
        say(other, 'c');
        mock::read(after.data(), pieces.address, after.size());
        CHECK(is_complemented(after, before, offset, ints));
        before = after;
        if (dies) {
            other.kill_it();
            continue;
        }
        say(other, 'e');
        ::shutdown(other.socket(), SHUT_WR);
        CHECK(other.end() == 0);
    }
    CHECK(count_open_files() == open_before);
    mock::read(after.data(), pieces.address, after.size());
    CHECK(after == before);
}

TEST_CASE("what was opened stays when its owner unmaps it or dies") {
    DeviceSession session;
    const std::vector<char> before = filled(3 * unit);
    for (const bool unmaps : {true, false}) {
        OtherProcess other("the process that exports");
        SharedRange range;
        REQUIRE(receive_word(other.socket(), &range) == 'o');
        REQUIRE(range.fds.count() == 3);
        std::uintptr_t bytes = 0;
        auto *const memory = static_cast<char *>(open_range(range, bytes));
        CHECK(bytes == 2 * unit);
        range = {};
        if (unmaps) say(other, 'u');
        other.kill_it();
        std::vector<char> data(bytes);
        mock::read(data.data(), memory, data.size());
        CHECK(std::equal(data.begin(), data.end(), before.begin() + unit / 2));
        complement(memory, ints);
        const std::vector<char> old = data;
        mock::read(data.data(), memory, data.size());
        CHECK(is_complemented(data, old, 0, ints));
        CHECK(mock::counts.live_opens == 1);
        CHECK(ucd_ipc_close(memory) == UCD_SUCCESS);
        CHECK(mock::counts.live_opens == 0);
    }
}

TEST_CASE("the last ucd_finalize closes pieces and memory of pools") {
    const auto session = std::make_unique<DeviceSession>();
    OtherProcess other("the process that exports");
    SharedRange range;
    REQUIRE(receive_word(other.socket(), &range) == 'o');
    std::uintptr_t bytes = 0;
    (void)open_range(range, bytes);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(mock::counts.live_opens == 0);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace hostgpu_fds_processes_test
