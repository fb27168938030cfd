// Inputs of which only their bytes are known: all come from the corpus.
#include "inputs.hpp"

namespace ucdtest::fuzz {

Corpus first_inputs() {
    return {};
}

void change(Rng &rng, FlatBytes &bytes, const Corpus &corpus) {
    change_bytes(rng, bytes, corpus);
}

FlatBytes put_together(Rng &) {
    return {};
}

} // namespace ucdtest::fuzz
