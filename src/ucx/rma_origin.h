// The operations that were started here.
#pragma once

#include "rma_operation.h"
#include "secret_numbers.h"

#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace ucd_ucx::rma {

// Under the lock.
class Origin {
public:
    Origin(ucd_ucx_rma &rma, uint64_t types_limit);
    Origin(const Origin &) = delete;
    Origin &operator=(const Origin &) = delete;

    Status start(const Arguments &arguments, ucd_ucx_request_t *request);
    Status flush(ucp_ep_h ep, const ucd_ucx_param_t *param, ucd_ucx_request_t *request);
    void fence(ucp_ep_h ep);

    void take_answer(const Answer &answer, const Delivery &delivery);
    void take_question(uint64_t number);
    void lose(ucp_ep_h ep, ucs_status_t status, uint64_t before);
    bool is_idle() const { return operations_.empty() && held_ == 0; }

    // For operations.
    ucd_ucx_rma &rma;
    TypesOfOrigin types;
    uint64_t new_number();
    // Whether the target is likely to know the type by its name; from now on it is.
    bool expect_known(ucp_ep_h ep, const Name &name);
    void ended(Operation &operation, const ucd_ucx_result_t &result);

private:
    // An endpoint. Behind a fence, which is a null pointer, operations are held.
    struct Lane {
        uint64_t active = 0;
        std::deque<std::unique_ptr<Operation>> held;
        std::unordered_set<Name, HashOfName> known;
        bool advancing = false;
    };
    void fence(Lane &lane);
    void advance(Lane &lane);
    void complete(Operation &operation, const ucd_ucx_result_t &result);

    std::unordered_map<uint64_t, Operation *> operations_; // by number: those that were sent
    std::unordered_map<ucp_ep_h, Lane> lanes_;
    uint64_t held_ = 0; // operations
    SecretNumbers numbers_;
};

} // namespace ucd_ucx::rma
