// Standard output, pipes and devices, and files written whole.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ucdtool {

// What is written as it comes: "-" for standard output, or a file.
class Stream {
public:
    explicit Stream(const std::string &path); // throws Failure
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    void write(std::string_view bytes); // throws Failure if it is closed or full

private:
    std::string path_; // for messages
    std::FILE *file_;
};

// Whether an output is to be a Stream: the others are files that take their place when complete.
bool is_stream(const std::string &path);

// Writes to standard output; throws Failure if that is closed or full.
void print(std::string_view text);

// Writes a stream, or a file, which is there when all of it is written.
void write_output(const std::string &path, std::string_view bytes);

// Whether to colour standard output, by auto, always or never: auto means a terminal that wants it.
bool wants_color(const std::string &choice);

} // namespace ucdtool
