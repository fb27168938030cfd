#include "convert_range.h"

#include "float_environment.h"
#include "in_threads.h"
#include "kernel_tables.h"
#include "useful_threads.h"

#include <cstring>

namespace ucd::seq {
namespace {

// A conversion of real numbers.
struct RealConversion {
    ConvertKernel kernel; // null: bits are copied
    char *to;
    const char *from;
    uint64_t to_size, from_size; // of an element
    bool saturate;

    void run(uint64_t first, uint64_t count) const {
        char *const out = to + first * to_size;
        const char *const in = from + first * from_size;
        if (kernel == nullptr) {
            std::memcpy(out, in, count * to_size);
            return;
        }
        const DefaultFloatEnvironment environment;
        kernel(out, in, count, saturate);
    }
};

} // namespace

void convert_range(const Move &move) {
    const Element from = converted_part(move.from_element), to = converted_part(move.to_element);
    const RealConversion conversion{.kernel = has_same_bits(from, to) ? nullptr
                                                                      : convert_kernel(from, to),
                                    .to = move.to.first(),
                                    .from = move.from.first(),
                                    .to_size = packed_size(to),
                                    .from_size = packed_size(from),
                                    .saturate = move.op == Op::convert_sat};
    const uint64_t count = move.length / packed_size(from);
    const uint64_t bytes = count * (packed_size(from) + packed_size(to)) / 2;
    const unsigned threads = useful_threads(bytes, move.limits.threads);
    in_threads(threads, [&](unsigned i) {
        // Shares begin at multiples of a cache line's size on both sides.
        const auto first_of = [&](unsigned share) {
            return share == threads ? count : count / threads * share / 64 * 64;
        };
        conversion.run(first_of(i), first_of(i + 1) - first_of(i));
    });
}

} // namespace ucd::seq
