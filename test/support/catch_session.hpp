// Catch2's session. It is compiled on its own: with Catch2 2 that is the whole of Catch2, which
// programs need, too, whose main function is an engine's, since shared test code has assertions.
#pragma once

namespace ucdtest {

// Not 0: what the program has to return.
int read_command_line(int argc, char **argv);

int run_session();

} // namespace ucdtest
