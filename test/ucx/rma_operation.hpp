// One-sided operations of each kind on ints of this process.
#pragma once

#include "ucx/rma_pair.hpp"

#include <vector>

namespace ucdtest {

enum class What { put, get, accumulate, get_accumulate };
inline constexpr What every[] = {What::put, What::get, What::accumulate, What::get_accumulate};

struct RmaTestOperation {
    std::vector<int> in, out;
    Outcome o;
    explicit RmaTestOperation(std::size_t ints) : in(ints, 1), out(ints, -1) {}
    bool done() const { return o.done(); }
    ucs_status_t status() const { return o.result.status; }

    int start(What what, RmaSide &a, const ucd_ucx_window_key_t *key, std::intptr_t displacement,
              ucd_type_t target = UCD_TYPE__INT, std::size_t count = 0,
              ucd_info_t info = UCD_INFO__NULL) {
        const std::size_t n = in.size();
        if (count == 0) count = n;
        const ucd_ucx_param_t p = o.param(info);
        switch (what) {
        case What::put:
            return ucd_ucx_put_nbx(a.rma, a.ep(), in.data(), n, UCD_TYPE__INT, key, displacement,
                                   count, target, &p, &o.request);
        case What::get:
            return ucd_ucx_get_nbx(a.rma, a.ep(), out.data(), n, UCD_TYPE__INT, key, displacement,
                                   count, target, &p, &o.request);
        case What::accumulate:
            return ucd_ucx_accumulate_nbx(a.rma, a.ep(), in.data(), n, UCD_TYPE__INT, key,
                                          displacement, count, target, UCD_OP__SUM, &p, &o.request);
        case What::get_accumulate: break;
        }
        return ucd_ucx_get_accumulate_nbx(a.rma, a.ep(), in.data(), n, UCD_TYPE__INT, out.data(), n,
                                          UCD_TYPE__INT, key, displacement, count, target,
                                          UCD_OP__SUM, &p, &o.request);
    }
};

} // namespace ucdtest
