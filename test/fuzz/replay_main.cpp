// Runs a fuzz target without an engine: on the files that are named, or on those of a corpus and
// then on `count` inputs of a seeded generator, half of them files with bytes changed, half of them
// put together, where the target can do that.
//
//   NAME_fuzz [count [seed [corpus]]]      NAME_fuzz file...
#include "inputs.hpp"
#include "target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace ucdtest;
using namespace ucdtest::fuzz;

namespace {

constexpr unsigned long long default_seed = 20250101;

// Keeps the input at hand that a failure is about.
int run(const FlatBytes &bytes) try {
    return LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\ninput:", e.what());
    for (const std::uint8_t byte : bytes) std::fprintf(stderr, " %02x", byte);
    std::fprintf(stderr, "\n");
    std::exit(1);
}

FlatBytes content(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    FlatBytes bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file && bytes.empty()) {
        std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
        std::exit(2);
    }
    return bytes;
}

// In the order of their names, so that a seed means the same everywhere.
Corpus files_of(const char *folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    Corpus corpus;
    for (const auto &path : paths) corpus.push_back(content(path));
    return corpus;
}

FlatBytes changed(Rng &rng, const Corpus &corpus) {
    FlatBytes bytes = rng.pick(corpus);
    for (std::size_t i = rng.below(4) + 1; i > 0; --i) change(rng, bytes, corpus);
    return bytes;
}

} // namespace

int main(int argc, char **argv) {
    char *end = nullptr;
    const unsigned long long count = argc > 1 ? std::strtoull(argv[1], &end, 10) : default_count;
    if (argc > 1 && *end != '\0') {
        for (int i = 1; i < argc; ++i)
            if (const int rc = run(content(argv[i])); rc != 0) return rc;
        return 0;
    }
    const unsigned long long seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : default_seed;
    start_library();
    Corpus corpus = first_inputs();
    for (FlatBytes &file : files_of(argc > 3 ? argv[3] : default_corpus))
        corpus.push_back(std::move(file));
    if (corpus.empty()) corpus.push_back({});
    for (const FlatBytes &bytes : corpus) run(bytes);
    accepted = 0;
    for (unsigned long long i = 0; i < count; ++i) {
        Rng rng(mix_seed(seed, i));
        FlatBytes bytes = i % 2 == 0 ? FlatBytes() : put_together(rng);
        if (bytes.empty()) bytes = changed(rng, corpus);
        run(bytes);
    }
    std::printf("seed %llu: %zu files, %llu inputs, %zu of them accepted\n", seed, corpus.size(),
                count, accepted);
    // A generator whose inputs are all refused at the door tests nothing.
    return accepted >= count / 20 ? 0 : 1;
}
