/*
 * many: what endpoints cost with UCX. Two workers in one process, N endpoints of the first to the second, a message of 8 bytes over each:
 *
 *   many N      prints the bytes of memory that one more endpoint takes, as the system counts them (Pss)
 *
 * UCX_TLS chooses the transport. Build compiles it: cc -O2 many.c -lucp -lucs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

static ucp_worker_h workers[2];
static long got;

static void must(const char *what, ucs_status_t s)
{
    if (s != UCS_OK) {
        fprintf(stderr, "many: %s: %s\n", what, ucs_status_string(s));
        exit(1);
    }
}

static ucs_status_t taken(void *arg, const void *header, size_t header_length, void *data, size_t length, const ucp_am_recv_param_t *param)
{
    got++;
    return UCS_OK;
}

static double resident(void)
{
    char line[256];
    long kB = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f != NULL && kB < 0 && fgets(line, sizeof(line), f) != NULL) {
        sscanf(line, "Pss: %ld kB", &kB);
    }
    if (kB < 0) {
        fprintf(stderr, "many: no Pss in /proc/self/smaps_rollup\n");
        exit(1);
    }
    fclose(f);
    return 1024.0 * kB;
}

/* one connects an endpoint and sends a message over it. */
static void one(ucp_address_t *address)
{
    ucp_ep_params_t p = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    ucp_request_param_t none = {0};
    ucp_ep_h ep;
    long want = got + 1;
    char payload[8] = {0};
    void *r;
    must("endpoint", ucp_ep_create(workers[0], &p, &ep));
    r = ucp_am_send_nbx(ep, 1, NULL, 0, payload, sizeof(payload), &none);
    if (UCS_PTR_IS_ERR(r)) {
        must("send", UCS_PTR_STATUS(r));
    }
    while (got < want || (r != NULL && ucp_request_check_status(r) == UCS_INPROGRESS)) {
        ucp_worker_progress(workers[0]);
        ucp_worker_progress(workers[1]);
    }
    if (r != NULL) {
        ucp_request_free(r);
    }
}

int main(int argc, char **argv)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
    ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB, .id = 1, .cb = taken};
    ucp_context_h contexts[2];
    ucp_address_t *address;
    size_t length;
    long i, n = argc == 2 ? atol(argv[1]) : 0;
    double before;
    if (n < 1) {
        fprintf(stderr, "usage: many N\n");
        return 2;
    }
    for (i = 0; i < 2; i++) {
        must("context", ucp_init(&params, NULL, &contexts[i]));
        must("worker", ucp_worker_create(contexts[i], &single, &workers[i]));
    }
    must("handler", ucp_worker_set_am_recv_handler(workers[1], &handler));
    must("address", ucp_worker_get_address(workers[1], &address, &length));
    one(address);
    before = resident();
    for (i = 0; i < n; i++) {
        one(address);
    }
    printf("%.0f\n", (resident() - before) / n);
    return 0;
}
