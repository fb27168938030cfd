// libFuzzer's changes of bytes, and now and then one that knows the format. Its own ones cannot put
// a node together that is right in all its numbers.
#include "inputs.hpp"

#include <algorithm>
#include <cstring>

using namespace ucdtest;
using namespace ucdtest::fuzz;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
    static const Corpus corpus = first_inputs();
    if (seed % 4 != 0) return LLVMFuzzerMutate(data, size, max_size);
    Rng rng(seed);
    FlatBytes bytes(data, data + size);
    if (rng.chance(20))
        bytes = put_together(rng);
    else
        change(rng, bytes, corpus);
    const std::size_t length = std::min(bytes.size(), max_size);
    if (length > 0) std::memcpy(data, bytes.data(), length);
    return length;
}
