#include "transfer.h"

#include "derived.h"
#include "host_move.h"
#include "move_arguments.h"
#include "progress.h"
#include "route.h"
#include "staging.h"

#include <vector>

namespace ucd {
namespace {

// A call of which some member may be elsewhere than in host memory: its members sorted by how they
// are moved. Everything that can fail without a device comes first, then everything is started.
class Call {
public:
    Call(Context &context, Direction direction, Op op, const Hints &hints)
        : context_(context), direction_(direction), op_(op), hints_(hints),
          work_(std::make_unique<Movement>()) {}

    Status add(const Transfer &t, const Route &route) {
        if (route.way == Way::host) return add_on_host(t);
        if (hints_.limits.engine == Engine::dma) UCD_TRY(check_copy_engines(t, op_));
        const Executor &to = direction_ == Direction::pack ? route.packed : route.laid_out;
        UCD_TRY(check_supported(to, op_, *t.type));
        work_->keep(*t.type);
        return route.way == Way::direct ? add_launch(t, route) : add_staged(t, route);
    }

    Status start(std::unique_ptr<Operation> &operation) {
        UCD_TRY(work_->reserve_chunks());
        work_->expect_launches(launches_.size());
        for (const Launch &l : launches_) begin([&] { return work_->launch(l.executor, l.jobs); });
        (void)work_->progress(); // gets staged members going
        bool ran_on_host = false;
        for (const Transfer &t : on_host_)
            begin([&] {
                UCD_TRY(run_on_host(context_, t, direction_, op_, hints_.limits));
                ran_on_host = true;
                return success;
            });
        return Movement::conclude(std::move(work_), ran_on_host, operation);
    }

private:
    // The jobs of one executor are one launch.
    struct Launch {
        Executor executor;
        std::vector<Job> jobs;
    };

    // Unless something has failed already.
    template <class Body>
    void begin(Body &&body) {
        if (!work_->failed()) work_->attempt(body);
    }

    Status add_on_host(const Transfer &t) {
        UCD_TRY(prepare_on_host(context_, *t.type, t.count, op_));
        on_host_.push_back(t);
        return success;
    }

    Status add_launch(const Transfer &t, const Route &route) {
        const Executor &executor = route.packed; // of both sides
        Job job{.plan = nullptr,
                .laid_out = t.laid_out,
                .packed = t.packed,
                .count = t.count,
                .offset = t.offset,
                .length = t.length,
                .direction = direction_,
                .op = op_,
                .elements = op_ == Op::replace ? nullptr : &elements_of(*t.type),
                .limits = hints_.limits,
                .laid_out_kind = route.laid_out_kind,
                .packed_kind = route.packed_kind};
        UCD_TRY(plan_of(*t.type, *executor.backend, executor.index, t.count > 1, job.plan));
        launch_on(executor).jobs.push_back(job);
        return success;
    }

    Launch &launch_on(const Executor &executor) {
        for (Launch &launch : launches_)
            if (launch.executor == executor) return launch;
        return launches_.emplace_back(Launch{executor, {}});
    }

    Status add_staged(const Transfer &t, const Route &route) {
        const StagedSide laid_out{t.type, t.count, t.laid_out};
        const StagedSide packed{nullptr, 0, displaced(t.packed, uint64_t{0} - t.offset)};
        const bool pack = direction_ == Direction::pack;
        return work_
            ->pipeline(context_.progress->staging(), pack ? route.laid_out : route.packed,
                       pack ? route.packed : route.laid_out, op_, hints_.limits)
            .add({.from = pack ? laid_out : packed,
                  .to = pack ? packed : laid_out,
                  .offset = t.offset,
                  .length = t.length,
                  .element_type = t.type,
                  .element_count = t.count});
    }

    Context &context_;
    const Direction direction_;
    const Op op_;
    const Hints &hints_;
    std::unique_ptr<Movement> work_;
    std::vector<Launch> launches_;
    std::vector<Transfer> on_host_;
};

Status route_of(const Context &context, const Transfer &t, Direction direction, Op op,
                const Hints &hints, Places &places, Route &route) {
    const bool pack = direction == Direction::pack;
    Place laid_out, packed;
    UCD_TRY(
        places.find(pack ? hints.inbuf : hints.outbuf, first_byte(*t.type, t.laid_out), laid_out));
    UCD_TRY(places.find(pack ? hints.outbuf : hints.inbuf, t.packed, packed));
    route = find_route(context, hints, laid_out, packed);
    // What a device cannot reduce, the host can, if the result is where it reaches.
    const Place &target = pack ? packed : laid_out;
    if (route.way == Way::direct && target.host_reachable() && !supports(route.packed, op, *t.type))
        route = staged_route(context, laid_out, packed);
    return success;
}

} // namespace

Status start(Context &context, std::span<const Transfer> members, Direction direction, Op op,
             const Hints &hints, std::unique_ptr<Operation> &operation) {
    Route route;
    Places places(context, hints);
    if (members.size() == 1 && members[0].length > 0) {
        // The common case, which needs nothing of what follows if it is the host's.
        UCD_TRY(route_of(context, members[0], direction, op, hints, places, route));
        if (route.way == Way::host)
            return run_on_host(context, members[0], direction, op, hints.limits);
        Call call(context, direction, op, hints);
        UCD_TRY(call.add(members[0], route));
        return call.start(operation);
    }
    Call call(context, direction, op, hints);
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i].length == 0) continue;
        const auto add = [&]() -> Status {
            UCD_TRY(route_of(context, members[i], direction, op, hints, places, route));
            return call.add(members[i], route);
        };
        UCD_TRY(at_member(i, add()));
    }
    return call.start(operation);
}

} // namespace ucd
