// How operations end that nobody waits for any more: in this call of progress and in later ones.

#include "rma/one_sided.h"

#include <iterator>
#include <utility>

namespace ucd_ucx::rma {

Status Target::remove(ucd_ucx_window &window) {
    if (window.at_work > 0)
        return fail(UCD_ERR__INVALID_ARG, "*window has an operation at work on it");
    if (!rma.access.withdraw(window))
        return fail(UCD_ERR__INVALID_ARG, "*window is being accessed by an origin");
    const auto found = windows_.find(window.name);
    gone_.push_back(std::move(found->second));
    windows_.erase(found);
    for (auto &[ep, peer] : peers_) peer->forget(window);
    window.be_gone();
    (void)end_gone();
    rma.messages.send_gathered();
    return success;
}

void Target::on_endpoint_failed(ucp_ep_h ep, uint64_t before) {
    std::erase_if(unsent_, [ep](const Unsent &u) { return u.ep == ep; });
    rma.messages.forget_gathered(ep);
    part_from(ep, before);
}

// Each part may throw std::bad_alloc only before anything has changed.
void Target::part_from(ucp_ep_h ep, uint64_t before) {
    const auto found = peers_.find(ep);
    if (found == peers_.end()) return;
    // An endpoint may have been made at the same address since. The operations that have come over
    // it are those of another peer.
    std::unique_ptr<Peer> next;
    if (found->second->newest >= before) next = std::make_unique<Peer>(ledger_, ep);
    lost_.emplace_back();
    lost_.back() = std::exchange(found->second, std::move(next));
    Peer &lost = *lost_.back();
    if (found->second != nullptr)
        move_newer(lost, *found->second, before);
    else
        peers_.erase(found);
    LinkedList<Peer>::remove(lost);
    lost.forget_endpoint();
    if (last_ep_ == ep) last_peer_ = nullptr;
}

void Target::move_newer(Peer &from, Peer &to, uint64_t before) {
    for (std::list<Task> Peer::*tasks : {&Peer::tasks, &Peer::at_work})
        for (auto next = (from.*tasks).begin(); next != (from.*tasks).end();) {
            const auto task = next++;
            if (task->since() < before) continue;
            (to.*tasks).splice((to.*tasks).end(), from.*tasks, task);
            task->set_peer(to);
            to.newest = from.newest;
            to.transfers += task->has_transfer();
            from.transfers -= task->has_transfer();
            const auto parked = from.parked.find(task->number());
            if (parked != from.parked.end() && parked->second == &*task)
                to.parked.insert(from.parked.extract(parked));
        }
    for (std::size_t left = from.waiting.size(); left > 0; --left) {
        Task &task = from.waiting.pop();
        task.peer().waiting.push(task);
    }
    if (!to.waiting.empty()) waiting_peers_.push(to);
}

bool Target::end_lost() {
    bool any = false;
    for (auto at = lost_.begin(); at != lost_.end() && ends_left_ > 0;) {
        Peer &peer = **at;
        while (!peer.tasks.empty() && ends_left_ > 0) {
            --ends_left_;
            end(peer.tasks.front());
        }
        any = true;
        at = peer.tasks.empty() && peer.at_work.empty() ? lost_.erase(at) : std::next(at);
    }
    return any;
}

bool Target::end_gone() {
    for (auto at = gone_.begin(); at != gone_.end();) {
        ucd_ucx_window &window = **at;
        while (!window.tasks.empty() && ends_left_ > 0) {
            --ends_left_;
            window.tasks.front().refuse(Verdict::no_window);
        }
        if (!window.tasks.empty()) return true;
        LinkedList<ucd_ucx_window>::remove(window);
        at = gone_.erase(at);
    }
    return false;
}

} // namespace ucd_ucx::rma
