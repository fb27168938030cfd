// An active message of a transfer, at its receiver: a chunk, an offer, or all of a user's message.
#pragma once

#include "direct/links.h"
#include "direct/mappings.h"
#include "engine/am_data.h"
#include "engine/device_queue.h"
#include "memory/staging.h"
#include "pipeline/framed.h"
#include "pipeline/message.h"
#include "types/known_types.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ucd_ucx {

class RecvMessage;
class Receiving;
class Transfers;

// The data of an offer to read it where it is, in memory that is open here.
struct DirectCopy {
    TypePtr type;
    uint64_t count = 0;
    const char *buffer = nullptr;
};

class RecvPart final : public Event, public DeviceWork {
public:
    // Null if it is not a message of a transfer.
    static std::unique_ptr<RecvPart> make(Transfers &transfers, std::unique_ptr<AmData> &am_data);
    RecvPart(Transfers &transfers, const MessageHeader &header, std::unique_ptr<AmData> am_data);

    void on_complete() override;
    void moved(Status status) override;
    bool is_ring() const { return header.kind == MessageKind::ring_chunk; }
    bool is_route() const { return header.kind == MessageKind::route; }
    bool is_direct() const { return header.kind == MessageKind::direct; }
    // It is sent by rendezvous, and its data is a receipt.
    bool has_receipt() const {
        return is_ring() || is_route() || is_direct() || header.kind == MessageKind::introduction;
    }
    // What follows the header: as many bytes as MessageHeader::following says.
    template <class T>
    T following() const {
        T value;
        std::memcpy(static_cast<void *>(&value), am_data->header().data() + sizeof header,
                    sizeof value);
        return value;
    }
    // In the header and in what follows it, what has no meaning in this kind of message is 0.
    bool unused_are_zero() const {
        return header.unused_are_zero(false) &&
               (!header.has_place() || following<RingPlace>().unused_are_zero(header.kind));
    }

    // Prepares to read the data where it is. Returns false if another route has to be taken.
    bool find_direct(const Receiving &receiving, Decline *reason);
    // Receives the data into the receive buffer; through `block`, if that is not empty. Reads it
    // where it is, after find_direct. Or answers an offer of a route: UCX tells the sender that its
    // receipt was fetched.
    void receive(RecvMessage &message, StagingBlock block);
    // Has UCX unpack the data, instead of receiving it in a block.
    void stream_to(const TypedBuffer &buffer) { range_ = {buffer, header.offset, bytes}; }
    bool is_here() const { return !am_data->has_handle(); } // the data has arrived
    bool holds_memory() const { return static_cast<bool>(block_); }

    const MessageHeader header;
    std::unique_ptr<AmData> am_data;
    uint64_t bytes = 0; // bytes of the packed stream in this message

private:
    // Each of these begins an operation of UCX or of a device, or does a step of one.
    void fetch(void *to, std::size_t count, ucp_datatype_t datatype, uint32_t flags);
    void fetch_receipt();
    void read_directly();
    void read_ring();
    void unpack(const void *from);
    void unpack_for_peer();
    void copy_direct(); // a step, for host memory
    // And these end one.
    static void on_received(void *request, ucs_status_t status, std::size_t length, void *part);
    void arrived();
    void end_operation();
    bool open_memory(const DirectPlace &place, const std::string &device, Decline *reason);

    Transfers &transfers_;
    RecvMessage *message_ = nullptr;
    StagingBlock block_;
    FramedRange range_;                  // if UCX unpacks the data
    const char *unpacking_ = nullptr;    // data that a peer asked for
    uint64_t moved_ = 0;                 // bytes, of what is moved in steps
    std::unique_ptr<DirectCopy> direct_; // until the data has been read
    MappingPtr mapping_;                 // the sender's memory
    Receipt receipt_ = 0;
    unsigned under_way_ = 0; // the number of unfinished operations
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx
