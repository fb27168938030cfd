// Which memory of other processes stays open. Here it is of this process, where each ucd_ipc_open
// is still to be ended with one ucd_ipc_close.

#include "support/catch.hpp"
#include "support/device_test.hpp"

#include "direct/mappings.h"

#include "support/moves/strided_move.hpp"

#include <memory>
#include <string>
#include <vector>

namespace mappings_test {

using namespace ucdtest;
using ucd_ucx::Mapping;
using ucd_ucx::Mappings;

namespace {

struct Ranges {
    // It only names the sender.
    const ucp_ep_h sender = reinterpret_cast<ucp_ep_h>(std::uintptr_t{8});
    std::string device = std::string(mock::backend.name) + ":0";
    std::vector<void *> memory;
    std::vector<ucd_ipc_handle_t> handles;

    explicit Ranges(std::size_t count) : memory(count), handles(count) {
        for (std::size_t i = 0; i < count; ++i) {
            REQUIRE(ucd_memory_alloc(device.c_str(), UCD_MEMORY__DEVICE, 8, &memory[i]) ==
                    UCD_SUCCESS);
            REQUIRE(ucd_ipc_export(memory[i], 8, &handles[i]) == UCD_SUCCESS);
        }
    }
    ~Ranges() {
        for (void *m : memory) CHECK(ucd_memory_free(m) == UCD_SUCCESS);
    }
    Ranges(const Ranges &) = delete;
    Ranges &operator=(const Ranges &) = delete;

    std::shared_ptr<const Mapping> open(Mappings &mappings, std::size_t i) {
        std::shared_ptr<const Mapping> mapping;
        REQUIRE(mappings.open(sender, handles[i], {}, device, mapping).ok());
        CHECK(mapping->address() == memory[i]);
        return mapping;
    }
    // By closing it, so ask once.
    bool is_open(std::size_t i) const { return ucd_ipc_close(memory[i]) == UCD_SUCCESS; }
};

} // namespace

DEVICE_TEST("no more than 64 ranges stay open, those used last") {
    Ranges ranges(80);
    ucd_ucx::Ledger ledger{ucd_ucx::Ledger::Limits()};
    Mappings mappings(ledger);
    {
        std::vector<std::shared_ptr<const Mapping>> used;
        for (std::size_t i = 0; i < 79; ++i) used.push_back(ranges.open(mappings, i));
        used.front() = ranges.open(mappings, 0); // again: it is the last of these
    }
    (void)ranges.open(mappings, 79);
    for (std::size_t i = 0; i < 80; ++i) {
        INFO(i);
        CHECK(ranges.is_open(i) == (i == 0 || i > 16));
    }
}

DEVICE_TEST("what is in use stays open when all is closed, and is not found any more") {
    Ranges ranges(2);
    ucd_ucx::Ledger ledger{ucd_ucx::Ledger::Limits()};
    Mappings mappings(ledger);
    auto used = ranges.open(mappings, 0);
    (void)ranges.open(mappings, 1);
    mappings.close(ranges.sender);
    CHECK(!ranges.is_open(1));
    const auto again = ranges.open(mappings, 0);
    CHECK(again != used);
    mappings.close(ranges.sender);
    used.reset();
    CHECK(ranges.is_open(0)); // once more
    CHECK(!ranges.is_open(0));
}

DEVICE_TEST(
    "ranges that are open are charged to their sender; idle ones make room, used ones do not") {
    ucd_ucx::Ledger ledger({.peer = 64 << 10}); // of which an eighth is for requests
    const uint64_t room = ucd_ucx::Ledger::limit_of(ucd_ucx::LedgerUse::request, 64 << 10) /
                          Mappings::bytes_of_mapping;
    REQUIRE(room > 1);
    REQUIRE(room < 20);
    Ranges ranges(20);
    Mappings mappings(ledger);
    for (std::size_t i = 0; i < 20; ++i) (void)ranges.open(mappings, i);
    CHECK(ledger.bytes_of(ranges.sender) > 0);
    CHECK(ledger.bytes_of(ranges.sender) <= room * Mappings::bytes_of_mapping);
    std::vector<std::shared_ptr<const Mapping>> used;
    for (std::size_t i = 0; i < room; ++i) used.push_back(ranges.open(mappings, i));
    CHECK(ledger.bytes_of(ranges.sender) == room * Mappings::bytes_of_mapping);
    std::shared_ptr<const Mapping> refused;
    CHECK(mappings.open(ranges.sender, ranges.handles[room], {}, ranges.device, refused).code() ==
          UCD_ERR__OUT_OF_MEM);
    CHECK(refused == nullptr);
    // Another sender has an account of its own.
    const ucp_ep_h other = reinterpret_cast<ucp_ep_h>(std::uintptr_t{16});
    CHECK(mappings.open(other, ranges.handles[room], {}, ranges.device, refused).ok());
    refused.reset();
    used.clear();
    mappings.close(ranges.sender);
    CHECK(ledger.bytes() == 0);
}

} // namespace mappings_test
