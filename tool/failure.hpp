// Failures of the tool: an exit status and a message; for expressions also a position.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace ucdtool {

// The exit statuses. docs/guide/tool.md describes them for users.
enum class Exit : int {
    success = 0,
    failed = 1,  // of files, memory or the library
    usage = 2,   // invalid arguments, or arguments that do not fit each other or the files
    corrupt = 3, // bytes that are not a flattened type
};

class Failure : public std::runtime_error {
public:
    Failure(Exit status, const std::string &message)
        : std::runtime_error(message), status_(status) {}
    Exit status() const { return status_; }

private:
    Exit status_;
};

// An error at a byte of an expression's text.
class SyntaxError : public std::runtime_error {
public:
    SyntaxError(std::size_t at, const std::string &message)
        : std::runtime_error(message), at_(at) {}
    std::size_t at() const { return at_; }

private:
    std::size_t at_;
};

} // namespace ucdtool
