#include "api/describe.h"

#include "flatten/writer.h"
#include "layout/advice.h"
#include "layout/layout_text.h"
#include "layout/normalise/lower.h"
#include "prepared/footprint.h"
#include "transfer/check.h"
#include "transfer/route.h"
#include "types/predefined.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace ucd {
namespace {

// Limits on the output for long lists and deep trees.
constexpr int64_t max_entries = described_blocks;
constexpr std::size_t max_lines = 64;

std::string list(const int64_t *values, int64_t count) {
    std::string text = "[";
    for (int64_t i = 0; i < std::min(count, max_entries); ++i) {
        if (i > 0) text += ',';
        text += std::to_string(values[i]);
    }
    return text + (count > max_entries ? ",...]" : "]");
}

// What entry(i) says of `count` entries.
template <class Entry>
std::string list_of(int64_t count, Entry entry) {
    int64_t values[max_entries];
    for (int64_t i = 0; i < std::min(count, max_entries); ++i) values[i] = entry(i);
    return list(values, count);
}

// Displacements as the user passed them.
std::string displacements(const ListType &t) {
    const bool in_extents =
        t.combiner == Combiner::indexed_block || t.combiner == Combiner::indexed;
    return list_of(t.count(), [&](int64_t i) {
        if (!t.arguments.empty()) return t.arguments[static_cast<std::size_t>(i)];
        return t.displacement(i) / (in_extents ? t.child->extent() : 1);
    });
}

std::string block_lengths(const ListType &t) {
    return list_of(t.count(), [&](int64_t i) { return t.block_length(i); });
}

std::string_view name_of(Combiner combiner) {
#define UCD_NAMED(identifier, name) name,
    constexpr std::string_view names[] = {"predefined", UCD_EACH_CONSTRUCTOR(UCD_NAMED)};
#undef UCD_NAMED
    return names[static_cast<unsigned>(combiner)];
}

std::string address_of(const void *memory) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", memory);
    return text;
}

std::string order_name(int64_t order) {
    return order == UCD_ORDER__C ? "C" : "FORTRAN";
}

std::string distributions(const int64_t *values, int64_t count) {
    constexpr std::string_view names[] = {"BLOCK", "CYCLIC", "NONE"};
    std::string text = "[";
    for (int64_t i = 0; i < count; ++i) {
        if (i > 0) text += ',';
        text += names[values[i]];
    }
    return text + "]";
}

std::string text_of(int64_t number) {
    return std::to_string(number);
}
std::string text_of(std::string text) {
    return text;
}

template <class... Arguments>
std::string join(const Arguments &...arguments) {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + text_of(arguments)), ...);
    return text;
}

std::string arguments_of(const ByReferenceType &t) {
    return join(t.count, t.blocklength, address_of(t.indices),
                std::string(predefined_name(predefined_with(t.index_element))), t.unit, t.lb,
                t.extent());
}

std::string arguments_of(const NestType &t) {
    const auto level = [&](int64_t i) { return t.levels.begin()[i]; };
    const int64_t *a = t.arguments.data();
    switch (t.combiner) {
    case Combiner::contig: return join(level(0).count);
    case Combiner::vector:
        return join(level(1).count, level(0).count,
                    t.arguments.empty() ? level(1).stride / t.child->extent() : a[0]);
    case Combiner::hvector: return join(level(1).count, level(0).count, level(1).stride);
    case Combiner::hindexed_block: return join(1, "[" + std::to_string(t.at) + "]");
    case Combiner::resized: return join(t.lb, t.extent());
    case Combiner::subarray: {
        const int64_t n = a[0];
        return join(list(a + 1, n), list(a + 1 + n, n), list(a + 1 + 2 * n, n),
                    order_name(a[1 + 3 * n]));
    }
    case Combiner::darray: {
        const int64_t n = a[2];
        const int64_t *g = a + 3;
        return join(a[0], a[1], list(g, n), distributions(g + n, n), list(g + 2 * n, n),
                    list(g + 3 * n, n), order_name(g[4 * n]));
    }
    case Combiner::ndarray: {
        const auto n = static_cast<int64_t>(t.levels.size());
        return join(list_of(n, [&](int64_t i) { return level(n - 1 - i).count; }),
                    list_of(n, [&](int64_t i) { return level(n - 1 - i).stride; }));
    }
    default: break;
    }
    // Numbers, all of which are kept.
    std::string text;
    for (const int64_t n : t.arguments) text += (text.empty() ? "" : ", ") + text_of(n);
    return text;
}

// The constructor's arguments, except types, in the order of its parameters.
std::string arguments_of(const Type &t) {
    switch (t.form) {
    case Form::element: return "";
    case Form::nest: return arguments_of(as<NestType>(t));
    case Form::by_reference: return arguments_of(as<ByReferenceType>(t));
    case Form::indexed_block:
        if (as<ListType>(t).has_lengths()) break;
        return join(as<ListType>(t).blocklength, displacements(as<ListType>(t)));
    case Form::indexed:
    case Form::structure: break;
    }
    return join(block_lengths(as<ListType>(t)), displacements(as<ListType>(t)));
}

// The child that the user passed to the constructor. The parts that a darray is made of have no
// arguments.
const Type *user_child(const Type &t) {
    const Type *c = t.child;
    while (c->combiner == Combiner::darray && c->arguments.empty()) c = children_of(*c)[0];
    return c;
}

void write_tree(const Type &root, std::string &text) {
    struct TreeLine {
        const Type *type;
        std::size_t depth;
        int64_t repeated; // number of consecutive equal members of a struct
    };
    std::vector<TreeLine> pending{{&root, 0, 1}};
    for (std::size_t lines = 0; !pending.empty(); ++lines) {
        if (lines == max_lines) {
            text += "type: ...\n";
            return;
        }
        const auto [t, depth, repeated] = pending.back();
        pending.pop_back();
        text += "type: ";
        text.append(2 * depth, ' ');
        if (repeated > 1) text += std::to_string(repeated) + " times ";
        if (t->form == Form::element) {
            text += t->predefined != 0 ? predefined_name(t->predefined) : "foreign";
            text += "\n";
            continue;
        }
        text += name_of(t->combiner);
        text += "(" + arguments_of(*t) + ")\n";
        if (t->form != Form::structure) {
            pending.push_back({user_child(*t), depth + 1, 1});
            continue;
        }
        std::vector<TreeLine> members;
        for (const Type *member : children_of(*t)) {
            if (members.size() == max_lines) break;
            if (!members.empty() && members.back().type == member)
                ++members.back().repeated;
            else
                members.push_back({member, depth + 1, 1});
        }
        pending.insert(pending.end(), members.rbegin(), members.rend());
    }
}

void write_steps(const Type &type, std::string &text) {
    LoweringTrace trace;
    (void)lower(type, Lower::bytes, max_layout_bytes(type), &trace);
    for (const LoweringStep &step : trace.steps) {
        text += "step: " + std::string(name_of(step.combiner)) + " -> " + step.result;
        for (std::size_t i = 0; i < step.rewrites.size(); ++i)
            text += std::string(i == 0 ? " by " : ", ") + step.rewrites[i];
        text += "\n";
    }
    if (trace.count > trace.steps.size()) text += "step: ...\n";
}

// Writes where the indices are that are read when data moves.
void write_indices(const Layout &layout, const Context &context, std::string &text) {
    std::size_t lines = 0;
    for (const Node &n : layout.nodes) {
        if (n.kind != NodeKind::by_reference) continue;
        if (lines++ == max_lines) {
            text += "indices: ...\n";
            return;
        }
        const IndexList &list = layout.index_lists[n.table];
        MemoryLocation location;
        (void)find_location(context, Hints{}, nullptr, list.indices, location);
        text += "indices: " + std::to_string(n.count) + " of " +
                std::string(predefined_name(predefined_with(list.element))) + " at " +
                address_of(list.indices) + " in " + name_of(location).text + " memory\n";
    }
}

void write_kernels(const Type &type, const Context &context, std::string &text) {
    uint64_t total;
    const bool several_fit = check_count(2, type, "count", total).ok();
    for (std::size_t i = 0; i < context.slots.size(); ++i) {
        const BackendSlot &slot = context.slots[i];
        if (!slot.backend) {
            text += "kernel: " + slot.name + ": none, since " + slot.state.reason.c_str() + "\n";
            continue;
        }
        for (const bool repeated : {false, true}) {
            const KernelPlan *plan;
            if (repeated && !several_fit) continue;
            if (!plan_of(type, *slot.backend, static_cast<unsigned>(i), repeated, plan).ok())
                continue;
            text += "kernel: " + slot.name + (repeated ? ", several: " : ", one: ") +
                    description_of(*plan) + "\n";
        }
    }
}

} // namespace

std::string describe(const Type &type, const Context &context) {
    std::string text;
    const auto line = [&](const char *key, const std::string &value) {
        text += std::string(key) + ": " + value + "\n";
    };
    const auto number = [&](const char *key, auto value) { line(key, std::to_string(value)); };
    write_tree(type, text);
    number("size", type.size);
    number("lb", type.lb);
    number("extent", type.extent());
    number("true_lb", type.true_lb);
    number("true_extent", type.true_ub - type.true_lb);
    number("alignment", type.alignment);
    line("explicit_bounds", type.explicit_bounds ? "yes" : "no");
    write_steps(type, text);
    line("layout", to_text(layout_of(type)));
    write_indices(layout_of(type), context, text);
    const bool has_segments = type.size > 0 && !type.by_reference;
    const uint64_t segments = has_segments ? layout_of(type).top().segments.count : 0;
    number("segments", segments);
    if (type.size > 0) write_kernels(type, context, text);
    line("advice", advice_text(type, layout_of(type)));
    number("flattened", type.by_reference ? 0 : flatten(type).size());
    number("memory", footprint_of(type));
    return text;
}

} // namespace ucd
