// One operation at its target, from its message until it is answered.
#pragma once

#include "rma/payload.h"
#include "rma/rma_message.h"
#include "rma/rma_operation.h"
#include "rma/rma_types.h"
#include "rma/rma_window.h"

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
class Task final : public DeviceWork {
public:
    Task(Target &target, ucd_ucx_window &window, const Request &request, WindowHandle handle,
         const ContentId &type_id, Delivery &&delivery);
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    // Its type is known.
    void begin(TypePtr type);
    // Its type will be: these are the bytes.
    void receive_type(Delivery delivery);

    // It is the first in its window's queue.
    void take_turn();
    // Something is under way that needs it.
    bool at_work() const { return at_work_; }

    void refuse(Verdict verdict, int ucd = UCD_SUCCESS);
    // Its origin is gone.
    void on_endpoint_failed();

    ucd_ucx_window &window() const { return window_; }
    ucp_ep_h ep() const { return ep_; }
    uint32_t number() const { return request_.number; }
    uint64_t since() const { return since_; }
    uint64_t charged() const { return charged_; } // bytes of its origin's account
    std::list<Task>::iterator place;              // among the target's

private:
    static void on_type(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *task);
    static void on_answered(ucd_ucx_request_t, const ucd_ucx_result_t *result, void *task);
    void learn(std::string_view flattened);
    void receive();
    void received(const ucd_ucx_result_t &result);
    void fetch();
    void fetched(Status status);
    // The device's part that is under way.
    void moved(ucd_ucx_pipeline &, Status status) override;
    bool await_device(int rc);
    bool charge(uint64_t bytes); // false: its origin keeps too much here
    void send_data(const Data &data, uint64_t eager, ucd_info_t info);
    Answer result(Verdict verdict, int ucd = UCD_SUCCESS) const;

    Target &target_;
    ucd_ucx_window &window_;
    Request request_; // but for the type
    const WindowHandle handle_;
    const ContentId type_id_;
    Payload payload_;
    ucp_ep_h ep_; // null: there is nobody to answer
    const uint64_t since_;
    uint64_t charged_;
    TypePtr type_;
    Memory flattened_, old_; // a type that comes; what a window had
    uint64_t flattened_bytes_ = 0;
    uint64_t bytes_ = 0; // of the packed stream
    uint64_t granule_ = 1;
    bool at_work_ = false;
    bool unpacking_ = false; // that is what the device does; else it fetches
};

} // namespace ucd_ucx::rma
