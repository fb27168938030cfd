#include "reduce_range.h"

#include "element_runs.h"
#include "float_environment.h"
#include "layout_walk.h"
#include "move_range.h"

#include <algorithm>

namespace ucd::seq {
namespace {

void reduce_packed(const Move &move, Slice range, char *out, const char *in) {
    for_each_element_run(*move.elements, move.typed().count, range.offset, range.length,
                         [&](Element element, uint64_t, uint64_t bytes) {
                             reduce_kernel(move.op, element)(out, in, bytes / packed_size(element));
                             out += bytes;
                             in += bytes;
                             return true;
                         });
}

// Reduces in chunks that fit in the first-level cache together with the lines of the layout: the
// layout's bytes are gathered in a chunk, reduced in packed form and, when unpacking, put back.
void reduce_in_chunks(const Move &move, Slice range, char *packed) {
    alignas(64) char chunk[8192];
    const Side &side = move.typed();
    const uint64_t total = plan_of(side).size * side.count;
    while (range.length > 0) {
        const uint64_t most = std::min<uint64_t>(range.length, sizeof chunk);
        const uint64_t end = element_floor(*move.elements, side.count, total, range.offset + most);
        const Slice part{range.offset, end - range.offset};
        move_range(side, part, chunk, Direction::pack);
        if (move.direction() == Direction::pack) {
            reduce_packed(move, part, packed, chunk);
        } else {
            reduce_packed(move, part, chunk, packed);
            move_range(side, part, chunk, Direction::unpack);
        }
        packed += part.length;
        range.offset += part.length;
        range.length -= part.length;
    }
}

// Reduces without a chunk. Suits blocks of whole elements of one kind, in rows that are long enough
// for finding the next one to be cheap.
class InPlace {
public:
    InPlace(const Move &move, Element element)
        : move_(move), side_(move.typed()), size_(packed_size(element)),
          packed_kernel_(reduce_kernel(move.op, element)),
          row_kernel_(row_reduce_kernel(move.direction(), move.op, element)) {}

    void reduce(Slice range, char *packed) const {
        const SeqPlan &plan = plan_of(side_);
        const Layout &layout = plan.layout;
        const Node top = repeat(layout.top(), layout.root, side_.count, plan.extent);
        Walk walk(layout, top, layout.start, [&](const Node &n) { return is_row(layout, n); });
        walk.start(range.offset, range.length);
        // Bytes that need a chunk, collected until they are whole elements: an element may have
        // parts in several rows.
        Slice held{range.offset, 0};
        char *held_packed = packed;
        for (Piece piece; walk.next(piece);) {
            const uint64_t bytes = piece.end - piece.begin;
            if (!reduce(layout, piece, range.offset - piece.begin, packed)) {
                if (held.length == 0) {
                    held.offset = range.offset;
                    held_packed = packed;
                }
                held.length += bytes;
                if (held.length % size_ == 0) {
                    reduce_in_chunks(move_, held, held_packed);
                    held.length = 0;
                }
            }
            range.offset += bytes;
            packed += bytes;
        }
    }

private:
    // Returns false if the row needs a chunk: if it does not consist of whole elements, or begins
    // within an element. Its first byte is byte `offset` of the stream.
    bool reduce(const Layout &layout, const Piece &row, uint64_t offset, char *packed) const {
        const Node &node = *row.node;
        const bool one = node.kind == NodeKind::block;
        const uint64_t block = one ? node.bytes : layout.nodes[node.child].bytes;
        if (block % size_ != 0 || offset % size_ != 0) return false;
        // performance only: both ways reduce the same
        const bool worth_it = one || row_kernel_ != nullptr || block >= worth_a_call;
        if (!worth_it) return false;
        uint64_t begin = row.begin;
        const auto up_to = [&](uint64_t end) {
            char *const typed = at(side_.address, place(node, row.origin, block, begin));
            reduce_block(typed, packed, end - begin);
            packed += end - begin;
            begin = end;
        };
        if (one) {
            up_to(row.end);
            return true;
        }
        // The end of a partial block, whole blocks, the beginning of a partial block.
        if (begin % block != 0) up_to(std::min(row.end, begin - begin % block + block));
        if (const uint64_t whole = row.end - row.end % block; begin < whole) {
            if (row_kernel_ != nullptr) {
                row_kernel_(at(side_.address, place(node, row.origin, block, begin)), node.stride,
                            (whole - begin) / block, block, packed);
                packed += whole - begin;
                begin = whole;
            } else {
                while (begin < whole) up_to(begin + block);
            }
        }
        if (begin < row.end) up_to(row.end);
        return true;
    }

    static int64_t place(const Node &node, int64_t origin, uint64_t block, uint64_t byte) {
        return displace(displace(origin, byte / block, node.stride),
                        static_cast<int64_t>(byte % block));
    }

    void reduce_block(char *typed, char *packed, uint64_t bytes) const {
        const bool pack = move_.direction() == Direction::pack;
        packed_kernel_(pack ? packed : typed, pack ? typed : packed, bytes / size_);
    }

    static constexpr uint64_t worth_a_call = 256; // bytes that are combined in one call
    const Move &move_;
    const Side &side_;
    const uint64_t size_;
    const ReduceKernel packed_kernel_;
    const RowReduceKernel row_kernel_;
};

} // namespace

void reduce_range(const Move &move, Slice range, char *packed) {
    const DefaultFloatEnvironment environment;
    const Side &side = move.typed();
    const SeqPlan &plan = plan_of(side);
    if (plan.form == SeqPlan::Form::contiguous) {
        char *typed =
            at(side.address, displace(plan.layout.start, static_cast<int64_t>(range.offset)));
        return move.direction() == Direction::pack ? reduce_packed(move, range, packed, typed)
                                                   : reduce_packed(move, range, typed, packed);
    }
    const Element element = move.elements->kind;
    if (plan.has_long_rows && element != Element::none)
        InPlace(move, element).reduce(range, packed);
    else
        reduce_in_chunks(move, range, packed);
}

} // namespace ucd::seq
