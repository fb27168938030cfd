// What a test that has loaded the driver may do with it; found by dlsym.
#pragma once

extern "C" {
// Has calls fail: "zeMemFree:2", the second one from now on, "zeMemFree" each one, "" none; several
// with commas between them.
__attribute__((visibility("default"))) void ucd_ze_driver_fail(const char *call);
// How many calls have failed since then.
__attribute__((visibility("default"))) unsigned ucd_ze_driver_failed();
// Whether memory of devices has several parts, each with a descriptor.
__attribute__((visibility("default"))) void ucd_ze_driver_spread(bool spread);
// From now on, every command starts so much later.
__attribute__((visibility("default"))) void ucd_ze_driver_delay(unsigned microseconds);
// From now on, every kernel takes so much longer.
__attribute__((visibility("default"))) void ucd_ze_driver_slow_kernels(unsigned microseconds);
// No more memory of devices than this many bytes from now on; 0: no limit.
__attribute__((visibility("default"))) void ucd_ze_driver_limit(unsigned long bytes);
// How many copies were put into lists of queues that only copy.
__attribute__((visibility("default"))) unsigned ucd_ze_driver_engine_copies();
// How much memory, and how many command lists, event pools, modules and kernels there are.
__attribute__((visibility("default"))) int ucd_ze_driver_objects();
// How many modules were made of native code.
__attribute__((visibility("default"))) unsigned ucd_ze_driver_natives();
}
