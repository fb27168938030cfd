// The functions that list the elements of a packed stream.

#include "api/api_guard.h"
#include "api/whole.h"
#include "element_runs.h"
#include "layout/normalise/lower.h"
#include "layout/segments.h"
#include "transfer/check.h"
#include "types/elements.h"
#include "types/predefined.h"

#include <ucd.h>

using namespace ucd;

namespace {

// Sets *result to what find(type, size of the stream) returns for a position in the packed stream
// of (count, type).
template <class Find>
int find_in_stream(const char *function, uintptr_t count, ucd_type_t type, const char *argument,
                   uintptr_t position, const char *output, uintptr_t *result, Find find) {
    return guard(function, [&]() -> Status {
        const Type *t;
        uint64_t size;
        UCD_TRY(find_many(count, type, t, size));
        UCD_TRY(require(result, output));
        if (position > size) return fail_offset(argument, position, size);
        *result = find(*t, size);
        return success;
    });
}

} // namespace

int ucd_get_elements(uintptr_t count, ucd_type_t type, uintptr_t bytes, uintptr_t *elements) {
    return find_in_stream("ucd_get_elements", count, type, "bytes", bytes, "elements", elements,
                          [&](const Type &t, uint64_t) { return elements_before(t, bytes); });
}

int ucd_element_boundary(uintptr_t count, ucd_type_t type, uintptr_t offset, uintptr_t *boundary) {
    return find_in_stream("ucd_element_boundary", count, type, "offset", offset, "boundary",
                          boundary, [&](const Type &t, uint64_t size) {
                              return size == 0 ? 0
                                               : element_floor(elements_of(t), count, size, offset);
                          });
}

namespace {

// (count, type) as a layout in which each segment is a run of elements.
class ElementRuns {
public:
    ElementRuns(uintptr_t count, const Type &type, uint64_t bytes)
        : layout_(runs_of(type)), bytes_(bytes),
          top_(repeat(layout_.top(), layout_.root, count, static_cast<int64_t>(type.size))) {}

    uint64_t total() const { return top_.segments.count; }

    // Lists up to `room` runs, beginning with run number `first` < total().
    uint64_t list(uint64_t first, ucd_element_run_t *runs, uint64_t room) const {
        const uint64_t start = segment_start(layout_, top_, first);
        uint64_t offset = start;
        return list_segments(
            layout_, top_, start, bytes_ - start, room, [&](uint64_t i, const Segment &s) {
                const ShiftedElement element =
                    element_with_shift(displace(s.displ, -static_cast<int64_t>(offset)));
                runs[i] = {element.handle, element.bytes, s.bytes / element.bytes, offset, 0};
                offset += s.bytes;
            });
    }

private:
    const Layout &layout_;
    uint64_t bytes_;
    Node top_;
};

} // namespace

int ucd_get_element_runs(uintptr_t count, ucd_type_t type, uintptr_t first_run,
                         ucd_element_run_t *runs, uintptr_t max_runs, uintptr_t *actual_runs,
                         uintptr_t *total_runs) {
    return guard("ucd_get_element_runs", [&]() -> Status {
        const Type *t;
        uint64_t bytes;
        UCD_TRY(find_many(count, type, t, bytes));
        if (max_runs > 0) UCD_TRY(require(runs, "runs"));
        UCD_TRY(require(actual_runs, "actual_runs"));
        UCD_TRY(require(total_runs, "total_runs"));
        uint64_t total = 0, listed = 0;
        if (bytes > 0 && t->predefined != 0) {
            total = 1;
            if (first_run == 0 && max_runs > 0) {
                const uint64_t each = predefined_type(t->predefined).size;
                runs[0] = {reinterpret_cast<ucd_type_t>(uintptr_t{t->predefined}), each,
                           bytes / each, 0, 0};
                listed = 1;
            }
        } else if (bytes > 0) {
            const ElementRuns all(count, *t, bytes);
            total = all.total();
            if (first_run < total) listed = all.list(first_run, runs, max_runs);
        }
        UCD_TRY(check_first("first_run", first_run, total, "runs"));
        *actual_runs = listed;
        *total_runs = total;
        return success;
    });
}
