#include "commands/output.hpp"

#include "failure.hpp"
#include "files/new_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace ucdtool {

Stream::Stream(const std::string &path) : path_(path) {
    if (path == "-") {
        file_ = stdout;
        path_ = "standard output";
        return;
    }
    file_ = std::fopen(path.c_str(), "wb");
    if (file_ == nullptr)
        throw Failure(Exit::failed,
                      fmt::format("{}: cannot create it: {}", path, std::strerror(errno)));
}

Stream::~Stream() {
    if (file_ != stdout) (void)std::fclose(file_);
}

void Stream::write(std::string_view bytes) {
    if (bytes.empty()) return; // data() may be null
    // Flushed at once, so that a failure is reported for this write.
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() ||
        std::fflush(file_) != 0)
        throw Failure(Exit::failed, fmt::format("{}: {}", path_, std::strerror(errno)));
}

bool is_stream(const std::string &path) {
    return path == "-" || is_written_directly(path);
}

void print(std::string_view text) {
    Stream("-").write(text);
}

void write_output(const std::string &path, std::string_view bytes) {
    if (is_stream(path)) return Stream(path).write(bytes);
    NewFile file(path);
    for (std::string_view rest = bytes; !rest.empty();) {
        const ssize_t n = ::write(file.descriptor(), rest.data(), rest.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            throw Failure(Exit::failed,
                          fmt::format("{}: cannot write it: {}", path, std::strerror(errno)));
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
    file.put_in_place(false);
}

bool wants_color(const std::string &choice) {
    if (choice != "auto") return choice == "always";
    const char *const no_color = std::getenv("NO_COLOR"), *const term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
           term != nullptr && std::strcmp(term, "dumb") != 0;
}

} // namespace ucdtool
