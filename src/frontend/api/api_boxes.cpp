// The functions that list strided boxes.

#include "api/api_guard.h"
#include "api/whole.h"
#include "boxes.h"

#include <ucd.h>

using namespace ucd;

int ucd_get_boxes(uintptr_t count, ucd_type_t type, uintptr_t first_box, ucd_box_t *boxes,
                  uintptr_t max_boxes, uintptr_t *actual_boxes, uintptr_t *total_boxes) {
    return guard("ucd_get_boxes", [&]() -> Status {
        Whole whole;
        UCD_TRY(find_whole(count, type, whole));
        if (max_boxes > 0) UCD_TRY(require(boxes, "boxes"));
        UCD_TRY(require(actual_boxes, "actual_boxes"));
        UCD_TRY(require(total_boxes, "total_boxes"));
        uint64_t total = 0, listed = 0;
        if (whole.bytes > 0) {
            Boxes all(*whole.layout, boxes_of(*whole.type), count, whole.type->extent());
            total = all.total();
            if (first_box < total && max_boxes > 0) {
                const uint64_t start = all.position(first_box);
                all.start(start, whole.bytes - start);
                while (listed < max_boxes && all.next(boxes[listed])) ++listed;
            }
        }
        UCD_TRY(check_first("first_box", first_box, total, "boxes"));
        *actual_boxes = listed;
        *total_boxes = total;
        return success;
    });
}
