/* A program that gives UCX a datatype of its own copy of libucd, by libucd-ucx. A worker sends
 * itself a column.
 *
 * Usage: with_ucx own        libucd-ucx uses the program's copy
 *        with_ucx other      it uses another one, and refuses; nobody has initialised that one
 *        with_ucx library    the same, and a library in the program has initialised the other one:
 *                            with UCD_CHECK=handles
 */
#include "caller.h"

#include <ucd_ucx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 5000, columns = 3 };

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "with_ucx: %s: %s; %s\n", what, ucd_last_error(), ucd_ucx_last_error());
    exit(1);
}

static void connect_worker(void) {
    ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    require(ucp_init(&p, NULL, &context) == UCS_OK, "ucp_init");
    ucp_worker_params_t w = {0};
    require(ucp_worker_create(context, &w, &worker) == UCS_OK, "ucp_worker_create");
    ucp_address_t *address;
    size_t length;
    require(ucp_worker_get_address(worker, &address, &length) == UCS_OK, "an address");
    ucp_ep_params_t e = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    require(ucp_ep_create(worker, &e, &ep) == UCS_OK, "ucp_ep_create");
    ucp_worker_release_address(worker, address);
}

static void wait_for(ucs_status_ptr_t request) {
    if (request == NULL) return;
    require(!UCS_PTR_IS_ERR(request), "an operation");
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
    require(ucp_request_check_status(request) == UCS_OK, "an operation");
    ucp_request_free(request);
}

static void send_column(ucd_type_t column) {
    static int matrix[rows][columns], received[rows];
    for (int i = 0; i < rows; ++i) matrix[i][0] = i;
    ucp_datatype_t datatype;
    require(ucd_ucx_datatype(column, UCD_INFO__NULL, &datatype) == UCD_SUCCESS, "a datatype");
    ucp_request_param_t typed = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = datatype};
    ucp_request_param_t plain = {0};
    ucs_status_ptr_t sent = ucp_tag_send_nbx(ep, matrix, 1, 7, &typed);
    wait_for(ucp_tag_recv_nbx(worker, received, sizeof received, 7, UINT64_MAX, &plain));
    wait_for(sent);
    for (int i = 0; i < rows; ++i) require(received[i] == i, "what was received");
    require(ucd_ucx_status(datatype) == UCD_SUCCESS, "the datatype's status");
    require(ucd_ucx_release(NULL, datatype) == UCD_SUCCESS, "ucd_ucx_release");
}

static void check_refusal(ucd_type_t column, int status, const char *why) {
    ucp_datatype_t datatype;
    require(ucd_ucx_datatype(column, UCD_INFO__NULL, &datatype) == status, "whether it is refused");
    require(strstr(ucd_ucx_last_error(), why) != NULL, why);
}

int main(int count, char **arguments) {
    require(count == 2, "usage: with_ucx own|other|library");
    ucd_type_t column;
    program_caller()->start();
    require(ucd_create_vector(rows, 1, columns, UCD_TYPE__INT, UCD_INFO__NULL, &column) ==
                UCD_SUCCESS,
            "ucd_create_vector");
    if (strcmp(arguments[1], "own") == 0) {
        connect_worker();
        for (int round = 0; round < 3; ++round) {
            send_column(column);
            program_caller()->use();
        }
        ucp_worker_destroy(worker);
        ucp_cleanup(context);
    } else if (strcmp(arguments[1], "other") == 0) {
        check_refusal(column, UCD_ERR__NOT_INITIALIZED, "ucd_init");
    } else {
#ifdef WITH_LIBRARY
        library_caller()->start();
        check_refusal(column, UCD_ERR__INVALID_ARG, "no handle of this libucd");
        library_caller()->use();
        library_caller()->end();
#endif
    }
    program_caller()->use();
    require(ucd_free(&column) == UCD_SUCCESS, "ucd_free");
    program_caller()->end();
    puts("done");
    return 0;
}
