// All that move one layout in one direction.
#pragma once

#include "baselines/mpi/mpi_peer.hpp"
#include "cases/layouts.hpp"
#include "harness/run.hpp"
#include "harness/workbench.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline const char *operation_name(bool pack) {
    return pack ? "pack" : "unpack";
}

// A layout with the memory that it is measured on, and what else its moves need.
class LayoutOnDevice {
public:
    // Without an MpiPeer, MPI does not take part.
    LayoutOnDevice(Layout layout, Device &device, MemoryKind typed = MemoryKind::own,
                   MemoryKind packed = MemoryKind::own, const MpiPeer *mpi = nullptr);

    const Layout layout;
    Workbench bench;
    const UcdType type;
    const std::unique_ptr<MpiType> mpi; // null: none
    // In the memory of who moves.
    Lists lists() const;

private:
    Buffer device_displs_; // of GPUs, whose moves by hand know the lengths
};

class Moves {
public:
    Moves(LayoutOnDevice &subject, bool pack) : subject_(subject), pack_(pack) {}

    bool pack() const { return pack_; }
    Workbench &bench() const { return subject_.bench; }

    // Checked first: throws if it does not move what it should.
    void add(std::string name, Work work);
    void add_unchecked(std::string name, Work work) {
        contenders_.push_back({std::move(name), std::move(work)});
    }

    void add_ucd(std::string name = "UCD", ucd_info_t info = UCD_INFO__NULL) {
        add(std::move(name), bench().ucd(subject_.type, pack_, info));
    }
    // "hand, " and the way, for each that there is in this direction, or for the first ones.
    void add_hand(std::size_t max_ways = SIZE_MAX);
    void add_mpi();
    // "copies", if the layout is boxes.
    void add_boxes();
    // As many bytes between contiguous memory.
    void add_plain_copy(std::string name) {
        add_unchecked(std::move(name), bench().plain_copy(pack_));
    }
    void add_roofline();

    const std::vector<Contender> &contenders() const { return contenders_; }
    // The subject's name is the layout's.
    Comparison measure(Run &run, const std::string &section) const {
        return run.measure(section, subject_.layout.name, operation_name(pack_), bench().size(),
                           contenders_);
    }

private:
    LayoutOnDevice &subject_;
    bool pack_;
    std::vector<Contender> contenders_;
    std::unique_ptr<Roofline> roofline_;
};

// Packing, then unpacking, each by those that `add` adds.
std::vector<Comparison> measure_both_ways(Run &run, const std::string &section,
                                          LayoutOnDevice &subject,
                                          const std::function<void(Moves &)> &add);

} // namespace bench
