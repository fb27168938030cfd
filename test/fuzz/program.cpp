#include "program.hpp"

#include "support/oracle/predefined.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ucdtest::fuzz {

std::intptr_t Input::count() {
    const std::uint8_t b = byte();
    return b >= 0xf0 ? byte() : b >= 0x80 ? b % 33 : b % 17;
}

std::intptr_t Input::distance() {
    const std::uint8_t b = byte();
    if (b < 0x60) return b;
    if (b < 0xc0) return static_cast<std::intptr_t>(b) - 0xc0;
    return (static_cast<std::intptr_t>(b & 0x3f) - 32) * (byte() + 1);
}

std::size_t Input::up_to(std::size_t limit) {
    std::size_t value = byte();
    if (limit > 255) value |= static_cast<std::size_t>(byte()) << 8;
    return value % (limit + 1);
}

namespace {

constexpr int max_instructions = 24;
constexpr std::intptr_t max_copies = 2048, max_entries = 8192;
constexpr std::size_t max_list = 40;

class Machine {
public:
    explicit Machine(Input &input) : in_(input) {}

    std::vector<ProgramType> run() {
        push_predefined();
        for (int i = 0; i < max_instructions && in_.more(); ++i)
            if (!step()) break;
        return std::move(stack_);
    }

private:
    // False: the end.
    bool step() {
        const std::uint8_t code = in_.byte();
        if (code >= 0xf0 && !lists_.empty()) {
            blocks_again();
            return true;
        }
        switch (code % 18) {
        case 0: push_predefined(); return true;
        case 1: contig(); return true;
        case 2: put(recipes::dup(top().recipe), {top()}, 1); return true;
        case 3: vector(false); return true;
        case 4: vector(true); return true;
        case 5: blocks(false, false); return true;
        case 6: blocks(true, false); return true;
        case 7: blocks(false, true); return true;
        case 8: blocks(true, true); return true;
        case 9:
        case 10: structure(); return true;
        case 11: subarray(); return true;
        case 12: darray(); return true;
        case 13: ndarray(); return true;
        case 14: resized(); return true;
        case 15: by_reference(); return true;
        case 16: // one that is there already, again
            stack_.push_back(stack_[in_.up_to(stack_.size() - 1)]);
            return true;
        default: return false;
        }
    }

    ProgramType &top() { return stack_.back(); }

    void push_predefined() {
        const auto all = all_predefined();
        const Predefined &p = all[in_.byte() % all.size()];
        RecipePtr recipe = recipes::leaf(p.handle);
        auto map = std::make_shared<const TypeMap>(type_map(*recipe));
        stack_.push_back({std::move(recipe), std::move(map)});
    }

    // The types of `old` in the order of children(); `copies`: how often one of them is placed, at
    // most.
    void put(RecipePtr recipe, const std::vector<ProgramType> &old, std::intptr_t copies) {
        std::vector<const TypeMap *> maps;
        std::size_t entries = 1;
        for (const ProgramType &t : old) {
            maps.push_back(t.map.get());
            entries = std::max(entries, t.map->entries.size());
        }
        if (copies > max_copies || copies * static_cast<std::intptr_t>(entries) > max_entries)
            return;
        auto map = std::make_shared<const TypeMap>(type_map(*recipe, maps));
        if (map->size > max_program_bytes) return;
        for (const std::intptr_t bound :
             {map->lb, map->ub(), map->extent, map->true_lb, map->true_ub()})
            if (std::abs(bound) > max_program_span) return;
        top() = {std::move(recipe), std::move(map)};
    }

    void contig() {
        const std::intptr_t count = in_.count();
        put(recipes::contig(count, top().recipe), {top()}, count);
    }

    void vector(bool in_bytes) {
        const std::intptr_t count = in_.count(), length = in_.count(), stride = in_.distance();
        const auto make = in_bytes ? recipes::hvector : recipes::vector;
        put(make(count, length, stride, top().recipe), {top()}, count * length);
    }

    Ints list(std::size_t n, bool of_counts) {
        Ints values(n);
        for (std::intptr_t &v : values) v = of_counts ? in_.count() % 8 : in_.distance();
        return values;
    }

    // Displacements of a few kinds: any, ascending, or a progression.
    Ints displacements(std::size_t n) {
        const std::uint8_t kind = in_.byte();
        if (kind % 3 == 0) return list(n, false);
        Ints displs(n);
        std::intptr_t at = in_.distance();
        const std::intptr_t step = in_.distance();
        for (std::intptr_t &d : displs) {
            d = at;
            at += kind % 3 == 1 ? step : std::abs(in_.distance()) + step;
        }
        return displs;
    }

    void blocks(bool in_bytes, bool own_lengths) {
        const std::size_t n = in_.up_to(max_list);
        const Ints displs = displacements(n);
        const Ints lengths = own_lengths ? list(n, true) : Ints(n, in_.count());
        if (n > 0) lists_.push_back({displs, lengths});
        put_blocks(in_bytes, own_lengths, displs, lengths);
    }

    // The lists of an earlier instruction, with another number in one place or not.
    void blocks_again() {
        auto [displs, lengths] = lists_[in_.up_to(lists_.size() - 1)];
        const std::uint8_t form = in_.byte();
        if ((form & 4) != 0) displs[in_.up_to(displs.size() - 1)] += in_.distance();
        if ((form & 8) != 0) lengths[in_.up_to(lengths.size() - 1)] = in_.count() % 8;
        put_blocks((form & 1) == 0, (form & 2) == 0, displs, lengths);
    }

    void put_blocks(bool in_bytes, bool own_lengths, const Ints &displs, const Ints &lengths) {
        if (!own_lengths) {
            const std::intptr_t length = lengths.empty() ? 1 : lengths[0];
            const auto make = in_bytes ? recipes::hindexed_block : recipes::indexed_block;
            return put(make(length, displs, top().recipe), {top()},
                       static_cast<std::intptr_t>(displs.size()) * length);
        }
        std::intptr_t copies = 0;
        for (const std::intptr_t l : lengths) copies += l;
        const auto make = in_bytes ? recipes::hindexed : recipes::indexed;
        put(make(lengths, displs, top().recipe), {top()}, copies);
    }

    void structure() {
        const std::size_t n = 1 + in_.up_to(5);
        std::vector<ProgramType> old;
        std::vector<RecipePtr> types;
        for (std::size_t i = 0; i < n; ++i) {
            old.push_back(stack_[in_.up_to(stack_.size() - 1)]);
            types.push_back(old.back().recipe);
        }
        const Ints lengths = list(n, true);
        std::intptr_t copies = 0;
        for (const std::intptr_t l : lengths) copies += l;
        put(recipes::structure(lengths, displacements(n), types), old, copies);
    }

    void subarray() {
        const std::size_t dims = 1 + in_.up_to(3);
        Ints sizes, subsizes, starts;
        std::intptr_t copies = 1;
        for (std::size_t i = 0; i < dims; ++i) {
            sizes.push_back(in_.count() % 24);
            const auto size = static_cast<std::size_t>(sizes.back());
            subsizes.push_back(static_cast<std::intptr_t>(in_.up_to(size)));
            const std::size_t left = size - static_cast<std::size_t>(subsizes.back());
            starts.push_back(static_cast<std::intptr_t>(in_.up_to(left)));
            copies *= subsizes.back();
        }
        const int order = in_.byte() % 2;
        put(recipes::subarray(sizes, subsizes, starts, order, top().recipe), {top()}, copies);
    }

    void darray() {
        const std::size_t dims = 1 + in_.up_to(2);
        Ints gsizes, dargs;
        std::vector<int> distribs, psizes;
        int processes = 1;
        std::intptr_t elements = 1;
        for (std::size_t i = 0; i < dims; ++i) {
            gsizes.push_back(in_.count() % 20);
            elements *= gsizes.back();
            distribs.push_back(in_.byte() % 3);
            const bool none = distribs.back() == UCD_DISTRIBUTE__NONE;
            psizes.push_back(none ? 1 : 1 + static_cast<int>(in_.up_to(3)));
            processes *= psizes.back();
            std::intptr_t darg = static_cast<std::intptr_t>(in_.up_to(9));
            if (distribs.back() == UCD_DISTRIBUTE__BLOCK && darg * psizes.back() < gsizes.back())
                darg = 0;
            dargs.push_back(darg == 0 ? UCD_DISTRIBUTE__DFLT_DARG : darg);
        }
        const int rank = static_cast<int>(in_.up_to(static_cast<std::size_t>(processes - 1)));
        const int order = in_.byte() % 2;
        put(recipes::darray(processes, rank, gsizes, distribs, dargs, psizes, order, top().recipe),
            {top()}, elements);
    }

    void ndarray() {
        const std::size_t dims = in_.up_to(4);
        Ints shape, strides;
        std::intptr_t copies = 1;
        for (std::size_t i = 0; i < dims; ++i) {
            shape.push_back(in_.count() % 20);
            strides.push_back(in_.distance());
            copies *= shape.back();
        }
        put(recipes::ndarray(shape, strides, top().recipe), {top()}, copies);
    }

    void resized() {
        const std::intptr_t lb = in_.distance(), change = in_.distance();
        const std::intptr_t extent = in_.byte() % 2 == 0 ? change : top().map->true_extent + change;
        put(recipes::resized(top().recipe, lb, extent), {top()}, 1);
    }

    void by_reference() {
        if (top().map->by_reference) return;
        const std::size_t n = in_.up_to(max_list);
        const std::intptr_t length = in_.count(), unit = in_.distance();
        static const ucd_type_t types[] = {UCD_TYPE__INT32_T, UCD_TYPE__INT64_T,
                                           UCD_TYPE__UINT64_T};
        const ucd_type_t type = types[in_.byte() % 3];
        const Ints indices = displacements(n);
        Ints displs;
        for (const std::intptr_t i : indices) displs.push_back(i * unit);
        if (length * static_cast<std::intptr_t>(n * (1 + top().map->entries.size())) > max_entries)
            return;
        const TypeMap there =
            type_map(*recipes::hindexed_block(length, displs, top().recipe), {top().map.get()});
        put(recipes::indexed_block_ref(length, {indices.begin(), indices.end()}, type, unit,
                                       there.true_lb, there.true_extent, top().recipe),
            {top()}, length * static_cast<std::intptr_t>(n));
    }

    struct Lists {
        Ints displs, lengths; // as many, at least one
    };

    Input &in_;
    std::vector<ProgramType> stack_;
    std::vector<Lists> lists_;
};

} // namespace

std::vector<ProgramType> read_program(Input &input) {
    return Machine(input).run();
}

} // namespace ucdtest::fuzz
