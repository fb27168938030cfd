#include "cases/batch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace bench {

RecipePtr box_type(std::int64_t row, std::int64_t rows, std::int64_t row_stride,
                   std::int64_t planes, std::int64_t plane_stride) {
    const std::int64_t unit = row % 8 == 0 ? 8 : 1;
    return recipe(HVector{planes, 1, plane_stride,
                          recipe(HVector{rows, row / unit, row_stride,
                                         unit == 8 ? doubles() : predefined(Element::byte)})});
}

RecipePtr BatchCase::all() const {
    Struct all;
    for (const Member &m : members) {
        all.blocklengths.push_back(1);
        all.displs.push_back(m.at);
        all.types.push_back(types[m.type]);
    }
    return recipe(std::move(all));
}

Batch::Batch(const BatchCase &batch, Device &device, MemoryKind packed)
    : bench_(*batch.all(), device, MemoryKind::own, packed), op_(batch.op) {
    for (const RecipePtr &type : batch.types) types_.emplace_back(*type);
    char *next = bench_.packed();
    for (const Member &m : batch.members) {
        char *const typed = bench_.typed() + m.at;
        const ucd_type_t type = types_[m.type].get();
        for (const bool packs : {false, true})
            lists_[packs].push_back(list_member(packs, type, typed, next, m.bytes()));
        next += m.bytes();
    }
}

void Batch::start(ucd_request_t &request, bool pack, ucd_info_t info) {
    check_ucd(ucd_imove(lists_[pack].data(), members(), info, op_, &request));
}

Work Batch::in_one(bool pack, ucd_info_t info) {
    return repeated([=, this] {
        ucd_request_t request;
        start(request, pack, info);
        check_ucd(ucd_wait(&request));
    });
}

Work Batch::one_by_one(bool pack, ucd_info_t info) {
    return repeated([=, this] {
        std::uintptr_t moved;
        for (const ucd_move_t &m : lists_[pack])
            check_ucd(
                pack
                    ? ucd_pack(m.inbuf, 1, m.intype, 0, m.outbuf, m.outcount, &moved, info, op_)
                    : ucd_unpack(m.inbuf, m.incount, m.outbuf, 1, m.outtype, 0, &moved, info, op_));
    });
}

double Batch::start_cost(ucd_info_t info) {
    std::vector<double> seconds;
    for (int i = 0; i < 21; ++i) {
        ucd_request_t request;
        const auto begin = std::chrono::steady_clock::now();
        start(request, true, info);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        check_ucd(ucd_wait(&request));
        seconds.push_back(took.count() / static_cast<double>(members()));
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

void Batch::check(const Contender &contender, bool pack) {
    op_ == UCD_OP__REPLACE ? bench_.check(contender, pack) : check_sums(contender);
}

// Small doubles, added to ones.
void Batch::check_sums(const Contender &contender) {
    Device &device = bench_.device();
    std::vector<double> typed(static_cast<std::size_t>(bench_.footprint()) / sizeof(double)),
        ones(bench_.size() / sizeof(double), 1.0), expected, found(ones.size());
    for (std::size_t i = 0; i < typed.size(); ++i) typed[i] = static_cast<double>(i % 4093);
    for (const Segment &s : bench_.segments())
        for (std::intptr_t at = s.displacement; at < s.displacement + s.bytes; at += 8)
            expected.push_back(typed[static_cast<std::size_t>(at) / sizeof(double)] + 1);
    device.copy(bench_.typed(), typed.data(), typed.size() * sizeof(double));
    device.copy(bench_.packed(), ones.data(), ones.size() * sizeof(double));
    contender.work(1);
    device.copy(found.data(), bench_.packed(), found.size() * sizeof(double));
    if (found != expected)
        throw std::runtime_error(fmt::format("{}: a sum is wrong", contender.name));
}

} // namespace bench
