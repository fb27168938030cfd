// HPTT, the High-Performance Tensor Transpose library, if the user has it: it is loaded at run
// time.
#pragma once

#include "shapes/permutation.hpp"

#include <functional>
#include <memory>
#include <string>

namespace bench {

class Hptt {
public:
    // Throws std::runtime_error if the library cannot be loaded or lacks a function.
    explicit Hptt(const std::string &path);

    // Says whether HPTT moves elements of this size.
    static bool moves(const Permutation &p) { return p.element == 4 || p.element == 8; }
    // Plans, and returns what moves. `patient`: tries plans for up to a minute.
    std::function<void()> plan(const Permutation &p, const char *from, char *to,
                               bool patient) const;

private:
    std::shared_ptr<void> library_;
};

} // namespace bench
