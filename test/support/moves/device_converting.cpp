#include "support/moves/device_converting.hpp"

#include "support/oracle/byte_map.hpp"

namespace ucdtest {

void check_device_conversion(Case &one, const ConvertedPair &pair, Memory a, Memory b,
                             std::size_t first, std::size_t last,
                             const std::function<void(DeviceBuffer &)> &fill) {
    Rng &rng = one.rng();
    const Subject &source = pair.source.subject, &target = pair.target.subject;
    DeviceBuffer in(rng, source.range, a), out(rng, target.range, b);
    if (fill) fill(in);
    const MemoryLocation from{&in, in.base(), source.type(), source.count, &source.bytes};
    const MemoryLocation to{&out, out.base(), target.type(), target.count, &target.bytes};
    const bool saturate = rng.chance(50);
    const ucd_op_t op = saturate ? UCD_OP__CONVERT_SAT : UCD_OP__CONVERT;
    expect_converted(pair, from, first, to, first, last - first, saturate);
    in.send();
    out.send();
    TrueHints hints(rng, a, b, false);
    std::uintptr_t actual = untouched, consumed = untouched;
    const std::size_t offset = pair.source.offset_of(first);
    const ucd_move_t move = part_move(
        in.real_base(), source.count, source.type(), offset, out.real_base(), target.count,
        target.type(), pair.target.offset_of(first), pair.source.offset_of(last) - offset);
    one.succeed(call_move(rng, move, &actual, hints.get(), op, false, &consumed), "conversion");
    const std::size_t written = pair.target.offset_of(last) - pair.target.offset_of(first);
    if (actual != written) one.fail("wrote ", actual, " bytes, not ", written);
    if (consumed != move.bytes) one.fail("took ", consumed, " bytes, not ", move.bytes);
    in.fetch();
    out.fetch();
    require_intact(one, out, "target of a conversion");
    require_intact(one, in, "source of a conversion");
}

void check_device_conversion(Case &one, const ConvertedPair &pair, Memory a, Memory b) {
    const std::size_t elements = pair.source.elements.size();
    if (elements == 0 || overlaps(pair.target.subject.bytes)) return;
    check_device_conversion(one, pair, a, b, 0, elements);
    const std::size_t first = one.rng().below(elements);
    check_device_conversion(one, pair, a, b, first, first + 1 + one.rng().below(elements - first));
}

} // namespace ucdtest
