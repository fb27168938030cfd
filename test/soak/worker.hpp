// What one thread of the soak does: mixed calls on random types, each result compared with the type
// map's or with that of a loop.
#pragma once

#include "support/moves/batch_moves.hpp"
#include "support/moves/device_moves.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace soak {

class Worker {
public:
    // `on_devices`: buffers in the memories of devices, too.
    Worker(std::uint64_t seed, bool on_devices);
    ~Worker();

    // Some calls. Throws if a result is not what it must be. Returns how many calls of the library
    // that moved or made something were checked.
    std::uint64_t step();

    // What it does, and what is outstanding: to be asked of a worker that hangs.
    std::string doing() const;

private:
    using Subject = ucdtest::ReducedSubject;

    // A move with a request that is outstanding.
    struct Outstanding;
    // A plan with its buffers and types, started again and again.
    struct Planned;

    Subject &any();
    ucdtest::Memory memory();
    void replace_a_type();
    void move_in_pieces();
    void reduce();
    void copy();
    void list();
    void flatten();
    void batch();
    void start();
    void end_one();
    void convert();
    void make_a_plan();
    void start_a_plan();
    void move_much();

    ucdtest::Case case_;
    ucdtest::Rng &rng_;
    bool on_devices_;
    std::uint64_t steps_ = 0;
    std::string doing_;
    std::vector<std::shared_ptr<Subject>> types_; // used again and again, and freed in any order
    std::vector<std::unique_ptr<Outstanding>> outstanding_;
    std::vector<std::unique_ptr<Planned>> plans_;
};

} // namespace soak
