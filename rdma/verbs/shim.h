// What would take a crossing for each piece otherwise: lists of work requests and batches of completions are made and read here.
#ifndef SHIM_H
#define SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <infiniband/verbs_api.h>
// The library's functions are ours, and nobody else's (load.c).
#pragma GCC visibility push(hidden)
#include <infiniband/verbs.h>
#pragma GCC visibility pop

// braid_load finds the library; 0: it can't, and why says so. One call at a time.
int braid_load(const char *name, char *why, size_t room);

// braid_send is a work request as Go writes it: without unions and lists.
struct braid_send {
	uint64_t id, addr, compare_add, swap, length;
	uint32_t op, flags, imm, key, access;
	uint32_t sge, sges; // the first of its pieces, and how many
	uint32_t qpn, qkey;
	struct ibv_ah *ah;
	struct ibv_mw *mw;
	struct ibv_mr *mr;
};

struct braid_recv {
	uint64_t id;
	uint32_t sge, sges;
};

// braid_wc is a completion, with the numbers of rdma.WC.
struct braid_wc {
	uint64_t id;
	uint32_t status, op, flags, length, imm, qpn, vendor, from;
};

enum { SHIM_WC_IMM = 1, SHIM_WC_INV = 2, SHIM_WC_GRH = 4 };

// braid_chain posts c[at] to c[end-1] and returns the first that was not taken.
static inline int braid_chain(struct ibv_qp *qp, struct ibv_send_wr *c, int at, int end, int *err)
{
	struct ibv_send_wr *bad = NULL;
	if (at == end)
		return end;
	c[end - 1].next = NULL;
	*err = ibv_post_send(qp, &c[at], &bad);
	return *err ? (bad ? (int)(bad - c) : at) : end;
}

static inline int braid_bind1(struct ibv_qp *qp, const struct braid_send *w)
{
	struct ibv_mw_bind b;
	memset(&b, 0, sizeof(b));
	b.wr_id = w->id;
	b.send_flags = w->flags;
	b.bind_info.mr = w->mr; // also of a bind of nothing: not every provider knows none
	b.bind_info.addr = w->addr;
	b.bind_info.length = w->length;
	b.bind_info.mw_access_flags = w->access;
	return ibv_bind_mw(qp, w->mw, &b);
}

static inline void braid_fill(struct ibv_send_wr *c, const struct braid_send *w, struct ibv_sge *sge)
{
	c->wr_id = w->id;
	c->next = c + 1;
	c->sg_list = sge + w->sge;
	c->num_sge = w->sges;
	c->opcode = w->op;
	c->send_flags = w->flags;
	switch (w->op) {
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		c->invalidate_rkey = w->key;
		break;
	default:
		c->imm_data = htonl(w->imm);
	}
	if (w->ah) {
		c->wr.ud.ah = w->ah;
		c->wr.ud.remote_qpn = w->qpn;
		c->wr.ud.remote_qkey = w->qkey;
	} else if (w->op == IBV_WR_ATOMIC_CMP_AND_SWP || w->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		c->wr.atomic.remote_addr = w->addr;
		c->wr.atomic.rkey = w->key;
		c->wr.atomic.compare_add = w->compare_add;
		c->wr.atomic.swap = w->swap;
	} else if (w->op == IBV_WR_BIND_MW) {
		c->bind_mw.mw = w->mw;
		c->bind_mw.rkey = w->key;
		c->bind_mw.bind_info.mr = w->mr;
		c->bind_mw.bind_info.addr = w->addr;
		c->bind_mw.bind_info.length = w->length;
		c->bind_mw.bind_info.mw_access_flags = w->access;
	} else {
		c->wr.rdma.remote_addr = w->addr;
		c->wr.rdma.rkey = w->key;
	}
}

// braid_post_send posts n requests and returns how many were taken. Windows of type 1 are bound by a call of their own.
static inline int braid_post_send(struct ibv_qp *qp, const struct braid_send *w, struct ibv_sge *sge,
				  struct ibv_send_wr *c, int n, int *err)
{
	int i, k, at = 0;
	*err = 0;
	for (i = 0; i < n; i++) {
		if (w[i].op == IBV_WR_BIND_MW && w[i].mw->type == IBV_MW_TYPE_1) {
			if ((k = braid_chain(qp, c, at, i, err)) < i)
				return k;
			if ((*err = braid_bind1(qp, &w[i])))
				return i;
			at = i + 1;
			continue;
		}
		braid_fill(&c[i], &w[i], sge);
	}
	return braid_chain(qp, c, at, n, err);
}

// braid_kick has a provider look at the send queue again: it refuses the request, which has more pieces than can be.
static inline void braid_kick(struct ibv_qp *qp)
{
	static struct ibv_sge none[1024]; // some look at them before they count
	struct ibv_send_wr w, *bad = NULL;
	memset(&w, 0, sizeof(w));
	w.sg_list = none;
	w.num_sge = 1024;
	ibv_post_send(qp, &w, &bad);
}

static inline int braid_post_recv(struct ibv_qp *qp, const struct braid_recv *w, struct ibv_sge *sge,
				  struct ibv_recv_wr *c, int n, int *err)
{
	struct ibv_recv_wr *bad = NULL;
	int i;
	for (i = 0; i < n; i++) {
		c[i].wr_id = w[i].id;
		c[i].next = i + 1 < n ? &c[i + 1] : NULL;
		c[i].sg_list = sge + w[i].sge;
		c[i].num_sge = w[i].sges;
	}
	*err = ibv_post_recv(qp, c, &bad);
	return *err ? (bad ? (int)(bad - c) : 0) : n;
}

enum { SHIM_POLL = 64 };

static inline uint32_t braid_op(enum ibv_wc_opcode op)
{
	switch (op) {
	case IBV_WC_RECV:
		return 7;
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return 8;
	default:
		return op; // those of sends are in the order of rdma.WCOp
	}
}

// braid_poll takes up to SHIM_POLL completions. inv are the flags that say that a window was invalidated.
static inline int braid_poll(struct ibv_cq *cq, struct braid_wc *out, int n, unsigned inv)
{
	struct ibv_wc wc[SHIM_POLL];
	int i, k = ibv_poll_cq(cq, n < SHIM_POLL ? n : SHIM_POLL, wc);
	for (i = 0; i < k; i++) {
		out[i].id = wc[i].wr_id;
		out[i].status = wc[i].status;
		out[i].op = braid_op(wc[i].opcode);
		out[i].length = wc[i].byte_len;
		out[i].qpn = wc[i].qp_num;
		out[i].vendor = wc[i].vendor_err;
		out[i].from = wc[i].src_qp;
		out[i].flags = 0;
		out[i].imm = 0;
		if (wc[i].wc_flags & IBV_WC_WITH_IMM) {
			out[i].flags |= SHIM_WC_IMM;
			out[i].imm = ntohl(wc[i].imm_data);
		} else if (wc[i].wc_flags & inv) {
			out[i].flags |= SHIM_WC_INV;
			out[i].imm = wc[i].invalidated_rkey;
		}
		if (wc[i].wc_flags & IBV_WC_GRH)
			out[i].flags |= SHIM_WC_GRH;
	}
	return k;
}

// braid_arm asks for a wake-up, and takes what has come before it could be one.
static inline int braid_arm(struct ibv_cq *cq, int solicited, struct braid_wc *out, unsigned inv)
{
	if (ibv_req_notify_cq(cq, solicited))
		return -1;
	return braid_poll(cq, out, SHIM_POLL, inv);
}

// braid_drain takes the wake-ups off a channel.
static inline void braid_drain(struct ibv_comp_channel *ch)
{
	struct ibv_cq *cq;
	void *context;
	while (!ibv_get_cq_event(ch, &cq, &context))
		ibv_ack_cq_events(cq, 1);
}

struct braid_event {
	uint32_t type, port;
	uintptr_t object; // context of the queue pair or completion queue that it is about
};

// braid_event takes one asynchronous event; 0 if there is none.
static inline int braid_event(struct ibv_context *ctx, struct braid_event *out)
{
	struct ibv_async_event e;
	if (ibv_get_async_event(ctx, &e))
		return 0;
	memset(out, 0, sizeof(*out));
	out->type = e.event_type;
	switch (e.event_type) {
	case IBV_EVENT_CQ_ERR:
		out->object = (uintptr_t)e.element.cq->cq_context;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		out->object = (uintptr_t)e.element.qp->qp_context;
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_GID_CHANGE:
		out->port = e.element.port_num;
		break;
	default:
		break;
	}
	ibv_ack_async_event(&e);
	return 1;
}

static inline int braid_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

// Contexts of objects are numbers of ours.
static inline void braid_name_qp(struct ibv_qp *qp, uintptr_t name) { qp->qp_context = (void *)name; }
static inline struct ibv_cq *braid_create_cq(struct ibv_context *ctx, int depth, uintptr_t name, struct ibv_comp_channel *ch)
{
	return ibv_create_cq(ctx, depth, (void *)name, ch, 0);
}

// Macros and inline functions that Go can't call.
static inline struct ibv_mr *braid_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr(pd, addr, length, access);
}
static inline int braid_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *a) { return ibv_query_port(ctx, port, a); }
static inline ssize_t braid_gids(struct ibv_context *ctx, struct ibv_gid_entry *e, size_t n) { return ibv_query_gid_table(ctx, e, n, 0); }
static inline struct ibv_mw *braid_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type t, int *err)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, t);
	*err = mw ? 0 : errno;
	return mw;
}
static inline uint32_t braid_next_key(uint32_t key) { return ibv_inc_rkey(key); }

#endif
