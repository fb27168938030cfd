// The data of a one-sided message: here already, or to be received by a pipeline.
#pragma once

#include "pipeline/active.h"
#include "rma/direct_messages.h"

#include <utility>

namespace ucd_ucx::rma {

// The destructor drops data that was not received.
class Payload {
public:
    Payload() = default;
    // The data is part of `message`, and valid as long as that is, or longer after `keep`. With
    // shares_message, others need the rest of the message, so `keep` copies.
    explicit Payload(DirectMessage &message, bool shares_message = false)
        : lent_(&message), shares_message_(shares_message) {}
    Payload(ucd_ucx_pipeline_t pipeline, ucd_ucx_data_t data, uint64_t bytes)
        : pipeline_(pipeline), data_(data), bytes_(bytes) {}
    Payload(Payload &&other) noexcept { *this = std::move(other); }
    Payload &operator=(Payload &&other) noexcept {
        drop();
        lent_ = std::exchange(other.lent_, nullptr);
        shares_message_ = other.shares_message_;
        message_ = std::move(other.message_);
        here_ = std::exchange(other.here_, {});
        pipeline_ = other.pipeline_;
        data_ = std::exchange(other.data_, nullptr);
        bytes_ = other.bytes_;
        return *this;
    }
    ~Payload() { drop(); }

    uint64_t bytes() const { return is_here() ? here_.size() : bytes_; }
    bool is_here() const { return data_ == nullptr; }
    std::string_view here() const { return here_; }
    void set_here(std::string_view data) { here_ = data; }
    void keep();

    // Receives the data through the pipeline, if it is not here. Unless that fails, the payload is
    // then empty.
    Status receive(const Data &to, ucd_op_t op, const ucd_ucx_param_t &param,
                   const TransferTerms &terms, ucd_ucx_request_t *request);

private:
    void drop();
    DirectMessage *lent_ = nullptr;
    bool shares_message_ = false;
    std::unique_ptr<DirectMessage> message_;
    std::string_view here_;
    ucd_ucx_pipeline_t pipeline_ = UCD_UCX_PIPELINE__NULL;
    ucd_ucx_data_t data_ = nullptr;
    uint64_t bytes_ = 0;
};

// A message to be handled, with its data.
struct Delivery {
    std::string_view message; // valid as long as the payload, and during the call
    ucp_ep_h ep;
    uint64_t since; // time of arrival
    Payload payload;
    // Sets the data that follows the message, unless a pipeline has to receive it.
    void set_data(std::string_view data) {
        if (payload.is_here()) payload.set_here(data);
    }
};

} // namespace ucd_ucx::rma
