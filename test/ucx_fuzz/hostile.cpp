#include "hostile.hpp"

#include <algorithm>
#include <ucd.h>

namespace ucdfuzz {

std::string Message::header_bytes() const {
    if (!has_header) return {};
    Header h = header;
    if (true_length) h.user_header = static_cast<std::uint32_t>(user.size());
    return encode(h) + user;
}

Hostile::Hostile(Net &net, int self, ucdtest::Rng &rng, Knowledge &knowledge, int wire, bool opaque)
    : direct_ends(static_cast<Writer>(hostile_0 + self - honest_peers), rng), net_(net),
      self_(self), rng_(rng), knowledge_(knowledge), wire_(wire), opaque_(opaque) {
    channels_ = {{{this, pipeline_am}, {this, rma_am}}};
    for (Channel &c : channels_) set_handler(&c, c.am);
    for (Receive &r : receives_) {
        r.owner = this;
        post(r);
    }
}

Hostile::~Hostile() {
    for (const Channel &c : channels_) set_handler(nullptr, c.am);
    for (Receive &r : receives_) {
        ucp_request_cancel(net_.worker(self_), r.request);
        while (r.status == UCS_INPROGRESS) ucp_worker_progress(net_.worker(self_));
        ucp_request_free(r.request);
    }
}

void Hostile::set_handler(Channel *channel, unsigned am) {
    ucp_am_handler_param_t p = {};
    p.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                   UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    p.id = am;
    p.flags = UCP_AM_FLAG_WHOLE_MSG;
    p.cb = channel == nullptr ? nullptr : on_active;
    p.arg = channel;
    (void)ucp_worker_set_am_recv_handler(net_.worker(self_), &p);
}

// Sending --------------------------------------------------------------

void Hostile::send(Message m) {
    const ucp_ep_h ep = net_.ep(self_, m.to);
    if (ep == nullptr || sent_.size() > 200) return;
    ++messages;
    sent_.push_back({m.to, nullptr, m.header_bytes(), std::move(m.data), {}});
    Sent &s = sent_.back();
    if (m.sign) (void)direct_ends.sign(m.to, s.header);
    ucp_request_param_t p = {};
    if (m.tagged) {
        s.header += s.data;
        bytes += s.header.size();
        s.request = ucp_tag_send_nbx(ep, s.header.data(), s.header.size(), m.tag, &p);
    } else {
        bytes += s.header.size() + s.data.size();
        const bool rendezvous = m.rendezvous && !s.data.empty();
        p.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
        p.flags = (rendezvous ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER) |
                  (m.reply ? UCP_AM_SEND_FLAG_REPLY : 0);
        // Contiguous data smashes the stack of some versions of UCX; see Post::send_am.
        s.segment = {s.data.data(), s.data.size()};
        p.datatype = rendezvous ? ucp_dt_make_contig(1) : ucp_dt_make_iov();
        s.request = ucp_am_send_nbx(ep, m.am, s.header.data(), s.header.size(),
                                    rendezvous ? s.data.data() : static_cast<void *>(&s.segment),
                                    rendezvous ? s.data.size() : 1, &p);
    }
    if (!UCS_PTR_IS_PTR(s.request)) sent_.pop_back();
}

void Hostile::sweep() {
    direct_ends.progress();
    std::erase_if(sent_, [](const Sent &s) {
        if (ucp_request_check_status(s.request) == UCS_INPROGRESS) return false;
        ucp_request_free(s.request);
        return true;
    });
    std::erase_if(fetches_, [this](const Fetch &f) {
        const ucs_status_t status = ucp_request_check_status(f.request);
        if (status == UCS_INPROGRESS) return false;
        if (status == UCS_OK && f.is_data) look_at("a chunk", f.bytes);
        ucp_request_free(f.request);
        return true;
    });
    for (Receive &r : receives_) {
        if (r.status == UCS_INPROGRESS) continue;
        Header header;
        if (r.status == UCS_OK && decode(std::string_view(r.bytes).substr(0, r.length), header)) {
            look_at("a tagged message",
                    std::string_view(r.bytes).substr(0, r.length).substr(Header::bytes));
            for (int node = 0; node < honest_peers; ++node)
                Knowledge::remember(knowledge_.ids, {node, pipeline_am, header.stream,
                                                     header.number, header.total});
        }
        ucp_request_free(r.request);
        post(r);
    }
}

bool Hostile::is_quiet_with(int node) const {
    for (const Sent &s : sent_)
        if (s.to == node) return false;
    return held_.empty() && fetches_.empty();
}

// Receiving --------------------------------------------------------------

void Hostile::post(Receive &r) {
    r.bytes.assign(8192, '\0');
    r.status = UCS_INPROGRESS;
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    p.cb.recv = on_tagged;
    p.user_data = &r;
    r.request = ucp_tag_recv_nbx(net_.worker(self_), r.bytes.data(), r.bytes.size(), 0, 0, &p);
    if (!UCS_PTR_IS_PTR(r.request)) found_fatal("setup", "ucp_tag_recv_nbx");
}

void Hostile::on_tagged(void *, ucs_status_t status, const ucp_tag_recv_info_t *info,
                        void *receive) {
    auto &r = *static_cast<Receive *>(receive);
    r.status = status;
    r.length = status == UCS_OK ? info->length : 0;
}

int Hostile::node_of(const ucp_am_recv_param_t &param) const {
    if ((param.recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0)
        for (int node = 0; node < honest_peers; ++node)
            if (param.reply_ep == net_.ep(self_, node)) return node;
    return 0;
}

ucs_status_t Hostile::on_active(void *argument, const void *header, std::size_t header_bytes,
                                void *data, std::size_t bytes, const ucp_am_recv_param_t *param) {
    const auto &channel = *static_cast<Channel *>(argument);
    Hostile &self = *channel.owner;
    const bool rendezvous = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    const std::string_view here(static_cast<const char *>(data), rendezvous ? 0 : bytes);
    const int node = self.node_of(*param);
    OneSided m;
    if (header_bytes == 0 && decode(self.wire_, here, m) && m.verb == answers) {
        const std::vector<std::string> all = split_answers(here);
        if (join_answers(all) != here) found("heap-travels", "bytes behind the last answer");
        for (const std::string &one : all) (void)self.look_at_message(channel.am, node, {}, one);
        return UCS_OK;
    }
    const bool is_data = self.look_at_message(
        channel.am, node, {static_cast<const char *>(header), header_bytes}, here);
    if (!rendezvous) return UCS_OK;
    if (self.rng_.chance(20)) return UCS_OK;
    self.held_.push_back({data, bytes, is_data, node});
    return UCS_INPROGRESS;
}

bool Hostile::look_at_message(unsigned am, int node, std::string_view header,
                              std::string_view here) {
    std::size_t prefix = 0;
    const bool is_data = learn(am, node, header, here, prefix);
    if (is_data) look_at("an active message", here.substr(std::min(prefix, here.size())));
    return is_data;
}

// Whether what follows is data of somebody's, behind so many bytes of a message.
bool Hostile::learn(unsigned am, int node, std::string_view header, std::string_view data,
                    std::size_t &prefix) {
    Header h;
    const bool has_header = decode(header, h);
    if (!has_header) {
        learn_message(node, data, nullptr, data.size());
        OneSided m;
        if (!decode(wire_, data, m) || m.verb == type_message) return false;
        if (m.verb == window_introduction || m.verb == window_grant) {
            learn_access(m.verb, data.substr(preamble_bytes));
            return false;
        }
        prefix = encode(wire_, m).size();
        return !opaque_;
    }
    Knowledge::remember(knowledge_.ids, {node, am, h.stream, h.number, h.total});
    Knowledge::remember(knowledge_.totals, h.total);
    if (h.kind == introduction) direct_ends.connect(header.substr(Header::bytes));
    if (h.kind >= route) return false;
    if (am == pipeline_am) return true;
    const std::string_view message = header.substr(Header::bytes);
    OneSided m;
    if (h.kind != chunk && decode(wire_, message, m)) {
        learn_message(node, message, &h, h.total);
        if (m.verb == type_message) knowledge_.of_types.emplace(h.stream, h.number);
    }
    return !opaque_ && !knowledge_.of_types.contains({h.stream, h.number});
}

// Of direct access to a window: neither message has anybody's data. But a grant must be one, and of
// a window whose key hostile peers have.
void Hostile::learn_access(unsigned verb, std::string_view message) {
    if (verb == window_introduction) {
        if (message.size() != DirectEnds::introduction_bytes)
            return found(finding::from_heap, "an introduction for windows has " +
                                                 std::to_string(message.size()) + " bytes");
        return direct_ends.connect(message);
    }
    if (message.size() != DirectEnds::grant_bytes)
        return found(finding::from_heap,
                     "a grant has " + std::to_string(message.size()) + " bytes");
    const std::string_view window = message.substr(8, name_bytes);
    if (std::find(knowledge_.windows.begin(), knowledge_.windows.end(), window) ==
        knowledge_.windows.end())
        found(finding::of_others, "a grant of a window that hostile peers have no key of");
    if (!direct_ends.is_authentic(message))
        found(finding::from_heap, "a grant that no key authenticates");
}

void Hostile::learn_message(int node, std::string_view message, const Header *header,
                            std::size_t data_bytes) {
    OneSided m;
    if (!decode(wire_, message, m)) return;
    if (m.verb == need_type) Knowledge::remember(knowledge_.questions, {node, m.number});
    if (m.verb == answer_with_handle)
        Knowledge::remember(knowledge_.handles, {node, self_, m.handle});
    if (!is_request(m.verb)) return;
    if (m.form == TypeForm::name) Knowledge::remember(knowledge_.names, m.type);
    std::uint64_t &size = knowledge_.sizes[{node, self_, m.index}];
    ucd_type_t type;
    if (m.form == TypeForm::flattened &&
        ucd_unflatten(&type, m.type.data(), m.type.size()) == UCD_SUCCESS) {
        std::uintptr_t type_bytes = 0;
        (void)ucd_get_size(type, &type_bytes);
        (void)ucd_free(&type);
        size = type_bytes;
    }
    const std::uint64_t here =
        header != nullptr ? data_bytes
                          : data_bytes - std::min<std::size_t>(data_bytes, encode(wire_, m).size());
    const std::uint64_t asked = here > 0 ? here : size * m.count;
    Knowledge::remember(knowledge_.asked, {node, self_, m.verb, m.number, asked});
}

void Hostile::look_at(const char *where, std::string_view sent) const {
    if (opaque_) return;
    const char *what = nullptr;
    const std::string wrong = look_for_others(sent, anyone_public, false, what);
    // What was never touched is of the heap of whoever sent it.
    if (!wrong.empty())
        found(what == finding::undelivered ? finding::from_heap : what,
              std::string("sent to a hostile peer in ") + where + ": " + wrong);
}

void Hostile::settle_held() {
    if (held_.empty()) return;
    const std::size_t i = rng_.below(held_.size());
    const Held held = held_[i];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    if (rng_.chance(30))
        ucp_am_data_release(net_.worker(self_), held.data);
    else
        fetch(held);
}

void Hostile::fetch(const Held &held) {
    fetches_.push_back({nullptr, std::string(held.bytes, '\0'), held.is_data, held.from});
    Fetch &f = fetches_.back();
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    f.request =
        ucp_am_recv_data_nbx(net_.worker(self_), held.data, f.bytes.data(), f.bytes.size(), &p);
    if (!UCS_PTR_IS_PTR(f.request)) fetches_.pop_back();
}

std::size_t Hostile::kept() const {
    std::size_t total = 0;
    for (const Sent &s : sent_) total += sizeof s + s.header.capacity() + s.data.capacity();
    for (const Fetch &f : fetches_) total += sizeof f + f.bytes.capacity();
    return total;
}

void Hostile::release_all() {
    for (const Held &held : held_) ucp_am_data_release(net_.worker(self_), held.data);
    held_.clear();
}

} // namespace ucdfuzz
