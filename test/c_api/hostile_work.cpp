// Counts elements of a type that someone chose to be slow, or of a harmless one of its size, makes
// its layout, and flattens it: hostile_work NAME. hostile_work_test.py counts the instructions.
#include "c_api/hostile_types.hpp"

#include <ucd.h>

#include <cstdio>
#include <map>
#include <string>

int main(int argc, char **argv) {
    using namespace ucdtest;
    const std::map<std::string, FlatBytes (*)()> types = {
        {"other_hashes", [] { return nested_pairs(3000, false); }},
        {"equal_hashes", [] { return nested_pairs(3000, true); }},
        {"half_of_the_lists", [] { return equal_but_for_the_end(1000, 16); }},
        {"short_lists", [] { return equal_but_for_the_end(2000, 16); }},
        {"long_lists", [] { return equal_but_for_the_end(200, 160); }},
        {"deep", [] { return deep_type(20000); }},
        {"groups", [] { return two_shapes(30000, false); }},
        {"groups_that_exhaust", [] { return two_shapes(30000, true); }},
    };
    const auto found = types.find(argc == 2 ? argv[1] : "");
    if (found == types.end()) return 2;
    const FlatBytes bytes = found->second();
    ucd_type_t type = UCD_TYPE__NULL;
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    std::uintptr_t flat = 0, size = 0, elements = 0;
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS ||
        ucd_unflatten(&type, bytes.data(), bytes.size()) != UCD_SUCCESS ||
        ucd_get_size(type, &size) != UCD_SUCCESS ||
        ucd_get_elements(1, type, size - 1, &elements) != UCD_SUCCESS ||
        // The end of the member that is the deepest of all, if the type is that deep.
        ucd_get_elements(1, type, size < 20000 ? size : 20000, &elements) != UCD_SUCCESS ||
        ucd_get_layout(1, type, &layout) != UCD_SUCCESS ||
        ucd_flatten_size(type, &flat) != UCD_SUCCESS || ucd_free(&type) != UCD_SUCCESS ||
        ucd_finalize() != UCD_SUCCESS) {
        std::fprintf(stderr, "%s\n", ucd_last_error());
        return 1;
    }
    return 0;
}
