// One object whose parts lie in several memories.
#pragma once

#include "support/catch.hpp"

#include "support/moves/strided_move.hpp"

#include <cstring>
#include <list>
#include <vector>

namespace ucdtest {

using enum Memory;

// Every other int of a buffer in each memory, at absolute addresses, as one type.
struct Scattered {
    Case one{"scattered", 0};
    std::list<StridedMove> parts; // their packed buffers are not used
    ucd_type_t type = UCD_TYPE__NULL;
    std::size_t bytes = 0;

    explicit Scattered(const std::vector<Memory> &memories, bool as_struct) {
        std::vector<std::intptr_t> lengths, displs;
        std::vector<ucd_type_t> types;
        for (std::size_t i = 0; i < memories.size(); ++i) {
            const StridedMove &part =
                parts.emplace_back("part", as_struct ? 20 + i : 20, memories[i], pageable);
            lengths.push_back(1);
            displs.push_back(reinterpret_cast<std::intptr_t>(part.typed.real_base()));
            types.push_back(part.type());
            bytes += part.bytes();
        }
        const auto count = static_cast<std::intptr_t>(types.size());
        const int rc = as_struct ? ucd_create_struct(count, lengths.data(), displs.data(),
                                                     types.data(), UCD_INFO__NULL, &type)
                                 : ucd_create_hindexed(count, lengths.data(), displs.data(),
                                                       types[0], UCD_INFO__NULL, &type);
        REQUIRE(rc == UCD_SUCCESS);
    }
    Scattered(const Scattered &) = delete;
    Scattered &operator=(const Scattered &) = delete;
    ~Scattered() { ucd_free(&type); }

    void set(int round) {
        for (StridedMove &part : parts) {
            part.typed.randomise(part.one.rng());
            const std::size_t ints = part.bytes() / sizeof(int);
            for (std::size_t i = 0; i < ints; ++i) {
                const int value = round + static_cast<int>(i);
                const auto *as_bytes = reinterpret_cast<const std::byte *>(&value);
                for (std::size_t b = 0; b < sizeof value; ++b)
                    part.typed.set(static_cast<std::intptr_t>(8 * i + b), as_bytes[b]);
            }
            part.typed.send();
        }
    }
    // What the parts hold, in packed order.
    std::vector<int> stream() {
        std::vector<int> all;
        for (StridedMove &part : parts) {
            part.typed.fetch();
            for (std::size_t i = 0; i < part.bytes() / sizeof(int); ++i) {
                int value;
                std::memcpy(&value, part.typed.actual(static_cast<std::intptr_t>(8 * i)), 4);
                all.push_back(value);
            }
        }
        return all;
    }
    // Nothing but the ints that are expected has changed.
    void require_rest_intact() {
        for (StridedMove &part : parts) {
            part.typed.fetch();
            for (std::size_t i = 0; i < part.bytes() / sizeof(int); ++i)
                for (std::intptr_t b = 0; b < 4; ++b) {
                    const auto at = static_cast<std::intptr_t>(8 * i) + b;
                    *part.typed.expected(at) = *part.typed.actual(at);
                }
            require_intact(part.one, part.typed, "around a part");
        }
    }
};

const std::vector<Memory> mixed = {pageable, device0, device0, pinned, device1, pageable};

} // namespace ucdtest
