// A file mapped into memory. The kernel loads and evicts pages, so the file may be larger than
// memory.
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
    // Throws Failure if this is not an existing regular file, or if it cannot be mapped.
    MappedFile(const std::string &path, Access access);
    // Gives a new file its size, filled with zeros. With `reserve`, disk space is allocated now, so
    // that a full disk is reported here; otherwise the file is sparse.
    MappedFile(const NewFile &file, uint64_t bytes, bool reserve);

    // null if the file is empty
    std::byte *data() const { return mapping_ ? mapping_->data : nullptr; }
    uint64_t size() const { return mapping_ ? mapping_->size : 0; }
    std::span<std::byte> bytes() const { return {data(), size()}; }

    // Waits until the data is on the disk. Throws Failure.
    void sync() const;

    // The path of the file that is mapped at the address, or null. Signal handlers may call it.
    static const char *path_at(const void *address) noexcept;

private:
    // An entry in the list of all mappings, which path_at searches.
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
    static std::mutex change_; // protects the list

    std::unique_ptr<Mapping> mapping_;
};

// Whether both paths name the same existing file.
bool same_file(const std::string &a, const std::string &b);

bool exists(const std::string &path);

} // namespace ucdtool
