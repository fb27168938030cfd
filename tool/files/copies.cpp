#include "files/copies.hpp"

#include "failure.hpp"
#include "filled.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <span>

namespace ucdtool {
namespace {

// Longer segments have no note of ours: the linker puts a few notes of some bytes together.
constexpr uint64_t max_segment = 1 << 20;
// A file with more is not read further: it may name the same notes 65535 times.
constexpr uint64_t max_notes = 1 << 20;
constexpr std::size_t max_copies = 64;
constexpr char note_name[] = "UCD";

class File {
public:
    // Devices and pipes are not opened, because that may have effects.
    explicit File(const std::string &path) {
        struct stat facts;
        if (::stat(path.c_str(), &facts) != 0) {
            error_ = errno;
            return;
        }
        if (!S_ISREG(facts.st_mode)) return;
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        error_ = descriptor_ < 0 ? errno : 0;
    }
    ~File() {
        if (descriptor_ >= 0) (void)::close(descriptor_);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    bool is_open() const { return descriptor_ >= 0; }
    int error() const { return error_; }

    // Whether these are all there.
    bool read(uint64_t offset, std::span<char> bytes) const {
        if (offset > INT64_MAX) return false;
        const auto n = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        return n >= 0 && static_cast<std::size_t>(n) == bytes.size();
    }
    template <class T>
    bool read_object(uint64_t offset, T &object) const {
        return read(offset, {reinterpret_cast<char *>(&object), sizeof object});
    }

private:
    int descriptor_ = -1;
    int error_ = 0;
};

bool is_word(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

// A note's description: version, kind and prefix, and NUL.
std::optional<Copy> parsed(std::string_view description) {
    if (description.empty() || description.back() != '\0') return {};
    description.remove_suffix(1);
    const std::size_t first = description.find(' ');
    const std::size_t second = first == description.npos ? first : description.find(' ', first + 1);
    if (second == description.npos) return {};
    Copy copy = {"", std::string(description.substr(0, first)),
                 std::string(description.substr(first + 1, second - first - 1)),
                 std::string(description.substr(second + 1))};
    if (!is_word(copy.version) || !is_word(copy.kind) || !is_word(copy.prefix)) return {};
    return copy;
}

constexpr uint64_t rounded_up(uint64_t bytes, uint64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

// The lengths in notes are 32 bits, so sums of them do not overflow.
void add_notes(std::string_view segment, uint64_t alignment, std::vector<Copy> &copies) {
    Elf64_Nhdr note;
    while (segment.size() >= sizeof note) {
        std::memcpy(&note, segment.data(), sizeof note);
        const uint64_t description = rounded_up(sizeof note + note.n_namesz, alignment);
        if (description + note.n_descsz > segment.size()) return;
        if (note.n_type == 1 && note.n_namesz == sizeof note_name &&
            std::memcmp(segment.data() + sizeof note, note_name, sizeof note_name) == 0)
            if (auto copy = parsed(segment.substr(description, note.n_descsz)))
                copies.push_back(std::move(*copy));
        const uint64_t next = rounded_up(description + note.n_descsz, alignment);
        segment.remove_prefix(std::min<uint64_t>(next, segment.size()));
    }
}

// None if there is too much to read.
std::optional<std::vector<Copy>> copies_in(const File &file, const std::string &path) {
    std::vector<Copy> copies;
    uint64_t notes = 0;
    Elf64_Ehdr header;
    constexpr unsigned char order =
        std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    if (!file.read_object(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != order ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > INT64_MAX)
        return copies;
    for (uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        if (!file.read_object(header.e_phoff + i * sizeof segment, segment)) break;
        if (segment.p_type != PT_NOTE || segment.p_filesz > max_segment) continue;
        notes += segment.p_filesz;
        if (notes > max_notes) return {};
        std::string bytes(segment.p_filesz, '\0');
        if (file.read(segment.p_offset, bytes))
            add_notes(bytes, segment.p_align == 8 ? 8 : 4, copies);
        if (copies.size() > max_copies) return {};
    }
    for (Copy &copy : copies) copy.file = path;
    return copies;
}

// The kernel writes a line feed in a path as \012.
std::string with_line_feeds(std::string path) {
    for (std::size_t at = 0; (at = path.find("\\012", at)) != path.npos; ++at)
        path.replace(at, 4, "\n");
    return path;
}

std::set<std::string> files_of(uint64_t process) {
    std::ifstream maps(filled("/proc/{}/maps", process));
    std::set<std::string> all;
    std::string line;
    while (std::getline(maps, line)) {
        int path = 0;
        // Addresses, access, offset, device, inode, path.
        (void)std::sscanf(line.c_str(), "%*s %*s %*s %*s %*s %n", &path);
        if (line[static_cast<std::size_t>(path)] == '/')
            all.insert(line.substr(static_cast<std::size_t>(path)));
    }
    if (all.empty())
        throw Failure(Exit::failed,
                      filled("process {}: the system does not tell what it has mapped", process));
    return all;
}

} // namespace

std::vector<Copy> copies_in_file(const std::string &path) {
    const File file(path);
    if (file.error() != 0)
        throw Failure(Exit::failed,
                      filled("{}: cannot open it: {}", path, std::strerror(file.error())));
    if (!file.is_open()) return {};
    auto copies = copies_in(file, path);
    if (!copies)
        throw Failure(Exit::failed, filled("{}: it has more than {} copies of libucd, or more than "
                                           "{} bytes of notes, and is not read further",
                                           path, max_copies, max_notes));
    return std::move(*copies);
}

std::vector<Copy> copies_in_process(uint64_t process, std::vector<std::string> &unread) {
    std::vector<Copy> all;
    for (const std::string &path : files_of(process)) {
        // As the process sees it, whatever its root is.
        const File file(filled("/proc/{}/root", process) + with_line_feeds(path));
        auto copies = file.is_open() ? copies_in(file, path) : std::vector<Copy>();
        if (file.error() != 0 || !copies) unread.push_back(path);
        if (copies) std::ranges::move(*copies, std::back_inserter(all));
    }
    return all;
}

} // namespace ucdtool
