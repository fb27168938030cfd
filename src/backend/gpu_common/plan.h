// A layout prepared for a device: which kernel moves it, with which lists. Nothing in it belongs to
// one device but the copies of its lists.
#pragma once

#include "backend.h"
#include "shape.h"
#include "tables.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {

// Two strided levels that are better moved in tiles, and the others; positions in Shape::level.
struct Matrix {
    bool found = false;
    unsigned row = 0; // the level with the short steps; the innermost one has the columns
};

// A layout for the kernels that walk; made at first need.
class LazyProgram {
public:
    struct Program {
        explicit Program(Image image) : tables(std::vector<char>(image.bytes())) {}
        uint64_t nodes = 0;
        uint32_t root = 0;
        Tables tables;
    };
    Program &get(const Layout &layout, const Node &top);
    std::size_t memory() const;

private:
    std::mutex mutex_;
    std::atomic<Program *> made_{nullptr};
    std::unique_ptr<Program> program_;
};

class GpuPlan final : public Plan {
public:
    // Lists that take more than `most_bytes` are not made: the interpreter then walks the layout.
    GpuPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t most_bytes);

    std::string describe() const override;
    std::size_t memory() const override;

    using Program = LazyProgram::Program;
    // For what the shape cannot do.
    Program &program() const { return program_.get(layout, top_); }
    // The elements of the packed stream, which are always the same for a plan.
    Program &program_of(const Elements &elements) const;

    // Whether a launch on the device needs no more than what is there.
    bool is_prepared(int device, Op op = Op::replace) const {
        return (prepared_[static_cast<unsigned>(op)].load(std::memory_order_acquire) >> device &
                1) != 0;
    }
    void set_prepared(int device, Op op = Op::replace) const {
        prepared_[static_cast<unsigned>(op)].fetch_or(uint32_t{1} << device,
                                                      std::memory_order_acq_rel);
    }

    const uint64_t id; // of no other plan, ever
    const Layout &layout;
    const int64_t extent;
    const bool repeated;
    uint64_t size = 0;       // packed bytes of one repetition; 0: nothing to move
    bool contiguous = false; // one block, however often it is repeated
    uint32_t word = 1;       // that everything is a multiple of, but for the buffers' addresses
    uint64_t outermost = 0;  // children of the outermost level, per repetition
    Shape shape;
    Matrix matrix;
    std::unique_ptr<Tables> tables; // of the shape; null: none

    // For unpacking, where words are narrow for the stream's sake only.
    unsigned levels_around_pieces = 0;
    uint64_t period = 0; // bytes of the stream that the list describes
    uint32_t pieces = 0;
    std::unique_ptr<Tables> piece_list; // null: none

    // For whoever makes the table of a batch: which of its shapes is this plan's, by the word's
    // width.
    mutable std::array<std::atomic<uint64_t>, 5> batch_shape{};

private:
    void list_pieces(uint64_t most_bytes);

    Node top_;
    // By op, a bit per device.
    mutable std::array<std::atomic<uint32_t>, static_cast<unsigned>(Op::count_)> prepared_{};
    mutable LazyProgram program_, elements_program_;
};

} // namespace ucd::UCD_GPU
