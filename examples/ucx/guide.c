/* The program that docs/guide/ucx.md and docs/guide/one-sided.md quote: a worker that is connected
 * with itself sends itself columns of a matrix, in each way that the guides describe. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucd_ucx.h>
#include <ucd_ucx_rma.h>

enum { ROWS = 300, COLUMNS = 200 };

static ucp_worker_h worker;
static ucp_ep_h ep;
static ucd_ucx_t object; /* transfers and one-sided operations over the worker */
static double matrix[ROWS][COLUMNS], result[COLUMNS][ROWS];

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void ucx(ucs_status_t status, const char *what) {
    if (status != UCS_OK) fail(what, ucs_status_string(status));
}

static void ucd(int rc) {
    if (rc != UCD_SUCCESS) fail("UCD", ucd_last_error());
}

static void ucd_ucx(int rc) {
    if (rc != UCD_SUCCESS) fail("UCD in UCX", ucd_ucx_last_error());
}

static void wait_for(ucs_status_ptr_t request) {
    if (UCS_PTR_IS_ERR(request)) ucx(UCS_PTR_STATUS(request), "an operation");
    if (request == NULL) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
    ucx(ucp_request_check_status(request), "an operation");
    ucp_request_free(request);
}

static void fill(void) {
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) matrix[r][c] = r * 1000 + c;
    memset(result, 0, sizeof result);
}

static void check(const char *what) {
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            if (result[c][r] != matrix[r][c]) fail(what, "other bytes were received");
    printf("%s: %d columns became rows\n", what, COLUMNS);
}

/* All columns, one after the other. */
static ucd_type_t columns_type(void) {
    ucd_type_t column, next_to_each_other, columns;
    ucd(ucd_create_vector(ROWS, 1, COLUMNS, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &column));
    ucd(ucd_create_resized(column, 0, sizeof(double), UCD_INFO__NULL, &next_to_each_other));
    ucd(ucd_create_contig(COLUMNS, next_to_each_other, UCD_INFO__NULL, &columns));
    ucd(ucd_free(&next_to_each_other));
    ucd(ucd_free(&column));
    return columns;
}

static void send_by_ucp(ucd_type_t columns) {
    void *buf;
    size_t count;
    ucp_datatype_t datatype;
    ucd_ucx(ucd_ucx_prepare(matrix, 1, columns, UCD_INFO__NULL, &buf, &count, &datatype));

    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = datatype};
    ucs_status_ptr_t sent = ucp_tag_send_nbx(ep, buf, count, 1, &param);

    ucp_request_param_t plain = {0};
    wait_for(ucp_tag_recv_nbx(worker, result, sizeof result, 1, UINT64_MAX, &plain));
    wait_for(sent);

    /* Also says whether packing failed, which UCX had no way to tell. */
    ucd_ucx(ucd_ucx_release(buf, datatype));
    check("prepared");
}

/* What a receive's callback reports. A message may have 0 bytes. */
struct received {
    bool is_complete;
    uint64_t bytes;
};

static void on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *outcome,
                        void *user_data) {
    ucx(outcome->status, "a transfer");
    struct received *received = user_data;
    received->is_complete = true;
    received->bytes = outcome->bytes;
    ucd_ucx_request_free(request);
}

/* The endpoint that UCX is closing. */
static struct {
    ucp_ep_h ep;
    ucs_status_ptr_t request;
} closing;

/* Ends all transfers with the worker behind the endpoint, and begins to close the endpoint. */
static void begin_to_close(ucp_ep_h lost, ucs_status_t why, uint32_t flags) {
    ucd_ucx(ucd_ucx_lose_endpoint(object, lost, why));
    ucp_request_param_t p = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};
    closing.ep = lost;
    closing.request = ucp_ep_close_nbx(lost, &p);
}

/* Returns whether the endpoint is closed. Called after each progress, until it returns true. */
static bool has_closed(void) {
    ucs_status_t status = UCS_PTR_STATUS(closing.request);
    if (UCS_PTR_IS_PTR(closing.request)) {
        status = ucp_request_check_status(closing.request);
        if (status == UCS_INPROGRESS) return false;
        ucp_request_free(closing.request);
    }
    /* After an error, too, UCX has freed the endpoint. */
    if (status != UCS_OK) fprintf(stderr, "ucp_ep_close_nbx: %s\n", ucs_status_string(status));
    /* Once more: messages may have arrived until now. */
    ucd_ucx(ucd_ucx_lose_endpoint(object, closing.ep, UCS_ERR_CANCELED));
    return true;
}

/* UCX holds a buffer for longer than ucd.ucx.timeout: only an endpoint that is closed gives it
 * back. The program then calls has_closed after each progress. */
static void on_unresponsive(ucp_ep_h slow, void *arg) {
    (void)arg;
    begin_to_close(slow, UCS_ERR_TIMED_OUT, UCP_EP_CLOSE_FLAG_FORCE);
}

static void make_object(void) {
    ucd_info_t info;
    ucd(ucd_info_create(&info));
    ucd(ucd_info_set(info, "ucd.ucx.chunk", "65536"));
    ucd_ucx_params_t params = {.struct_size = sizeof params,
                               .am_id = 3,
                               .families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED,
                               .unresponsive = on_unresponsive};
    ucd_ucx(ucd_ucx_create(worker, &params, info, &object));
    ucd(ucd_info_free(&info));
}

static void send_by_object(ucd_type_t columns) {
    struct received received = {0};
    ucd_ucx_param_t param = {
        .struct_size = sizeof param, .callback = on_received, .user_data = &received};
    ucd_ucx_request_t sending, receiving;
    ucd_ucx(ucd_ucx_recv_nbx(object, result, ROWS * COLUMNS, UCD_TYPE__DOUBLE, 1, UINT64_MAX,
                             &param, &receiving));
    ucd_ucx(ucd_ucx_send_nbx(object, ep, matrix, 1, columns, 1, NULL, &sending));
    ucd_ucx_request_free(sending); /* the transfer goes on */
    while (!received.is_complete) ucd_ucx_progress(object);
    check("pipelined");
}

/* What the ids of active messages mean here. */
enum { WITH_TYPE = 1, LONG_TYPE, OF_LONG_TYPE };

static double copy[ROWS][COLUMNS];

/* A message of WITH_TYPE: the header is the sender's type, and the data gets the same layout here.
 */
static void receive_with_type(const void *header, size_t header_length, ucd_ucx_data_t data,
                              const ucd_ucx_param_t *param) {
    ucd_type_t type;
    ucd(ucd_unflatten(&type, header, header_length));
    ucd_ucx_request_t receiving;
    ucd_ucx(ucd_ucx_am_recv_nbx(object, data, copy, 1, type, param, &receiving));
    ucd(ucd_free(&type));
}

/* A type that is longer than a header comes as the data of a message of its own. The message that
 * uses it may come before all of that data has arrived, and waits here. */
static struct {
    void *flat;
    ucd_type_t type;
    ucd_ucx_data_t waiting;
    ucd_ucx_param_t param; /* for the data that waits */
} incoming;

static void receive_data_of_long_type(void) {
    if (incoming.type == UCD_TYPE__NULL || incoming.waiting == NULL) return;
    ucd_ucx_request_t receiving;
    ucd_ucx(ucd_ucx_am_recv_nbx(object, incoming.waiting, copy, 1, incoming.type, &incoming.param,
                                &receiving));
    incoming.waiting = NULL;
    ucd(ucd_free(&incoming.type));
}

static void on_long_type(ucd_ucx_request_t request, const ucd_ucx_result_t *outcome,
                         void *user_data) {
    (void)user_data;
    ucx(outcome->status, "a type");
    ucd(ucd_unflatten(&incoming.type, incoming.flat, outcome->bytes));
    free(incoming.flat);
    ucd_ucx_request_free(request);
    receive_data_of_long_type();
}

static void receive_long_type(ucd_ucx_data_t data, uint64_t bytes) {
    incoming.flat = malloc(bytes);
    ucd_ucx_param_t param = {.struct_size = sizeof param, .callback = on_long_type};
    ucd_ucx_request_t receiving;
    ucd_ucx(ucd_ucx_am_recv_nbx(object, data, incoming.flat, bytes, UCD_TYPE__BYTE, &param,
                                &receiving));
}

static void on_message(void *arg, unsigned id, const void *header, size_t header_length,
                       ucd_ucx_data_t data, uint64_t bytes, ucp_ep_h reply_ep) {
    (void)reply_ep;
    ucd_ucx_param_t param = {
        .struct_size = sizeof param, .callback = on_received, .user_data = arg};
    if (id == WITH_TYPE) {
        receive_with_type(header, header_length, data, &param);
    } else if (id == LONG_TYPE) {
        receive_long_type(data, bytes);
    } else {
        incoming.waiting = data;
        incoming.param = param;
        receive_data_of_long_type();
    }
}

/* The longest header of an active message: the library uses 64 bytes of UCX's for itself. */
static size_t longest_header(void) {
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER};
    ucx(ucp_worker_query(worker, &attr), "ucp_worker_query");
    return attr.max_am_header - 64;
}

static void send_with_type(ucd_type_t layout) {
    uintptr_t size;
    ucd(ucd_flatten_size(layout, &size));
    void *flat = malloc(size);
    ucd(ucd_flatten(layout, flat, size));
    struct received received = {0};
    ucd_ucx(ucd_ucx_am_set_handler(object, on_message, &received));
    ucd_ucx_request_t sending, sending_type = UCD_UCX_REQUEST__NULL;
    if (size <= longest_header()) {
        ucd_ucx(ucd_ucx_am_send_nbx(object, ep, WITH_TYPE, flat, size, matrix, 1, layout, NULL,
                                    &sending));
    } else {
        ucd_ucx(ucd_ucx_am_send_nbx(object, ep, LONG_TYPE, NULL, 0, flat, size, UCD_TYPE__BYTE,
                                    NULL, &sending_type));
        ucd_ucx(ucd_ucx_am_send_nbx(object, ep, OF_LONG_TYPE, NULL, 0, matrix, 1, layout, NULL,
                                    &sending));
    }
    while (!received.is_complete) ucd_ucx_progress(object);
    while (ucd_ucx_request_check(sending_type, NULL) == UCS_INPROGRESS) ucd_ucx_progress(object);
    ucd_ucx_request_free(sending_type);
    ucd_ucx_request_free(sending);
    printf("with its type of %s: %llu bytes\n", size <= longest_header() ? "a header" : "a message",
           (unsigned long long)received.bytes);
    free(flat);
}

/* Elements at irregular places: as a flattened type, a list of 20,000 numbers. */
static ucd_type_t scattered_type(void) {
    enum { ELEMENTS = 20000 };
    static intptr_t places[ELEMENTS];
    for (intptr_t i = 0; i < ELEMENTS; i++) places[i] = 3 * i + i * i % 3;
    ucd_type_t scattered;
    ucd(ucd_create_indexed_block(ELEMENTS, 1, places, UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                                 &scattered));
    return scattered;
}

/* An endpoint's error handler. */
static void on_error(void *arg, ucp_ep_h failed, ucs_status_t status) {
    (void)arg;
    if (object) ucd_ucx(ucd_ucx_lose_endpoint(object, failed, status));
}

/* Waits for all operations, and lets no failure pass. */
static void flush(void) {
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_flush_nbx(object, ep, NULL, &request));
    if (request == UCD_UCX_REQUEST__NULL) return;
    while (ucd_ucx_request_check(request, NULL) == UCS_INPROGRESS) ucd_ucx_progress(object);
    ucx(ucd_ucx_request_check(request, NULL), "an operation");
    ucd_ucx_request_free(request);
}

static void operate_one_sided(ucd_type_t columns) {
    ucd_ucx_window_t window;
    ucd_ucx_window_key_t key; /* to be sent to whoever may use the window */
    ucd_ucx(ucd_ucx_window_create(object, result, sizeof result, UCD_INFO__NULL, &window));
    ucd_ucx(ucd_ucx_window_key(window, &key));

    /* The target's type is an argument, like the origin's: it need not know either. */
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_put_nbx(object, ep, matrix, 1, columns, &key, 0, ROWS * COLUMNS,
                            UCD_TYPE__DOUBLE, NULL, &request));
    ucd_ucx_request_free(request); /* the operation goes on */
    flush();
    check("put");

    double one = 1, before;
    ucd_ucx(ucd_ucx_get_accumulate_nbx(object, ep, &one, 1, UCD_TYPE__DOUBLE, &before, 1,
                                       UCD_TYPE__DOUBLE, &key, 2 * sizeof(double), 1,
                                       UCD_TYPE__DOUBLE, UCD_OP__SUM, NULL, &request));
    ucd_ucx_request_free(request);
    ucd_ucx(ucd_ucx_fence(object, ep)); /* what follows comes after what was before */
    double after;
    ucd_ucx(ucd_ucx_get_nbx(object, ep, &after, 1, UCD_TYPE__DOUBLE, &key, 2 * sizeof(double), 1,
                            UCD_TYPE__DOUBLE, NULL, &request));
    ucd_ucx_request_free(request);
    flush();
    printf("fetch and add: %g became %g\n", before, after);

    ucd_ucx(ucd_ucx_put_nbx(object, ep, &one, 1, UCD_TYPE__DOUBLE, &key, sizeof result, 1,
                            UCD_TYPE__DOUBLE, NULL, &request));
    while (ucd_ucx_request_check(request, NULL) == UCS_INPROGRESS) ucd_ucx_progress(object);
    printf("beyond the window: %s\n", ucs_status_string(ucd_ucx_request_check(request, NULL)));
    ucd_ucx_request_free(request);

    ucd_ucx(ucd_ucx_window_destroy(&window));
}

static void connect_with_itself(void) {
    ucp_address_t *address;
    size_t length;
    ucx(ucp_worker_get_address(worker, &address, &length), "ucp_worker_get_address");
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_error},
    };
    ucx(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    ucp_worker_release_address(worker, address);
}

int main(void) {
    ucd(ucd_init(UCD_INFO__NULL));
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_AM};
    ucp_context_h context;
    ucx(ucp_init(&params, NULL, &context), "ucp_init");
    ucp_worker_params_t worker_params = {0};
    ucx(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
    connect_with_itself();
    make_object();

    ucd_type_t columns = columns_type();
    fill();
    send_by_ucp(columns);
    fill();
    send_by_object(columns);
    send_with_type(columns);
    ucd_type_t scattered = scattered_type();
    send_with_type(scattered);
    ucd(ucd_free(&scattered));
    fill();
    operate_one_sided(columns);
    ucd(ucd_free(&columns));

    /* All transfers are complete. */
    begin_to_close(ep, UCS_ERR_CANCELED, 0);
    while (!has_closed()) ucd_ucx_progress(object);
    while (ucd_ucx_progress(object)) continue;
    ucd_ucx(ucd_ucx_destroy(&object));
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    ucd(ucd_finalize());
    return 0;
}
