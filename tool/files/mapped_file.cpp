#include "files/mapped_file.hpp"

#include "failure.hpp"
#include "files/new_file.hpp"
#include "filled.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ucdtool {
namespace {

[[noreturn]] void fail(const std::string &path, const char *what, int error) {
    throw Failure(Exit::failed, filled("{}: {}: {}", path, what, std::strerror(error)));
}

class Descriptor {
public:
    Descriptor(const std::string &path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC)) {
        if (fd_ < 0) fail(path, "cannot open it", errno);
    }
    ~Descriptor() { (void)close(fd_); }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    int get() const { return fd_; }

private:
    int fd_;
};

struct stat status_of(int descriptor, const std::string &path) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) fail(path, "cannot ask for its size", errno);
    if (!S_ISREG(status.st_mode))
        throw Failure(Exit::failed, path + ": it is no regular file, so it cannot be mapped");
    return status;
}

} // namespace

MappedFile::MappedFile(const std::string &path, Access access) {
    const bool writable = access == Access::write;
    const Descriptor file(path, writable ? O_RDWR : O_RDONLY);
    const auto bytes = static_cast<uint64_t>(status_of(file.get(), path).st_size);
    mapping_ = std::make_unique<Mapping>(path, bytes, file.get(), writable);
}

MappedFile::MappedFile(const NewFile &file, uint64_t bytes, bool reserve) {
    const std::string &path = file.path();
    if (bytes > INT64_MAX) fail(path, "cannot give it its size", EFBIG);
    if (ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0)
        fail(path, "cannot give it its size", errno);
    if (reserve && bytes > 0) {
        const int error = posix_fallocate(file.descriptor(), 0, static_cast<off_t>(bytes));
        if (error != 0 && error != EOPNOTSUPP && error != EINVAL)
            fail(path, "cannot reserve its space", error);
    }
    mapping_ = std::make_unique<Mapping>(path, bytes, file.descriptor(), true);
}

void MappedFile::sync() const {
    if (size() > 0 && msync(data(), size(), MS_SYNC) != 0)
        fail(mapping_->path, "cannot write it to the disk", errno);
}

std::atomic<MappedFile::Mapping *> MappedFile::first_ = nullptr;
std::mutex MappedFile::change_;

const char *MappedFile::path_at(const void *address) noexcept {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (const Mapping *m = first_; m != nullptr; m = m->next)
        if (at - reinterpret_cast<uintptr_t>(m->data) < m->size) return m->path.c_str();
    return nullptr;
}

MappedFile::Mapping::Mapping(std::string file, uint64_t bytes, int descriptor, bool writable)
    : path(std::move(file)), size(bytes) {
    if (size == 0) return;
    void *at = mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                    descriptor, 0);
    if (at == MAP_FAILED) fail(path, "cannot map it", errno);
    data = static_cast<std::byte *>(at);
    const std::lock_guard lock(change_);
    next = first_.load();
    first_ = this;
}

MappedFile::Mapping::~Mapping() {
    if (data == nullptr) return;
    const std::lock_guard lock(change_);
    std::atomic<Mapping *> *link = &first_;
    while (*link != this) link = &link->load()->next;
    *link = next.load();
    (void)munmap(data, size);
}

bool same_file(const std::string &a, const std::string &b) {
    struct stat first, second;
    return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool exists(const std::string &path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0;
}

} // namespace ucdtool
