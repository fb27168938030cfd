// A transfer at its sender.
#pragma once

#include "active.h"
#include "framed.h"
#include "pipeline.h"
#include "post.h"

#include <list>
#include <memory>

namespace ucd_ucx {

enum class Matching : uint8_t { tag, am };

class Sending final : public ucd_ucx_request {
public:
    // Chunks are of whole granules, of so many bytes each.
    Status set(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, const Data &data,
               const ucd_ucx_param_t *param, Matching matching, uint64_t granule = 1);

    // Tells the receiver; then the chunks follow, if it is more than one message.
    void start_tagged(ucd_ucx_pipeline &pipeline, ucp_tag_t tag);
    void start_am(ucd_ucx_pipeline &pipeline, unsigned id, const void *header, std::size_t bytes);

    // Gives one more chunk its turn, if there is room for it.
    bool advance(ucd_ucx_pipeline &pipeline);
    void cancel(ucd_ucx_pipeline &pipeline) override;
    // Ends it, if nothing has gone for too long.
    void check_time(ucd_ucx_pipeline &pipeline);
    void lose(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucs_status_t status, uint64_t before);
    // Why it failed to start, once it is complete.
    Status start_status() const;

private:
    // A message without a chunk.
    class Note final : public Post {
    public:
        explicit Note(Sending &owner) : owner_(owner) {}
        void happen(ucd_ucx_pipeline &pipeline) override { owner_.sent(pipeline, status_); }

    private:
        Sending &owner_;
    };

    // One place in the window: packed, and given to UCX.
    class Slot final : public DeviceWork, public Post {
    public:
        explicit Slot(Sending &owner) : owner_(owner) {}
        void happen(ucd_ucx_pipeline &pipeline) override;
        void moved(ucd_ucx_pipeline &pipeline, Status status) override;
        void start(ucd_ucx_pipeline &pipeline, Block block, uint64_t offset, uint64_t bytes);
        void start_in_ring(ucd_ucx_pipeline &pipeline, Block block, uint64_t offset,
                           uint64_t bytes);
        void post_in_ring(ucd_ucx_pipeline &pipeline);
        void drop(); // what it has packed
        bool busy() const { return busy_; }
        bool is_packed() const { return packed_; } // in the ring, and not given to UCX
        bool holds_memory() const { return static_cast<bool>(block_); }

    private:
        void post(ucd_ucx_pipeline &pipeline, const void *bytes);

        Sending &owner_;
        Header header_;
        RingHeader ring_header_; // instead, of a ring_chunk
        Receipt receipt_ = 0;
        bool packed_ = false;
        uint64_t bytes_ = 0;
        Block block_;
        bool busy_ = false;
    };

    // How chunks go.
    enum class Way : uint8_t { host, asking, ring };

    // What the receiver completes to say which.
    class Ticket final : public Post {
    public:
        Ticket(Sending &owner, Way way) : owner_(owner), way_(way) {}
        void send(ucd_ucx_pipeline &pipeline, Kind kind, const RingPlace *place);
        void happen(ucd_ucx_pipeline &pipeline) override {
            owner_.answered(pipeline, way_, status_);
        }

    private:
        Sending &owner_;
        const Way way_;
        RingHeader header_;
        Receipt receipt_ = 0;
    };

    // sending_ring.cpp
    uint64_t ring_block_bytes() const;
    void prepare_ring(ucd_ucx_pipeline &pipeline);
    void ask(ucd_ucx_pipeline &pipeline);
    void answered(ucd_ucx_pipeline &pipeline, Way way, ucs_status_t status);
    bool advance_in_ring(ucd_ucx_pipeline &pipeline);
    void drop_packed();

    bool is_whole() const { return operand_.bytes() <= eager_; }
    Status set_whole(ucd_ucx_pipeline &pipeline);
    Parcel whole_parcel(ucd_ucx_pipeline &pipeline);
    void begin(ucd_ucx_pipeline &pipeline, Kind kind);
    void sent(ucd_ucx_pipeline &pipeline, ucs_status_t status);
    void stop(ucd_ucx_pipeline &pipeline, ucs_status_t status, int ucd = UCD_SUCCESS);
    void withdraw(ucd_ucx_pipeline &pipeline);
    void conclude(ucd_ucx_pipeline &pipeline);
    bool holds_memory() const;
    uint64_t chunk_bytes(uint64_t offset) const;

    ucp_ep_h ep_ = nullptr;
    bool slow_ = false; // a network that is not worth a copy gains
    uint64_t eager_ = 0;
    uint64_t since_ = 0;
    Operand operand_;
    Frame frame_;
    Block packed_;          // a whole message that is packed already, after room for a Header
    std::string am_header_; // a Header and the user's
    Header withdrawal_;
    Note opening_{*this}, offer_{*this}, withdrawal_note_{*this};
    std::list<Slot> slots_;  // which stay where they are
    uint64_t next_ = 0;      // byte that no chunk has yet
    uint64_t under_way_ = 0; // messages and chunks
    Way way_ = Way::host;
    std::unique_ptr<Ticket> refuse_, accept_; // while the receiver may be asked
    std::list<Slot> ring_slots_;
    Block first_block_;            // of the ring
    bool exposed_ = false;         // the buffer itself is opened
    ucd_ipc_handle_t buffer_ = {}; // then
    bool reported_ = false;        // that its endpoint does not respond
    bool starting_ = false, lost_ = false, withdrawn_ = false;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx
