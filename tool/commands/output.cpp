#include "commands/output.hpp"

#include "failure.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace ucdtool {

void print(std::string_view text) {
    // Flushed at once, so that a failure is this one's.
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw Failure(Exit::failed, fmt::format("standard output: {}", std::strerror(errno)));
}

void write_output(const std::string &path, std::string_view bytes) {
    if (path == "-") return print(bytes);
    std::FILE *file = std::fopen(path.c_str(), "wb");
    if (file == nullptr)
        throw Failure(Exit::failed,
                      fmt::format("{}: cannot create it: {}", path, std::strerror(errno)));
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const int error = errno;
    if (std::fclose(file) != 0 || !written)
        throw Failure(Exit::failed, fmt::format("{}: cannot write it: {}", path,
                                                std::strerror(written ? errno : error)));
}

bool wants_color(const std::string &choice) {
    if (choice != "auto") return choice == "always";
    const char *const no_color = std::getenv("NO_COLOR"), *const term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
           term != nullptr && std::strcmp(term, "dumb") != 0;
}

} // namespace ucdtool
