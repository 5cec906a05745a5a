/*
 * A peer for TestVerbs: one RC queue pair of libibverbs, told over TCP what to do.
 *
 *   cc -O1 -o peer peer.c -libverbs && ./peer ADDRESS PORT
 *
 * It takes the device that has ADDRESS as a GID, tells "QPN PSN RKEY ADDR", reads the same of the other side and its address, goes to
 * RTS, and then answers each line with a line:
 *
 *   fill SEED N       memory [0,N) gets a pattern          ok
 *   sum N             a checksum of memory [0,N)           ok SUM
 *   recv N            posts a receive                      ok
 *   send N | write N | read N | fadd V                     ok STATUS
 *   got               waits for a receive's completion     ok STATUS LENGTH IMM
 *   quit
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIZE (1 << 20)

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static struct ibv_cq *scq, *rcq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t *mem;

/* Polls for at most 20 s. */
static struct ibv_wc await(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	time_t end = time(NULL) + 20;
	memset(&wc, 0, sizeof wc);
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		if (time(NULL) > end) {
			wc.status = 255;
			break;
		}
	return wc;
}

/* Reads an address of either family as a GID is: IPv4 in its mapped form. */
static int parse(const char *text, union ibv_gid *g)
{
	memset(g, 0, sizeof *g);
	g->raw[10] = g->raw[11] = 0xff;
	return inet_pton(AF_INET, text, g->raw + 12) == 1 || inet_pton(AF_INET6, text, g->raw) == 1;
}

/* Finds the device and the index of the GID that ADDRESS is. */
static struct ibv_context *find(const union ibv_gid *a, int *index)
{
	int n, i, k;
	struct ibv_device **list = ibv_get_device_list(&n);
	need(list != NULL, "ibv_get_device_list");
	for (i = 0; i < n; i++) {
		struct ibv_context *c = ibv_open_device(list[i]);
		for (k = 0; c && k < 16; k++) {
			union ibv_gid g;
			if (ibv_query_gid(c, 1, k, &g) == 0 && memcmp(&g, a, sizeof g) == 0) {
				*index = k;
				return c;
			}
		}
	}
	fprintf(stderr, "no device has this address\n");
	exit(1);
}

static void connect_qp(uint32_t qpn, uint32_t psn, uint32_t mine, const union ibv_gid *to, int index)
{
	struct ibv_qp_attr a;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_INIT;
	a.port_num = 1;
	a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = qpn;
	a.rq_psn = psn;
	a.max_dest_rd_atomic = 4;
	a.min_rnr_timer = 12;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.sgid_index = index;
	a.ah_attr.grh.hop_limit = 64;
	a.ah_attr.grh.dgid = *to;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 16;
	a.retry_cnt = 7;
	a.rnr_retry = 7;
	a.sq_psn = mine;
	a.max_rd_atomic = 4;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

static int post(enum ibv_wr_opcode op, uint32_t n, uint64_t add, uint32_t rkey, uint64_t addr)
{
	struct ibv_sge sge = {(uintptr_t)mem, n, mr->lkey};
	struct ibv_send_wr wr, *bad;
	memset(&wr, 0, sizeof wr);
	wr.opcode = op;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = add;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	if (ibv_post_send(qp, &wr, &bad))
		return 254;
	return await(scq).status;
}

int main(int argc, char **argv)
{
	union ibv_gid me, to;
	struct ibv_qp_init_attr qa;
	struct sockaddr_in6 sa;
	int index = 0, s, one = 1;
	uint32_t qpn, psn, rkey, mine = 0xfffff0; /* wraps soon */
	unsigned long long addr;
	char line[256], host[64];

	need(argc == 3 && parse(argv[1], &me), "usage: peer ADDRESS PORT");
	struct ibv_context *c = find(&me, &index);
	struct ibv_pd *pd = ibv_alloc_pd(c);
	need(pd != NULL, "ibv_alloc_pd");
	need(posix_memalign((void **)&mem, 4096, SIZE) == 0, "memory");
	memset(mem, 0, SIZE);
	mr = ibv_reg_mr(pd, mem, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	scq = ibv_create_cq(c, 64, NULL, NULL, 0);
	rcq = ibv_create_cq(c, 64, NULL, NULL, 0);
	need(mr && scq && rcq, "objects");
	memset(&qa, 0, sizeof qa);
	qa.send_cq = scq;
	qa.recv_cq = rcq;
	qa.qp_type = IBV_QPT_RC;
	qa.cap.max_send_wr = qa.cap.max_recv_wr = 32;
	qa.cap.max_send_sge = qa.cap.max_recv_sge = 1;
	qp = ibv_create_qp(pd, &qa);
	need(qp != NULL, "ibv_create_qp");

	s = socket(AF_INET6, SOCK_STREAM, 0); /* which takes IPv4 in its mapped form */
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	memset(&sa, 0, sizeof sa);
	sa.sin6_family = AF_INET6;
	memcpy(&sa.sin6_addr, &me, sizeof me);
	sa.sin6_port = htons(atoi(argv[2]));
	need(!bind(s, (struct sockaddr *)&sa, sizeof sa) && !listen(s, 1), "listen");
	s = accept(s, NULL, NULL);
	need(s >= 0, "accept");
	FILE *in = fdopen(s, "r"), *out = fdopen(dup(s), "w");
	fprintf(out, "%u %u %u %llu\n", qp->qp_num, mine, mr->rkey, (unsigned long long)(uintptr_t)mem);
	fflush(out);
	need(fgets(line, sizeof line, in) && sscanf(line, "%u %u %u %llu %63s", &qpn, &psn, &rkey, &addr, host) == 5, "hello");
	need(parse(host, &to), "address");
	connect_qp(qpn, psn, mine, &to, index);
	fprintf(out, "ok\n");
	fflush(out);

	while (fgets(line, sizeof line, in)) {
		unsigned long long a = 0, b = 0;
		char cmd[16];
		if (sscanf(line, "%15s %llu %llu", cmd, &a, &b) < 1 || !strcmp(cmd, "quit"))
			break;
		if (!strcmp(cmd, "fill")) {
			for (uint32_t i = 0; i < b; i++)
				mem[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + a);
			fprintf(out, "ok\n");
		} else if (!strcmp(cmd, "sum")) {
			uint32_t h = 2166136261u;
			for (uint32_t i = 0; i < a; i++)
				h = (h ^ mem[i]) * 16777619u;
			fprintf(out, "ok %u\n", h);
		} else if (!strcmp(cmd, "recv")) {
			struct ibv_sge sge = {(uintptr_t)mem, a, mr->lkey};
			struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
			fprintf(out, ibv_post_recv(qp, &wr, &bad) ? "failed\n" : "ok\n");
		} else if (!strcmp(cmd, "got")) {
			struct ibv_wc wc = await(rcq);
			fprintf(out, "ok %u %u %u\n", wc.status, wc.byte_len, ntohl(wc.imm_data));
		} else if (!strcmp(cmd, "send")) {
			fprintf(out, "ok %d\n", post(IBV_WR_SEND, a, 0, 0, 0));
		} else if (!strcmp(cmd, "write")) {
			fprintf(out, "ok %d\n", post(IBV_WR_RDMA_WRITE, a, 0, rkey, addr));
		} else if (!strcmp(cmd, "read")) {
			fprintf(out, "ok %d\n", post(IBV_WR_RDMA_READ, a, 0, rkey, addr));
		} else if (!strcmp(cmd, "fadd")) {
			fprintf(out, "ok %d\n", post(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, a, rkey, addr));
		} else {
			fprintf(out, "unknown\n");
		}
		fflush(out);
	}
	return 0;
}
