// The functions that move data on a device, and moves for them whose type was never used before:
// for tests in which something fails within a call.
#pragma once

#include "support/moves/strided_move.hpp"

#include <vector>

namespace ucdtest {

// Of doubles. What a call needs besides memory of the library's is made before.
struct FreshMove : WholeMove {
    ucd_stream_t stream;
    MoveList list; // all of it; many members, unless they reduce
    BuiltType elements;

    FreshMove(const RecipePtr &recipe, Memory a, Memory b, ucd_op_t o, const ucd_stream_t &s)
        : WholeMove("fresh", recipe, a, b, o), stream(s),
          elements(recipes::contig(static_cast<std::intptr_t>(what.elements.size()),
                                   recipes::leaf(UCD_TYPE__DOUBLE))) {
        const std::size_t each = op == UCD_OP__REPLACE ? bytes() / 40 : bytes();
        for (std::size_t at = 0; at < bytes(); at += each)
            list.push_back(pack_move(typed.real_base(), 1, type(), at,
                                     packed.at(static_cast<std::ptrdiff_t>(at)), each));
    }
    std::vector<std::byte> contents() {
        typed.fetch();
        packed.fetch();
        std::vector<std::byte> all(packed.actual(0),
                                   packed.actual(static_cast<std::intptr_t>(bytes())));
        all.insert(all.end(), typed.actual(what.subject.range.low),
                   typed.actual(what.subject.range.high));
        return all;
    }
};

struct MoveFunction {
    const char *name;
    bool unpacks, in_stream;
    int (*call)(FreshMove &);

    void set_up(FreshMove &m) const { ucdtest::set_up(m.move(), !unpacks); }
};

inline const MoveFunction move_functions[] = {
    {"ucd_ipack", false, false,
     [](FreshMove &m) {
         return ucd_ipack(m.typed.real_base(), 1, m.type(), 0, m.packed.real_base(), m.bytes(),
                          &m.actual, UCD_INFO__NULL, m.op, &m.request);
     }},
    {"ucd_pack", false, false,
     [](FreshMove &m) {
         return ucd_pack(m.typed.real_base(), 1, m.type(), 0, m.packed.real_base(), m.bytes(),
                         &m.actual, UCD_INFO__NULL, m.op);
     }},
    {"ucd_iunpack", true, false,
     [](FreshMove &m) {
         return ucd_iunpack(m.packed.real_base(), m.bytes(), m.typed.real_base(), 1, m.type(), 0,
                            &m.actual, UCD_INFO__NULL, m.op, &m.request);
     }},
    {"ucd_icopy", false, false,
     [](FreshMove &m) { // to the elements one behind the other: what a pack does
         return ucd_icopy(m.typed.real_base(), 1, m.type(), m.packed.real_base(), 1,
                          m.elements.get(), &m.actual, UCD_INFO__NULL, m.op, &m.request);
     }},
    {"ucd_imove", false, false,
     [](FreshMove &m) { return start(m.list, &m.request, UCD_INFO__NULL, m.op); }},
    {"ucd_pack_stream", false, true,
     [](FreshMove &m) {
         return ucd_pack_stream(m.typed.real_base(), 1, m.type(), 0, m.packed.real_base(),
                                m.bytes(), &m.actual, UCD_INFO__NULL, m.op, m.stream);
     }},
    {"ucd_unpack_stream", true, true,
     [](FreshMove &m) {
         return ucd_unpack_stream(m.packed.real_base(), m.bytes(), m.typed.real_base(), 1, m.type(),
                                  0, &m.actual, UCD_INFO__NULL, m.op, m.stream);
     }},
    {"ucd_move_stream", false, true,
     [](FreshMove &m) {
         return ucd_move_stream(m.list.data(), m.list.size(), UCD_INFO__NULL, m.op, m.stream);
     }},
    {"ucd_prepare and ucd_pack_stream", false, true,
     [](FreshMove &m) {
         const int rc = ucd_prepare(1, m.type(), m.op, m.stream, UCD_INFO__NULL);
         return rc != UCD_SUCCESS
                    ? rc
                    : ucd_pack_stream(m.typed.real_base(), 1, m.type(), 0, m.packed.real_base(),
                                      m.bytes(), &m.actual, UCD_INFO__NULL, m.op, m.stream);
     }},
};

} // namespace ucdtest
