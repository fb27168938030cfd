/* What the library says of types: structs that it fills, lists, and types as bytes. */
#include "check.h"

#include <stddef.h>
#include <sys/uio.h>

/* Three blocks of two doubles: 48 bytes in three segments. */
static ucd_type_t make_vector(void) {
    ucd_type_t type = UCD_TYPE__NULL;
    SUCCEEDS(ucd_create_vector(3, 2, 5, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
    return type;
}

void check_questions(void) {
    ucd_type_t type = make_vector();
    ucd_layout_t layout;
    ucd_advice_t advice;
    char memory[32] = "";
    uintptr_t needed = 0;
    const double data[12] = {0};
    memset(&layout, 0, sizeof layout);
    layout.struct_size = sizeof layout;
    SUCCEEDS(ucd_get_layout(1, type, &layout));
    EXPECT(layout.struct_size == sizeof layout && layout.contiguous == 0 && layout.box_dims == 1 && layout.flags == 0);
    EXPECT(layout.bytes == 48 && layout.segments == 3 && layout.min_segment == 16 && layout.max_segment == 16);
    EXPECT(layout.low == 0 && layout.high == 96 && layout.element == UCD_TYPE__DOUBLE);
    EXPECT(layout.box_start == 0 && layout.box_stride[0] == 40 && layout.box_block == 16 && layout.box_count[0] == 3);
    EXPECT(layout.box_stride[3] == 0 && layout.box_count[3] == 0);
    memset(&advice, 0, sizeof advice);
    advice.struct_size = sizeof advice;
    SUCCEEDS(ucd_get_advice(1, type, 16, 3, &advice));
    EXPECT(advice.struct_size == sizeof advice && advice.form == UCD_FORM__IOV && advice.segments == 3);
    EXPECT(advice.boxes == 1 && advice.bytes == 48 && advice.mean_segment == 16);
    SUCCEEDS(ucd_get_advice(1, type, 0, 0, &advice));
    EXPECT(advice.form == UCD_FORM__PACK);
    SUCCEEDS(ucd_get_advice(4, UCD_TYPE__INT, 0, 0, &advice));
    EXPECT(advice.form == UCD_FORM__CONTIG);
    SUCCEEDS(ucd_get_memory(data, 1, type, UCD_INFO__NULL, memory, sizeof memory, &needed));
    EXPECT(strcmp(memory, "host") == 0 && needed == 5);
    SUCCEEDS(ucd_free(&type));
    SUCCEEDS(ucd_create_vector(3, 16, 32, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
    SUCCEEDS(ucd_get_advice(1, type, 0, 0, &advice));
    EXPECT(advice.form == UCD_FORM__BOXES);
    SUCCEEDS(ucd_free(&type));
    const int32_t index = 0;
    SUCCEEDS(ucd_create_indexed_block_ref(1, 1, &index, UCD_TYPE__INT32_T, 4, 0, 4, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    SUCCEEDS(ucd_get_layout(1, type, &layout));
    EXPECT(layout.flags == UCD_LAYOUT__BY_REFERENCE);
    SUCCEEDS(ucd_free(&type));
}

/* A struct of a program, and what follows it in memory. */
typedef union {
    ucd_layout_t layout;
    ucd_advice_t advice;
    ucd_backend_desc_t backend;
    unsigned char bytes[1024];
} Room;

/* Nothing from byte size on was written. */
static int untouched(const Room *room, size_t size) {
    for (size_t i = size; i < sizeof room->bytes; ++i)
        if (room->bytes[i] != 0) return 0;
    return 1;
}

/* A program that knows fewer members than the library, as many, or more. */
void check_structs_that_grow(void) {
    const uint32_t layouts[] = {4, offsetof(ucd_layout_t, segments), sizeof(ucd_layout_t), 1000};
    const uint32_t advices[] = {4, offsetof(ucd_advice_t, bytes), sizeof(ucd_advice_t), 1000};
    const uint32_t backends[] = {4, offsetof(ucd_backend_desc_t, version), sizeof(ucd_backend_desc_t), 1000};
    ucd_type_t type = make_vector();
    for (size_t i = 0; i < COUNT(layouts); ++i) {
        Room room;
        memset(&room, 0, sizeof room);
        room.layout.struct_size = layouts[i];
        SUCCEEDS(ucd_get_layout(1, type, &room.layout));
        EXPECT(room.layout.struct_size == layouts[i] && untouched(&room, layouts[i]));
        EXPECT(room.layout.bytes == (i == 0 ? 0 : 48) && room.layout.segments == (i < 2 ? 0 : 3));
        memset(&room, 0, sizeof room);
        room.advice.struct_size = advices[i];
        SUCCEEDS(ucd_get_advice(1, type, 0, 0, &room.advice));
        EXPECT(room.advice.struct_size == advices[i] && untouched(&room, advices[i]));
        EXPECT(room.advice.segments == (i == 0 ? 0 : 3) && room.advice.bytes == (i < 2 ? 0 : 48));
        memset(&room, 0, sizeof room);
        room.backend.struct_size = backends[i];
        SUCCEEDS(ucd_backend_get(0, &room.backend));
        EXPECT(room.backend.struct_size == backends[i] && untouched(&room, backends[i]));
        EXPECT(room.backend.devices == (i == 0 ? 0 : 1));
    }
    Room room;
    memset(&room, 0, sizeof room);
    room.layout.struct_size = 3;
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_get_layout(1, type, &room.layout));
    SUCCEEDS(ucd_free(&type));
}

void check_lists(void) {
    ucd_type_t type = make_vector();
    const double data[12] = {0};
    const char *const start = (const char *)data;
    struct iovec iov[4];
    ucd_box_t box[2];
    ucd_element_run_t run[2];
    uintptr_t count = 0, bytes = 0, total = 0;
    memset(box, 0xff, sizeof box);
    memset(run, 0xff, sizeof run);
    SUCCEEDS(ucd_iov_len(1, type, &count));
    EXPECT(count == 3);
    SUCCEEDS(ucd_iov_len_max(1, type, 40, &count, &bytes));
    EXPECT(count == 2 && bytes == 32);
    SUCCEEDS(ucd_iov(data, 1, type, 1, iov, COUNT(iov), &count));
    EXPECT(count == 2 && iov[0].iov_base == start + 40 && iov[1].iov_len == 16);
    SUCCEEDS(ucd_iov_bytes(data, 1, type, 8, 16, iov, COUNT(iov), &count, &bytes));
    EXPECT(count == 2 && bytes == 16 && iov[0].iov_base == start + 8 && iov[1].iov_len == 8);
    SUCCEEDS(ucd_get_boxes(1, type, 0, box, COUNT(box), &count, &total));
    EXPECT(count == 1 && total == 1 && box[0].start == 0 && box[0].block == 16 && box[0].offset == 0);
    EXPECT(box[0].count[0] == 3 && box[0].stride[0] == 40 && box[0].dims == 1 && box[0].reserved == 0);
    EXPECT(box[1].dims == UINT32_MAX && sizeof(ucd_box_t) == 96);
    SUCCEEDS(ucd_get_elements(1, type, 47, &count));
    EXPECT(count == 5);
    SUCCEEDS(ucd_element_boundary(1, type, 47, &bytes));
    EXPECT(bytes == 40);
    SUCCEEDS(ucd_get_element_runs(1, type, 0, run, COUNT(run), &count, &total));
    EXPECT(count == 1 && total == 1 && run[0].element == UCD_TYPE__DOUBLE && run[0].element_bytes == 8);
    EXPECT(run[0].elements == 6 && run[0].offset == 0 && run[0].reserved == 0);
    SUCCEEDS(ucd_free(&type));
}

void check_flattening(void) {
    ucd_type_t type = make_vector(), copy = UCD_TYPE__NULL;
    unsigned char bytes[256];
    uintptr_t size = 0, told = 0;
    SUCCEEDS(ucd_flatten_size(type, &size));
    EXPECT(size > 16 && size <= sizeof bytes);
    EXPECT_STATUS(UCD_ERR__TRUNCATED, ucd_flatten(type, bytes, size - 1));
    SUCCEEDS(ucd_flatten(type, bytes, sizeof bytes));
    SUCCEEDS(ucd_flattened_size(bytes, 16, &told));
    EXPECT(told == size);
    EXPECT_STATUS(UCD_ERR__TRUNCATED, ucd_flattened_size(bytes, 15, &told));
    SUCCEEDS(ucd_unflatten(&copy, bytes, size));
    SUCCEEDS(ucd_get_size(copy, &told));
    EXPECT(told == 48);
    SUCCEEDS(ucd_free(&copy));
    bytes[size - 1] ^= 1;
    EXPECT_STATUS(UCD_ERR__CORRUPT, ucd_unflatten(&copy, bytes, size));
    EXPECT(copy == UCD_TYPE__NULL);
    SUCCEEDS(ucd_free(&type));
}
