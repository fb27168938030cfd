#include "direct_messages.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace ucd_ucx::rma {
namespace {

// Posts that are kept for later, and the longest that are.
constexpr std::size_t max_idle_posts = 64;
constexpr std::size_t max_idle_bytes = 16 << 10;
constexpr std::size_t least_bytes = 512;

} // namespace

// A message on its way to UCX.
class DirectMessages::Post final : public Event {
public:
    explicit Post(DirectMessages &owner, std::size_t room)
        : owner_(owner), room_(room), memory_(new char[room]) {}
    void happen(ucd_ucx_pipeline &) override {
        std::unique_ptr<Post> self(this);
        --owner_.unsent_;
        owner_.handler.note_sent(ep, room_);
        if (status != UCS_OK && number != no_operation)
            owner_.handler.take_failure(ep, number, status);
        owner_.give_back(std::move(self));
    }
    static void on_sent(void *request, ucs_status_t status, void *argument) {
        auto *post = static_cast<Post *>(argument);
        ucp_request_free(request);
        post->status = status;
        post->owner_.inbox.put(*post);
    }
    char *memory() const { return memory_.get(); }
    std::size_t room() const { return room_; }

    ucp_ep_h ep = nullptr;
    uint32_t number = 0;
    ucs_status_t status = UCS_OK;
    ucp_dt_iov_t segment = {};

private:
    DirectMessages &owner_;
    const std::size_t room_;
    const std::unique_ptr<char[]> memory_;
};

DirectMessage::~DirectMessage() {
    if (held_ != nullptr) ucp_am_data_release(owner_.worker(), held_);
}

std::string_view DirectMessage::text() const {
    const void *text = lent_ != nullptr ? lent_ : held_ != nullptr ? held_ : copy_.get();
    return {static_cast<const char *>(text), bytes_};
}

std::unique_ptr<DirectMessage> DirectMessage::take_over(bool hold) {
    auto other = std::make_unique<DirectMessage>(owner_, ep);
    other->since = since;
    other->bytes_ = bytes_;
    if (lent_ != nullptr && hold) {
        other->held_ = lent_;
    } else if (lent_ != nullptr) {
        other->copy_.reset(new char[bytes_]);
        std::memcpy(other->copy_.get(), lent_, bytes_);
    } else {
        other->held_ = std::exchange(held_, nullptr);
        other->copy_ = std::move(copy_);
    }
    lent_ = nullptr;
    return other;
}

void DirectMessage::happen(ucd_ucx_pipeline &) {
    const std::unique_ptr<DirectMessage> self(this);
    if (refusal.empty())
        owner_.handler.take_message(*this);
    else
        owner_.handler.take_old_request(ep, refusal);
}

DirectMessages::DirectMessages(DirectHandler &of, Inbox &put_to) : handler(of), inbox(put_to) {}

DirectMessages::~DirectMessages() = default;

std::optional<ucs_status_t> DirectMessages::take(std::string_view header, void *data,
                                                 std::size_t bytes,
                                                 const ucp_am_recv_param_t &param) {
    try {
        if (header.empty()) {
            // By rendezvous, a peer would have this side fetch what it may never give.
            if (bytes == 0 || (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
            DirectMessage message(*this, param.reply_ep, data, bytes);
            const bool may_be_held = (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
            return take(message, may_be_held);
        }
        std::string refusal = refusal_of_version_1(header);
        if (refusal.empty()) return std::nullopt;
        auto message = std::make_unique<DirectMessage>(*this, param.reply_ep);
        message->refusal = std::move(refusal);
        DirectMessage &put = *message.release();
        inbox.put(put, put.since);
        return UCS_OK;
    } catch (const std::bad_alloc &) {
        return UCS_ERR_NO_MEMORY;
    }
}

ucs_status_t DirectMessages::take(DirectMessage &message, bool may_be_held) {
    if (!handler.may_handle_now()) {
        DirectMessage &put = *message.take_over(may_be_held).release();
        inbox.put(put, put.since);
        return may_be_held ? UCS_INPROGRESS : UCS_OK;
    }
    message.since = inbox.now();
    try {
        handler.take_message(message);
    } catch (const std::bad_alloc &) { // as when it is handled later
    }
    return UCS_OK;
}

std::unique_ptr<DirectMessages::Post> DirectMessages::take_post(std::size_t bytes) {
    if (!idle_.empty() && idle_.back()->room() >= bytes) {
        std::unique_ptr<Post> post = std::move(idle_.back());
        idle_.pop_back();
        return post;
    }
    return std::make_unique<Post>(*this, std::max(bytes, least_bytes));
}

void DirectMessages::give_back(std::unique_ptr<Post> post) {
    if (idle_.size() < max_idle_posts && post->room() <= max_idle_bytes)
        idle_.push_back(std::move(post));
}

Status DirectMessages::send(ucp_ep_h ep, const Encoded &message, const Data &data,
                            uint64_t data_bytes, uint32_t number, std::size_t *waiting,
                            const char *contiguous) {
    *waiting = 0;
    const std::size_t message_bytes = message.size();
    std::unique_ptr<Post> post = take_post(message_bytes + data_bytes);
    message.write(post->memory());
    if (contiguous != nullptr) {
        std::memcpy(post->memory() + message_bytes, contiguous, data_bytes);
    } else if (data_bytes > 0) {
        uintptr_t packed;
        UCD_UCX_TRY(
            ucd_ok(ucd_pack(data.buf, data.count, data.type, 0, post->memory() + message_bytes,
                            data_bytes, &packed, data.hints->info.get(), UCD_OP__REPLACE)));
    }
    post->number = number;
    return this->post(std::move(post), ep, 0, message_bytes + data_bytes, waiting);
}

Status DirectMessages::send_as_header(ucp_ep_h ep, std::string_view message, std::size_t *waiting) {
    *waiting = 0;
    std::unique_ptr<Post> post = take_post(message.size());
    std::memcpy(post->memory(), message.data(), message.size());
    post->number = no_operation;
    return this->post(std::move(post), ep, message.size(), 0, waiting);
}

Status DirectMessages::post(std::unique_ptr<Post> post, ucp_ep_h ep, std::size_t header,
                            std::size_t data, std::size_t *waiting) {
    post->ep = ep;
    post->status = UCS_OK;
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    p.cb.send = Post::on_sent;
    p.user_data = post.get();
    p.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;
    const void *const first = header > 0 ? post->memory() : nullptr;
    ucs_status_ptr_t request = ucp_am_send_nbx(ep, am_id_, first, header, post->memory(), data, &p);
    if (UCS_PTR_STATUS(request) == UCS_ERR_INVALID_PARAM) {
        // UCX 1.13 with UCX_PROTO_ENABLE=y forgets the reply header where it compares lengths with
        // a transport's shortest messages. A list of one segment goes another way.
        post->segment = {post->memory(), data};
        p.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        p.datatype = ucp_dt_make_iov();
        request = ucp_am_send_nbx(ep, am_id_, first, header, &post->segment, 1, &p);
    }
    if (UCS_PTR_IS_PTR(request)) {
        ++unsent_;
        *waiting = post.release()->room();
        return success;
    }
    give_back(std::move(post));
    return ucx_ok(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
}

} // namespace ucd_ucx::rma
