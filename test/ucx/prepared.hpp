// What ucd_ucx_prepare gives, and transfers of it by UCP's own calls.
#pragma once

#include "support/catch.hpp"
#include "support/moves/subject.hpp"
#include "ucx/pair.hpp"

#include <utility>

namespace ucdtest {

// What UCP is given for a typed buffer.
struct Prepared {
    void *buf = nullptr;
    std::size_t count = 0;
    ucp_datatype_t datatype = 0;
    Prepared(void *address, std::uintptr_t elements, ucd_type_t type, ucd_info_t info) {
        ok(ucd_ucx_prepare(address, elements, type, info, &buf, &count, &datatype),
           "ucd_ucx_prepare");
    }
    Prepared(void *address, const Subject &s, ucd_info_t info)
        : Prepared(address, s.count, s.type(), info) {}
    Prepared(const Prepared &) = delete;
    Prepared &operator=(const Prepared &) = delete;
    ~Prepared() {
        if (datatype != 0 || buf != nullptr) CHECK(ucd_ucx_release(buf, datatype) == UCD_SUCCESS);
    }
    ucp_datatype_t form() const { return datatype & UCP_DATATYPE_CLASS_MASK; }
};

struct Done {
    ucs_status_t status = UCS_INPROGRESS;
    std::size_t length = 0;
};

inline void on_sent(void *request, ucs_status_t status, void *done) {
    ucp_request_free(request);
    static_cast<Done *>(done)->status = status;
}

inline void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                        void *done) {
    ucp_request_free(request);
    static_cast<Done *>(done)->length = info->length;
    static_cast<Done *>(done)->status = status;
}

inline ucp_request_param_t param_for(Done &done, ucp_datatype_t datatype) {
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                     UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    p.user_data = &done;
    p.datatype = datatype;
    return p;
}

// Sends one to the other with ucp_tag_send_nbx and ucp_tag_recv_nbx.
inline std::pair<Done, Done> exchange(TwoSides &sides, const Prepared &from, const Prepared &to) {
    std::pair<Done, Done> done;
    ucp_request_param_t p = param_for(done.first, from.datatype);
    p.cb.send = on_sent;
    ucp_request_param_t q = param_for(done.second, to.datatype);
    q.cb.recv = on_received;
    const auto receive = ucp_tag_recv_nbx(sides.b.worker, to.buf, to.count, 1, 1, &q);
    const auto send = ucp_tag_send_nbx(sides.a.ep, from.buf, from.count, 1, &p);
    REQUIRE(!UCS_PTR_IS_ERR(receive));
    REQUIRE(!UCS_PTR_IS_ERR(send));
    sides.until([&] {
        return done.first.status != UCS_INPROGRESS && done.second.status != UCS_INPROGRESS;
    });
    return done;
}

} // namespace ucdtest
