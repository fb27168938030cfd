#include "rma_target.h"

#include "pipeline.h"
#include "rma.h"

#include <algorithm>

namespace ucd_ucx::rma {

Verdict verdict_of(int ucd) {
    switch (ucd) {
    case UCD_SUCCESS: return Verdict::done;
    case UCD_ERR__OUT_OF_MEM: return Verdict::no_memory;
    case UCD_ERR__NOT_SUPPORTED: return Verdict::not_supported;
    case UCD_ERR__CORRUPT: return Verdict::invalid;
    default: return Verdict::failed;
    }
}

Target::~Target() = default;

void Target::add(std::unique_ptr<ucd_ucx_window> window) {
    const Name name = window->name;
    windows_.emplace(name, std::move(window));
}

Status Target::remove(ucd_ucx_window &window) {
    std::vector<Task *> waiting;
    for (Task &task : tasks_) {
        if (&task.window() != &window) continue;
        if (task.at_work())
            return fail(UCD_ERR__INVALID_ARG, "*window has an operation at work on it");
        waiting.push_back(&task);
    }
    for (Task *task : waiting) task->refuse(Verdict::no_window);
    windows_.erase(Name(window.name));
    return success;
}

void Target::take_request(const Delivery &delivery) {
    Preamble preamble;
    (void)decode(delivery.message, preamble); // is good: the caller has seen it
    Request request;
    ucd_ucx_window *window = nullptr;
    TypePtr type;
    Verdict verdict = Verdict::invalid;
    if (decode(delivery.message, request)) {
        const bool sends = request.verb != Verb::get && request.op >= 0;
        const auto found = windows_.find(request.window);
        if (found == windows_.end()) {
            verdict = Verdict::no_window;
        } else if (delivery.bytes == (sends ? request.bytes : 0)) {
            window = found->second.get();
            verdict = verdict_of(find_type(request, type).code());
        }
    }
    if (verdict != Verdict::done) {
        rma.drop(delivery.data);
        return answer(delivery.ep, {verdict, UCD_SUCCESS, preamble.number});
    }
    Task &task = tasks_.emplace_front(*this, *window, request, delivery, rma.now());
    task.place = tasks_.begin();
    if (type != nullptr)
        task.begin(std::move(type));
    else
        park(task);
}

// Success without a type: it is to be asked for.
Status Target::find_type(const Request &request, TypePtr &type) {
    if (request.type_is_here) return types.learn(request.type, type);
    Name name;
    std::copy_n(request.type.begin(), name.size(), name.begin());
    type = types.find(name);
    return success;
}

void Target::park(Task &task) {
    const bool is_new = parked_.emplace(std::pair(task.ep(), task.number()), &task).second;
    if (!is_new) return task.refuse(Verdict::invalid);
    say(task.ep(), encode(Preamble{Verb::need_type, 0, 0, task.number()}));
}

void Target::take_type(uint64_t number, const Delivery &delivery) {
    const auto found = parked_.find({delivery.ep, number});
    if (found == parked_.end()) return rma.drop(delivery.data);
    Task &task = *found->second;
    parked_.erase(found);
    task.receive_type(delivery);
}

void Target::answer(ucp_ep_h ep, const Answer &answer) {
    say(ep, encode(answer));
}

void Target::say(ucp_ep_h ep, std::string message) {
    if (ep == nullptr) return;
    ucd_ucx_request_t request;
    const Status status =
        rma.send(ep, message, {.hints = &rma.pipeline->for_host}, nullptr, 1, &request);
    if (status.ok()) return ucd_ucx_request_free(request);
    // Any other failure is the endpoint's.
    if (status.code() == UCD_ERR__OUT_OF_MEM) unsent_.push_back({ep, std::move(message)});
}

void Target::end(Task &task) {
    const auto parked = parked_.find({task.ep(), task.number()});
    if (parked != parked_.end() && parked->second == &task) parked_.erase(parked);
    std::list<Task> ended;
    ended.splice(ended.begin(), tasks_, task.place);
    task.window().leave(task);
}

void Target::lose(ucp_ep_h ep, uint64_t before) {
    std::erase_if(unsent_, [ep](const Unsent &u) { return u.ep == ep; });
    std::vector<Task *> lost;
    for (Task &task : tasks_)
        if (task.ep() == ep && task.since() < before) lost.push_back(&task);
    for (Task *task : lost) {
        parked_.erase({ep, task->number()});
        task->lose();
    }
}

bool Target::progress() {
    const auto unsent = std::exchange(unsent_, {});
    for (const Unsent &u : unsent) say(u.ep, u.message);
    std::vector<Task *> fetching;
    for (Task &task : tasks_)
        if (task.is_fetching()) fetching.push_back(&task);
    bool any = false;
    for (Task *task : fetching) any |= task->poll();
    return any;
}

} // namespace ucd_ucx::rma
