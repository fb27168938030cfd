// The extension module: moves of elements between any strides and pages, converted with scales.
#include "moves.h"

#include <dlfcn.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <stdexcept>
#include <string>

namespace nb = nanobind;

namespace ucd_models {

namespace {

// device.cu: enqueues the members, which are those of `on_device`, or copied from the host if that
// is NULL.
using Launch = const char *(*)(const Member *members, const Member *on_device, uint32_t count,
                               uint32_t vector, Kind kind, int device, void *stream);

// Of a library that stays loaded for ever. With the GIL held.
Launch launch_of(const std::string &library) {
    static std::map<std::string, Launch> known;
    Launch &found = known[library];
    if (!found) {
        void *const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!loaded) throw std::runtime_error(dlerror());
        found = reinterpret_cast<Launch>(dlsym(loaded, "ucd_models_launch"));
        if (!found) throw std::runtime_error(dlerror());
    }
    return found;
}

void launch(const Moves &moves, const std::string &library, int device, uintptr_t stream,
            uintptr_t on_device) {
    const char *const failure =
        launch_of(library)(moves.members.data(), reinterpret_cast<const Member *>(on_device),
                           static_cast<uint32_t>(moves.members.size()), moves.vector, moves.kind,
                           device, reinterpret_cast<void *>(stream));
    if (failure) throw std::runtime_error(failure);
}

} // namespace

NB_MODULE(_kernels, module) {
    module.def("instruction_sets", &instruction_sets);
    nb::class_<Moves>(module, "Moves")
        .def("__init__",
             [](Moves *self, uint32_t from, uint32_t to, bool saturate,
                const std::vector<MemberText> &members) {
                 new (self) Moves(moves_of({Number(from), Number(to), saturate}, members));
             })
        .def("run", &run_on_host, nb::arg("set") = "", nb::call_guard<nb::gil_scoped_release>())
        .def("launch", &launch, nb::arg("library"), nb::arg("device"), nb::arg("stream"),
             nb::arg("members"))
        .def_ro("vector", &Moves::vector)
        .def_prop_ro("few", [](const Moves &self) { return self.members.size() <= max_few; })
        .def("image", [](const Moves &self) {
            return nb::bytes(reinterpret_cast<const char *>(self.members.data()),
                             self.members.size() * sizeof(Member));
        });
}

} // namespace ucd_models
