// An active message that has arrived, until its family has taken what it needs.
#pragma once

#include "common/ledger.h"
#include "engine/event_queue.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ucd_ucx {

class WorkerEngine;

// UCX's header and the data behind it; either may be empty.
class AmData final : public Event {
public:
    // For use in UCX's callback: nothing is copied.
    AmData(WorkerEngine &engine, ucp_ep_h from, std::string_view header, void *data,
           std::size_t bytes, uint64_t attributes);
    // A spare message, for one that arrives when there is no memory.
    explicit AmData(WorkerEngine &engine);
    ~AmData() {
        if (place_ == DataPlace::held) drop_data();
    }
    AmData(const AmData &) = delete;
    AmData &operator=(const AmData &) = delete;
    void on_complete() override; // passes the message to its family

    // The memory that a message takes until its family has taken it, and what a family may make
    // of it.
    static constexpr uint64_t bytes_for_family = 384;
    uint64_t bytes_to_keep() const;

    std::string_view header() const { return header_; }
    // The part of the data that has arrived; with rendezvous, none.
    std::string_view data() const;
    std::size_t data_bytes() const { return data_bytes_; } // of all of it
    // The data waits at the sender.
    bool is_rendezvous() const { return is_rendezvous_; }
    // There was no memory for all of the data: only its beginning is here.
    bool is_cut() const { return missing_ > 0; }

    // UCX's callback may keep the data, if it returns UCS_INPROGRESS.
    bool is_holdable() const { return place_ == DataPlace::holdable; }
    // Keeps a message of UCX's callback. The data is cut if there is no memory for it. Returns null
    // if there is no memory for the message, and no spare one.
    std::unique_ptr<AmData> kept();
    // Moves the data of a message without a header to a new message; copies it if it is lent. If it
    // throws std::bad_alloc, nothing has changed.
    std::unique_ptr<AmData> take_over();
    // A new message with a copy of a part of the data.
    std::unique_ptr<AmData> copy_of(std::string_view part) const;
    // With rendezvous: UCX's handle of the data, which the caller has to receive. Null if it was
    // taken or dropped.
    void *take_handle() { return std::exchange(data_, nullptr); }
    bool has_handle() const { return is_rendezvous_ && data_ != nullptr; }
    void drop_data();
    // The header of a message that was kept, which is then empty.
    std::string take_header() {
        header_ = {};
        return std::move(header_copy_);
    }

    ucp_ep_h ep;        // the sender's endpoint
    uint64_t since = 0; // time of arrival; see EventQueue::now
    Charge charge;      // on the sender's account

private:
    enum class DataPlace : uint8_t {
        lent,     // in UCX's memory, during its callback
        holdable, // same, or at the sender, but UCX's callback may keep it
        held,     // to be given back to UCX
        copied,
    };
    AmData(WorkerEngine &engine, ucp_ep_h from) : ep(from), engine_(engine) {}
    void set_copy(std::string_view data); // throws std::bad_alloc
    void take_from(AmData &lent);

    WorkerEngine &engine_;
    std::string_view header_; // lent by UCX, or of header_copy_
    std::string header_copy_;
    void *data_ = nullptr;
    std::size_t data_bytes_ = 0, missing_ = 0;
    std::unique_ptr<char[]> copy_;
    std::size_t room_ = 0; // of a spare message's copy_
    DataPlace place_ = DataPlace::lent;
    bool is_rendezvous_ = false;
};

} // namespace ucd_ucx
