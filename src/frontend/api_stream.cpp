// Packing and unpacking in the order of a caller's stream. Pack and unpack, single and batch, are
// one path.

#include "boundary.h"
#include "context.h"
#include "derived.h"
#include "known_batches.h"
#include "move_arguments.h"
#include "route.h"

#include <ucd.h>

#include <cstdio>
#include <vector>

using namespace ucd;

namespace {

Status resolve_stream(const Context &context, const ucd_stream_t &stream, Executor &executor) {
    UCD_TRY(require(stream.backend, "stream.backend"));
    const int index = context.index_of(stream.backend);
    if (index < 0)
        return fail(UCD_ERR__NOT_SUPPORTED, "stream.backend is \"%.32s\", which is not known",
                    stream.backend);
    const BackendSlot &slot = context.slots[static_cast<unsigned>(index)];
    const BackendState &state = slot.inspect();
    if (!state.available)
        return fail(UCD_ERR__NOT_SUPPORTED, "stream.backend is %s, which is not available: %s",
                    stream.backend, state.reason.c_str());
    if (stream.device < 0 || static_cast<uint32_t>(stream.device) >= state.devices)
        return fail(UCD_ERR__INVALID_ARG, "stream.device is %d; backend %s has devices 0 to %d",
                    stream.device, stream.backend, static_cast<int>(state.devices) - 1);
    executor = {slot.backend.get(), static_cast<unsigned>(index), stream.device};
    return success;
}

NativeStream native_of(const ucd_stream_t &stream) {
    return {stream.device, stream.native, stream.context};
}

// What a launch needs to know of a type, without buffers and range.
Status plan_job(const Executor &executor, const Type &type, uint64_t count, Op op,
                const Hints &hints, Job &job) {
    UCD_TRY(check_supported(executor, op, type));
    UCD_TRY(plan_of(type, *executor.backend, executor.index, count > 1, job.plan));
    job.count = count;
    job.op = op;
    job.elements = op == Op::replace ? nullptr : &elements_of(type);
    job.limits = hints.limits;
    return success;
}

Status check_reached(Places &places, const Executor &executor, const Hints &hints,
                     const PlaceHint *hint, const void *address, const char *argument,
                     MemoryKind &kind) {
    Place place;
    UCD_TRY(places.find(hint, address, place));
    // A hint for pinned or managed memory means that of the stream's backend.
    if (place.kind != MemoryKind::host && place.owner == nullptr) {
        place.owner = executor.backend;
        place.device = executor.device;
    }
    kind = place.kind;
    if (reaches(executor, hints, place)) return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "%s is in memory that device %d of backend %s does not reach", argument,
                executor.device, executor.backend->name());
}

// Where the two sides of a job are.
struct Kinds {
    MemoryKind laid_out = MemoryKind::device, packed = MemoryKind::device;
};

Status check_both_reached(Places &places, const Executor &executor, const Hints &hints,
                          Direction direction, const void *laid_out, const void *packed,
                          Kinds &kinds) {
    const bool pack = direction == Direction::pack;
    UCD_TRY(check_reached(places, executor, hints, pack ? hints.inbuf : hints.outbuf, laid_out,
                          pack ? "inbuf" : "outbuf", kinds.laid_out));
    return check_reached(places, executor, hints, pack ? hints.outbuf : hints.inbuf, packed,
                         pack ? "outbuf" : "inbuf", kinds.packed);
}

Status make_job(const Executor &executor, const Transfer &t, Direction direction, Op op,
                const Hints &hints, const Kinds &kinds, Job &job) {
    if (hints.limits.engine == Engine::dma) UCD_TRY(check_copy_engines(t, op));
    UCD_TRY(plan_job(executor, *t.type, t.count, op, hints, job));
    job.laid_out = t.laid_out;
    job.packed = t.packed;
    job.offset = t.offset;
    job.length = t.length;
    job.direction = direction;
    job.laid_out_kind = kinds.laid_out;
    job.packed_kind = kinds.packed;
    return success;
}

// The jobs of one call, and what must live until the stream has done them.
struct StreamWork {
    const Executor &executor;
    const Hints &hints;
    Direction direction;
    Op op;
    Places places;
    bool reached = false; // every buffer there is, as the hints say
    Kinds kinds{};        // of the last member that was asked for, or of all
    std::vector<Job> jobs{};
    std::shared_ptr<KeptTypes> types = std::make_shared<KeptTypes>();

    // What is wrong with a hint is said of a member.
    void expect(std::size_t members) {
        jobs.reserve(members);
        reached =
            hints.inbuf != nullptr && hints.outbuf != nullptr &&
            check_both_reached(places, executor, hints, direction, nullptr, nullptr, kinds).ok();
    }

    Status add(const Transfer &t) {
        if (t.length == 0) return success;
        if (!reached)
            UCD_TRY(check_both_reached(places, executor, hints, direction,
                                       first_byte(*t.type, t.laid_out), t.packed, kinds));
        Job job;
        UCD_TRY(make_job(executor, t, direction, op, hints, kinds, job));
        types->add(*t.type);
        jobs.push_back(job);
        return success;
    }

    Status launch(const ucd_stream_t &stream) {
        if (jobs.empty()) return success;
        return executor.backend->launch_in(native_of(stream), jobs, std::move(types));
    }
};

int move(const char *function, const MoveArguments &arguments, Direction direction,
         uintptr_t *actual, ucd_info_t info, const ucd_stream_t &stream) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        UCD_TRY(require(actual, direction == Direction::pack ? "actual_pack_bytes"
                                                             : "actual_unpack_bytes"));
        Executor executor;
        UCD_TRY(resolve_stream(*context, stream, executor));
        Transfer t;
        UCD_TRY(check_move(arguments, direction, t));
        const CallHints hints(*context, info);
        StreamWork work{
            executor, hints, direction, static_cast<Op>(arguments.op), {*context, hints}};
        UCD_TRY(work.add(t));
        UCD_TRY(work.launch(stream));
        *actual = t.length;
        return success;
    });
}

template <class Desc>
Status batch_in_stream(Context &context, const std::shared_ptr<KnownBatch> &batch, Desc *descs,
                       uintptr_t Desc::*actual, const ucd_stream_t &stream) {
    const JobList list = batch->jobs();
    if (!list.jobs.empty()) {
        const bool is_new = !batch->keeps_types();
        if (is_new) batch->keep_types();
        UCD_TRY(batch->terms().executor.backend->launch_in(native_of(stream), list, batch));
        if (is_new) context.batches->add(batch);
    }
    for (std::size_t i = 0; i < batch->members(); ++i) descs[i].*actual = batch->length(i);
    return success;
}

template <class Desc>
int batch(const char *function, Desc *descs, uintptr_t Desc::*actual, uintptr_t count,
          ucd_info_t info, ucd_op_t op, Direction direction, const ucd_stream_t &stream) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        UCD_TRY(check_op(op));
        if (count > 0) UCD_TRY(require(descs, "descs"));
        Executor executor;
        UCD_TRY(resolve_stream(*context, stream, executor));
        const CallHints call_hints(*context, info);
        const Hints &hints = call_hints;
        StreamWork work{executor, hints, direction, static_cast<Op>(op), {*context, hints}};
        work.expect(count);
        if (work.reached && hints.limits.engine != Engine::dma) {
            const BatchTerms terms = {executor,     direction,           work.op,
                                      hints.limits, work.kinds.laid_out, work.kinds.packed};
            std::shared_ptr<KnownBatch> batch;
            UCD_TRY(know_batch(*context, terms, std::span<const Desc>(descs, count), batch));
            if (batch != nullptr) return batch_in_stream(*context, batch, descs, actual, stream);
        }
        std::vector<uintptr_t> lengths(count);
        for (uintptr_t i = 0; i < count; ++i) {
            const auto add = [&]() -> Status {
                Transfer t;
                UCD_TRY(check_member(descs[i], op, direction, t));
                lengths[i] = t.length;
                return work.add(t);
            };
            UCD_TRY(at_member(i, add()));
        }
        UCD_TRY(work.launch(stream));
        for (uintptr_t i = 0; i < count; ++i) descs[i].*actual = lengths[i];
        return success;
    });
}

} // namespace

int ucd_pack_stream(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                    void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                    ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move("ucd_pack_stream", {inbuf, incount, type, inoffset, outbuf, max_pack_bytes, op},
                Direction::pack, actual_pack_bytes, info, stream);
}

int ucd_unpack_stream(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                      ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move("ucd_unpack_stream", {outbuf, outcount, type, outoffset, inbuf, insize, op},
                Direction::unpack, actual_unpack_bytes, info, stream);
}

int ucd_pack_batch_stream(ucd_pack_desc_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
                          ucd_stream_t stream) {
    return batch("ucd_pack_batch_stream", descs, &ucd_pack_desc_t::actual_pack_bytes, count, info,
                 op, Direction::pack, stream);
}

int ucd_unpack_batch_stream(ucd_unpack_desc_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
                            ucd_stream_t stream) {
    return batch("ucd_unpack_batch_stream", descs, &ucd_unpack_desc_t::actual_unpack_bytes, count,
                 info, op, Direction::unpack, stream);
}

int ucd_prepare(uintptr_t count, ucd_type_t type, ucd_op_t op, ucd_stream_t stream,
                ucd_info_t info) {
    return guard("ucd_prepare", [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        const Type *resolved;
        UCD_TRY(resolve(type, "type", resolved));
        UCD_TRY(check_op(op, *resolved));
        uint64_t total;
        UCD_TRY(check_count(count, *resolved, "count", total));
        Executor executor;
        UCD_TRY(resolve_stream(*context, stream, executor));
        if (total == 0) return success;
        Job job;
        UCD_TRY(plan_job(executor, *resolved, count, static_cast<Op>(op), CallHints(*context, info),
                         job));
        return executor.backend->prepare(native_of(stream), job);
    });
}
