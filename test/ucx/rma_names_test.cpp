// What an origin calls its operations and their types, read by hand.

#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/type_name.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace rma_names_test {

using namespace ucdtest;

namespace {

// One int at a displacement: another type for each.
class IntAt {
public:
    explicit IntAt(std::intptr_t displacement) {
        ok(ucd_create_hindexed_block(1, 1, &displacement, UCD_TYPE__INT, UCD_INFO__NULL, &type_),
           "hindexed_block");
    }
    ~IntAt() { (void)ucd_free(&type_); }
    IntAt(const IntAt &) = delete;
    IntAt &operator=(const IntAt &) = delete;
    ucd_type_t get() const { return type_; }

private:
    ucd_type_t type_;
};

struct PutOne {
    int value = 7;
    Outcome o;
    PutOne(RmaSide &a, ucd_type_t target) {
        const ucd_ucx_window_key_t key = made_up_key();
        start_put(a, {&value, 1, UCD_TYPE__INT}, {&key, 0, 1, target}, o);
    }
};

// A request that has come.
wire::OneSided read_request(const wire::Said &said) {
    wire::OneSided m;
    REQUIRE(wire::decode(
        wire::newest_wire,
        wire::preamble(said.verb, said.number, said.first, said.second) + said.rest, m));
    return m;
}

constexpr std::uint32_t no_index = UINT32_MAX;

} // namespace

DEVICE_TEST("a number comes again only after all others") {
    HandTarget target;
    // This one is under way all the time, also when the others have had all places of the table.
    PutOne first(target.a, UCD_TYPE__INT);
    const std::uint64_t number = target.hand.next_said().number;
    for (std::uint64_t i = 1; i < 2050; ++i) {
        PutOne put(target.a, UCD_TYPE__INT);
        const wire::Said said = target.hand.next_said();
        const std::uint64_t expected = number + i + (i > 1023 ? 1 : 0) + (i > 2046 ? 1 : 0);
        CHECK(said.number == static_cast<std::uint32_t>(expected));
        target.answer(said.number);
        REQUIRE(target.hand.within(5, [&] { return put.o.done(); }));
        target.hand.received.clear();
    }
    target.answer(number);
    REQUIRE(target.hand.within(5, [&] { return first.o.done(); }));
}

// UCX delivers it to the object that the worker has now.
DEVICE_TEST("a late answer to an object that has ended is none to an operation of the next one") {
    HandTarget target;
    std::uint64_t earlier;
    {
        PutOne put(target.a, UCD_TYPE__INT);
        earlier = target.hand.next_said().number;
        target.answer(earlier);
        REQUIRE(target.hand.within(5, [&] { return put.o.done(); }));
    }
    ok(ucd_ucx_destroy(&target.a.rma), "ucd_ucx_destroy");
    target.a.create({});
    PutOne put(target.a, UCD_TYPE__INT);
    const std::uint64_t number = target.hand.next_said().number;
    target.answer(earlier);
    target.hand.progress(20);
    CHECK_FALSE(put.o.done());
    target.answer(number);
    REQUIRE(target.hand.within(5, [&] { return put.o.done(); }));
}

// The origin cannot know that, because its endpoint is the same.
DEVICE_TEST("a target's new object asks for types that an origin names by their indexes") {
    RmaPair pair;
    std::vector<int> memory(200'000, -1);
    const IntAt one(0), another(8);
    const auto put = [&](const Window &window, std::size_t ints, ucd_type_t type) {
        RmaTestOperation operation(ints);
        ok(operation.start(What::put, pair.a, window.key(), 0, type, ints), "put");
        pair.until([&] { return operation.done(); });
        return operation.status();
    };
    for (int object = 0; object < 3; ++object) {
        std::fill(memory.begin(), memory.end(), -1);
        {
            const Window window(pair.b, memory.data(), memory.size() * sizeof(int));
            const std::size_t whole = memory.size(); // which is a transfer in chunks
            for (int use = 0; use < 2; ++use) {
                // The first object learns them in another order.
                CHECK(put(window, 1, object == 0 ? one.get() : another.get()) == UCS_OK);
                CHECK(put(window, 1, object == 0 ? another.get() : one.get()) == UCS_OK);
                CHECK(std::count(memory.begin(), memory.end(), 1) == 2);
                CHECK((memory[0] == 1 && memory[2] == 1));
            }
            CHECK(put(window, whole, UCD_TYPE__INT) == UCS_OK);
            CHECK(std::count(memory.begin(), memory.end(), 1) ==
                  static_cast<std::ptrdiff_t>(whole));
        }
        for (int i = 0; ucd_ucx_destroy(&pair.b.rma) != UCD_SUCCESS; ++i) {
            REQUIRE(i < 100'000);
            pair.progress();
        }
        pair.b.create({});
    }
}

DEVICE_TEST("more operations than the table has places are all found by their numbers") {
    HandTarget target;
    std::vector<std::unique_ptr<PutOne>> puts;
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 3000; ++i) {
        puts.push_back(std::make_unique<PutOne>(target.a, UCD_TYPE__INT));
        numbers.push_back(target.hand.next_said().number);
        target.hand.received.clear();
    }
    for (std::size_t i = puts.size(); i-- > 0;) {
        CHECK_FALSE(puts[i]->o.done());
        target.answer(numbers[i]);
        REQUIRE(target.hand.within(5, [&] { return puts[i]->o.done(); }));
    }
}

DEVICE_TEST("a window's handle stays known when an answer does not bring it") {
    HandTarget target;
    for (int i = 0; i < 4; ++i) {
        const IntAt type(i); // each answer confirms another one
        PutOne put(target.a, type.get());
        const wire::OneSided named = read_request(target.hand.next_said());
        CHECK(named.window.empty() == (i > 0));
        CHECK(named.form == wire::TypeForm::flattened);
        CHECK(named.index == static_cast<std::uint32_t>(i));
        if (i == 0)
            target.hand.say(wire::preamble(wire::answer_with_handle, named.number) + "a handle");
        else
            target.answer(named.number);
        REQUIRE(target.hand.within(5, [&] { return put.o.done(); }));
    }
}

DEVICE_TEST("types that are too many for indexes go by name, until none is under way") {
    HandTarget target;
    constexpr int most = 4096;
    const auto answered = [&](PutOne &put, const wire::OneSided &named) {
        target.answer(named.number);
        REQUIRE(target.hand.within(5, [&] { return put.o.done(); }));
        target.hand.received.clear();
    };
    for (int i = 0; i < most; ++i) {
        const IntAt type(i);
        PutOne put(target.a, type.get());
        const wire::OneSided named = read_request(target.hand.next_said());
        REQUIRE(named.form == wire::TypeForm::flattened);
        REQUIRE(named.index == static_cast<std::uint32_t>(i));
        answered(put, named);
    }
    // While one is under way, no index may change its meaning.
    const IntAt first(0), second(1), another(most), last(most + 1);
    PutOne waiting(target.a, first.get());
    const wire::OneSided known = read_request(target.hand.next_said());
    CHECK((known.form == wire::TypeForm::index && known.index == 0));
    for (int use = 0; use < 2; ++use) {
        PutOne put(target.a, another.get());
        const wire::OneSided named = read_request(target.hand.next_said());
        CHECK(named.form == wire::TypeForm::name);
        CHECK(named.index == no_index);
        CHECK(named.type == name_of(flattened(another.get())));
        answered(put, named);
        PutOne old(target.a, second.get());
        const wire::OneSided also = read_request(target.hand.next_said());
        CHECK((also.form == wire::TypeForm::index && also.index == 1));
        answered(old, also);
    }
    answered(waiting, known);
    for (int use = 0; use < 2; ++use) {
        PutOne put(target.a, last.get());
        const wire::OneSided named = read_request(target.hand.next_said());
        CHECK(named.form == (use == 0 ? wire::TypeForm::flattened : wire::TypeForm::index));
        CHECK(named.index == 0);
        answered(put, named);
    }
}

} // namespace rma_names_test
