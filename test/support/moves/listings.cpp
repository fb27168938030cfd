#include "support/moves/listings.hpp"

#include "support/moves/calls.hpp"
#include "support/oracle/predefined.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace ucdtest {
namespace {

// An address to add displacements to: nothing is ever loaded from it.
void *random_address(Rng &rng) {
    if (rng.chance(20)) return nullptr;
    return reinterpret_cast<void *>(0x10000000000u + rng.below(1 << 20));
}

// An array with a canary behind the entries that a call may write.
class IovArray {
public:
    explicit IovArray(std::size_t entries) : entries_(entries), array_(entries + 2, canary()) {}

    iovec *data() { return entries_ == 0 ? nullptr : array_.data(); }

    // Whether the first entries are these segments and all others were left alone.
    bool holds(const void *buffer, const Segment *pieces, std::size_t count) const {
        for (std::size_t i = 0; i < array_.size(); ++i) {
            const iovec wanted =
                i < count ? iovec{address(buffer, pieces[i].displ), pieces[i].bytes} : canary();
            if (array_[i].iov_base != wanted.iov_base || array_[i].iov_len != wanted.iov_len) {
                return false;
            }
        }
        return true;
    }

private:
    static iovec canary() { return {reinterpret_cast<void *>(untouched), untouched}; }
    static void *address(const void *buffer, std::intptr_t displ) {
        return reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(buffer) +
                                        static_cast<std::uintptr_t>(displ));
    }

    std::size_t entries_;
    std::vector<iovec> array_;
};

// Calls `check` with places of a list of `total` entries and numbers of entries to ask for there:
// all from the first on; chunk by chunk; and from every place, or from some of a long list.
template <class Check>
void from_many_places(Rng &rng, std::size_t total, const Check &check) {
    constexpr std::size_t few = 100;
    check(0, total + rng.below(3));
    const std::size_t chunk = 1 + total / few + rng.mostly_small(40);
    for (std::size_t from = 0; from <= total; from += chunk) check(from, chunk);
    const std::size_t places = total < few ? total + 1 : few / 2;
    for (std::size_t i = 0; i < places; ++i) {
        const std::size_t from = total < few ? i : rng.below(total + 1);
        check(from, rng.chance(10) ? total - from + 1 : rng.mostly_small(8));
    }
}

std::uintptr_t random_limit(Rng &rng, std::size_t total) {
    if (rng.chance(10)) return UINTPTR_MAX;
    return rng.below(total + 10);
}

template <class Call>
void must_refuse(Case &one, const char *what, const Call &call) {
    std::uintptr_t first = untouched, second = untouched;
    const int rc = call(&first, &second);
    if (rc != UCD_ERR__INVALID_ARG || first != untouched || second != untouched)
        one.fail(what, " from beyond the end returned ", ucd_strerror(rc));
}

template <class Entry>
void check_part(Case &one, const char *what, const std::vector<Entry> &all,
                const std::vector<Entry> &some, std::size_t first, std::uintptr_t listed,
                std::uintptr_t total, const Entry &canary) {
    const std::size_t expected = std::min(some.size() - 1, all.size() - first);
    if (listed != expected || total != all.size())
        one.fail(what, " from ", first, ": ", listed, " of ", total, ", expected ", expected,
                 " of ", all.size());
    for (std::size_t i = 0; i < some.size(); ++i)
        if (!same(some[i], i < expected ? all[first + i] : canary))
            one.fail(what, " from ", first, ": entry ", i, " differs");
}

void check_some_runs(Case &one, const Listed &what, std::size_t first, std::size_t room) {
    const ucd_element_run_t canary = {UCD_TYPE__BYTE, untouched, untouched, untouched, untouched};
    std::vector<ucd_element_run_t> some(room + 1, canary);
    std::uintptr_t listed = untouched, total = untouched;
    one.succeed(ucd_get_element_runs(what.count, what.type, first,
                                     room == 0 ? nullptr : some.data(), room, &listed, &total),
                "ucd_get_element_runs");
    check_part(one, "runs", what.runs, some, first, listed, total, canary);
}

// A regular layout is one box, and the same one.
void check_layout_box(Case &one, const Listed &what, const std::vector<ucd_box_t> &boxes) {
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    one.succeed(ucd_get_layout(what.count, what.type, &layout), "ucd_get_layout");
    if (layout.box_dims == 0) return;
    if (boxes.size() != 1) one.fail("a regular box, but ", boxes.size(), " boxes");
    const ucd_box_t &box = boxes.front();
    if (box.dims != layout.box_dims || box.start != layout.box_start ||
        box.block != layout.box_block || !std::equal(box.count, box.count + 4, layout.box_count) ||
        !std::equal(box.stride, box.stride + 4, layout.box_stride))
        one.fail("another box than the layout's");
}

// Appends the places of a box's bytes, so that there are at most `most`; what is wrong with the
// box, or null.
const char *walk(const ucd_box_t &box, ByteMap &bytes, std::size_t most) {
    if (box.dims < 1 || box.dims > 4 || box.reserved != 0 || box.block == 0) return "malformed";
    for (std::uint32_t k = box.dims; k < 4; ++k)
        if (box.count[k] != 0 || box.stride[k] != 0) return "an unused entry that is not 0";
    const bool piece = box.dims == 1 && box.count[0] == 1;
    if (piece && box.stride[0] != static_cast<std::int64_t>(box.block)) return "a piece's stride";
    if (box.offset != bytes.size()) return "not where the one before ends";
    std::array<std::uint64_t, 4> index{};
    for (;;) {
        std::int64_t at = box.start;
        for (std::uint32_t k = 0; k < box.dims; ++k) {
            if (!piece && box.count[k] < 2) return "a level of fewer than two";
            at += static_cast<std::int64_t>(index[k]) * box.stride[k];
        }
        if (box.block > most - bytes.size()) return "too many bytes";
        for (std::uint64_t i = 0; i < box.block; ++i)
            bytes.push_back(at + static_cast<std::int64_t>(i));
        std::uint32_t k = box.dims;
        while (k > 0 && ++index[k - 1] == box.count[k - 1]) index[--k] = 0;
        if (k == 0) return nullptr;
    }
}

// The fixed-width name of an integer.
ucd_type_t flattened_name(const Predefined &type) {
    if (type.type_class != TypeClass::integer) return type.handle;
    const std::string name = type.name;
    const bool is_unsigned = name[0] == 'U' || name == "SIZE_T";
    switch (type.size) {
    case 1: return is_unsigned ? UCD_TYPE__UINT8_T : UCD_TYPE__INT8_T;
    case 2: return is_unsigned ? UCD_TYPE__UINT16_T : UCD_TYPE__INT16_T;
    case 4: return is_unsigned ? UCD_TYPE__UINT32_T : UCD_TYPE__INT32_T;
    default: return is_unsigned ? UCD_TYPE__UINT64_T : UCD_TYPE__INT64_T;
    }
}

template <class Name>
std::vector<ucd_element_run_t> runs_by(const std::vector<StreamElement> &elements,
                                       const Name &name) {
    std::vector<ucd_element_run_t> runs;
    for (const StreamElement &e : elements) {
        const ucd_type_t handle = name(*e.type);
        if (runs.empty() || runs.back().element != handle)
            runs.push_back({handle, e.type->size, 0, e.offset, 0});
        ++runs.back().elements;
    }
    return runs;
}

} // namespace

bool same(const ucd_box_t &a, const ucd_box_t &b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool same(const ucd_element_run_t &a, const ucd_element_run_t &b) {
    return a.element == b.element && a.element_bytes == b.element_bytes &&
           a.elements == b.elements && a.offset == b.offset && a.reserved == b.reserved;
}

std::vector<ucd_element_run_t> runs_of(const std::vector<StreamElement> &elements) {
    return runs_by(elements, [](const Predefined &type) { return type.handle; });
}

Listed listed(const Subject &subject) {
    return {subject.count, subject.type(), subject.bytes,
            runs_of(stream_elements(*subject.map, subject.count))};
}

Listed listed_flattened(const Subject &subject, ucd_type_t made) {
    return {subject.count, made, subject.bytes,
            runs_by(stream_elements(*subject.map, subject.count), flattened_name)};
}

// Segments ----------------------------------------------------------------

void check_iov(Case &one, const Listed &what, const std::vector<Segment> &pieces, std::size_t from,
               std::size_t room) {
    const void *const buffer = random_address(one.rng());
    IovArray array(room);
    std::uintptr_t written = untouched;
    one.succeed(ucd_iov(buffer, what.count, what.type, from, array.data(), room, &written),
                "ucd_iov");
    const std::size_t expected = std::min(room, pieces.size() - from);
    if (written != expected)
        one.fail("ucd_iov from ", from, ", room ", room, ": ", written, " entries, not ", expected);
    if (!array.holds(buffer, pieces.data() + from, expected))
        one.fail("ucd_iov from ", from, ", room ", room, ": wrong entries");
}

void check_iov_bytes(Case &one, const Listed &what, std::size_t offset, std::uintptr_t max_bytes,
                     std::size_t room) {
    const void *const buffer = random_address(one.rng());
    const std::size_t length =
        static_cast<std::size_t>(std::min<std::uintptr_t>(max_bytes, what.bytes.size() - offset));
    std::vector<Segment> pieces = segments(what.bytes, offset, length);
    if (pieces.size() > room) pieces.resize(room);
    std::size_t bytes = 0;
    for (const Segment &piece : pieces) bytes += piece.bytes;

    IovArray array(room);
    std::uintptr_t written = untouched, covered = untouched;
    one.succeed(ucd_iov_bytes(buffer, what.count, what.type, offset, max_bytes, array.data(), room,
                              &written, &covered),
                "ucd_iov_bytes");
    const auto fail = [&](const char *how) {
        one.fail("ucd_iov_bytes from ", offset, ", at most ", max_bytes, " bytes and ", room,
                 " entries: ", written, " entries of ", covered, " bytes, expected ", pieces.size(),
                 " of ", bytes, ": ", how);
    };
    if (written != pieces.size() || covered != bytes) fail("wrong numbers");
    if (!array.holds(buffer, pieces.data(), pieces.size())) fail("wrong entries");
}

void check_iov_len_max(Case &one, const Listed &what, const std::vector<Segment> &pieces,
                       std::uintptr_t max_bytes) {
    std::size_t most = 0, bytes = 0;
    while (most < pieces.size() && bytes + pieces[most].bytes <= max_bytes) {
        bytes += pieces[most++].bytes;
    }
    std::uintptr_t length = untouched, covered = untouched;
    one.succeed(ucd_iov_len_max(what.count, what.type, max_bytes, &length, &covered),
                "ucd_iov_len_max");
    if (length != most || covered != bytes)
        one.fail("ucd_iov_len_max of ", max_bytes, " bytes: ", length, " segments of ", covered,
                 " bytes, expected ", most, " of ", bytes);
}

void check_segments(Case &one, const Listed &what) {
    Rng &rng = one.rng();
    const std::vector<Segment> pieces = segments(what.bytes);
    std::uintptr_t length = untouched;
    one.succeed(ucd_iov_len(what.count, what.type, &length), "ucd_iov_len");
    if (length != pieces.size()) one.fail(length, " segments, not ", pieces.size());
    from_many_places(rng, pieces.size(), [&](std::size_t from, std::size_t room) {
        check_iov(one, what, pieces, from, room);
    });
    const std::size_t size = what.bytes.size();
    for (int i = 0; i < 5; ++i)
        check_iov_bytes(one, what, rng.below(size + 1), random_limit(rng, size),
                        rng.mostly_small(pieces.size() + 2));
    check_iov_bytes(one, what, 0, size, pieces.size());
    // From the first byte of each segment, or of some of many, and from the byte before it.
    std::size_t offset = 0;
    for (std::size_t i = 0; i < pieces.size(); offset += pieces[i++].bytes) {
        if (pieces.size() > 100 && rng.below(pieces.size()) > 50) continue;
        const std::uintptr_t limit = pieces[i].bytes + rng.below(30);
        check_iov_bytes(one, what, offset, limit, 2);
        if (offset > 0) check_iov_bytes(one, what, offset - 1, limit, 2);
    }
    for (int i = 0; i < 3; ++i) check_iov_len_max(one, what, pieces, random_limit(rng, size));
    must_refuse(one, "ucd_iov", [&](std::uintptr_t *written, std::uintptr_t *) {
        iovec entry;
        return ucd_iov(nullptr, what.count, what.type, pieces.size() + 1, &entry, 1, written);
    });
    must_refuse(one, "ucd_iov_bytes", [&](std::uintptr_t *written, std::uintptr_t *bytes) {
        iovec entry;
        return ucd_iov_bytes(nullptr, what.count, what.type, size + 1, 10, &entry, 1, written,
                             bytes);
    });
}

// Boxes ----------------------------------------------------------------

std::vector<ucd_box_t> all_boxes(Case &one, std::uintptr_t count, ucd_type_t type) {
    std::uintptr_t listed = untouched, total = untouched;
    one.succeed(ucd_get_boxes(count, type, 0, nullptr, 0, &listed, &total), "ucd_get_boxes");
    if (listed != 0) one.fail(listed, " boxes without room");
    std::vector<ucd_box_t> boxes(total);
    one.succeed(ucd_get_boxes(count, type, 0, boxes.data(), boxes.size(), &listed, &total),
                "ucd_get_boxes");
    if (listed != boxes.size() || total != boxes.size())
        one.fail(listed, " of ", total, " boxes, not ", boxes.size());
    return boxes;
}

void check_some_boxes(Case &one, const Listed &what, const std::vector<ucd_box_t> &all,
                      std::size_t first, std::size_t room) {
    ucd_box_t canary;
    std::memset(&canary, 0x5a, sizeof canary);
    std::vector<ucd_box_t> some(room + 1, canary);
    std::uintptr_t listed = untouched, total = untouched;
    one.succeed(ucd_get_boxes(what.count, what.type, first, room == 0 ? nullptr : some.data(), room,
                              &listed, &total),
                "ucd_get_boxes");
    check_part(one, "boxes", all, some, first, listed, total, canary);
}

void check_boxes(Case &one, const Listed &what) {
    const std::vector<ucd_box_t> boxes = all_boxes(one, what.count, what.type);
    ByteMap bytes;
    for (const ucd_box_t &box : boxes)
        if (const char *wrong = walk(box, bytes, what.bytes.size())) one.fail("a box: ", wrong);
    if (bytes != what.bytes) one.fail("the boxes are other bytes");
    check_layout_box(one, what, boxes);
    from_many_places(one.rng(), boxes.size(), [&](std::size_t first, std::size_t room) {
        check_some_boxes(one, what, boxes, first, room);
    });
    must_refuse(one, "ucd_get_boxes", [&](std::uintptr_t *listed, std::uintptr_t *total) {
        ucd_box_t box;
        return ucd_get_boxes(what.count, what.type, boxes.size() + 1, &box, 1, listed, total);
    });
}

// Elements ----------------------------------------------------------------

void check_runs(Case &one, const Listed &what) {
    from_many_places(one.rng(), what.runs.size(), [&](std::size_t first, std::size_t room) {
        check_some_runs(one, what, first, room);
    });
    must_refuse(one, "ucd_get_element_runs", [&](std::uintptr_t *listed, std::uintptr_t *total) {
        ucd_element_run_t run;
        return ucd_get_element_runs(what.count, what.type, what.runs.size() + 1, &run, 1, listed,
                                    total);
    });
}

// The whole elements in so many bytes of a run; the parts of a pair count one by one.
std::size_t elements_in(const ucd_element_run_t &run, std::size_t bytes) {
    const std::size_t elements = bytes / run.element_bytes;
    bytes %= run.element_bytes;
    if (!is_predefined(run.element)) return elements; // none of these is a pair
    const Predefined &type = predefined(run.element);
    if (type.type_class != TypeClass::pair) return elements;
    return 2 * elements + (bytes >= type.pieces[0].bytes);
}

void check_boundaries(Case &one, const Listed &what) {
    const std::size_t size = what.bytes.size();
    std::size_t run = 0, before = 0;
    for (std::size_t offset = 0; offset <= size; ++offset) {
        while (run + 1 < what.runs.size() && what.runs[run + 1].offset <= offset) {
            before +=
                elements_in(what.runs[run], what.runs[run].elements * what.runs[run].element_bytes);
            ++run;
        }
        if (offset > 300 && offset % (7 + size / 100) != 0 && offset + 30 < size) continue;
        const std::size_t expected = offset == size ? offset
                                                    : offset - (offset - what.runs[run].offset) %
                                                                   what.runs[run].element_bytes;
        std::uintptr_t boundary = untouched;
        one.succeed(ucd_element_boundary(what.count, what.type, offset, &boundary),
                    "ucd_element_boundary");
        if (boundary != expected)
            one.fail("boundary of ", offset, " is ", boundary, ", not ", expected);
        const std::size_t within = offset == 0 ? 0 : offset - what.runs[run].offset;
        std::uintptr_t elements = untouched;
        one.succeed(ucd_get_elements(what.count, what.type, offset, &elements), "ucd_get_elements");
        if (elements != before + (offset == 0 ? 0 : elements_in(what.runs[run], within)))
            one.fail(elements, " elements in ", offset, " bytes");
    }
    must_refuse(one, "ucd_get_elements", [&](std::uintptr_t *elements, std::uintptr_t *) {
        return ucd_get_elements(what.count, what.type, size + 1, elements);
    });
    must_refuse(one, "ucd_element_boundary", [&](std::uintptr_t *boundary, std::uintptr_t *) {
        return ucd_element_boundary(what.count, what.type, size + 1, boundary);
    });
}

void check_listings(Case &one, const Listed &what) {
    check_segments(one, what);
    check_boxes(one, what);
    check_runs(one, what);
    check_boundaries(one, what);
}

} // namespace ucdtest
