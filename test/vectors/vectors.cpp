// libucd reads, writes and refuses the vectors of flattened types as their files say.
//
// usage: vectors FILE...            fails with a line for each vector that differs
//        vectors --write FILE       puts the bytes of the types that constructors.cpp makes into
//        the file
#include "constructors.hpp"
#include "meaning.hpp"

#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

namespace {

int failures = 0;

void fail(const std::string &name, const std::string &text) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), text.c_str());
    ++failures;
}

int status_of(const Flattened &bytes) {
    return ucd::unflatten<ucd::as_value>(bytes).code();
}

// No change of a byte, and no other length, makes it a type.
void check_damage(const std::string &name, const Flattened &bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        Flattened damaged = bytes;
        damaged[i] ^= std::byte{0x10};
        if (status_of(damaged) != UCD_ERR__CORRUPT) fail(name, "accepted with a changed byte");
        damaged.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(i));
        if (status_of(damaged) != UCD_ERR__CORRUPT) fail(name, "accepted when cut");
    }
    Flattened longer = bytes;
    longer.push_back(std::byte{0});
    if (status_of(longer) != UCD_ERR__CORRUPT) fail(name, "accepted with a byte more");
}

void check_refused(const std::string &name, const Vector &vector) {
    const std::string &status = vector.at("refused");
    const auto refused = ucd::unflatten<ucd::as_value>(bytes_of(vector));
    if (ucd_strerror(refused.code()) != "UCD_ERR__" + status)
        fail(name, std::string(ucd_strerror(refused.code())) + ' ' + refused.message());
}

void check_meaning(const std::string &name, const Vector &vector, ucd::TypeRef type) {
    Vector stated = tellable(vector);
    for (const char *key : {"name", "bytes", "rewritten"}) stated.erase(key);
    Vector meaning = meaning_of(type);
    for (const auto &[key, value] : stated) meaning.emplace(key, "not there");
    for (const auto &[key, value] : meaning)
        if (stated[key] != value) fail(name, key + " is " + value + ", not " + stated[key]);
}

// `rewritten: yes` says that ucd_flatten writes other bytes. They mean the same, and it writes them
// again.
void check_accepted(const std::string &name, const Vector &vector) {
    const Flattened bytes = bytes_of(vector);
    if (ucd::flattened_size(bytes) != bytes.size()) fail(name, "another size");
    const ucd::Type type = ucd::unflatten(bytes);
    check_meaning(name, vector, type);
    const Flattened again = ucd::flatten(type);
    const bool rewritten = vector.find("rewritten") != vector.end();
    if ((again != bytes) != rewritten) fail(name, rewritten ? "not rewritten" : "rewritten");
    if (rewritten) {
        const ucd::Type same = ucd::unflatten(again);
        check_meaning(name + ", rewritten", vector, same);
        if (ucd::flatten(same) != again) fail(name, "rewritten twice");
    }
    check_damage(name, bytes);
}

NamedBytes constructed_bytes() {
    NamedBytes named;
    for (const auto &[name, type] : constructed_types())
        named.emplace_back(name, ucd::flatten(type));
    return named;
}

void check_files(char **paths, int count) {
    const NamedBytes named = constructed_bytes();
    std::map<std::string, Flattened> constructed(named.begin(), named.end());
    std::size_t vectors = 0;
    for (int i = 0; i < count; ++i)
        for (const Vector &vector : read_vectors(paths[i])) {
            const std::string name = vector.at("name");
            try {
                if (vector.find("refused") != vector.end())
                    check_refused(name, vector);
                else
                    check_accepted(name, vector);
            } catch (const std::exception &error) {
                fail(name, error.what());
            }
            const auto built = constructed.find(name);
            if (built != constructed.end()) {
                if (built->second != bytes_of(vector)) fail(name, "the constructor's bytes differ");
                constructed.erase(built);
            }
            ++vectors;
        }
    for (const auto &[name, bytes] : constructed) fail(name, "no file has this vector");
    std::printf("%zu vectors, %d failures\n", vectors, failures);
}

void read_lines() {
    for (std::string line; std::getline(std::cin, line);) {
        const auto type = ucd::unflatten<ucd::as_value>(bytes_of({{"bytes", line}}));
        if (!type) {
            std::cout << ucd_strerror(type.code()) << '\n';
            continue;
        }
        for (const auto &[key, value] : meaning_of(*type))
            std::cout << key << ": " << value << "; ";
        std::cout << '\n';
    }
}

} // namespace

int main(int argc, char **argv) {
    try {
        const ucd::Session session;
        if (argc == 3 && std::strcmp(argv[1], "--write") == 0)
            write_bytes(argv[2], constructed_bytes());
        else if (argc == 2 && std::strcmp(argv[1], "--read") == 0)
            read_lines();
        else if (argc > 1)
            check_files(argv + 1, argc - 1);
        else
            throw std::runtime_error(
                "usage: vectors FILE... | vectors --write FILE | vectors --read");
    } catch (const std::exception &error) {
        fail("vectors", error.what());
    }
    return failures == 0 ? 0 : 1;
}
