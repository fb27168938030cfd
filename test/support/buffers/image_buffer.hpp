// A buffer that remembers what it should hold. Tests write to the expected image what the library
// should have written to memory, and then compare everything: guards, holes and data alike.
#pragma once

#include "support/random/rng.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ucdtest {

class ImageBuffer {
public:
    ImageBuffer(const ImageBuffer &) = delete;
    ImageBuffer &operator=(const ImageBuffer &) = delete;
    virtual ~ImageBuffer() = default;

    // The address from which displacements count. It may lie outside of the memory.
    void *base() const { return reinterpret_cast<void *>(base_); }
    std::uintptr_t address() const { return base_; }

    // Memory and its image at a displacement, which must be accessible.
    std::byte *actual(std::intptr_t displ) const {
        return reinterpret_cast<std::byte *>(base_ + static_cast<std::uintptr_t>(displ));
    }
    std::byte *expected(std::intptr_t displ) const {
        return image_.get() + (actual(displ) - region_);
    }

    // Fills memory and image with the same random bytes.
    void randomise(Rng &rng);
    // Writes to both.
    void set(std::intptr_t displ, std::byte value) {
        *actual(displ) = value;
        *expected(displ) = value;
    }
    // Takes memory as it is for expected.
    void accept();

    // The displacement of the first byte that is not as expected, guards included.
    std::optional<std::intptr_t> first_difference() const;
    // "byte 12 is 0x3f, not 0x40; …", for failure messages; "" if all is as expected.
    std::string difference() const;

protected:
    // `memory`: where the region lies; `bytes`: its length. TypeCache classes add accessible runs.
    ImageBuffer() = default;
    void set_region(std::byte *memory, std::size_t bytes, std::uintptr_t base);
    void add_accessible(std::byte *memory, std::size_t bytes) { runs_.push_back({memory, bytes}); }

private:
    struct Run {
        std::byte *memory;
        std::size_t bytes;
    };
    std::byte *image_of(const Run &run) const { return image_.get() + (run.memory - region_); }

    std::byte *region_ = nullptr;
    std::uintptr_t base_ = 0;
    std::unique_ptr<std::byte[]> image_;
    std::vector<Run> runs_;
};

} // namespace ucdtest
