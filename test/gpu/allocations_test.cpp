// Objects whose blocks have an allocation each, by absolute addresses: drivers may refuse a copy of
// rows that are in several of them.
#include "support/catch.hpp"

#include "names.hpp"

#include <ucd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace allocations_test {

namespace {

void check(gpuError_t error) {
    if (error != gpuSuccess) throw std::runtime_error(gpuGetErrorString(error));
}
void check_ucd(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

enum class Kind : std::uint8_t { device, pinned, managed, pageable };
constexpr const char *kind_names[] = {"device", "pinned", "managed", "pageable"};

class Area {
public:
    Area(Kind kind, std::size_t bytes) : kind_(kind) {
        void *memory = nullptr;
        if (kind == Kind::device) check(gpuMalloc(&memory, bytes));
        if (kind == Kind::pinned) check(gpuHostAlloc(&memory, bytes, gpuHostAllocPortable));
        if (kind == Kind::managed) check(gpuMallocManaged(&memory, bytes));
        if (kind == Kind::pageable) memory = ::operator new(bytes);
        first = static_cast<unsigned char *>(memory);
    }
    ~Area() {
        if (kind_ == Kind::pageable)
            ::operator delete(first);
        else
            (void)(kind_ == Kind::pinned ? gpuHostFree(first) : gpuFree(first));
    }
    Area(Area &&other) noexcept : first(std::exchange(other.first, nullptr)), kind_(other.kind_) {}
    Area &operator=(Area &&other) noexcept {
        std::swap(first, other.first);
        return *this;
    }
    unsigned char *first;

private:
    Kind kind_; // the same of all that are swapped
};

// Blocks of an object, by their addresses, in the order of the stream.
struct Blocks {
    std::string name;
    std::vector<unsigned char *> at;
    std::size_t bytes; // of each
};

constexpr std::size_t area_bytes = std::size_t{2} << 20, areas = 3;

class Memories {
public:
    explicit Memories(Kind kind) {
        for (std::size_t i = 0; i < areas; ++i) {
            areas_.emplace_back(kind, area_bytes);
            contents.push_back(numbers(static_cast<unsigned>(i)));
        }
        std::sort(areas_.begin(), areas_.end(),
                  [](const Area &a, const Area &b) { return a.first < b.first; });
    }
    // Of each area, before a move.
    std::vector<std::vector<unsigned char>> contents;
    void fill() {
        for (std::size_t i = 0; i < areas; ++i)
            check(gpuMemcpy(areas_[i].first, contents[i].data(), area_bytes, gpuMemcpyDefault));
        // From pageable memory, that returns before the data has arrived.
        check(gpuDeviceSynchronize());
    }
    static std::vector<unsigned char> numbers(unsigned seed) {
        std::vector<unsigned char> made(area_bytes);
        std::uint32_t state = seed * 2654435761U + 1;
        for (unsigned char &byte : made) {
            state = state * 1664525U + 1013904223U;
            byte = static_cast<unsigned char>(state >> 24);
        }
        return made;
    }
    std::vector<unsigned char> get(std::size_t i) const {
        std::vector<unsigned char> values(area_bytes);
        check(gpuMemcpy(values.data(), areas_[i].first, area_bytes, gpuMemcpyDefault));
        return values;
    }
    // The area of an address, which may be followed by another one, and the place in it.
    std::size_t area_of(const unsigned char *address, std::size_t &place) const {
        for (std::size_t i = 0; i < areas; ++i) {
            if (address < areas_[i].first || address >= areas_[i].first + area_bytes) continue;
            place = static_cast<std::size_t>(address - areas_[i].first);
            return i;
        }
        throw std::runtime_error("a block in no area");
    }
    std::vector<Blocks> objects() const {
        std::vector<Blocks> all;
        for (std::size_t i = 0; i + 1 < areas; ++i) {
            unsigned char *const a = areas_[i].first, *const b = areas_[i + 1].first;
            all.push_back({"two rows", {a, b}, 4096});
            all.push_back({"the last bytes", {a, b + area_bytes - 4096}, 4096});
            const std::size_t apart = static_cast<std::size_t>(b - a);
            if (apart > INT32_MAX) continue;
            all.push_back({"two planes", {a, a + 8192, b, b + 8192}, 4096});
            if (apart != area_bytes) continue;
            // One follows the other.
            all.push_back({"bytes of both", {b - 10'000}, 20'000});
            Blocks rows{"rows of both", {}, 1024};
            for (unsigned char *row = b - 64 * 2048; row < b + 64 * 2048; row += 2048)
                rows.at.push_back(row);
            all.push_back(rows);
            Blocks across{"a row across the end", {}, 1024};
            for (unsigned char *row = b - 64 * 2048 - 512; row < b + 60 * 2048; row += 2048)
                across.at.push_back(row);
            all.push_back(across);
        }
        return all;
    }

private:
    std::vector<Area> areas_;
};

ucd_type_t type_of(const Blocks &blocks) {
    std::vector<std::intptr_t> displs,
        lengths(blocks.at.size(), static_cast<std::intptr_t>(blocks.bytes));
    for (const unsigned char *at : blocks.at)
        displs.push_back(static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(at)));
    ucd_type_t type = UCD_TYPE__NULL;
    check_ucd(ucd_create_hindexed(static_cast<std::intptr_t>(displs.size()), lengths.data(),
                                  displs.data(), UCD_TYPE__BYTE, UCD_INFO__NULL, &type));
    return type;
}

// Moves the object once each way by move(pack, type, packed, bytes), beside a walk over its bytes.
using MoveFunction = std::function<void(bool, ucd_type_t, void *, std::size_t)>;

void check_object(Memories &memories, const Blocks &blocks, Kind packed_kind,
                  const MoveFunction &move) {
    ucd_type_t type = type_of(blocks);
    const std::size_t bytes = blocks.bytes * blocks.at.size();
    const Area packed(packed_kind, area_bytes);
    const std::vector<unsigned char> stream = Memories::numbers(77);
    std::vector<unsigned char> found(area_bytes);
    for (const bool pack : {true, false}) {
        check(gpuMemcpy(packed.first, stream.data(), area_bytes, gpuMemcpyDefault));
        memories.fill();
        std::vector<std::vector<unsigned char>> expected = memories.contents;
        std::vector<unsigned char> expected_stream = stream;
        for (std::size_t i = 0; i < bytes; ++i) {
            std::size_t place;
            const std::size_t area =
                memories.area_of(blocks.at[i / blocks.bytes] + i % blocks.bytes, place);
            if (pack)
                expected_stream[i] = expected[area][place];
            else
                expected[area][place] = stream[i];
        }
        move(pack, type, packed.first, bytes);
        check(gpuMemcpy(found.data(), packed.first, area_bytes, gpuMemcpyDefault));
        CHECK((found == expected_stream));
        for (std::size_t i = 0; i < areas; ++i) CHECK((memories.get(i) == expected[i]));
    }
    check_ucd(ucd_free(&type));
}

void move_in_call(bool pack, ucd_type_t type, void *packed, std::size_t bytes, ucd_info_t info) {
    std::uintptr_t actual = 0;
    check_ucd(pack
                  ? ucd_pack(nullptr, 1, type, 0, packed, bytes, &actual, info, UCD_OP__REPLACE)
                  : ucd_unpack(packed, bytes, nullptr, 1, type, 0, &actual, info, UCD_OP__REPLACE));
    CHECK(actual == bytes);
}

// In a stream, and in a graph that is replayed.
void move_in_stream(bool pack, ucd_type_t type, void *packed, std::size_t bytes, bool captured) {
    gpuStream_t stream;
    check(gpuStreamCreate(&stream));
    const ucd_stream_t native = {ucd::UCD_GPU::vendor_name, 0, stream, nullptr, 0};
    check_ucd(ucd_prepare(1, type, UCD_OP__REPLACE, native, UCD_INFO__NULL));
    if (captured) check(gpuStreamBeginCapture(stream, gpuStreamCaptureModeThreadLocal));
    std::uintptr_t actual = 0;
    const int rc = pack ? ucd_pack_stream(nullptr, 1, type, 0, packed, bytes, &actual,
                                          UCD_INFO__NULL, UCD_OP__REPLACE, native)
                        : ucd_unpack_stream(packed, bytes, nullptr, 1, type, 0, &actual,
                                            UCD_INFO__NULL, UCD_OP__REPLACE, native);
    gpuGraph_t graph = nullptr;
    if (captured) check(gpuStreamEndCapture(stream, &graph));
    check_ucd(rc);
    if (captured) {
        gpuGraphExec_t ready;
        check(gpuGraphInstantiate(&ready, graph, 0));
        check(gpuGraphLaunch(ready, stream));
        check(gpuStreamSynchronize(stream));
        check(gpuGraphExecDestroy(ready));
        check(gpuGraphDestroy(graph));
    }
    check(gpuStreamSynchronize(stream));
    check(gpuStreamDestroy(stream));
}

} // namespace

TEST_CASE("blocks in several allocations are moved in one call") {
    for (const Kind kind : {Kind::device, Kind::pinned, Kind::managed}) {
        Memories memories(kind);
        for (const Blocks &blocks : memories.objects())
            for (const Kind packed : {Kind::device, Kind::pinned, Kind::pageable})
                for (const char *engine : {"auto", "dma"}) {
                    INFO(blocks.name << " in " << kind_names[static_cast<int>(kind)] << ", packed "
                                     << kind_names[static_cast<int>(packed)] << ", " << engine);
                    ucd_info_t info = UCD_INFO__NULL;
                    check_ucd(ucd_info_create(&info));
                    check_ucd(ucd_info_set(info, "ucd.engine", engine));
                    check_object(memories, blocks, packed,
                                 [&](bool pack, ucd_type_t type, void *at, std::size_t bytes) {
                                     move_in_call(pack, type, at, bytes, info);
                                 });
                    check_ucd(ucd_info_free(&info));
                }
    }
}

TEST_CASE("blocks in several allocations are moved in streams and graphs") {
    for (const Kind kind : {Kind::device, Kind::pinned}) {
        Memories memories(kind);
        for (const Blocks &blocks : memories.objects())
            for (const Kind packed : {Kind::device, Kind::pinned})
                for (const bool captured : {false, true}) {
                    INFO(blocks.name << " in " << kind_names[static_cast<int>(kind)] << ", packed "
                                     << kind_names[static_cast<int>(packed)] << ", captured "
                                     << captured);
                    check_object(memories, blocks, packed,
                                 [&](bool pack, ucd_type_t type, void *at, std::size_t bytes) {
                                     move_in_stream(pack, type, at, bytes, captured);
                                 });
                }
    }
}

} // namespace allocations_test
