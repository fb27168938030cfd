// One-sided operations between random layouts in all kinds of memory, against the oracle.

#include "support/device_test.hpp"
#include "ucx/rma_pair.hpp"

#include <algorithm>

namespace rma_moves_test {

using namespace ucdtest;

namespace {

#define RMA_SMALL_CHUNKS                                                                           \
    {                                                                                              \
        {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.depth", "3"},                 \
            {"ucd.ucx.ring_chunk", "100"}, {                                                       \
            "ucd.ucx.ring_depth", "3"                                                              \
        }                                                                                          \
    }

// As many elements as another layout has, in blocks that lie anywhere.
ReducedSubject scattered(Case &one, std::size_t elements, ucd_type_t element, const char *role) {
    Rng &rng = one.rng();
    std::vector<std::intptr_t> lengths, starts, order;
    for (std::size_t left = elements; left > 0; left -= static_cast<std::size_t>(lengths.back()))
        lengths.push_back(static_cast<std::intptr_t>(std::min(left, 1 + rng.below(20))));
    std::intptr_t at = rng.between(-50, 50);
    for (std::size_t i = 0; i < lengths.size(); ++i) order.push_back(static_cast<std::intptr_t>(i));
    if (rng.chance(50)) rng.shuffle(order);
    starts.resize(lengths.size());
    for (const std::intptr_t i : order) {
        const auto k = static_cast<std::size_t>(i);
        starts[k] = at;
        at += lengths[k] + static_cast<std::intptr_t>(rng.below(3));
    }
    return with_elements(
        make_subject(one, recipes::indexed(lengths, starts, recipes::leaf(element)), 1, role));
}

// An operation's layouts, all of the same elements.
struct Layouts {
    ReducedSubject origin, target, result;
};

Layouts random_layouts(Case &one, ucd_op_t op, bool one_element) {
    Rng &rng = one.rng();
    RecipeOptions options = device_options(op);
    options.index_memory = nullptr; // such types cannot be sent
    ucd_type_t element = UCD_TYPE__BYTE;
    if (one_element) {
        if (options.elements.empty())
            element = rng.chance(50) ? UCD_TYPE__DOUBLE_INT : UCD_TYPE__SHORT;
        else
            element = rng.pick(options.elements);
        options.elements = {element};
    }
    ReducedSubject random = with_elements(random_subject(one, options, 5, "the random layout"));
    const std::size_t elements = one_element ? random.elements.size() : random.subject.size();
    ReducedSubject other = scattered(one, elements, element, "the scattered layout");
    Layouts l = {std::move(random), std::move(other),
                 scattered(one, elements, element, "the result's layout")};
    if (rng.chance(50)) std::swap(l.origin, l.target);
    return l;
}

std::vector<std::byte> stream_of(const ReducedSubject &what, ImageBuffer &memory) {
    return gathered(place(what.subject, memory), 0, what.subject.size());
}

void expect(const ReducedSubject &what, ImageBuffer &memory, const std::vector<std::byte> &stream) {
    for (std::size_t i = 0; i < stream.size(); ++i)
        *memory.expected(what.subject.bytes[i]) = stream[i];
}

// A window about what a layout touches, now and then as tight as it can be.
struct Exposed {
    std::intptr_t displacement;
    Window window;
    Exposed(Case &one, RmaSide &side, const DeviceBuffer &memory, const TouchedRange &range)
        : Exposed(side, memory, range, one.rng().below(16), one.rng().below(16), one.rng()) {}

private:
    Exposed(RmaSide &side, const DeviceBuffer &memory, const TouchedRange &range,
            std::size_t before, std::size_t after, Rng &rng)
        : displacement(static_cast<std::intptr_t>(before) - range.low),
          window(
              side, static_cast<char *>(memory.real_base()) + range.low - before,
              range.length() + before + after,
              (rng.chance(30) ? Keys({{"ucd.outbuf", hint_for(memory.memory())}}) : Keys()).get()) {
    }
};

void check_outcome(Case &one, const Outcome &o, std::size_t bytes) {
    if (o.calls != 1) one.fail("it was called back ", o.calls, " times");
    if (o.result.status != UCS_OK)
        one.fail(ucs_status_string(o.result.status), ", ", ucd_strerror(o.result.ucd));
    if (o.result.bytes != bytes) one.fail("it moved ", o.result.bytes, " bytes, not ", bytes);
}

void put_or_get(Case &one, RmaPair &pair) {
    Rng &rng = one.rng();
    const bool puts = rng.chance(50);
    Layouts l = random_layouts(one, UCD_OP__REPLACE, false);
    const Subject &origin = l.origin.subject, &target = l.target.subject;
    DeviceBuffer here(rng, origin.range, random_memory(rng));
    DeviceBuffer there(rng, target.range, random_memory(rng));
    if (puts)
        expect(l.target, there, stream_of(l.origin, here));
    else
        expect(l.origin, here, stream_of(l.target, there));
    here.send();
    there.send();
    const Exposed exposed(one, pair.b, there, target.range);
    Keys hints;
    if (rng.chance(30)) hints.set(puts ? "ucd.inbuf" : "ucd.outbuf", hint_for(here.memory()));
    Outcome o;
    if (puts)
        start_put(pair.a, {here.real_base(), origin.count, origin.type()},
                  {exposed.window.key(), exposed.displacement, target.count, target.type()}, o,
                  hints.get());
    else
        start_get(pair.a, {here.real_base(), origin.count, origin.type()},
                  {exposed.window.key(), exposed.displacement, target.count, target.type()}, o,
                  hints.get());
    const std::size_t bytes = origin.size();
    l.origin.subject.built = BuiltType();
    l.target.subject.built = BuiltType();
    pair.until([&] { return o.done(); });
    check_outcome(one, o, bytes);
    here.fetch();
    there.fetch();
    require_intact(one, here, "the origin's buffer");
    require_intact(one, there, "the target's buffer");
}

void accumulate(Case &one, RmaPair &pair) {
    Rng &rng = one.rng();
    const bool fetches = rng.chance(50), changes = !fetches || rng.chance(80);
    const ucd_op_t op = random_device_op(rng);
    Layouts l = random_layouts(one, op, true);
    const Subject &origin = l.origin.subject, &target = l.target.subject;
    DeviceBuffer here(rng, origin.range, random_memory(rng));
    DeviceBuffer there(rng, target.range, random_memory(rng));
    DeviceBuffer result(rng, l.result.subject.range, random_memory(rng));
    if (op != UCD_OP__REPLACE) {
        set_typed_values(rng, l.origin, place(origin, here));
        set_typed_values(rng, l.target, place(target, there));
    }
    std::vector<std::byte> in = stream_of(l.origin, here), out = stream_of(l.target, there);
    if (fetches) expect(l.result, result, out);
    if (changes && op == UCD_OP__REPLACE) out = in;
    if (changes && op != UCD_OP__REPLACE)
        reduce_stream(op, l.target.elements, 0, l.target.elements.size(), out.data(), in.data());
    expect(l.target, there, out);
    for (DeviceBuffer *buffer : {&here, &there, &result}) buffer->send();
    const Exposed exposed(one, pair.b, there, target.range);
    Outcome o;
    if (fetches)
        start_get_accumulate(
            pair.a,
            {changes ? here.real_base() : nullptr, changes ? origin.count : 7,
             changes ? origin.type() : UCD_TYPE__NULL},
            {result.real_base(), 1, l.result.subject.type()},
            {exposed.window.key(), exposed.displacement, target.count, target.type()},
            changes ? op : UCD_UCX_OP__NO_OP, o);
    else
        start_accumulate(pair.a, {here.real_base(), origin.count, origin.type()},
                         {exposed.window.key(), exposed.displacement, target.count, target.type()},
                         op, o);
    pair.until([&] { return o.done(); });
    check_outcome(one, o, target.size());
    for (DeviceBuffer *buffer : {&here, &there, &result}) buffer->fetch();
    require_intact(one, here, "the origin's buffer");
    require_intact(one, there, "the target's buffer");
    require_intact(one, result, "the result's buffer");
}

} // namespace

DEVICE_TEST("puts and gets between random layouts") {
    RmaPair pair(RMA_SMALL_CHUNKS);
    run_cases("rma put get", 800, [&](Case &one) { put_or_get(one, pair); });
}

DEVICE_TEST("accumulates between random layouts") {
    RmaPair pair(RMA_SMALL_CHUNKS);
    run_cases("rma accumulate", 800, [&](Case &one) { accumulate(one, pair); });
}

DEVICE_TEST("operations whose types do not fit a header, or are not kept") {
    // Types of some hundred bytes at the most are kept, and one or two of them.
    for (const char *limit : {"0", "300"}) {
        RmaPair pair(
            {{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.rma.types", limit}});
        run_cases("rma not kept", 150, [&](Case &one) {
            put_or_get(one, pair);
            accumulate(one, pair);
        });
    }
}

} // namespace rma_moves_test
