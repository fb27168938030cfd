// The other process of killed_peer_test: moves data until it is killed. Addresses and keys of
// windows come and go as lines of hexadecimal digits.
//
//   ucx_peer send|receive  a transfer
//   ucx_peer put           into a window of the other process, whose key comes behind its address
//   ucx_peer serve         has a window, whose key goes behind its address
//   ucx_peer pack BYTES    sends, and is killed while the data is packed
//   ucx_peer unpack BYTES  receives, and is killed while the data is unpacked
//   ucx_peer exchange      sends and receives messages of many sizes at a time, and ends

#include "ucx/rma_pair.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using namespace ucdtest;

namespace {

struct Message {
    std::vector<int> in, out;
    Outcome sent, received;
};

int value(std::size_t message, std::size_t i) {
    return static_cast<int>(message * 1000003 + i);
}

// The same at both sides. Every other int of what is sent is received as a contiguous array.
void exchange(Side &side) {
    std::vector<std::unique_ptr<Message>> messages;
    for (std::size_t m = 0; m < 24; ++m) {
        auto &message = *messages.emplace_back(std::make_unique<Message>());
        const std::size_t ints = m % 4 == 3 ? 400000 : std::size_t{1} << (m % 16);
        message.out.resize(ints);
        for (std::size_t i = 0; i < 2 * ints; ++i) message.in.push_back(value(m, i));
        ucd_type_t type;
        ok(ucd_create_vector(static_cast<std::intptr_t>(ints), 1, 2, UCD_TYPE__INT, UCD_INFO__NULL,
                             &type),
           "vector");
        start_receive(side, {message.out.data(), ints, UCD_TYPE__INT}, message.received, m);
        start_send(side, {message.in.data(), 1, type}, message.sent, m);
        ok(ucd_free(&type), "free");
    }
    for (std::size_t m = 0; m < messages.size(); ++m) {
        Message &message = *messages[m];
        while (!message.sent.done() || !message.received.done()) ucd_ucx_progress(side.pipeline);
        ucx(message.sent.result.status, "a send");
        ucx(message.received.result.status, "a receive");
        for (std::size_t i = 0; i < message.out.size(); ++i)
            if (message.out[i] != value(m, 2 * i)) throw std::runtime_error("other bytes came");
    }
    std::cout << "exchanged" << std::endl;
    // The other side may still need this one, until it is told that both are through.
    for (pollfd in = {0, POLLIN, 0}; poll(&in, 1, 0) == 0;) ucd_ucx_progress(side.pipeline);
}

constexpr std::intptr_t doubles = 4 << 20;

std::string read_hex() {
    std::string line;
    std::getline(std::cin, line);
    return from_hex(line);
}

// Memory that starts with so many bytes; whoever touches what is behind them is killed.
char *memory_before_death(std::size_t bytes) {
    constexpr std::size_t all = std::size_t{1} << 30, page = 4096;
    void *const memory = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const std::size_t begin = (bytes + page - 1) / page * page;
    if (memory == MAP_FAILED || mprotect(memory, begin, PROT_READ | PROT_WRITE) != 0)
        throw std::runtime_error("no memory");
    std::signal(SIGSEGV, [](int) { (void)kill(getpid(), SIGKILL); });
    return static_cast<char *>(memory);
}

// One-sided: it ends only with the process.
[[noreturn]] void take_part(bool serves) {
    const Keys keys({{"ucd.ucx.chunk", "10000"}, {"ucd.ucx.depth", "2"}});
    RmaSide side(keys.get(), UCS_THREAD_MODE_SINGLE);
    std::vector<double> field(doubles);
    std::cout << "address " << to_hex(side.side.address()) << std::endl;
    const auto text_of = [](const ucd_ucx_window_key_t &key) {
        return std::string(reinterpret_cast<const char *>(&key), sizeof key);
    };
    const Window window(side, field.data(), doubles * sizeof(double));
    if (serves) std::cout << "key " << to_hex(text_of(*window.key())) << std::endl;
    side.side.connect(read_hex());
    ucd_ucx_window_key_t key;
    ucd_ucx_request_t request;
    if (!serves) {
        const std::string text = read_hex();
        std::memcpy(&key, text.data(), std::min(text.size(), sizeof key));
        ok(ucd_ucx_put_nbx(side.rma, side.ep(), field.data(), doubles, UCD_TYPE__DOUBLE, &key, 0,
                           doubles, UCD_TYPE__DOUBLE, nullptr, &request),
           "put");
    }
    for (;;) side.progress();
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3 || ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) return 2;
    const bool sends = std::strcmp(argv[1], "send") == 0 || std::strcmp(argv[1], "pack") == 0;
    try {
        for (const char *role : {"put", "serve"})
            if (std::strcmp(argv[1], role) == 0) take_part(*role == 's');
        Side side;
        const bool dies = argc == 3;
        const Keys keys({{"ucd.ucx.chunk", "10000"}, {"ucd.ucx.depth", "2"}});
        side.open_pipeline(dies ? UCD_INFO__NULL : keys.get());
        std::cout << "address " << to_hex(side.address()) << std::endl;
        side.connect(read_hex());
        if (std::strcmp(argv[1], "exchange") == 0) {
            exchange(side);
            return 0;
        }
        std::vector<double> field(dies ? 0 : 2 * doubles);
        void *data = field.data();
        std::intptr_t rows = doubles;
        if (dies) {
            rows = std::atol(argv[2]) / static_cast<long>(sizeof(double));
            data = memory_before_death(static_cast<std::size_t>(rows) * sizeof(double)); // half
        }
        ucd_type_t type;
        ok(ucd_create_vector(rows, 1, 2, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type), "vector");
        ucd_ucx_request_t request;
        if (sends)
            ok(ucd_ucx_send_nbx(side.pipeline, side.ep, data, 1, type, 1, nullptr, &request),
               "send");
        else
            ok(ucd_ucx_recv_nbx(side.pipeline, data, 1, type, 1, 1, nullptr, &request), "receive");
        // It never is: the other process takes its time, and kills this one.
        while (ucd_ucx_request_check(request, nullptr) == UCS_INPROGRESS)
            ucd_ucx_progress(side.pipeline);
        return 3;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "ucx_peer: %s\n", e.what());
        std::_Exit(2);
    }
}
