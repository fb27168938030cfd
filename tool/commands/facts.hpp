// The output of ucd_describe, parsed into lines.
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
    // All values of a key, in order.
    std::vector<std::string> all(std::string_view key) const;
    std::string one(std::string_view key) const; // the first value; "" if there is none
    int64_t number(std::string_view key) const;

private:
    std::vector<std::pair<std::string, std::string>> lines_;
};

} // namespace ucdtool
