// The data of a one-sided message: here already, or to be received as a transfer.
#pragma once

#include "engine/am_data.h"
#include "pipeline/recv_message.h"
#include "pipeline/transfers.h"
#include "rma/rma_message.h"

#include <memory>
#include <string_view>
#include <utility>

namespace ucd_ucx::rma {

// The destructor drops data that was not received.
class Payload {
public:
    Payload() = default;
    // The data is part of `message`, and valid as long as that is, or longer after `keep`. With
    // shares_message, others need the rest of the message, so `keep` copies.
    explicit Payload(AmData &message, bool shares_message = false)
        : lent_(&message), shares_message_(shares_message) {}
    explicit Payload(RecvMessage &transfer) : transfer_(&transfer) {}
    uint64_t bytes() const { return is_here() ? here_.size() : transfer_->total(); }
    bool is_here() const { return transfer_ == nullptr; }
    std::string_view here() const { return here_; }
    void set_here(std::string_view data) { here_ = data; }
    void keep() {
        if (lent_ == nullptr || here_.empty()) return;
        if (shares_message_) {
            message_ = lent_->copy_of(here_);
            here_ = message_->data();
        } else {
            const auto at = static_cast<std::size_t>(here_.data() - lent_->data().data());
            message_ = lent_->take_over();
            here_ = message_->data().substr(at, here_.size());
        }
        lent_ = nullptr;
    }

    // Receives the data as a transfer, if it is not here. Unless that fails, the payload is then
    // empty.
    Status receive(Transfers &transfers, const Data &to, ucd_op_t op, ucd_info_t info,
                   const TransferTerms &terms, ucd_ucx_request_t *transfer) {
        const ucd_ucx_param_t param = {sizeof param, info, nullptr, nullptr};
        UCD_TRY(transfers.receive_active(*transfer_, to, op, &param, terms, transfer));
        (void)transfer_.release();
        return success;
    }

private:
    struct Abandon {
        void operator()(RecvMessage *transfer) const { transfer->abandon(); }
    };
    AmData *lent_ = nullptr;
    bool shares_message_ = false;
    std::unique_ptr<AmData> message_;
    std::string_view here_;
    std::unique_ptr<RecvMessage, Abandon> transfer_;
};

// A message to be handled, with its data.
struct Delivery {
    std::string_view message; // valid as long as the payload, and during the call
    ucp_ep_h ep;
    Payload payload;
    Preamble preamble = {};
    // If not `done`, why the message cannot be read: there was no memory for all of it, or its peer
    // has the other byte order.
    Verdict readable = Verdict::done;
    // Sets the data that follows the message. Returns false if it has to be received, and what
    // follows the message means nothing.
    bool set_data(std::string_view data) {
        if (payload.is_here()) payload.set_here(data);
        return payload.is_here() || data.empty();
    }
    // Reads what follows the preamble, a Request or an Answer, and sets the data behind it.
    template <class Content>
    Verdict read(Content &content) {
        std::string_view data;
        if (readable != Verdict::done) return readable;
        return decode(message, preamble, content, data) && set_data(data) ? Verdict::done
                                                                          : Verdict::invalid;
    }
};

} // namespace ucd_ucx::rma
