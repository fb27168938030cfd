#include "support/fake_device/fake_backend.h"

#include "support/fake_device/fake_driver.h"
#include "support/oracle/reduction_oracle.hpp"

#include "pitched_copies.h"

#include <array>
#include <cstring>
#include <set>
#include <stdexcept>

namespace mock {
const BackendTraits backend = {.name = "mock", .remembers = false};
} // namespace mock

namespace ucd {
namespace {

// The public type that has a representation; null where the mock has no arithmetic for it.
ucd_type_t public_type(Element e) {
    switch (e) {
    case Element::byte: return UCD_TYPE__BYTE;
    case Element::bool8: return UCD_TYPE___BOOL;
    case Element::int8: return UCD_TYPE__INT8_T;
    case Element::int16: return UCD_TYPE__INT16_T;
    case Element::int32: return UCD_TYPE__INT32_T;
    case Element::int64: return UCD_TYPE__INT64_T;
    case Element::uint8: return UCD_TYPE__UINT8_T;
    case Element::uint16: return UCD_TYPE__UINT16_T;
    case Element::uint32: return UCD_TYPE__UINT32_T;
    case Element::uint64: return UCD_TYPE__UINT64_T;
    case Element::float16: return UCD_TYPE__FLOAT16;
    case Element::bfloat16: return UCD_TYPE__BFLOAT16;
    case Element::float8_e4m3: return UCD_TYPE__FLOAT8_E4M3;
    case Element::float8_e5m2: return UCD_TYPE__FLOAT8_E5M2;
    case Element::float32: return UCD_TYPE__FLOAT;
    case Element::float64: return UCD_TYPE__DOUBLE;
    case Element::complex32: return UCD_TYPE__C_COMPLEX;
    case Element::complex64: return UCD_TYPE__C_DOUBLE_COMPLEX;
    case Element::float32_int32: return UCD_TYPE__FLOAT_INT;
    case Element::float64_int32: return UCD_TYPE__DOUBLE_INT;
    case Element::int64_int32: return UCD_TYPE__LONG_INT;
    case Element::int32_int32: return UCD_TYPE__2INT;
    case Element::int16_int32: return UCD_TYPE__SHORT_INT;
    case Element::float32_float32: return UCD_TYPE__2FLOAT;
    case Element::float64_float64: return UCD_TYPE__2DOUBLE;
    default: return UCD_TYPE__NULL; // long double is not for devices; text has no arithmetic
    }
}

// Plans --------------------------------------------------------------

// Plans that exist, so that work which outlives its plan is found out.
struct LivePlans {
    std::mutex mutex;
    std::set<const Plan *> plans;
};
LivePlans &live() {
    static LivePlans *l = new LivePlans; // types, and plans with them, may go at exit
    return *l;
}

class FakePlan final : public Plan {
public:
    FakePlan(const Layout &l, int64_t e, bool r) : layout(l), extent(e), repeated(r) {
        const std::lock_guard lock(live().mutex);
        live().plans.insert(this);
        ++mock::counts.live_plans;
    }
    ~FakePlan() override {
        const std::lock_guard lock(live().mutex);
        live().plans.erase(this);
        --mock::counts.live_plans;
    }
    std::string describe() const override { return "mock: a walk over the layout"; }
    std::size_t memory() const override { return sizeof *this; }

    const Layout &layout;
    const int64_t extent;
    const bool repeated;
};

const FakePlan &plan_of(const Job &job) {
    const std::lock_guard lock(live().mutex);
    if (!live().plans.contains(job.plan))
        throw std::runtime_error("the plan is gone, or another backend's");
    const auto &plan = static_cast<const FakePlan &>(*job.plan);
    if (job.count > 1 && !plan.repeated) throw std::runtime_error("the plan is for one repetition");
    return plan;
}

// Execution --------------------------------------------------------------

// One job on the thread of a device.
class Execution {
public:
    Execution(int device, const Job &job)
        : job_(job), plan_(plan_of(job)), typed_(device), packed_(device), lists_(device) {}

    void run() {
        if (job_.length == 0) throw std::runtime_error("a job of no bytes");
        char *packed = packed_.at(job_.packed, job_.length);
        if (job_.op == Op::replace) return move(packed, job_.direction);
        std::vector<char> gathered(job_.length);
        move(gathered.data(), Direction::pack);
        if (job_.direction == Direction::pack) return reduce(packed, gathered.data());
        reduce(gathered.data(), packed);
        move(gathered.data(), Direction::unpack);
    }

private:
    // Between the layout and `packed`.
    void move(char *packed, Direction direction) {
        Layout layout = plan_.layout;
        for (const Node &n : layout.nodes)
            if (n.kind == NodeKind::by_reference)
                layout.index_lists[n.table].indices =
                    view(plan_.layout.index_lists[n.table], n.count);
        const Node top = repeat(layout.top(), layout.root, job_.count, plan_.extent);
        Walk walk(layout, top, layout.start, is_block);
        walk.start(job_.offset, job_.length);
        for (Piece piece; walk.next(piece);) {
            const uint64_t bytes = piece.end - piece.begin;
            const uintptr_t address = reinterpret_cast<uintptr_t>(job_.typed) +
                                      static_cast<uintptr_t>(piece.origin) + piece.begin;
            char *typed = typed_.at(reinterpret_cast<char *>(address), bytes);
            if (direction == Direction::pack)
                std::memcpy(packed, typed, bytes);
            else
                std::memcpy(typed, packed, bytes);
            packed += bytes;
        }
        if (job_.limits.engine != Engine::dma) return;
        const BoxIndex index(layout);
        Boxes boxes(layout, index, job_.count, plan_.extent);
        // A chunk of a range may cut a box at either end.
        if (!has_at_most(boxes, job_.offset, job_.length, max_copies + 2 * max_cuts))
            throw std::runtime_error("copy engines move boxes only");
    }

    // Where the device's thread may read a list.
    const char *view(const IndexList &list, uint64_t indices) {
        return lists_.at(static_cast<const char *>(list.indices),
                         indices * packed_size(list.element));
    }

    // out = out op in, over the elements of the job's range.
    void reduce(char *out, const char *in) const {
        const Elements &elements = *job_.elements;
        if (elements.kind != Element::none)
            return reduce_run(elements.kind, job_.offset, job_.length, out, in);
        const Layout &runs = elements.runs;
        const Node top = repeat(runs.top(), runs.root, job_.count, elements.extent);
        Walk walk(runs, top, runs.start, is_block);
        walk.start(job_.offset, job_.length);
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
        if (public_type(element) == UCD_TYPE__NULL)
            throw std::runtime_error("a reduction that the backend does not support");
        const ucdtest::Predefined &type = ucdtest::predefined(public_type(element));
        for (uint64_t i = 0; i < bytes; i += size)
            ucdtest::reduce_element(static_cast<ucd_op_t>(job_.op), type, out + i, in + i);
    }

    const Job &job_;
    const FakePlan &plan_;
    mock::DeviceView typed_, packed_, lists_;
};

// Events --------------------------------------------------------------

struct Completion {
    std::string failure; // set before `done`
    std::atomic<bool> done{false};
};

class FakeEvent final : public Event {
public:
    explicit FakeEvent(std::shared_ptr<const Completion> completion)
        : completion_(std::move(completion)) {
        ++mock::counts.live_events;
    }
    ~FakeEvent() override { --mock::counts.live_events; }

    Status poll(bool &completed) override {
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

void run_all(int device, const std::vector<Job> &jobs) {
    for (const Job &job : jobs) Execution(device, job).run();
}

// The backend --------------------------------------------------------------

class FakeBackend final : public Backend {
public:
    const char *name() const override { return mock::backend.name; }

    BackendState probe() override { return state_; }
    const BackendState &inspect() override { return state_; }

    Status find(const void *address, MemoryLocation &place) const override {
        ++mock::counts.queries;
        if (is_failing_one(mock::knobs.failing_query))
            return fail(UCD_ERR__DEVICE, "mock: the question failed, as it was told to");
        if (mock::find(address, place)) place.owner = this;
        return success;
    }

    bool hides_memory() const override { return mock::knobs.hides_memory; }
    Status check_unknown(const void *) const override {
        ++mock::counts.unknown;
        return success;
    }

    bool reaches(int device, const MemoryLocation &place) const override {
        return place.owner == this && mock::reaches(device, place.kind, place.device);
    }

    bool supports(Op op, Element element) const override {
        return op == Op::replace ||
               (public_type(element) != UCD_TYPE__NULL && (defined_ops(element) & op_bit(op)) != 0);
    }

    Status plan(const Layout &layout, int64_t extent, bool repeated, uint64_t,
                std::unique_ptr<Plan> &plan) const override {
        if (is_failing_one(mock::knobs.failing_plan))
            return fail(UCD_ERR__DEVICE, "mock: the plan failed, as it was told to");
        plan = std::make_unique<FakePlan>(layout, extent, repeated);
        return success;
    }

    Status launch(int device, const JobList &list, std::unique_ptr<Event> &done) override {
        std::vector<Job> copy;
        UCD_TRY(jobs_of(list, copy));
        UCD_TRY(accept());
        ++mock::counts.launches;
        mock::counts.jobs += static_cast<int>(copy.size());
        start(device, done, [device, copy = std::move(copy)] { run_all(device, copy); });
        return success;
    }

    Status device_of(const NativeStream &native, int &device) override {
        mock::Stream *stream = static_cast<mock::Stream *>(native.native);
        if (stream == nullptr)
            return fail(UCD_ERR__INVALID_ARG, "stream.native is NULL; it must be a mock::Stream");
        device = stream->device();
        return success;
    }

    Status launch_in(const NativeStream &native, const JobList &list,
                     std::shared_ptr<const void> keep) override {
        std::vector<Job> copy;
        UCD_TRY(jobs_of(list, copy));
        mock::Stream *stream;
        UCD_TRY(stream_of(native, stream));
        UCD_TRY(accept());
        ++mock::counts.stream_launches;
        mock::counts.jobs += static_cast<int>(copy.size());
        stream->add([stream, copy = std::move(copy), keep = std::move(keep)] {
            const std::string failure = failure_of([&] { run_all(stream->device(), copy); });
            if (!failure.empty()) stream->fail(failure);
        });
        return success;
    }

    Status prepare(const NativeStream &native, const Job &job) override {
        mock::Stream *stream;
        UCD_TRY(stream_of(native, stream));
        (void)plan_of(job);
        ++mock::counts.prepared;
        return success;
    }

    Status copy(int device, void *to, const void *from, std::size_t bytes,
                std::unique_ptr<Event> &done) override {
        UCD_TRY(accept());
        ++mock::counts.copies;
        start(device, done, [=] {
            mock::DeviceView out(device), in(device);
            std::memcpy(out.at(static_cast<char *>(to), bytes),
                        in.at(static_cast<const char *>(from), bytes), bytes);
        });
        return success;
    }

    Status allocate(int device, MemoryKind kind, std::size_t bytes, void *&memory) override {
        const bool refused =
            is_failing_one(mock::knobs.failing_allocation) || mock::knobs.out_of_memory;
        void *address = refused ? nullptr : mock::allocate(kind, device, bytes);
        if (address == nullptr) return fail(UCD_ERR__OUT_OF_MEM, "mock: no %zu bytes", bytes);
        memory = address;
        ++mock::counts.allocations;
        ++mock::counts.live_allocations;
        return success;
    }

    void release(int, MemoryKind, void *memory) override {
        mock::release(memory);
        --mock::counts.live_allocations;
    }

private:
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
    void start(int device, std::unique_ptr<Event> &done, Work work) {
        if (mock::knobs.complete_at_once) return work();
        const auto completion = std::make_shared<Completion>();
        done = std::make_unique<FakeEvent>(completion);
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

std::unique_ptr<Backend> create_mock_backend() {
    return std::make_unique<FakeBackend>();
}

} // namespace ucd
