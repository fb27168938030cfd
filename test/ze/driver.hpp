// What a test does with the test driver that the loader has loaded.
#pragma once

#include "support/ze_driver/controls.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace zetest {

struct Driver {
    decltype(&ucd_ze_driver_fail) fail;
    decltype(&ucd_ze_driver_failed) failed;
    decltype(&ucd_ze_driver_objects) objects;
    decltype(&ucd_ze_driver_spread) spread;
    decltype(&ucd_ze_driver_engine_copies) engine_copies;
    decltype(&ucd_ze_driver_delay) delay;
    decltype(&ucd_ze_driver_slow_kernels) slow_kernels;
    decltype(&ucd_ze_driver_limit) limit;

    Driver() {
        // The first one, if there are several.
        const std::string drivers = std::getenv("ZE_ENABLE_ALT_DRIVERS");
        void *library =
            ::dlopen(drivers.substr(0, drivers.find(',')).c_str(), RTLD_NOW | RTLD_NOLOAD);
        if (library == nullptr) throw std::runtime_error("the test driver is not loaded");
        find(library, "ucd_ze_driver_fail", fail);
        find(library, "ucd_ze_driver_failed", failed);
        find(library, "ucd_ze_driver_objects", objects);
        find(library, "ucd_ze_driver_spread", spread);
        find(library, "ucd_ze_driver_engine_copies", engine_copies);
        find(library, "ucd_ze_driver_delay", delay);
        find(library, "ucd_ze_driver_slow_kernels", slow_kernels);
        find(library, "ucd_ze_driver_limit", limit);
    }

private:
    template <class Function>
    static void find(void *library, const char *name, Function &function) {
        function = reinterpret_cast<Function>(::dlsym(library, name));
        if (function == nullptr) throw std::runtime_error(name);
    }
};

} // namespace zetest
