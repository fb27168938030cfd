#include "commands/source.hpp"

#include "failure.hpp"
#include "files/mapped_file.hpp"
#include "language/build.hpp"
#include "language/parse.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iostream>
#include <iterator>
#include <string_view>

namespace ucdtool {
namespace {

ucd::Type type_from_text(std::string_view text, const std::string &where) {
    try {
        return build(parse(text));
    } catch (const SyntaxError &e) {
        throw Failure(Exit::usage, fmt::format("{}: byte {}: {}\n{}", where, e.at() + 1, e.what(),
                                               point_at(text, e.at())));
    }
}

} // namespace

ucd::Type type_from_argument(const std::string &argument) {
    if (argument == "-") {
        const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
        return type_from_text(text, "standard input");
    }
    if (argument.empty() || argument[0] != '@') return type_from_text(argument, "type");
    const std::string path = argument.substr(1);
    const MappedFile file(path, MappedFile::Access::read);
    constexpr std::string_view magic = "UCDT";
    if (file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_unflatten(&type, file.data(), file.size());
        if (rc == UCD_SUCCESS) return ucd::Type(type);
        throw Failure(rc == UCD_ERR__CORRUPT ? Exit::corrupt : Exit::failed,
                      fmt::format("{}: {}", path, ucd_last_error()));
    }
    return type_from_text({reinterpret_cast<const char *>(file.data()), file.size()}, path);
}

} // namespace ucdtool
