// Links with other processes: who they are, that they end, and that other users are refused.

#include "support/catch.hpp"
#include "ucx/child_process.hpp"
#include "ucx/links_pair.hpp"

namespace links_processes_test {

using namespace ucd_ucx;
using namespace ucdtest;

namespace {

void serve(LinksWithLedger &side) {
    (void)side.until([] { return false; });
}

} // namespace

TEST_CASE("a reader knows the owner's process, and notices its end") {
    const Pipe pipe;
    Child child([&] {
        LinksWithLedger owner;
        pipe.put(*owner.links.introduce(endpoint(1)));
        serve(owner);
    });
    LinksWithLedger reader;
    reader.links.connect(endpoint(2), pipe.get<Introduction>());
    REQUIRE(reader.until([&] { return reader.links.to_owner(endpoint(2)) != nullptr; }));
    CHECK(reader.links.to_owner(endpoint(2))->pid() == child.pid());
    const auto ended = [&] { return reader.links.take_end().ep == endpoint(2); };
    CHECK_FALSE(ended());
    child.kill();
    CHECK(reader.until(ended));
    CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
    reader.links.close(endpoint(2));
    CHECK(reader.ledger.bytes() == 0);
}

TEST_CASE("an owner notices the end of a reader's process") {
    const Pipe pipe;
    LinksWithLedger owner;
    const auto introduction = owner.links.introduce(endpoint(1));
    REQUIRE(introduction);
    Child child([&] {
        LinksWithLedger reader;
        reader.links.connect(endpoint(2), *introduction);
        serve(reader);
    });
    REQUIRE(owner.until([&] { return owner.links.to_reader(endpoint(1)) != nullptr; }));
    CHECK(owner.links.to_reader(endpoint(1))->pid() == child.pid());
    child.kill();
    CHECK(owner.until([&] { return owner.links.take_end().ep == endpoint(1); }));
    CHECK(owner.links.to_reader(endpoint(1)) == nullptr);
}

TEST_CASE("an owner that dies before it has answered keeps no reader waiting") {
    const Pipe pipe;
    Child child([&] {
        LinksWithLedger owner;
        pipe.put(*owner.links.introduce(endpoint(1)));
        ::pause();
    });
    LinksWithLedger reader;
    reader.links.connect(endpoint(2), pipe.get<Introduction>());
    const std::size_t before = reader.links.descriptors();
    child.kill();
    CHECK(reader.until([&] { return reader.links.descriptors() < before; }));
    CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
}

TEST_CASE("a child that inherits the owner's sockets is not taken for it") {
    const Pipe pipe, answer;
    Child child([&] {
        LinksWithLedger owner;
        pipe.put(*owner.links.introduce(endpoint(1)));
        const Child heir([&] { serve(owner); });
        answer.put(heir.pid());
        ::pause();
    });
    LinksWithLedger reader;
    const auto introduction = pipe.get<Introduction>();
    const auto heir = answer.get<pid_t>();
    reader.links.connect(endpoint(2), introduction);
    const std::size_t before = reader.links.descriptors();
    CHECK(reader.until([&] { return reader.links.descriptors() < before; }));
    CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
    ::kill(heir, SIGKILL);
}

TEST_CASE("processes of other users are refused") {
    if (::geteuid() != 0) return; // only root can become another user
    constexpr uid_t other = 65534;
    const Pipe pipe;
    SECTION("as the reader") {
        LinksWithLedger owner;
        const auto introduction = owner.links.introduce(endpoint(1));
        REQUIRE(introduction);
        const Child child([&] {
            if (::setresuid(other, other, other) != 0) ::_exit(1);
            Descriptor socket;
            const bool connected = connect_to(introduction->socket, socket) == Connected::yes;
            char data[128];
            SocketMessage heard;
            while (connected &&
                   read_message(socket.get(), data, sizeof data, heard) != Heard::closed)
                ::usleep(1000);
            pipe.put(connected);
        });
        std::size_t accepted = 0;
        std::atomic<bool> closed = false;
        std::thread waits([&] { closed = pipe.get<bool>(); });
        CHECK(owner.until([&] {
            accepted = std::max(accepted, owner.links.accepted());
            return closed.load();
        }));
        waits.join();
        CHECK(accepted == 0);
    }
    SECTION("as the owner") {
        const Child child([&] {
            if (::setresuid(other, other, other) != 0) ::_exit(1);
            LinksWithLedger owner;
            pipe.put(*owner.links.introduce(endpoint(1)));
            serve(owner);
        });
        LinksWithLedger reader;
        reader.links.connect(endpoint(2), pipe.get<Introduction>());
        CHECK(reader.links.descriptors() == 1); // refused at once; epoll's remains
        CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
    }
}

} // namespace links_processes_test
