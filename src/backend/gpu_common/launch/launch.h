// Launches moves. Each kind of moves has a source file of its own.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/launch_target.h"
#include "move.h"

#include <span>

namespace ucd::UCD_GPU {

struct PlacedNest; // see launch/copy_places.h

// Launches the whole list.
Status launch_list(LaunchTarget &to, std::span<const Move> moves);

// Same, for moves that are made during the call. Not for launches that are recorded.
Status launch_made(LaunchTarget &to, MoveMaker &maker);

// Functions for lists of moves of one kind put as many as possible into a launch. Those that
// prepare load and upload what such launches need, as far as one type and a count tell it: a
// captured launch waits for the rest.

// A pack or an unpack.
Status launch_pack(LaunchTarget &to, const Move &move);
// For any moves without an op, up to this count.
Status prepare_plan(Device &device, const GpuPlan &plan, uint64_t count);

// Packs or unpacks of any layouts by a table of them. They join batches and have one direction.
Status launch_batches(LaunchTarget &to, std::span<const Move> moves);
// Writes the table while the moves are made. If they must be made as a list, `launched` stays
// false, and nothing was started.
Status launch_as_made(LaunchTarget &to, MoveMaker &maker, bool &launched);
Status prepare_batches();

// Packs and unpacks by copy engines, which leave the device's processors free: one copy of the
// vendor's API for each pitched copy in the moves' boxes.
Status copy_boxes(LaunchTarget &to, std::span<const Move> moves);
// Does a pack or an unpack between device and pinned memory by a copy engine, if it is estimated to
// finish sooner than a kernel; otherwise `launched` stays false. Captured copies are not always
// faster when replayed, but give the same result.
Status launch_if_faster(LaunchTarget &to, const Move &move, bool &launched);
// Same, for a copy between layouts that is this nest.
Status launch_if_faster(LaunchTarget &to, const Move &move, const PlacedNest &placed,
                        bool &launched);

Status launch_reductions(LaunchTarget &to, std::span<const Move> moves);
Status prepare_reduction(Device &device, const Move &move);

// Copies between layouts.
Status launch_copies(LaunchTarget &to, std::span<const Move> moves);
Status prepare_copies(const GpuPlan &plan);

// Conversions of elements. Strided ones are a launch each, and others are launched together.
Status launch_conversions(LaunchTarget &to, std::span<const Move> moves);
// Whether a kernel can do it: if both sides are strided, in levels that fit into each other, or if
// both are nests and the pair of elements has a kernel for these.
bool can_convert(const Move &move);
Status prepare_conversions();

} // namespace ucd::UCD_GPU
