// Hints: how they are read, what they say of a memory, and that what is moved is moved by them.

#include "c_api/allocations.hpp"
#include "datatype/datatype.h"
#include "datatype/typed_buffer.h"
#include "support/device_test.hpp"
#include "support/fake_device/fake_driver.h"
#include "ucx/pair.hpp"

#include <string>
#include <vector>

namespace hints_test {

using namespace ucdtest;
using namespace ucd_ucx;

namespace {

std::string value_of(ucd_info_t info, const char *key) {
    std::string value = "it was not set";
    CHECK(read_key(info, key, value).ok());
    return value;
}

} // namespace

TEST_CASE("values of keys are read whole, however long they are") {
    for (const std::size_t length : {1, 2, 62, 63, 64, 65, 66, 200, 5000}) {
        const std::string value = std::string(length - 1, 'v') + 'e';
        Keys keys;
        keys.set("a key", value);
        INFO(length);
        CHECK(value_of(keys.get(), "a key") == value);
        CHECK(value_of(keys.get(), "another").empty());
    }
    CHECK(value_of(UCD_INFO__NULL, "a key").empty());
}

TEST_CASE("hints name the memory, and the device if the processor does not reach it") {
    for (const TransferDirection direction : {TransferDirection::send, TransferDirection::receive})
        for (const char *memory : {"host", "pinned", "managed", "mock:0", "mock:1"}) {
            const Keys keys({{"ucd.threads", "3"}, {"ucd.ucx.depth", "7"}});
            BufferHints hints;
            REQUIRE(hints.set(memory, keys.get(), direction).ok());
            INFO(memory);
            const bool sends = direction == TransferDirection::send,
                       device = memory[0] == 'm' && memory[1] == 'o';
            const bool host = std::string(memory) == "host";
            CHECK(hints.on_host == !device);
            CHECK(hints.device == (device ? memory : ""));
            CHECK(value_of(hints.info.get(), "ucd.threads") == "3");
            CHECK(value_of(hints.info.get(), "ucd.ucx.depth").empty());
            CHECK(value_of(hints.info.get(), "ucd.inbuf") == (host || sends ? memory : ""));
            CHECK(value_of(hints.info.get(), "ucd.outbuf") == (host || !sends ? memory : ""));
            // What is near to a device's memory is there, too.
            for (const char *key : {"ucd.inbuf", "ucd.outbuf"})
                CHECK(value_of(hints.near.get(), key) == (device ? memory : ""));
            CHECK(value_of(hints.near.get(), "ucd.threads") == (device ? "3" : ""));
        }
}

DEVICE_TEST("a datatype packs and unpacks by the hints that it was made with") {
    ucd_type_t type;
    ok(ucd_create_vector(64, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type), "vector");
    std::vector<int> memory(128, 5), packed(64, 6);
    for (const bool host_only : {true, false}) {
        // There is no such memory. Nobody asks for it where only the host is used.
        Keys keys({{"ucd.inbuf", "mock:9"}, {"ucd.outbuf", "mock:9"}});
        if (host_only) keys.set("ucd.gpu", "none");
        ucp_datatype_t datatype;
        ok(ucd_ucx_datatype(type, keys.get(), &datatype), "ucd_ucx_datatype");
        const ucp_generic_dt_ops_t &ops = datatype_callbacks;
        void *state = ops.start_unpack(context_of(datatype), memory.data(), 1);
        CHECK((ops.unpack(state, 0, packed.data(), 256) == UCS_OK) == host_only);
        ops.finish(state);
        CHECK((ucd_ucx_status(datatype) == UCD_SUCCESS) == host_only);
        state = ops.start_pack(context_of(datatype), memory.data(), 1);
        CHECK(ops.pack(state, 0, packed.data(), 256) == 256);
        ops.finish(state);
        CHECK(packed[0] == (host_only ? 6 : 0));
        CHECK((ucd_ucx_release(nullptr, datatype) == UCD_SUCCESS) == host_only);
    }
    for (std::size_t i = 0; i < memory.size(); ++i) CHECK(memory[i] == (i % 2 == 0 ? 6 : 5));
    ok(ucd_free(&type), "free");
}

TEST_CASE("without memory there is no datatype, and nothing of it stays") {
    ucd_type_t type;
    ok(ucd_create_vector(3, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type), "vector");
    const Keys keys({{"ucd.threads", "3"}, {"ucd.inbuf", "host"}, {"ucd.outbuf", "host"}});
    const std::ptrdiff_t before = live_allocations();
    std::size_t failed = 0;
    for (std::size_t nth = 1;; ++nth) {
        ucp_datatype_t datatype = 0;
        fail_allocation(nth);
        const int rc = ucd_ucx_datatype(type, keys.get(), &datatype);
        if (end_failing()) {
            REQUIRE(rc == UCD_SUCCESS);
            CHECK(ucd_ucx_release(nullptr, datatype) == UCD_SUCCESS);
            break;
        }
        ++failed;
        INFO("allocation " << nth);
        CHECK(rc == UCD_ERR__OUT_OF_MEM);
        CHECK(datatype == 0);
    }
    CHECK(failed > 5);
    CHECK(live_allocations() <= before + 2); // what the table of datatypes keeps for good
    ok(ucd_free(&type), "free");
}

DEVICE_TEST("a buffer is not prepared if its memory cannot be told") {
    std::vector<char> memory(100);
    void *buf = nullptr;
    std::size_t count = 77;
    ucp_datatype_t datatype = 78;
    const auto prepare = [&](const Keys &keys) {
        return ucd_ucx_prepare(memory.data(), 100, UCD_TYPE__BYTE, keys.get(), &buf, &count,
                               &datatype);
    };
    mock::knobs.failing_query = 1;
    const int unknown = prepare(Keys());
    const bool untouched = buf == nullptr && count == 77 && datatype == 78;
    mock::knobs.failing_query = 1;
    const int hinted = prepare(Keys({{"ucd.inbuf", "host"}}));
    CHECK(mock::knobs.failing_query.exchange(0) == 1); // nobody was asked
    CHECK(unknown == UCD_ERR__DEVICE);
    CHECK(untouched);
    REQUIRE(hinted == UCD_SUCCESS);
    CHECK((buf == memory.data() && count == 100));
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    REQUIRE(prepare(Keys()) == UCD_SUCCESS);
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
}

} // namespace hints_test
