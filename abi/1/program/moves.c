/* What moves data: calls, requests, lists of moves, plans, streams. */
#include "check.h"

static const int matrix[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* The first of four columns. */
static ucd_type_t make_column(void) {
    ucd_type_t type = UCD_TYPE__NULL;
    SUCCEEDS(ucd_create_vector(3, 1, 4, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    return type;
}

static int is_column(const int *column, int number) {
    return column[0] == number && column[1] == number + 4 && column[2] == number + 8;
}

void check_moves(void) {
    ucd_type_t column = make_column();
    int packed[3] = {0}, out[12] = {0};
    uintptr_t bytes = 0;
    SUCCEEDS(ucd_pack(matrix + 1, 1, column, 4, packed, 8, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE));
    EXPECT(bytes == 8 && packed[0] == 5 && packed[1] == 9);
    SUCCEEDS(ucd_pack(matrix + 1, 1, column, 0, packed, sizeof packed, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE));
    SUCCEEDS(ucd_unpack(packed, sizeof packed, out, 1, column, 0, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE));
    EXPECT(bytes == 12 && out[0] == 1 && out[1] == 0 && out[4] == 5 && out[8] == 9);
    SUCCEEDS(ucd_copy(matrix, 1, column, packed, 3, UCD_TYPE__INT, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE));
    EXPECT(bytes == 12 && is_column(packed, 0));
    EXPECT_STATUS(UCD_ERR__TRUNCATED,
                  ucd_copy(matrix, 1, column, packed, 2, UCD_TYPE__INT, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG,
                  ucd_pack(matrix, 1, column, 13, packed, sizeof packed, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE));

    double wide[3] = {0};
    ucd_move_t move = UCD_MOVE__INIT;
    move.inbuf = matrix + 2;
    move.incount = 1;
    move.intype = column;
    move.inoffset = 4;
    move.outbuf = wide;
    move.outcount = 3;
    move.outtype = UCD_TYPE__DOUBLE;
    move.outoffset = 8;
    SUCCEEDS(ucd_move(&move, 1, UCD_INFO__NULL, UCD_OP__CONVERT));
    EXPECT(move.actual_bytes == 16 && move.consumed_bytes == 8 && wide[0] == 0 && wide[1] == 6 && wide[2] == 10);
    move.bytes = 4;
    SUCCEEDS(ucd_move(&move, 1, UCD_INFO__NULL, UCD_OP__CONVERT));
    EXPECT(move.actual_bytes == 8 && move.consumed_bytes == 4);
    move.reserved[0] = 1;
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_move(&move, 1, UCD_INFO__NULL, UCD_OP__CONVERT));
    SUCCEEDS(ucd_free(&column));
}

void check_requests(void) {
    ucd_type_t column = make_column();
    ucd_request_t requests[2] = {UCD_REQUEST__NULL, UCD_REQUEST__NULL};
    int packed[3] = {0}, out[12] = {0}, completed = 0;
    uintptr_t bytes = 0;
    SUCCEEDS(ucd_ipack(matrix + 3, 1, column, 0, packed, sizeof packed, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE, &requests[0]));
    SUCCEEDS(ucd_wait(&requests[0]));
    EXPECT(requests[0] == UCD_REQUEST__NULL && is_column(packed, 3));
    SUCCEEDS(ucd_iunpack(packed, sizeof packed, out, 1, column, 0, &bytes, UCD_INFO__NULL, UCD_OP__SUM, &requests[0]));
    while (!completed) SUCCEEDS(ucd_test(&requests[0], &completed));
    EXPECT(out[0] == 3 && out[4] == 7 && out[8] == 11);
    SUCCEEDS(ucd_icopy(matrix, 1, column, packed, 3, UCD_TYPE__INT, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE, &requests[0]));
    ucd_move_t moves[2] = {UCD_MOVE__INIT, UCD_MOVE__INIT};
    for (int i = 0; i < 2; ++i) {
        moves[i].inbuf = matrix + i;
        moves[i].incount = 1;
        moves[i].intype = column;
        moves[i].outbuf = out + 3 * i;
        moves[i].outcount = 3 * sizeof *out;
    }
    SUCCEEDS(ucd_imove(moves, 2, UCD_INFO__NULL, UCD_OP__REPLACE, &requests[1]));
    SUCCEEDS(ucd_waitall(2, requests));
    EXPECT(is_column(packed, 0) && is_column(out, 0) && is_column(out + 3, 1));
    EXPECT(moves[0].actual_bytes == 12 && moves[1].consumed_bytes == 12);
    SUCCEEDS(ucd_free(&column));
}

void check_plans(void) {
    ucd_type_t column = make_column();
    ucd_request_t request = UCD_REQUEST__NULL;
    ucd_plan_t plan = UCD_PLAN__NULL;
    int packed[3] = {0}, other[3] = {0};
    ucd_move_t move = UCD_MOVE__INIT;
    move.inbuf = matrix;
    move.incount = 1;
    move.intype = column;
    move.outbuf = packed;
    move.outcount = sizeof packed;
    SUCCEEDS(ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan));
    EXPECT(move.actual_bytes == 12 && move.consumed_bytes == 12);
    SUCCEEDS(ucd_free(&column));
    SUCCEEDS(ucd_plan_start(plan, &request));
    SUCCEEDS(ucd_wait(&request));
    EXPECT(is_column(packed, 0));
    const void *inbufs[] = {matrix + 1};
    void *outbufs[] = {other};
    SUCCEEDS(ucd_plan_start_with(plan, inbufs, outbufs, &request));
    SUCCEEDS(ucd_wait(&request));
    EXPECT(is_column(other, 1) && is_column(packed, 0));
    inbufs[0] = matrix + 2;
    SUCCEEDS(ucd_plan_rebase(plan, 0, 1, inbufs, NULL));
    SUCCEEDS(ucd_plan_start(plan, &request));
    SUCCEEDS(ucd_wait(&request));
    EXPECT(is_column(packed, 2));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_plan_rebase(plan, 1, 1, inbufs, NULL));
    SUCCEEDS(ucd_plan_free(&plan));
    EXPECT(plan == UCD_PLAN__NULL);
    SUCCEEDS(ucd_plan_free(&plan));
}

/* There is no device: what is asked for is read before that is said. */
void check_streams(void) {
    ucd_type_t column = make_column();
    ucd_stream_t stream = {.backend = "cuda", .device = 0, .native = NULL, .context = NULL, .reserved = 0};
    int packed[3] = {0};
    uintptr_t bytes = 0;
    ucd_plan_t plan = UCD_PLAN__NULL;
    ucd_move_t move = UCD_MOVE__INIT;
    for (int pass = 0; pass < 3; ++pass) {
        const int wanted = pass == 0 ? UCD_ERR__NOT_SUPPORTED : UCD_ERR__INVALID_ARG;
        if (pass == 1) stream.backend = NULL;
        if (pass == 2) stream = (ucd_stream_t){.backend = "cuda", .reserved = 1};
        EXPECT_STATUS(wanted, ucd_pack_stream(matrix, 1, column, 0, packed, sizeof packed, &bytes, UCD_INFO__NULL,
                                              UCD_OP__REPLACE, stream));
        EXPECT_STATUS(wanted, ucd_unpack_stream(matrix, 12, packed, 1, column, 0, &bytes, UCD_INFO__NULL,
                                                UCD_OP__REPLACE, stream));
        EXPECT_STATUS(wanted, ucd_copy_stream(matrix, 1, column, packed, 3, UCD_TYPE__INT, &bytes, UCD_INFO__NULL,
                                              UCD_OP__REPLACE, stream));
        EXPECT_STATUS(wanted, ucd_move_stream(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, stream));
        EXPECT_STATUS(wanted, ucd_prepare(1, column, UCD_OP__REPLACE, stream, UCD_INFO__NULL));
        SUCCEEDS(ucd_plan_create(&move, 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan));
        EXPECT_STATUS(wanted, ucd_plan_start_stream(plan, stream));
        EXPECT_STATUS(wanted, ucd_plan_start_with_stream(plan, NULL, NULL, stream));
        SUCCEEDS(ucd_plan_free(&plan));
    }
    SUCCEEDS(ucd_free(&column));
}
