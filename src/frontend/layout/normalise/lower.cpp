#include "layout/normalise/lower.h"

#include "layout/layout_text.h"
#include "layout/normalise/builder.h"
#include "layout_walk.h"
#include "support/list_memory.h"
#include "types/bounds.h"
#include "types/predefined.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <unordered_map>
#include <utility>

namespace ucd {
namespace {

// If struct constructors nest deeper than this, chains of structs are spliced into one list from
// the top; otherwise each level would copy the list of the level below.
constexpr uint32_t deep = 32;

// Shifts are negative, so that they do not overflow for any type. Numbers below
// first_without_handle are handles, those above are representations without a handle on this
// machine.
constexpr unsigned first_without_handle = 64;
static_assert(predefined_count < first_without_handle);

int64_t shift_of(const Type &element) {
    const unsigned number = element.predefined != 0
                                ? element.predefined
                                : first_without_handle + static_cast<unsigned>(element.element);
    return -static_cast<int64_t>(number);
}

// Visits the type tree in post-order with an explicit stack, because a million levels are legal.
class Lowering {
public:
    // `trace`, if given, receives the steps; `rewrites` is the vector that the builder adds names
    // to.
    Lowering(Builder &builder, Lower what, LoweringTrace *trace,
             std::vector<const char *> &rewrites)
        : builder_(builder), what_(what), packed_(what != Lower::bytes), trace_(trace),
          rewrites_(rewrites) {}

    Placed run(const Type &root) {
        shared_ = root.nested_structs > 0;
        if (root.nested_structs > deep) count_uses(root);
        push(root);
        while (!stack_.empty()) step();
        return result_;
    }

private:
    struct LoweredType {
        const Type *type;
        std::size_t owner; // frame that gets the members: this one, unless spliced
        int64_t next = 0;  // structure: the member to visit next
        int64_t shift = 0; // of a spliced struct
        bool visited = false;
        bool waiting = false; // result_ will be that of member next - 1
        std::vector<Placed> entries = {};
        uint64_t packed_at = 0;
        bool of_one_type = false; // a structure that may become a list
    };

    void push(const Type &t) { stack_.push_back({.type = &t, .owner = stack_.size()}); }

    void finish(Placed p) {
        // Only members of structs can be reached by more than one path.
        if (shared_) memo_.emplace(stack_.back().type, p);
        if (trace_ != nullptr && stack_.back().type->form != Form::element)
            add_step(*stack_.back().type, p);
        result_ = p;
        stack_.pop_back();
    }

    void add_step(const Type &t, Placed p) {
        const std::vector<const char *> applied = std::exchange(rewrites_, {});
        if (trace_->count++ >= LoweringTrace::most) return;
        std::vector<const char *> names; // each once; there are few
        for (const char *name : applied)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        trace_->steps.push_back({t.combiner, std::move(names),
                                 p.none() ? "empty" : to_text(builder_.so_far(), p.id, p.at)});
    }

    void step() {
        LoweredType &f = stack_.back();
        const Type &t = *f.type;
        if (f.of_one_type) return step_list();
        if (t.form == Form::structure && f.visited) return step_structure();
        if (!f.visited) {
            f.visited = true;
            if (shared_) {
                if (const auto known = memo_.find(&t); known != memo_.end()) {
                    result_ = known->second;
                    return stack_.pop_back();
                }
            }
            if (t.size == 0) return finish({});
            if (t.form == Form::element) return finish(element(t));
            if (t.form != Form::structure) return push(*t.child);
            f.of_one_type = !packed_ && is_of_one_type(as<StructureType>(t));
            if (f.of_one_type) push(as<StructureType>(t).member(0));
            return;
        }
        finish(packed_ ? combine_packed(t, result_) : combine(t, result_));
    }

    Placed element(const Type &t) {
        if (what_ == Lower::elements) return builder_.block(0, t.size, t.element);
        if (what_ == Lower::runs) return builder_.block(shift_of(t), t.size, Element::none);
        const ElementPieces p = pieces_of(t.element);
        if (p.second_bytes == 0) return builder_.block(0, t.size, Element::none);
        BlockList list;
        list.push(0, p.first_bytes);
        list.push(p.second_at, p.second_bytes);
        return builder_.fold_blocks(std::move(list));
    }

    // In the packed stream, elements are consecutive for every constructor.
    Placed combine_packed(const Type &t, Placed child) {
        const uint64_t each = t.child->size;
        return builder_.strided(t.size / each, static_cast<int64_t>(each), child);
    }

    Placed combine(const Type &t, Placed child) {
        if (t.form == Form::nest) {
            const auto &nest = as<NestType>(t);
            for (const StrideLevel &level : nest.levels)
                child = builder_.strided(static_cast<uint64_t>(level.count), level.stride, child);
            return {displace(child.at, nest.at), child.id};
        }
        if (t.form == Form::by_reference) {
            const auto &list = as<ByReferenceType>(t);
            return builder_.by_reference(
                static_cast<uint64_t>(list.count),
                {list.indices, list.index_element, has_small_indices(list), list.unit},
                blocks(list.blocklength, t, child));
        }
        const auto &list = as<ListType>(t);
        builder_.described(static_cast<uint64_t>(list.count()));
        if (t.form == Form::indexed) return indexed(list, t.child->extent(), child);
        child = blocks(list.blocklength, t, child);
        if (child.none()) return builder_.indexed_block({}, child);
        child.at = displace(child.at, list.at);
        ListLook look = reach_of(list);
        look.steps = count_steps(list.displs, builder_.node(child.id).segments.last_end);
        return builder_.indexed_block(list_copy_of(list.displs), child, &look);
    }

    Placed blocks(int64_t blocklength, const Type &t, Placed child) {
        return builder_.strided(static_cast<uint64_t>(blocklength), t.child->extent(), child);
    }

    // Blocks with lengths of their own: Form::indexed, or a structure of one type.
    Placed indexed(const ListType &t, int64_t extent, Placed child) {
        child.at = displace(child.at, t.at);
        return builder_.indexed(list_copy_of(t.displs), t.first, extent, child);
    }

    // The extremes of the displacements, derived from the bounds.
    static ListLook reach_of(const ListType &t) {
        const uint64_t last = static_cast<uint64_t>(t.blocklength) - 1;
        const int64_t across = displace(0, last, t.child->extent());
        const int64_t low = displace(t.child->true_lb, std::min<int64_t>(across, 0));
        const int64_t high = displace(t.child->true_ub, std::max<int64_t>(across, 0));
        const auto from_first = [first = t.at](int64_t bound, int64_t of_child) {
            return step_between(first, step_between(of_child, bound));
        };
        return {0, from_first(t.true_lb, low), from_first(t.true_ub, high)};
    }

    static bool is_of_one_type(const StructureType &t) {
        const Type *const child = t.children[0];
        return child->nested_structs == 0 && t.count() > 1 &&
               std::all_of(t.children.begin(), t.children.end(),
                           [child](const Type *c) { return c == child; });
    }

    // If all members are of one dense type, they are lowered as a list of blocks; otherwise as a
    // structure.
    void step_list() {
        LoweredType &f = stack_.back();
        const auto &t = as<StructureType>(*f.type);
        const int64_t extent = t.member(0).extent();
        if (result_.none() || !builder_.is_dense(result_.id, extent)) {
            f.of_one_type = false;
            return;
        }
        builder_.described(static_cast<uint64_t>(t.count()));
        finish(indexed(t, extent, result_));
    }

    // Whether the bounds exclude an index of 2^31 or more, for either sign of the unit.
    static bool has_small_indices(const ByReferenceType &t) {
        constexpr int128 most = int128{1} << 31;
        const int128 unit = t.unit < 0 ? -static_cast<int128>(t.unit) : t.unit;
        const int128 farthest = t.unit < 0 ? static_cast<int128>(t.child->true_lb) - t.true_lb
                                           : static_cast<int128>(t.true_ub) - t.child->true_ub;
        return unit > 0 && unit <= most && farthest < most * unit; // so that nothing wraps
    }

    // The results of members arrive one by one in result_; spliced structs add theirs to the frame
    // of their owner.
    void step_structure() {
        LoweredType &f = stack_.back();
        LoweredType &owner = stack_[f.owner];
        const auto &t = as<StructureType>(*f.type);
        if (f.waiting) {
            f.waiting = false;
            add(owner, f, f.next - 1, result_);
        }
        while (f.next < t.count()) {
            const int64_t i = f.next++;
            const Type &child = t.member(i);
            if (t.block_length(i) == 0 || child.size == 0) continue;
            int64_t shift = displace(f.shift, t.displacement(i));
            const Type *inner = t.block_length(i) == 1 ? splice_target(&child, shift) : nullptr;
            if (inner != nullptr) {
                stack_.push_back(
                    {.type = inner, .owner = f.owner, .shift = shift, .visited = true});
                return;
            }
            f.waiting = true;
            return push(child);
        }
        if (&f != &owner) return stack_.pop_back();
        builder_.described(f.entries.size());
        finish(builder_.structure(std::move(f.entries)));
    }

    void add(LoweredType &owner, const LoweredType &f, int64_t i, Placed child) {
        const auto &t = as<StructureType>(*f.type);
        const Type &c = t.member(i);
        const auto times = static_cast<uint64_t>(t.block_length(i));
        const int64_t extent = packed_ ? static_cast<int64_t>(c.size) : c.extent();
        Placed p = builder_.strided(times, extent, child);
        if (p.none()) return;
        const int64_t at =
            packed_ ? static_cast<int64_t>(owner.packed_at) : displace(f.shift, t.displacement(i));
        owner.packed_at += times * c.size;
        p.at = displace(p.at, at);
        owner.entries.push_back(p);
    }

    // The struct below constructors that only displace it, if each of them has only one reference.
    const Type *splice_target(const Type *t, int64_t &shift) const {
        for (;; t = t->child) {
            const auto uses = uses_.find(t);
            if (uses == uses_.end() || uses->second != 1) return nullptr;
            if (t->form == Form::structure) return t;
            if (t->form != Form::nest || !as<NestType>(*t).is_single()) return nullptr;
            shift = displace(shift, as<NestType>(*t).at);
        }
    }

    // Counts the references within the tree to each type that contains a struct.
    void count_uses(const Type &root) {
        std::vector<const Type *> pending{&root};
        while (!pending.empty()) {
            const Type *t = pending.back();
            pending.pop_back();
            if (t->nested_structs == 0 || ++uses_[t] > 1) continue;
            const auto children = children_of(*t);
            pending.insert(pending.end(), children.begin(), children.end());
        }
    }

    Builder &builder_;
    Lower what_;
    bool packed_;
    LoweringTrace *trace_;
    std::vector<const char *> &rewrites_;
    bool shared_ = false;
    std::vector<LoweredType> stack_;
    Placed result_;
    // Keyed by address. Collisions cannot be forced: a peer may choose the contents of types, but
    // addresses come from the allocator, and n addresses in one bucket would take memory in
    // proportion to n * n.
    std::unordered_map<const Type *, Placed> memo_;
    std::unordered_map<const Type *, uint32_t> uses_;
};

} // namespace

OwnedLayout lower(const Type &type, Lower what, uint64_t max_bytes, LoweringTrace *trace) {
    const auto make = [&](uint64_t most) {
        if (trace != nullptr) *trace = {};
        std::vector<const char *> rewrites;
        Builder builder(trace != nullptr ? &rewrites : nullptr, most);
        return builder.finish(Lowering(builder, what, trace, rewrites).run(type));
    };
    // Lists that are expanded and then folded into others take memory only temporarily, so a
    // multiple of the limit is allowed at first. If the final layout exceeds the limit, it is made
    // again with a limit that ensures it fits.
    constexpr uint64_t for_a_while = 2;
    if (max_bytes > UINT64_MAX / for_a_while) return make(UINT64_MAX);
    OwnedLayout layout = make(for_a_while * max_bytes);
    if (bytes_of(layout) > max_bytes) layout = make(max_bytes);
    return layout;
}

ShiftedElement element_with_shift(int64_t shift) {
    const auto number = static_cast<unsigned>(-shift);
    if (number >= first_without_handle)
        return {UCD_TYPE__NULL, packed_size(static_cast<Element>(number - first_without_handle))};
    return {reinterpret_cast<ucd_type_t>(uintptr_t{number}), predefined_type(number).size};
}

} // namespace ucd
