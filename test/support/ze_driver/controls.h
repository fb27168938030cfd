// What a test that has loaded the driver may do with it; found by dlsym.
#pragma once

extern "C" {
// Has a call fail: "zeMemFree:2", the second one from now on, "zeMemFree" each one, "" none.
__attribute__((visibility("default"))) void ucd_ze_driver_fail(const char *call);
// How many calls have failed since then.
__attribute__((visibility("default"))) unsigned ucd_ze_driver_failed();
// How much memory, and how many command lists, event pools, modules and kernels there are.
__attribute__((visibility("default"))) int ucd_ze_driver_objects();
// How many modules were made of native code.
__attribute__((visibility("default"))) unsigned ucd_ze_driver_natives();
}
