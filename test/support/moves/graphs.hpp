// Graphs of one move on the host vendor's devices.
#pragma once

#include "support/catch.hpp"
#include "support/host_vendor/capture.h"
#include "support/moves/strided_move.hpp"

namespace ucdtest {

// Replays the graph of a pack or an unpack with other data each time, to which change() adds.
template <class Change>
void check_replays(const ucd::hostgpu::Graph &graph, mock::Stream &stream, const DeviceMove &move,
                   bool packs, Change change) {
    for (int replay = 0; replay < 3; ++replay) {
        change();
        set_up(move, packs);
        ucd::hostgpu::replay(graph, stream);
        finish_in(stream);
        check_result(move);
    }
}

// Captures a pack and an unpack, which are refused until their type is prepared and then are one
// node each, and replays them.
template <class Change>
void check_graphs(mock::Stream &stream, const DeviceMove &move, Change change) {
    using ucd::hostgpu::captured;
    const auto start = [&](bool packs) {
        return packs ? pack_in(native(stream), move) : unpack_in(native(stream), move);
    };
    CHECK(captured(stream, [&] { CHECK(start(true) == UCD_ERR__NOT_SUPPORTED); }).nodes.empty());
    CHECK(last_error_says("ucd_prepare"));
    prepare(stream, move.what.subject.type(), move.op);
    for (const bool packs : {true, false}) {
        const auto graph = captured(stream, [&] { REQUIRE(start(packs) == UCD_SUCCESS); });
        CHECK(graph.nodes.size() == 1);
        check_replays(graph, stream, move, packs, change);
    }
}

} // namespace ucdtest
