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

MappedFile::MappedFile(const std::string &path, Access access) : path_(path) {
    const bool writable = access == Access::write;
    const Descriptor file(path, writable ? O_RDWR : O_RDONLY);
    size_ = static_cast<uint64_t>(status_of(file.get(), path).st_size);
    map(file.get(), writable);
}

MappedFile::MappedFile(const NewFile &file, uint64_t bytes, bool reserve)
    : path_(file.path()), size_(bytes) {
    if (bytes > INT64_MAX) fail(path_, "cannot give it its size", EFBIG);
    if (ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0)
        fail(path_, "cannot give it its size", errno);
    if (reserve && bytes > 0) {
        const int error = posix_fallocate(file.descriptor(), 0, static_cast<off_t>(bytes));
        if (error != 0 && error != EOPNOTSUPP && error != EINVAL)
            fail(path_, "cannot reserve its space", error);
    }
    map(file.descriptor(), true);
}

void MappedFile::sync() const {
    if (size_ > 0 && msync(data_, size_, MS_SYNC) != 0)
        fail(path_, "cannot write it to the disk", errno);
}

void MappedFile::map(int descriptor, bool writable) {
    if (size_ == 0) return;
    void *at = mmap(nullptr, size_, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                    descriptor, 0);
    if (at == MAP_FAILED) fail(path_, "cannot map it", errno);
    data_ = static_cast<std::byte *>(at);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) (void)munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile &MappedFile::operator=(MappedFile other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
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
