// The windows of this worker, and what others do with them.
#pragma once

#include "rma_task.h"

#include <list>
#include <map>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

// Under the lock.
class Target {
public:
    Target(ucd_ucx_rma &owner, uint64_t types_limit) : rma(owner), types(types_limit) {}
    Target(const Target &) = delete;
    Target &operator=(const Target &) = delete;
    ~Target();

    void add(std::unique_ptr<ucd_ucx_window> window);
    Status remove(ucd_ucx_window &window);
    bool has_windows() const { return !windows_.empty(); }

    void take_request(const Delivery &delivery);
    void take_type(uint64_t number, const Delivery &delivery);
    void lose(ucp_ep_h ep, uint64_t before);
    // Asks devices, and says again what there was no memory for. Whether something moved.
    bool progress();

    // For tasks.
    ucd_ucx_rma &rma;
    TypesOfTarget types;
    void answer(ucp_ep_h ep, const Answer &answer);
    void end(Task &task);

private:
    struct Unsent {
        ucp_ep_h ep;
        std::string message;
    };
    void say(ucp_ep_h ep, std::string message);
    void park(Task &task);
    Status find_type(const Request &request, TypePtr &type);

    std::unordered_map<Name, std::unique_ptr<ucd_ucx_window>, HashOfName> windows_;
    std::list<Task> tasks_;
    std::map<std::pair<ucp_ep_h, uint64_t>, Task *> parked_; // until their types come
    std::vector<Unsent> unsent_;
};

Verdict verdict_of(int ucd);

} // namespace ucd_ucx::rma
