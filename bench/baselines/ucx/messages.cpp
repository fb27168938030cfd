#include "baselines/ucx/messages.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace bench {
namespace {

void check_ucx(ucs_status_t status, const char *what) {
    if (status != UCS_OK)
        throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

} // namespace

ByHand::ByHand(ucp_worker_h worker, ucp_ep_h ep, const std::vector<Shape> &shapes, double *memory)
    : worker_(worker), ep_(ep), shapes_(shapes), memory_(memory) {
    ucp_am_handler_param_t p = {};
    p.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                   UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    p.flags = UCP_AM_FLAG_WHOLE_MSG;
    p.arg = this;
    p.id = request_id;
    p.cb = on_request;
    check_ucx(ucp_worker_set_am_recv_handler(worker_, &p), "ucp_worker_set_am_recv_handler");
    p.id = answer_id;
    p.cb = on_answer;
    check_ucx(ucp_worker_set_am_recv_handler(worker_, &p), "ucp_worker_set_am_recv_handler");
}

// What UCX reads until it has sent it.
struct ByHand::Message {
    char header[request_header];
    std::unique_ptr<double[]> data; // of an answer
};

void ByHand::on_sent(void *request, ucs_status_t status, void *message) {
    ucp_request_free(request);
    delete static_cast<Message *>(message);
    check_ucx(status, "ucp_am_send_nbx");
}

// Eagerly, so that data comes with its header.
void ByHand::send(ucp_ep_h ep, unsigned id, std::unique_ptr<Message> message,
                  std::size_t header_bytes, const void *data, std::size_t bytes) {
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    p.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;
    p.cb.send = on_sent;
    p.user_data = message.get();
    const ucs_status_ptr_t request =
        ucp_am_send_nbx(ep, id, message->header, header_bytes, data, bytes, &p);
    if (UCS_PTR_IS_PTR(request))
        (void)message.release(); // on_sent's
    else
        check_ucx(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
}

void ByHand::start(Action action, std::size_t shape, double *packed) {
    const Header header = {action, static_cast<std::uint32_t>(shape),
                           reinterpret_cast<std::uint64_t>(packed), 0};
    ++outstanding_;
    const std::size_t bytes = action == Action::get ? 0 : shapes_[shape].size() * sizeof(double);
    auto message = std::make_unique<Message>();
    std::memcpy(message->header, &header, sizeof header);
    send(ep_, request_id, std::move(message), sizeof header, packed, bytes);
}

ucs_status_t ByHand::on_request(void *argument, const void *header, std::size_t, void *data,
                                std::size_t, const ucp_am_recv_param_t *param) {
    auto &self = *static_cast<ByHand *>(argument);
    Header h;
    std::memcpy(&h, header, sizeof h);
    const Shape &shape = self.shapes_[h.shape];
    const auto *in = static_cast<const double *>(data);
    double *memory = self.memory_;
    auto answer = std::make_unique<Message>();
    std::memcpy(answer->header, &h.at, answer_header);
    double *out = nullptr;
    std::size_t bytes = 0;
    switch (h.action) {
    case Action::put:
        shape.walk([=](std::size_t to, std::size_t from) { memory[to] = in[from]; });
        break;
    case Action::add:
        shape.walk([=](std::size_t to, std::size_t from) { memory[to] += in[from]; });
        break;
    case Action::get:
        bytes = shape.size() * sizeof(double);
        answer->data = std::make_unique_for_overwrite<double[]>(shape.size());
        out = answer->data.get();
        shape.walk([=](std::size_t from, std::size_t to) { out[to] = memory[from]; });
        break;
    }
    self.send(param->reply_ep, answer_id, std::move(answer), answer_header, out, bytes);
    return UCS_OK;
}

ucs_status_t ByHand::on_answer(void *argument, const void *header, std::size_t, void *data,
                               std::size_t bytes, const ucp_am_recv_param_t *) {
    auto &self = *static_cast<ByHand *>(argument);
    std::uint64_t at;
    std::memcpy(&at, header, sizeof at);
    if (bytes > 0) std::memcpy(reinterpret_cast<void *>(at), data, bytes);
    --self.outstanding_;
    return UCS_OK;
}

} // namespace bench
