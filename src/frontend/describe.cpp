#include "describe.h"

#include "layout_text.h"
#include "move_arguments.h"
#include "normalise/lower.h"
#include "predefined.h"

#include <algorithm>
#include <vector>

namespace ucd {
namespace {

// Long lists and deep trees are cut short.
constexpr int64_t most_entries = 16;
constexpr std::size_t most_lines = 64;

std::string list(const int64_t *values, int64_t count) {
    std::string text = "[";
    for (int64_t i = 0; i < std::min(count, most_entries); ++i)
        text += (i == 0 ? "" : ",") + std::to_string(values[i]);
    return text + (count > most_entries ? ",...]" : "]");
}

std::string_view name_of(Combiner combiner) {
    constexpr std::string_view names[] = {
        "predefined",    "contig",         "dup",     "vector",   "hvector",
        "indexed_block", "hindexed_block", "indexed", "hindexed", "struct",
        "subarray",      "darray",         "ndarray", "resized"};
    return names[static_cast<unsigned>(combiner)];
}

std::string order_name(int64_t order) {
    return order == UCD_ORDER__C ? "C" : "FORTRAN";
}

std::string distributions(const int64_t *values, int64_t count) {
    constexpr std::string_view names[] = {"BLOCK", "CYCLIC", "NONE"};
    std::string text = "[";
    for (int64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::string(names[values[i]]);
    return text + "]";
}

// The constructor's arguments in the order of its parameters, without the types.
std::string arguments_of(const Type &t) {
    const auto number = [](int64_t v) { return std::to_string(v); };
    const int64_t *a = t.arguments.get();
    switch (t.combiner) {
    case Combiner::predefined:
    case Combiner::dup: return "";
    case Combiner::contig: return number(t.blocklength);
    case Combiner::vector:
        return number(t.count) + ", " + number(t.blocklength) + ", " + number(a[0]);
    case Combiner::hvector:
        return number(t.count) + ", " + number(t.blocklength) + ", " + number(t.stride);
    case Combiner::indexed_block:
    case Combiner::hindexed_block:
        return number(t.blocklength) + ", " + list(t.displs.get(), t.count);
    case Combiner::indexed:
    case Combiner::hindexed:
    case Combiner::structure:
        return list(t.blocklengths.get(), t.count) + ", " + list(t.displs.get(), t.count);
    case Combiner::resized: return number(t.lb) + ", " + number(t.extent());
    case Combiner::subarray: {
        const int64_t n = a[0];
        return list(a + 1, n) + ", " + list(a + 1 + n, n) + ", " + list(a + 1 + 2 * n, n) + ", " +
               order_name(a[1 + 3 * n]);
    }
    case Combiner::darray: {
        const int64_t n = a[2];
        const int64_t *g = a + 3;
        return number(a[0]) + ", " + number(a[1]) + ", " + list(g, n) + ", " +
               distributions(g + n, n) + ", " + list(g + 2 * n, n) + ", " + list(g + 3 * n, n) +
               ", " + order_name(g[4 * n]);
    }
    case Combiner::ndarray: return list(a + 1, a[0]) + ", " + list(a + 1 + a[0], a[0]);
    }
    return "";
}

// The child that the user gave to a constructor that nests strides of its own around it.
const Type *user_child(const Type &t) {
    const bool array = t.combiner == Combiner::subarray || t.combiner == Combiner::darray ||
                       t.combiner == Combiner::ndarray;
    if (!array) return t.child;
    int64_t dims = t.combiner == Combiner::darray ? t.arguments[2] : t.arguments[0];
    const Type *c = t.child;
    if (t.combiner != Combiner::darray) {
        for (; dims > 0; --dims) c = c->child;
        return c;
    }
    // A dimension is a block within a stride, or a struct of such and a shorter rest.
    for (; dims > 0; --dims)
        c = c->form == Form::fields ? c->children[0]->child->child : c->child->child;
    return c;
}

void write_tree(const Type &root, std::string &text) {
    struct Item {
        const Type *type;
        std::size_t depth;
        int64_t repeated; // equal members of a struct in a row
    };
    std::vector<Item> pending{{&root, 1, 1}};
    for (std::size_t lines = 0; !pending.empty(); ++lines) {
        if (lines == most_lines) {
            text += "  ...\n";
            return;
        }
        const auto [t, depth, repeated] = pending.back();
        pending.pop_back();
        text.append(2 * depth, ' ');
        if (repeated > 1) text += std::to_string(repeated) + " times ";
        if (t->form == Form::element) {
            text += t->predefined != 0 ? predefined_name(t->predefined) : "foreign";
            text += "\n";
            continue;
        }
        text += name_of(t->combiner);
        text += "(" + arguments_of(*t) + ")\n";
        if (t->form != Form::fields) {
            pending.push_back({user_child(*t), depth + 1, 1});
            continue;
        }
        std::vector<Item> members;
        for (int64_t i = 0; i < t->count && members.size() < most_lines; ++i) {
            if (!members.empty() && members.back().type == t->children[i])
                ++members.back().repeated;
            else
                members.push_back({t->children[i], depth + 1, 1});
        }
        pending.insert(pending.end(), members.rbegin(), members.rend());
    }
}

void write_layout(const Type &type, std::string &text) {
    std::vector<const char *> rewrites;
    const Layout layout = lower_to_layout(type, &rewrites);
    text += "layout\n  " + to_text(layout) + "\n";
    std::sort(rewrites.begin(), rewrites.end());
    rewrites.erase(std::unique(rewrites.begin(), rewrites.end()), rewrites.end());
    if (rewrites.empty()) return;
    text += "  by";
    for (const char *r : rewrites) text += std::string(" ") + r;
    text += "\n";
}

} // namespace

std::string describe(const Type &type, const Context &context) {
    const auto number = [](auto v) { return std::to_string(v); };
    std::string text = "type\n";
    write_tree(type, text);
    text += "bounds\n  size " + number(type.size) + ", lb " + number(type.lb) + ", extent " +
            number(type.extent()) + ", true lb " + number(type.true_lb) + ", true extent " +
            number(type.true_ub - type.true_lb) + ", alignment " + number(type.alignment) + "\n";
    write_layout(type, text);
    if (type.size == 0) return text;
    text += "  " + number(layout_of(type).top().segments.count) + " segments\n";
    text += "kernels\n";
    uint64_t total;
    const bool several_fit = check_count(2, type, "count", total).ok();
    for (std::size_t i = 0; i < context.slots.size(); ++i) {
        const BackendSlot &slot = context.slots[i];
        if (!slot.backend) continue;
        for (const bool repeated : {false, true}) {
            if (repeated && !several_fit) continue;
            const Plan *plan;
            if (!plan_of(type, *slot.backend, static_cast<unsigned>(i), repeated, plan).ok())
                continue;
            text +=
                "  " + slot.name + (repeated ? ", several: " : ", one: ") + plan->describe() + "\n";
        }
    }
    return text;
}

} // namespace ucd
