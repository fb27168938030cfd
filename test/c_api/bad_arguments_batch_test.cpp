// Bad arguments of batches and of what goes into a native stream.
#include "c_api/refusal.hpp"

#include <functional>
#include <vector>

namespace bad_arguments_batch_test {

using namespace ucdtest;

namespace {

const ucd_stream_t cuda = {"cuda", 0, nullptr, nullptr};

// Three members of a batch on real memory, so that it shows if a good one was started.
template <class Desc>
class Batch {
public:
    static constexpr bool packs = std::is_same_v<Desc, ucd_pack_desc_t>;
    std::vector<Desc> descs{3};

    explicit Batch(ucd_type_t type) {
        for (std::size_t i = 0; i < descs.size(); ++i) {
            Desc &d = descs[i];
            d.inbuf = in_[i];
            d.outbuf = out_[i];
            d.type = type;
            count(d) = 1;
            bytes(d) = packed;
            actual(d) = untouched_;
        }
    }

    static std::uintptr_t &count(Desc &d) {
        if constexpr (packs)
            return d.incount;
        else
            return d.outcount;
    }
    static std::uintptr_t &bytes(Desc &d) {
        if constexpr (packs)
            return d.max_pack_bytes;
        else
            return d.insize;
    }
    static std::uintptr_t &offset(Desc &d) {
        if constexpr (packs)
            return d.inoffset;
        else
            return d.outoffset;
    }
    static std::uintptr_t &actual(Desc &d) {
        if constexpr (packs)
            return d.actual_pack_bytes;
        else
            return d.actual_unpack_bytes;
    }
    static void no_packed_buffer(Desc &d) {
        if constexpr (packs)
            d.outbuf = nullptr;
        else
            d.inbuf = nullptr;
    }

    bool unchanged() {
        for (std::size_t i = 0; i < descs.size(); ++i) {
            if (actual(descs[i]) != untouched_) return false;
            for (const unsigned char byte : out_[i])
                if (byte != 0) return false;
        }
        return true;
    }

private:
    static constexpr std::uintptr_t untouched_ = 0x5a5a5a5a5a5a5a5a;
    unsigned char in_[3][64] = {{1}, {2}, {3}}, out_[3][64] = {};
};

template <class Desc>
using Call = std::function<int(Desc *, std::uintptr_t, ucd_op_t)>;

// What all batches refuse in their members.
template <class Desc>
void check_members(const char *f, const Call<Desc> &call, Refusals &r) {
    using B = Batch<Desc>;
    const Handle v(make_vector);
    const auto refused = [&](int status, const std::string &words, ucd_op_t op, auto spoil) {
        for (std::size_t i = 0; i < 3; ++i) {
            B batch(v);
            spoil(batch.descs[i]);
            const auto go = [&] { return call(batch.descs.data(), 3, op); };
            r.refused(f, status, "descs[" + std::to_string(i) + "]", go);
            r.refused(f, status, words, go);
            CHECK(batch.unchanged());
        }
    };
    const auto invalid = [&](const std::string &words, auto spoil) {
        refused(UCD_ERR__INVALID_ARG, words, UCD_OP__REPLACE, spoil);
    };
    for (const std::uintptr_t handle :
         {std::uintptr_t{0}, first_unknown_type(), std::uintptr_t{4095}})
        invalid("type is ", [&](Desc &d) { d.type = reinterpret_cast<ucd_type_t>(handle); });
    invalid("reserved", [](Desc &d) { d.reserved[0] = 1; });
    invalid("reserved", [](Desc &d) { d.reserved[1] = UINT64_MAX; });
    invalid(B::packs ? "inoffset is 25" : "outoffset is 25",
            [](Desc &d) { B::offset(d) = packed + 1; });
    invalid(B::packs ? "outbuf is NULL" : "inbuf is NULL", [](Desc &d) { B::no_packed_buffer(d); });
    refused(UCD_ERR__OVERFLOW, B::packs ? "incount is" : "outcount is", UCD_OP__REPLACE,
            [](Desc &d) { B::count(d) = too_many; });
    refused(UCD_ERR__INVALID_ARG, B::packs ? "inoffset is 2" : "outoffset is 2", UCD_OP__SUM,
            [](Desc &d) { B::offset(d) = 2; });
    refused(UCD_ERR__TRUNCATED, "3 bytes", UCD_OP__SUM, [](Desc &d) { B::bytes(d) = 3; });
    refused(UCD_ERR__NOT_SUPPORTED, "CHAR", UCD_OP__SUM, [](Desc &d) { d.type = UCD_TYPE__CHAR; });
    r.bad_ops(f, [&](ucd_op_t op) {
        B batch(v);
        return call(batch.descs.data(), 3, op);
    });
    r.invalid(f, "descs is NULL", [&] { return call(nullptr, 1, UCD_OP__REPLACE); });
}

// The calls that take a stream, with good arguments but for the stream.
struct StreamCalls {
    Refusals &r;
    ucd_type_t type;
    ucd_pack_desc_t pack{nullptr, 1, type, 0, r.out.data, packed, 7, {}};
    ucd_unpack_desc_t unpack{r.out.data, packed, nullptr, 1, type, 0, 7, {}};
    ucd_move_t move{nullptr, 1, type, 0, r.out.data, packed, UCD_TYPE__NULL, 0, UINTPTR_MAX, 7, {}};

    void refused(const ucd_stream_t &stream, int status, std::string_view words) {
        auto &o = r.out;
        void *const nowhere = reinterpret_cast<void *>(std::uintptr_t{64});
        const ucd_op_t op = UCD_OP__REPLACE;
        r.refused("ucd_pack_stream", status, words, [&] {
            return ucd_pack_stream(nowhere, 1, type, 0, o.data, packed, &o.size, nullptr, op,
                                   stream);
        });
        r.refused("ucd_unpack_stream", status, words, [&] {
            return ucd_unpack_stream(o.data, packed, nowhere, 1, type, 0, &o.size, nullptr, op,
                                     stream);
        });
        r.refused("ucd_pack_batch_stream", status, words,
                  [&] { return ucd_pack_batch_stream(&pack, 1, nullptr, op, stream); });
        r.refused("ucd_unpack_batch_stream", status, words,
                  [&] { return ucd_unpack_batch_stream(&unpack, 1, nullptr, op, stream); });
        r.refused("ucd_move_stream", status, words,
                  [&] { return ucd_move_stream(&move, 1, nullptr, op, stream); });
        r.refused("ucd_copy_stream", status, words, [&] {
            return ucd_copy_stream(nowhere, 1, type, o.data, 1, type, &o.size, nullptr, op, stream);
        });
        r.refused("ucd_prepare", status, words,
                  [&] { return ucd_prepare(1, type, op, stream, nullptr); });
        CHECK(move.actual_bytes == 7);
        CHECK((pack.actual_pack_bytes == 7 && unpack.actual_unpack_bytes == 7));
    }
};

} // namespace

TEST_CASE("ucd_ipack_batch and ucd_iunpack_batch refuse") {
    Refusals r;
    auto &o = r.out;
    check_members<ucd_pack_desc_t>(
        "ucd_ipack_batch",
        [&](ucd_pack_desc_t *d, std::uintptr_t n, ucd_op_t op) {
            return ucd_ipack_batch(d, n, nullptr, op, &o.request);
        },
        r);
    check_members<ucd_unpack_desc_t>(
        "ucd_iunpack_batch",
        [&](ucd_unpack_desc_t *d, std::uintptr_t n, ucd_op_t op) {
            return ucd_iunpack_batch(d, n, nullptr, op, &o.request);
        },
        r);
    r.invalid("ucd_ipack_batch", "request is NULL",
              [&] { return ucd_ipack_batch(nullptr, 0, nullptr, UCD_OP__REPLACE, nullptr); });
    r.invalid("ucd_iunpack_batch", "request is NULL",
              [&] { return ucd_iunpack_batch(nullptr, 0, nullptr, UCD_OP__REPLACE, nullptr); });
    CHECK(ucd_ipack_batch(nullptr, 0, nullptr, UCD_OP__REPLACE, &o.request) == UCD_SUCCESS);
    CHECK(o.request == UCD_REQUEST__NULL);
}

TEST_CASE("An op that does not exist is refused for a batch of nothing too") {
    Refusals r;
    r.bad_ops("ucd_ipack_batch", [&](ucd_op_t op) {
        return ucd_ipack_batch(nullptr, 0, nullptr, op, &r.out.request);
    });
    r.bad_ops("ucd_pack_batch_stream",
              [&](ucd_op_t op) { return ucd_pack_batch_stream(nullptr, 0, nullptr, op, cuda); });
    // The first wrong member ends the checks, however many members are said to follow.
    ucd_pack_desc_t one = {};
    r.invalid("ucd_ipack_batch", "descs[0]: type is UCD_TYPE__NULL", [&] {
        return ucd_ipack_batch(&one, UINTPTR_MAX / 2, nullptr, UCD_OP__REPLACE, &r.out.request);
    });
}

TEST_CASE("Streams of backends that are not available are refused") {
    const Handle v(make_vector);
    Refusals r;
    StreamCalls calls{r, v};
    for (const char *backend : {"cuda", "hip", "ze"}) {
        ucd_backend_desc_t desc = {};
        desc.struct_size = sizeof desc;
        int count = 0;
        REQUIRE(ucd_backend_count(&count) == UCD_SUCCESS);
        bool available = false;
        for (int i = 0; i < count; ++i) {
            REQUIRE(ucd_backend_get(i, &desc) == UCD_SUCCESS);
            available = available || (std::string(desc.name) == backend && desc.available);
        }
        if (!available)
            calls.refused({backend, 0, nullptr, nullptr}, UCD_ERR__NOT_SUPPORTED, backend);
    }
    calls.refused({"nope", 0, nullptr, nullptr}, UCD_ERR__NOT_SUPPORTED, "nope");
    calls.refused({"seq", 0, nullptr, nullptr}, UCD_ERR__NOT_SUPPORTED, "seq");
    calls.refused({nullptr, 0, nullptr, nullptr}, UCD_ERR__INVALID_ARG, "backend is NULL");
}

TEST_CASE("Calls with a stream refuse what is wrong besides the stream") {
    Refusals r;
    auto &o = r.out;
    const Handle v(make_vector);
    const ucd_op_t op = UCD_OP__REPLACE;
    r.invalid("ucd_pack_stream", "actual_pack_bytes is NULL", [&] {
        return ucd_pack_stream(nullptr, 1, v, 0, o.data, packed, nullptr, nullptr, op, cuda);
    });
    r.invalid("ucd_unpack_stream", "actual_unpack_bytes is NULL", [&] {
        return ucd_unpack_stream(o.data, packed, nullptr, 1, v, 0, nullptr, nullptr, op, cuda);
    });
    r.invalid("ucd_pack_batch_stream", "descs is NULL",
              [&] { return ucd_pack_batch_stream(nullptr, 1, nullptr, op, cuda); });
    r.invalid("ucd_unpack_batch_stream", "descs is NULL",
              [&] { return ucd_unpack_batch_stream(nullptr, 1, nullptr, op, cuda); });
    r.invalid("ucd_move_stream", "moves is NULL",
              [&] { return ucd_move_stream(nullptr, 1, nullptr, op, cuda); });
    r.invalid("ucd_copy_stream", "actual_bytes is NULL", [&] {
        return ucd_copy_stream(o.data, 1, v, o.data, 1, v, nullptr, nullptr, op, cuda);
    });
    r.refused("ucd_copy_stream", UCD_ERR__TRUNCATED, "room for 24 bytes", [&] {
        return ucd_copy_stream(nullptr, 2, v, o.data, 1, v, &o.size, nullptr, op, cuda);
    });
    r.bad_handles("ucd_prepare", "type",
                  [&](ucd_type_t t) { return ucd_prepare(1, t, op, cuda, nullptr); });
    r.bad_ops("ucd_prepare", [&](ucd_op_t bad) { return ucd_prepare(1, v, bad, cuda, nullptr); });
    r.refused("ucd_prepare", UCD_ERR__OVERFLOW, "count is",
              [&] { return ucd_prepare(too_many, v, op, cuda, nullptr); });
    r.refused("ucd_prepare", UCD_ERR__NOT_SUPPORTED, "MAXLOC",
              [&] { return ucd_prepare(1, v, UCD_OP__MAXLOC, cuda, nullptr); });
}

// Whatever is checked first: with two things wrong, the call is refused.
TEST_CASE("Calls with a stream refuse bad types and ops") {
    const Handle v(make_vector);
    std::uintptr_t actual = 7;
    unsigned char data[64];
    for (const std::uintptr_t handle :
         {std::uintptr_t{0}, first_unknown_type(), std::uintptr_t{4095}}) {
        const auto t = reinterpret_cast<ucd_type_t>(handle);
        CHECK(ucd_pack_stream(data, 1, t, 0, data, packed, &actual, nullptr, 0, cuda) !=
              UCD_SUCCESS);
        CHECK(ucd_unpack_stream(data, packed, data, 1, t, 0, &actual, nullptr, 0, cuda) !=
              UCD_SUCCESS);
    }
    CHECK(ucd_pack_stream(data, 1, v, 0, data, packed, &actual, nullptr, UCD_OP__CONVERT_SAT + 1,
                          cuda) != UCD_SUCCESS);
    CHECK(ucd_unpack_stream(data, packed, data, 1, v, 0, &actual, nullptr, -1, cuda) !=
          UCD_SUCCESS);
    CHECK(actual == 7);
}

} // namespace bad_arguments_batch_test
