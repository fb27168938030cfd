// The predefined types by name: the words of the type language in capitals, but those that Python
// cannot spell.
#pragma once

#include "language/constructors.hpp"

#include <cctype>
#include <string>
#include <vector>

namespace ucdpy {

struct Predefined {
    std::string name;
    ucd_type_t type;
};

// In the order of the handle values.
inline const std::vector<Predefined> &predefined_types() {
    static const std::vector<Predefined> all = [] {
        std::vector<Predefined> made;
        for (const auto &[word, type] : ucdtool::predefined_names()) {
            std::string name(word);
            for (char &c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            if (name[0] == '_') name = "C" + name;             // C_BOOL
            if (name[0] == '2') name = "TWO" + name.substr(1); // TWOINT
            made.push_back({std::move(name), type});
        }
        return made;
    }();
    return all;
}

// The name of a predefined type, nullptr for a derived one.
inline const char *predefined_name(ucd_type_t type) {
    const auto &all = predefined_types();
    const std::size_t index = reinterpret_cast<uintptr_t>(type) - 1;
    return index < all.size() ? all[index].name.c_str() : nullptr;
}

} // namespace ucdpy
