// One-sided operations with a side that says by hand, byte by byte, what docs/one-sided.md tells:
// it shares no code with the library.
#pragma once

#include "ucx/rma_pair.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace ucdtest {

inline std::string little_endian(std::uint64_t number, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i);
    return text;
}

inline std::uint64_t number_in(const std::string &message, std::size_t at, std::size_t bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes; i > 0; --i)
        number = number << 8 | static_cast<unsigned char>(message.at(at + i - 1));
    return number;
}

inline std::string flattened(ucd_type_t type) {
    std::uintptr_t size;
    ok(ucd_flatten_size(type, &size), "ucd_flatten_size");
    std::string bytes(size, '\0');
    ok(ucd_flatten(type, bytes.data(), size), "ucd_flatten");
    return bytes;
}

namespace wire {

enum : unsigned { put = 1, get, accumulate, get_accumulate, type, answer, need_type };
enum : unsigned { done = 0, no_window, out_of_range, invalid, not_supported, no_memory, failed };
constexpr std::size_t fixed_bytes = 60;

struct Request {
    unsigned version = 1, what = put, op = 0, form = 1;
    std::uint64_t number = 1;
    std::string window;
    std::int64_t displacement = 0;
    std::uint64_t count = 1, bytes = 0, element = 0;
    std::string type;

    std::string text() const {
        std::string t;
        for (const unsigned byte : {version, what, op, form}) t += static_cast<char>(byte);
        t += little_endian(number, 8) + window;
        for (const std::uint64_t n :
             {static_cast<std::uint64_t>(displacement), count, bytes, element})
            t += little_endian(n, 8);
        return t + type;
    }
};

inline std::string short_message(unsigned what, std::uint64_t number, unsigned first = 0,
                                 unsigned second = 0) {
    std::string t;
    for (const unsigned byte : {1u, what, first, second}) t += static_cast<char>(byte);
    return t + little_endian(number, 8);
}

// The name in a key.
inline std::string window_name(const ucd_ucx_window_key_t &key) {
    return {reinterpret_cast<const char *>(key.bytes) + 8, 16};
}

} // namespace wire

// A worker with a pipeline, in place of one that takes part.
class HandSide {
public:
    struct Message {
        std::string header;
        ucd_ucx_data_t data;
        std::uint64_t bytes;
        unsigned what() const { return static_cast<unsigned char>(header.at(1)); }
        std::uint64_t number() const { return number_in(header, 4, 8); }
    };

    explicit HandSide(RmaSide &other) : other_(other) {
        side.open_pipeline(UCD_INFO__NULL);
        ok(ucd_ucx_am_set_handler(side.pipeline, on_message, this), "ucd_ucx_am_set_handler");
        side.connect(other.side.address());
        other.side.connect(side.address());
    }
    ~HandSide() {
        while (!messages.empty()) drop(next());
        other_.close_endpoint();
    }

    void progress() {
        ucd_ucx_progress(side.pipeline);
        other_.progress();
    }
    template <class Condition>
    void until(Condition &&condition) {
        for (long i = 0; !condition(); ++i) {
            if (i > 3000000) throw std::runtime_error("it takes too long");
            progress();
        }
    }
    void send(const std::string &header, const std::string &data = {}) {
        ucd_ucx_request_t request;
        ok(ucd_ucx_am_send_nbx(side.pipeline, side.ep, 0, header.data(), header.size(), data.data(),
                               data.size(), UCD_TYPE__BYTE, nullptr, &request),
           "ucd_ucx_am_send_nbx");
        if (request == UCD_UCX_REQUEST__NULL) return;
        until([&] { return ucd_ucx_request_check(request, nullptr) != UCS_INPROGRESS; });
        ucd_ucx_request_free(request);
    }
    Message next() {
        until([&] { return !messages.empty(); });
        Message m = messages.front();
        messages.pop_front();
        return m;
    }
    void drop(const Message &m) { ok(ucd_ucx_am_drop(side.pipeline, m.data), "ucd_ucx_am_drop"); }
    std::string receive(const Message &m) {
        std::string bytes(m.bytes, '\0');
        ucd_ucx_request_t request;
        ok(ucd_ucx_am_recv_nbx(side.pipeline, m.data, bytes.data(), bytes.size(), UCD_TYPE__BYTE,
                               nullptr, &request),
           "ucd_ucx_am_recv_nbx");
        until([&] { return ucd_ucx_request_check(request, nullptr) != UCS_INPROGRESS; });
        ucx(ucd_ucx_request_check(request, nullptr), "a receive");
        ucd_ucx_request_free(request);
        return bytes;
    }

    Side side;
    std::deque<Message> messages;

private:
    static void on_message(void *self, unsigned, const void *header, size_t length,
                           ucd_ucx_data_t data, uint64_t bytes, ucp_ep_h) {
        static_cast<HandSide *>(self)->messages.push_back(
            {std::string(static_cast<const char *>(header), length), data, bytes});
    }
    RmaSide &other_;
};

} // namespace ucdtest
