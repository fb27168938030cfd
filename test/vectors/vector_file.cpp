#include "vector_file.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {

std::vector<std::string> lines_of(const std::string &path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + " cannot be read");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

bool continues(const std::string &line) {
    return !line.empty() && line[0] == ' ';
}

Flattened parse_hex(const std::string &text) {
    std::istringstream words(text);
    Flattened bytes;
    for (std::string word; words >> word;)
        bytes.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
    return bytes;
}

std::string hex(const Flattened &bytes) {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto value = static_cast<unsigned>(bytes[i]);
        text += i == 0 ? "" : i % 32 == 0 ? "\n  " : " ";
        text += digits[value >> 4];
        text += digits[value & 15];
    }
    return text;
}

} // namespace

std::vector<Vector> read_vectors(const std::string &path) {
    std::vector<Vector> vectors(1);
    std::string *value = nullptr;
    for (const std::string &line : lines_of(path)) {
        if (line.empty()) {
            if (!vectors.back().empty()) vectors.emplace_back();
        } else if (continues(line)) {
            if (value != nullptr) *value += line;
        } else if (line[0] != '#') {
            const std::size_t colon = line.find(": ");
            if (colon == std::string::npos) throw std::runtime_error(path + ": " + line);
            value = &vectors.back()[line.substr(0, colon)];
            *value = line.substr(colon + 2);
        }
    }
    if (vectors.back().empty()) vectors.pop_back();
    return vectors;
}

Flattened bytes_of(const Vector &vector) {
    return parse_hex(vector.at("bytes"));
}

void write_bytes(const std::string &path, const NamedBytes &named) {
    const std::vector<std::string> lines = lines_of(path);
    std::map<std::string, Flattened> by_name(named.begin(), named.end());
    std::string name;
    std::ofstream file(path);
    for (std::size_t i = 0; i < lines.size();) {
        std::string text = lines[i], value = lines[i];
        for (++i; i < lines.size() && continues(lines[i]); ++i)
            text += '\n' + lines[i], value += lines[i];
        if (value.rfind("name: ", 0) == 0) name = value.substr(6);
        const auto found = by_name.find(name);
        if (value.rfind("bytes: ", 0) == 0 && found != by_name.end()) {
            // The same bytes keep their lines.
            if (parse_hex(value.substr(7)) != found->second) text = "bytes: " + hex(found->second);
            by_name.erase(found);
        }
        file << text << '\n';
    }
    for (const auto &[new_name, bytes] : named)
        if (by_name.find(new_name) != by_name.end())
            file << "\nname: " << new_name << "\nbytes: " << hex(bytes) << '\n';
    if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}
