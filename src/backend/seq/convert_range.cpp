#include "convert_range.h"

#include "float_environment.h"
#include "in_threads.h"
#include "kernel_tables.h"
#include "useful_threads.h"

#include <cstring>

namespace ucd::seq {

void convert_range(const Move &move) {
    const Element from = converted_part(move.from_element), to = converted_part(move.to_element);
    const uint64_t from_size = packed_size(from), to_size = packed_size(to);
    const ConvertKernel kernel = has_same_bits(from, to) ? nullptr : convert_kernel(from, to);
    const uint64_t count = move.length / from_size;
    const unsigned threads = useful_threads(count * (from_size + to_size) / 2, move.limits.threads);
    in_threads(threads, [&](unsigned i) {
        // Shares begin at multiples of a cache line's size on both sides.
        const auto first_of = [&](unsigned share) {
            return share == threads ? count : count / threads * share / 64 * 64;
        };
        const uint64_t first = first_of(i), elements = first_of(i + 1) - first;
        char *const out = move.to.first() + first * to_size;
        const char *const in = move.from.first() + first * from_size;
        if (kernel == nullptr) {
            std::memcpy(out, in, elements * to_size);
            return;
        }
        const DefaultFloatEnvironment environment;
        kernel(out, in, elements, move.op == Op::convert_sat);
    });
}

} // namespace ucd::seq
