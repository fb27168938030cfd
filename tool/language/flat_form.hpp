// Reads and writes the flattened form of types (docs/reference/flatten-format.md) with the public
// API only. The reader expects valid bytes: they come from ucd_flatten, or ucd_unflatten has
// accepted them.
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
    // position and size in the flattened bytes
    std::size_t at = 0, bytes = 0;
    // of an element; alignment is a log2
    uint8_t element_class = 0, packed_bytes = 0, alignment = 0;
    std::vector<Level> levels;      // of a nest
    int64_t unit = 0, stride = 0;   // of lists; of indexed
    std::vector<uint32_t> children; // one, or those of a structure
    std::vector<int64_t> displs;    // of lists
    // of indexed: one for each displacement
    std::vector<int64_t> lengths;
};

struct FlatHeader {
    uint16_t version = 1;
    bool explicit_bounds = false;
    uint8_t alignment = 0; // a log2
    uint64_t total = 0;
    uint32_t checksum = 0;
    uint32_t nodes = 0;
    int64_t start = 0, lb = 0, extent = 0;
    std::size_t bytes = 0; // size of the header with start, lb and extent
};

FlatHeader read_header(std::span<const std::byte> flat);

// Reads the nodes one by one.
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

// Writes a flattened type from a header and nodes. Computes the header's total, checksum and bytes.
std::vector<std::byte> write_flat(const FlatHeader &header, std::span<const std::byte> nodes);

} // namespace ucdtool
