// What the main function of a test program does before the tests: a program may have its own
// functions in place of these.
#pragma once

namespace ucdtest {

// False if that failed, after it has said so.
bool start_library();

// Called once the library is started. False if the program could not notice what its tests are
// about, after it has said so.
bool tests_can_fail();

} // namespace ucdtest
