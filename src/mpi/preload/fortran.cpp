#include "preload/fortran.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>

namespace ucd_mpi {
namespace {

// The address range of a library's code, and whether the library is a Fortran binding.
struct Caller {
    std::uintptr_t begin = 0, end = 0;
    bool fortran = false;
};
constexpr std::size_t remembered = 8;
[[gnu::tls_model("initial-exec")]] thread_local std::array<Caller, remembered> last_callers;
[[gnu::tls_model("initial-exec")]] thread_local std::size_t oldest = 0;

// Functions that only Fortran bindings export, in the name mangling of different compilers.
constexpr const char *binding_functions[] = {"pmpi_send_", "pmpi_send__", "pmpi_send", "PMPI_SEND",
                                             "pmpi_send_f08_"};

bool is_binding(void *library, const void *base) {
    return std::ranges::any_of(binding_functions, [&](const char *name) {
        Dl_info info;
        void *const function = dlsym(library, name); // may be in a dependency of this library
        return function != nullptr && dladdr(function, &info) != 0 && info.dli_fbase == base;
    });
}

// Callback of dl_iterate_phdr. On entry, caller.begin is an address; sets `caller` to the range of
// the segment that contains it.
int find_segment(dl_phdr_info *library, std::size_t, void *found) {
    auto &caller = *static_cast<Caller *>(found);
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        const ElfW(Phdr) &header = library->dlpi_phdr[i];
        const std::uintptr_t begin = library->dlpi_addr + header.p_vaddr;
        if (header.p_type != PT_LOAD || caller.begin - begin >= header.p_memsz) continue;
        caller.begin = begin;
        caller.end = begin + header.p_memsz;
        return 1;
    }
    return 0;
}

bool look_up(const void *return_address) {
    Caller caller;
    caller.begin = reinterpret_cast<std::uintptr_t>(return_address);
    Dl_info info;
    if (dladdr(return_address, &info) == 0 || dl_iterate_phdr(find_segment, &caller) == 0)
        return false;
    // Never closed: the library then stays loaded, and the remembered addresses stay valid.
    if (void *const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD))
        caller.fortran = is_binding(library, info.dli_fbase);
    last_callers[oldest++ % remembered] = caller;
    return caller.fortran;
}

} // namespace

bool called_by_fortran(const void *return_address) {
    const auto address = reinterpret_cast<std::uintptr_t>(return_address);
    for (const Caller &caller : last_callers)
        if (address - caller.begin < caller.end - caller.begin) return caller.fortran;
    return look_up(return_address);
}

} // namespace ucd_mpi
