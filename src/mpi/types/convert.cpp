#include "types/convert.h"

#include "types/build.h"
#include "types/contents.h"
#include "types/failure.h"
#include "types/predefined.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace ucd_mpi {
namespace {

// The steps of a constructor's own loop or list. `of_blocks`: its child has no gaps, so that the
// innermost loop is one block.
std::uint64_t own_steps(const Contents &contents, bool of_blocks) {
    const std::vector<std::intptr_t> &n = contents.numbers;
    if (is_predefined(contents.combiner) || n.empty()) return 0;
    switch (contents.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_DARRAY: return 0; // a darray's share of the array is not counted
    case MPI_COMBINER_CONTIGUOUS: return of_blocks ? 0 : static_cast<std::uint64_t>(n[0]);
    case MPI_COMBINER_SUBARRAY: break;
    default: return static_cast<std::uint64_t>(n[0]);
    }
    const auto dims = static_cast<std::size_t>(n[0]);
    if (n.size() < 1 + 2 * dims) return 0;
    const auto first = n.begin() + 1 + n[0], last = first + n[0]; // subsizes
    const std::intptr_t fastest = n.back() == MPI_ORDER_C ? last[-1] : *first;
    const std::intptr_t all = std::accumulate(first, last, std::intptr_t{0});
    return static_cast<std::uint64_t>(of_blocks ? all - fastest : all);
}

// The types that one conversion has seen, by handle: each type is converted once, however often it
// is used. The handles are kept until the end, so that MPI does not use one again for another type.
class TypeConversion {
public:
    ~TypeConversion() {
        for (MPI_Datatype handle : handles_) PMPI_Type_free(&handle);
    }

    int run(MPI_Datatype root) {
        (void)find_predefined(root); // makes its table, before there are handles to free
        UCD_TRY(enter(root));
        while (!open_.empty()) {
            Open &top = open_.back();
            if (top.next < top.contents.types.size()) {
                const MPI_Datatype child = top.contents.types[top.next++];
                if (done_.count(child) == 0) UCD_TRY(enter(child));
            } else {
                UCD_TRY(leave(top));
                open_.pop_back();
            }
        }
        return check(root);
    }

    void give(MPI_Datatype root, Converted &converted) {
        converted.type = std::move(done_.at(root));
        converted.leaves = std::move(leaves_);
        converted.longest_list = longest_list_;
        converted.steps = steps_.at(root);
    }

private:
    struct Open {
        MPI_Datatype datatype;
        Contents contents;
        std::size_t next = 0; // the next child to convert
    };

    int enter(MPI_Datatype datatype) {
        open_.push_back({datatype, {}});
        Contents &contents = open_.back().contents;
        Envelope envelope;
        UCD_TRY(read_envelope(datatype, envelope));
        make_room(envelope.types);
        UCD_TRY(read_contents(datatype, contents));
        longest_list_ = std::max(longest_list_, contents.numbers.size());
        for (const MPI_Datatype child : contents.types) UCD_TRY(keep(child));
        return UCD_SUCCESS;
    }

    // For handles that MPI is about to give: an allocation that failed after that would leak them.
    void make_room(std::size_t more) {
        if (handles_.capacity() - handles_.size() < more)
            handles_.reserve(std::max(2 * handles_.capacity(), handles_.size() + more));
    }

    // Child handles must be freed, unless they are predefined types.
    int keep(MPI_Datatype child) {
        if (find_predefined(child) != UCD_TYPE__NULL) return UCD_SUCCESS;
        Envelope envelope;
        UCD_TRY(read_envelope(child, envelope));
        if (!is_predefined(envelope.combiner)) handles_.push_back(child);
        return UCD_SUCCESS;
    }

    // Called when all children have been converted.
    int leave(const Open &open) {
        ucd_type_t made = UCD_TYPE__NULL;
        OwnedType type;
        const int combiner = open.contents.combiner;
        if (is_predefined(combiner) && !is_pair(combiner)) {
            UCD_TRY(build_predefined(open.datatype, open.contents, made));
            type.reset(made);
            add_leaf(open.datatype, made);
        } else {
            std::vector<ucd_type_t> children;
            for (const MPI_Datatype child : open.contents.types)
                children.push_back(done_.at(child).get());
            UCD_TRY(build_derived(open.contents, children, made));
            type.reset(made);
        }
        UCD_TRY(finish(open.datatype, std::move(type)));
        std::uint64_t steps = 0; // of children
        for (const MPI_Datatype child : open.contents.types) steps += steps_.at(child);
        steps_.emplace(open.datatype, steps + own_steps(open.contents, steps == 0));
        return UCD_SUCCESS;
    }

    // Sets the bounds that the MPI library gives the type, which may differ from those of ucd.h's
    // rules.
    int finish(MPI_Datatype datatype, OwnedType type) {
        Bounds wanted, own;
        UCD_TRY(read_bounds(datatype, wanted));
        UCD_TRY(ucd_ok(ucd_get_extent(type.get(), &own.lb, &own.extent)));
        if (own != wanted) {
            ucd_type_t resized = UCD_TYPE__NULL;
            UCD_TRY(ucd_ok(ucd_create_resized(type.get(), wanted.lb, wanted.extent, UCD_INFO__NULL,
                                              &resized)));
            type.reset(resized);
        }
        done_.emplace(datatype, std::move(type));
        return UCD_SUCCESS;
    }

    void add_leaf(MPI_Datatype datatype, ucd_type_t type) {
        ucd_layout_t layout = {};
        layout.struct_size = sizeof layout;
        const int rc = ucd_get_layout(1, type, &layout);
        leaves_.push_back({datatype, rc == UCD_SUCCESS ? layout.element : UCD_TYPE__NULL});
    }

    // If MPI's size differs from that of the type map as it was read, this library does not know
    // how MPI builds the type. True bounds are not compared, because some MPI libraries report
    // wrong ones.
    int check(MPI_Datatype root) {
        const ucd_type_t type = done_.at(root).get();
        uintptr_t wanted = 0, size = 0;
        UCD_TRY(read_size(root, wanted));
        UCD_TRY(ucd_ok(ucd_get_size(type, &size)));
        if (size != wanted)
            return fail(UCD_ERR__NOT_SUPPORTED,
                        "the type map has %zu bytes, but MPI_Type_size says %zu",
                        static_cast<std::size_t>(size), static_cast<std::size_t>(wanted));
        return UCD_SUCCESS;
    }

    std::vector<Open> open_;
    std::vector<MPI_Datatype> handles_;
    std::unordered_map<MPI_Datatype, OwnedType> done_;
    std::vector<PredefinedPart> leaves_;
    std::size_t longest_list_ = 0;
    std::unordered_map<MPI_Datatype, std::uint64_t> steps_;
};

} // namespace

int convert(MPI_Datatype datatype, Converted &converted) {
    TypeConversion conversion;
    UCD_TRY(conversion.run(datatype));
    conversion.give(datatype, converted);
    return UCD_SUCCESS;
}

} // namespace ucd_mpi
