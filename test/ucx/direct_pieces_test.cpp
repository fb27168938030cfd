// Another process sends from device memory that file descriptors identify, and this one reads it
// where it is: pieces of physical memory, across their seams, and memory of pools. The other
// process maps other memory in their place, and is killed.

#include "support/catch.hpp"
#include "support/device_test.hpp"

#include "support/fd_ranges.hpp"
#include "support/moves/strided_move.hpp"
#include "ucx/pair.hpp"

#include <chrono>
#include <functional>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace direct_pieces_test {

using namespace ucdtest;

namespace {

// Whichever route is not direct goes through the host, so that what is open is open for this one.
const Keys &keys() {
    static const Keys keys({{"ucd.ucx.direct", "always"},
                            {"ucd.ucx.ring", "none"},
                            {"ucd.ucx.eager", "64"},
                            {"ucd.ucx.chunk", "1000"}});
    return keys;
}

void send_address(int socket, const Side &side) {
    const std::string address = side.address();
    REQUIRE(::send(socket, address.data(), address.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(address.size()));
}

std::string receive_address(int socket) {
    std::string address(8192, '\0');
    const ssize_t length = ::recv(socket, address.data(), address.size(), 0);
    REQUIRE(length > 0);
    address.resize(static_cast<std::size_t>(length));
    return address;
}

void progress_until(Side &side, const std::function<bool()> &condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (ucd_ucx_progress(side.pipeline) == 0) sched_yield();
        if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("it takes too long");
    }
}

bool has_word(int socket) {
    pollfd in = {socket, POLLIN, 0};
    return ::poll(&in, 1, 0) != 0;
}

// What is sent: every third int, from within the first piece on. The sum of the pieces ends within
// the last one.
constexpr std::size_t offset = unit / 2 + 4;
std::vector<std::size_t> sizes() {
    return {unit, 2 * unit, unit};
}

void fill(char *memory, std::size_t bytes, char with) {
    std::vector<char> data = filled(bytes);
    for (char &byte : data) byte = static_cast<char>(byte ^ with);
    mock::write(memory, data.data(), data.size());
}

// Every second int of memory that is received into.
struct Received {
    void *memory = nullptr;
    ucd_type_t type = UCD_TYPE__NULL;
    static constexpr std::size_t bytes = 2 * ints * sizeof(int);

    Received() {
        REQUIRE(ucd_memory_alloc(device().c_str(), UCD_MEMORY__DEVICE, bytes, &memory) ==
                UCD_SUCCESS);
        REQUIRE(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS);
        const std::vector<char> before(bytes, 'g');
        mock::write(memory, before.data(), bytes);
    }
    ~Received() {
        (void)ucd_free(&type);
        (void)ucd_memory_free(memory);
    }
    Received(const Received &) = delete;
    Received &operator=(const Received &) = delete;

    // What was sent, byte by byte, and in the gaps what was there before.
    bool is(char with) const {
        std::vector<char> data(bytes);
        mock::read(data.data(), memory, bytes);
        for (std::size_t i = 0; i < bytes; ++i) {
            const std::size_t number = i / sizeof(int), in_int = i % sizeof(int);
            const std::size_t from = offset + number / 2 * 3 * sizeof(int) + in_int;
            const char sent = static_cast<char>(pattern(from) ^ with);
            if (data[i] != (number % 2 == 0 ? sent : 'g')) return false;
        }
        return true;
    }
};

// One transfer, which is asked for by a word to the other process.
ucs_status_t receive(Side &side, const OtherProcess &other, char word, const Received &into) {
    Outcome outcome;
    start_receive(side, {into.memory, 1, into.type}, outcome);
    send_word(other.socket(), word);
    progress_until(side, [&] { return outcome.done(); });
    return outcome.result.status;
}

// Until the two processes have a link, and memory is open.
void receive_until_direct(Side &side, const OtherProcess &other) {
    for (int i = 0; mock::counts.live_opens == 0; ++i) {
        REQUIRE(i < 1000);
        const Received received;
        REQUIRE(receive(side, other, 's', received) == UCS_OK);
        REQUIRE(received.is(0));
    }
}

struct Connected {
    Side side;
    OtherProcess other;
    explicit Connected(const char *test_case) : other(test_case) {
        side.open_pipeline(keys().get());
        send_address(other.socket(), side);
        side.connect(receive_address(other.socket()));
    }
};

// Sends at each word, until the parent has gone.
void send_at_words(char *memory) {
    const int socket = OtherProcess::its_socket();
    PipelineSide side(keys().get());
    send_address(socket, side);
    side.connect(receive_address(socket));
    ucd_type_t type = every_third(ints);
    fill(memory, 4 * unit, 0);
    for (;;) {
        progress_until(side, [&] { return has_word(socket); });
        const char word = receive_word(socket);
        if (word == 0) break;
        if (word == 'r') { // other memory in the place of the second piece
            mock::replace_piece(memory + unit);
            fill(memory, 4 * unit, 'r');
        }
        const int files = count_open_files();
        Outcome outcome;
        start_send(side, {memory + offset, 1, type}, outcome);
        progress_until(side, [&] { return outcome.done(); });
        REQUIRE(outcome.result.status == UCS_OK);
        if (word == 'r') REQUIRE(count_open_files() == files); // the reader has its own
    }
    (void)ucd_free(&type);
}

} // namespace

DEVICE_TEST("the process that sends from pieces", "[.]") {
    const Pieces pieces(sizes());
    send_at_words(pieces.address);
}

DEVICE_TEST("the process that sends from a pool", "[.]") {
    void *const memory = mock::allocate_in_pool(0, 4 * unit);
    send_at_words(static_cast<char *>(memory));
    mock::release(memory);
}

DEVICE_TEST("pieces and memory of pools are read where they are, and opened once") {
    for (const char *sender :
         {"the process that sends from pieces", "the process that sends from a pool"}) {
        {
            Connected c(sender);
            receive_until_direct(c.side, c.other);
            CHECK(mock::counts.live_opens == 1);
            const int opens = mock::counts.opens, files = count_open_files();
            for (int i = 0; i < 20; ++i) {
                const Received received;
                REQUIRE(receive(c.side, c.other, 's', received) == UCS_OK);
                CHECK(received.is(0));
            }
            CHECK(mock::counts.opens == opens);
            CHECK(count_open_files() == files);
        }
        CHECK(mock::counts.live_opens == 0);
    }
}

DEVICE_TEST("other memory that is mapped in the place of a piece is opened anew") {
    Connected c("the process that sends from pieces");
    receive_until_direct(c.side, c.other);
    const int opens = mock::counts.opens;
    const Received received;
    REQUIRE(receive(c.side, c.other, 'r', received) == UCS_OK);
    CHECK(received.is('r'));
    CHECK(mock::counts.opens == opens + 1);
    REQUIRE(receive(c.side, c.other, 's', received) == UCS_OK); // the sender is content
}

DEVICE_TEST("memory that cannot be opened takes another route, and is passed again") {
    Connected c("the process that sends from pieces");
    receive_until_direct(c.side, c.other);
    for (int i = 0; i < 3; ++i) {
        // Each refusal costs a transfer by another route, and the next one, which finds the
        // descriptors closed.
        mock::knobs.failing_opens = 10;
        const Received first, second, third;
        REQUIRE(receive(c.side, c.other, 'r', first) == UCS_OK);
        CHECK(first.is('r'));
        mock::knobs.failing_opens = 0;
        REQUIRE(receive(c.side, c.other, 's', second) == UCS_OK);
        CHECK(second.is('r'));
        const int opens = mock::counts.opens;
        REQUIRE(receive(c.side, c.other, 's', third) == UCS_OK);
        CHECK(third.is('r'));
        CHECK(mock::counts.opens == opens + 1);
    }
}

DEVICE_TEST("what was opened of pieces is closed when their process is killed") {
    {
        Connected c("the process that sends from pieces");
        receive_until_direct(c.side, c.other);
        c.other.kill_it();
        if (c.side.can_fail) progress_until(c.side, [&] { return mock::counts.live_opens == 0; });
    }
    CHECK(mock::counts.live_opens == 0);
}

} // namespace direct_pieces_test
