#include "ucx/families.hpp"

#include "support/fake_device/fake_driver.h"
#include "support/spared_allocations.hpp"

#include <chrono>
#include <cstring>
#include <stdexcept>

namespace ucdtest {

const char *to_text(Means means) {
    static constexpr const char *texts[] = {
        "a tagged transfer", "an active message", "a put", "a get",
        "an accumulate",     "a get_accumulate"};
    return texts[static_cast<std::size_t>(means)];
}

// Memory ------------------------------------------------------------------

SparseInts::SparseInts(std::size_t ints, int first, bool on_device, bool irregular)
    : memory_(2 * ints, -1) {
    for (std::size_t i = 0; i < ints; ++i) {
        places_.push_back(static_cast<std::intptr_t>(2 * i + (irregular && i * i % 7 == 3)));
        values_.push_back(first + static_cast<int>(i));
        memory_[static_cast<std::size_t>(places_[i])] = values_[i];
    }
    const auto count = static_cast<std::intptr_t>(ints);
    ok(irregular
           ? ucd_create_indexed_block(count, 1, places_.data(), UCD_TYPE__INT, nullptr, &type_)
           : ucd_create_vector(count, 1, 2, UCD_TYPE__INT, nullptr, &type_),
       "a type");
    if (!on_device) return;
    device_ = mock::allocate(ucd::MemoryKind::device, 0, bytes());
    mock::write(device_, memory_.data(), bytes());
}

SparseInts::~SparseInts() {
    (void)ucd_free(&type_);
    if (device_ != nullptr) mock::release(device_);
}

std::vector<int> SparseInts::read() const {
    std::vector<int> now = memory_;
    if (device_ != nullptr) mock::read(now.data(), device_, bytes());
    return now;
}

std::vector<int> SparseInts::values() const {
    const std::vector<int> now = read();
    std::vector<int> values;
    for (const std::intptr_t place : places_)
        values.push_back(now[static_cast<std::size_t>(place)]);
    return values;
}

bool SparseInts::gaps_are_whole() const {
    std::vector<int> now = read();
    for (const std::intptr_t place : places_) now[static_cast<std::size_t>(place)] = -1;
    return now == std::vector<int>(now.size(), -1);
}

// Sides -------------------------------------------------------------------

FamilyPair::FamilyPair(Means by, std::initializer_list<std::pair<std::string, std::string>> keys,
                       ucs_thread_mode_t mode)
    : means(by) {
    if (is_one_sided(means))
        one_sided_ = std::make_unique<RmaPair>(keys, mode);
    else
        transfers_ = std::make_unique<TwoSides>(keys, mode);
    if (means == Means::active)
        ok(ucd_ucx_am_set_handler(b().pipeline, on_message, this), "ucd_ucx_am_set_handler");
}

RmaSide &FamilyPair::rma_side(const Side &side) const {
    return &side == &one_sided_->a.side ? one_sided_->a : one_sided_->b;
}

void FamilyPair::progress_a() {
    if (one_sided_)
        one_sided_->a.progress();
    else
        ucd_ucx_progress(transfers_->a.pipeline);
}

void FamilyPair::progress_b() {
    if (one_sided_)
        one_sided_->b.progress();
    else
        ucd_ucx_progress(transfers_->b.pipeline);
}

void FamilyPair::progress() {
    progress_a();
    progress_b();
}

void FamilyPair::until(const std::function<bool()> &condition) {
    one_sided_ ? one_sided_->until(condition) : transfers_->until(condition);
}

void FamilyPair::lose_endpoint(Side &side, ucs_status_t status) {
    ok(one_sided_ ? ucd_ucx_lose_endpoint(rma_side(side).rma, side.ep, status)
                  : ucd_ucx_lose_endpoint(side.pipeline, side.ep, status),
       "lose_endpoint");
}

void FamilyPair::close_endpoint(Side &side) {
    one_sided_ ? rma_side(side).close_endpoint() : side.close_endpoint();
}

void FamilyPair::connect() {
    a().connect(b().address());
    b().connect(a().address());
}

bool FamilyPair::is_usable() {
    for (const std::size_t ints : {std::size_t{10}, std::size_t{2000}}) {
        FamilyMove move(*this, {.ints = ints}, 99);
        ok(move.start(), to_text(means));
        until([&] { return move.done(); });
        if (move.result().status != UCS_OK || !move.is_right()) return false;
    }
    return true;
}

// The header is the tag of the move.
void FamilyPair::on_message(void *argument, unsigned, const void *header, std::size_t,
                            ucd_ucx_data_t data, std::uint64_t, ucp_ep_h) {
    auto *pair = static_cast<FamilyPair *>(argument);
    ucp_tag_t tag;
    std::memcpy(&tag, header, sizeof tag);
    const std::lock_guard held(pair->lock_); // so that no other thread ends the move meanwhile
    const auto found = pair->awaited_.find(tag);
    FamilyMove *move = found == pair->awaited_.end() ? nullptr : found->second;
    if (move != nullptr && move->receive_active(data) == UCD_SUCCESS) return;
    ok(ucd_ucx_am_drop(pair->b().pipeline, data), "ucd_ucx_am_drop");
    if (move == nullptr) return;
    move->second.result.status = UCS_ERR_NO_MEMORY;
    move->second.calls = 1;
}

// Moves -------------------------------------------------------------------

FamilyMove::FamilyMove(FamilyPair &pair, const MoveShape &shape, ucp_tag_t tag)
    : pair_(pair), tag_(tag), late_(shape.late), a_(shape.ints, 1000, shape.device_at_a),
      old_(shape.ints, 0, shape.device_at_a),
      b_(shape.ints - shape.missing, 500000, shape.device_at_b, shape.irregular) {
    if (!is_one_sided(pair.means)) return;
    ok(ucd_ucx_window_create(pair.one_sided_->b.rma, b_.data(), b_.bytes(), nullptr, &window_),
       "ucd_ucx_window_create");
    ok(ucd_ucx_window_key(window_, &key_), "ucd_ucx_window_key");
}

FamilyMove::~FamilyMove() {
    forget();
    if (window_ != UCD_UCX_WINDOW__NULL) destroy_window(window_, [&] { pair_.progress(); });
}

void FamilyMove::forget() {
    const std::lock_guard held(pair_.lock_);
    pair_.awaited_.erase(tag_);
}

bool FamilyMove::ends_window() {
    return window_ == UCD_UCX_WINDOW__NULL || ucd_ucx_window_destroy(&window_) == UCD_SUCCESS;
}

int FamilyMove::receive_active(ucd_ucx_data_t data) {
    const ucd_ucx_param_t p = second.param();
    return ucd_ucx_am_recv_nbx(pair_.b().pipeline, data, b_.data(), 1, b_.type(), &p,
                               &second.request);
}

int FamilyMove::start() {
    if (is_one_sided(pair_.means)) return start_operation(pair_.one_sided_->a);
    Side &from = pair_.a(), &to = pair_.b();
    const ucd_ucx_param_t p = first.param();
    const auto receive = [&] { start_receive(to, {b_.data(), 1, b_.type()}, second, tag_); };
    int rc;
    if (pair_.means == Means::tagged) {
        if (!late_) receive();
        rc = ucd_ucx_send_nbx(from.pipeline, from.ep, a_.data(), 1, a_.type(), tag_, &p,
                              &first.request);
        for (int i = 0; late_ && i < 5; ++i) pair_.progress();
        if (late_) receive();
    } else {
        {
            const std::lock_guard held(pair_.lock_);
            pair_.awaited_[tag_] = this;
        }
        rc = ucd_ucx_am_send_nbx(from.pipeline, from.ep, 1, &tag_, sizeof tag_, a_.data(), 1,
                                 a_.type(), &p, &first.request);
    }
    if (rc == UCD_SUCCESS) first.started();
    return rc;
}

int FamilyMove::start_operation(RmaSide &side) {
    const ucd_ucx_param_t p = first.param();
    switch (pair_.means) {
    case Means::put:
        return ucd_ucx_put_nbx(side.rma, side.ep(), a_.data(), 1, a_.type(), &key_, 0, 1, b_.type(),
                               &p, &first.request);
    case Means::get:
        return ucd_ucx_get_nbx(side.rma, side.ep(), a_.data(), 1, a_.type(), &key_, 0, 1, b_.type(),
                               &p, &first.request);
    case Means::accumulate:
        return ucd_ucx_accumulate_nbx(side.rma, side.ep(), a_.data(), 1, a_.type(), &key_, 0, 1,
                                      b_.type(), UCD_OP__SUM, &p, &first.request);
    default:
        return ucd_ucx_get_accumulate_nbx(side.rma, side.ep(), a_.data(), 1, a_.type(), old_.data(),
                                          1, old_.type(), &key_, 0, 1, b_.type(), UCD_OP__SUM, &p,
                                          &first.request);
    }
}

int FamilyMove::cancel_send() {
    return first.request == nullptr ? UCD_SUCCESS
                                    : ucd_ucx_cancel(pair_.a().pipeline, first.request);
}

void FamilyMove::cancel_receive() {
    if (is_one_sided(pair_.means) || second.done()) return;
    if (second.request != nullptr)
        return ok(ucd_ucx_cancel(pair_.b().pipeline, second.request), "ucd_ucx_cancel");
    forget(); // its message has not come
    second.result.status = UCS_ERR_CANCELED;
    second.calls = 1;
}

const ucd_ucx_result_t &FamilyMove::result() const {
    return first.result.status != UCS_OK || is_one_sided(pair_.means) ? first.result
                                                                      : second.result;
}

bool FamilyMove::is_right() const {
    std::vector<int> sum = a_.first_values();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b_.first_values()[i];
    const bool sums = pair_.means == Means::accumulate || pair_.means == Means::get_accumulate;
    const bool gets = pair_.means == Means::get;
    const std::vector<int> &at_a = gets ? b_.first_values() : a_.first_values();
    const std::vector<int> &at_b = sums ? sum : gets ? b_.first_values() : a_.first_values();
    return a_.values() == at_a && b_.values() == at_b && gaps_are_whole() &&
           old_.values() ==
               (pair_.means == Means::get_accumulate ? b_.first_values() : old_.first_values());
}

bool FamilyMove::gaps_are_whole() const {
    return a_.gaps_are_whole() && old_.gaps_are_whole() && b_.gaps_are_whole();
}

} // namespace ucdtest
