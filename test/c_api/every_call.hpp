// Every function that needs the library to run, with good arguments.
#pragma once

#include "c_api/refusal.hpp"

#include <cstring>
#include <functional>
#include <vector>

namespace ucdtest {

// The handles that a call is given: good ones, unless a test changes them.
struct HandlesOfCall {
    ucd_type_t type = int_;
    ucd_info_t info = UCD_INFO__NULL;
    ucd_plan_t plan = UCD_PLAN__NULL;
};

struct EveryCall {
    const char *function;
    const char *argument;  // the name of the type or the plan; null if it takes none
    const char *arguments; // all of them, as they are written below
    std::function<int(Outputs &, HandlesOfCall &)> call;

    bool takes(const char *handle) const { return std::strstr(arguments, handle) != nullptr; }
};

inline std::vector<EveryCall> every_call() {
    static const std::intptr_t one[] = {1};
    static const int one_int[] = {1}, distribs[] = {UCD_DISTRIBUTE__BLOCK};
    static const ucd_stream_t stream = {"seq", 0, nullptr, nullptr, 0};
    static unsigned char in[64];
    static const ucd_ipc_handle_t no_handle = {};
    static ucd_move_t move = UCD_MOVE__INIT;
#define EVERY_CALL(function, argument, ...)                                                        \
    {                                                                                              \
#function, argument, #__VA_ARGS__,                                                         \
            []([[maybe_unused]] Outputs & o,                                                       \
               [[maybe_unused]] HandlesOfCall & h) { return function(__VA_ARGS__); }               \
    }
    return {
        EVERY_CALL(ucd_backend_count, nullptr, &o.number),
        EVERY_CALL(ucd_backend_get, nullptr, 0, &o.backend),
        EVERY_CALL(ucd_op_is_supported, "type", UCD_OP__SUM, h.type, "seq", &o.number),
        EVERY_CALL(ucd_create_contig, "oldtype", 1, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_dup, "oldtype", h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_vector, "oldtype", 1, 1, 1, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_hvector, "oldtype", 1, 1, 1, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_indexed_block, "oldtype", 1, 1, one, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_hindexed_block, "oldtype", 1, 1, one, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_indexed_block_ref, "oldtype", 1, 1, one, UCD_TYPE__INT64_T, 4, 0, 8,
                   h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_indexed, "oldtype", 1, one, one, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_hindexed, "oldtype", 1, one, one, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_struct, "types[0]", 1, one, one, &h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_subarray, "oldtype", 1, one, one, one, UCD_ORDER__C, h.type, h.info,
                   &o.type),
        EVERY_CALL(ucd_create_darray, "oldtype", 1, 0, 1, one, distribs, one, one_int, UCD_ORDER__C,
                   h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_ndarray, "oldtype", 1, one, one, h.type, h.info, &o.type),
        EVERY_CALL(ucd_create_resized, "oldtype", h.type, 0, 8, h.info, &o.type),
        EVERY_CALL(ucd_get_size, "type", h.type, &o.size),
        EVERY_CALL(ucd_get_extent, "type", h.type, &o.lb, &o.extent),
        EVERY_CALL(ucd_get_true_extent, "type", h.type, &o.lb, &o.extent),
        EVERY_CALL(ucd_get_layout, "type", 1, h.type, &o.layout),
        EVERY_CALL(ucd_get_advice, "type", 1, h.type, 0, 0, &o.advice),
        EVERY_CALL(ucd_get_memory, "type", nullptr, 1, h.type, h.info, o.text, sizeof o.text,
                   &o.size),
        EVERY_CALL(ucd_describe, "type", h.type, o.text, sizeof o.text, &o.size),
        EVERY_CALL(ucd_ipack, "type", in, 1, h.type, 0, o.data, 4, &o.size, h.info, replace,
                   &o.request),
        EVERY_CALL(ucd_iunpack, "type", in, 4, o.data, 1, h.type, 0, &o.size, h.info, replace,
                   &o.request),
        EVERY_CALL(ucd_pack, "type", in, 1, h.type, 0, o.data, 4, &o.size, h.info, replace),
        EVERY_CALL(ucd_unpack, "type", in, 4, o.data, 1, h.type, 0, &o.size, h.info, replace),
        EVERY_CALL(ucd_icopy, "intype", in, 1, h.type, o.data, 1, int_, &o.size, h.info, replace,
                   &o.request),
        EVERY_CALL(ucd_icopy, "outtype", in, 1, int_, o.data, 1, h.type, &o.size, h.info, replace,
                   &o.request),
        EVERY_CALL(ucd_copy, "intype", in, 1, h.type, o.data, 1, int_, &o.size, h.info, replace),
        EVERY_CALL(ucd_copy, "outtype", in, 1, int_, o.data, 1, h.type, &o.size, h.info, replace),
        EVERY_CALL(ucd_pack_stream, "type", in, 1, h.type, 0, o.data, 4, &o.size, h.info, replace,
                   stream),
        EVERY_CALL(ucd_unpack_stream, "type", in, 4, o.data, 1, h.type, 0, &o.size, h.info, replace,
                   stream),
        EVERY_CALL(ucd_copy_stream, "intype", in, 1, h.type, o.data, 1, int_, &o.size, h.info,
                   replace, stream),
        EVERY_CALL(ucd_copy_stream, "outtype", in, 1, int_, o.data, 1, h.type, &o.size, h.info,
                   replace, stream),
        EVERY_CALL(ucd_imove, nullptr, &move, 1, h.info, replace, &o.request),
        EVERY_CALL(ucd_move, nullptr, &move, 1, h.info, replace),
        EVERY_CALL(ucd_move_stream, nullptr, &move, 1, h.info, replace, stream),
        EVERY_CALL(ucd_plan_create, nullptr, &move, 1, h.info, replace, &o.plan),
        EVERY_CALL(ucd_plan_start, "plan", h.plan, &o.request),
        EVERY_CALL(ucd_plan_start_stream, "plan", h.plan, stream),
        EVERY_CALL(ucd_plan_start_with, "plan", h.plan, nullptr, nullptr, &o.request),
        EVERY_CALL(ucd_plan_start_with_stream, "plan", h.plan, nullptr, nullptr, stream),
        EVERY_CALL(ucd_plan_rebase, "plan", h.plan, 0, 0, nullptr, nullptr),
        EVERY_CALL(ucd_prepare, "type", 1, h.type, replace, stream, h.info),
        EVERY_CALL(ucd_iov_len, "type", 1, h.type, &o.size),
        EVERY_CALL(ucd_iov_len_max, "type", 1, h.type, 4, &o.size, &o.other_size),
        EVERY_CALL(ucd_iov, "type", in, 1, h.type, 0, o.entries, 4, &o.size),
        EVERY_CALL(ucd_iov_bytes, "type", in, 1, h.type, 0, 4, o.entries, 4, &o.size,
                   &o.other_size),
        EVERY_CALL(ucd_get_boxes, "type", 1, h.type, 0, o.boxes, 2, &o.size, &o.other_size),
        EVERY_CALL(ucd_get_elements, "type", 1, h.type, 2, &o.size),
        EVERY_CALL(ucd_element_boundary, "type", 1, h.type, 2, &o.size),
        EVERY_CALL(ucd_get_element_runs, "type", 1, h.type, 0, o.runs, 2, &o.size, &o.other_size),
        EVERY_CALL(ucd_flatten_size, "type", h.type, &o.size),
        EVERY_CALL(ucd_flattened_size, nullptr, o.data, sizeof o.data, &o.size),
        EVERY_CALL(ucd_flatten, "type", h.type, o.data, sizeof o.data),
        EVERY_CALL(ucd_unflatten, nullptr, &o.type, o.data, sizeof o.data),
        EVERY_CALL(ucd_memory_alloc, nullptr, "cuda:0", UCD_MEMORY__PINNED, 8, &o.address),
        EVERY_CALL(ucd_memory_free, nullptr, in),
        EVERY_CALL(ucd_ipc_export, nullptr, in, 8, &o.handle),
        EVERY_CALL(ucd_ipc_open, nullptr, &no_handle, "cuda:0", &o.address, &o.size),
        EVERY_CALL(ucd_ipc_export_fds, nullptr, in, 8, &o.handle, nullptr, nullptr),
        EVERY_CALL(ucd_ipc_open_fds, nullptr, &no_handle, nullptr, 0, "cuda:0", &o.address,
                   &o.size),
        EVERY_CALL(ucd_ipc_get_device, nullptr, &no_handle, o.text, sizeof o.text, &o.size),
        EVERY_CALL(ucd_ipc_close, nullptr, in),
        EVERY_CALL(ucd_finalize, nullptr),
    };
#undef EVERY_CALL
}

} // namespace ucdtest
