#include "loader.h"

#include <dlfcn.h>

namespace ucd::ze {
namespace {

struct Loader {
    Calls calls;
    std::string missing;

    Loader() {
        void *library = ::dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL); // never closed
        if (library == nullptr) {
            missing = "libze_loader.so.1 could not be loaded (" + text_of_failure() +
                      "); is the Level Zero loader installed?";
            return;
        }
#define UCD_ZE_FIND(name) find(library, #name, calls.name)
        UCD_ZE_CALLS(UCD_ZE_FIND);
#undef UCD_ZE_FIND
    }

    template <class Function>
    void find(void *library, const char *name, Function &function) {
        function = reinterpret_cast<Function>(::dlsym(library, name));
        if (function == nullptr && missing.empty())
            missing = "libze_loader.so.1 is too old: it has no " + std::string(name);
    }

    static std::string text_of_failure() {
        const char *text = ::dlerror();
        return text != nullptr ? text : "unknown";
    }
};

const Loader &loader() {
    static const Loader *found = new Loader; // never destroyed
    return *found;
}

} // namespace

const std::string &missing_loader() {
    return loader().missing;
}

const Calls &calls() {
    return loader().calls;
}

} // namespace ucd::ze
