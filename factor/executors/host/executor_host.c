/* SPDX-License-Identifier: MIT */
/* The host executor: operations on host memory, complete when their call returns. Its lifetime,
 * memory, copies, timing and threads. */
#include "executor_host.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 256 };

/* ---- OpenBLAS's number of threads while host executors exist, which several threads may open ----
 */

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static int all_threads, most_threads, executors;

static void host_threads_open(void)
{
	pthread_mutex_lock(&threads_lock);
	if (executors++ == 0)
		all_threads = openblas_get_num_threads();
	openblas_set_num_threads(1);
	pthread_mutex_unlock(&threads_lock);
}

static void host_threads_close(void)
{
	pthread_mutex_lock(&threads_lock);
	if (--executors == 0)
		openblas_set_num_threads(all_threads);
	pthread_mutex_unlock(&threads_lock);
}

void host_threads_most(int threads)
{
	most_threads = threads;
}

void host_threads_begin(bool all)
{
	const bool fewer = most_threads > 0 && most_threads < all_threads;

	openblas_set_num_threads(!all ? 1 : fewer ? most_threads : all_threads);
}

void host_threads_end(void)
{
	openblas_set_num_threads(1);
}

int executor_host_threads(void)
{
	return all_threads;
}

/* ---- lifetime and memory ---- */

void host_destroy(struct executor *e)
{
	struct host_executor *h = (struct host_executor *)e;

	for (int i = 0; i < EXECUTOR_STAGES; i++)
		free(h->stages[i].data);
	free(h->marks);
	host_threads_close();
	free(h);
}

bool host_alloc(struct executor *e, int64_t bytes, void **data)
{
	size_t rounded = ((size_t)(bytes > 0 ? bytes : 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	*data = bytes < 0 ? NULL : aligned_alloc(ALIGNMENT, rounded);
	if (!*data)
		return fault_refuse(&e->fault,
		        "no %" PRId64 " bytes of host memory: choose a smaller panel", bytes);
	return true;
}

void host_release(struct executor *e, void *data)
{
	(void)e;
	free(data);
}

static void copy_columns(
        struct matrix shape, const void *from, int64_t from_ld, void *to, int64_t to_ld)
{
	int64_t word = precision_bytes(shape.precision);

	for (int64_t j = 0; j < shape.n; j++)
		memcpy((char *)to + j * to_ld * word, (const char *)from + j * from_ld * word,
		        (size_t)(shape.m * word));
}

bool host_upload(struct executor *e, const void *host, int64_t host_ld, struct matrix a)
{
	(void)e;
	copy_columns(a, host, host_ld, matrix_address(a), a.ld);
	return true;
}

bool host_download(struct executor *e, struct matrix a, void *host, int64_t host_ld)
{
	(void)e;
	copy_columns(a, matrix_address(a), a.ld, host, host_ld);
	return true;
}

bool host_duplicate(struct executor *e, struct matrix from, struct matrix to)
{
	(void)e;
	copy_columns(from, matrix_address(from), from.ld, matrix_address(to), to.ld);
	return true;
}

bool host_read_pivots(struct executor *e, struct pivots p, int *host_ipiv, int *info)
{
	(void)e;
	memcpy(host_ipiv, p.data, (size_t)p.n * sizeof *host_ipiv);
	*info = p.data[p.n];
	return true;
}

bool host_sync(struct executor *e)
{
	(void)e;
	return true;
}

bool host_mark(struct executor *e, int64_t index)
{
	struct host_executor *h = (struct host_executor *)e;

	if (index >= h->mark_count) {
		h->mark_count = 2 * index + 64;
		h->marks = xrealloc(h->marks, (size_t)h->mark_count * sizeof *h->marks);
	}
	h->marks[index] = clock_now();
	return true;
}

bool host_elapsed(struct executor *e, int64_t from, int64_t to, double *seconds)
{
	const struct host_executor *h = (struct host_executor *)e;

	*seconds = h->marks[to] - h->marks[from];
	return true;
}

/* Events need no action: each operation is complete when its call returns. */
static bool host_event(struct executor *e, int event)
{
	if (event < 0 || event >= EXECUTOR_EVENTS)
		return fault_set(&e->fault, "event %d is not below %d", event, EXECUTOR_EVENTS);
	return true;
}

bool host_stage(struct executor *e, int stage, int64_t m, int64_t n, enum precision precision,
        struct matrix *host)
{
	struct host_executor *h = (struct host_executor *)e;
	int64_t bytes = m * n * precision_bytes(precision);

	if (bytes > h->stages[stage].bytes) {
		e->ops->release(e, h->stages[stage].data);
		h->stages[stage].bytes = 0;
		if (!e->ops->alloc(e, bytes, &h->stages[stage].data))
			return false;
		h->stages[stage].bytes = bytes;
	}
	*host = (struct matrix){h->stages[stage].data, 0, m, n, m, precision};
	return true;
}

bool host_store_pivots(struct executor *e, const int *ipiv, int info, struct pivots p)
{
	(void)e;
	if (p.n > 0)
		memcpy(p.data, ipiv, (size_t)p.n * sizeof *ipiv);
	p.data[p.n] = info;
	return true;
}

/* The same as other functions. */
#define host_lu_top lu_top_by_calls
#define host_lu_columns lu_columns_by_calls
#define host_iamax_host host_iamax
#define host_resident_work host_fused_work
#define host_to_host host_duplicate
#define host_to_device host_duplicate
#define host_record host_event
#define host_wait host_event
#define host_wait_host host_event

/* For GPUs only. */
#define host_gram_scale NULL
#define host_panel_reflects NULL
#define host_panel_reflectors NULL
#define host_updates_panel NULL
#define host_update_panel NULL
#define host_reflects_columns NULL
#define host_reflect_columns NULL
#define host_band_fits NULL
#define host_band_work NULL
#define host_band_sweep NULL

static const struct executor_ops operations = {
#define FUNCTION(type, name, parameters) .name = host_##name,
#include "factor/executors/operations.h"
};

struct executor *executor_host_new(struct fault *fault)
{
	static const struct split_limits limits = {
	        .side = 16, .depth = 4, .alignment = 4, .use = 16, .half = true};

	struct host_executor *executor = calloc(1, sizeof *executor);

	if (!executor) {
		fault_set(fault, "out of host memory");
		return NULL;
	}
	executor->base = (struct executor){.ops = &operations,
	        .name = "host",
	        .on_host = true,
	        .rows_most = {EXECUTOR_LU_ROWS, EXECUTOR_LU_ROWS},
	        .splits = &limits,
	        .tuning = tuning_hopper};
#ifdef _SC_LEVEL2_CACHE_SIZE
	executor->l2_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
	host_threads_open();
	return &executor->base;
}
