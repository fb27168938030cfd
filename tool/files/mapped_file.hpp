// A file mapped into memory: pages come and go by the kernel, so it may be larger than memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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

    std::byte *data() const { return mapping_ ? mapping_->data : nullptr; } // null for no bytes
    uint64_t size() const { return mapping_ ? mapping_->size : 0; }
    std::span<std::byte> bytes() const { return {data(), size()}; }

    // Waits until what was written is on the disk. Throws Failure.
    void sync() const;

    // The path of the file that is mapped at the address, or null. A signal handler may ask.
    static const char *path_at(const void *address) noexcept;

private:
    // One of a list of all, for path_at.
    struct Mapping {
        Mapping(std::string file, uint64_t bytes, int descriptor, bool writable);
        ~Mapping();
        Mapping(const Mapping &) = delete;
        Mapping &operator=(const Mapping &) = delete;

        const std::string path;
        const uint64_t size;
        std::byte *data = nullptr;
        std::atomic<Mapping *> next = nullptr;
    };
    static std::atomic<Mapping *> first_;
    static std::mutex change_; // of the list

    std::unique_ptr<Mapping> mapping_;
};

// Whether both name one file that exists.
bool same_file(const std::string &a, const std::string &b);

bool exists(const std::string &path);

} // namespace ucdtool
