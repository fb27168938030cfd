#include "rma_origin.h"

#include "rma.h"

#include <algorithm>

namespace ucd_ucx::rma {
namespace {

// Names remembered of an endpoint. Forgetting them costs a longer message each.
constexpr std::size_t most_known = 4096;

} // namespace

Origin::Origin(ucd_ucx_rma &owner, uint64_t types_limit) : rma(owner), types(types_limit) {}

// That nobody can guess: who does not know it cannot answer.
uint64_t Origin::new_number() {
    uint64_t number;
    do number = numbers_.next();
    while (operations_.contains(number));
    return number;
}

bool Origin::expect_known(ucp_ep_h ep, const Name &name) {
    auto &known = lanes_[ep].known;
    if (known.contains(name)) return true;
    if (known.size() >= most_known) known.clear();
    known.insert(name);
    return false;
}

Status Origin::start(const Arguments &arguments, ucd_ucx_request_t *request) {
    auto operation = std::make_unique<Operation>(*this);
    UCD_UCX_TRY(operation->set(arguments));
    Lane &lane = lanes_[arguments.ep];
    if (lane.held.empty()) {
        operations_.emplace(operation->number(), operation.get());
        const Status status = operation->start();
        if (!status.ok()) {
            operations_.erase(operation->number());
            return status;
        }
        ++lane.active;
        *request = operation.release();
        return success;
    }
    UCD_UCX_TRY(operation->hold());
    *request = operation.get();
    lane.held.push_back(std::move(operation));
    ++held_;
    return success;
}

void Origin::fence(Lane &lane) {
    if (lane.active > 0 || !lane.held.empty()) lane.held.push_back(nullptr);
}

void Origin::fence(ucp_ep_h ep) {
    if (ep != nullptr) return fence(lanes_[ep]);
    for (auto &[endpoint, lane] : lanes_) fence(lane);
}

Status Origin::flush(ucp_ep_h ep, const ucd_ucx_param_t *param, ucd_ucx_request_t *request) {
    auto flush = std::make_unique<Flush>();
    UCD_UCX_TRY(flush->set({}, param));
    const auto await = [&](Operation *operation) {
        if (operation == nullptr || (ep != nullptr && operation->ep() != ep)) return;
        operation->flushes.push_back(flush.get());
        flush->await_one();
    };
    for (const auto &[number, operation] : operations_) await(operation);
    for (const auto &[endpoint, lane] : lanes_)
        for (const auto &operation : lane.held) await(operation.get());
    *request = flush->awaits_any() ? flush.release() : UCD_UCX_REQUEST__NULL;
    return success;
}

void Origin::take_answer(const Answer &answer, const Delivery &delivery) {
    const auto found = operations_.find(answer.number);
    if (found == operations_.end()) return rma.drop(delivery.data);
    found->second->answered(answer, delivery);
}

void Origin::take_question(uint64_t number) {
    const auto found = operations_.find(number);
    if (found != operations_.end()) found->second->type_asked_for();
}

void Origin::complete(Operation &operation, const ucd_ucx_result_t &result) {
    for (Flush *flush : std::exchange(operation.flushes, {}))
        if (flush->one_ended(result)) rma.finish(*flush, flush->result());
    rma.finish(operation, result);
}

void Origin::ended(Operation &operation, const ucd_ucx_result_t &result) {
    operations_.erase(operation.number());
    Lane &lane = lanes_[operation.ep()];
    --lane.active;
    complete(operation, result);
    advance(lane);
}

void Origin::advance(Lane &lane) {
    if (lane.advancing) return;
    lane.advancing = true;
    while (!lane.held.empty() && (lane.held.front() != nullptr || lane.active == 0)) {
        std::unique_ptr<Operation> operation = std::move(lane.held.front());
        lane.held.pop_front();
        if (operation == nullptr) continue;
        --held_;
        operations_.emplace(operation->number(), operation.get());
        ++lane.active;
        const Status status = operation->start();
        Operation &started = *operation.release();
        if (!status.ok()) ended(started, {UCS_ERR_IO_ERROR, status.code(), 0, 0});
    }
    lane.advancing = false;
}

void Origin::lose(ucp_ep_h ep, ucs_status_t status, uint64_t before) {
    const auto found = lanes_.find(ep);
    if (found == lanes_.end()) return;
    Lane &lane = found->second;
    lane.known.clear();
    std::deque<std::unique_ptr<Operation>> held;
    held.swap(lane.held);
    for (auto &operation : held) {
        if (operation == nullptr || operation->since() >= before) {
            lane.held.push_back(std::move(operation));
            continue;
        }
        --held_;
        complete(*operation.release(), {status, UCD_SUCCESS, 0, 0});
    }
    std::vector<Operation *> lost;
    for (const auto &[number, operation] : operations_)
        if (operation->ep() == ep && operation->since() < before) lost.push_back(operation);
    for (Operation *operation : lost) operation->fail(status, UCD_SUCCESS);
    advance(lane);
}

} // namespace ucd_ucx::rma
