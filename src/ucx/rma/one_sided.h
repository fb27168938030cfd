// The family of one-sided operations: both ends of them. Short messages carry everything that fits
// one message, and transfers carry longer data.
#pragma once

#include "engine/engine.h"
#include "pipeline/transfers.h"
#include "rma/payload.h"
#include "rma/rma_origin.h"
#include "rma/rma_target.h"
#include "rma/short_messages.h"
#include "rma/window_access.h"

namespace ucd_ucx::rma {

// The caller holds the engine's lock.
class OneSided final : public Family, public MessageReceiver {
public:
    OneSided(WorkerEngine &engine, Transfers &transfers, uint64_t peer_operations);
    // INVALID_ARG: something is in progress or open.
    Status check_idle() const;

    // Sends data in chunks, with the message as the header of a transfer.
    Status send(ucp_ep_h ep, const Encoded &message, const Data &data, ucd_info_t info,
                const TransferTerms &terms, ucd_ucx_request_t *transfer);

    // The functions of a family:
    void take(std::unique_ptr<AmData> message) override;
    bool take_at_once(AmData &message) override;
    void take_message(RecvMessage &message) override;
    void on_endpoint_failed(const EndpointFailure &failure) override;
    void on_barred(ucp_ep_h ep) override { target.on_barred(ep); }
    void on_link_ended(ucp_ep_h ep, bool) override { access.on_link_ended(ep); }
    bool advance() override;

    WorkerEngine &engine;
    Transfers &transfers;
    ShortMessages messages;
    WindowAccess access;
    Origin origin;
    Target target;

private:
    // `alone` is the message of UCX that consists of this one. It is null if there are others in
    // it, or if this one has come as a transfer.
    void take(Delivery &delivery, AmData *alone);
    void take_parts(AmData &message);
};

} // namespace ucd_ucx::rma
