#include "commands/flat_dump.hpp"

#include "language/flat_form.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ucdtool {
namespace {

constexpr std::size_t bytes_per_line = 12;
constexpr std::size_t max_lines = 4; // for the bytes of one node
constexpr std::size_t max_entries = 8;

class Dump {
public:
    explicit Dump(std::span<const std::byte> flat) : flat_(flat) {}

    std::string run() {
        FlatReader reader(flat_);
        const FlatHeader &h = reader.header();
        add(0, 4, "magic");
        add(4, 2, fmt::format("version {}", h.version));
        add(6, 1,
            fmt::format("bounds are {}; start, lb and extent of {} bytes each",
                        h.explicit_bounds ? "explicit" : "implicit", (h.bytes - 24) / 3));
        add(7, 1, fmt::format("alignment {}", 1u << h.alignment));
        add(8, 8, fmt::format("{} bytes in all", h.total));
        add(16, 4, fmt::format("checksum {:08x}", h.checksum));
        add(20, 4, fmt::format("{} node{}", h.nodes, h.nodes == 1 ? "" : "s"));
        add(24, h.bytes - 24, fmt::format("start {}, lb {}, extent {}", h.start, h.lb, h.extent));
        for (uint32_t i = 0; reader.more(); ++i) {
            const FlatNode n = reader.next();
            add(n.at, n.bytes, fmt::format("node {}: {}", i, words(n)));
        }
        return std::move(text_);
    }

private:
    void add(std::size_t at, std::size_t bytes, const std::string &meaning) {
        for (std::size_t line = 0; line * bytes_per_line < bytes; ++line) {
            if (line == max_lines) {
                text_ += fmt::format("{:>6}  ... {} more bytes\n", at + line * bytes_per_line,
                                     bytes - line * bytes_per_line);
                return;
            }
            const std::size_t from = line * bytes_per_line;
            std::string hex;
            for (std::size_t i = from; i < std::min(bytes, from + bytes_per_line); ++i)
                hex += fmt::format("{:02x} ", std::to_integer<unsigned>(flat_[at + i]));
            text_ += line > 0
                         ? fmt::format("{:>6}  {}\n", at + from, hex.substr(0, hex.size() - 1))
                         : fmt::format("{:>6}  {:<{}} {}\n", at, hex, 3 * bytes_per_line, meaning);
        }
    }

    template <class T>
    static std::string list(const std::vector<T> &values) {
        const bool cut = values.size() > max_entries;
        return fmt::format("[{}{}]",
                           fmt::join(values.begin(),
                                     values.begin() + static_cast<std::ptrdiff_t>(
                                                          std::min(values.size(), max_entries)),
                                     ","),
                           cut ? ",..." : "");
    }

    static std::string words(const FlatNode &n) {
        switch (n.kind) {
        case FlatNode::Kind::element:
            return fmt::format("element of class {}, {} bytes, aligned to {}", n.element_class,
                               n.packed_bytes, 1u << n.alignment);
        case FlatNode::Kind::nest: {
            std::string text = "nest";
            for (const FlatNode::Level &l : n.levels)
                text += fmt::format(" {} times {} bytes apart,", l.count, l.stride);
            return text + fmt::format(" of node {}", n.children[0]);
        }
        case FlatNode::Kind::indexed_block:
            return fmt::format("indexed_block: {} blocks of node {} at {}", n.displs.size(),
                               n.children[0], list(n.displs));
        case FlatNode::Kind::indexed:
            return fmt::format("indexed: {} blocks of node {}, {} bytes apart, at {} of lengths {}",
                               n.displs.size(), n.children[0], n.stride, list(n.displs),
                               list(n.lengths));
        case FlatNode::Kind::structure: break;
        }
        return fmt::format("structure: {} members of nodes {} at {}", n.displs.size(),
                           list(n.children), list(n.displs));
    }

    std::span<const std::byte> flat_;
    std::string text_;
};

} // namespace

std::string dump_flat(std::span<const std::byte> flat) {
    return Dump(flat).run();
}

} // namespace ucdtool
