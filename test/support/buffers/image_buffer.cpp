#include "support/buffers/image_buffer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ucdtest {
namespace {

// Filling from a pool is much cheaper than running the generator for every byte.
const std::vector<std::byte> &random_pool() {
    static const std::vector<std::byte> pool = [] {
        Rng rng(0x706f6f6c);
        std::vector<std::byte> bytes(std::size_t{1} << 18);
        for (std::byte &byte : bytes) byte = static_cast<std::byte>(rng.bits());
        return bytes;
    }();
    return pool;
}

void fill_from_pool(std::byte *memory, std::size_t bytes, Rng &rng) {
    const std::vector<std::byte> &pool = random_pool();
    while (bytes != 0) {
        const std::size_t start = rng.below(pool.size() / 2);
        const std::size_t length = std::min(bytes, pool.size() - start);
        std::memcpy(memory, pool.data() + start, length);
        memory += length;
        bytes -= length;
    }
}

} // namespace

void ImageBuffer::set_region(std::byte *memory, std::size_t bytes, std::uintptr_t base) {
    region_ = memory;
    base_ = base;
    // Uninitialised on purpose: only accessible runs are ever filled and looked at.
    image_.reset(new std::byte[bytes]);
}

void ImageBuffer::randomise(Rng &rng) {
    for (const Run &run : runs_) fill_from_pool(run.memory, run.bytes, rng);
    accept();
}

void ImageBuffer::accept() {
    for (const Run &run : runs_) std::memcpy(image_of(run), run.memory, run.bytes);
}

std::optional<std::intptr_t> ImageBuffer::first_difference() const {
    for (const Run &run : runs_) {
        if (std::memcmp(run.memory, image_of(run), run.bytes) == 0) continue;
        const auto found = std::mismatch(run.memory, run.memory + run.bytes, image_of(run));
        return static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(found.first) - base_);
    }
    return std::nullopt;
}

std::string ImageBuffer::difference() const {
    const std::optional<std::intptr_t> displ = first_difference();
    if (!displ) return "";
    char text[128];
    std::snprintf(text, sizeof text,
                  "first wrong byte at displacement %td: 0x%02x, expected 0x%02x", *displ,
                  static_cast<unsigned>(*actual(*displ)), static_cast<unsigned>(*expected(*displ)));
    return text;
}

} // namespace ucdtest
