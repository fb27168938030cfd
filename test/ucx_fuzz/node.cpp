#include "node.hpp"

#include "api/object.h"
#include "live_bytes.hpp"
#include "support/keys.hpp"

#include <algorithm>

namespace ucdfuzz {
namespace {

void check(int rc, const char *what) {
    if (rc != UCD_SUCCESS) found_fatal("setup", std::string(what) + ": " + ucd_ucx_last_error());
}

} // namespace

constexpr std::uint16_t both_families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED;

Node::Node(Net &net, int self, const Samples &samples, ucdtest::Rng &rng, const Settings &settings)
    : net_(net), self_(self), samples_(samples), rng_(rng), settings_(settings) {
    public_memory_ = public_.data();
    ucdtest::Keys keys;
    for (const auto &[key, value] : settings.keys) keys.set(key, value);
    if (settings.protocols.pipeline) {
        ucd_ucx_params_t p = {};
        p.struct_size = sizeof p;
        p.am_id = pipeline_am;
        p.families = settings.joined ? both_families : UCD_UCX_TRANSFERS;
        check(ucd_ucx_create(net.worker(self), &p, keys.get(), &pipeline_), "a pipeline");
        check(ucd_ucx_am_set_handler(pipeline_, on_message, this), "a handler");
    }
    if (!settings.protocols.one_sided) return;
    ucd_ucx_params_t p = {};
    p.struct_size = sizeof p;
    p.am_id = rma_am;
    p.families = settings.joined ? both_families : UCD_UCX_ONE_SIDED;
    check(ucd_ucx_create(net.worker(self), &p, keys.get(), &rma_), "ucd_ucx_create");
    vault_.fill(written_by(own(true), vault_.size(), rng_));
    vault_model_ = vault_;
    public_.fill(written_by(own(false), public_.size(), rng_));
    check(ucd_ucx_window_create(rma_, vault_.data(), vault_.size(), UCD_INFO__NULL, &vault_window_),
          "a window");
    if (rng_.chance(50)) {
        void *base;
        check(ucd_ucx_window_allocate(rma_, public_.size(), UCD_INFO__NULL, &base, &public_window_),
              "an allocated window");
        public_memory_ = static_cast<unsigned char *>(base);
        std::copy_n(public_.data(), public_.size(), public_memory_);
    } else {
        check(ucd_ucx_window_create(rma_, public_.data(), public_.size(), UCD_INFO__NULL,
                                    &public_window_),
              "a window");
    }
    check(ucd_ucx_window_key(vault_window_, &vault_key_), "a key");
    check(ucd_ucx_window_key(public_window_, &public_key_), "a key");
}

Node::~Node() {
    (void)close();
}

Writer Node::own(bool is_private) const {
    return static_cast<Writer>((is_private ? private_0 : public_0) + self_);
}

void Node::progress() {
    if (pipeline_ != nullptr) ucd_ucx_progress(pipeline_);
    if (rma_ != nullptr) ucd_ucx_progress(rma_);
}

std::unique_ptr<Item> Node::make(const char *what, int peer) const {
    auto item = std::make_unique<Item>();
    item->what = what;
    item->peer = peer;
    return item;
}

void Node::make_result(Item &item, const Layout &layout) const {
    item.layout = layout;
    item.result = Guarded(layout.span());
}

// Keeps it until it is complete. A call must not be refused here.
bool Node::started(std::unique_ptr<Item> item, int rc, const char *function) {
    if (rc != UCD_SUCCESS) {
        found(finding::stuck, std::string(function) + " fails: " + ucd_ucx_last_error());
        return false;
    }
    if (item->request == UCD_UCX_REQUEST__NULL && item->check == Item::Check::nothing) return true;
    items_.push_back(std::move(item));
    return true;
}

void Node::on_message(void *self, unsigned, const void *header, std::size_t length,
                      ucd_ucx_data_t data, std::uint64_t bytes, ucp_ep_h) {
    static_cast<Node *>(self)->take({static_cast<const char *>(header), length}, data, bytes);
}

void Node::take(std::string_view header, ucd_ucx_data_t data, std::uint64_t bytes) {
    // Only the other honest peer knows such a header.
    const auto awaited = awaited_.find(std::string(header));
    if (awaited != awaited_.end()) {
        std::string expected = std::move(awaited->second);
        awaited_.erase(awaited);
        return take_honest(data, bytes, std::move(expected));
    }
    // One of the other's may still come when its endpoint is lost.
    const Held held = {data, bytes, hostile_ones | (honest_possible_ ? 0 : private_ones)};
    switch (rng_.below(held_.size() < 16 ? 4 : 3)) {
    case 0: (void)ucd_ucx_am_drop(pipeline_, data); break;
    case 1: receive_held(held, std::min<std::uint64_t>(bytes, 4096)); break;
    case 2: receive_held(held, rng_.below(1500)); break;
    default: held_.push_back(held);
    }
}

void Node::take_honest(ucd_ucx_data_t data, std::uint64_t bytes, std::string expected) {
    if (bytes != expected.size() && honest_possible_)
        found(finding::honest_wrong, "an active message has " + std::to_string(bytes) +
                                         " bytes in place of " + std::to_string(expected.size()));
    receive_exactly("receive active", std::move(expected), 0, data);
}

void Node::receive_held(const Held &held, std::uint64_t room) {
    auto item = make("receive hostile active", -1);
    item->check = Item::Check::contents;
    item->writers = held.writers;
    make_result(*item, layout_of(samples_.all()[0], room));
    const int rc = ucd_ucx_am_recv_nbx(pipeline_, held.data, item->result_at(), item->layout.count,
                                       item->layout.sample->type, nullptr, &item->request);
    started(std::move(item), rc, "ucd_ucx_am_recv_nbx");
}

void Node::settle_held() {
    if (held_.empty()) return;
    const std::size_t i = rng_.below(held_.size());
    const Held held = held_[i];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    if (rng_.chance(30))
        (void)ucd_ucx_am_drop(pipeline_, held.data);
    else
        receive_held(held, rng_.chance(70) ? std::min<std::uint64_t>(held.bytes, 4096)
                                           : rng_.below(1500));
}

void Node::post_receive() {
    if (pipeline_ == nullptr || items_.size() > 40) return;
    auto item = make("receive hostile tagged", -1);
    item->check = Item::Check::contents;
    item->writers = hostile_ones;
    make_result(*item, rng_.chance(20) ? layout_of(samples_.all()[0], 0)
                                       : samples_.draw(rng_, 1500, false, false));
    const ucp_tag_t tag = rng_.below(2) << 8 | rng_.below(3);
    const ucp_tag_t masks[] = {UINT64_MAX, honest_tag, honest_tag | 0xff};
    const int rc = ucd_ucx_recv_nbx(pipeline_, item->result_at(), item->layout.count,
                                    item->layout.sample->type, tag, masks[rng_.below(3)], nullptr,
                                    &item->request);
    started(std::move(item), rc, "ucd_ucx_recv_nbx");
}

void Node::cancel_one() {
    if (items_.empty() || pipeline_ == nullptr) return;
    Item &item = *items_[rng_.below(items_.size())];
    // One-sided operations cannot be cancelled, and the honest pair does not want to.
    const bool of_pipeline = item.check != Item::Check::put && item.what[0] != 'o';
    if (!of_pipeline || item.peer == 1 - self_ || item.request == UCD_UCX_REQUEST__NULL) return;
    item.cancelled = true;
    check(ucd_ucx_cancel(pipeline_, item.request), "ucd_ucx_cancel");
}

void Node::lose(int peer) {
    lose(ep(peer));
}

void Node::lose(ucp_ep_h lost) {
    if (lost == nullptr) return;
    const ucs_status_t status =
        rng_.chance(50) ? UCS_ERR_CONNECTION_RESET : UCS_ERR_ENDPOINT_TIMEOUT;
    if (pipeline_ != nullptr) check(ucd_ucx_lose_endpoint(pipeline_, lost, status), "lose");
    if (rma_ != nullptr) check(ucd_ucx_lose_endpoint(rma_, lost, status), "lose");
}

bool Node::idle_with(int peer) const {
    return std::none_of(items_.begin(), items_.end(),
                        [peer](const auto &item) { return item->peer == peer; });
}

bool Node::honest_is_done() const {
    return awaited_.empty() && idle_with(1 - self_);
}

std::string Node::left() const {
    std::string text;
    for (const auto &item : items_)
        text += std::string(text.empty() ? "" : ", ") + item->what + " " +
                std::to_string(item->peer) + (item->cancelled ? " (cancelled)" : "");
    return text;
}

std::string Node::honest_left() const {
    std::string left;
    for (const auto &item : items_)
        if (item->peer == 1 - self_) left += std::string(left.empty() ? "" : ", ") + item->what;
    if (!awaited_.empty()) left += left.empty() ? "a message is lost" : ", a message is lost";
    return left;
}

void Node::excuse_honest() {
    honest_possible_ = false;
    awaited_.clear();
    for (const auto &item : items_) {
        if (item->peer != 1 - self_) continue;
        item->excused = true;
        // A receive that no message has come for knows of no endpoint.
        if (item->what[0] == 'r') check(ucd_ucx_cancel(pipeline_, item->request), "ucd_ucx_cancel");
    }
}

void Node::give_up() {
    for (const auto &item : items_) {
        if (item->cancelled || item->what[0] == 'o' || pipeline_ == nullptr) continue;
        if (item->request == UCD_UCX_REQUEST__NULL) continue;
        item->cancelled = true;
        check(ucd_ucx_cancel(pipeline_, item->request), "ucd_ucx_cancel");
    }
    for (const Held &held : held_) (void)ucd_ucx_am_drop(pipeline_, held.data);
    held_.clear();
}

bool Node::close_windows() {
    if (public_memory_ != public_.data()) {
        std::copy_n(public_memory_, public_.size(), public_.data());
        public_memory_ = public_.data();
    }
    for (ucd_ucx_window_t *window : {&vault_window_, &public_window_})
        if (*window != nullptr && ucd_ucx_window_destroy(window) != UCD_SUCCESS) return false;
    return true;
}

Node::Charged Node::charged() const {
    Charged charged;
    for (const ucd_ucx::Ledger *ledger :
         {pipeline_ != nullptr ? &pipeline_->engine.ledger : nullptr,
          rma_ != nullptr ? &rma_->engine.ledger : nullptr}) {
        if (ledger == nullptr) continue;
        charged.all += ledger->bytes();
        for (int peer = 0; peer < peers; ++peer)
            if (peer != self_) charged.most = std::max(charged.most, ledger->bytes_of(ep(peer)));
    }
    return charged;
}

std::size_t Node::close() {
    if (pipeline_ == nullptr && rma_ == nullptr) return 0;
    check_windows();
    const std::size_t before = live_bytes();
    if (rma_ != nullptr && ucd_ucx_destroy(&rma_) != UCD_SUCCESS)
        found_fatal(finding::stuck, ucd_ucx_last_error());
    if (pipeline_ != nullptr && ucd_ucx_destroy(&pipeline_) != UCD_SUCCESS)
        found_fatal(finding::stuck, ucd_ucx_last_error());
    const std::size_t after = live_bytes();
    return before > after ? before - after : 0;
}

} // namespace ucdfuzz
