// Ranges of device memory that file descriptors identify, and what other processes do with them.
#pragma once

#include "support/catch.hpp"

#include "support/fake_device/fake_driver.h"
#include "support/fake_device/fake_pieces.h"
#include "support/fd_data.hpp"
#include "support/fd_messages.hpp"

#include <ucd_memory.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ucdtest {

inline constexpr std::size_t unit = mock::granularity;

inline std::string device(int number = 0) {
    return std::string(mock::backend.name) + ":" + std::to_string(number);
}

struct Pieces {
    std::vector<std::size_t> sizes;
    char *address;
    explicit Pieces(std::vector<std::size_t> of,
                    mock::Exportable exportable = mock::Exportable::yes)
        : sizes(std::move(of)),
          address(static_cast<char *>(mock::map_new_pieces(0, sizes, exportable))) {
        REQUIRE(address != nullptr);
    }
    ~Pieces() { unmap(); }
    Pieces(const Pieces &) = delete;
    Pieces &operator=(const Pieces &) = delete;
    void unmap() {
        std::size_t at = 0;
        for (const std::size_t bytes : sizes) {
            mock::unmap_piece(address + at);
            at += bytes;
        }
        sizes.clear();
    }
    std::size_t total() const {
        std::size_t sum = 0;
        for (const std::size_t bytes : sizes) sum += bytes;
        return sum;
    }
};

// How many ints the tests change, and where they end.
inline constexpr int ints = 3000;
inline constexpr std::size_t extent = extent_of(ints);

inline void *open_range(const SharedRange &range, std::uintptr_t &bytes) {
    return open_range(range, device(), bytes);
}

} // namespace ucdtest
