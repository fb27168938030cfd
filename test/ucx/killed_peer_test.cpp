// A process is killed while data is moved between it and this one. The program ucx_peer is named by
// the environment variable UCD_TEST_PEER.

#include "support/catch.hpp"
#include "ucx/rma_pair.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace killed_peer_test {

using namespace ucdtest;

namespace {

class Peer {
public:
    explicit Peer(const char *role, const char *argument = nullptr) {
        const char *program = std::getenv("UCD_TEST_PEER");
        REQUIRE(program != nullptr);
        int in[2], out[2];
        REQUIRE(pipe(in) == 0);
        REQUIRE(pipe(out) == 0);
        process_ = fork();
        REQUIRE(process_ >= 0);
        if (process_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // it would go on for ever without this one
            dup2(in[0], 0);
            dup2(out[1], 1);
            for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
            execl(program, program, role, argument, static_cast<char *>(nullptr));
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        to_ = fdopen(in[1], "w");
        from_ = fdopen(out[0], "r");
    }
    ~Peer() {
        kill_it();
        std::fclose(to_);
        std::fclose(from_);
    }
    // What UCX has to say comes the same way.
    std::string read(const std::string &name) {
        const std::string key = name + " ";
        for (std::string line;;) {
            const int c = std::fgetc(from_);
            REQUIRE(c != EOF);
            if (c != '\n')
                line += static_cast<char>(c);
            else if (line.compare(0, key.size(), key) == 0)
                return from_hex(line.substr(key.size()));
            else
                line.clear();
        }
    }
    void write_line(const std::string &line) {
        std::fprintf(to_, "%s\n", line.c_str());
        std::fflush(to_);
    }
    void kill_it() {
        if (process_ < 0) return;
        kill(process_, SIGKILL);
        CHECK(has_been_killed(0));
    }
    // UCX takes a process for alive until its parent has asked how it ended.
    bool has_been_killed(int options = WNOHANG) {
        int status = 0;
        if (process_ < 0) return true;
        if (waitpid(process_, &status, options) != process_) return false;
        // It was at work until then.
        CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
        process_ = -1;
        return true;
    }

private:
    pid_t process_ = -1;
    std::FILE *to_ = nullptr, *from_ = nullptr;
};

// The peer gets the address last: it may send as soon as it has it, and be dead before this process
// is connected with it.
void connect(Side &side, Peer &peer) {
    side.connect(peer.read("address"));
    peer.write_line(to_hex(side.address()));
}

constexpr std::intptr_t doubles = 4 << 20;

// A test waits at most so long for what has to happen. Only a failure takes so long.
constexpr std::chrono::seconds patience(60);

void lose_peer(bool peer_sends, std::size_t chunks_before) {
    const Keys keys({{"ucd.ucx.chunk", "10000"}, {"ucd.ucx.depth", "2"}});
    PipelineSide side(keys.get());
    {
        Peer peer(peer_sends ? "send" : "receive");
        connect(side, peer);
        REQUIRE(side.can_fail);
        std::vector<double> field(2 * doubles);
        ucd_type_t type;
        ok(ucd_create_vector(doubles, 1, 2, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type), "vector");
        Outcome outcome;
        if (peer_sends)
            start_receive(side, {field.data(), 1, type}, outcome, 1, UCD_INFO__NULL, 1);
        else
            start_send(side, {field.data(), 1, type}, outcome);
        ok(ucd_free(&type), "free");
        const auto chunks = [&] {
            std::size_t n = 0;
            const int wanted = peer_sends ? UCD_UCX_EVENT__RECEIVED : UCD_UCX_EVENT__SENT;
            for (const ucd_ucx_event_t &e : side.events) n += e.what == wanted;
            return n;
        };
        const auto limit = std::chrono::steady_clock::now() + patience;
        const auto in_time = [&] { return std::chrono::steady_clock::now() < limit; };
        while (chunks() < chunks_before && in_time()) ucd_ucx_progress(side.pipeline);
        REQUIRE(chunks() >= chunks_before);
        REQUIRE(!outcome.done());
        peer.kill_it();
        while (!outcome.done() && in_time()) ucd_ucx_progress(side.pipeline);
        REQUIRE(outcome.done());
        CHECK(outcome.result.status != UCS_OK);
        CHECK(outcome.result.bytes == 0);
    }
    // The worker goes on, with itself and with another.
    side.close_endpoint();
    PipelineSide other;
    side.connect(other.address());
    other.connect(side.address());
    int in[4] = {1, 2, 3, 4}, out[4] = {};
    Outcome sent, received;
    start_receive(side, {out, 4, UCD_TYPE__INT}, received, 2);
    start_send(other, {in, 4, UCD_TYPE__INT}, sent, 2);
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (!received.done() && std::chrono::steady_clock::now() < limit) {
        ucd_ucx_progress(side.pipeline);
        ucd_ucx_progress(other.pipeline);
    }
    CHECK(received.result.status == UCS_OK);
    CHECK(out[3] == 4);
}

// The same of a one-sided operation: a get from the other process, or its put into this one.
void lose_one_sided_peer(bool is_target) {
    const Keys keys({{"ucd.ucx.chunk", "10000"}, {"ucd.ucx.depth", "2"}});
    RmaSide side(keys.get(), UCS_THREAD_MODE_SINGLE);
    std::vector<double> field(doubles, 1); // the other's are 0
    const auto moved = [&] { return field[10000] == 0; };
    const auto limit = std::chrono::steady_clock::now() + patience;
    const auto in_time = [&] { return std::chrono::steady_clock::now() < limit; };
    Outcome outcome;
    {
        Window window(side, field.data(), doubles * sizeof(double));
        Peer peer(is_target ? "serve" : "put");
        connect(side.side, peer);
        REQUIRE(side.side.can_fail);
        if (is_target) {
            const std::string text = peer.read("key");
            ucd_ucx_window_key_t key;
            REQUIRE(text.size() == sizeof key);
            std::memcpy(&key, text.data(), sizeof key);
            start_get(side, {field.data(), doubles, UCD_TYPE__DOUBLE},
                      {&key, 0, doubles, UCD_TYPE__DOUBLE}, outcome);
        } else {
            peer.write_line(to_hex(std::string(reinterpret_cast<const char *>(window.key()),
                                               sizeof(ucd_ucx_window_key_t))));
        }
        while (!moved() && in_time()) side.progress();
        REQUIRE(moved());
        REQUIRE(!outcome.done());
        peer.kill_it();
        while (is_target ? !outcome.done()
                         : ucd_ucx_window_destroy(&window.handle) != UCD_SUCCESS) {
            side.progress();
            REQUIRE(in_time());
        }
        if (is_target) CHECK(outcome.result.status != UCS_OK);
        if (is_target) CHECK(outcome.result.bytes == 0);
    }
    side.close_endpoint();
    // The worker goes on, with another.
    RmaSide other(UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
    side.side.connect(other.side.address());
    other.side.connect(side.side.address());
    int in[4] = {1, 2, 3, 4}, out[4] = {};
    const Window window(side, out, sizeof out);
    Outcome put;
    start_put(other, {in, 4, UCD_TYPE__INT}, {window.key(), 0, 4, UCD_TYPE__INT}, put);
    while (!put.done() && in_time()) {
        side.progress();
        other.progress();
    }
    CHECK(put.result.status == UCS_OK);
    CHECK(out[3] == 4);
}

} // namespace

// It is killed by its own hand, in the callback in which UCX lets the library pack or unpack its
// data. The last length is one of chunks, for which the queue of the transport is too short.
TEST_CASE("a process is killed while UCX has its data packed or unpacked by callbacks") {
    for (const std::size_t bytes : {8000, 64 << 10, 512 << 10, 64 << 20}) {
        for (const bool peer_sends : {true, false}) {
            INFO(bytes << " bytes, the peer sends: " << peer_sends);
            PipelineSide side;
            Peer peer(peer_sends ? "pack" : "unpack", std::to_string(bytes).c_str());
            connect(side, peer);
            REQUIRE(side.can_fail);
            std::vector<char> field(2 * bytes, 'f');
            ucd_type_t type;
            ok(ucd_create_vector(static_cast<std::intptr_t>(bytes / 8), 8, 16, UCD_TYPE__BYTE,
                                 UCD_INFO__NULL, &type),
               "vector");
            Outcome outcome;
            if (peer_sends)
                start_receive(side, {field.data(), 1, type}, outcome, 1, UCD_INFO__NULL, 1);
            else
                start_send(side, {field.data(), 1, type}, outcome);
            ok(ucd_free(&type), "free");
            const auto limit = std::chrono::steady_clock::now() + patience;
            const auto progress_until = [&](auto &&condition) {
                while (!condition() && std::chrono::steady_clock::now() < limit)
                    ucd_ucx_progress(side.pipeline);
                return condition();
            };
            REQUIRE(progress_until([&] { return peer.has_been_killed(); }));
            // A receive of which nothing, or a part, has come as one message knows no endpoint.
            for (int i = 0; i < 1000; ++i) ucd_ucx_progress(side.pipeline);
            if (peer_sends && bytes <= (512 << 10) && !outcome.done())
                ok(ucd_ucx_cancel(side.pipeline, outcome.request), "cancel");
            REQUIRE(progress_until([&] { return outcome.done(); }));
            // A send is complete when UCX has taken all of it.
            CHECK((outcome.result.status != UCS_OK || (!peer_sends && bytes <= (512 << 10))));
        }
    }
}

TEST_CASE("the sender is killed") {
    lose_peer(true, 3);
}

TEST_CASE("the receiver is killed") {
    lose_peer(false, 3);
}

TEST_CASE("the target of a get is killed") {
    lose_one_sided_peer(true);
}

TEST_CASE("the origin of a put is killed") {
    lose_one_sided_peer(false);
}

} // namespace killed_peer_test
