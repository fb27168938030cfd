#include "support/moves/device_moves.hpp"

#include "support/catch.hpp"
#include "support/moves/calls.hpp"

#include "support/device_memory.h"
#include "transfer/context.h"
#include "transfer/progress.h"

#include <stdexcept>
#include <string>

namespace ucdtest {

void random_knobs(Rng &rng) {
    if (!mock::backend.remembers) {
        mock::knobs.peers = rng.chance(30);
        mock::knobs.private_pinned = rng.chance(30);
    }
    mock::knobs.delay_us = rng.chance(20) ? 20 : 0;
}

// Hints --------------------------------------------------------------

TrueHints::TrueHints(Rng &rng, Memory in, Memory out, bool by_engines) {
    if (rng.chance(50)) return;
    // A hint says that the device which executes reaches the memory.
    const auto reached = [](Memory m) {
        return m != Memory::pinned || !mock::knobs.private_pinned;
    };
    if (reached(in) && rng.chance(70)) set("ucd.inbuf", hint_for(in));
    if (reached(out) && rng.chance(70)) set("ucd.outbuf", hint_for(out));
    if (by_engines && rng.chance(20)) set("ucd.engine", "dma");
}

bool engines_can(ucd_op_t op, const Subject &subject) {
    return op == UCD_OP__REPLACE && !subject.map->by_reference;
}

// Moves --------------------------------------------------------------

namespace {

std::size_t element_at(const ReducedSubject &what, std::size_t offset) {
    std::size_t low = 0, high = what.elements.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        (what.elements[middle].offset < offset ? low = middle + 1 : high = middle);
    }
    return low;
}

// `out op in` over bytes [offset, offset + out.size()) of the stream.
void combine(ucd_op_t op, const ReducedSubject &what, std::size_t offset,
             std::vector<std::byte> &out, const std::vector<std::byte> &in) {
    if (op == UCD_OP__REPLACE)
        out = in;
    else
        reduce_stream(op, what.elements, element_at(what, offset),
                      element_at(what, offset + out.size()), out.data(), in.data());
}

std::vector<std::byte> packed_bytes(const DeviceMove &m) {
    return {m.packed.actual(0), m.packed.actual(static_cast<std::intptr_t>(m.length))};
}

std::string text_of(const DeviceMove &m) {
    return std::string(" (") + op_name(m.op) + ", bytes from " + std::to_string(m.offset) + ", " +
           std::to_string(m.length) + " of them, laid out in " + name_of(m.typed.memory()) +
           ", packed in " + name_of(m.packed.memory()) + ")";
}

void set_values(const DeviceMove &m) {
    Rng &rng = m.one.rng();
    if (m.op == UCD_OP__REPLACE) {
        m.typed.randomise(rng);
        m.packed.randomise(rng);
        return;
    }
    set_typed_values(rng, m.what, place(m.what.subject, m.typed));
    set_packed_values(rng, m.what, element_at(m.what, m.offset),
                      element_at(m.what, m.offset + m.length), m.packed);
}

} // namespace

void set_up(const DeviceMove &m, bool packs) {
    set_values(m);
    const std::vector<std::byte> typed =
        gathered(place(m.what.subject, m.typed), m.offset, m.offset + m.length);
    std::vector<std::byte> out = packs ? packed_bytes(m) : typed;
    combine(m.op, m.what, m.offset, out, packs ? typed : packed_bytes(m));
    for (std::size_t i = 0; i < m.length; ++i)
        *(packs ? m.packed.expected(static_cast<std::intptr_t>(i))
                : m.typed.expected(m.what.subject.bytes[m.offset + i])) = out[i];
    m.typed.send();
    m.packed.send();
}

void check_result(const DeviceMove &m) {
    m.typed.fetch();
    m.packed.fetch();
    require_intact(m.one, m.typed, ("typed buffer" + text_of(m)).c_str());
    require_intact(m.one, m.packed, ("packed buffer" + text_of(m)).c_str());
}

void check_device_move(const DeviceMove &m, bool packs, const char *engine) {
    Rng &rng = m.one.rng();
    set_up(m, packs);
    const Memory typed = m.typed.memory(), packed = m.packed.memory();
    TrueHints hints(rng, packs ? typed : packed, packs ? packed : typed,
                    engines_can(m.op, m.what.subject));
    if (engine != nullptr) hints.set("ucd.engine", engine);
    const char *const call = packs ? "pack" : "unpack";
    std::uintptr_t actual = untouched;
    m.one.succeed(
        call_any(rng, packs ? pack_of(m) : unpack_of(m), &actual, hints.get(), m.op, false),
        (call + text_of(m)).c_str());
    if (actual != m.length)
        m.one.fail(call, " moved ", actual, " bytes, not ", m.length, text_of(m));
    check_result(m);
}

void set_up_copy(const DeviceCopy &c) {
    Rng &rng = c.one.rng();
    const MemoryLocation from = place(c.source.subject, c.in), to = place(c.target.subject, c.out);
    if (c.op == UCD_OP__REPLACE) {
        c.in.randomise(rng);
        c.out.randomise(rng);
    } else {
        set_typed_values(rng, c.source, from);
        set_typed_values(rng, c.target, to);
    }
    const std::size_t first_in = c.range.in_offset, first_out = c.range.out_offset;
    std::vector<std::byte> result = gathered(to, first_out, first_out + c.bytes());
    combine(c.op, c.source, first_in, result, gathered(from, first_in, first_in + c.bytes()));
    for (std::size_t i = 0; i < c.bytes(); ++i)
        *c.out.expected(c.target.subject.bytes[first_out + i]) = result[i];
    c.in.send();
    c.out.send();
}

namespace {

std::string text_of(const DeviceCopy &c) {
    return std::string("copy (") + op_name(c.op) + ") from " + name_of(c.in.memory()) + " to " +
           name_of(c.out.memory());
}

} // namespace

void check_result(const DeviceCopy &c) {
    c.in.fetch();
    c.out.fetch();
    require_intact(c.one, c.in, ("source of a " + text_of(c)).c_str());
    require_intact(c.one, c.out, ("target of a " + text_of(c)).c_str());
}

ucd_move_t pack_of(const DeviceMove &m) {
    const Subject &s = m.what.subject;
    return pack_move(m.typed.real_base(), s.count, s.type(), m.offset, m.packed.real_base(),
                     m.length);
}

ucd_move_t unpack_of(const DeviceMove &m) {
    const Subject &s = m.what.subject;
    return unpack_move(m.packed.real_base(), m.length, m.typed.real_base(), s.count, s.type(),
                       m.offset);
}

ucd_move_t copy_of(const DeviceCopy &c) {
    const Subject &a = c.source.subject, &b = c.target.subject;
    return part_move(c.in.real_base(), a.count, a.type(), c.range.in_offset, c.out.real_base(),
                     b.count, b.type(), c.range.out_offset, c.range.limit);
}

void check_device_copy(const DeviceCopy &c, const char *engine) {
    Rng &rng = c.one.rng();
    set_up_copy(c);
    TrueHints hints(rng, c.in.memory(), c.out.memory(),
                    engines_can(c.op, c.source.subject) && engines_can(c.op, c.target.subject));
    if (engine != nullptr) hints.set("ucd.engine", engine);
    std::uintptr_t actual = untouched;
    // A copy refuses what a part may have: more input than there is room for.
    c.one.succeed(c.range.is_part ? call_move(rng, copy_of(c), &actual, hints.get(), c.op, false)
                                  : call_any(rng, copy_of(c), &actual, hints.get(), c.op, false),
                  text_of(c).c_str());
    if (actual != c.bytes()) c.one.fail(text_of(c), " moved ", actual, " bytes, not ", c.bytes());
    check_result(c);
}

RecipeOptions device_options(ucd_op_t op) {
    RecipeOptions options;
    options.max_bytes = 1024;
    options.max_span = 16384;
    options.unpack_safe = true;
    options.index_memory = [](Rng &rng, const std::vector<std::byte> &bytes) {
        return copy_in(random_memory(rng), bytes);
    };
    if (op == UCD_OP__REPLACE) return options;
    for (const ucd_type_t type : types_supporting(op)) {
        int supported = 0;
        if (ucd_op_is_supported(op, type, mock::backend.name, &supported) == UCD_SUCCESS &&
            supported)
            options.elements.push_back(type);
    }
    return options;
}

ucd_op_t random_device_op(Rng &rng) {
    const ucd_op_t op = rng.chance(50) ? static_cast<ucd_op_t>(UCD_OP__REPLACE)
                                       : all_ops()[1 + rng.below(all_ops().size() - 1)].op;
    const bool has_types = op == UCD_OP__REPLACE || !device_options(op).elements.empty();
    return has_types ? op : static_cast<ucd_op_t>(UCD_OP__REPLACE);
}

// Sessions --------------------------------------------------------------

void use_staging(std::size_t chunk_bytes, unsigned chunks) {
    ucd::running_context.load()->progress =
        std::make_unique<ucd::Progress>(ucd::StagingSizes{chunk_bytes, chunks});
}

DeviceSession::DeviceSession() {
    // A case finds no batch seen, no table kept and no figures read by those before it.
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    mock::reset();
    use_staging(512, 3);
}

DeviceSession::~DeviceSession() {
    mock::let_go();
    mock::reset();
    use_staging(ucd::StagingSizes{}.chunk_bytes, ucd::StagingSizes{}.chunks);
    CHECK(mock::counts.live_events == 0);
    (void)ucd::running_context.load()->device_memory->release_spare();
    if (!mock::backend.remembers) CHECK(mock::counts.live_allocations == 0);
}

} // namespace ucdtest
