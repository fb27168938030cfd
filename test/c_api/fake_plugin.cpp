// A plugin for the tests: a backend that is there, and moves nothing. It refuses what it is asked
// for, but takes prepared launches within its own memory. FAKE_VERSION: what it says that it was
// built for; by default what it is built for.
#include "plugin.h"

#include <cstdint>

namespace {

class FakePlan final : public ucd::KernelPlan {
public:
    std::string describe() const override { return "a fake"; }
    std::size_t memory() const override { return 0; }
};

// Of work that is complete when one has looked three times.
class FakeEvent final : public ucd::Event {
public:
    ucd::Status poll(bool &completed) override {
        completed = ++polls_ == 3;
        return ucd::success;
    }

private:
    int polls_ = 0;
};

class FakeBackend final : public ucd::Backend {
public:
    const char *name() const override { return "cuda"; }
    ucd::BackendState probe() override { return state_; }
    const ucd::BackendState &inspect() override { return state_; }
    // Its device has the addresses from 0x10000 to 0x20000, where no program has memory.
    ucd::Status find(const void *address, ucd::MemoryLocation &location) const override {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        if (at >= 0x10000 && at < 0x20000) {
            location.kind = ucd::MemoryKind::device;
            location.owner = this;
        }
        return ucd::success;
    }
    bool reaches(int, const ucd::MemoryLocation &place) const override {
        return place.owner == this;
    }
    bool supports(ucd::Op, ucd::Element) const override { return false; }
    ucd::Status plan(const ucd::Layout &, int64_t, bool, uint64_t,
                     std::unique_ptr<ucd::KernelPlan> &plan) const override {
        plan = std::make_unique<FakePlan>();
        return ucd::success;
    }
    ucd::Status launch(int, const ucd::MoveList &, std::unique_ptr<ucd::Event> &) override {
        return nothing();
    }
    ucd::Status launch_in(const ucd::NativeStream &, const ucd::MoveList &,
                          std::shared_ptr<const void>) override {
        return nothing();
    }
    ucd::Status prepare_launch(int, const ucd::MoveList &,
                               std::unique_ptr<ucd::PreparedLaunch> &prepared) override {
        prepared = std::make_unique<ucd::PreparedLaunch>();
        return ucd::success;
    }
    ucd::Status launch(const ucd::PreparedLaunch &, std::unique_ptr<ucd::Event> &done) override {
        done = std::make_unique<FakeEvent>();
        return ucd::success;
    }
    ucd::Status launch_in(const ucd::NativeStream &, const ucd::PreparedLaunch &,
                          std::shared_ptr<const void>) override {
        return nothing();
    }
    ucd::Status prepare(const ucd::NativeStream &, const ucd::Move &) override { return nothing(); }
    ucd::Status copy(int, void *, const void *, std::size_t,
                     std::unique_ptr<ucd::Event> &) override {
        return nothing();
    }
    ucd::Status allocate(int, ucd::MemoryKind, std::size_t, void *&) override { return nothing(); }
    void release(int, ucd::MemoryKind, void *) override {}

private:
    static ucd::Status nothing() { return ucd::fail(UCD_ERR__NOT_SUPPORTED, "a fake"); }
    const ucd::BackendState state_{
        .available = true, .devices = 7, .version = "fake", .reason = {}};
};

} // namespace

#ifdef FAKE_VERSION
#undef UCD_PLUGIN_VERSION
#define UCD_PLUGIN_VERSION FAKE_VERSION
#endif
UCD_PLUGIN([]() -> std::unique_ptr<ucd::Backend> { return std::make_unique<FakeBackend>(); })
