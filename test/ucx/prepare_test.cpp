// What ucd_ucx_prepare gives UCP for a layout, and what UCP moves with it.

#include "support/device_test.hpp"
#include "ucx/prepared.hpp"

#include <numeric>

namespace prepare_test {

using namespace ucdtest;

DEVICE_TEST("random layouts in UCX's own calls") {
    TwoSides sides;
    run_cases("ucx prepare", 800, [&](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options = device_options(UCD_OP__REPLACE);
        options.max_bytes = rng.chance(10) ? 100000 : 1024;
        options.max_span = options.max_bytes * 16;
        const Subject s = random_subject(one, options);
        DeviceBuffer in(rng, s.range, random_memory(rng)), out(rng, s.range, random_memory(rng));
        for (const std::intptr_t displ : s.bytes) *out.expected(displ) = *in.actual(displ);
        in.send();
        out.send();
        const auto prepare = [&](DeviceBuffer &buffer) {
            Keys keys;
            if (rng.chance(60)) keys.set("ucd.ucx.iov_segment", std::to_string(1 + rng.below(64)));
            if (rng.chance(20)) keys.set("ucd.ucx.form", "generic");
            return Prepared(buffer.real_base(), s, keys.get());
        };
        const Prepared from = prepare(in), to = prepare(out);
        for (const auto &[p, buffer] : {std::pair(&from, &in), std::pair(&to, &out)}) {
            if (on_device(buffer->memory()) && p->form() != UCP_DATATYPE_GENERIC && s.size() > 0)
                one.fail("UCX is given device memory");
        }
        const auto [sent, received] = exchange(sides, from, to);
        if (sent.status != UCS_OK || received.status != UCS_OK)
            one.fail(ucs_status_string(received.status));
        if (received.length != s.size()) one.fail("UCX moved ", received.length, " bytes");
        in.fetch();
        out.fetch();
        require_intact(one, in, "what was sent");
        require_intact(one, out, "what was received");
    });
}

namespace {

// The first word of the line "advice" of ucd_describe.
std::string described_advice(ucd_type_t type) {
    std::uintptr_t needed;
    (void)ucd_describe(type, nullptr, 0, &needed);
    std::string text(needed, '\0');
    ok(ucd_describe(type, text.data(), text.size(), &needed), "ucd_describe");
    const std::string key = "\nadvice: ";
    const std::size_t at = text.find(key) + key.size();
    return text.substr(at, text.find(':', at) - at);
}

Ints places(std::size_t count, std::intptr_t step, std::intptr_t jitter) {
    Ints result;
    for (std::size_t i = 0; i < count; ++i)
        result.push_back(static_cast<std::intptr_t>(i) * step +
                         static_cast<std::intptr_t>(i * i % 5) * jitter);
    return result;
}

struct Advised {
    const char *advice;
    RecipePtr recipe;
};

// Each answer of ucd_describe, on both sides of each limit.
std::vector<Advised> advised_layouts() {
    using namespace recipes;
    const RecipePtr byte = leaf(UCD_TYPE__BYTE);
    const auto rows = [&](std::intptr_t count, std::intptr_t bytes) {
        return hvector(count, bytes, 2 * bytes + 8, byte);
    };
    return {
        {"none", contig(0, byte)},
        {"none", hindexed_block(3, {40}, leaf(UCD_TYPE__DOUBLE))},
        {"none", hvector(10, 64, 64, byte)},
        {"iov", rows(4, 65536)},
        {"iov", rows(1024, 1024)},
        {"iov", rows(2, 1024)},
        {"iov", hindexed_block(1500, places(20, 4000, 100), byte)},
        {"iov", hindexed({1000, 1024, 1048}, {0, 3000, 6000}, byte)},
        {"iov", structure({500, 700}, {0, 4096}, {leaf(UCD_TYPE__DOUBLE), leaf(UCD_TYPE__FLOAT)})},
        {"dma", rows(1025, 1024)},
        {"dma", rows(1000, 1023)},
        {"dma", rows(100, 64)},
        {"dma", hvector(5, 1, 50000, rows(20, 100))},
        {"pack", rows(100, 63)},
        {"pack", hvector(300, 1, 16, leaf(UCD_TYPE__DOUBLE))},
        {"pack", hindexed_block(1023, places(20, 4000, 100), byte)},
        {"pack", hindexed({1000, 1023, 1048}, {0, 3000, 6000}, byte)},
        {"pack", indexed_block_ref(2, {5, 1, 3}, UCD_TYPE__INT64_T, 2000, 0, 20000, byte)},
    };
}

} // namespace

DEVICE_TEST("prepare gives UCP the form that ucd_describe advises, and UCP moves it") {
    TwoSides sides;
    // ucd_describe uses these limits, prepare's are other ones.
    const Keys limits({{"ucd.ucx.iov_segment", "1024"}, {"ucd.ucx.iov_entries", "1024"}});
    const Keys generic({{"ucd.ucx.form", "generic"}});
    for (const Advised &layout : advised_layouts()) {
        Case one("ucx advice", 0);
        const Subject s = make_subject(one, layout.recipe, 1);
        INFO(to_text(*layout.recipe));
        REQUIRE(described_advice(s.type()) == layout.advice);
        for (const bool receives : {false, true}) {
            DeviceBuffer in(one.rng(), s.range, Memory::pageable);
            DeviceBuffer out(one.rng(), s.range, Memory::pageable);
            for (const std::intptr_t displ : s.bytes) *out.expected(displ) = *in.actual(displ);
            in.send();
            out.send();
            const Prepared from(in.real_base(), s, (receives ? generic : limits).get());
            const Prepared to(out.real_base(), s, (receives ? limits : generic).get());
            const Prepared &advised = receives ? to : from;
            const std::string advice = layout.advice;
            CHECK(advised.form() == (advice == "none"  ? UCP_DATATYPE_CONTIG
                                     : advice == "iov" ? UCP_DATATYPE_IOV
                                                       : UCP_DATATYPE_GENERIC));
            const auto [sent, received] = exchange(sides, from, to);
            CHECK(sent.status == UCS_OK);
            CHECK(received.status == UCS_OK);
            CHECK(received.length == s.size());
            in.fetch();
            out.fetch();
            require_intact(one, in, "what was sent");
            require_intact(one, out, "what was received");
        }
    }
}

DEVICE_TEST("prepare decides for all of the count, by limits of its own") {
    Case one("ucx advice for a count", 0);
    const Subject s = make_subject(
        one,
        recipes::resized(recipes::hvector(3, 3072, 20000, recipes::leaf(UCD_TYPE__BYTE)), 0, 70000),
        1);
    std::vector<char> memory(5 * 70000);
    for (const std::uintptr_t count : {0, 1, 2, 3, 5}) {
        for (const auto &[segment, entries] :
             {std::pair(3072, 4096), {3073, 4096}, {3072, 6}, {1, 8}, {1, 9}, {1, 3}}) {
            INFO(count << " of " << segment << ", " << entries);
            ucd_advice_t advice;
            advice.struct_size = sizeof advice;
            ok(ucd_get_advice(count, s.type(), segment, entries, &advice), "ucd_get_advice");
            const Keys keys({{"ucd.ucx.iov_segment", std::to_string(segment)},
                             {"ucd.ucx.iov_entries", std::to_string(entries)}});
            void *buf;
            std::size_t entries_given;
            ucp_datatype_t datatype;
            ok(ucd_ucx_prepare(memory.data(), count, s.type(), keys.get(), &buf, &entries_given,
                               &datatype),
               "ucd_ucx_prepare");
            const auto form = datatype & UCP_DATATYPE_CLASS_MASK;
            CHECK((form == UCP_DATATYPE_IOV) == (advice.form == UCD_FORM__IOV));
            CHECK((form == UCP_DATATYPE_CONTIG) == (advice.form == UCD_FORM__CONTIG));
            if (form == UCP_DATATYPE_IOV) CHECK(entries_given == advice.segments);
            CHECK(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
        }
    }
}

DEVICE_TEST("a list of segments may be as long as the key allows") {
    TwoSides sides;
    // UCX sends up to 16 segments at a time: shorter lists, longer ones, and the longest.
    for (const std::size_t segments : {1, 15, 16, 17, 33, 4097, 1 << 20}) {
        INFO(segments << " segments");
        ucd_type_t type;
        ok(ucd_create_vector(static_cast<std::intptr_t>(segments), 1, 2, UCD_TYPE__INT,
                             UCD_INFO__NULL, &type),
           "vector");
        const Keys keys({{"ucd.ucx.form", segments == 1 ? "contiguous" : "iov"},
                         {"ucd.ucx.iov_entries", "1048576"}});
        std::vector<int> in(2 * segments), out(2 * segments, -1);
        std::iota(in.begin(), in.end(), 0);
        const Prepared from(in.data(), 1, type, keys.get()), to(out.data(), 1, type, keys.get());
        CHECK(from.count == (segments == 1 ? sizeof(int) : segments));
        const auto [sent, received] = exchange(sides, from, to);
        CHECK(sent.status == UCS_OK);
        CHECK(received.status == UCS_OK);
        CHECK(received.length == segments * sizeof(int));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < out.size(); ++i)
            wrong += out[i] != (i % 2 == 0 ? static_cast<int>(i) : -1);
        CHECK(wrong == 0);
        ok(ucd_free(&type), "free");
    }
}

TEST_CASE("a type whose indices are read when data moves has no list of segments") {
    std::vector<std::int64_t> indices = {3, 1};
    std::vector<char> memory(1000);
    ucd_type_t type;
    ok(ucd_create_indexed_block_ref(2, 1, indices.data(), UCD_TYPE__INT64_T, 8, 0, 100,
                                    UCD_TYPE__INT, UCD_INFO__NULL, &type),
       "indexed_block_ref");
    void *buf;
    std::size_t count;
    ucp_datatype_t datatype;
    for (const char *form : {"contiguous", "iov"}) {
        const Keys keys({{"ucd.ucx.form", form}});
        CHECK(ucd_ucx_prepare(memory.data(), 1, type, keys.get(), &buf, &count, &datatype) ==
              UCD_ERR__NOT_SUPPORTED);
    }
    ok(ucd_free(&type), "free");
}

TEST_CASE("prepare chooses by the layout, and refuses forms that it has not") {
    std::vector<char> memory(1 << 20);
    void *buf;
    std::size_t count;
    ucp_datatype_t datatype;
    const auto prepare = [&](ucd_type_t type, std::uintptr_t n, const Keys &keys) {
        return ucd_ucx_prepare(memory.data(), n, type, keys.get(), &buf, &count, &datatype);
    };
    const auto form = [&] { return datatype & UCP_DATATYPE_CLASS_MASK; };

    // Shifted by the true lower bound.
    ucd_type_t shifted;
    const std::intptr_t displ = 40;
    REQUIRE(ucd_create_hindexed_block(1, 3, &displ, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &shifted) ==
            UCD_SUCCESS);
    REQUIRE(prepare(shifted, 1, Keys()) == UCD_SUCCESS);
    CHECK(datatype == ucp_dt_make_contig(1));
    CHECK(buf == memory.data() + 40);
    CHECK(count == 24);
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    REQUIRE(ucd_free(&shifted) == UCD_SUCCESS);

    ucd_type_t rows; // four of 64 KiB
    REQUIRE(ucd_create_hvector(4, 65536, 200000, UCD_TYPE__BYTE, UCD_INFO__NULL, &rows) ==
            UCD_SUCCESS);
    REQUIRE(prepare(rows, 1, Keys()) == UCD_SUCCESS);
    REQUIRE(form() == UCP_DATATYPE_IOV);
    REQUIRE(count == 4);
    for (int i = 0; i < 4; ++i) {
        CHECK(static_cast<ucp_dt_iov_t *>(buf)[i].buffer == memory.data() + i * 200000);
        CHECK(static_cast<ucp_dt_iov_t *>(buf)[i].length == 65536);
    }
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    REQUIRE(prepare(rows, 1, Keys({{"ucd.ucx.iov_entries", "3"}})) == UCD_SUCCESS);
    CHECK(form() == UCP_DATATYPE_GENERIC);
    CHECK(buf == memory.data());
    CHECK(count == 1);
    REQUIRE(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);

    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.form", "contiguous"}})) == UCD_ERR__NOT_SUPPORTED);
    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.form", "iov"}, {"ucd.ucx.iov_entries", "3"}})) ==
          UCD_ERR__NOT_SUPPORTED);
    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.form", "best"}})) == UCD_ERR__INVALID_ARG);
    CHECK(prepare(rows, 1, Keys({{"ucd.ucx.iov_segment", "0"}})) == UCD_ERR__INVALID_ARG);
    CHECK(prepare(UCD_TYPE__NULL, 1, Keys()) == UCD_ERR__INVALID_ARG);
    CHECK(prepare(rows, UINTPTR_MAX, Keys()) == UCD_ERR__OVERFLOW);
    CHECK(ucd_ucx_prepare(memory.data(), 1, rows, nullptr, nullptr, &count, &datatype) ==
          UCD_ERR__INVALID_ARG);
    CHECK(ucd_ucx_datatype(rows, nullptr, nullptr) == UCD_ERR__INVALID_ARG);
    REQUIRE(ucd_free(&rows) == UCD_SUCCESS);
}

} // namespace prepare_test
