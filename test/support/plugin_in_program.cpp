// A backend whose sources are those of a plugin, in a program that it is linked with: nobody loads it and
// tells it where libucd words failures.
#include "status.h"

namespace mock {

void tell_backend_of_last_error(ucd::LastErrorOfThread of_thread);
void tell_backend_of_last_error(ucd::LastErrorOfThread of_thread) {
#if defined(UCD_IN_PLUGIN)
    ucd::last_error_in_libucd = of_thread;
#else
    (void)of_thread;
#endif
}

} // namespace mock
