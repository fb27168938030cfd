// A matrix that goes to another process and back, or to this process itself, in several ways.
#pragma once

#include "cases/apps/matrix.hpp"
#include "cases/apps/sections.hpp"
#include "harness/ucd_peer.hpp"

#include <memory>

namespace bench::apps {

// Sent as one layout and received as another, of as many doubles.
class Trip {
public:
    Trip(Crew &crew, std::string name, const Matrix &sent, const Matrix &received);

    std::uint64_t bytes() const { return bytes_; }
    // Each way's time counts so many transfers, one after the other.
    unsigned transfers() const { return crew_.peers.seats(); }

    // Checked: what arrives is what the other process sent, and no other byte changes.
    Contender by_ucd();      // the pipeline takes both layouts
    Contender unpipelined(); // packs all, sends all, unpacks all
    Contender by_hand();     // the same with kernels for these layouts
    Contender contiguous();  // as many bytes, from and to contiguous memory; not checked

private:
    // One transfer, in parts. Sender and receiver start theirs, and wait for both.
    struct Steps {
        std::function<void()> pack, send, receive, unpack;
    };
    Contender contender(const char *name, Steps steps);
    Contender checked(Contender contender);
    void go(const Steps &steps);
    std::unique_ptr<Buffer> list(const Matrix &matrix) const;
    // Packed as a whole to a contiguous buffer, unpacked from another; what is contiguous is not.
    Contender whole(const char *name, std::function<void(double *)> pack,
                    std::function<void(double *)> unpack);

    Crew &crew_;
    std::string name_;
    const Matrix &sent_, &received_;
    UcdType sent_type_, received_type_;
    unsigned to_, from_;
    std::uint64_t bytes_;
    MatrixMoves by_hand_;
    Buffer source_, target_, expected_, packed_out_, packed_in_;
    std::unique_ptr<Buffer> sent_list_, received_list_;
};

} // namespace bench::apps
