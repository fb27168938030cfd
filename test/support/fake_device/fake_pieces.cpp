#include "support/fake_device/fake_pieces.h"

#include "support/fake_device/fake_driver.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mock {
namespace {

// As fake_driver.cpp names device memory; the device's number follows.
constexpr const char *file_name = "mock device memory of ";

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

class File {
public:
    File() = default;
    explicit File(int number) : number_(number) {}
    ~File() {
        if (number_ >= 0) ::close(number_);
    }
    File(File &&other) noexcept : number_(other.keep()) {}
    File &operator=(const File &) = delete;
    int number() const { return number_; }
    int keep() {
        const int number = number_;
        number_ = -1;
        return number;
    }

private:
    int number_ = -1;
};

// It cannot shrink, so that whoever maps it never gets a signal.
File new_file(int device, std::size_t bytes) {
    const std::string name = file_name + std::to_string(device);
    File file(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.number() < 0 || ::ftruncate(file.number(), static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        return File();
    return file;
}

// The device whose memory a file is; negative if it is none, or has fewer bytes.
int device_of(int file, std::size_t bytes) {
    char name[64] = {};
    struct stat state;
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    if (::readlink(path.c_str(), name, sizeof name - 1) <= 0 || ::fstat(file, &state) != 0 ||
        !S_ISREG(state.st_mode) || static_cast<std::uint64_t>(state.st_size) < bytes)
        return -1;
    const char *const at = std::strstr(name, file_name);
    const int seals = ::fcntl(file, F_GET_SEALS);
    if (at == nullptr || seals < 0 || (seals & F_SEAL_SHRINK) == 0) return -1;
    const int device = std::atoi(at + std::strlen(file_name));
    return device < device_count ? device : -1;
}

char *reserve(std::size_t bytes) {
    void *address =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? nullptr : static_cast<char *>(address);
}

bool map_at(char *address, int file, std::size_t offset, std::size_t bytes) {
    return ::mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                  static_cast<off_t>(offset)) != MAP_FAILED;
}

struct NewPiece {
    File file;
    int device;
    std::size_t bytes, offset;
};

// Maps the pieces at one range of users' addresses, and of secret ones.
void *map_range(std::vector<NewPiece> pieces, Exportable exportable, std::uint64_t range) {
    std::size_t total = 0;
    for (const NewPiece &p : pieces) total += p.bytes;
    char *const address = reserve(total), *const memory = reserve(total);
    bool mapped = address != nullptr && memory != nullptr;
    std::size_t at = 0;
    for (const NewPiece &p : pieces) {
        mapped = mapped && map_at(memory + at, p.file.number(), p.offset, p.bytes);
        at += p.bytes;
    }
    if (!mapped) {
        if (address != nullptr) ::munmap(address, total);
        if (memory != nullptr) ::munmap(memory, total);
        return nullptr;
    }
    at = 0;
    for (NewPiece &p : pieces) {
        add({.address = address + at,
             .memory = memory + at,
             .bytes = p.bytes,
             .device = p.device,
             .file = p.file.keep(),
             .identity = next_number(),
             .range = range,
             .file_offset = p.offset,
             .exportable = exportable == Exportable::yes});
        at += p.bytes;
    }
    return address;
}

} // namespace

void *map_new_pieces(int device, std::span<const std::size_t> sizes, Exportable exportable) {
    std::vector<NewPiece> pieces;
    for (const std::size_t bytes : sizes) {
        pieces.push_back({new_file(device, bytes), device, bytes, 0});
        if (bytes % granularity != 0 || pieces.back().file.number() < 0) return nullptr;
    }
    return map_range(std::move(pieces), exportable, next_number());
}

void unmap_piece(void *address) {
    release(address);
}

void replace_piece(void *address) {
    Allocation a;
    if (!find(address, a)) std::abort();
    File file = new_file(a.device, a.bytes);
    if (file.number() < 0 || !map_at(a.memory, file.number(), 0, a.bytes)) std::abort();
    ::close(a.file);
    a.file = file.keep();
    a.identity = next_number();
    add(a);
}

void *allocate_in_pool(int device, std::size_t bytes, Exportable exportable) {
    const std::size_t whole = (bytes + granularity - 1) / granularity * granularity;
    std::vector<NewPiece> pieces;
    pieces.push_back({new_file(device, whole + 2 * granularity), device, whole, granularity});
    if (pieces.back().file.number() < 0) return nullptr;
    return map_range(std::move(pieces), exportable, 0);
}

Piece find_piece(const void *address) {
    Allocation a;
    if (!find(address, a) || a.identity == 0) return {};
    return {.kind = a.range != 0 ? Piece::Kind::mapped : Piece::Kind::pool,
            .begin = a.address,
            .bytes = a.bytes,
            .identity = a.identity,
            .exportable = a.exportable,
            .file = a.file,
            .offset = a.file_offset};
}

void *map_pieces(int device, std::span<const int> files, std::span<const std::size_t> sizes) {
    std::vector<NewPiece> pieces;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const int owner = device_of(files[i], sizes[i]);
        if (owner < 0 || sizes[i] % granularity != 0 ||
            !reaches(device, ucd::MemoryKind::device, owner))
            return nullptr;
        pieces.push_back({File(::fcntl(files[i], F_DUPFD_CLOEXEC, 0)), owner, sizes[i], 0});
    }
    return map_range(std::move(pieces), Exportable::no, next_number());
}

void *open_in_pool(int device, int file, std::size_t offset, std::size_t bytes) {
    if (offset % granularity != 0 || bytes % granularity != 0 || bytes == 0 ||
        offset > SIZE_MAX - bytes)
        return nullptr;
    const int owner = device_of(file, offset + bytes);
    if (owner < 0 || !reaches(device, ucd::MemoryKind::device, owner)) return nullptr;
    std::vector<NewPiece> pieces;
    pieces.push_back({File(::fcntl(file, F_DUPFD_CLOEXEC, 0)), owner, bytes, offset});
    return map_range(std::move(pieces), Exportable::no, 0);
}

} // namespace mock
