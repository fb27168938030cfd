/* The program that docs/guide/ucx.md quotes: two processes, of which one sends columns of a matrix
 * to the other one in each way that the guide describes. They have a socket for what UCX needs
 * before it is connected, and to tell each other that they are through. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucd_ucx.h>
#include <ucd_ucx_rma.h>
#include <unistd.h>

enum { ROWS = 300, COLUMNS = 200, ELEMENTS = 20000 };
enum { BY_UCP = 1, BY_OBJECT };                  /* tags */
enum { WITH_TYPE = 1, LONG_TYPE, OF_LONG_TYPE }; /* ids of active messages */

static int peer; /* the socket to the other process */
static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;      /* to the worker of the other process */
static ucd_ucx_t object; /* transfers and one-sided operations over the worker */
static bool is_peer_lost;

static double matrix[ROWS][COLUMNS]; /* what is sent; the receiver compares with it */
static double rows[COLUMNS][ROWS], copy[ROWS][COLUMNS], scattered[ROWS][COLUMNS];

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

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory == NULL) fail("malloc", "no memory");
    return memory;
}

/* ---- The socket ---- */

static void tell(const void *bytes, size_t length) {
    if (send(peer, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
        fail("the other process", "it has ended");
}

static void hear(void *bytes, size_t length) {
    if (recv(peer, bytes, length, MSG_WAITALL) != (ssize_t)length)
        fail("the other process", "it has ended");
}

/* ---- Progress ---- */

/* Makes progress, or sleeps until the worker has an event or the other process says something. */
static void progress(void) {
    if (ucd_ucx_progress(object) != 0) return;
    ucs_status_t armed = ucp_worker_arm(worker);
    if (armed == UCS_ERR_BUSY) return; /* an event has come in between */
    ucx(armed, "ucp_worker_arm");
    struct pollfd events[] = {{.events = POLLIN}, {.fd = peer, .events = POLLIN}};
    ucx(ucp_worker_get_efd(worker, &events[0].fd), "ucp_worker_get_efd");
    /* No event tells that a time limit has passed, or that a device is done: look again soon. */
    poll(events, 2, 50);
}

/* Makes progress while the program waits for something that the other process has to do. */
static void wait_for_peer(void) {
    if (is_peer_lost) fail("the other process", "its endpoint has failed");
    progress();
}

/* Returns when the other process has called it, too. Both make progress until then. */
static void meet(void) {
    char word = 1;
    tell(&word, 1);
    struct pollfd in = {.fd = peer, .events = POLLIN};
    while (poll(&in, 1, 0) == 0) progress();
    hear(&word, 1);
}

/* ---- Lost endpoints, and the end of an endpoint ---- */

/* The endpoint's error handler. */
static void on_error(void *arg, ucp_ep_h failed, ucs_status_t status) {
    (void)arg;
    is_peer_lost = true;
    ucd_ucx(ucd_ucx_lose_endpoint(object, failed, status));
}

static ucs_status_ptr_t closing; /* what ucp_ep_close_nbx has returned */

/* Ends all that is under way on the endpoint, and begins to close it. */
static void begin_to_close(ucs_status_t why, uint32_t flags) {
    ucd_ucx(ucd_ucx_lose_endpoint(object, ep, why));
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};
    closing = ucp_ep_close_nbx(ep, &param);
}

/* Returns whether the endpoint is closed. Called after each progress, until it returns true. */
static bool has_closed(void) {
    if (UCS_PTR_IS_PTR(closing)) {
        if (ucp_request_check_status(closing) == UCS_INPROGRESS) return false;
        ucp_request_free(closing);
    }
    /* After an error, too, UCX has freed the endpoint. Once more: messages may have arrived until
     * now. */
    ucd_ucx(ucd_ucx_lose_endpoint(object, ep, UCS_ERR_CANCELED));
    return true;
}

/* UCX holds a buffer for longer than ucd.ucx.timeout: only an endpoint that is closed gives it
 * back. This program then ends; another one calls has_closed after each progress. */
static void on_unresponsive(ucp_ep_h slow, void *arg) {
    (void)slow, (void)arg; /* there is one endpoint */
    is_peer_lost = true;
    begin_to_close(UCS_ERR_TIMED_OUT, UCP_EP_CLOSE_FLAG_FORCE);
}

/* ---- Set-up ---- */

static void make_worker(void) {
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP};
    ucx(ucp_init(&params, NULL, &context), "ucp_init");
    ucp_worker_params_t worker_params = {0}; /* used by one thread */
    ucx(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
}

static void make_object(void) {
    ucd_info_t info;
    ucd(ucd_info_create(&info));
    ucd(ucd_info_set(info, "ucd.ucx.timeout", "30"));
    ucd_ucx_params_t params = {.struct_size = sizeof params,
                               .am_id = 3,
                               .families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED,
                               .unresponsive = on_unresponsive};
    ucd_ucx(ucd_ucx_create(worker, &params, info, &object));
    ucd(ucd_info_free(&info));
}

/* Sends this worker's address and gets the other one. Any means will do. */
static void connect_to_peer(void) {
    ucp_address_t *address;
    size_t length;
    ucx(ucp_worker_get_address(worker, &address, &length), "ucp_worker_get_address");
    tell(&length, sizeof length);
    tell(address, length);
    ucp_worker_release_address(worker, address);

    hear(&length, sizeof length);
    ucp_address_t *other = allocate(length);
    hear(other, length);
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = other,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_error},
    };
    ucx(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    free(other);
}

/* ---- The sender ---- */

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

static intptr_t place_of(intptr_t element) {
    return 3 * element + element * element % 3;
}

/* Elements at irregular places: flattened, a long list of numbers. */
static ucd_type_t scattered_type(void) {
    static intptr_t places[ELEMENTS];
    for (intptr_t i = 0; i < ELEMENTS; i++) places[i] = place_of(i);
    ucd_type_t type;
    ucd(ucd_create_indexed_block(ELEMENTS, 1, places, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
    return type;
}

/* Waits until a transfer or an operation is complete, and frees its request. */
static ucs_status_t finish(ucd_ucx_request_t request) {
    while (ucd_ucx_request_check(request, NULL) == UCS_INPROGRESS) wait_for_peer();
    ucs_status_t status = ucd_ucx_request_check(request, NULL);
    ucd_ucx_request_free(request);
    return status;
}

static void finish_ucp(ucs_status_ptr_t request) {
    if (request == NULL) return; /* it was complete at once */
    if (UCS_PTR_IS_ERR(request)) ucx(UCS_PTR_STATUS(request), "a call of UCP");
    while (ucp_request_check_status(request) == UCS_INPROGRESS) wait_for_peer();
    ucx(ucp_request_check_status(request), "a call of UCP");
    ucp_request_free(request);
}

static void send_by_ucp(ucd_type_t columns) {
    void *buf;
    size_t count;
    ucp_datatype_t datatype;
    ucd_ucx(ucd_ucx_prepare(matrix, 1, columns, UCD_INFO__NULL, &buf, &count, &datatype));

    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = datatype};
    finish_ucp(ucp_tag_send_nbx(ep, buf, count, BY_UCP, &param));

    /* Also says whether packing failed, which UCX had no way to tell. */
    ucd_ucx(ucd_ucx_release(buf, datatype));
}

static void send_by_object(ucd_type_t columns) {
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_send_nbx(object, ep, matrix, 1, columns, BY_OBJECT, NULL, &request));
    ucx(finish(request), "a send");
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
    void *flat = allocate(size);
    ucd(ucd_flatten(layout, flat, size));
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
    ucx(finish(sending_type), "a type");
    ucx(finish(sending), "an active message");
    free(flat);
}

/* Waits for all operations, and lets no failure pass. */
static void flush(void) {
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_flush_nbx(object, ep, NULL, &request));
    ucx(finish(request), "a one-sided operation");
}

static void operate_one_sided(ucd_type_t columns) {
    ucd_ucx_window_key_t key;
    hear(&key, sizeof key);

    /* The target's type is an argument, like the origin's: it need not know either. */
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_put_nbx(object, ep, matrix, 1, columns, &key, 0, ROWS * COLUMNS,
                            UCD_TYPE__DOUBLE, NULL, &request));
    ucd_ucx_request_free(request); /* the operation goes on */
    flush();

    double one = 1, before, after;
    ucd_ucx(ucd_ucx_get_accumulate_nbx(object, ep, &one, 1, UCD_TYPE__DOUBLE, &before, 1,
                                       UCD_TYPE__DOUBLE, &key, 2 * sizeof(double), 1,
                                       UCD_TYPE__DOUBLE, UCD_OP__SUM, NULL, &request));
    ucd_ucx_request_free(request);
    ucd_ucx(ucd_ucx_fence(object, ep)); /* what follows comes after what was before */
    ucd_ucx(ucd_ucx_get_nbx(object, ep, &after, 1, UCD_TYPE__DOUBLE, &key, 2 * sizeof(double), 1,
                            UCD_TYPE__DOUBLE, NULL, &request));
    ucd_ucx_request_free(request);
    flush();
    printf("fetch and add: %g became %g\n", before, after);

    ucd_ucx(ucd_ucx_put_nbx(object, ep, &one, 1, UCD_TYPE__DOUBLE, &key, sizeof rows, 1,
                            UCD_TYPE__DOUBLE, NULL, &request));
    printf("beyond the window: %s\n", ucs_status_string(finish(request)));
}

/* ---- The receiver ---- */

static void check_rows(const char *what) {
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            if (rows[c][r] != matrix[r][c]) fail(what, "other bytes were received");
    printf("%s: %d columns became rows\n", what, COLUMNS);
}

/* What a receive's callback reports. A message may have 0 bytes. */
struct received {
    bool is_complete;
    uint64_t bytes;
};

static void on_received(ucd_ucx_request_t request, const ucd_ucx_result_t *outcome,
                        void *user_data) {
    ucx(outcome->status, "a receive");
    struct received *received = user_data;
    received->is_complete = true;
    received->bytes = outcome->bytes;
    ucd_ucx_request_free(request);
}

static void receive_by_ucp(void) {
    ucp_request_param_t plain = {0};
    finish_ucp(ucp_tag_recv_nbx(worker, rows, sizeof rows, BY_UCP, UINT64_MAX, &plain));
    check_rows("prepared");
}

static void receive_by_object(void) {
    struct received received = {0};
    ucd_ucx_param_t param = {
        .struct_size = sizeof param, .callback = on_received, .user_data = &received};
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_recv_nbx(object, rows, ROWS * COLUMNS, UCD_TYPE__DOUBLE, BY_OBJECT, UINT64_MAX,
                             &param, &request));
    while (!received.is_complete) wait_for_peer();
    check_rows("pipelined");
}

/* Messages with their type in the header; long types; and messages of these. */
static struct received of_header, long_type, of_long_type;
static void *flat_type;               /* a long type, as it has come */
static ucd_ucx_data_t waits_for_type; /* the message that uses it */

static void receive_data(ucd_ucx_data_t data, void *buf, uintptr_t count, ucd_type_t type,
                         struct received *received) {
    ucd_ucx_param_t param = {
        .struct_size = sizeof param, .callback = on_received, .user_data = received};
    ucd_ucx_request_t request;
    ucd_ucx(ucd_ucx_am_recv_nbx(object, data, buf, count, type, &param, &request));
}

static void on_message(void *arg, unsigned id, const void *header, size_t header_length,
                       ucd_ucx_data_t data, uint64_t bytes, ucp_ep_h reply_ep) {
    (void)arg, (void)reply_ep;
    if (id == WITH_TYPE) {
        ucd_type_t type;
        ucd(ucd_unflatten(&type, header, header_length));
        receive_data(data, copy, 1, type, &of_header);
        ucd(ucd_free(&type));
    } else if (id == LONG_TYPE) {
        flat_type = allocate(bytes);
        receive_data(data, flat_type, bytes, UCD_TYPE__BYTE, &long_type);
    } else if (id == OF_LONG_TYPE) {
        waits_for_type = data;
    } else {
        ucd_ucx(ucd_ucx_am_drop(object, data));
    }
}

static void receive_with_types(void) {
    while (!of_header.is_complete) wait_for_peer();
    printf("with its type of a header: %llu bytes\n", (unsigned long long)of_header.bytes);

    /* The message may come before all of its type has arrived. */
    while (!long_type.is_complete || waits_for_type == NULL) wait_for_peer();
    ucd_type_t type;
    ucd(ucd_unflatten(&type, flat_type, long_type.bytes));
    free(flat_type);
    receive_data(waits_for_type, scattered, 1, type, &of_long_type);
    ucd(ucd_free(&type));
    while (!of_long_type.is_complete) wait_for_peer();
    printf("with its type of a message: %llu bytes\n", (unsigned long long)of_long_type.bytes);

    if (memcmp(copy, matrix, sizeof matrix) != 0) fail("with a type", "other bytes were received");
    for (intptr_t i = 0; i < ELEMENTS; i++)
        if ((&scattered[0][0])[place_of(i)] != (&matrix[0][0])[place_of(i)])
            fail("with a long type", "other bytes were received");
}

static ucd_ucx_window_t expose_rows(void) {
    ucd_ucx_window_t window;
    ucd_ucx_window_key_t key; /* whoever has it may use the window */
    ucd_ucx(ucd_ucx_window_create(object, rows, sizeof rows, UCD_INFO__NULL, &window));
    ucd_ucx(ucd_ucx_window_key(window, &key));
    tell(&key, sizeof key);
    return window;
}

/* ---- Both ---- */

static void send_all(void) {
    ucd_type_t columns = columns_type(), irregular = scattered_type();
    send_by_ucp(columns);
    send_by_object(columns);
    send_with_type(columns);
    send_with_type(irregular);
    operate_one_sided(columns);
    ucd(ucd_free(&irregular));
    ucd(ucd_free(&columns));
}

static ucd_ucx_window_t receive_all(void) {
    receive_by_ucp();
    receive_by_object();
    receive_with_types();
    return expose_rows();
}

static void run(bool is_sender) {
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) matrix[r][c] = r * 1000 + c;
    ucd(ucd_init(UCD_INFO__NULL));
    make_worker();
    make_object();
    /* Before the other process can send: without a handler, active messages are dropped. */
    ucd_ucx(ucd_ucx_am_set_handler(object, on_message, NULL));
    connect_to_peer();

    ucd_ucx_window_t window = UCD_UCX_WINDOW__NULL;
    if (is_sender)
        send_all();
    else
        window = receive_all();

    /* All that this process has started is complete. The other one may still need its progress. */
    meet();
    begin_to_close(UCS_ERR_CANCELED, 0);
    while (!has_closed()) progress();
    /* The other process closes its endpoint, too, before this worker goes. */
    meet();
    if (window != UCD_UCX_WINDOW__NULL) ucd_ucx(ucd_ucx_window_destroy(&window));
    while (ucd_ucx_progress(object) != 0) continue;
    ucd_ucx(ucd_ucx_destroy(&object));
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    ucd(ucd_finalize());

    if (is_sender) return;
    rows[0][2] -= 1; /* the sender has added 1 there */
    check_rows("put");
}

int main(void) {
    /* Over shared memory, UCX 1.13 has endpoints that may fail only with this setting. */
    setenv("UCX_MM_ERROR_HANDLING", "y", 0);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("socketpair", "it failed");
    pid_t child = fork(); /* before anything of UCX or UCD is initialised */
    if (child < 0) fail("fork", "it failed");
    peer = ends[child == 0];
    close(ends[child != 0]);
    run(child != 0);
    if (child == 0) return 0;
    int status;
    if (waitpid(child, &status, 0) != child) fail("waitpid", "it failed");
    return status == 0 ? 0 : 1;
}
