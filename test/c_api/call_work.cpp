// Makes one call again and again, in host memory: call_work NAME TIMES. call_work_test.py counts
// its instructions.
#include <ucd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

int main(int argc, char **argv) {
    ucd_type_t eight = UCD_TYPE__NULL, pairs = UCD_TYPE__NULL; // 64 bytes in either
    int status = ucd_init(UCD_INFO__NULL);
    status |= ucd_create_vector(8, 1, 2, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &eight);
    status |= ucd_create_vector(4, 2, 3, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &pairs);
    std::array<double, 64> in{}, out{};
    std::uintptr_t actual;
    ucd_request_t request;
    ucd_move_t move = UCD_MOVE__INIT;
    move.inbuf = in.data();
    move.incount = 1;
    move.intype = eight;
    move.outbuf = out.data();
    move.outcount = 64;
    std::array<ucd_move_t, 100> list;
    list.fill(move);
    ucd_plan_t plan = UCD_PLAN__NULL;
    status |= ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan);
    const void *const inbufs[] = {in.data()};
    void *const outbufs[] = {out.data()};

    const auto pack = [&](std::uintptr_t count, std::uintptr_t offset, ucd_op_t op) {
        return ucd_pack(in.data(), count, eight, offset, out.data(), 128, &actual, UCD_INFO__NULL,
                        op);
    };
    const std::map<std::string, std::function<int()>> calls = {
        {"pack", [&] { return pack(1, 0, UCD_OP__REPLACE); }},
        {"pack_two", [&] { return pack(2, 0, UCD_OP__REPLACE); }},
        {"pack_rest", [&] { return pack(1, 8, UCD_OP__REPLACE); }},
        {"pack_sum", [&] { return pack(1, 0, UCD_OP__SUM); }},
        {"copy",
         [&] {
             return ucd_copy(in.data(), 1, eight, out.data(), 1, pairs, &actual, UCD_INFO__NULL,
                             UCD_OP__REPLACE);
         }},
        {"list",
         [&] {
             return ucd_imove(list.data(), list.size(), UCD_INFO__NULL, UCD_OP__REPLACE, &request);
         }},
        {"plan", [&] { return ucd_plan_start(plan, &request); }},
        {"plan_with", [&] { return ucd_plan_start_with(plan, inbufs, outbufs, &request); }},
        {"plan_create",
         [&] {
             ucd_plan_t made = UCD_PLAN__NULL;
             return ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &made) |
                    ucd_plan_free(&made);
         }},
    };
    const auto call = calls.find(argc == 3 ? argv[1] : "");
    if (call == calls.end()) return 2;
    for (int left = std::atoi(argv[2]); left > 0; --left) status |= call->second();
    status |= ucd_plan_free(&plan) | ucd_free(&eight) | ucd_free(&pairs) | ucd_finalize();
    if (status != UCD_SUCCESS) std::fprintf(stderr, "%s\n", ucd_last_error());
    return status == UCD_SUCCESS ? 0 : 1;
}
