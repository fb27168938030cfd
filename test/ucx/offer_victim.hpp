// A pipeline whose peer sends hostile offers to read data where it is. The peer has a link, and so
// knows its key.
#pragma once

#include "common/tokens.h"
#include "direct/attachable_memory.h"
#include "direct/links.h"
#include "pipeline/message.h"
#include "support/fake_device/fake_driver.h"
#include "ucx/attacker.hpp"
#include "ucx/direct_pair.hpp"

#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>

namespace ucdtest {

using ucd_ucx::DirectPlace;
using ucd_ucx::MessageHeader;
using ucd_ucx::MessageKind;

inline constexpr std::size_t offered = 4096; // bytes

// An offer as it is sent.
struct DirectHeader {
    MessageHeader header;
    DirectPlace place;
};

// A hostile peer's memory to map.
struct Shared {
    static constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    ucd_ucx::FileDescriptor file;
    ucd_ucx::AttachableName name;
    explicit Shared(const std::vector<char> &content, int seals = all_seals) {
        file =
            ucd_ucx::FileDescriptor(::memfd_create("ucd-window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        REQUIRE(::write(file.get(), content.data(), content.size()) ==
                static_cast<ssize_t>(content.size()));
        if (seals != 0) REQUIRE(::fcntl(file.get(), F_ADD_SEALS, seals) == 0);
        name.bytes = content.size();
        name.id[0] = ucd_ucx::random_token();
    }
};

struct OfferVictim {
    TwoSides pair{ALWAYS_DIRECT};
    Attacker attacker{pair.b.address(), [this] {
                          pair.progress();
                          links.progress();
                      }};
    ucd_ucx::Ledger ledger{{}};
    ucd_ucx::Links links{ledger};
    std::vector<char> data = std::vector<char>(offered, 'd'), out = std::vector<char>(offered);
    const Shared shared{data};
    const std::string type = flattened(UCD_TYPE__BYTE);
    wire::Id id = attacker.new_id();
    void *device_out = nullptr; // what is received into, instead of `out`

    OfferVictim() {
        REQUIRE(ucd_ucx::start_cryptography().ok());
        struct {
            MessageHeader header;
            ucd_ucx::Introduction introduction;
        } header;
        set(header.header, MessageKind::introduction, sizeof header.introduction);
        header.header.total = 0;
        header.introduction = *links.introduce(attacker.side.ep);
        send(header, std::string(8, 'r'), true);
        REQUIRE(attacker.within(5, [&] { return link() != nullptr; }));
        // The victim looks for the key only now and then.
        for (int i = 0; i < 100; ++i) {
            attacker.progress();
            ::usleep(100);
        }
        send_type(type);
    }
    ucd_ucx::Link *link() const { return links.to_reader(attacker.side.ep); }

    void set(ucd_ucx::MessageHeader &h, MessageKind kind, std::size_t following) const {
        h.kind = kind;
        h.id = {id.stream, id.number};
        h.total = offered;
        h.user_header = static_cast<uint32_t>(following);
    }
    template <class Header>
    void send(const Header &header, const std::string &with, bool by_rendezvous) {
        const std::string text(reinterpret_cast<const char *>(&header), sizeof header);
        if (by_rendezvous)
            attacker.active_by_rendezvous(text, with);
        else
            attacker.active(text, with);
    }
    void send_type(const std::string &flattened) {
        ucd_ucx::MessageHeader header;
        set(header, MessageKind::direct_type, 0);
        send(header, flattened, false);
    }
    // Of all of the memory.
    DirectHeader honest(const Shared &of) {
        DirectHeader offer;
        set(offer.header, MessageKind::direct, sizeof offer.place);
        DirectPlace &p = offer.place;
        p.number = link()->next_number();
        p.memory = DirectPlace::Memory::attached;
        p.handle = of.name.handle();
        p.descriptors = 1;
        const int descriptor = of.file.get();
        REQUIRE(link()->pass({&descriptor, 1}, &p.first_descriptor));
        p.high = offered;
        p.count = offered;
        p.type = ucd_ucx::content_id(type.data(), type.size());
        return offer;
    }
    DirectHeader honest() { return honest(shared); }
    void authenticate(DirectHeader &offer) const {
        offer.place.mac = link()->authenticate(&offer, ucd_ucx::bytes_under_mac);
    }
    bool takes(DirectHeader offer) {
        authenticate(offer);
        return is_taken(offer);
    }
    bool was_declined() const {
        return std::any_of(attacker.received.begin(), attacker.received.end(), [](const auto &m) {
            return m.header.size() > 1 && m.header[1] == static_cast<char>(MessageKind::decline);
        });
    }
    // The peer closes the link.
    void unlink() {
        links.close(attacker.side.ep);
        attacker.progress(500);
    }
    // Whether the receive takes the offer. One that it declines it gets by a message. The receive
    // is posted before the offer comes, or after it and after `late`.
    bool is_taken(const DirectHeader &offer, bool by_rendezvous = true,
                  const std::function<void()> &late = {}) {
        Outcome received;
        std::fill(out.begin(), out.end(), 'o');
        if (device_out != nullptr) mock::write(device_out, out.data(), offered);
        void *const into = device_out != nullptr ? device_out : out.data();
        const auto receive = [&] {
            start_receive(pair.b, {into, offered, UCD_TYPE__BYTE}, received);
        };
        if (!late) receive();
        ucd_ucx::MessageHeader opening;
        set(opening, MessageKind::offer, 0);
        send(opening, {}, false);
        opening.kind = MessageKind::opening;
        attacker.tagged(std::string(reinterpret_cast<const char *>(&opening), sizeof opening));
        send(offer, std::string(8, 'r'), by_rendezvous);
        attacker.received.clear();
        if (late) {
            attacker.progress(50);
            late();
            receive();
        }
        REQUIRE(attacker.within(5, [&] { return received.done() || was_declined(); }));
        const bool over = received.done();
        if (over) {
            // The receipt was a wrong one, so even a true offer fails in the end.
            CHECK(received.result.status != UCS_OK);
        } else {
            opening.kind = MessageKind::chunk;
            send(opening, std::string(offered, 'c'), false);
            REQUIRE(attacker.within(5, [&] { return received.done(); }));
            CHECK(received.result.status == UCS_OK);
            if (device_out != nullptr) mock::read(out.data(), device_out, offered);
            CHECK(out == std::vector<char>(offered, 'c'));
        }
        if (device_out != nullptr) mock::read(out.data(), device_out, offered);
        id = attacker.new_id();
        return over && out == data;
    }
};

} // namespace ucdtest
