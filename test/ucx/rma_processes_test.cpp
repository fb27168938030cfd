// Direct access to windows between processes, of which one ends, or becomes another program.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/child_process.hpp"
#include "ucx/rma_access.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <sys/mman.h>

namespace rma_processes_test {

using namespace ucdtest;

namespace {

constexpr std::size_t many = 16384; // ints

bool is_over(const RmaTestOperation &operation) {
    return ucd_ucx_request_check(operation.o.request, nullptr) != UCS_INPROGRESS;
}

// An owner in another process, until it is told to go on.
struct OwnerElsewhere {
    const Pipe from, to;
    Child process;
    RmaSide origin{Keys(trusting).get(), UCS_THREAD_MODE_SINGLE};
    ucd_ucx_window_key_t key = {};

    // `prepare` makes its window, and returns the key.
    template <class Prepare, class Next>
    OwnerElsewhere(Prepare &&prepare, Next &&next)
        : process([&] {
              RmaSide side(Keys(trusting).get(), UCS_THREAD_MODE_SINGLE);
              from.put_text(side.side.address());
              from.put(prepare(side));
              side.side.connect(to.get_text());
              while (!to.has_come()) side.progress();
              next(*this);
          }) {
        origin.side.connect(from.get_text());
        key = from.get<ucd_ucx_window_key_t>();
        to.put_text(origin.side.address());
    }
    // Whether it is done without the owner.
    bool does(What what, RmaTestOperation &operation) {
        ok(operation.start(what, origin, &key, 0), "operation");
        const bool is_done = is_over(operation);
        origin.progress();
        return is_done;
    }
    bool becomes_direct() {
        for (int i = 0; i < 200; ++i) {
            RmaTestOperation get(many);
            const bool direct = does(What::get, get);
            while (!get.done()) origin.progress();
            if (direct) return true;
            ::usleep(100);
        }
        return false;
    }
};

} // namespace

DEVICE_TEST("the memory of a process that has ended is not accessed") {
    std::optional<AllocatedWindow> window;
    OwnerElsewhere owner(
        [&](RmaSide &side) {
            window.emplace(side, many);
            std::fill_n(window->memory, many, 7);
            return window->key;
        },
        [](OwnerElsewhere &) {});
    REQUIRE(owner.becomes_direct());
    RmaTestOperation put(many), back(many), late(many);
    std::fill(put.in.begin(), put.in.end(), 3);
    REQUIRE(owner.does(What::put, put));
    REQUIRE(owner.does(What::get, back));
    CHECK(back.out[many - 1] == 3);
    owner.process.kill();
    for (int i = 0; i < 100; ++i) { // it is noticed
        owner.origin.progress();
        ::usleep(20);
    }
    CHECK_FALSE(owner.does(What::get, late));
    owner.origin.lose_endpoint();
    owner.origin.progress();
    CHECK(late.status() == UCS_ERR_CONNECTION_RESET);
    CHECK(late.out[0] == -1);
}

namespace {

constexpr int next_to_test = 100, test_to_next = 101; // pipes of the next program

// Memory at one address in two programs that follow each other.
int *at_one_address() {
    void *const place = reinterpret_cast<void *>(uintptr_t{0x2000} << 32);
    void *const memory = ::mmap(place, many * sizeof(int), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == place ? static_cast<int *>(memory) : nullptr;
}

} // namespace

TEST_CASE("the next program of an owner's process", "[.]") {
    int *const memory = at_one_address();
    REQUIRE(memory != nullptr);
    std::fill_n(memory, many, 77);
    const bool is_here = true;
    REQUIRE(::write(next_to_test, &is_here, sizeof is_here) == sizeof is_here);
    bool checks = false;
    REQUIRE(::read(test_to_next, &checks, sizeof checks) == sizeof checks);
    const bool is_untouched = std::all_of(memory, memory + many, [](int i) { return i == 77; });
    REQUIRE(::write(next_to_test, &is_untouched, sizeof is_untouched) == sizeof is_untouched);
}

DEVICE_TEST("the next program of an owner's process is neither read nor written") {
    std::optional<Window> window;
    int *memory = nullptr;
    OwnerElsewhere owner(
        [&](RmaSide &side) {
            memory = at_one_address();
            if (memory == nullptr) ::_exit(1);
            window.emplace(side, memory, many * sizeof(int));
            return *window->key();
        },
        [](OwnerElsewhere &self) {
            ::dup2(self.from.ends[1], next_to_test);
            ::dup2(self.to.ends[0], test_to_next);
            ::execl("/proc/self/exe", "next", "the next program of an owner's process",
                    static_cast<char *>(nullptr));
        });
    RmaTestOperation put(many), get(many);
    CHECK_FALSE(owner.becomes_direct());
    owner.to.put(true);
    REQUIRE(owner.from.get<bool>());
    CHECK_FALSE(owner.does(What::put, put));
    CHECK_FALSE(owner.does(What::get, get));
    CHECK(get.out == std::vector<int>(many, -1));
    owner.to.put(true);
    CHECK(owner.from.get<bool>()); // it is untouched
    owner.origin.close_endpoint();
    CHECK(within(
        5, [&] { owner.origin.progress(); }, [&] { return put.done() && get.done(); }));
}

DEVICE_TEST("the next program of an origin's process does not keep a window") {
    const Pipe from, to;
    const Child origin([&] {
        RmaSide side(Keys(trusting).get(), UCS_THREAD_MODE_SINGLE);
        from.put_text(side.side.address());
        side.side.connect(to.get_text());
        const auto key = to.get<ucd_ucx_window_key_t>();
        for (bool direct = false; !direct; ::usleep(100)) {
            RmaTestOperation get(1);
            ok(get.start(What::get, side, &key, 0), "get");
            direct = is_over(get);
            while (!get.done()) side.progress();
        }
        const auto page = access_page(side);
        *reinterpret_cast<std::atomic<uint64_t> *>(page->address()) = 1; // at work
        from.put(true);
        while (!to.has_come()) ::usleep(100);
        ::execl("/bin/sleep", "sleep", "60", static_cast<char *>(nullptr));
    });
    RmaSide owner(Keys(trusting).get(), UCS_THREAD_MODE_SINGLE);
    AllocatedWindow window(owner, many);
    owner.side.connect(from.get_text());
    to.put_text(owner.side.address());
    to.put(window.key);
    const auto progress = [&] { owner.progress(); };
    REQUIRE(within(20, progress, [&] { return from.has_come(); }));
    CHECK(ucd_ucx_window_destroy(&window.handle) == UCD_ERR__INVALID_ARG);
    to.put(true);
    CHECK(
        within(5, progress, [&] { return ucd_ucx_window_destroy(&window.handle) == UCD_SUCCESS; }));
    owner.close_endpoint();
}

} // namespace rma_processes_test
