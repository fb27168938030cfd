// Writes to standard output, pipes and devices, and writes whole files.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ucdtool {

// An output that is written piece by piece: standard output for "-", or a file.
class Stream {
public:
    explicit Stream(const std::string &path); // throws Failure
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    void write(std::string_view bytes); // throws Failure if it is closed or full

private:
    std::string path_; // for error messages
    std::FILE *file_;
};

// Whether an output has to be a Stream. Other outputs are files that appear only when complete.
bool is_stream(const std::string &path);

// Writes to standard output; throws Failure if that is closed or full.
void print(std::string_view text);

// Writes a stream, or a file that appears only when it is complete.
void write_output(const std::string &path, std::string_view bytes);

// Whether to colour standard output. `choice` is auto, always or never; auto colours a terminal
// that supports and wants it.
bool wants_color(const std::string &choice);

} // namespace ucdtool
