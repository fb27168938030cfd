// The memory that one layout is measured on, the same for all contenders, and the check that what
// they do is right.
#pragma once

#include "harness/device.hpp"
#include "harness/ucd_peer.hpp"
#include "shapes/recipe.hpp"

#include <cstdint>
#include <vector>

namespace bench {

class Workbench {
public:
    // The kinds of memory of the typed and of the packed side.
    Workbench(const Recipe &type, Device &device, MemoryKind typed = MemoryKind::own,
              MemoryKind packed = MemoryKind::own);

    char *typed() const { return typed_.data() - extremes_.low; } // where displacement 0 is
    char *packed() const { return packed_.data(); }
    char *spare() const { return spare_.data(); }          // as large as packed
    std::int64_t bytes() const { return extremes_.bytes; } // packed
    std::size_t size() const { return static_cast<std::size_t>(extremes_.bytes); }
    std::int64_t footprint() const { return extremes_.high - extremes_.low; }
    const std::vector<Segment> &segments() const { return segments_; }
    Device &device() const { return device_; }

    // All of the packed stream of one element of this workbench's layout.
    UcdMove move(const UcdType &type, ucd_info_t info = UCD_INFO__NULL) const {
        return {type.get(), typed(), packed(), 0, size(), info};
    }
    Work ucd(const UcdType &type, bool pack, ucd_info_t info = UCD_INFO__NULL) const {
        return ucd_work(move(type, info), pack);
    }
    // A plain copy of as many bytes, the packed side's memory on one side.
    Work plain_copy(bool pack) const;

    // Throws std::runtime_error, naming the contender, if it does not move what the segments say,
    // or touches anything else.
    void check(const Contender &contender, bool pack);

    // What check() does for unpacking, in steps: the typed side is made ready to be unpacked to, or
    // to be packed from; how many of its bytes are not as packing from a filled one and unpacking
    // must leave them.
    void blank_typed();
    void fill_typed();
    std::uint64_t wrong_typed_bytes();

private:
    static constexpr std::size_t guard = 64; // bytes behind the packed ones
    std::uint64_t wrong_packed_bytes();
    // The content of a buffer where the device can work on it: there, or in a copy.
    template <class Use>
    auto reached(const Buffer &buffer, MemoryKind kind, bool write, Use use);

    Device &device_;
    const std::vector<Segment> segments_;
    const Extremes extremes_;
    const MemoryKind typed_kind_, packed_kind_;
    const Buffer typed_, packed_, spare_;
    std::vector<char> expected_; // packed
};

// The lines of the cache that a move touches and its packed bytes, streamed by one copy: as fast as
// any move can be.
class Roofline {
public:
    explicit Roofline(const Workbench &bench);
    Work work() const { return copy_work(device_, to_.data(), from_.data(), from_.bytes()); }

private:
    Device &device_;
    Buffer from_, to_;
};

// The content of a filled buffer that starts at the lowest displacement, packed.
std::vector<char> packed_content(const std::vector<Segment> &segments);

} // namespace bench
