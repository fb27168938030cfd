// What ucd_describe says, line by line.
#pragma once

#include <ucd.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ucdtool {

class Facts {
public:
    explicit Facts(ucd::TypeRef type);
    // The values of a key, in order.
    std::vector<std::string> all(std::string_view key) const;
    std::string one(std::string_view key) const; // the first; "" if there is none
    int64_t number(std::string_view key) const;

private:
    std::vector<std::pair<std::string, std::string>> lines_;
};

} // namespace ucdtool
