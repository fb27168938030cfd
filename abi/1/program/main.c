#include "check.h"

#include <stdio.h>

static int checks, failures;

void expect(int holds, const char *what, const char *file, int line) {
    ++checks;
    if (holds) return;
    ++failures;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
}

void expect_status(int got, int wanted, const char *what, const char *file, int line) {
    ++checks;
    if (got == wanted) return;
    ++failures;
    fprintf(stderr, "%s:%d: %d (%s) and not %d: %s: %s\n", file, line, got, ucd_strerror(got), wanted, what, ucd_last_error());
}

void expect_packed(const void *inbuf, uintptr_t count, ucd_type_t type, const void *bytes, uintptr_t size, int line) {
    unsigned char packed[256];
    uintptr_t actual = 0;
    SUCCEEDS(ucd_pack(inbuf, count, type, 0, packed, sizeof packed, &actual, UCD_INFO__NULL, UCD_OP__REPLACE));
    expect(actual == size && memcmp(packed, bytes, size) == 0, "these bytes are packed", "types.c", line);
    SUCCEEDS(ucd_free(&type));
    EXPECT(type == UCD_TYPE__NULL);
}

int main(void) {
    check_life_cycle();
    check_statuses();
    check_infos();
    check_backends();
    check_predefined_types();
    check_ops();
    check_constructors();
    check_arrays();
    check_questions();
    check_structs_that_grow();
    check_lists();
    check_flattening();
    check_moves();
    check_requests();
    check_plans();
    check_streams();
    check_memory();
    SUCCEEDS(ucd_finalize());
    EXPECT_STATUS(UCD_ERR__NOT_INITIALIZED, ucd_finalize());
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
