// A plugin for the tests: a backend that is there, and moves nothing. It refuses what it is asked
// for, but takes prepared launches within its own memory. The test compiles it with several
// compilers and C++ libraries, and sets FAKE_FAULT to what is wrong with it, if anything.
#include "layout_walk.h"
#include "plugin.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// What goes wrong, by the environment of the process that loads the plugin; "" if nothing does.
std::string fault() {
    const char *const name = std::getenv("FAKE_FAULT");
    return name != nullptr ? name : "";
}

// Fails as the fault says that this function does.
void throw_if(const std::string &function) {
    if (fault() == function + " throws") throw std::runtime_error("a fake " + function);
    if (fault() == function + " has no memory") throw std::bad_alloc();
    if (fault() == function + " throws a number") throw 7;
}

class FakePlan final : public ucd::KernelPlanOf<FakePlan> {
public:
    // Longer than what libucd expects at first.
    std::string description() const { return "a fake" + std::string(1000, '!'); }
    std::size_t memory() const { return 0; }
};

// Of work that is complete when one has looked three times.
class FakeEvent final : public ucd::EventOf<FakeEvent> {
public:
    ucd::Status poll(bool &completed) {
        throw_if("poll");
        completed = ++polls_ == 3;
        return ucd::success;
    }

private:
    int polls_ = 0;
};

class FakePrepared final : public ucd::PreparedLaunchOf<FakePrepared> {};

class FakeBackend final : public ucd::BackendOf<FakeBackend> {
public:
    FakeBackend() { throw_if("create"); }
    const char *name() const { return "cuda"; }
    ucd::Status probe(ucd::BackendState &state) {
        throw_if("probe");
        state = state_;
        return ucd::success;
    }
    ucd::Status inspect(const ucd::BackendState *&state) {
        throw_if("inspect");
        state = &state_;
        return ucd::success;
    }
    // Its device has the addresses from 0x10000 to 0x20000, where no program has memory.
    ucd::Status find(const void *address, ucd::MemoryLocation &location) const {
        throw_if("find");
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        if (at >= 0x10000 && at < 0x20000) {
            location.kind = ucd::MemoryKind::device;
            location.owner = this;
        }
        return ucd::success;
    }
    bool reaches(int, const ucd::MemoryLocation &place) const {
        throw_if("reaches");
        return place.owner == this;
    }
    bool supports(ucd::Op, ucd::Element) const { return false; }
    // Walks the layout, to see that both sides mean the same by it.
    ucd::Status plan(const ucd::Layout &layout, std::int64_t, bool, std::uint64_t,
                     ucd::Owner<ucd::KernelPlan> &plan) const {
        throw_if("plan");
        std::uint64_t bytes = 0;
        ucd::Walk walk(layout, layout.top(), layout.start, ucd::is_block);
        walk.start(0, layout.top().bytes);
        for (ucd::Piece piece; walk.next(piece);) bytes += piece.end - piece.begin;
        if (bytes != layout.top().bytes)
            return ucd::fail(UCD_ERR__INTERNAL, "the layout has other bytes here");
        plan = ucd::make_owned<FakePlan>();
        return ucd::success;
    }
    ucd::Status launch(int, const ucd::MoveList &, ucd::Owner<ucd::Event> &) { return nothing(); }
    ucd::Status launch_in(const ucd::NativeStream &, const ucd::MoveList &, ucd::Keep) {
        return nothing();
    }
    ucd::Status prepare_launch(int, const ucd::MoveList &,
                               ucd::Owner<ucd::PreparedLaunch> &prepared) {
        prepared = ucd::make_owned<FakePrepared>();
        return ucd::success;
    }
    ucd::Status launch_prepared(const ucd::PreparedLaunch &, ucd::Owner<ucd::Event> &done) {
        done = ucd::make_owned<FakeEvent>();
        return ucd::success;
    }
    ucd::Status launch_prepared_in(const ucd::NativeStream &, const ucd::PreparedLaunch &,
                                   ucd::Keep) {
        return nothing();
    }
    ucd::Status prepare(const ucd::NativeStream &, const ucd::Move &) { return nothing(); }
    ucd::Status copy(int, void *, const void *, std::size_t, ucd::Owner<ucd::Event> &) {
        return nothing();
    }
    ucd::Status allocate(int, ucd::MemoryKind, std::size_t, void *&) { return nothing(); }
    ucd::Status export_memory(const void *, std::size_t, ucd::MemoryHandle &) {
        return ucd::success;
    }
    std::uint64_t device_identity(int device) const {
        throw_if("device_identity");
        return static_cast<std::uint64_t>(device) + 1;
    }

private:
    static ucd::Status nothing() {
        throw_if("launch");
        return ucd::fail(UCD_ERR__NOT_SUPPORTED, "a fake");
    }
    const ucd::BackendState state_{
        .available = true, .devices = 7, .version = "fake", .reason = {}};
};

} // namespace

// What the entry answers. The faults change a copy of the request or of the tables.
extern "C" __attribute__((visibility("default"))) const ucd::Plugin *
ucd_open_plugin(const ucd::PluginRequest *request, char *reason, std::size_t room) {
    static ucd::Plugin plugin = ucd::plugin_of<FakeBackend, FakePlan, FakeEvent, FakePrepared>();
    // With a function that a later UCD has.
    static struct {
        ucd::BackendFunctions functions;
        void (*added)();
    } table = {FakeBackend::table(), nullptr};
    static ucd::BackendFunctions &functions = table.functions;
    static ucd::EventFunctions of_events = FakeEvent::table();
    static ucd::KernelPlanFunctions of_plans = FakePlan::table();
    ucd::PluginRequest heard = *request;
    auto structs = ucd::crossing_structs;
    heard.structs = structs.data();
    const std::string wrong = fault();
    if (wrong == "newer contract") ++heard.contract;
    if (wrong == "request of another size") heard.struct_size += 8;
    if (wrong == "fewer structs") --heard.struct_count;
    const ucd::CrossingStruct added{"Added", 8};
    std::vector<ucd::CrossingStruct> more(structs.begin(), structs.end());
    more.push_back(added);
    if (wrong == "more structs") {
        heard.structs = more.data();
        ++heard.struct_count;
    }
    for (ucd::CrossingStruct &each : structs)
        if (wrong == "a larger " + std::string(each.name)) each.size += 8;
    if (wrong == "another struct") structs[0].name = "Matrix";
    if (!ucd::fits_plugin(heard, reason, room)) return nullptr;
    if (wrong == "silent refusal") return nullptr;
    if (wrong == "answer of another contract") ++plugin.contract;
    if (wrong == "answer of another size") plugin.struct_size -= 8;
    if (wrong == "no create") plugin.create = nullptr;
    if (wrong == "no table") plugin.prepared_launch = nullptr;
    if (wrong == "no version") plugin.version = nullptr;
    if (wrong == "half a function") functions.struct_size += 4;
    if (wrong == "tiny table") functions.struct_size = offsetof(ucd::BackendFunctions, name);
    if (wrong == "huge table") functions.struct_size = 1 << 20;
    if (wrong == "short table of plans") of_plans.struct_size -= uint32_t{sizeof(void *)};
    if (wrong == "older" || wrong == "other device plans" || wrong == "much older")
        plugin.version = "0.9.7";
    if (wrong == "older") functions.struct_size = offsetof(ucd::BackendFunctions, device_plan);
    if (wrong == "without identities")
        functions.struct_size = offsetof(ucd::BackendFunctions, device_identity);
    if (wrong == "other device plans") ++plugin.device_plan_version;
    if (wrong == "much older") functions.struct_size = offsetof(ucd::BackendFunctions, launch);
    if (wrong == "newer") functions.struct_size = sizeof table;
    if (wrong == "no launch_made") functions.launch_made = nullptr;
    if (wrong == "no poll") of_events.poll = nullptr;
    plugin.backend = &functions;
    plugin.plan = &of_plans;
    plugin.event = &of_events;
    return &plugin;
}
