/* SPDX-License-Identifier: MIT */
/* The cuda executor's operations that are our own kernels. */
#include "executor_cuda.h"

#include "../../lib/msg.h"
#include "../../lib/panel_kernels.h"

bool cuda_scale_by(struct executor *executor, struct matrix element, struct matrix v)
{
	struct cuda *x = self(executor);
	return cuda_ok(x,
	        panel_scale_by(
	                v.precision, matrix_address(element), matrix_address(v), v.m, stream_of(x)),
	        "scale");
}

int64_t cuda_fused_work(struct executor *executor, struct matrix a)
{
	(void)executor;
	return panel_fused_work(a.m);
}

bool cuda_fused_begin(struct executor *executor, struct matrix a, void *work, struct pivots p)
{
	struct cuda *x = self(executor);
	(void)p;
	return cuda_ok(x,
	        panel_fused_begin(a.precision, matrix_address(a), a.m, work, stream_of(x)),
	        "first search");
}

bool cuda_fused_pivot(
        struct executor *executor, struct matrix a, int64_t j, void *work, struct pivots p)
{
	struct cuda *x = self(executor);
	return cuda_ok(x,
	        panel_fused_pivot(a.precision, matrix_address(a), a.ld, a.m, a.n, j, work, p.data,
	                stream_of(x)),
	        "pivot kernel");
}

bool cuda_fused_update(
        struct executor *executor, struct matrix a, int64_t j, void *work, struct pivots p)
{
	struct cuda *x = self(executor);
	(void)p;
	return cuda_ok(x,
	        panel_fused_update(
	                a.precision, matrix_address(a), a.ld, a.m, a.n, j, work, stream_of(x)),
	        "update kernel");
}

static bool geometry_of(struct cuda *x, struct matrix a, struct panel_geometry *geometry)
{
	if (!x->gpu.cooperative)
		return fault_set(&x->base.fault, "this GPU has no cooperative launch");
	bool (*choose)(int64_t, int64_t, int64_t, int, int64_t, struct panel_geometry *) =
	        x->base.queue == QUEUE_PANEL ? panel_geometry_beside : panel_geometry;
	if (choose(a.m, a.n, precision_bytes(a.precision), x->gpu.sm_count, x->gpu.shared_per_block,
	            geometry))
		return true;
	return fault_set(&x->base.fault,
	        "the panel does not fit on chip: %lld rows of %lld columns on each of %d "
	        "multiprocessors "
	        "take %lld bytes of shared memory, there are %lld",
	        (long long)geometry->rows_per_block, (long long)a.n, x->gpu.sm_count,
	        (long long)geometry->shared_bytes, (long long)x->gpu.shared_per_block);
}

bool cuda_resident_fits(struct executor *executor, struct matrix a)
{
	struct panel_geometry geometry;
	return panel_cluster_fits(a.precision, a.m, a.n) ||
	       panel_grid_fits(a.precision, a.m, a.n) || geometry_of(self(executor), a, &geometry);
}

int64_t cuda_resident_work(struct executor *executor, struct matrix a)
{
	(void)executor;
	(void)a;
	return 0;
}

/* A zeroed buffer whose tags have not been used: 0 is never a tag, and the buffer is cleared before
 * tags wrap around. The error word stands behind the part that exchange_layout hands out. */
static bool prepare_exchange(struct cuda *x, int64_t bytes, uint32_t rounds)
{
	bool grow = bytes > x->exchange.bytes;
	if (!grow && x->tag < UINT32_MAX - rounds)
		return true;
	if (grow) {
		cudaFree(x->exchange.data);
		x->exchange = (struct buffer){NULL, 0};
		if (!cuda_ok(x, cudaMalloc(&x->exchange.data, (size_t)bytes + 16), "device memory"))
			return false;
		x->exchange.bytes = bytes;
	}
	x->tag = 1;
	return cuda_ok(x,
	        cudaMemsetAsync(x->exchange.data, 0, (size_t)x->exchange.bytes + 16, stream_of(x)),
	        "clear the exchange");
}

/* For panels of n columns of either kernel of many multiprocessors. */
static int64_t exchange_room(const struct cuda *x, enum precision precision, int64_t n)
{
	int64_t bytes = exchange_bytes(x->gpu.sm_count, panel_resident_words(precision, n));

	return bytes > panel_grid_work() ? bytes : panel_grid_work();
}

bool cuda_reserve_exchange(struct cuda *x, int64_t widest)
{
	return prepare_exchange(x, exchange_room(x, DOUBLE, widest), 0);
}

static int *exchange_error(struct cuda *x)
{
	return (int *)(void *)((char *)x->exchange.data + x->exchange.bytes);
}

static bool panel_in_registers(struct cuda *x, struct matrix a, struct pivots p)
{
	uint32_t tag = x->tag;
	x->tag += (uint32_t)a.n;
	return cuda_ok(x,
	        panel_grid(a.precision, matrix_address(a), a.ld, a.m, a.n, p.data, x->exchange.data,
	                tag, exchange_error(x), stream_of(x)),
	        "grid kernel");
}

static bool panel_in_shared_memory(struct cuda *x, struct matrix a, struct pivots p)
{
	const int words = panel_resident_words(a.precision, a.n);
	struct panel_geometry geometry;
	if (!geometry_of(x, a, &geometry))
		return false;
	struct exchange exchange =
	        exchange_layout(x->exchange.data, geometry.blocks, words, x->tag);
	exchange.error = exchange_error(x);
	x->tag += (uint32_t)a.n;
	return cuda_ok(x,
	        panel_resident(a.precision, matrix_address(a), a.ld, a.m, a.n, &geometry, exchange,
	                p.data, stream_of(x)),
	        "resident kernel");
}

/* On one cluster when it holds the panel, on many multiprocessors otherwise, in their registers
 * when these do. */
bool cuda_resident_panel(struct executor *executor, struct matrix a, void *work, struct pivots p)
{
	struct cuda *x = self(executor);
	(void)work;
	if (!prepare_exchange(x, exchange_room(x, a.precision, a.n), (uint32_t)a.n))
		return false;
	if (!panel_cluster_fits(a.precision, a.m, a.n))
		return panel_grid_fits(a.precision, a.m, a.n) ? panel_in_registers(x, a, p)
		                                              : panel_in_shared_memory(x, a, p);
	return cuda_ok(x,
	        panel_cluster(a.precision, matrix_address(a), a.ld, a.m, a.n, p.data,
	                exchange_error(x), stream_of(x)),
	        "cluster kernel");
}

/* The kernels report a wait that timed out behind the exchange buffer. */
bool cuda_exchange_ok(struct cuda *x)
{
	int error = 0;
	if (!x->exchange.data)
		return true;
	if (!cuda_ok(x,
	            cudaMemcpyAsync(&error, exchange_error(x), sizeof error, cudaMemcpyDeviceToHost,
	                    stream_of(x)),
	            "read the exchange's error") ||
	        !cuda_sync(&x->base))
		return false;
	return error == 0 || fault_set(&x->base.fault, "the resident panel kernel gave up: a block "
	                                               "waited more than a second for another");
}
