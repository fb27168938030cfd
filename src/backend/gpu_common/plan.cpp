#include "plan.h"

#include "layout_walk.h"
#include "nest_kernels.h"

#include <algorithm>

namespace ucd::UCD_GPU {
namespace {

// Tiles pay where neighbours in the stream lie further apart than a sector of memory, and those in
// memory do not.
constexpr uint64_t sector = 32;
constexpr uint64_t worth_tiling = 8; // rows and columns

uint64_t magnitude(int64_t n) {
    return n < 0 ? ~static_cast<uint64_t>(n) + 1 : static_cast<uint64_t>(n);
}

bool is_word(uint64_t bytes) {
    return bytes <= vector_bytes && (bytes & (bytes - 1)) == 0;
}

uint64_t next_id() {
    static std::atomic<uint64_t> ids{0};
    return ++ids;
}

Matrix matrix_in(const Shape &shape, bool repeated) {
    if (shape.levels < 2) return {};
    for (unsigned k = 0; k < shape.levels; ++k)
        if (shape.level[k].kind != LevelKind::strided) return {};
    const ShapeLevel &columns = shape.level[shape.levels - 1];
    if (!is_word(columns.each) || columns.count < worth_tiling ||
        magnitude(columns.stride) <= sector)
        return {};
    unsigned row = 0;
    for (unsigned k = 1; k + 1 < shape.levels; ++k)
        if (magnitude(shape.level[k].stride) < magnitude(shape.level[row].stride)) row = k;
    const ShapeLevel &rows = shape.level[row];
    // How many rows an outermost level of repetitions has, only the call knows.
    const bool enough = rows.count >= worth_tiling || (row == 0 && repeated);
    if (!enough || magnitude(rows.stride) > sector / 2) return {};
    return {true, row};
}

} // namespace

GpuPlan::GpuPlan(const Layout &l, int64_t e, bool r, uint64_t most_bytes)
    : id(next_id()), layout(l), extent(e), repeated(r) {
    if (layout.empty()) return;
    size = layout.top().bytes;
    // Two stand for any number above one: only the outermost count differs.
    top_ = repeat(layout.top(), layout.root, repeated ? 2 : 1, extent);
    word = common_word(layout, top_);
    contiguous = top_.kind == NodeKind::block;
    if (contiguous) return;
    Image image;
    shape = shape_of(layout, top_, image);
    if (image.bytes().size() > most_bytes) shape = {};
    if (shape.levels == 0) return;
    outermost = repeated ? shape.level[0].count / 2 : shape.level[0].count;
    matrix = matrix_in(shape, repeated);
    if (!image.bytes().empty()) tables = std::make_unique<Tables>(std::vector<char>(image.bytes()));
    list_pieces(most_bytes - image.bytes().size());
}

void GpuPlan::list_pieces(uint64_t most_bytes) {
    constexpr uint64_t worth_it = 2; // times as wide as the words, on average
    if (word >= piece_bytes / worth_it) return;
    const PieceList list = pieces_of(layout, top_, shape);
    if (list.period == 0 || list.pieces.size() * word * worth_it > list.period) return;
    if (list.pieces.size() * sizeof list.pieces[0] > most_bytes) return;
    levels_around_pieces = list.levels;
    period = list.period;
    pieces = static_cast<uint32_t>(list.pieces.size());
    Image image;
    image.add(list.pieces);
    piece_list = std::make_unique<Tables>(std::vector<char>(image.bytes()));
}

LazyProgram::Program &LazyProgram::get(const Layout &layout, const Node &top) {
    if (Program *made = made_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (program_ == nullptr) {
        Image image;
        uint64_t nodes;
        uint32_t root;
        add_program(layout, top, image, nodes, root);
        program_ = std::make_unique<Program>(std::move(image));
        program_->nodes = nodes;
        program_->root = root;
        made_.store(program_.get(), std::memory_order_release);
    }
    return *program_;
}

std::size_t LazyProgram::memory() const {
    const Program *made = made_.load(std::memory_order_acquire);
    return made != nullptr ? made->tables.bytes() : 0;
}

GpuPlan::Program &GpuPlan::program_of(const Elements &elements) const {
    // Two stand for any number, one included: how many there are, nobody asks.
    const Node top = repeat(elements.runs.top(), elements.runs.root, 2, elements.extent);
    return elements_program_.get(elements.runs, top);
}

std::string GpuPlan::describe() const {
    if (size == 0) return "nothing to move";
    if (contiguous) return "a copy: one block";
    if (shape.levels == 0)
        return "pack_program: a walk over " + std::to_string(layout.nodes.size()) +
               " nodes for each run of bytes";
    LevelKind kinds[max_levels];
    for (unsigned k = 0; k < shape.levels; ++k) kinds[k] = shape.level[k].kind;
    std::string text = nest_kernel(Direction::pack, {kinds, shape.levels}, word).name;
    if (matrix.found) text += ", transposed in tiles";
    if (piece_list != nullptr) text += ", unpacked in " + std::to_string(pieces) + " pieces";
    if (tables != nullptr) text += ", lists of " + std::to_string(tables->bytes()) + " bytes";
    return text;
}

std::size_t GpuPlan::memory() const {
    return sizeof *this + (tables != nullptr ? tables->bytes() : 0) +
           (piece_list != nullptr ? piece_list->bytes() : 0) + program_.memory() +
           elements_program_.memory();
}

} // namespace ucd::UCD_GPU
