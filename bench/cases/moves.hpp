// All that move one layout in one direction.
#pragma once

#include "baselines/mpi/mpi_peer.hpp"
#include "cases/layouts.hpp"
#include "harness/run.hpp"
#include "harness/workbench.hpp"

#include <string>
#include <vector>

namespace bench {

inline const char *operation_name(bool pack) {
    return pack ? "pack" : "unpack";
}

class Moves {
public:
    Moves(Workbench &bench, bool pack) : bench_(bench), pack_(pack) {}

    // Checked first: throws if it does not move what it should.
    void add(std::string name, Work work);
    void add_unchecked(std::string name, Work work) {
        contenders_.push_back({std::move(name), std::move(work)});
    }

    void add_ucd(const UcdType &type, std::string name = "UCD", ucd_info_t info = UCD_INFO__NULL) {
        add(std::move(name), bench_.ucd(type, pack_, info));
    }
    // "hand, " and the way, for each that there is in this direction. The lists are in the memory
    // of who moves.
    void add_hand(std::span<const HandMove> ways, const Lists &lists = {});
    // Null: none.
    void add_mpi(const MpiType *type);
    // "copies", if the layout is boxes.
    void add_boxes(const Layout &layout);
    // As many bytes between contiguous memory.
    void add_plain_copy(std::string name) {
        add_unchecked(std::move(name), bench_.plain_copy(pack_));
    }

    const std::vector<Contender> &contenders() const { return contenders_; }
    Comparison measure(Run &run, const std::string &section, const std::string &subject) const {
        return run.measure(section, subject, operation_name(pack_), bench_.size(), contenders_);
    }

private:
    Workbench &bench_;
    bool pack_;
    std::vector<Contender> contenders_;
};

} // namespace bench
