// Links of one process with each other, for tests; and a peer on the bare socket that sends what it
// likes.
#pragma once

#include "common/tokens.h"
#include "direct/links.h"

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace ucdtest {

// Stand for endpoints, which links only tell apart.
inline ucp_ep_h endpoint(std::size_t i) {
    static char places[64];
    return reinterpret_cast<ucp_ep_h>(&places[i]);
}

struct LinksWithLedger {
    explicit LinksWithLedger(const ucd_ucx::LinkLimits &limits = {},
                             const ucd_ucx::Ledger::Limits &budgets = {})
        : ledger(budgets), links((start(), ledger), limits) {}
    static void start() { (void)ucd_ucx::start_cryptography(); }
    // Until it is true. Returns false after some seconds.
    bool until(const std::function<bool()> &condition) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            links.progress();
        }
        return true;
    }

    ucd_ucx::Ledger ledger;
    ucd_ucx::Links links;
};

// The owner knows the reader by `at_owner`, the reader knows the owner by `at_reader`.
struct LinkedPair {
    explicit LinkedPair(const ucd_ucx::LinkLimits &limits = {},
                        const ucd_ucx::Ledger::Limits &budgets = {})
        : owner(limits, budgets), reader(limits, budgets) {}
    bool until(const std::function<bool()> &condition) {
        return owner.until([&] {
            reader.links.progress();
            return condition();
        });
    }
    bool link() {
        const auto introduction = owner.links.introduce(at_owner);
        if (!introduction) return false;
        reader.links.connect(at_reader, *introduction);
        return until([&] { return to_owner() != nullptr && to_reader() != nullptr; });
    }
    ucd_ucx::Link *to_owner() const { return reader.links.to_owner(at_reader); }
    ucd_ucx::Link *to_reader() const { return owner.links.to_reader(at_owner); }

    const ucp_ep_h at_owner = endpoint(1), at_reader = endpoint(2);
    LinksWithLedger owner, reader;
};

// A message of links, as bytes.
inline std::string link_message(uint32_t about, uint64_t first, uint64_t count,
                                const std::string &secret = {}) {
    std::string text = "UCDL";
    const auto append = [&text](const auto &number) {
        text.append(reinterpret_cast<const char *>(&number), sizeof number);
    };
    append(about);
    append(first);
    append(count);
    text += secret;
    text.resize(56);
    return text;
}

} // namespace ucdtest
