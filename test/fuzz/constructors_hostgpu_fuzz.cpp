// The same programs of constructors, with the data in the memories of devices that are threads of
// the CPU.
#include "subjects.hpp"
#include "target.hpp"

#include "support/moves/device_converting.hpp"

#include <algorithm>

using namespace ucdtest;
using namespace ucdtest::fuzz;

namespace {

Memory memory_of(Input &input) {
    return all_memories[input.up_to(std::size(all_memories) - 1)];
}

// So many that copy engines take all of their blocks: a hint may choose these.
std::size_t few_of(Input &input, const ProgramType &type) {
    constexpr std::size_t max_blocks = 4096;
    const std::size_t count = count_of(input, type, 6),
                      each = std::max<std::size_t>(1, type.map->size);
    return std::min(count, max_blocks / each);
}

// Whether devices have the reduction, too.
bool devices_can(ucd_op_t op, ucd_type_t type) {
    int supported = 0;
    return ucd_op_is_supported(op, type, mock::backend.name, &supported) == UCD_SUCCESS &&
           supported != 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    start_library();
    Input input(data, size);
    Case one = case_of("constructors on devices", data, size);
    const std::vector<ProgramType> stack = read_program(input);
    const ProgramType &type = stack.back();
    const ReducedSubject what = with_elements(subject_of(one, type, few_of(input, type), "type"));
    const Subject &subject = what.subject;
    check_bounds(one, subject, subject.type());
    const bool safe = !overlaps(*subject.map, subject.count);
    ucd_op_t op = op_of(input, what);
    if (!devices_can(op, subject.type())) op = UCD_OP__REPLACE;
    DeviceBuffer typed(one.rng(), subject.range, memory_of(input));
    DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(subject.size())},
                        memory_of(input));
    const bool whole = op != UCD_OP__REPLACE;
    const auto [first, last] = range_of(input, whole ? what.elements.size() : subject.size());
    const std::size_t from = whole ? what.offset_of(first) : first,
                      to = whole ? what.offset_of(last) : last;
    const DeviceMove move{one, op, what, typed, packed, from, to - from};
    check_device_pack(move);
    if (safe) check_device_unpack(move);
    if (const auto pair = converted_pair(one, type, what))
        check_device_conversion(one, *pair, memory_of(input), memory_of(input));
    if (stack.size() > 1) {
        const ProgramType &other = stack[stack.size() - 2];
        const ReducedSubject target =
            with_elements(subject_of(one, other, few_of(input, other), "target"));
        if (subject.size() <= target.subject.size() && !overlaps(target.subject.bytes)) {
            DeviceBuffer out(one.rng(), target.subject.range, memory_of(input));
            check_device_copy({one, UCD_OP__REPLACE, what, typed, target, out, {}});
        }
    }
    accepted += subject.size() > 0;
    return 0;
}
