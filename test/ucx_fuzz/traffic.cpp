// What an honest peer starts.

#include "node.hpp"
#include "ucx/wire.hpp"

namespace ucdfuzz {

using namespace ucdtest::wire;

void Node::start_honest() {
    if (other_ == nullptr || !honest_possible_ || !other_->honest_possible_ || items_.size() > 40)
        return;
    const unsigned tagged = pipeline_ != nullptr, one_sided = rma_ != nullptr;
    switch (rng_.below(2 * tagged + 2 * one_sided)) {
    case 0: return tagged ? send_honest_tagged() : operate_honest();
    case 1: return tagged ? send_honest_active() : operate_honest();
    default: operate_honest();
    }
}

void Node::receive_exactly(const char *what, std::string expected, ucp_tag_t tag,
                           ucd_ucx_data_t data) {
    auto item = make(what, 1 - self_);
    item->check = Item::Check::exact;
    item->excused = !honest_possible_;
    make_result(*item, layout_of(samples_.all()[0], expected.size()));
    item->expected = std::move(expected);
    const int rc =
        data == nullptr
            ? ucd_ucx_recv_nbx(pipeline_, item->result_at(), item->layout.count,
                               item->layout.sample->type, tag, UINT64_MAX, nullptr, &item->request)
            : ucd_ucx_am_recv_nbx(pipeline_, data, item->result_at(), item->layout.count,
                                  item->layout.sample->type, nullptr, &item->request);
    started(std::move(item), rc, "a receive");
}

void Node::send_honest_tagged() {
    auto item = make("send tagged", 1 - self_);
    const Layout layout = samples_.draw(rng_, 1500, false, false);
    item->buffer = Guarded(layout.span());
    item->buffer.fill(written_by(own(true), layout.span(), rng_));
    const ucp_tag_t tag = honest_tag | ++number_;
    std::string expected = pack(item->buffer.data() - layout.low, layout);
    const bool early = rng_.chance(50);
    if (early) other_->receive_exactly("receive tagged", expected, tag, nullptr);
    const int rc =
        ucd_ucx_send_nbx(pipeline_, ep(1 - self_), item->buffer.data() - layout.low, layout.count,
                         layout.sample->type, tag, nullptr, &item->request);
    started(std::move(item), rc, "ucd_ucx_send_nbx");
    if (!early) other_->receive_exactly("receive tagged", std::move(expected), tag, nullptr);
}

void Node::send_honest_active() {
    auto item = make("send active", 1 - self_);
    const Layout layout = samples_.draw(rng_, 1500, false, false);
    item->buffer = Guarded(layout.span());
    item->buffer.fill(written_by(own(true), layout.span(), rng_));
    const std::string header = "honest" + std::to_string(rng_.bits());
    other_->awaited_[header] = pack(item->buffer.data() - layout.low, layout);
    const int rc = ucd_ucx_am_send_nbx(pipeline_, ep(1 - self_), 5, header.data(), header.size(),
                                       item->buffer.data() - layout.low, layout.count,
                                       layout.sample->type, nullptr, &item->request);
    started(std::move(item), rc, "ucd_ucx_am_send_nbx");
}

std::size_t Node::free_slot() const {
    std::size_t slot = rng_.below(slots);
    for (std::size_t i = 0; i < slots; ++i, slot = (slot + 1) % slots)
        if (!slots_[slot].busy) return slot;
    return slots;
}

// At the other's vault, whose model is brought to what it will be.
void Node::operate_honest() {
    const std::size_t slot = free_slot();
    if (slot == slots) return;
    slots_[slot].busy = true;
    const unsigned verb = put + static_cast<unsigned>(rng_.below(4));
    const bool sums = verb >= accumulate;
    const Layout target = samples_.draw(rng_, slot_bytes, sums, false);
    const std::size_t room = (slot_bytes - target.span()) / 8 + 1;
    const auto displacement =
        static_cast<std::int64_t>(slot * slot_bytes + 8 * rng_.below(room)) - target.low;
    static constexpr const char *names[] = {"", "one put", "one get", "one accumulate",
                                            "one get_accumulate"};
    static_assert(sizeof names / sizeof *names == get_accumulate + 1);
    auto item = make(names[verb][4] == 'p' ? "operation put"
                     : verb == get         ? "operation get"
                     : verb == accumulate  ? "operation accumulate"
                                           : "operation get_accumulate",
                     1 - self_);
    item->slot = slot;
    item->check = verb == get || verb == get_accumulate ? Item::Check::exact : Item::Check::put;
    item->buffer = Guarded(target.bytes);
    unsigned char *model = other_->vault_model_.data() + displacement;
    item->expected = pack(model, target);
    if (verb != get) {
        const std::string data = written_by(own(true), target.bytes, rng_);
        item->buffer.fill(data);
        unpack(data, model, target, sums ? UCD_OP__SUM : UCD_OP__REPLACE);
    }
    const int rc =
        start_operation(*item, verb, other_->vault_key_, displacement, target, UCD_OP__SUM);
    if (!started(std::move(item), rc, "an operation")) slots_[slot].busy = false;
}

// At the origin, data is contiguous.
int Node::start_operation(Item &item, unsigned verb, const ucd_ucx_window_key_t &key,
                          std::int64_t displacement, const Layout &target, ucd_op_t op) {
    const Sample &sample = samples_.all()[target.sample->of_ints ? 1 : 0];
    const Layout here = layout_of(sample, target.bytes / sample.size);
    const ucp_ep_h to = ep(item.peer);
    if (verb == get || verb == get_accumulate) make_result(item, here);
    switch (verb) {
    case put:
        return ucd_ucx_put_nbx(rma_, to, item.buffer.data(), here.count, sample.type, &key,
                               displacement, target.count, target.sample->type, nullptr,
                               &item.request);
    case get:
        return ucd_ucx_get_nbx(rma_, to, item.result_at(), here.count, sample.type, &key,
                               displacement, target.count, target.sample->type, nullptr,
                               &item.request);
    case accumulate:
        return ucd_ucx_accumulate_nbx(rma_, to, item.buffer.data(), here.count, sample.type, &key,
                                      displacement, target.count, target.sample->type, op, nullptr,
                                      &item.request);
    default:
        return ucd_ucx_get_accumulate_nbx(rma_, to, item.buffer.data(), here.count, sample.type,
                                          item.result_at(), here.count, sample.type, &key,
                                          displacement, target.count, target.sample->type, op,
                                          nullptr, &item.request);
    }
}

void Node::start_towards(int hostile) {
    if (ep(hostile) == nullptr || items_.size() > 40) return;
    const bool one_sided = rma_ != nullptr && (pipeline_ == nullptr || rng_.chance(50));
    if (!one_sided) {
        auto item = make("send to hostile", hostile);
        const Layout layout = samples_.draw(rng_, 1500, false, false);
        item->buffer = Guarded(layout.span());
        item->buffer.fill(written_by(own(false), layout.span(), rng_));
        const unsigned char *from = item->buffer.data() - layout.low;
        const std::string header = written_by(own(false), rng_.below(64), rng_);
        const int rc =
            rng_.chance(50)
                ? ucd_ucx_send_nbx(pipeline_, ep(hostile), from, layout.count, layout.sample->type,
                                   1, nullptr, &item->request)
                : ucd_ucx_am_send_nbx(pipeline_, ep(hostile), 1, header.data(), header.size(), from,
                                      layout.count, layout.sample->type, nullptr, &item->request);
        started(std::move(item), rc, "a send");
        return;
    }
    const unsigned verb = put + static_cast<unsigned>(rng_.below(4));
    const Layout target = samples_.draw(rng_, 1000, verb >= accumulate, false);
    auto item = make("operation at hostile", hostile);
    item->writers = set_of(static_cast<Writer>(hostile_0 + hostile - honest_peers));
    // What this peer itself has written into a window that the hostile one has granted.
    if (settings_.keys.at("ucd.ucx.direct") != "no") item->writers |= set_of(own(false));
    item->check =
        verb == get || verb == get_accumulate ? Item::Check::contents : Item::Check::nothing;
    item->buffer = Guarded(target.bytes);
    item->buffer.fill(written_by(own(false), target.bytes, rng_));
    // Of two elements MAX keeps one, so that bytes still tell who has written them.
    const int rc =
        start_operation(*item, verb, other_->public_key(), -target.low, target, UCD_OP__MAX);
    started(std::move(item), rc, "an operation at a hostile peer");
}

} // namespace ucdfuzz
