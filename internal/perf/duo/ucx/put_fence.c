/*
 * put_fence: what package duo measures, with UCX. Two workers in one process, polled in turns, up to 64 puts under way:
 *
 *   put_fence put|fence N      prints the nanoseconds of one of N puts of 8 bytes, each with a fence after it or without
 *
 * UCX_TLS chooses the transport. Build compiles it: cc -O2 put_fence.c -lucp -lucs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

static ucp_worker_h workers[2];

static void die(const char *what, ucs_status_t s)
{
    fprintf(stderr, "put_fence: %s: %s\n", what, ucs_status_string(s));
    exit(1);
}

static void must(const char *what, ucs_status_t s)
{
    if (s != UCS_OK) {
        die(what, s);
    }
}

static void turn(void)
{
    ucp_worker_progress(workers[0]);
    ucp_worker_progress(workers[1]);
}

/* finish waits for a request that a call returned. */
static void finish(const char *what, void *r)
{
    ucs_status_t s;
    if (r == NULL) {
        return;
    }
    if (UCS_PTR_IS_ERR(r)) {
        die(what, UCS_PTR_STATUS(r));
    }
    while ((s = ucp_request_check_status(r)) == UCS_INPROGRESS) {
        turn();
    }
    ucp_request_free(r);
    must(what, s);
}

static void flush(void)
{
    ucp_request_param_t none = {0};
    finish("flush", ucp_worker_flush_nbx(workers[0], &none));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * t.tv_sec + t.tv_nsec;
}

/* puts is the time of n puts, each with or without a fence, and a flush at the end. */
static double puts8(ucp_ep_h ep, ucp_rkey_h key, uint64_t target, long n, int fence)
{
    static char src[8];
    static void *open[64]; /* requests under way */
    ucp_request_param_t none = {0};
    double begun = now();
    long i;
    for (i = 0; i < n; i++) {
        finish("put", open[i % 64]);
        open[i % 64] = ucp_put_nbx(ep, src, sizeof(src), target, key, &none);
        if (fence) {
            must("fence", ucp_worker_fence(workers[0]));
        }
        if (i % 64 == 63) {
            turn();
        }
    }
    for (i = 0; i < 64; i++) {
        finish("put", open[i]);
        open[i] = NULL;
    }
    flush();
    return (now() - begun) / n;
}

int main(int argc, char **argv)
{
    static char memory[64] __attribute__((aligned(64)));
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA};
    ucp_worker_params_t wp = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_mem_map_params_t mp = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                               .address = memory, .length = sizeof(memory)};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_context_h contexts[2];
    ucp_address_t *address;
    ucp_config_t *config;
    size_t length;
    ucp_rkey_h key;
    ucp_mem_h mem;
    ucp_ep_h ep;
    void *packed;
    long n;
    int i;

    if (argc != 3 || (n = atol(argv[2])) < 1) {
        fprintf(stderr, "usage: put_fence put|fence N\n");
        return 2;
    }
    must("configuration", ucp_config_read(NULL, NULL, &config));
    for (i = 0; i < 2; i++) {
        must("context", ucp_init(&params, config, &contexts[i]));
        must("worker", ucp_worker_create(contexts[i], &wp, &workers[i]));
    }
    must("memory", ucp_mem_map(contexts[1], &mp, &mem));
    must("key", ucp_rkey_pack(contexts[1], mem, &packed, &length));
    must("address", ucp_worker_get_address(workers[1], &address, &length));
    ep_params.address = address;
    must("endpoint", ucp_ep_create(workers[0], &ep_params, &ep));
    must("key", ucp_ep_rkey_unpack(ep, packed, &key));
    puts8(ep, key, (uint64_t)memory, 1000, strcmp(argv[1], "fence") == 0);
    printf("%.1f\n", puts8(ep, key, (uint64_t)memory, n, strcmp(argv[1], "fence") == 0));
    fflush(stdout);
    _Exit(0); /* the order in which two workers of one process can be taken down is not what is measured */
}
