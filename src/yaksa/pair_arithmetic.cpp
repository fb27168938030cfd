#include "pair_arithmetic.h"

#include "failure.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

namespace ucd_yaksa {
namespace {

constexpr std::uintptr_t chunk_bytes = 64 << 10;

const std::byte *at(const void *buffer, std::uintptr_t offset) {
    return static_cast<const std::byte *>(buffer) + offset;
}

std::byte *at(void *buffer, std::uintptr_t offset) {
    return static_cast<std::byte *>(buffer) + offset;
}

// Iterates over the runs of a stream, from any offset on.
class Runs {
public:
    Runs(std::uintptr_t count, ucd_type_t layout) : count_(count), layout_(layout) {}

    // Finds the run that contains the byte at `offset`, which must be in the stream.
    int seek(std::uintptr_t offset) {
        std::uintptr_t total = 0, got = 0;
        UCD_TRY(read(0, nullptr, 0, got, total));
        // Binary search for the last run that begins at or before the offset.
        std::uintptr_t low = 0;
        for (std::uintptr_t high = total; high - low > 1;) {
            const std::uintptr_t middle = low + (high - low) / 2;
            ucd_element_run_t run;
            UCD_TRY(read(middle, &run, 1, got, total));
            (run.offset <= offset ? low : high) = middle;
        }
        next_ = low;
        filled_ = used_ = 0;
        return YAKSA_SUCCESS;
    }

    int next(ucd_element_run_t &run) {
        if (used_ == filled_) {
            std::uintptr_t total = 0;
            UCD_TRY(read(next_, window_.data(), window_.size(), filled_, total));
            used_ = 0;
            next_ += filled_;
        }
        run = window_[used_++];
        return YAKSA_SUCCESS;
    }

private:
    int read(std::uintptr_t first, ucd_element_run_t *runs, std::uintptr_t max, std::uintptr_t &got,
             std::uintptr_t &total) const {
        return from_ucd(ucd_get_element_runs(count_, layout_, first, runs, max, &got, &total));
    }

    std::uintptr_t count_;
    ucd_type_t layout_;
    std::array<ucd_element_run_t, 64> window_;
    std::uintptr_t next_ = 0, filled_ = 0, used_ = 0;
};

// Computes out = out op in on packed data: `length` bytes of the stream from `offset` on.
int combine(const void *in, void *out, const Range &range, ucd_info_t hints, ucd_op_t op) {
    Runs runs(range.count, range.type->layout);
    UCD_TRY(runs.seek(range.offset));
    for (std::uintptr_t done = 0; done < range.length;) {
        ucd_element_run_t run;
        UCD_TRY(runs.next(run));
        const std::uintptr_t skipped = range.offset + done - run.offset;
        const std::uintptr_t bytes = std::min<std::uintptr_t>(
            run.elements * run.element_bytes - skipped, range.length - done);
        const PairMembers *const members = members_of_pair(run.element);
        const ucd_type_t element = members == nullptr ? run.element : members->packed_members;
        if (element == UCD_TYPE__NULL)
            return fail(YAKSA_ERR__NOT_SUPPORTED,
                        "the type has elements that this machine cannot calculate with");
        std::uintptr_t actual = 0;
        UCD_TRY(from_ucd(ucd_pack(at(in, done), bytes / run.element_bytes, element, 0,
                                  at(out, done), bytes, &actual, hints, op)));
        done += bytes;
    }
    return YAKSA_SUCCESS;
}

// Checks that all elements of the type support the op, before any byte is changed.
int check_op(const Type &type, ucd_op_t op) {
    std::array<ucd_element_run_t, 64> runs;
    std::uintptr_t got = 0, total = 0;
    ucd_type_t last = UCD_TYPE__NULL;
    for (std::uintptr_t first = 0;; first += got) {
        UCD_TRY(from_ucd(
            ucd_get_element_runs(1, type.layout, first, runs.data(), runs.size(), &got, &total)));
        for (std::uintptr_t i = 0; i < got; ++i) {
            if (runs[i].element == last) continue;
            last = runs[i].element;
            const PairMembers *const members = members_of_pair(last);
            if (last == UCD_TYPE__NULL)
                return fail(YAKSA_ERR__NOT_SUPPORTED,
                            "the type has elements that this machine cannot calculate with");
            // Unpacks nothing: libucd checks the op, and names it and the type if it refuses.
            std::uintptr_t moved = 0;
            UCD_TRY(from_ucd(ucd_unpack(nullptr, 0, nullptr, 0,
                                        members == nullptr ? last : members->packed_members, 0,
                                        &moved, nullptr, op)));
        }
        if (got == 0) return YAKSA_SUCCESS;
    }
}

// Calls body(part, chunk) for each part of the range in order; `chunk` is memory for the part.
template <class Body>
int for_each_chunk(const Range &range, ucd_op_t op, Body &&body) {
    UCD_TRY(check_op(*range.type, op));
    const auto chunk = std::make_unique<std::byte[]>(std::min(chunk_bytes, range.length));
    const std::uintptr_t end = range.offset + range.length;
    for (Range part = range; part.offset < end; part.offset += part.length) {
        part.length = end - part.offset;
        if (part.length > chunk_bytes) {
            std::uintptr_t boundary = 0;
            UCD_TRY(from_ucd(ucd_element_boundary(range.count, range.type->layout,
                                                  part.offset + chunk_bytes, &boundary)));
            part.length = boundary - part.offset;
        }
        UCD_TRY(body(part, chunk.get()));
    }
    return YAKSA_SUCCESS;
}

int pack_as_is(const void *inbuf, const Range &range, void *chunk, ucd_info_t hints) {
    std::uintptr_t actual = 0;
    return from_ucd(ucd_pack(inbuf, range.count, range.type->layout, range.offset, chunk,
                             range.length, &actual, hints, UCD_OP__REPLACE));
}

} // namespace

int pack_pairs(const void *inbuf, const Range &range, void *outbuf, ucd_info_t hints, ucd_op_t op) {
    return for_each_chunk(range, op, [&](const Range &part, std::byte *chunk) {
        UCD_TRY(pack_as_is(inbuf, part, chunk, hints));
        return combine(chunk, at(outbuf, part.offset - range.offset), part, hints, op);
    });
}

int unpack_pairs(const void *inbuf, void *outbuf, const Range &range, ucd_info_t hints,
                 ucd_op_t op) {
    return for_each_chunk(range, op, [&](const Range &part, std::byte *chunk) {
        UCD_TRY(pack_as_is(outbuf, part, chunk, hints));
        UCD_TRY(combine(at(inbuf, part.offset - range.offset), chunk, part, hints, op));
        std::uintptr_t actual = 0;
        return from_ucd(ucd_unpack(chunk, part.length, outbuf, part.count, part.type->layout,
                                   part.offset, &actual, hints, UCD_OP__REPLACE));
    });
}

} // namespace ucd_yaksa
