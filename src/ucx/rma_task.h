// One operation at its target.
#pragma once

#include "rma_message.h"
#include "rma_operation.h"
#include "rma_types.h"
#include "rma_window.h"

#include <cstdlib>
#include <list>
#include <memory>

namespace ucd_ucx::rma {

class Target;

// Memory that is not touched before it is used.
struct FreeMemory {
    void operator()(char *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char, FreeMemory>;

// Under the lock. A task ends itself.
class Task {
public:
    Task(Target &target, ucd_ucx_window &window, const Request &request, const Delivery &delivery,
         uint64_t since);
    ~Task();
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    // Its type is known.
    void begin(TypePtr type);
    // Its type will be: these are the bytes.
    void receive_type(const Delivery &delivery);
    const Name &type_name() const { return type_name_; }

    // It is the first in its window's queue.
    void take_turn();
    // Something is under way that needs it.
    bool at_work() const { return at_work_; }
    // A device has something to do for it.
    bool is_fetching() const { return fetching_ != UCD_REQUEST__NULL; }
    bool poll(); // whether it is done

    void refuse(Verdict verdict, int ucd = UCD_SUCCESS);
    // Its origin is gone.
    void lose();

    ucd_ucx_window &window() const { return window_; }
    ucp_ep_h ep() const { return ep_; }
    uint64_t number() const { return request_.number; }
    uint64_t since() const { return since_; }
    std::list<Task>::iterator place; // among the target's

private:
    static void on_type(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_answered(ucd_ucx_request_t, const ucd_ucx_result_t *result, void *task);
    Verdict check(uint64_t &element_bytes) const;
    void receive();
    void received(const ucd_ucx_result_t &result);
    void fetch();
    void fetched(Status status);
    void send_data(const Data &data, ucd_info_t info);

    Target &target_;
    ucd_ucx_window &window_;
    Request request_; // but for the type
    Name type_name_ = {};
    ucd_ucx_data_t data_; // until it is received or dropped
    ucp_ep_h ep_;         // null: there is nobody to answer
    const uint64_t since_;
    TypePtr type_;
    Memory flattened_, old_; // a type that comes; what a window had
    uint64_t flattened_bytes_ = 0;
    ucd_request_t fetching_ = UCD_REQUEST__NULL;
    bool at_work_ = false;
    uint64_t granule_ = 1;
};

} // namespace ucd_ucx::rma
