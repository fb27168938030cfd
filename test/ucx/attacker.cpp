#include "ucx/attacker.hpp"

#include <cstdlib>
#include <malloc.h>
#include <random>
#include <stdexcept>

// The address sanitizer's, if it is there: its allocator is not the C library's.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace ucdtest {

std::size_t heap_bytes() {
    if (__sanitizer_get_current_allocated_bytes != nullptr)
        return __sanitizer_get_current_allocated_bytes();
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int messages(int default_count) {
    const char *factor = std::getenv("UCD_TEST_CASES");
    return factor == nullptr ? default_count
                             : static_cast<int>(default_count * std::strtod(factor, nullptr));
}

double cpu_seconds() {
    timespec t = {};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A message that UCX is sending.
struct Attacker::Post {
    std::string header, data;
    ucp_dt_iov_t segment = {};
    ucs_status_ptr_t request = nullptr;
    bool is_done() const {
        return request == nullptr || ucp_request_check_status(request) != UCS_INPROGRESS;
    }
};

// Data on its way here.
struct Attacker::Fetch {
    Received message;
    ucs_status_ptr_t request = nullptr;
};

Attacker::Attacker(const std::string &victim, std::function<void()> others)
    : others_(std::move(others)) {
    std::random_device device;
    stream_ = std::uint64_t{device()} << 32 | device();
    ucp_am_handler_param_t p = {};
    p.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                   UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    p.id = am_id;
    p.flags = UCP_AM_FLAG_WHOLE_MSG;
    p.cb = on_message;
    p.arg = this;
    ucx(ucp_worker_set_am_recv_handler(side.worker, &p), "ucp_worker_set_am_recv_handler");
    side.connect(victim);
}

Attacker::~Attacker() {
    release_data();
    (void)within(1, [&] { return unfinished() == 0 && fetching_.empty(); });
    ucp_am_handler_param_t p = {};
    p.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB;
    p.id = am_id;
    (void)ucp_worker_set_am_recv_handler(side.worker, &p);
    close();
    for (const auto &post : posts_)
        if (post->request != nullptr) ucp_request_free(post->request);
}

// As Side::close_endpoint, while the other side makes progress too.
void Attacker::close() {
    if (side.ep == nullptr) return;
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    p.flags = side.can_fail ? static_cast<unsigned>(UCP_EP_CLOSE_FLAG_FORCE) : 0;
    const ucs_status_ptr_t request = ucp_ep_close_nbx(side.ep, &p);
    side.ep = nullptr;
    if (UCS_PTR_IS_PTR(request)) {
        (void)within(5, [&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
        ucp_request_free(request);
    }
    progress(10);
}

void Attacker::progress() {
    ucp_worker_progress(side.worker);
    others_();
    while (!posts_.empty() && posts_.front()->is_done()) {
        if (posts_.front()->request != nullptr) ucp_request_free(posts_.front()->request);
        posts_.pop_front();
    }
    while (!fetching_.empty() &&
           ucp_request_check_status(fetching_.front()->request) != UCS_INPROGRESS) {
        ucp_request_free(fetching_.front()->request);
        take(std::move(fetching_.front()->message));
        fetching_.pop_front();
    }
}

wire::Message Attacker::open(std::uint64_t total, ucp_tag_t tag) {
    wire::Message m;
    m.id = new_id();
    m.total = total;
    m.kind = wire::offer;
    active(m);
    m.kind = wire::opening;
    tagged(m, tag);
    return m;
}

std::size_t Attacker::unfinished() const {
    std::size_t n = 0;
    for (const auto &post : posts_) n += !post->is_done();
    return n;
}

void Attacker::post(std::unique_ptr<Post> post, ucs_status_ptr_t request, bool waits) {
    if (UCS_PTR_IS_ERR(request)) ucx(UCS_PTR_STATUS(request), "a message of the attacker's");
    post->request = request;
    posts_.push_back(std::move(post));
    if (waits && !within(10, [&] { return posts_.empty() || posts_.back()->is_done(); }))
        throw std::runtime_error("a message of the attacker's is not sent");
}

void Attacker::send(const std::string &header, const std::string &data, unsigned flags,
                    bool waits) {
    auto made = std::make_unique<Post>();
    made->header = header;
    made->data = data;
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
    p.flags = flags | UCP_AM_SEND_FLAG_REPLY;
    // As a list: UCX 1.13 with UCX_PROTO_ENABLE=y refuses some short messages with contiguous data
    // and the reply flag, and smashes the stack if they have a header.
    made->segment = {made->data.data(), made->data.size()};
    p.datatype = ucp_dt_make_iov();
    const ucs_status_ptr_t request =
        ucp_am_send_nbx(side.ep, am_id, made->header.empty() ? nullptr : made->header.data(),
                        made->header.size(), &made->segment, 1, &p);
    post(std::move(made), request, waits);
}

void Attacker::active(const wire::Message &message, const std::string &data) {
    send(message.text(), data, UCP_AM_SEND_FLAG_EAGER, true);
}

void Attacker::active(const std::string &header, const std::string &data) {
    send(header, data, UCP_AM_SEND_FLAG_EAGER, true);
}

void Attacker::active_by_rendezvous(const wire::Message &message, const std::string &data) {
    active_by_rendezvous(message.text(), data);
}

void Attacker::active_by_rendezvous(const std::string &header, const std::string &data) {
    send(header, data, UCP_AM_SEND_FLAG_RNDV, false);
}

void Attacker::tagged(const wire::Message &message, ucp_tag_t tag) {
    tagged(message.text(), tag);
}

void Attacker::tagged(const std::string &text, ucp_tag_t tag) {
    auto made = std::make_unique<Post>();
    made->data = text;
    const ucp_request_param_t p = {};
    const ucs_status_ptr_t request =
        ucp_tag_send_nbx(side.ep, made->data.data(), made->data.size(), tag, &p);
    post(std::move(made), request, false);
}

void Attacker::say(const std::string &message, const std::string &data) {
    send({}, message + data, UCP_AM_SEND_FLAG_EAGER, true);
}

bool Attacker::has_said() {
    return within(0, [&] { return !said_.empty(); });
}

wire::Said Attacker::next_said() {
    if (!within(10, [&] { return !said_.empty(); }))
        throw std::runtime_error("the library says nothing");
    wire::Said s = said_.front();
    said_.pop_front();
    return s;
}

std::string Attacker::data_of(const wire::Said &said) {
    if (said.total == 0) return said.data();
    std::string data(said.total, '\0');
    std::size_t come = 0;
    const auto collect = [&] {
        for (; !received.empty(); received.pop_front()) {
            if (!wire::is_pipeline(received.front().header)) continue;
            const wire::Message m = wire::read_message(received.front().header);
            if (m.kind != wire::chunk || m.id.number != said.transfer.number) continue;
            data.replace(m.offset, received.front().data.size(), received.front().data);
            come += received.front().data.size();
        }
        return come >= said.total;
    };
    if (!within(10, collect)) throw std::runtime_error("data does not come");
    return data;
}

void Attacker::release_data() {
    for (; !held_.empty(); held_.pop_front()) ucp_am_data_release(side.worker, held_.front());
}

void Attacker::take(Received &&message) {
    const bool direct = message.header.empty();
    if (direct && wire::is_one_sided(message.data)) {
        wire::Said said = wire::read_said(message.data);
        if (said.verb != wire::answers) said_.push_back(said);
        for (const std::string &one : said.verb == wire::answers ? wire::split_answers(message.data)
                                                                 : std::vector<std::string>())
            said_.push_back(wire::read_said(one));
    }
    if (wire::is_pipeline(message.header)) {
        const wire::Message m = wire::read_message(message.header);
        const bool users = m.kind == wire::whole || m.kind == wire::user_offer;
        if (users && wire::is_one_sided(m.user_header)) {
            said_.push_back(wire::read_said(m.user_header + message.data));
            said_.back().transfer = m.id;
            said_.back().total = m.total;
        }
    }
    received.push_back(std::move(message));
}

ucs_status_t Attacker::on_message(void *argument, const void *header, std::size_t header_bytes,
                                  void *data, std::size_t bytes, const ucp_am_recv_param_t *param) {
    auto *self = static_cast<Attacker *>(argument);
    Received message;
    if (header_bytes > 0) message.header.assign(static_cast<const char *>(header), header_bytes);
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0)
        message.reply_ep = param->reply_ep;
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
        if (bytes > 0) message.data.assign(static_cast<const char *>(data), bytes);
        self->take(std::move(message));
        return UCS_OK;
    }
    if (!self->fetches) {
        self->held_.push_back(data);
        self->take(std::move(message));
        return UCS_INPROGRESS;
    }
    auto fetch = std::make_unique<Fetch>();
    fetch->message = std::move(message);
    fetch->message.data.resize(bytes);
    const ucp_request_param_t p = {};
    fetch->request =
        ucp_am_recv_data_nbx(self->side.worker, data, fetch->message.data.data(), bytes, &p);
    if (UCS_PTR_IS_PTR(fetch->request))
        self->fetching_.push_back(std::move(fetch));
    else
        self->take(std::move(fetch->message));
    return UCS_INPROGRESS;
}

void disagree(Attacker &attacker, const First &first, const std::string &header, std::uint32_t id) {
    wire::Message m = attacker.new_message(first.kind, claimed);
    if (first.kind == wire::user_offer || first.kind == wire::whole) m.user_id = id;
    if (first.kind == wire::opening)
        attacker.tagged(m);
    else
        attacker.active(m, std::string(first.bytes, 'f'));
    m.kind = wire::whole;
    m.total = brought;
    m.user_id = id;
    m.user_header = header;
    attacker.active(m, std::string(brought, 's'));
    attacker.progress(50);
}

ucs_status_t status_of_receive(Side &victim, Attacker &attacker, const std::string &message) {
    char to[100];
    Outcome o;
    start_receive(victim, {to, sizeof to, UCD_TYPE__CHAR}, o, 1, UCD_INFO__NULL, 1);
    attacker.tagged(message);
    if (!attacker.within(5, [&] { return o.done(); }))
        throw std::runtime_error("a receive has not ended");
    return o.result.status;
}

} // namespace ucdtest
