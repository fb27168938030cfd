// Where inputs come from if no engine makes them; and what an engine is given besides its own
// changes of bytes.
#pragma once

#include "support/moves/flat_bytes.hpp"
#include "support/random/rng.hpp"

#include <vector>

namespace ucdtest::fuzz {

using Corpus = std::vector<FlatBytes>;

// A number at which something may end.
std::int64_t interesting(Rng &rng);

// Changes an input in one place; `corpus` is not empty.
void change_bytes(Rng &rng, FlatBytes &bytes, const Corpus &corpus);

// How many inputs of the target are a test, and where its corpus is.
extern const unsigned long long default_count;
extern const char *const default_corpus;

// Each target is linked with flat_inputs.cpp or plain_inputs.cpp, which have these.

// Inputs besides those of the files.
Corpus first_inputs();
void change(Rng &rng, FlatBytes &bytes, const Corpus &corpus);
// An input of its own; empty: there are none such.
FlatBytes put_together(Rng &rng);

} // namespace ucdtest::fuzz
