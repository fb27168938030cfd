// Flattened types made by hand, from docs/reference/flatten-format.md alone: what the library's own
// writer would never write, with a checksum that lets it past the first check.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucdtest {

using FlatBytes = std::vector<std::uint8_t>;

inline constexpr std::size_t flat_header_bytes = 24;

inline void put_number(FlatBytes &bytes, std::int64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i)
        bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> 8 * i));
}

inline void set_number(FlatBytes &bytes, std::size_t at, std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
}

// Sets the total size and the checksum.
inline void seal(FlatBytes &bytes) {
    if (bytes.size() < flat_header_bytes) return;
    set_number(bytes, 8, bytes.size(), 8);
    set_number(bytes, 16, 0, 4);
    std::uint32_t crc = ~std::uint32_t{0};
    for (const std::uint8_t byte : bytes) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    set_number(bytes, 16, ~crc, 4);
}

// Adds nodes, with references of 4 bytes and all other numbers of 8 unless told; each call returns
// the node's number. The last one is the root.
class FlatNodes {
public:
    using Numbers = std::vector<std::int64_t>;
    using Ids = std::vector<std::uint32_t>;

    std::uint32_t element(int element_class, int bytes, int alignment_log) {
        for (const int value : {1, element_class, bytes, alignment_log}) put(value, 1);
        return next();
    }
    std::uint32_t byte() { return element(1, 1, 0); }
    std::uint32_t int64() { return element(5, 8, 3); }

    // levels: count and stride of each, outermost first.
    std::uint32_t nest(const Numbers &levels, std::uint32_t child) {
        head(2, 0);
        put(static_cast<std::int64_t>(levels.size() / 2), 1);
        for (const std::int64_t value : levels) put(value, 8);
        put(child, 4);
        return next();
    }
    std::uint32_t indexed_block(std::int64_t count, std::int64_t unit, std::uint32_t child,
                                const Numbers &steps) {
        head(3, 3);
        list(count, unit, {child});
        return numbers(steps);
    }
    std::uint32_t indexed(std::int64_t count, std::int64_t unit, std::int64_t stride,
                          std::uint32_t child, const Numbers &steps, const Numbers &lengths,
                          int flags = 0) {
        put(4 | flags, 1);
        put(2 | 3 << 2 | (flags & 16 ? 0 : 3 << 4) | 3 << 6, 1);
        put(count, 8);
        put(unit, 8);
        put(stride, 8);
        put(child, 4);
        for (const std::int64_t value : steps) put(value, 8);
        return numbers(lengths);
    }
    std::uint32_t structure(std::int64_t count, std::int64_t unit, const Ids &children,
                            const Numbers &steps) {
        head(5, 3);
        list(count, unit, children);
        return numbers(steps);
    }
    std::uint32_t progression_structure(std::int64_t count, std::int64_t step,
                                        const Ids &children) {
        head(5 | 16, 0);
        list(count, step, children);
        return next();
    }
    std::uint32_t raw(const FlatBytes &bytes) {
        body_.insert(body_.end(), bytes.begin(), bytes.end());
        return next();
    }

    struct Root {
        std::int64_t start = 0, lb = 0, extent = 0;
        bool explicit_bounds = false;
        int alignment_log = 0;
        int version = 1;
        std::int64_t nodes = -1; // as many as were added
    };
    FlatBytes sealed() const { return sealed(Root()); }
    FlatBytes sealed(const Root &root) const {
        FlatBytes bytes{'U', 'C', 'D', 'T'};
        put_number(bytes, root.version, 2);
        put_number(bytes, 3 << 1 | (root.explicit_bounds ? 1 : 0), 1);
        put_number(bytes, root.alignment_log, 1);
        for (const unsigned width : {8, 4}) put_number(bytes, 0, width); // for seal()
        put_number(bytes, root.nodes < 0 ? count_ : root.nodes, 4);
        for (const std::int64_t value : {root.start, root.lb, root.extent})
            put_number(bytes, value, 8);
        bytes.insert(bytes.end(), body_.begin(), body_.end());
        seal(bytes);
        return bytes;
    }

private:
    void put(std::int64_t value, unsigned width) { put_number(body_, value, width); }
    void head(int kind, int steps_log) {
        put(kind, 1);
        put(2 | 3 << 2 | steps_log << 4, 1);
    }
    void list(std::int64_t count, std::int64_t unit, const Ids &children) {
        put(count, 8);
        put(unit, 8);
        for (const std::uint32_t child : children) put(child, 4);
    }
    std::uint32_t numbers(const Numbers &values) {
        for (const std::int64_t value : values) put(value, 8);
        return next();
    }
    std::uint32_t next() { return count_++; }

    FlatBytes body_;
    std::uint32_t count_ = 0;
};

} // namespace ucdtest
