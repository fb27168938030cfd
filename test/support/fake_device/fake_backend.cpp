#include "support/fake_device/fake_backend.h"

#include "support/element_types.hpp"
#include "support/fake_device/fake_driver.h"
#include "support/oracle/reduction_oracle.hpp"

#include "implement.h"
#include "pitched_copies.h"

#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>

namespace mock {
const BackendTraits backend = {.name = "mock", .remembers = false};
} // namespace mock

namespace ucd {
namespace {

// Plans --------------------------------------------------------------

// Plans and prepared launches that exist, so that work which outlives its plan is found out.
struct Live {
    std::mutex mutex;
    std::set<const KernelPlan *> plans;
    std::set<const PreparedLaunch *> prepared;
};
Live &live() {
    static Live *l = new Live; // types, and plans with them, may go at exit
    return *l;
}

class FakePlan final : public KernelPlanOf<FakePlan> {
public:
    FakePlan(const Layout &l, int64_t e, bool r) : layout(l), extent(e), repeated(r) {
        const std::lock_guard lock(live().mutex);
        live().plans.insert(this);
        ++mock::counts.live_plans;
    }
    ~FakePlan() {
        const std::lock_guard lock(live().mutex);
        live().plans.erase(this);
        --mock::counts.live_plans;
    }
    std::string description() const { return "mock: a walk over the layout"; }
    std::size_t memory() const { return sizeof *this; }

    const Layout &layout;
    const int64_t extent;
    const bool repeated;
};

const FakePlan &plan_of(const Move &move) {
    if (move.is_copy() || is_conversion(move.op))
        throw std::runtime_error("a copy, which the backend does not have");
    const Side &side = move.typed();
    const std::lock_guard lock(live().mutex);
    if (!live().plans.contains(side.plan))
        throw std::runtime_error("the plan is gone, or another backend's");
    const auto &plan = static_cast<const FakePlan &>(*side.plan);
    if (side.count > 1 && !plan.repeated)
        throw std::runtime_error("the plan is for one repetition");
    return plan;
}

// Execution --------------------------------------------------------------

// One move on the thread of a device.
class Execution {
public:
    Execution(int device, const Move &move)
        : move_(move), side_(move.typed()), plan_(plan_of(move)), typed_(device), packed_(device),
          lists_(device) {}

    void run() {
        if (move_.length == 0) throw std::runtime_error("a move of no bytes");
        char *packed = packed_.at(move_.packed().first(), move_.length);
        if (move_.op == Op::replace) return move(packed, move_.direction());
        std::vector<char> gathered(move_.length);
        move(gathered.data(), Direction::pack);
        if (move_.direction() == Direction::pack) return reduce(packed, gathered.data());
        reduce(gathered.data(), packed);
        move(gathered.data(), Direction::unpack);
    }

private:
    // Between the layout and `packed`.
    void move(char *packed, Direction direction) {
        Layout layout = plan_.layout;
        std::vector<IndexList> lists(layout.index_lists.begin(), layout.index_lists.end());
        for (const Node &n : layout.nodes)
            if (n.kind == NodeKind::by_reference)
                lists[n.table].indices = view(plan_.layout.index_lists[n.table], n.count);
        layout.index_lists = lists;
        const Node top = repeat(layout.top(), layout.root, side_.count, plan_.extent);
        Walk walk(layout, top, layout.start, is_block);
        walk.start(side_.offset, move_.length);
        for (Piece piece; walk.next(piece);) {
            const uint64_t bytes = piece.end - piece.begin;
            const uintptr_t address = reinterpret_cast<uintptr_t>(side_.address) +
                                      static_cast<uintptr_t>(piece.origin) + piece.begin;
            char *typed = typed_.at(reinterpret_cast<char *>(address), bytes);
            if (direction == Direction::pack)
                std::memcpy(packed, typed, bytes);
            else
                std::memcpy(typed, packed, bytes);
            packed += bytes;
        }
        if (move_.limits.engine != Engine::dma) return;
        const BoxIndex index(layout);
        Boxes boxes(layout, index, side_.count, plan_.extent);
        // A chunk of a range may cut a box at either end.
        if (!has_at_most(boxes, side_.offset, move_.length, max_copies + 2 * max_cuts))
            throw std::runtime_error("copy engines move boxes only");
    }

    // Where the device's thread may read a list.
    const char *view(const IndexList &list, uint64_t indices) {
        return lists_.at(static_cast<const char *>(list.indices),
                         indices * packed_size(list.element));
    }

    // out = out op in, over the elements of the move's range.
    void reduce(char *out, const char *in) const {
        const Elements &elements = *move_.elements;
        if (elements.kind != Element::none)
            return reduce_run(elements.kind, side_.offset, move_.length, out, in);
        const Layout &runs = elements.runs;
        const Node top = repeat(runs.top(), runs.root, side_.count, elements.extent);
        Walk walk(runs, top, runs.start, is_block);
        walk.start(side_.offset, move_.length);
        for (Piece piece; walk.next(piece);) {
            const uint64_t bytes = piece.end - piece.begin;
            reduce_run(piece.node->element, piece.begin, bytes, out, in);
            out += bytes;
            in += bytes;
        }
    }

    void reduce_run(Element element, uint64_t begin, uint64_t bytes, char *out,
                    const char *in) const {
        const uint32_t size = packed_size(element);
        if (size == 0 || begin % size != 0 || bytes % size != 0)
            throw std::runtime_error("a reduction of part of an element");
        if (ucdtest::public_type(element) == UCD_TYPE__NULL)
            throw std::runtime_error("a reduction that the backend does not support");
        const ucdtest::Predefined &type = ucdtest::predefined(ucdtest::public_type(element));
        for (uint64_t i = 0; i < bytes; i += size)
            ucdtest::reduce_element(static_cast<ucd_op_t>(move_.op), type, out + i, in + i);
    }

    const Move &move_;
    const Side &side_;
    const FakePlan &plan_;
    mock::DeviceView typed_, packed_, lists_;
};

// Events --------------------------------------------------------------

struct Completion {
    std::string failure; // set before `done`
    std::atomic<bool> done{false};
};

class FakeEvent final : public EventOf<FakeEvent> {
public:
    explicit FakeEvent(std::shared_ptr<const Completion> completion)
        : completion_(std::move(completion)) {
        ++mock::counts.live_events;
    }
    ~FakeEvent() { --mock::counts.live_events; }

    Status poll(bool &completed) {
        completed = completion_->done.load(std::memory_order_acquire);
        if (!completed || completion_->failure.empty()) return success;
        return fail(UCD_ERR__DEVICE, "mock: %s", completion_->failure.c_str());
    }

private:
    const std::shared_ptr<const Completion> completion_;
};

// A knob that counts down to the one that fails.
bool is_failing_one(std::atomic<int> &knob) {
    int n = knob;
    while (n > 0)
        if (knob.compare_exchange_weak(n, n - 1)) return n == 1;
    return false;
}

// What goes wrong, or "".
template <class Body>
std::string failure_of(Body &&body) {
    try {
        if (is_failing_one(mock::knobs.failing_work)) return "the work failed, as it was told to";
        body();
        return "";
    } catch (const std::exception &e) {
        return e.what();
    }
}

// Prepared launches --------------------------------------------------------------

std::vector<Move> moves_of(const MoveList &list) {
    return {list.begin(), list.end()};
}

class FakePreparedLaunch final : public PreparedLaunchOf<FakePreparedLaunch> {
public:
    FakePreparedLaunch(int on_device, std::vector<Move> list)
        : device(on_device), moves(std::move(list)) {
        const std::lock_guard lock(live().mutex);
        live().prepared.insert(this);
        ++mock::counts.live_prepared;
    }
    ~FakePreparedLaunch() {
        const std::lock_guard lock(live().mutex);
        live().prepared.erase(this);
        --mock::counts.live_prepared;
    }

    const int device;
    const std::vector<Move> moves;
    const std::shared_ptr<const bool> alive = std::make_shared<const bool>(true);
};

// What runs moves; `alive` has expired if they were prepared and their launch has gone too early.
struct Run {
    std::vector<Move> moves;
    std::optional<std::weak_ptr<const bool>> alive;

    void operator()(int device) const {
        if (alive && alive->expired()) throw std::runtime_error("the prepared launch is gone");
        for (const Move &move : moves) Execution(device, move).run();
    }
};

const FakePreparedLaunch &prepared_here(const PreparedLaunch &prepared) {
    const std::lock_guard lock(live().mutex);
    if (!live().prepared.contains(&prepared))
        throw std::runtime_error("the prepared launch is gone, or another backend's");
    return static_cast<const FakePreparedLaunch &>(prepared);
}

// The backend --------------------------------------------------------------

class FakeBackend final : public BackendOf<FakeBackend> {
public:
    const char *name() const { return mock::backend.name; }

    Status probe(BackendState &state) {
        state = state_;
        return success;
    }
    Status inspect(const BackendState *&state) {
        state = &state_;
        return success;
    }

    Status find(const void *address, MemoryLocation &location) const {
        ++mock::counts.queries;
        if (is_failing_one(mock::knobs.failing_query))
            return fail(UCD_ERR__DEVICE, "mock: the question failed, as it was told to");
        if (mock::find(address, location)) location.owner = this;
        return success;
    }

    bool hides_memory() const { return mock::knobs.hides_memory; }
    Status check_unknown(const void *) const {
        ++mock::counts.unknown;
        return success;
    }

    bool reaches(int device, const MemoryLocation &location) const {
        return location.owner == this &&
               mock::reaches(device, location.kind, location.device, location.own_access);
    }

    bool supports(Op op, Element element) const {
        return op == Op::replace ||
               (is_reduction(op) && ucdtest::public_type(element) != UCD_TYPE__NULL &&
                (defined_ops(element) & op_bit(op)) != 0);
    }

    Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t,
                Owner<KernelPlan> &plan) const {
        if (is_failing_one(mock::knobs.failing_plan))
            return fail(UCD_ERR__DEVICE, "mock: the plan failed, as it was told to");
        plan = make_owned<FakePlan>(layout, extent, repeated);
        return success;
    }

    Status launch(int device, const MoveList &list, Owner<Event> &done) {
        return launch(device, Run{moves_of(list), {}}, done);
    }

    Status prepare_launch(int device, const MoveList &list, Owner<PreparedLaunch> &prepared) {
        UCD_TRY(accept());
        for (const Move &move : list) (void)plan_of(move);
        prepared = make_owned<FakePreparedLaunch>(device, moves_of(list));
        return success;
    }

    Status launch_prepared(const PreparedLaunch &prepared, Owner<Event> &done) {
        const auto &known = prepared_here(prepared);
        return launch(known.device, Run{known.moves, known.alive}, done);
    }

    Status device_of(const NativeStream &native, int &device) {
        mock::Stream *stream = static_cast<mock::Stream *>(native.native);
        if (stream == nullptr)
            return fail(UCD_ERR__INVALID_ARG, "stream.native is NULL; it must be a mock::Stream");
        device = stream->device();
        return success;
    }

    Status launch_in(const NativeStream &native, const MoveList &list, Keep keep) {
        return launch_in(native, Run{moves_of(list), {}}, std::move(keep));
    }

    Status launch_prepared_in(const NativeStream &native, const PreparedLaunch &prepared,
                              Keep keep) {
        const auto &known = prepared_here(prepared);
        if (native.device != known.device)
            return fail(UCD_ERR__INVALID_ARG, "prepared for device %d, not for %d", known.device,
                        native.device);
        return launch_in(native, Run{known.moves, known.alive}, std::move(keep));
    }

    Status prepare(const NativeStream &native, const Move &move) {
        mock::Stream *stream;
        UCD_TRY(stream_of(native, stream));
        (void)plan_of(move);
        ++mock::counts.prepared;
        return success;
    }

    Status copy(int device, void *to, const void *from, std::size_t bytes, Owner<Event> &done) {
        UCD_TRY(accept());
        ++mock::counts.copies;
        start(device, done, [=] {
            mock::DeviceView out(device), in(device);
            std::memcpy(out.at(static_cast<char *>(to), bytes),
                        in.at(static_cast<const char *>(from), bytes), bytes);
        });
        return success;
    }

    Status allocate(int device, MemoryKind kind, std::size_t bytes, void *&memory) {
        const bool refused =
            is_failing_one(mock::knobs.failing_allocation) || mock::knobs.out_of_memory;
        void *address = refused ? nullptr : mock::allocate(kind, device, bytes);
        if (address == nullptr) return fail(UCD_ERR__OUT_OF_MEM, "mock: no %zu bytes", bytes);
        memory = address;
        ++mock::counts.allocations;
        ++mock::counts.live_allocations;
        return success;
    }

    void release(int, MemoryKind, void *memory) {
        mock::release(memory);
        --mock::counts.live_allocations;
    }

private:
    Status launch(int device, Run run, Owner<Event> &done) {
        UCD_TRY(accept());
        ++mock::counts.launches;
        mock::counts.moves += static_cast<int>(run.moves.size());
        start(device, done, [device, run = std::move(run)] { run(device); });
        return success;
    }

    static Status launch_in(const NativeStream &native, Run run, Keep keep) {
        mock::Stream *stream;
        UCD_TRY(stream_of(native, stream));
        UCD_TRY(accept());
        ++mock::counts.stream_launches;
        mock::counts.moves += static_cast<int>(run.moves.size());
        stream->add([stream, run = std::move(run), keep = std::move(keep)] {
            const std::string failure = failure_of([&] { run(stream->device()); });
            if (!failure.empty()) stream->fail(failure);
        });
        return success;
    }

    static Status accept() {
        if (is_failing_one(mock::knobs.failing_launch))
            return fail(UCD_ERR__DEVICE, "mock: the launch failed, as it was told to");
        return success;
    }

    static Status stream_of(const NativeStream &native, mock::Stream *&stream) {
        stream = static_cast<mock::Stream *>(native.native);
        if (stream == nullptr)
            return fail(UCD_ERR__INVALID_ARG, "stream.native is NULL; it must be a mock::Stream");
        if (stream->device() != native.device)
            return fail(UCD_ERR__INVALID_ARG, "stream.device is %d; the stream is of device %d",
                        native.device, stream->device());
        return success;
    }

    template <class Work>
    void start(int device, Owner<Event> &done, Work work) {
        if (mock::knobs.complete_at_once) return work();
        const auto completion = std::make_shared<Completion>();
        done = make_owned<FakeEvent>(completion);
        queues_[static_cast<std::size_t>(device)].add([completion, work = std::move(work)] {
            completion->failure = failure_of(work);
            completion->done.store(true, std::memory_order_release);
        });
    }

    const BackendState state_{
        .available = true, .devices = mock::device_count, .version = "1", .reason = {}};
    // Two workers each: what is not ordered does not happen in order.
    std::array<mock::Queue, mock::device_count> queues_{mock::Queue(2), mock::Queue(2)};
};

} // namespace

Owner<Backend> create_mock_backend() {
    return make_owned<FakeBackend>();
}

} // namespace ucd
