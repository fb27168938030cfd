// A file mapped into memory: pages come and go by the kernel, so it may be larger than memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ucdtool {

class NewFile;

class MappedFile {
public:
    enum class Access { read, write };

    MappedFile() = default;
    // Throws Failure if there is no such regular file or it cannot be mapped.
    MappedFile(const std::string &path, Access access);
    // Gives a new file its size, in zeros. With `reserve`, disk space is taken now, so that a full
    // disk is an error here; without, the file is sparse.
    MappedFile(const NewFile &file, uint64_t bytes, bool reserve);

    ~MappedFile();
    MappedFile(MappedFile &&other) noexcept;
    MappedFile &operator=(MappedFile other) noexcept;

    std::byte *data() const { return data_; } // null for a file of no bytes
    uint64_t size() const { return size_; }
    std::span<std::byte> bytes() const { return {data_, size_}; }
    const std::string &path() const { return path_; }

    // Waits until what was written is on the disk. Throws Failure.
    void sync() const;

private:
    void map(int descriptor, bool writable);

    std::string path_;
    std::byte *data_ = nullptr;
    uint64_t size_ = 0;
};

// Whether both name one file that exists.
bool same_file(const std::string &a, const std::string &b);

bool exists(const std::string &path);

} // namespace ucdtool
