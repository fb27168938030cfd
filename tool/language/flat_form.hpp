// The flattened form of types (docs/reference/flatten-format.md) read and written, as a client of
// ucd.h may. The bytes come from ucd_flatten or were accepted by ucd_unflatten, so reading expects
// them valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ucdtool {

struct FlatNode {
    enum class Kind : uint8_t { element = 1, nest, indexed_block, indexed, structure };
    struct Level {
        int64_t count, stride;
    };
    Kind kind = Kind::element;
    std::size_t at = 0, bytes = 0;                              // where it lies
    uint8_t element_class = 0, packed_bytes = 0, alignment = 0; // element; alignment is a log2
    std::vector<Level> levels;                                  // nest
    int64_t unit = 0, stride = 0;                               // lists; indexed
    std::vector<uint32_t> children;                             // one, or those of a structure
    std::vector<int64_t> displs;                                // lists
    std::vector<int64_t> lengths;                               // indexed: one for each
};

struct FlatHeader {
    uint16_t version = 1;
    bool explicit_bounds = false;
    uint8_t alignment = 0; // log2
    uint64_t total = 0;
    uint32_t checksum = 0;
    uint32_t nodes = 0;
    int64_t start = 0, lb = 0, extent = 0;
    std::size_t bytes = 0; // with start, lb and extent
};

FlatHeader read_header(std::span<const std::byte> flat);

// Reads one node after the other.
class FlatReader {
public:
    explicit FlatReader(std::span<const std::byte> flat);
    const FlatHeader &header() const { return header_; }
    bool more() const { return read_ < header_.nodes; }
    FlatNode next();

private:
    uint64_t number(unsigned width_code);
    int64_t signed_number(unsigned width_code);

    std::span<const std::byte> flat_;
    FlatHeader header_;
    std::size_t at_;
    uint32_t read_ = 0;
};

// A flattened type of this header (whose total, checksum and bytes are worked out) and nodes.
std::vector<std::byte> write_flat(const FlatHeader &header, std::span<const std::byte> nodes);

} // namespace ucdtool
