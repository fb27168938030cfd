// What Catch2's assertions in shared test code need, in a program whose main function is an
// engine's.
#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"
