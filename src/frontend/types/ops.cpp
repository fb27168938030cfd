#include "types/ops.h"

#include "types/predefined.h"

#include <iterator>
#include <public_lists.h>
#include <string>
#include <ucd.h>

namespace ucd {

// Op has the values of the constants.
#define UCD_SAME_VALUE(CONSTANT, op)                                                               \
    static_assert(static_cast<ucd_op_t>(Op::op) == UCD_OP__##CONSTANT);
UCD_EACH_OP(UCD_SAME_VALUE)
#undef UCD_SAME_VALUE

std::string_view op_name(Op op) {
#define UCD_NAMED(CONSTANT, op) #CONSTANT,
    constexpr std::string_view names[] = {UCD_EACH_OP(UCD_NAMED)};
#undef UCD_NAMED
    static_assert(std::size(names) == static_cast<std::size_t>(Op::count_));
    return names[static_cast<unsigned>(op)];
}

namespace {

std::string in_upper_case(std::string name) {
    for (char &c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return name.empty() ? "a type that this machine lacks" : name;
}

} // namespace

std::string element_name(Element element) {
    return in_upper_case(std::string(predefined_name(predefined_with(element))));
}

Status fail_unsupported(Op op, const Type &type, uint32_t bit) {
    // Every type has REPLACE.
    if ((type.ops & op_bit(Op::replace)) == 0)
        return fail(UCD_ERR__INVALID_ARG, "there is no type at %p; was it freed?",
                    static_cast<const void *>(&type));
    if (is_conversion(op) ? !has_conversions : !has_reductions)
        return fail(UCD_ERR__NOT_SUPPORTED, "this libucd was built without %s (UCD_NO_%s)",
                    is_conversion(op) ? "conversions" : "reductions",
                    is_conversion(op) ? "CONVERSIONS" : "REDUCTIONS");
    // Descends to a predefined type that lacks the op: wherever a type lacks it, some child does
    // too.
    const Type *t = &type;
    while (t->form != Form::element) {
        if (t->form != Form::structure) {
            t = t->child;
            continue;
        }
        const auto &structure = as<StructureType>(*t);
        const Type *lacking = nullptr;
        for (int64_t i = 0; i < structure.count() && lacking == nullptr; ++i) {
            const Type &member = structure.member(i);
            if (structure.block_length(i) > 0 && member.size > 0 && (member.ops & bit) == 0)
                lacking = &member;
        }
        t = lacking;
    }
    const std::string name = in_upper_case(std::string(predefined_name(t->predefined)));
    return fail(UCD_ERR__NOT_SUPPORTED, "%s is not defined on %s", op_name(op).data(),
                name.c_str());
}

} // namespace ucd
