// Links between endpoints and processes, within one process: who is admitted, what is
// authenticated, which descriptors are passed, and what hostile peers on the socket can do.

#include "c_api/allocations.hpp"
#include "support/catch.hpp"
#include "ucx/links_pair.hpp"

#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace links_test {

using namespace ucd_ucx;
using namespace ucdtest;

namespace {

// A file in memory with this content.
FileDescriptor file_of(const std::string &text) {
    FileDescriptor file(::memfd_create("links_test", MFD_CLOEXEC));
    REQUIRE(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return file;
}

std::string read_file(int file) {
    char text[64] = {};
    const ssize_t bytes = ::pread(file, text, sizeof text, 0);
    return {text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

std::string token_of(const Introduction &introduction) {
    return {introduction.token.begin(), introduction.token.end()};
}

// Connects without Links.
FileDescriptor raw_connection(const Introduction &introduction) {
    FileDescriptor socket;
    REQUIRE(connect_to(introduction.socket, socket) == Connected::yes);
    return socket;
}

bool is_closed(int socket) {
    char data[128];
    SocketMessage heard;
    return read_message(socket, data, sizeof data, heard) == Heard::closed;
}

} // namespace

TEST_CASE("a reader that shows its token gets the owner's key") {
    LinkedPair pair;
    CHECK(pair.to_owner() == nullptr);
    REQUIRE(pair.link());
    CHECK(pair.to_owner()->pid() == ::getpid());
    CHECK_FALSE(pair.to_owner()->peer_has_ended());
    CHECK(pair.owner.ledger.bytes_of(pair.at_owner) == Links::bytes_of_link);
    CHECK(pair.reader.ledger.bytes_of(pair.at_reader) == Links::bytes_of_link);
    CHECK_FALSE(pair.owner.links.introduce(pair.at_owner)); // once is enough

    const std::string offer = "an offer";
    const Mac mac = pair.to_reader()->authenticate(offer.data(), offer.size());
    CHECK(pair.to_owner()->is_authentic(offer.data(), offer.size(), mac));
    CHECK_FALSE(pair.to_owner()->is_authentic("an Offer", offer.size(), mac));
    for (std::size_t i = 0; i < mac.size(); ++i) {
        Mac forged = mac;
        forged[i] ^= 1;
        CHECK_FALSE(pair.to_owner()->is_authentic(offer.data(), offer.size(), forged));
    }

    pair.owner.links.close(pair.at_owner);
    CHECK(pair.to_reader() == nullptr);
    CHECK(pair.until([&] { return pair.to_owner() == nullptr; }));
    CHECK(pair.reader.links.take_end().ep == pair.at_reader);
    CHECK(pair.reader.links.take_end().ep == nullptr);
    pair.reader.links.close(pair.at_reader);
    CHECK(pair.owner.ledger.bytes() == 0);
    CHECK(pair.reader.ledger.bytes() == 0);
}

TEST_CASE("numbers are admitted once, and only in increasing order") {
    LinkedPair pair;
    REQUIRE(pair.link());
    const uint64_t first = pair.to_reader()->next_number();
    const uint64_t second = pair.to_reader()->next_number();
    const uint64_t third = pair.to_reader()->next_number();
    CHECK(pair.to_owner()->admits(first));
    CHECK_FALSE(pair.to_owner()->admits(first));
    CHECK(pair.to_owner()->admits(third));
    CHECK_FALSE(pair.to_owner()->admits(second));
}

TEST_CASE("keys of two links differ") {
    LinkedPair one, other;
    REQUIRE(one.link());
    REQUIRE(other.link());
    CHECK(one.to_reader()->authenticate("x", 1) != other.to_reader()->authenticate("x", 1));
}

TEST_CASE("a token admits one connection") {
    LinksWithLedger owner, first, second;
    const auto introduction = owner.links.introduce(endpoint(1));
    REQUIRE(introduction);
    first.links.connect(endpoint(2), *introduction);
    REQUIRE(owner.until([&] {
        first.links.progress();
        return first.links.to_owner(endpoint(2)) != nullptr;
    }));
    second.links.connect(endpoint(3), *introduction);
    const std::size_t with_socket = Links::descriptors();
    REQUIRE(owner.until([&] {
        second.links.progress();
        return Links::descriptors() < with_socket;
    }));
    CHECK(second.links.to_owner(endpoint(3)) == nullptr);
    CHECK(first.links.to_owner(endpoint(2)) != nullptr);
    CHECK(owner.links.accepted() == 0);
}

TEST_CASE("a token that the owner does not know, or does not know any more, admits nobody") {
    LinksWithLedger owner, reader;
    auto introduction = owner.links.introduce(endpoint(1));
    REQUIRE(introduction);
    SECTION("a wrong one") {
        introduction->token[3] ^= 1;
    }
    SECTION("that of an endpoint that is closed") {
        owner.links.close(endpoint(1));
    }
    reader.links.connect(endpoint(2), *introduction);
    const std::size_t with_socket = Links::descriptors();
    CHECK(owner.until([&] {
        reader.links.progress();
        return Links::descriptors() < with_socket;
    }));
    CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
    CHECK(owner.links.to_reader(endpoint(1)) == nullptr);
    CHECK(owner.links.accepted() == 0);
}

TEST_CASE("an introduction of a socket that does not exist has no effect") {
    LinksWithLedger reader;
    reader.links.connect(endpoint(1), Introduction{});
    CHECK(reader.links.to_owner(endpoint(1)) == nullptr);
    reader.links.close(endpoint(1));
    CHECK(reader.ledger.bytes() == 0);
}

TEST_CASE("a link without a budget is not made") {
    const Ledger::Limits none = {.peer = 1000, .peers = 1000};
    LinksWithLedger owner, poor_owner({}, none), reader, poor_reader({}, none);
    const auto introduction = owner.links.introduce(endpoint(1));
    REQUIRE(introduction);
    const std::size_t before = Links::descriptors();
    poor_reader.links.connect(endpoint(2), *introduction);
    CHECK(Links::descriptors() == before);
    const auto other = poor_owner.links.introduce(endpoint(1));
    REQUIRE(other);
    reader.links.connect(endpoint(2), *other);
    const std::size_t with_socket = Links::descriptors();
    CHECK(poor_owner.until([&] {
        reader.links.progress();
        return Links::descriptors() < with_socket;
    }));
    CHECK(poor_owner.links.to_reader(endpoint(1)) == nullptr);
}

TEST_CASE("hostile bytes on the owner's socket close the connection") {
    LinksWithLedger owner;
    const auto introduction = owner.links.introduce(endpoint(1));
    REQUIRE(introduction);
    const std::size_t idle = Links::descriptors();
    CHECK(idle == 2); // epoll's, and the socket at which it listens
    std::mt19937 random(GENERATE(range(0, 20)));
    std::string bytes(random() % 200, '\0');
    for (char &byte : bytes) byte = static_cast<char>(random());
    const std::string token = token_of(*introduction);
    std::vector<std::string> messages = {bytes,
                                         link_message(2, 0, 0, std::string(32, 'k')), // a key
                                         link_message(3, 0, 1),
                                         link_message(4, 0, UINT64_MAX),
                                         link_message(0, 0, 0, token),
                                         link_message(1, 0, 0, token) + "x",
                                         link_message(1, 1, 0, token),
                                         link_message(1, 0, 1, token),
                                         link_message(1, 0, 0, token + std::string(15, '\0') + "x"),
                                         link_message(1, 0, 0, token).substr(1)};
    for (const std::string &message : messages) {
        FileDescriptor socket = raw_connection(*introduction);
        if (!message.empty())
            REQUIRE(send_message(socket.get(), message.data(), message.size(), {}));
        else
            socket = FileDescriptor();
        CHECK(owner.until([&] { return !socket || is_closed(socket.get()); }));
    }
    // Descriptors that come with a token are closed.
    const FileDescriptor file = file_of("x"), socket = raw_connection(*introduction);
    const std::string shown = link_message(1, 0, 0, token);
    const int passed[] = {file.get(), file.get()};
    REQUIRE(send_message(socket.get(), shown.data(), shown.size(), passed));
    CHECK(owner.until([&] { return is_closed(socket.get()); }));
    CHECK(owner.until([&] { return Links::descriptors() == idle; }));
    CHECK(owner.links.to_reader(endpoint(1)) == nullptr);
}

TEST_CASE("hostile bytes on the reader's socket close the connection") {
    LinksWithLedger reader;
    Introduction introduction;
    fill_randomly(introduction.socket.data(), introduction.socket.size());
    const FileDescriptor listening = listen_at(introduction.socket, 4);
    REQUIRE(listening);
    reader.links.connect(endpoint(1), introduction);
    const FileDescriptor socket = accept_from(listening.get());
    REQUIRE(socket);
    char token[128];
    SocketMessage shown;
    REQUIRE(read_message(socket.get(), token, sizeof token, shown) == Heard::message);
    const std::string key = link_message(2, 0, 0, std::string(32, 'k'));
    const FileDescriptor file = file_of("x");
    const int passed[] = {file.get()};
    const auto send = [&](const std::string &message, std::span<const int> with = {}) {
        REQUIRE(send_message(socket.get(), message.data(), message.size(), with));
        for (int i = 0; i < 20; ++i) {
            std::this_thread::sleep_for(Links::interval);
            reader.links.progress();
        }
        return reader.links.to_owner(endpoint(1)) != nullptr;
    };
    SECTION("descriptors before the key") {
        CHECK_FALSE(send(link_message(3, 0, 1), passed));
    }
    SECTION("a recall before the key") {
        CHECK_FALSE(send(link_message(4, 0, 0)));
    }
    SECTION("a key with descriptors") {
        CHECK_FALSE(send(key, passed));
    }
    SECTION("a token") {
        CHECK_FALSE(send(link_message(1, 0, 0)));
    }
    SECTION("a key with a number that means nothing") {
        CHECK_FALSE(send(link_message(2, 1, 0, std::string(32, 'k'))));
    }
    SECTION("a key with a count that means nothing") {
        CHECK_FALSE(send(link_message(2, 0, 1, std::string(32, 'k'))));
    }
    SECTION("after the key") {
        REQUIRE(send(key));
        SECTION("another key") {
            CHECK_FALSE(send(key));
        }
        SECTION("fewer descriptors than announced") {
            CHECK_FALSE(send(link_message(3, 0, 2), passed));
        }
        SECTION("more than announced") {
            CHECK_FALSE(send(link_message(3, 0, 0), passed));
        }
        SECTION("descriptors with a secret") {
            CHECK_FALSE(send(link_message(3, 0, 1, std::string(31, '\0') + "x"), passed));
        }
        SECTION("a recall with a secret") {
            CHECK_FALSE(send(link_message(4, 0, 0, "x")));
        }
        SECTION("other numbers") {
            CHECK_FALSE(send(link_message(3, 1, 1), passed));
        }
        SECTION("numbers of which none was passed") {
            CHECK_FALSE(send(link_message(4, UINT64_MAX, 2)));
        }
        SECTION("a recall of more than were passed") {
            REQUIRE(send(link_message(3, 0, 1), passed));
            CHECK_FALSE(send(link_message(4, 1, 1)));
        }
    }
    CHECK(reader.links.to_owner(endpoint(1)) == nullptr);
    CHECK(is_closed(socket.get()));
    reader.links.close(endpoint(1));
    CHECK(reader.ledger.bytes() == 0);
    CHECK(Links::descriptors() == 1); // epoll's
}

TEST_CASE("connections that show no token do not keep out a reader") {
    LinksWithLedger owner({.backlog = 2, .accepted = 3}), reader;
    const auto introduction = owner.links.introduce(endpoint(1));
    REQUIRE(introduction);
    // As many as the kernel takes; then the backlog is full, and the reader has to try again.
    std::vector<FileDescriptor> idle(8);
    std::size_t connected = 0;
    while (connected < idle.size() &&
           connect_to(introduction->socket, idle[connected]) == Connected::yes)
        ++connected;
    CHECK(connected < idle.size());
    reader.links.connect(endpoint(2), *introduction);
    CHECK(reader.links.to_owner(endpoint(2)) == nullptr);
    CHECK(owner.until([&] {
        reader.links.progress();
        CHECK(owner.links.accepted() <= 3);
        return reader.links.to_owner(endpoint(2)) != nullptr;
    }));
}

TEST_CASE("a reader that waits to connect tries again, whichever allocation fails") {
    std::size_t failures = 0;
    for (std::size_t n = 1;; ++n) {
        INFO("allocation " << n);
        LinksWithLedger owner({.backlog = 2}), reader;
        const auto introduction = owner.links.introduce(endpoint(1));
        REQUIRE(introduction);
        std::vector<FileDescriptor> idle(8);
        for (FileDescriptor &socket : idle) (void)connect_to(introduction->socket, socket);
        // It connects, and tries again while the backlog is still full.
        std::size_t left = n;
        for (bool is_known = false; !is_known;) {
            fail_allocation(left);
            try {
                reader.links.connect(endpoint(2), *introduction);
                is_known = true;
            } catch (const std::bad_alloc &) {
            }
            left = until_failing();
            (void)end_failing();
        }
        for (int i = 0; i < 3; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            fail_allocation(left);
            try {
                reader.links.progress();
            } catch (const std::bad_alloc &) {
            }
            left = until_failing();
            (void)end_failing();
        }
        CHECK(owner.until([&] {
            reader.links.progress();
            return reader.links.to_owner(endpoint(2)) != nullptr;
        }));
        if (left > 0) break;
        ++failures;
    }
    CHECK(failures > 3);
}

TEST_CASE("a type is sent again if there is no memory to remember that it was sent") {
    LinkedPair pair;
    REQUIRE(pair.link());
    const ContentId type = {1};
    fail_allocation(1);
    CHECK(pair.to_reader()->has_to_be_sent(type));
    CHECK_FALSE(end_failing());
    CHECK(pair.to_reader()->has_to_be_sent(type));
    CHECK_FALSE(pair.to_reader()->has_to_be_sent(type));
}

TEST_CASE("a connection for which there is no memory leaves nothing behind") {
    LinksWithLedger owner;
    const auto introduction = owner.links.introduce(endpoint(1));
    REQUIRE(introduction);
    const FileDescriptor known = raw_connection(*introduction);
    REQUIRE(owner.until([&] { return owner.links.accepted() == 1; }));
    for (std::size_t n = 1, failures = 0;; ++n) {
        const FileDescriptor socket = raw_connection(*introduction);
        std::this_thread::sleep_for(Links::interval);
        const std::ptrdiff_t live = live_allocations();
        fail_allocation(n);
        try {
            owner.links.progress();
        } catch (const std::bad_alloc &) {
            ++failures;
        }
        if (end_failing()) {
            CHECK(failures >= 2);
            CHECK(owner.links.accepted() == 2);
            break;
        }
        CHECK(owner.links.accepted() == 1);
        CHECK(live_allocations() == live);
        CHECK(is_closed(socket.get()));
    }
}

TEST_CASE("descriptors are passed, found by number, recalled and counted") {
    LinkedPair pair({.passed = 3});
    REQUIRE(pair.link());
    const std::size_t idle = Links::descriptors();
    const FileDescriptor a = file_of("first"), b = file_of("second");
    const int both[] = {a.get(), b.get()};
    uint64_t first = 99;
    REQUIRE(pair.to_reader()->pass(both, &first));
    CHECK(first == 0);
    REQUIRE(pair.until([&] { return pair.to_owner()->passed(1) >= 0; }));
    CHECK(read_file(pair.to_owner()->passed(0)) == "first");
    CHECK(read_file(pair.to_owner()->passed(1)) == "second");
    CHECK((::fcntl(pair.to_owner()->passed(0), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(pair.to_owner()->passed(2) == -1);
    CHECK(pair.reader.ledger.bytes_of(pair.at_reader) ==
          Links::bytes_of_link + 2 * Links::bytes_of_passed);

    // Beyond the limit they are closed, and the numbers go on.
    REQUIRE(pair.to_reader()->pass(both, &first));
    CHECK(first == 2);
    REQUIRE(pair.until([&] { return pair.to_owner()->passed(2) >= 0; }));
    CHECK(pair.to_owner()->passed(3) == -1);
    CHECK(Links::descriptors() == idle + 3);

    REQUIRE(pair.to_reader()->recall(1, 1));
    CHECK(pair.until([&] { return pair.to_owner()->passed(1) == -1; }));
    CHECK(read_file(pair.to_owner()->passed(0)) == "first");
    CHECK(read_file(pair.to_owner()->passed(2)) == "first");
    REQUIRE(pair.to_reader()->recall(0, 2));
    CHECK(pair.until([&] { return pair.to_owner()->passed(0) == -1; }));
    CHECK(read_file(pair.to_owner()->passed(2)) == "first");
    pair.to_owner()->close_passed(0, UINT64_MAX);
    CHECK(Links::descriptors() == idle);
    CHECK(pair.reader.ledger.bytes_of(pair.at_reader) == Links::bytes_of_link);
    CHECK_FALSE(pair.to_reader()->pass({}, &first));
    CHECK_FALSE(pair.to_reader()->pass(std::vector<int>(max_passed + 1, a.get()), &first));
    REQUIRE(pair.to_reader()->pass(std::vector<int>(max_passed, a.get()), &first));
    CHECK(pair.until([&] { return pair.to_owner()->passed(first) >= 0; }));
}

TEST_CASE("descriptors behind a recall are taken when an offer names them") {
    LinkedPair pair;
    REQUIRE(pair.link());
    const FileDescriptor file = file_of("x");
    const int one[] = {file.get()};
    uint64_t first = 99;
    REQUIRE(pair.to_reader()->pass(one, &first));
    REQUIRE(pair.to_reader()->recall(first, 1));
    REQUIRE(pair.to_reader()->recall(first, 1));
    REQUIRE(pair.to_reader()->pass(one, &first));
    pair.reader.links.take_passed_by(pair.at_reader);
    CHECK(pair.to_owner()->passed(0) == -1);
    CHECK(pair.to_owner()->passed(first) >= 0);
}

TEST_CASE("after descriptors for which there was no memory, the next ones are taken") {
    LinkedPair pair;
    REQUIRE(pair.link());
    const FileDescriptor file = file_of("x");
    const std::vector<int> many(max_passed, file.get());
    std::size_t failures = 0;
    for (std::size_t n = 1; n < 100; ++n) {
        uint64_t first = 0, next = 0;
        REQUIRE(pair.to_reader()->pass(many, &first));
        fail_allocation(n);
        try {
            pair.reader.links.take_passed_by(pair.at_reader);
        } catch (const std::bad_alloc &) {
            ++failures;
        }
        const bool all = end_failing();
        REQUIRE(pair.to_reader()->pass(many, &next));
        pair.reader.links.take_passed_by(pair.at_reader);
        REQUIRE(pair.to_owner() != nullptr);
        REQUIRE(pair.to_owner()->passed(next + max_passed - 1) >= 0);
        pair.to_owner()->close_passed(0, UINT64_MAX);
        if (all) break;
    }
    CHECK(failures > max_passed);
}

TEST_CASE("an owner that passes more than the socket takes is told so") {
    LinkedPair pair;
    REQUIRE(pair.link());
    const FileDescriptor file = file_of("x");
    const int one[] = {file.get()};
    uint64_t first = 0, sent = 0;
    while (sent < 100'000 && pair.to_reader()->pass(one, &first)) ++sent;
    CHECK(sent < 100'000);
    CHECK(pair.until([&] { return pair.to_owner()->passed(sent - 1) >= 0 || sent > 1024; }));
    CHECK(pair.to_reader() != nullptr);
}

TEST_CASE("all links of this process together keep to its share of descriptors") {
    REQUIRE(Links::descriptors() == 0);
    LinkedPair pair({.descriptors = 10});
    CHECK(pair.link()); // both epoll, socket and process; the owner also listens
    const FileDescriptor file = file_of("x");
    const std::vector<int> many(10, file.get());
    uint64_t first;
    REQUIRE(pair.to_reader()->pass(many, &first));
    REQUIRE(pair.until([&] { return pair.to_owner()->passed(2) >= 0; }));
    CHECK(pair.to_owner()->passed(3) == -1);
    CHECK(Links::descriptors() == 10);
    LinksWithLedger none({.descriptors = 10}), few({.descriptors = 11});
    CHECK_FALSE(none.links.introduce(endpoint(1)));
    CHECK_FALSE(few.links.introduce(endpoint(1)));
    CHECK(Links::descriptors() == 11);
    LinksWithLedger enough({.descriptors = 13}); // epoll, and what is listened at
    CHECK(enough.links.introduce(endpoint(1)));
    // What one object closes, another one may open.
    pair.to_owner()->close_passed(0, UINT64_MAX);
    CHECK(few.links.introduce(endpoint(1)));
    CHECK(Links::descriptors() == 11);
}

} // namespace links_test
