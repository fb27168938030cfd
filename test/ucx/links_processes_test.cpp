// Links with other processes: who they are, that they end, and that other users are refused.

#include "support/catch.hpp"
#include "ucx/child_process.hpp"
#include "ucx/links_pair.hpp"

#include <atomic>
#include <sched.h>
#include <sys/time.h>

namespace links_processes_test {

using namespace ucd_ucx;
using namespace ucdtest;

namespace {

void serve(LinksWithLedger &side) {
    (void)side.until([] { return false; });
}

bool can_become_others() {
    const bool can = ::geteuid() == 0;
    if (!can) WARN("not tested: only root can become other users");
    return can;
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

TEST_CASE("a process is not taken for one that has ended while this one handles signals") {
    static std::atomic<int> signals;
    signals = 0;
    Child child([] { ::pause(); });
    const FileDescriptor process = refer_to(child.pid());
    REQUIRE(process);
    struct sigaction handled = {}, before = {};
    handled.sa_handler = [](int) { ++signals; };
    handled.sa_flags = SA_RESTART;
    REQUIRE(::sigaction(SIGALRM, &handled, &before) == 0);
    const itimerval often = {{0, 500}, {0, 500}}, never = {};
    (void)::setitimer(ITIMER_REAL, &often, nullptr);
    int wrong = 0;
    while (signals < 300) wrong += has_ended(process.get());
    (void)::setitimer(ITIMER_REAL, &never, nullptr);
    (void)::sigaction(SIGALRM, &before, nullptr);
    CHECK(wrong == 0);
    ::kill(child.pid(), SIGKILL);
    siginfo_t waited_for;
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &waited_for, WEXITED | WNOWAIT) == 0);
    CHECK(has_ended(process.get()));
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
    const std::size_t before = Links::descriptors();
    child.kill();
    CHECK(reader.until([&] { return Links::descriptors() < before; }));
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
    const std::size_t before = Links::descriptors();
    CHECK(reader.until([&] { return Links::descriptors() < before; }));
    CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
    ::kill(heir, SIGKILL);
}

TEST_CASE("processes of other users are refused") {
    if (!can_become_others()) return;
    constexpr uid_t other = 1001;
    const Pipe pipe;
    SECTION("as the reader") {
        LinksWithLedger owner;
        const auto introduction = owner.links.introduce(endpoint(1));
        REQUIRE(introduction);
        const Child child([&] {
            if (::setresuid(other, other, other) != 0) ::_exit(1);
            FileDescriptor socket;
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
        CHECK(Links::descriptors() == 1); // refused at once; epoll's remains
        CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
    }
}

namespace {

// Two processes that become users in these ways: whether both have a link after some time, which
// the owner then ends.
enum class Linked { yes, no, not_permitted };
Linked link_of(const std::function<bool()> &become_owner,
               const std::function<bool()> &become_reader) {
    const Pipe introduced, owners, readers;
    const Child owner([&] {
        LinksWithLedger side;
        const bool is_permitted = become_owner();
        owners.put(is_permitted);
        if (!is_permitted) ::_exit(1);
        introduced.put(*side.links.introduce(endpoint(1)));
        serve(side);
    });
    if (!owners.get<bool>()) return Linked::not_permitted;
    const auto introduction = introduced.get<Introduction>();
    const Child reader([&] {
        LinksWithLedger side;
        const bool is_permitted = become_reader();
        readers.put(is_permitted);
        if (!is_permitted) ::_exit(1);
        side.links.connect(endpoint(2), introduction);
        const std::size_t before = Links::descriptors(); // epoll's alone, once it is refused
        bool is_linked = false;
        (void)side.until([&] {
            is_linked = side.links.to_owner(endpoint(2)) != nullptr;
            return is_linked || before == 1 || Links::descriptors() < before;
        });
        readers.put(is_linked);
        ::pause();
    });
    if (!readers.get<bool>()) return Linked::not_permitted;
    return readers.get<bool>() ? Linked::yes : Linked::no;
}

bool become(uid_t real, uid_t effective, uid_t saved) {
    return ::setresuid(real, effective, saved) == 0;
}

} // namespace

TEST_CASE("two users that a user namespace does not map are not taken for one") {
    if (!can_become_others()) return;
    const auto unmapped = [](uid_t user) {
        return [user] { return become(user, user, user) && ::unshare(CLONE_NEWUSER) == 0; };
    };
    // Nor is the user whose number stands for them.
    const auto nobody = [] { return become(65534, 65534, 65534); };
    CHECK(link_of(nobody, nobody) == Linked::no);
    const Linked linked = link_of(unmapped(1001), unmapped(1002));
    if (linked == Linked::not_permitted) WARN("not tested: user namespaces are not permitted");
    CHECK(linked != Linked::yes);
}

TEST_CASE("a process that is another user's, and only acts as this one, is refused") {
    if (!can_become_others()) return;
    const auto user = [] { return become(1001, 1001, 1001); };
    const auto acts = [] { return become(0, 1001, 0); };
    CHECK(link_of(user, user) == Linked::yes);
    CHECK(link_of(acts, user) == Linked::no);
    CHECK(link_of(user, acts) == Linked::no);
}

} // namespace links_processes_test
