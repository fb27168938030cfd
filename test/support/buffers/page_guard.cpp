#include "support/buffers/page_guard.hpp"

#include <numeric>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

namespace ucdtest {
namespace {

std::size_t page_size() {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

} // namespace

PageGuardedBuffer::PageGuardedBuffer(Rng &rng, const ByteMap &bytes, std::size_t from,
                                     std::size_t to, Placement placement) {
    const ByteMap touched(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                          bytes.begin() + static_cast<std::ptrdiff_t>(to));
    const TouchedRange range = touched_range(touched);
    const std::size_t page = page_size();
    const std::size_t data_pages = (range.length() + page - 1) / page;
    mapped_bytes_ = (data_pages + 2) * page;
    mapping_ =
        mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::runtime_error("mmap failed");

    auto *const memory = static_cast<std::byte *>(mapping_);
    const auto first_page = reinterpret_cast<std::uintptr_t>(memory) + page;
    const std::uintptr_t first_byte = placement == Placement::first_byte_begins_page
                                          ? first_page
                                          : first_page + data_pages * page - range.length();
    const std::uintptr_t base = first_byte - static_cast<std::uintptr_t>(range.low);
    set_region(memory, mapped_bytes_, base);

    // Islands: only pages with a touched byte can be accessed.
    std::vector<bool> used(data_pages + 2, false);
    for (const std::intptr_t displ : touched) {
        const std::uintptr_t address = base + static_cast<std::uintptr_t>(displ);
        used[(address - reinterpret_cast<std::uintptr_t>(memory)) / page] = true;
    }
    for (std::size_t begin = 0; begin < used.size();) {
        std::size_t end = begin;
        while (end < used.size() && used[end] == used[begin]) ++end;
        if (used[begin]) {
            std::byte *const run = memory + begin * page;
            const std::size_t length = (end - begin) * page;
            if (mprotect(run, length, PROT_READ | PROT_WRITE) != 0) {
                throw std::runtime_error("mprotect failed");
            }
            add_accessible(run, length);
        }
        begin = end;
    }
    randomise(rng);
}

PageGuardedBuffer::~PageGuardedBuffer() {
    if (mapping_ != nullptr && mapping_ != MAP_FAILED) munmap(mapping_, mapped_bytes_);
}

ByteMap contiguous_bytes(std::size_t bytes) {
    ByteMap map(bytes);
    std::iota(map.begin(), map.end(), std::intptr_t{0});
    return map;
}

} // namespace ucdtest
