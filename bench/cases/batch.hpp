// Many small moves in one call.
#pragma once

#include "harness/workbench.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// Rows of bytes in planes; the packed bytes of a member follow those of the one before.
struct Member {
    std::int64_t at; // of its first byte in the typed memory
    std::int64_t row_stride, plane_stride;
    std::int32_t row, rows, planes;
    std::size_t type; // of BatchCase::types

    std::size_t bytes() const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(rows * planes);
    }
};

struct BatchCase {
    std::string name;
    std::vector<RecipePtr> types = {};
    std::vector<Member> members = {};
    ucd_op_t op = UCD_OP__REPLACE;

    RecipePtr all() const; // the members as one type
};

// A member's type.
RecipePtr box_type(std::int64_t row, std::int64_t rows, std::int64_t row_stride,
                   std::int64_t planes, std::int64_t plane_stride);

class Batch {
public:
    Batch(const BatchCase &batch, Device &device, MemoryKind packed = MemoryKind::own);

    Workbench &bench() { return bench_; }
    const std::vector<ucd_move_t> &packs() const { return lists_[1]; }
    const std::vector<UcdType> &types() const { return types_; }
    std::size_t members() const { return packs().size(); }

    // All in one call, which is waited for, or in one each.
    Work in_one(bool pack, ucd_info_t info = UCD_INFO__NULL);
    Work one_by_one(bool pack, ucd_info_t info = UCD_INFO__NULL);
    // Until the call returns that starts all: seconds for a member.
    double start_cost(ucd_info_t info);
    void start(ucd_request_t &request, bool pack, ucd_info_t info);

    // Throws if a contender does not do what it should, with the batch's op.
    void check(const Contender &contender, bool pack);

private:
    void check_sums(const Contender &contender);

    Workbench bench_;
    ucd_op_t op_;
    std::vector<UcdType> types_;
    std::vector<ucd_move_t> lists_[2]; // of unpacks, of packs
};

} // namespace bench
