// The files of vectors: blocks of "key: value" between blank lines. A line that begins with a space
// continues the value above it; one that begins with # is a comment.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

using Vector = std::map<std::string, std::string>;
using Flattened = std::vector<std::byte>;
using NamedBytes = std::vector<std::pair<std::string, Flattened>>;

// Throws std::runtime_error for what is no such file.
std::vector<Vector> read_vectors(const std::string &path);
Flattened bytes_of(const Vector &vector);

// Puts these bytes into the file, by the names of their vectors. Names that it does not have are
// added. All else stays as it is.
void write_bytes(const std::string &path, const NamedBytes &named);
