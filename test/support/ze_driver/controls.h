// What a test that has loaded the driver may do with it; found by dlsym.
#pragma once

extern "C" {
// Has calls fail: "zeMemFree:2", the second one from now on, "zeMemFree" each one, "" none; several
// with commas between them.
__attribute__((visibility("default"))) void ucd_ze_driver_fail(const char *call);
// How many calls have failed since then.
__attribute__((visibility("default"))) unsigned ucd_ze_driver_failed();
// How many copies were put into lists of queues that only copy.
__attribute__((visibility("default"))) unsigned ucd_ze_driver_engine_copies();
// How much memory, and how many command lists, event pools, modules and kernels there are.
__attribute__((visibility("default"))) int ucd_ze_driver_objects();
}
