//go:build linux && verbs

// libibverbs, found when it is needed and not when the program starts: who has none can run the program all the same.
#include "shim.h"
#include <dlfcn.h>
#include <stdio.h>

// FUNCTIONS are all that is called of the library; what else verbs.h has is inline.
#define FUNCTIONS(F) \
	F(struct ibv_device **, ibv_get_device_list, (int *a), (a)) \
	F(const char *, ibv_get_device_name, (struct ibv_device *a), (a)) \
	F(struct ibv_context *, ibv_open_device, (struct ibv_device *a), (a)) \
	F(int, ibv_close_device, (struct ibv_context *a), (a)) \
	F(int, ibv_get_async_event, (struct ibv_context *a, struct ibv_async_event *b), (a, b)) \
	F(int, ibv_query_device, (struct ibv_context *a, struct ibv_device_attr *b), (a, b)) \
	F(int, ibv_query_port, (struct ibv_context *a, uint8_t b, struct _compat_ibv_port_attr *c), (a, b, c)) \
	F(ssize_t, _ibv_query_gid_table, (struct ibv_context *a, struct ibv_gid_entry *b, size_t c, uint32_t d, size_t e), (a, b, c, d, e)) \
	F(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context *a), (a)) \
	F(int, ibv_dealloc_pd, (struct ibv_pd *a), (a)) \
	F(struct ibv_mr *, ibv_reg_mr, (struct ibv_pd *a, void *b, size_t c, int d), (a, b, c, d)) \
	F(struct ibv_mr *, ibv_reg_mr_iova2, (struct ibv_pd *a, void *b, size_t c, uint64_t d, unsigned int e), (a, b, c, d, e)) \
	F(int, ibv_dereg_mr, (struct ibv_mr *a), (a)) \
	F(struct ibv_comp_channel *, ibv_create_comp_channel, (struct ibv_context *a), (a)) \
	F(int, ibv_destroy_comp_channel, (struct ibv_comp_channel *a), (a)) \
	F(struct ibv_cq *, ibv_create_cq, (struct ibv_context *a, int b, void *c, struct ibv_comp_channel *d, int e), (a, b, c, d, e)) \
	F(int, ibv_destroy_cq, (struct ibv_cq *a), (a)) \
	F(int, ibv_get_cq_event, (struct ibv_comp_channel *a, struct ibv_cq **b, void **c), (a, b, c)) \
	F(struct ibv_qp *, ibv_create_qp, (struct ibv_pd *a, struct ibv_qp_init_attr *b), (a, b)) \
	F(int, ibv_modify_qp, (struct ibv_qp *a, struct ibv_qp_attr *b, int c), (a, b, c)) \
	F(int, ibv_query_qp, (struct ibv_qp *a, struct ibv_qp_attr *b, int c, struct ibv_qp_init_attr *d), (a, b, c, d)) \
	F(int, ibv_destroy_qp, (struct ibv_qp *a), (a)) \
	F(struct ibv_ah *, ibv_create_ah, (struct ibv_pd *a, struct ibv_ah_attr *b), (a, b)) \
	F(int, ibv_destroy_ah, (struct ibv_ah *a), (a)) \
	F(void, ibv_free_device_list, (struct ibv_device **a), (a)) \
	F(void, ibv_ack_async_event, (struct ibv_async_event *a), (a)) \
	F(void, ibv_ack_cq_events, (struct ibv_cq *a, unsigned int b), (a, b))

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

// Each is a function of ours with the library's name, hidden in the program (shim.h), so that the library's own calls and its providers' find theirs.
#define DEFINE(type, name, params, args) \
	static type(*library_##name) params; \
	type name params { return library_##name args; }
FUNCTIONS(DEFINE)

static int braid_find(void *library, const char *name, void **to, char *why, size_t room)
{
	if ((*to = dlsym(library, name)))
		return 1;
	snprintf(why, room, "it is too old: it has no %s", name);
	return 0;
}

int braid_load(const char *name, char *why, size_t room)
{
	static void *library; // never let go: its providers stay, too
	void *found;
	const char *text;
	if (library)
		return 1;
	if (!(found = dlopen(name, RTLD_NOW | RTLD_LOCAL))) {
		text = dlerror();
		snprintf(why, room, "%s", text ? text : "it can't be opened");
		return 0;
	}
#define FIND(type, name, params, args) \
	if (!braid_find(found, #name, (void **)&library_##name, why, room)) { \
		dlclose(found); \
		return 0; \
	}
	FUNCTIONS(FIND)
	library = found;
	return 1;
}
