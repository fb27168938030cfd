// What differs from target to target; the build says it.
#include "inputs.hpp"

const unsigned long long ucdtest::fuzz::default_count = UCD_FUZZ_INPUTS;
const char *const ucdtest::fuzz::default_corpus = UCD_FUZZ_CORPUS;
