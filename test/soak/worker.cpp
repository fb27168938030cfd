#include "worker.hpp"

#include "support/moves/calls.hpp"
#include "support/moves/device_converting.hpp"
#include "support/moves/exercise.hpp"
#include "support/moves/listed_moves.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

using namespace ucdtest;

namespace soak {
namespace {

constexpr std::size_t max_types = 24, max_outstanding = 6, max_of_a_batch = 12, max_count = 4,
                      max_plans = 4;

RecipeOptions options_of(ucd_op_t op, bool on_devices) {
    RecipeOptions options = on_devices ? device_options(op) : RecipeOptions();
    // So few blocks that copy engines take all of them, wherever a hint chooses these.
    options.max_bytes = 1024;
    options.max_span = 32768;
    options.unpack_safe = true;
    return options;
}

} // namespace

struct Worker::Outstanding {
    // The request lives as long as buffers and type do, but the type's handle may go before.
    Outstanding(Case about, std::shared_ptr<Subject> type, Memory a, Memory b)
        : one(std::move(about)), what(std::move(type)), typed(one.rng(), what->subject.range, a),
          packed(one.rng(), {0, static_cast<std::intptr_t>(what->subject.size())}, b) {}

    DeviceMove move() {
        return {one, UCD_OP__REPLACE, *what, typed, packed, 0, what->subject.size()};
    }

    Case one;
    std::shared_ptr<Subject> what;
    DeviceBuffer typed, packed;
    std::uintptr_t actual = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
};

struct Worker::Planned {
    Planned(std::uint64_t seed, const std::vector<Memory> &memories)
        : one("soak plan", seed), list(random_list(one, random_device_op(one.rng()), memories)),
          moves(list.descs()) {
        one.succeed(ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, list.op, &plan),
                    "ucd_plan_create");
    }
    Planned(const Planned &) = delete;
    Planned &operator=(const Planned &) = delete;
    ~Planned() {
        if (plan != UCD_PLAN__NULL) ucd_plan_free(&plan);
    }

    Case one;
    Listed list;
    MoveList moves;
    ucd_plan_t plan = UCD_PLAN__NULL;
};

namespace {

std::string text_of(const char *action, const ucdtest::ReducedSubject &s, Memory typed,
                    Memory packed) {
    return std::string(action) + " of " + std::to_string(s.subject.count) + " " +
           to_text(*s.subject.recipe) + " between " + name_of(typed) + " and " + name_of(packed);
}

} // namespace

std::string Worker::doing() const {
    std::string text = "step " + std::to_string(steps_) + ": " + doing_;
    for (const auto &o : outstanding_)
        text +=
            "\n  outstanding: " + text_of("pack", *o->what, o->typed.memory(), o->packed.memory());
    return text;
}

Worker::Worker(std::uint64_t seed, bool on_devices)
    : case_("soak", seed), rng_(case_.rng()), on_devices_(on_devices) {}

Worker::~Worker() {
    for (const auto &o : outstanding_) ucd_wait(&o->request);
}

Memory Worker::memory() {
    return on_devices_ ? random_memory(rng_) : Memory::pageable;
}

Worker::Subject &Worker::any() {
    if (types_.empty()) replace_a_type();
    return *types_[rng_.below(types_.size())];
}

void Worker::replace_a_type() {
    Case one("soak type", rng_.bits());
    auto made = std::make_shared<Subject>(
        with_elements(random_subject(one, options_of(UCD_OP__REPLACE, on_devices_), max_count)));
    if (types_.empty() || (types_.size() < max_types && rng_.chance(70)))
        types_.push_back(std::move(made));
    else
        types_[rng_.below(types_.size())] = std::move(made);
}

void Worker::move_in_pieces() {
    Subject &what = any();
    Case one("soak move", rng_.bits());
    one.about("type", what.subject.recipe, what.subject.count);
    DeviceBuffer typed(rng_, what.subject.range, memory());
    DeviceBuffer packed(rng_, {0, static_cast<std::intptr_t>(what.subject.size())}, memory());
    for (std::size_t i = rng_.below(3) + 1; i > 0; --i) {
        const std::size_t from = rng_.below(what.subject.size() + 1);
        const std::size_t length = rng_.below(what.subject.size() - from + 1);
        const DeviceMove move{one, UCD_OP__REPLACE, what, typed, packed, from, length};
        doing_ = text_of("pack and unpack", what, typed.memory(), packed.memory()) + " from " +
                 std::to_string(from) + ", bytes " + std::to_string(length);
        check_device_pack(move);
        check_device_unpack(move);
    }
}

void Worker::reduce() {
    ucd_op_t op = random_device_op(rng_);
    Case one("soak reduction", rng_.bits());
    const Subject what = with_elements(random_subject(one, options_of(op, true), max_count));
    DeviceBuffer typed(rng_, what.subject.range, memory());
    DeviceBuffer packed(rng_, {0, static_cast<std::intptr_t>(what.subject.size())}, memory());
    const DeviceMove move{one, op, what, typed, packed, 0, what.subject.size()};
    doing_ = text_of(op_name(op), what, typed.memory(), packed.memory());
    check_device_pack(move);
    check_device_unpack(move);
}

void Worker::copy() {
    Subject &source = any(), &target = any();
    if (source.subject.size() > target.subject.size()) return;
    Case one("soak copy", rng_.bits());
    one.about("source", source.subject.recipe, source.subject.count);
    one.about("target", target.subject.recipe, target.subject.count);
    DeviceBuffer in(rng_, source.subject.range, memory()),
        out(rng_, target.subject.range, memory());
    doing_ = text_of("copy", source, in.memory(), out.memory()) + " to " +
             std::to_string(target.subject.count) + " " + to_text(*target.subject.recipe);
    check_device_copy({one, UCD_OP__REPLACE, source, in, target, out, {}});
}

void Worker::list() {
    const ucdtest::Subject &s = any().subject;
    if (s.map->by_reference) return;
    const std::vector<Segment> pieces = segments(s.bytes);
    std::vector<iovec> entries(pieces.size());
    std::uintptr_t listed = 0;
    case_.succeed(ucd_iov(nullptr, s.count, s.type(), 0, entries.data(), entries.size(), &listed),
                  "ucd_iov");
    if (listed != pieces.size()) case_.fail(listed, " segments, not ", pieces.size());
    for (std::size_t i = 0; i < listed; ++i)
        if (reinterpret_cast<std::intptr_t>(entries[i].iov_base) != pieces[i].displ ||
            entries[i].iov_len != pieces[i].bytes)
            case_.fail("segment ", i, " is wrong");
    std::uintptr_t needed = 0;
    if (ucd_describe(s.type(), nullptr, 0, &needed) != UCD_SUCCESS) case_.fail("ucd_describe");
}

// The type that comes back takes the place of the one that went.
void Worker::flatten() {
    Subject &what = any();
    if (what.subject.map->by_reference) return;
    std::uintptr_t size = 0;
    case_.succeed(ucd_flatten_size(what.subject.type(), &size), "ucd_flatten_size");
    std::vector<unsigned char> bytes(size);
    case_.succeed(ucd_flatten(what.subject.type(), bytes.data(), size), "ucd_flatten");
    ucd_type_t back = UCD_TYPE__NULL;
    case_.succeed(ucd_unflatten(&back, bytes.data(), size), "ucd_unflatten");
    const BuiltType old = std::exchange(what.subject.built, BuiltType(back));
    Case one("soak flattened", rng_.bits());
    one.about("type", what.subject.recipe, what.subject.count);
    DeviceBuffer typed(rng_, what.subject.range, memory());
    DeviceBuffer packed(rng_, {0, static_cast<std::intptr_t>(what.subject.size())}, memory());
    check_device_pack({one, UCD_OP__REPLACE, what, typed, packed, 0, what.subject.size()});
}

void Worker::batch() {
    Case one("soak batch", rng_.bits());
    BatchMoves moves(one);
    for (std::size_t i = rng_.below(max_of_a_batch) + 1; i > 0; --i) moves.add_range(any().subject);
    doing_ = "a batch";
    moves.allocate(memory(), memory());
    for (const bool packs : {true, false}) {
        moves.set_up(packs);
        MoveList list = moves.list(packs);
        ucd_request_t request = UCD_REQUEST__NULL;
        one.succeed(ucdtest::start(list, &request), "ucd_imove");
        one.succeed(finish(rng_, request), "a list of moves");
        moves.check(packs ? "a list of packs" : "a list of unpacks");
    }
}

void Worker::start() {
    if (outstanding_.size() >= max_outstanding) end_one();
    any();
    const auto &type = types_[rng_.below(types_.size())];
    auto o =
        std::make_unique<Outstanding>(Case("soak request", rng_.bits()), type, memory(), memory());
    set_up_pack(o->move());
    const ucdtest::Subject &s = o->what->subject;
    ucd_type_t handle = s.type();
    const bool freed_at_once = rng_.chance(50);
    if (freed_at_once)
        o->one.succeed(ucd_create_dup(s.type(), UCD_INFO__NULL, &handle), "ucd_create_dup");
    o->one.succeed(ucd_ipack(o->typed.real_base(), s.count, handle, 0, o->packed.real_base(),
                             s.size(), &o->actual, UCD_INFO__NULL, UCD_OP__REPLACE, &o->request),
                   "ucd_ipack");
    if (freed_at_once) o->one.succeed(ucd_free(&handle), "ucd_free");
    outstanding_.push_back(std::move(o));
}

void Worker::end_one() {
    if (outstanding_.empty()) return;
    std::swap(outstanding_[rng_.below(outstanding_.size())], outstanding_.back());
    const std::unique_ptr<Outstanding> o = std::move(outstanding_.back());
    outstanding_.pop_back();
    doing_ = "end of a " + text_of("pack", *o->what, o->typed.memory(), o->packed.memory());
    o->one.succeed(finish(rng_, o->request), "a request");
    if (o->actual != o->what->subject.size()) o->one.fail("a request moved ", o->actual, " bytes");
    check_result(o->move());
}

void Worker::convert() {
    Case one("soak conversion", rng_.bits());
    const ConvertedPair pair = random_converted_pair(one);
    const Memory source = memory(), target = memory();
    doing_ = text_of("conversion", pair.source, source, target);
    check_device_conversion(one, pair, source, target);
}

void Worker::make_a_plan() {
    doing_ = "a new plan";
    auto made = std::make_unique<Planned>(rng_.bits(),
                                          on_devices_ ? everywhere : std::vector{Memory::pageable});
    if (plans_.size() < max_plans)
        plans_.push_back(std::move(made));
    else
        plans_[rng_.below(max_plans)] = std::move(made);
}

void Worker::start_a_plan() {
    if (plans_.empty()) make_a_plan();
    std::swap(plans_[rng_.below(plans_.size())], plans_.back());
    Planned &p = *plans_.back();
    doing_ = "a plan of " + std::to_string(p.moves.size()) + " moves";
    if (rng_.chance(30)) p.list.rebase(p.plan);
    p.list.set_up();
    ucd_request_t request = UCD_REQUEST__NULL;
    p.one.succeed(ucd_plan_start(p.plan, &request), "ucd_plan_start");
    const bool freed_at_once = rng_.chance(10);
    if (freed_at_once) p.one.succeed(ucd_plan_free(&p.plan), "ucd_plan_free");
    p.one.succeed(finish(rng_, request), "a start of a plan");
    p.list.check(p.moves);
    if (freed_at_once) plans_.pop_back();
}

// A few MiB: against a loop, for the type map would take too long.
void Worker::move_much() {
    const std::intptr_t rows = rng_.between(1000, 60000), block = rng_.between(1, 40),
                        stride = block + rng_.between(0, 30);
    const BuiltType type(recipes::vector(rows, block, stride, recipes::leaf(UCD_TYPE__INT16_T)));
    const auto bytes = static_cast<std::size_t>(rows * block) * 2;
    const TouchedRange span{0, ((rows - 1) * stride + block) * 2};
    DeviceBuffer typed(rng_, span, memory()),
        packed(rng_, {0, static_cast<std::intptr_t>(bytes)}, memory());
    for (std::intptr_t i = 0; i < rows; ++i)
        std::memcpy(packed.expected(i * block * 2), typed.actual(i * stride * 2),
                    static_cast<std::size_t>(block) * 2);
    typed.send();
    packed.send();
    Case one("soak much", rng_.bits());
    doing_ = "a large pack";
    std::uintptr_t actual = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
    one.succeed(ucd_ipack(typed.real_base(), 1, type.get(), 0, packed.real_base(), bytes, &actual,
                          UCD_INFO__NULL, UCD_OP__REPLACE, &request),
                "a large pack");
    one.succeed(finish(rng_, request), "a large pack");
    if (actual != bytes) one.fail("a large pack moved ", actual, " bytes");
    typed.fetch();
    packed.fetch();
    require_intact(one, packed, "a large pack");
    require_intact(one, typed, "the source of a large pack");
}

std::uint64_t Worker::step() {
    ++steps_;
    if (types_.empty()) replace_a_type();
    switch (rng_.below(100)) {
    case 0: move_much(); break;
    case 1: // all at once, as a program does that ends a phase
        types_.clear();
        plans_.clear();
        break;
    default:
        switch (rng_.below(12)) {
        case 0:
        case 1: replace_a_type(); break;
        case 2: move_in_pieces(); break;
        case 3: reduce(); break;
        case 4: copy(); break;
        case 5: rng_.chance(50) ? list() : flatten(); break;
        case 6: batch(); break;
        case 7: start(); break;
        case 8: convert(); break;
        case 9: rng_.chance(20) ? make_a_plan() : start_a_plan(); break;
        case 10: start_a_plan(); break;
        default: end_one(); break;
        }
    }
    return 1;
}

} // namespace soak
