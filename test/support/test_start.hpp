// How the main function of a test program starts the library: a program may have its own.
#pragma once

namespace ucdtest {

// False if that failed, after it has said so.
bool start_library();

} // namespace ucdtest
