// Every route, and what is made of it, with a mock backend for the devices.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/device_moves.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"

#include "support/streaming_copy.h"
#include "transfer/staged.h"

#include <cerrno>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mock_routes_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// What one pack of a strided type between two memories makes the backend do.
struct Effort {
    int launches, copies, allocations;
    friend bool operator==(const Effort &, const Effort &) = default;
};

Effort effort_of_pack(Memory a, Memory b) {
    const BuiltType type(vector(8, 4, 8, leaf(UCD_TYPE__INT)));
    Rng rng(1);
    DeviceBuffer typed(rng, {0, 256}, a), packed(rng, {0, 128}, b);
    typed.send();
    packed.send();
    pack_now(typed.real_base(), 1, type.get(), 0, packed.real_base(), 128);
    return {mock::counts.launches, mock::counts.copies, mock::counts.allocations};
}

void require_effort(Memory a, Memory b, const Effort &expected, bool peers = false,
                    bool private_pinned = false) {
    DeviceSession session;
    mock::knobs.peers = peers;
    mock::knobs.private_pinned = private_pinned;
    const Effort found = effort_of_pack(a, b);
    INFO(name_of(a) << " to " << name_of(b) << ": " << found.launches << " launches, "
                    << found.copies << " copies, " << found.allocations << " chunks");
    CHECK(found == expected);
}

} // namespace

TEST_CASE("ucd_get_memory says where a buffer is, as a hint would") {
    const DeviceSession session;
    const BuiltType type(vector(8, 4, 8, leaf(UCD_TYPE__INT))),
        empty(contig(0, leaf(UCD_TYPE__INT)));
    Rng rng(1);
    for (const Memory memory : all_memories) {
        DeviceBuffer buffer(rng, {0, 256}, memory);
        char text[32];
        std::uintptr_t needed = 0;
        REQUIRE(ucd_get_memory(buffer.real_base(), 1, type.get(), UCD_INFO__NULL, text, sizeof text,
                               &needed) == UCD_SUCCESS);
        CHECK(std::string(text) == hint_for(memory));
        REQUIRE(ucd_get_memory(buffer.real_base(), 3, empty.get(), UCD_INFO__NULL, text,
                               sizeof text, &needed) == UCD_SUCCESS);
        CHECK(std::string(text) == "host");
    }
}

TEST_CASE("much data, through chunks of their usual size", "[bulk]") {
    DeviceSession session;
    const ucd::StagingSizes usual;
    use_staging(usual.chunk_bytes, usual.chunks);
    for (const auto &[a, b] : {std::pair{Memory::device0, Memory::pageable},
                               std::pair{Memory::pageable, Memory::device1},
                               std::pair{Memory::device1, Memory::device0}}) {
        StridedMove move("much", usual.chunk_bytes * 5 / 8, a, b); // two chunks and a half
        move.op = UCD_OP__SUM;
        move.pack_and_check();
        move.unpack_and_check();
    }
}

TEST_CASE("the mock's device memory is out of the host's reach") {
    Rng rng(4);
    const DeviceBuffer device(rng, {0, 64}, Memory::device0), pinned(rng, {0, 64}, Memory::pinned);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    CHECK(::write(ends[1], pinned.real_base(), 1) == 1);
    CHECK(::write(ends[1], device.real_base(), 1) == -1);
    CHECK(errno == EFAULT);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("the shortest way is taken") {
    using enum Memory;
    constexpr Effort host{0, 0, 0}, direct{1, 0, 0};
    // The host reaches both.
    for (const Memory a : {pageable, pinned, managed})
        for (const Memory b : {pageable, pinned, managed}) require_effort(a, b, host);
    // One device does.
    for (const Memory a : {pinned, managed, device0}) require_effort(a, device0, direct);
    for (const Memory b : {pinned, managed, device0}) require_effort(device0, b, direct);
    require_effort(device0, device1, direct, true);
    require_effort(device1, device0, direct, true);
    // A kernel and a chunk; the host does the rest.
    require_effort(device0, pageable, {1, 0, 1});
    require_effort(device1, pageable, {1, 0, 1});
    // The host, a chunk and a copy.
    require_effort(pageable, device1, {0, 1, 1});
    // One device after the other, by way of a chunk that both reach, or of two.
    require_effort(device0, device1, {1, 1, 1});
    require_effort(device0, device1, {1, 1, 2}, false, true);
}

TEST_CASE("hints spare the look at the buffers, and lead the same way") {
    using enum Memory;
    const BuiltType type(vector(8, 4, 8, leaf(UCD_TYPE__INT)));
    Rng rng(1);
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            DeviceSession session;
            const Effort unhinted = effort_of_pack(a, b);
            // Of memory in the heap nobody is asked.
            if (a != pageable || b != pageable) CHECK(mock::counts.queries == 2);
            mock::reset();
            use_staging(512, 3);
            DeviceBuffer typed(rng, {0, 256}, a), packed(rng, {0, 128}, b);
            Keys info({{"ucd.outbuf", hint_for(a)}, {"ucd.inbuf", hint_for(b)}});
            unpack_now(packed.real_base(), 128, typed.real_base(), 1, type.get(), 0, info);
            CHECK(mock::counts.queries == 0);
            const int steps = unhinted.launches + unhinted.copies;
            CHECK(mock::counts.launches + mock::counts.copies == steps);
            CHECK(mock::counts.allocations == unhinted.allocations);
        }
    }
}

TEST_CASE("a batch looks once at each allocation") {
    using enum Memory;
    const DeviceSession session;
    Rng rng(1);
    constexpr std::intptr_t members = 40, bytes = 16;
    DeviceBuffer in(rng, {0, members * bytes}, device0);
    DeviceBuffer outs[] = {{rng, {0, members * bytes}, device0},
                           {rng, {0, members * bytes}, device1}};
    in.send();
    // To one allocation, in one launch; to two by turns; or in a stream.
    const int how = GENERATE(0, 1, 2);
    MoveList descs;
    for (std::intptr_t i = 0; i < members; ++i) {
        const DeviceBuffer &out = outs[how == 1 ? i % 2 : 0];
        descs.push_back(
            pack_move(in.at(i * bytes), bytes, UCD_TYPE__CHAR, 0, out.at(i * bytes), bytes));
        std::copy_n(in.actual(i * bytes), bytes, out.expected(i * bytes));
    }
    for (DeviceBuffer &out : outs) out.send();
    mock::counts.queries = 0;
    if (how == 2) {
        mock::Stream stream(0);
        REQUIRE(start_in(stream, descs) == UCD_SUCCESS);
        stream.synchronise();
    } else {
        REQUIRE(move_all(descs) == UCD_SUCCESS);
    }
    CHECK(mock::counts.queries == (how == 1 ? 3 : 2));
    Case one("asked once", 0);
    for (DeviceBuffer &out : outs) {
        out.fetch();
        require_intact(one, out, "packed");
    }
}

TEST_CASE("ucd.gpu=none looks at nothing") {
    DeviceSession session;
    Keys info({{"ucd.gpu", "none"}});
    const int in[4] = {1, 2, 3, 4};
    int out[4] = {};
    pack_now(in, 4, UCD_TYPE__INT, 0, out, 16, info);
    CHECK(out[3] == 4);
    CHECK(mock::counts.queries == 0);
}

TEST_CASE("drivers are not asked about small buffers in the heap and on the stack") {
    DeviceSession session;
    const int in[4] = {1, 2, 3, 4};
    int out[4] = {};
    pack_now(in, 4, UCD_TYPE__INT, 0, out, 16);
    CHECK(out[3] == 4);
    CHECK(mock::counts.queries == 0);
    // A type may start anywhere; where its first byte lies counts.
    Rng rng(4);
    DeviceBuffer device(rng, {0, 16}, Memory::device0);
    const BuiltType far(hindexed_block(1, {reinterpret_cast<std::intptr_t>(device.real_base())},
                                       leaf(UCD_TYPE__INT)));
    device.send();
    pack_now(nullptr, 1, far.get(), 0, out, 4);
    CHECK(mock::counts.queries > 0);
    CHECK(mock::counts.launches > 0);
}

TEST_CASE("drivers are not asked about lists whose members are all in the heap and on the stack") {
    DeviceSession session;
    const int in[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int out[8] = {};
    ucd_move_t packs[2] = {pack_move(in, 4, UCD_TYPE__INT, 0, out, 16),
                           pack_move(in + 4, 4, UCD_TYPE__INT, 0, out + 4, 16)};
    ucd_request_t request;
    REQUIRE(ucd_imove(packs, 2, UCD_INFO__NULL, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
    CHECK(request == UCD_REQUEST__NULL);
    CHECK(std::equal(in, in + 8, out));
    ucd_move_t unpack = unpack_move(out, 16, out + 4, 4, UCD_TYPE__INT, 0);
    REQUIRE(ucd_imove(&unpack, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
    CHECK(std::equal(in, in + 4, out + 4));
    ucd_move_t copy = pack_move(in, 4, UCD_TYPE__INT, 0, out, 16);
    REQUIRE(ucd_move(&copy, 1, UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(mock::counts.queries == 0);
    // One member elsewhere is enough to ask.
    Rng rng(4);
    DeviceBuffer device(rng, {0, 16}, Memory::device0);
    packs[1].outbuf = device.real_base();
    REQUIRE(ucd_imove(packs, 2, UCD_INFO__NULL, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    CHECK(mock::counts.queries > 0);
    // A wrong handle is reported as before.
    packs[1].intype = no_type;
    CHECK(ucd_imove(packs, 2, UCD_INFO__NULL, UCD_OP__REPLACE, &request) == UCD_ERR__INVALID_ARG);
}

TEST_CASE("copies on one device stay on it") {
    DeviceSession session;
    const BuiltType in_type(vector(8, 1, 2, leaf(UCD_TYPE__INT))),
        out_type(vector(8, 1, 3, leaf(UCD_TYPE__INT)));
    Rng rng(2);
    DeviceBuffer in(rng, {0, 64}, Memory::device1), out(rng, {0, 96}, Memory::device1);
    in.send();
    CHECK(copy_now(in.real_base(), 1, in_type.get(), out.real_base(), 1, out_type.get()) == 32);
    CHECK(mock::counts.launches == 2);
    CHECK(mock::counts.copies == 0);
}

TEST_CASE("what is complete on return leaves no request") {
    DeviceSession session;
    StridedMove move("at once", 100, Memory::device0, Memory::pinned);
    move.request = reinterpret_cast<ucd_request_t>(std::uintptr_t{1});
    mock::knobs.complete_at_once = true;
    REQUIRE(move.start_pack() == UCD_SUCCESS);
    CHECK(move.request == UCD_REQUEST__NULL);
    move.check();
    CHECK(mock::counts.launches == 1);
}

// Host memory is written past the caches from so many bytes on; it is read as ever.
TEST_CASE("much data from host memory to a device leaves its source as it is") {
    DeviceSession session;
    use_staging(std::size_t{4} << 20, 2);
    const std::size_t bytes = (std::size_t{8} << 20) + 100;
    std::vector<char> in(bytes), out(bytes);
    Rng rng(8);
    for (std::size_t i = 0; i < bytes; i += 1000) in[i] = static_cast<char>(rng.bits());
    const std::vector<char> before = in;
    void *const device = mock::allocate(ucd::MemoryKind::device, 0, bytes);
    CHECK(unpack_now(in.data(), bytes, device, bytes, UCD_TYPE__BYTE, 0) == bytes);
    CHECK((in == before));
    mock::read(out.data(), device, bytes);
    CHECK((out == before));
    pack_now(device, bytes, UCD_TYPE__BYTE, 0, in.data(), bytes);
    CHECK((in == before));
    mock::release(device);
}

TEST_CASE("much data from a device to rows of host memory leaves what is between them") {
    DeviceSession session;
    use_staging(std::size_t{1} << 18, 2);
    // Two planes, the second one in front, of rows of so many bytes.
    constexpr std::intptr_t rows = 20000, row = 110, stride = 163, plane = rows * stride;
    const BuiltType type(
        hvector(2, 1, -plane, hvector(rows, row, stride, leaf(UCD_TYPE__UINT8_T))));
    constexpr std::size_t all = 2 * rows * row;
    static_assert(all > ucd::worth_streaming);
    std::vector<char> stream(all);
    for (std::size_t i = 0; i < all; ++i) stream[i] = static_cast<char>(i % 251 + 1);
    void *const device = mock::allocate(ucd::MemoryKind::device, 0, all);
    mock::write(device, stream.data(), all);
    for (const auto &[offset, bytes] :
         {std::pair<std::size_t, std::size_t>{0, all}, {77, all - 200}}) {
        // Added to what is there, each byte is another one.
        for (const bool adds : {false, true}) {
            std::vector<char> out(2 * plane, 3), expected(2 * plane, 3);
            for (std::size_t i = offset; i < offset + bytes; ++i) {
                const std::size_t number = i / row, first = number < rows ? plane : 0;
                expected[first + number % rows * stride + i % row] =
                    static_cast<char>(stream[i] + (adds ? 3 : 0));
            }
            CHECK(unpack_now(static_cast<const char *>(device) + offset, bytes, out.data() + plane,
                             1, type.get(), offset, UCD_INFO__NULL,
                             adds ? UCD_OP__SUM : UCD_OP__REPLACE) == bytes);
            CHECK((out == expected));
        }
    }
    mock::release(device);
}

TEST_CASE("a batch of which one side has a hint") {
    using enum Memory;
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            for (const char *hinted : {"ucd.inbuf", "ucd.outbuf"}) {
                DeviceSession session;
                Keys info;
                const bool in = std::string(hinted) == "ucd.inbuf";
                info.set(hinted, hint_for(in ? a : b));
                StridedMoves moves;
                moves.add(4, a, b);
                moves.set_up();
                INFO(name_of(a) << " to " << name_of(b) << ", " << hinted);
                REQUIRE(move_all(moves.list(), info) == UCD_SUCCESS);
                moves.check();
            }
        }
    }
}

namespace {

// Ints of which so many are moved to a device, by indices in some memory: every other one.
struct ByIndices {
    ByIndices(std::size_t count, Memory typed_memory, Memory list_memory,
              Memory packed_memory = Memory::device0)
        : rng(5), count_(count),
          typed(rng, {0, static_cast<std::intptr_t>(8 * count)}, typed_memory),
          packed(rng, {0, static_cast<std::intptr_t>(4 * count)}, packed_memory) {
        std::vector<std::int64_t> indices;
        for (std::size_t i = 0; i < count; ++i) indices.push_back(static_cast<std::int64_t>(2 * i));
        // A recipe has memory of its own for indices in pageable memory.
        recipe =
            indexed_block_ref(1, indices, UCD_TYPE__INT32_T, 4, 0,
                              static_cast<std::intptr_t>(8 * count), leaf(UCD_TYPE__INT),
                              copy_in(list_memory, bytes_of_indices(indices, UCD_TYPE__INT32_T)));
        type = BuiltType(recipe);
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(typed.actual(static_cast<std::intptr_t>(8 * i)), 4,
                        packed.expected(static_cast<std::intptr_t>(4 * i)));
        typed.send();
        packed.send();
    }

    int pack(ucd_info_t info = UCD_INFO__NULL) {
        std::uintptr_t actual = 0;
        return ucd_pack(typed.real_base(), 1, type.get(), 0, packed.real_base(), 4 * count_,
                        &actual, info, UCD_OP__REPLACE);
    }
    void check() {
        packed.fetch();
        CHECK_FALSE(packed.first_difference());
    }

    Rng rng;
    std::size_t count_;
    DeviceBuffer typed, packed;
    RecipePtr recipe;
    BuiltType type;
};

} // namespace

TEST_CASE("a device that reaches the indices moves in one step, and else the host") {
    DeviceSession session;
    for (const bool reaches : {true, false})
        for (const Memory memory : {Memory::pinned, Memory::managed}) {
            ByIndices move(50, memory, reaches ? memory : Memory::pageable);
            mock::counts.launches = mock::counts.copies = 0;
            REQUIRE(move.pack() == UCD_SUCCESS);
            move.check();
            CHECK(mock::counts.launches == (reaches ? 1 : 0));
            CHECK(mock::counts.copies == (reaches ? 0 : 1)); // of the chunk
        }
}

TEST_CASE("hints for host memory are obeyed in every call, also if they change") {
    const DeviceSession session;
    const BuiltType type(vector(8, 4, 8, leaf(UCD_TYPE__INT)));
    Rng rng(1);
    DeviceBuffer typed(rng, {0, 256}, Memory::pageable), host(rng, {0, 128}, Memory::pageable),
        device(rng, {0, 128}, Memory::device0);
    for (DeviceBuffer *buffer : {&typed, &host, &device}) buffer->send();
    Keys info({{"ucd.inbuf", "host"}, {"ucd.outbuf", "host"}});
    for (int i = 0; i < 3; ++i)
        pack_now(typed.real_base(), 1, type.get(), 0, host.real_base(), 128, info);
    CHECK(mock::counts.queries + mock::counts.launches + mock::counts.copies == 0);
    info.set("ucd.outbuf", hint_for(Memory::device0));
    pack_now(typed.real_base(), 1, type.get(), 0, device.real_base(), 128, info);
    CHECK(mock::counts.launches + mock::counts.copies > 0);
    host.fetch();
    device.fetch();
    CHECK(std::equal(device.actual(0), device.actual(128), host.actual(0)));
    info.set("ucd.outbuf", "cuda:0");
    std::uintptr_t actual = 0;
    CHECK(ucd_pack(typed.real_base(), 1, type.get(), 0, host.real_base(), 128, &actual, info,
                   UCD_OP__REPLACE) == UCD_ERR__NOT_SUPPORTED);
}

TEST_CASE("hints for the host's data say nothing about indices in a device's memory") {
    const DeviceSession session;
    ByIndices move(50, Memory::pageable, Memory::device0, Memory::pageable);
    const Keys info({{"ucd.inbuf", "host"}, {"ucd.outbuf", "host"}});
    for (int i = 0; i < 3; ++i) {
        REQUIRE(move.pack(info) == UCD_SUCCESS);
        move.check();
        std::uintptr_t needed = 0; // it asks for the type's kernels on the host, too
        CHECK(ucd_describe(move.type.get(), nullptr, 0, &needed) == UCD_SUCCESS);
    }
}

TEST_CASE("a driver that may have memory unknown is asked about what no driver knows") {
    const DeviceSession session;
    const auto start_again = [](bool hides) {
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        mock::knobs.hides_memory = hides;
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    };
    start_again(true);
    const auto questions = [](Memory a) {
        StridedMove move("unknown", 100, a, Memory::device0);
        mock::counts.unknown = 0;
        move.pack_and_check();
        return mock::counts.unknown.load();
    };
    CHECK(questions(Memory::pageable) == 1);
    for (const Memory known : {Memory::pinned, Memory::managed, Memory::device0})
        CHECK(questions(known) == 0);
    start_again(false);
    CHECK(questions(Memory::pageable) == 0);
}

TEST_CASE("a driver that does not know where indices are fails the call") {
    DeviceSession session;
    ByIndices move(50, Memory::pinned, Memory::pinned);
    mock::counts.queries = 0;
    mock::knobs.failing_query = 3; // after both buffers
    CHECK(move.pack() == UCD_ERR__DEVICE);
    CHECK(last_error_says("the question failed"));
    CHECK(mock::counts.launches == 0);
    CHECK(move.pack() == UCD_SUCCESS);
    move.check();
}

TEST_CASE("a plan is not made if a driver does not know where its buffers are") {
    DeviceSession session;
    StridedMove m("planned", 50, Memory::device0, Memory::device1);
    int failed = 0;
    for (bool all_asked = false; !all_asked;) {
        ucd_move_t move = pack_of(m.move());
        ucd_plan_t plan = UCD_PLAN__NULL;
        mock::knobs.failing_query = failed + 1;
        const int rc = ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan);
        all_asked = mock::knobs.failing_query.exchange(0) > 0;
        INFO("question " << failed + 1);
        CHECK(rc == (all_asked ? UCD_SUCCESS : UCD_ERR__DEVICE));
        if (rc == UCD_SUCCESS) {
            const MoveBuffers same({pack_of(m.move())});
            CHECK(ucd_plan_rebase(plan, 0, 1, same.in.data(), same.out.data()) == UCD_SUCCESS);
            CHECK(ucd_plan_free(&plan) == UCD_SUCCESS);
        }
        failed += !all_asked;
    }
    CHECK(failed > 1);
}

TEST_CASE("indices as long as a chunk are brought in a chunk that is kept") {
    DeviceSession session;
    use_staging(512, 3);
    for (const std::size_t bytes : {std::size_t{508}, std::size_t{512}, std::size_t{516}}) {
        ByIndices move(bytes / 4, Memory::device0, Memory::pageable);
        mock::counts.allocations = 0;
        for (int i = 0; i < 3; ++i) {
            REQUIRE(move.pack() == UCD_SUCCESS);
            move.check();
        }
        INFO(bytes << " bytes");
        // Longer ones have memory of their own in each call. The chunk is that of the first ones.
        CHECK(mock::counts.allocations == (bytes > 512 ? 3 : bytes == 508 ? 1 : 0));
    }
}

} // namespace mock_routes_test
