// A backend beside a program's own GPU code: streams, graphs, busy devices, threads, forks.
#include "support/catch.hpp"

#include "names.hpp"
#include "spin.hpp"
#include "support/moves/move_list.hpp"

#include <ucd.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace program_test {

using namespace ucdtest;

namespace {

void check(gpuError_t error) {
    if (error != gpuSuccess) throw std::runtime_error(gpuGetErrorString(error));
}
void check_ucd(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

template <class T>
struct DeviceArray {
    explicit DeviceArray(std::size_t count) : bytes(count * sizeof(T)) {
        check(gpuMalloc(&data, bytes));
    }
    ~DeviceArray() { (void)gpuFree(data); }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    std::vector<T> values() const {
        std::vector<T> v(bytes / sizeof(T));
        check(gpuMemcpy(v.data(), data, bytes, gpuMemcpyDefault));
        return v;
    }
    std::size_t bytes;
    T *data = nullptr;
};

constexpr int ints = 1000;

// Every third of 3 * ints, or the same by a list.
ucd_type_t every_third(bool listed) {
    ucd_type_t type = UCD_TYPE__NULL;
    if (!listed) {
        check_ucd(ucd_create_vector(ints, 1, 3, UCD_TYPE__INT, UCD_INFO__NULL, &type));
        return type;
    }
    std::vector<intptr_t> displs;
    for (int i = 0; i < ints; ++i) displs.push_back(3 * i + (i % 7 == 3));
    check_ucd(
        ucd_create_indexed_block(ints, 1, displs.data(), UCD_TYPE__INT, UCD_INFO__NULL, &type));
    return type;
}

void pack(const void *in, ucd_type_t type, void *out) {
    std::uintptr_t actual = 0;
    check_ucd(ucd_pack(in, 1, type, 0, out, ints * sizeof(int), &actual, UCD_INFO__NULL,
                       UCD_OP__REPLACE));
}

int expected(int i, bool listed, int by) {
    return 3 * i + (listed && i % 7 == 3) + by;
}

bool right(const std::vector<int> &packed, bool listed, int by) {
    for (int i = 0; i < ints; ++i)
        if (packed[static_cast<std::size_t>(i)] != expected(i, listed, by)) return false;
    return true;
}

// Device -1: the stream's own.
ucd_stream_t native(gpuStream_t stream, int device = 0) {
    return {ucd::UCD_GPU::vendor_name, device, stream, nullptr, 0};
}

} // namespace

TEST_CASE("the backend tells what it has found") {
    int count = 0;
    check_ucd(ucd_backend_count(&count));
    bool found = false;
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t desc{};
        desc.struct_size = sizeof desc;
        check_ucd(ucd_backend_get(i, &desc));
        WARN(desc.name << ": available " << desc.available << ", devices " << desc.devices
                       << ", version " << desc.version << " " << desc.reason);
        found = found || (desc.name == std::string(ucd::UCD_GPU::vendor_name) && desc.available &&
                          desc.devices > 0);
    }
    CHECK(found);
}

TEST_CASE("calls return at once while a kernel occupies the device") {
    DeviceArray<int> in(3 * ints), out(ints);
    write_numbers(in.data, 3 * ints, 0, nullptr);
    check(gpuDeviceSynchronize());
    std::vector<int> pageable(ints);
    for (const bool listed : {false, true}) {
        for (const bool to_host : {false, true}) {
            ucd_type_t type = every_third(listed);
            std::uintptr_t actual = 0;
            ucd_request_t request = UCD_REQUEST__NULL;
            double seconds;
            int completed = 1;
            void *target = to_host ? static_cast<void *>(pageable.data()) : out.data;
            // The first call may load kernels, and allocates staging.
            pack(in.data, type, target);
            if (to_host)
                std::fill(pageable.begin(), pageable.end(), 0);
            else
                check(gpuMemset(out.data, 0, out.bytes));
            check(gpuDeviceSynchronize());
            {
                Spinning spinning;
                const auto start = std::chrono::steady_clock::now();
                check_ucd(ucd_ipack(in.data, 1, type, 0, target, ints * sizeof(int), &actual,
                                    UCD_INFO__NULL, UCD_OP__REPLACE, &request));
                check_ucd(ucd_test(&request, &completed));
                seconds =
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            }
            CHECK(completed == 0);
            CHECK(actual == ints * sizeof(int));
            CHECK(seconds < 0.01);
            check_ucd(ucd_wait(&request));
            CHECK(right(to_host ? pageable : out.values(), listed, 0));
            check_ucd(ucd_free(&type));
        }
    }
}

TEST_CASE("a first use returns while a kernel occupies the device") {
    DeviceArray<int> in(3 * ints), out(ints);
    write_numbers(in.data, 3 * ints, 0, nullptr);
    check(gpuDeviceSynchronize());
    ucd_type_t type = every_third(true);
    std::uintptr_t actual = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
    int completed = 1;
    {
        Spinning spinning;
        check_ucd(ucd_ipack(in.data, 1, type, 0, out.data, ints * sizeof(int), &actual,
                            UCD_INFO__NULL, UCD_OP__REPLACE, &request));
        check_ucd(ucd_test(&request, &completed));
    }
    CHECK(completed == 0);
    check_ucd(ucd_wait(&request));
    CHECK(right(out.values(), true, 0));
    check_ucd(ucd_free(&type));
}

TEST_CASE("work in a stream is done in its order") {
    gpuStream_t stream;
    check(gpuStreamCreateWithFlags(&stream, gpuStreamNonBlocking));
    for (const bool listed : {false, true}) {
        DeviceArray<int> in(3 * ints), out(ints), back(3 * ints);
        ucd_type_t type = every_third(listed);
        std::uintptr_t actual = 0;
        for (int round = 0; round < 20; ++round) {
            write_numbers(in.data, 3 * ints, round, stream);
            check_ucd(ucd_pack_stream(in.data, 1, type, 0, out.data, ints * sizeof(int), &actual,
                                      UCD_INFO__NULL, UCD_OP__REPLACE, native(stream, -1)));
            check(gpuMemsetAsync(back.data, 0xff, back.bytes, stream));
            check_ucd(ucd_unpack_stream(out.data, ints * sizeof(int), back.data, 1, type, 0,
                                        &actual, UCD_INFO__NULL, UCD_OP__REPLACE, native(stream)));
            write_numbers(in.data, 3 * ints, -7, stream);
            check(gpuStreamSynchronize(stream));
            CHECK(right(out.values(), listed, round));
            const std::vector<int> typed = back.values();
            int touched = 0;
            for (const int value : typed) touched += value != -1;
            CHECK(touched == ints);
            CHECK(typed[9] == (listed ? -1 : 9 + round));
        }
        check_ucd(ucd_free(&type)); // the stream is done; the library may not have looked
    }
    check(gpuStreamDestroy(stream));
}

TEST_CASE("graphs are captured once, and replayed with other data") {
    gpuStream_t stream;
    check(gpuStreamCreateWithFlags(&stream, gpuStreamNonBlocking));
    for (const bool listed : {false, true}) {
        DeviceArray<int> in(3 * ints), out(ints);
        ucd_type_t type = every_third(listed);
        std::uintptr_t actual = 0;
        const auto pack = [&] {
            return ucd_pack_stream(in.data, 1, type, 0, out.data, ints * sizeof(int), &actual,
                                   UCD_INFO__NULL, UCD_OP__REPLACE, native(stream, -1));
        };
        gpuGraph_t graph;
        check(gpuStreamBeginCapture(stream, gpuStreamCaptureModeGlobal));
        {
            const int rc = pack();
            INFO(ucd_last_error());
            CHECK(rc == UCD_ERR__NOT_SUPPORTED);
        }
        check(gpuStreamEndCapture(stream, &graph));
        check(gpuGraphDestroy(graph));
        check_ucd(ucd_prepare(1, type, UCD_OP__REPLACE, native(stream), UCD_INFO__NULL));
        check(gpuStreamBeginCapture(stream, gpuStreamCaptureModeGlobal));
        CHECK(pack() == UCD_SUCCESS);
        check(gpuStreamEndCapture(stream, &graph));
        std::size_t nodes = 0;
        check(gpuGraphGetNodes(graph, nullptr, &nodes));
        CHECK(nodes == 1); // one launch
        gpuGraphExec_t exec;
        check(gpuGraphInstantiate(&exec, graph, 0));
        for (int round = 0; round < 50; ++round) {
            write_numbers(in.data, 3 * ints, round, stream);
            check(gpuGraphLaunch(exec, stream));
            check(gpuStreamSynchronize(stream));
            REQUIRE(right(out.values(), listed, round));
        }
        check(gpuGraphExecDestroy(exec));
        check(gpuGraphDestroy(graph));
        check_ucd(ucd_free(&type));
    }
    check(gpuStreamDestroy(stream));
}

TEST_CASE("sums in streams and graphs add up") {
    gpuStream_t stream;
    check(gpuStreamCreateWithFlags(&stream, gpuStreamNonBlocking));
    for (const bool listed : {false, true}) {
        DeviceArray<int> in(3 * ints), sums(ints), back(3 * ints);
        ucd_type_t type = every_third(listed);
        std::uintptr_t actual = 0;
        const auto sum = [&] {
            check_ucd(ucd_pack_stream(in.data, 1, type, 0, sums.data, ints * sizeof(int), &actual,
                                      UCD_INFO__NULL, UCD_OP__SUM, native(stream)));
            check_ucd(ucd_unpack_stream(sums.data, ints * sizeof(int), back.data, 1, type, 0,
                                        &actual, UCD_INFO__NULL, UCD_OP__SUM, native(stream)));
        };
        write_numbers(in.data, 3 * ints, 0, stream);
        check(gpuMemsetAsync(sums.data, 0, sums.bytes, stream));
        check(gpuMemsetAsync(back.data, 0, back.bytes, stream));
        for (int round = 0; round < 3; ++round) sum();
        check_ucd(ucd_prepare(1, type, UCD_OP__SUM, native(stream), UCD_INFO__NULL));
        gpuGraph_t graph;
        check(gpuStreamBeginCapture(stream, gpuStreamCaptureModeGlobal));
        sum();
        check(gpuStreamEndCapture(stream, &graph));
        gpuGraphExec_t exec;
        check(gpuGraphInstantiate(&exec, graph, 0));
        for (int round = 0; round < 7; ++round) check(gpuGraphLaunch(exec, stream));
        check(gpuStreamSynchronize(stream));
        const std::vector<int> packed = sums.values(), typed = back.values();
        std::size_t wrong = 0;
        for (int i = 0, next = 0; i < ints; ++i) {
            // Ten times the number itself; and 1 + 2 + ... + 10 times where it came from.
            const int number = expected(i, listed, 0);
            wrong += packed[static_cast<std::size_t>(i)] != 10 * number;
            for (; next < number; ++next) wrong += typed[static_cast<std::size_t>(next)] != 0;
            wrong += typed[static_cast<std::size_t>(next++)] != 55 * number;
        }
        CHECK(wrong == 0);
        check(gpuGraphExecDestroy(exec));
        check(gpuGraphDestroy(graph));
        check_ucd(ucd_free(&type));
    }
    check(gpuStreamDestroy(stream));
}

TEST_CASE("a graph keeps the table of its batch") {
    constexpr std::size_t members = 300; // too many for the parameters of a kernel
    gpuStream_t stream;
    check(gpuStreamCreateWithFlags(&stream, gpuStreamNonBlocking));
    DeviceArray<int> in(3 * ints), out(members * ints), other(members * ints);
    ucd_type_t types[] = {every_third(false), every_third(true)};
    const auto batch = [&](int *to, std::size_t first) {
        MoveList moves;
        for (std::size_t i = first; i < members; ++i)
            moves.push_back(
                pack_move(in.data, 1, types[i % 2], 0, to + i * ints, ints * sizeof(int)));
        return ucd_move_stream(moves.data(), moves.size(), UCD_INFO__NULL, UCD_OP__REPLACE,
                               native(stream));
    };
    gpuGraph_t graph;
    check(gpuStreamBeginCapture(stream, gpuStreamCaptureModeGlobal));
    CHECK(batch(out.data, 0) == UCD_ERR__NOT_SUPPORTED);
    check(gpuStreamEndCapture(stream, &graph));
    check(gpuGraphDestroy(graph));
    for (const ucd_type_t type : types)
        check_ucd(ucd_prepare(1, type, UCD_OP__REPLACE, native(stream), UCD_INFO__NULL));
    for (int again = 0; again < 3; ++again) { // the table of a graph that has gone serves others
        check(gpuStreamBeginCapture(stream, gpuStreamCaptureModeGlobal));
        check_ucd(batch(out.data, 0));
        check(gpuStreamEndCapture(stream, &graph));
        std::size_t nodes = 0;
        check(gpuGraphGetNodes(graph, nullptr, &nodes));
        CHECK(nodes == 1);
        gpuGraphExec_t exec;
        check(gpuGraphInstantiate(&exec, graph, 0));
        check(gpuGraphDestroy(graph)); // the executable graph keeps the table, too
        for (int round = 0; round < 5; ++round) {
            for (std::size_t first = 0; first < 20; ++first)
                check_ucd(batch(other.data, first)); // with tables of their own
            write_numbers(in.data, 3 * ints, round, stream);
            check(gpuMemsetAsync(out.data, 0xff, out.bytes, stream));
            check(gpuGraphLaunch(exec, stream));
            check(gpuStreamSynchronize(stream));
            const std::vector<int> values = out.values();
            for (std::size_t i = 0; i < members; ++i) {
                const auto from = values.begin() + static_cast<std::ptrdiff_t>(i * ints);
                REQUIRE(right({from, from + ints}, i % 2 == 1, round));
            }
        }
        check(gpuGraphExecDestroy(exec));
    }
    for (ucd_type_t &type : types) check_ucd(ucd_free(&type));
    check(gpuStreamDestroy(stream));
}

TEST_CASE("more than 2^32 elements, in one launch") {
    std::size_t free = 0, total = 0;
    check(gpuMemGetInfo(&free, &total));
    const std::size_t count = (std::size_t{1} << 32) + 12345;
    if (free < 3 * count + (std::size_t{1} << 30)) {
        WARN("not enough memory: skipped");
        return;
    }
    DeviceArray<char> in(2 * count), out(count);
    // Every other byte; a few marks, at both ends and around 2^32.
    check(gpuMemset(in.data, 1, in.bytes));
    ucd_type_t type = UCD_TYPE__NULL;
    check_ucd(ucd_create_vector(static_cast<intptr_t>(count), 1, 2, UCD_TYPE__BYTE, UCD_INFO__NULL,
                                &type));
    const std::size_t marks[] = {0,
                                 17,
                                 (std::size_t{1} << 31) + 1,
                                 (std::size_t{1} << 32) - 1,
                                 (std::size_t{1} << 32),
                                 (std::size_t{1} << 32) + 1,
                                 count - 1};
    for (const std::size_t mark : marks) check(gpuMemset(in.data + 2 * mark, 2, 1));
    check(gpuDeviceSynchronize());
    std::uintptr_t actual = 0;
    check_ucd(
        ucd_pack(in.data, 1, type, 0, out.data, count, &actual, UCD_INFO__NULL, UCD_OP__REPLACE));
    CHECK(actual == count);
    for (const std::size_t mark : marks) {
        char around[3] = {1, 0, 1};
        const std::size_t from = mark == 0 ? 0 : mark - 1;
        const std::size_t n = std::min<std::size_t>(3, count - from);
        check(gpuMemcpy(around, out.data + from, n, gpuMemcpyDefault));
        CHECK(around[mark - from] == 2);
    }
    check(gpuMemset(in.data, 0, in.bytes));
    check(gpuDeviceSynchronize());
    check_ucd(
        ucd_unpack(out.data, count, in.data, 1, type, 0, &actual, UCD_INFO__NULL, UCD_OP__REPLACE));
    for (const std::size_t mark : marks) {
        char pair[2] = {0, 9};
        check(gpuMemcpy(pair, in.data + 2 * mark, mark + 1 == count ? 1 : 2, gpuMemcpyDefault));
        CHECK(pair[0] == 2);
        if (mark + 1 < count) CHECK(pair[1] == 0);
    }
    check_ucd(ucd_free(&type));
}

TEST_CASE("threads with GPU code of their own") {
    std::atomic<int> failures{0};
    const auto work = [&](int id) {
        try {
            gpuStream_t stream;
            check(gpuStreamCreateWithFlags(&stream, gpuStreamNonBlocking));
            for (int round = 0; round < 200; ++round) {
                const bool listed = (id + round) % 2;
                DeviceArray<int> in(3 * ints), out(ints);
                ucd_type_t type = every_third(listed);
                std::uintptr_t actual = 0;
                write_numbers(in.data, 3 * ints, id + round, stream);
                if (round % 3 == 0) {
                    check_ucd(ucd_pack_stream(in.data, 1, type, 0, out.data, ints * sizeof(int),
                                              &actual, UCD_INFO__NULL, UCD_OP__REPLACE,
                                              native(stream)));
                    check(gpuStreamSynchronize(stream));
                    failures += !right(out.values(), listed, id + round);
                } else if (round % 3 == 1) {
                    check(gpuStreamSynchronize(stream));
                    pack(in.data, type, out.data);
                    failures += !right(out.values(), listed, id + round);
                } else {
                    check(gpuStreamSynchronize(stream));
                    std::vector<int> host(ints);
                    pack(in.data, type, host.data());
                    failures += !right(host, listed, id + round);
                }
                check_ucd(ucd_free(&type));
            }
            check(gpuStreamDestroy(stream));
        } catch (const std::exception &) {
            ++failures;
        }
    };
    std::vector<std::thread> threads;
    for (int id = 0; id < 6; ++id) threads.emplace_back(work, id);
    for (std::thread &thread : threads) thread.join();
    CHECK(failures == 0);
}

TEST_CASE("memory of another device's pool, before and after others were let use it") {
    int devices = 0;
    check(gpuGetDeviceCount(&devices));
    if (devices < 2) return;
    check(gpuSetDevice(1));
    gpuMemPoolProps properties{};
    properties.allocType = gpuMemAllocationTypePinned;
    properties.location.type = gpuMemLocationTypeDevice;
    properties.location.id = 1;
    gpuMemPool_t pool;
    check(gpuMemPoolCreate(&pool, &properties));
    gpuStream_t stream;
    check(gpuStreamCreate(&stream));
    void *memory;
    check(gpuMallocFromPoolAsync(&memory, 3 * ints * sizeof(int), pool, stream));
    check(gpuStreamSynchronize(stream));
    check(gpuSetDevice(0));
    DeviceArray<int> plain(3 * ints);
    for (int round = 0; round < 4; ++round) {
        if (round == 2) {
            gpuMemAccessDesc access{};
            access.location.type = gpuMemLocationTypeDevice;
            access.flags = gpuMemAccessFlagsProtReadWrite;
            check(gpuMemPoolSetAccess(pool, &access, 1));
        }
        const bool listed = round % 2 == 1;
        std::vector<int> numbers(3 * ints), packed(ints);
        for (int i = 0; i < 3 * ints; ++i) numbers[static_cast<std::size_t>(i)] = i + round;
        ucd_type_t type = every_third(listed);
        for (const int device : {0, 1}) {
            void *const from = device == 1 ? memory : plain.data;
            void *const to = device == 1 ? plain.data : memory;
            // The runtime's own copies need the memory's device to be the current one.
            check(gpuSetDevice(device));
            check(gpuMemcpy(from, numbers.data(), numbers.size() * sizeof(int), gpuMemcpyDefault));
            check(gpuDeviceSynchronize()); // pageable memory is left before its bytes have arrived
            check(gpuSetDevice(0));
            pack(from, type, to);
            check(gpuSetDevice(1 - device));
            check(gpuMemcpy(packed.data(), to, ints * sizeof(int), gpuMemcpyDefault));
            check(gpuSetDevice(0));
            CHECK(right(packed, listed, round));
        }
        check_ucd(ucd_free(&type));
    }
    check(gpuSetDevice(1));
    check(gpuFreeAsync(memory, stream));
    check(gpuStreamSynchronize(stream));
    check(gpuStreamDestroy(stream));
    check(gpuMemPoolDestroy(pool));
    check(gpuSetDevice(0));
}

TEST_CASE("a child of a process that uses a GPU still packs host memory") {
    const int child = ::fork();
    if (child == 0) {
        int in[6] = {1, 2, 3, 4, 5, 6}, out[3] = {};
        ucd_type_t type = UCD_TYPE__NULL;
        std::uintptr_t actual = 0;
        const bool ok = ucd_create_vector(3, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) == 0 &&
                        ucd_pack(in, 1, type, 0, out, sizeof out, &actual, UCD_INFO__NULL,
                                 UCD_OP__REPLACE) == 0 &&
                        out[0] == 1 && out[1] == 3 && out[2] == 5;
        ::_exit(ok ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("the last ucd_finalize and another ucd_init, with types that live on") {
    DeviceArray<int> in(3 * ints), out(ints);
    ucd_type_t type = every_third(true);
    for (int round = 0; round < 3; ++round) {
        write_numbers(in.data, 3 * ints, round, nullptr);
        check(gpuDeviceSynchronize());
        pack(in.data, type, out.data);
        CHECK(right(out.values(), true, round));
        check_ucd(ucd_finalize());
        if (round == 2) check_ucd(ucd_free(&type));
        check_ucd(ucd_init(UCD_INFO__NULL));
    }
}

} // namespace program_test
