// One-sided messages that are one active message each: without a header for UCX, so that short ones
// take UCX's shortest way, and with the packed data behind the message.
#pragma once

#include "event.h"
#include "operand.h"
#include "pipeline.h"
#include "rma_message.h"

#include <memory>
#include <optional>
#include <string_view>

namespace ucd_ucx::rma {

class DirectMessage;
class DirectMessages;

// For messages that carry no operation of this side.
inline constexpr uint32_t no_operation = UINT32_MAX;

// Whoever handles what comes, with the lock of one-sided operations.
class DirectHandler {
public:
    virtual void take_message(std::unique_ptr<DirectMessage> message) = 0;
    virtual void take_old_request(ucp_ep_h ep, std::string_view refusal) = 0;
    // The message that carried operation `number` of this side was not sent.
    virtual void take_failure(ucp_ep_h ep, uint32_t number, ucs_status_t status) = 0;
    // Bytes that wait here to be sent to ep have become fewer.
    virtual void note_sent(ucp_ep_h ep, std::size_t bytes) = 0;

protected:
    ~DirectHandler() = default;
};

// A message in UCX's memory.
class DirectMessage final : public Event {
public:
    DirectMessage(DirectMessages &owner, ucp_ep_h from) : ep(from), owner_(owner) {}
    ~DirectMessage();
    DirectMessage(const DirectMessage &) = delete;
    DirectMessage &operator=(const DirectMessage &) = delete;
    void happen(ucd_ucx_pipeline &) override;

    std::string_view text() const { return {static_cast<const char *>(data), bytes}; }

    const ucp_ep_h ep;
    uint64_t since = 0;
    void *data = nullptr;
    std::size_t bytes = 0;
    std::string refusal; // instead: what is to be sent to a peer of version 1

private:
    DirectMessages &owner_;
};

class DirectMessages final : public DirectReceiver {
public:
    DirectMessages(DirectHandler &handler, Inbox &inbox);
    // Before the first message.
    void open(ucp_worker_h worker, unsigned am_id) {
        worker_ = worker;
        am_id_ = am_id;
    }
    ~DirectMessages();

    // Called by UCX.
    std::optional<ucs_status_t> take(std::string_view header, void *data, std::size_t bytes,
                                     const ucp_am_recv_param_t &param) override;

    // Sends a message and the packed data behind it, which it copies: nothing of the caller's is
    // used after the return. `number` is the operation to be told of if UCX fails to send it.
    // *waiting is what is kept here until it is sent.
    Status send(ucp_ep_h ep, const Encoded &message, const Data &data, uint64_t data_bytes,
                uint32_t number, std::size_t *waiting);

    // Sends a message that is all header for UCX, as version 1 had them.
    Status send_as_header(ucp_ep_h ep, std::string_view message, std::size_t *waiting);

    std::size_t unsent() const { return unsent_; } // messages that UCX still has
    ucp_worker_h worker() const { return worker_; }
    DirectHandler &handler;
    Inbox &inbox;

private:
    class Post;
    std::unique_ptr<Post> take_post(std::size_t bytes);
    void give_back(std::unique_ptr<Post> post);

    Status post(std::unique_ptr<Post> post, ucp_ep_h ep, std::size_t header, std::size_t data,
                std::size_t *waiting);

    ucp_worker_h worker_ = nullptr;
    unsigned am_id_ = 0;
    std::vector<std::unique_ptr<Post>> idle_;
    std::size_t unsent_ = 0;
};

} // namespace ucd_ucx::rma
