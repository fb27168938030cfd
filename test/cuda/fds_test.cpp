// Device memory that the driver shares by file descriptors: pieces of physical memory that are
// mapped one behind the other, as PyTorch's expandable segments are, and memory of pools. Another
// process opens it, changes it, keeps it longer than its owner does, and sends descriptors of other
// files.
#include "support/catch.hpp"

#include "support/fd_data.hpp"
#include "support/fd_messages.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fds_test {

using namespace ucdtest;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr int ints = 400000; // reach from the first piece into the third

void check(CUresult result, const char *call) {
    INFO(call);
    REQUIRE(result == CUDA_SUCCESS);
}

template <class Function>
Function *find(const char *name) {
    static void *const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    REQUIRE(library != nullptr);
    void *const function = ::dlsym(library, name);
    INFO(name);
    REQUIRE(function != nullptr);
    return reinterpret_cast<Function *>(function);
}
#define CALL(function, ...) check(find<decltype(function)>(#function)(__VA_ARGS__), #function)

int device_count() {
    int count = 0;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    return count;
}

void write(void *to, const std::vector<char> &data) {
    REQUIRE(cudaMemcpy(to, data.data(), data.size(), cudaMemcpyDefault) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

std::vector<char> read(const void *from, std::size_t bytes) {
    std::vector<char> data(bytes);
    REQUIRE(cudaMemcpy(data.data(), from, bytes, cudaMemcpyDefault) == cudaSuccess);
    return data;
}

CUmemAllocationProp properties(CUmemAllocationHandleType type) {
    CUmemAllocationProp p{};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.requestedHandleTypes = type;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = 0;
    return p;
}

// Mapped one behind the other on device 0.
class Pieces {
public:
    explicit Pieces(std::vector<std::size_t> sizes,
                    CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        : sizes_(std::move(sizes)), type_(type) {
        REQUIRE(cudaFree(nullptr) == cudaSuccess); // makes the context
        for (const std::size_t bytes : sizes_) total_ += bytes;
        CALL(cuMemAddressReserve, &start_, total_, 0, 0, 0);
        std::size_t at = 0;
        for (const std::size_t bytes : sizes_) {
            map(at, bytes);
            at += bytes;
        }
        mapped_ = true;
    }
    ~Pieces() {
        unmap();
        CALL(cuMemAddressFree, start_, total_);
    }
    Pieces(const Pieces &) = delete;
    Pieces &operator=(const Pieces &) = delete;

    char *at(std::size_t offset) const { return reinterpret_cast<char *>(start_ + offset); }
    std::size_t total() const { return total_; }

    void unmap() {
        std::size_t at = 0;
        for (const std::size_t bytes : sizes_) {
            if (mapped_) CALL(cuMemUnmap, start_ + at, bytes);
            at += bytes;
        }
        mapped_ = false;
    }

    // Maps new physical memory in the place of the second piece.
    void replace_second() {
        CALL(cuMemUnmap, start_ + sizes_[0], sizes_[1]);
        map(sizes_[0], sizes_[1]);
    }

private:
    void map(std::size_t at, std::size_t bytes) const {
        CUmemGenericAllocationHandle piece;
        const CUmemAllocationProp p = properties(type_);
        CALL(cuMemCreate, &piece, bytes, &p, 0);
        CALL(cuMemMap, start_ + at, bytes, 0, piece, 0);
        CALL(cuMemRelease, piece); // the mapping keeps it
        CUmemAccessDesc access{};
        access.location = p.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        CALL(cuMemSetAccess, start_ + at, bytes, &access, 1);
    }

    std::vector<std::size_t> sizes_;
    CUmemAllocationHandleType type_;
    CUdeviceptr start_ = 0;
    std::size_t total_ = 0;
    bool mapped_ = false;
};

// In which the sizes of pieces differ, so that their order counts.
std::vector<std::size_t> three_sizes() {
    return {2 * mib, 4 * mib, 2 * mib};
}

bool opens(const SharedRange &range, const std::vector<int> &fds) {
    void *address = nullptr;
    std::uintptr_t bytes = 0;
    const int rc = ucd_ipc_open_fds(&range.handle, fds.data(), static_cast<int>(fds.size()),
                                    "cuda:0", &address, &bytes);
    if (rc == UCD_SUCCESS) REQUIRE(ucd_ipc_close(address) == UCD_SUCCESS);
    return rc == UCD_SUCCESS;
}

} // namespace

// Begun by the tests below.
TEST_CASE("the process that opens", "[.]") {
    const int socket = OtherProcess::its_socket();
    SharedRange range;
    char *memory = nullptr;
    std::uintptr_t bytes = 0;
    std::vector<char> seen;
    std::string device;
    for (char word; (word = receive_word(socket, &range)) != 0; send_word(socket, word)) {
        switch (word) {
        case '0':
        case '1': // the device
            device = std::string("cuda:") + word;
            memory = static_cast<char *>(open_range(range, device, bytes));
            range = {};
            break;
        case 'c': complement(memory, ints, device.c_str()); break;
        case 'r': seen = read(memory, bytes); break;
        case 's': // the same as then
            REQUIRE(read(memory, bytes) == seen);
            break;
        case 'h': { // descriptors of other files in the place of these
            const std::vector<int> good(range.fds.data(), range.fds.data() + range.fds.count());
            int ends[2];
            REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
            const Fds others({::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                              ::open("/dev/null", O_RDWR | O_CLOEXEC),
                              ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
                              ::memfd_create("some file", MFD_CLOEXEC), ends[0], ends[1]});
            for (int i = 0; i < others.count(); ++i)
                for (std::size_t k = 0; k < good.size(); ++k) {
                    std::vector<int> fds = good;
                    fds[k] = others[static_cast<std::size_t>(i)];
                    CHECK(!opens(range, fds));
                }
            CHECK(!opens(range, {good.begin(), good.end() - 1}));
            if (good.size() == 3) CHECK(!opens(range, {good[1], good[0], good[2]}));
            CHECK(opens(range, good));
            break;
        }
        case 'e': REQUIRE(ucd_ipc_close(memory) == UCD_SUCCESS); break;
        default: FAIL("an unknown word");
        }
    }
}

TEST_CASE("the process that exports", "[.]") {
    const int socket = OtherProcess::its_socket();
    const Pieces pieces(three_sizes());
    write(pieces.at(0), filled(pieces.total()));
    {
        const SharedRange range = export_range(pieces.at(mib), 6 * mib);
        send_word(socket, 'o', &range);
    }
    while (receive_word(socket) != 0) {
    }
}

TEST_CASE("pieces are shared across their seams") {
    const Pieces pieces(three_sizes());
    const std::size_t offset = mib + 4;
    std::vector<char> before = filled(pieces.total());
    write(pieces.at(0), before);
    const int open_before = count_open_files();
    for (const char device : {'0', '1'}) {
        if (device == '1' && device_count() < 2) continue;
        OtherProcess other("the process that opens");
        {
            const SharedRange range = export_range(pieces.at(offset), extent_of(ints));
            CHECK(range.fds.count() == 2);
            say(other, device, &range);
        }
        say(other, 'c');
        const std::vector<char> after = read(pieces.at(0), pieces.total());
        CHECK(is_complemented(after, before, offset, ints));
        before = after;
        say(other, 'e');
        ::shutdown(other.socket(), SHUT_WR);
        CHECK(other.end() == 0);
    }
    CHECK(count_open_files() == open_before);
}

TEST_CASE("other files are refused in the place of pieces, and the next range opens") {
    const Pieces pieces(three_sizes());
    OtherProcess other("the process that opens");
    const SharedRange range = export_range(pieces.at(0), pieces.total());
    REQUIRE(range.fds.count() == 3);
    say(other, 'h', &range);
    say(other, '0', &range);
    say(other, 'e');
    ::shutdown(other.socket(), SHUT_WR);
    CHECK(other.end() == 0);
}

TEST_CASE("who has opened pieces keeps them when their owner unmaps them") {
    Pieces pieces(three_sizes());
    write(pieces.at(0), filled(pieces.total()));
    OtherProcess other("the process that opens");
    {
        const SharedRange range = export_range(pieces.at(mib), 6 * mib);
        say(other, '0', &range);
    }
    say(other, 'r');
    pieces.unmap();
    const Pieces others(three_sizes()); // would take the memory, were it free
    write(others.at(0), std::vector<char>(others.total(), 'x'));
    say(other, 's');
    say(other, 'c');
    say(other, 'e');
    ::shutdown(other.socket(), SHUT_WR);
    CHECK(other.end() == 0);
}

TEST_CASE("who has opened pieces keeps them when their owner is killed") {
    const std::vector<char> all = filled(8 * mib);
    OtherProcess other("the process that exports");
    SharedRange range;
    REQUIRE(receive_word(other.socket(), &range) == 'o');
    std::uintptr_t bytes = 0;
    void *const memory = open_range(range, "cuda:0", bytes);
    REQUIRE(bytes == 6 * mib);
    range = {};
    other.kill_it();
    const std::vector<char> before = read(memory, bytes);
    CHECK(std::equal(before.begin(), before.end(), all.begin() + mib));
    complement(memory, ints);
    CHECK(is_complemented(read(memory, bytes), before, 0, ints));
    CHECK(ucd_ipc_close(memory) == UCD_SUCCESS);
}

TEST_CASE("pieces are as they were when who has opened them is killed") {
    const Pieces pieces(three_sizes());
    const std::vector<char> data = filled(pieces.total());
    write(pieces.at(0), data);
    {
        OtherProcess other("the process that opens");
        const SharedRange range = export_range(pieces.at(0), pieces.total());
        say(other, '0', &range);
        other.kill_it();
    }
    CHECK(read(pieces.at(0), pieces.total()) == data);
}

TEST_CASE("the handle of a range differs once other memory is mapped there") {
    Pieces pieces(three_sizes());
    const SharedRange first = export_range(pieces.at(100), 5 * mib);
    CHECK(same(export_range(pieces.at(100), 5 * mib).handle, first.handle));
    void *address = nullptr;
    std::uintptr_t bytes = 0;
    CHECK(ucd_ipc_open_fds(&first.handle, first.fds.data(), first.fds.count(), "cuda:0", &address,
                           &bytes) == UCD_SUCCESS);
    CHECK(address == pieces.at(100));
    CHECK(ucd_ipc_close(address) == UCD_SUCCESS);
    for (int i = 0; i < 4; ++i) {
        const SharedRange before = export_range(pieces.at(100), 5 * mib);
        pieces.replace_second();
        CHECK(!same(export_range(pieces.at(100), 5 * mib).handle, before.handle));
    }
    CHECK(ucd_ipc_open_fds(&first.handle, first.fds.data(), first.fds.count(), "cuda:0", &address,
                           &bytes) == UCD_ERR__CORRUPT);
}

TEST_CASE("memory of a pool is shared if the pool was made for it") {
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    for (const bool exportable : {true, false}) {
        cudaMemPoolProps props{};
        props.allocType = cudaMemAllocationTypePinned;
        props.handleTypes =
            exportable ? cudaMemHandleTypePosixFileDescriptor : cudaMemHandleTypeNone;
        props.location.type = cudaMemLocationTypeDevice;
        cudaMemPool_t pool = nullptr;
        REQUIRE(cudaMemPoolCreate(&pool, &props) == cudaSuccess);
        void *memory = nullptr;
        const std::size_t total = 8 * mib, offset = mib + 4;
        REQUIRE(cudaMallocFromPoolAsync(&memory, total, pool, nullptr) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
        const std::vector<char> before = filled(total);
        write(memory, before);
        if (exportable) {
            OtherProcess other("the process that opens");
            {
                const SharedRange range =
                    export_range(static_cast<char *>(memory) + offset, extent_of(ints));
                CHECK(range.fds.count() == 1);
                say(other, 'h', &range);
                say(other, '0', &range);
            }
            say(other, 'c');
            CHECK(is_complemented(read(memory, total), before, offset, ints));
            say(other, 'e');
            ::shutdown(other.socket(), SHUT_WR);
            CHECK(other.end() == 0);
        } else {
            ucd_ipc_handle_t handle;
            int count = 0;
            CHECK(query(memory, 8, handle, count) == UCD_ERR__NOT_SUPPORTED);
        }
        REQUIRE(cudaFreeAsync(memory, nullptr) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
        REQUIRE(cudaMemPoolDestroy(pool) == cudaSuccess);
    }
}

TEST_CASE("other memory is not shared by descriptors") {
    ucd_ipc_handle_t handle;
    int count = 0;
    const Pieces pieces(three_sizes(), CU_MEM_HANDLE_TYPE_NONE);
    CHECK(query(pieces.at(0), 8, handle, count) == UCD_ERR__NOT_SUPPORTED);
    void *memory = nullptr;
    REQUIRE(cudaMallocManaged(&memory, mib) == cudaSuccess);
    CHECK(query(memory, 8, handle, count) == UCD_ERR__NOT_SUPPORTED);
    REQUIRE(cudaFree(memory) == cudaSuccess);
    REQUIRE(cudaMalloc(&memory, mib) == cudaSuccess);
    CHECK(query(memory, mib, handle, count) == UCD_SUCCESS);
    CHECK(count == 0);
    REQUIRE(cudaFree(memory) == cudaSuccess);
}

} // namespace fds_test
