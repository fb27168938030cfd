#include "execute.h"

#include "in_threads.h"
#include "move_range.h"
#include "reduce_range.h"
#include "share.h"
#include "useful_threads.h"

namespace ucd::seq {
namespace {

void execute_range(const Move &move, Slice range) {
    char *packed = move.packed + (range.offset - move.offset);
    if (move.op == Op::replace)
        move_range(move, range, packed, move.direction);
    else
        reduce_range(move, range, packed);
}

void execute_in_threads(const Move &move, unsigned threads) {
    in_threads(threads, [&](unsigned i) {
        const uint64_t from = share_begin(move, i, threads), to = share_begin(move, i + 1, threads);
        if (to > from) execute_range(move, {from, to - from});
    });
}

} // namespace

void execute(const Move &move) {
    const unsigned threads = useful_threads(move.length, move.limits.threads);
    if (threads > 1) return execute_in_threads(move, threads);
    execute_range(move, {move.offset, move.length});
}

} // namespace ucd::seq
