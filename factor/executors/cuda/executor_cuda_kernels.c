/* SPDX-License-Identifier: MIT */
/* The panel kernels in the cuda executor. */
#include "executor_cuda.h"

#include "lib/base/msg.h"
#include "factor/kernels/lu/panel_kernels.h"

ONE_KERNEL(scale_by, (struct matrix element, struct matrix v),
        panel_scale_by(
                v.precision, matrix_address(element), matrix_address(v), v.m, stream(executor)))

int64_t cuda_fused_work(struct executor *executor, struct matrix a)
{
	(void)executor;
	return panel_fused_work(a.m);
}

bool cuda_fused_begin(struct executor *executor, struct matrix a, void *work, struct pivots p)
{
	(void)p;
	return launched(executor,
	        panel_fused_begin(a.precision, matrix_address(a), a.m, work, stream(executor)),
	        "first search");
}

ONE_KERNEL(fused_pivot, (struct matrix a, int64_t j, void *work, struct pivots p),
        panel_fused_pivot(
                a.precision, matrix_address(a), a.ld, a.m, a.n, j, work, p.data, stream(executor)))

bool cuda_fused_update(
        struct executor *executor, struct matrix a, int64_t j, void *work, struct pivots p)
{
	(void)p;
	return launched(executor,
	        panel_fused_update(
	                a.precision, matrix_address(a), a.ld, a.m, a.n, j, work, stream(executor)),
	        "update kernel");
}

static bool geometry_of(struct cuda *x, struct matrix a, struct panel_geometry *geometry)
{
	if (!x->gpu.cooperative)
		return fault_refuse(&x->base.fault, "this GPU has no cooperative launch");
	bool (*choose)(int64_t, int64_t, int64_t, int, int64_t, struct panel_geometry *) =
	        x->base.queue == QUEUE_PANEL ? panel_geometry_beside : panel_geometry;
	if (choose(a.m, a.n, precision_bytes(a.precision), x->gpu.sm_count, x->gpu.shared_per_block,
	            geometry))
		return true;
	return fault_refuse(&x->base.fault,
	        "the panel does not fit on chip: %lld rows of %lld columns on each of %d "
	        "multiprocessors take %lld bytes of shared memory, there are %lld",
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

/* Captured panels use tags below first_tag, again in every replay. All other panels use tags from
 * first_tag on. So neither finds its own tags in the buffer. */
static const uint32_t first_tag = UINT32_C(1) << 31;

/* The error word and cuda_doubtful follow the part of the buffer that exchange_layout divides up.
 */
enum { ERROR_BYTES = 16 };

static bool clear_exchange(struct cuda *x, int64_t bytes)
{
	return cuda_ok(x, cudaMemsetAsync(x->exchange.data, 0, (size_t)bytes, stream_of(x)),
	        "clear the exchange");
}

static bool reserve_exchange(struct cuda *x, int64_t bytes)
{
	if (bytes <= x->exchange.bytes)
		return true;
	if (x->captured)
		return fault_refuse(&x->base.fault,
		        "a panel whose exchange takes %lld bytes can't be captured: %lld are there",
		        (long long)bytes, (long long)x->exchange.bytes);
	cudaFree(x->exchange.data);
	x->exchange = (struct buffer){NULL, 0};
	if (!cuda_ok(
	            x, cudaMalloc(&x->exchange.data, (size_t)bytes + ERROR_BYTES), "device memory"))
		return false;
	x->exchange.bytes = bytes;
	x->tag = first_tag;
	return clear_exchange(x, bytes + ERROR_BYTES);
}

/* `count` tags that the buffer does not hold. 0 is no tag. The buffer is cleared to 0 before tags
 * wrap around and before the first captured panel of a call. */
static bool take_tags(struct cuda *x, int64_t count, uint32_t *first)
{
	uint32_t *next = x->captured ? &x->captured_tag : &x->tag;
	const uint32_t begin = x->captured ? 1 : first_tag;
	const uint32_t end = x->captured ? first_tag : UINT32_MAX;

	if (*next < begin || *next >= end - (uint32_t)count) {
		if (!clear_exchange(x, x->exchange.bytes))
			return false;
		*next = begin;
	}
	*first = *next;
	*next += (uint32_t)count;
	return true;
}

void cuda_capture(struct cuda *x, bool captured)
{
	x->captured = captured;
	x->captured_tag = 0;
}

/* Enough for panels of n columns, in both kernels that use many multiprocessors. */
static int64_t exchange_room(const struct cuda *x, enum precision precision, int64_t n)
{
	int64_t bytes = exchange_bytes(x->gpu.sm_count, panel_resident_words(precision, n));

	return bytes > panel_grid_work() ? bytes : panel_grid_work();
}

bool cuda_reserve_exchange(struct cuda *x, int64_t widest)
{
	return reserve_exchange(x, exchange_room(x, DOUBLE, widest));
}

static int *exchange_error(struct cuda *x)
{
	return (int *)(void *)((char *)x->exchange.data + x->exchange.bytes);
}

int *cuda_doubtful(struct cuda *x)
{
	return exchange_error(x) + 1;
}

static bool panel_in_registers(struct cuda *x, struct matrix a, struct pivots p)
{
	uint32_t tag;
	return take_tags(x, a.n, &tag) &&
	       cuda_ok(x,
	               panel_grid(a.precision, matrix_address(a), a.ld, a.m, a.n, p.data,
	                       x->exchange.data, tag, exchange_error(x), stream_of(x)),
	               "grid kernel");
}

static bool panel_in_shared_memory(struct cuda *x, struct matrix a, struct pivots p)
{
	const int words = panel_resident_words(a.precision, a.n);
	struct panel_geometry geometry;
	uint32_t tag;
	if (!geometry_of(x, a, &geometry) || !take_tags(x, a.n, &tag))
		return false;
	struct exchange exchange = exchange_layout(x->exchange.data, geometry.blocks, words, tag);
	exchange.error = exchange_error(x);
	return cuda_ok(x,
	        panel_resident(a.precision, matrix_address(a), a.ld, a.m, a.n, &geometry, exchange,
	                p.data, stream_of(x)),
	        "resident kernel");
}

/* One cluster if it holds the panel; else many multiprocessors, in registers if the panel fits. */
bool cuda_resident_panel(struct executor *executor, struct matrix a, void *work, struct pivots p)
{
	struct cuda *x = self(executor);
	(void)work;
	if (!reserve_exchange(x, exchange_room(x, a.precision, a.n)))
		return false;
	if (!panel_cluster_fits(a.precision, a.m, a.n))
		return panel_grid_fits(a.precision, a.m, a.n) ? panel_in_registers(x, a, p)
		                                              : panel_in_shared_memory(x, a, p);
	return cuda_ok(x,
	        panel_cluster(a.precision, matrix_address(a), a.ld, a.m, a.n, p.data,
	                exchange_error(x), stream_of(x)),
	        "cluster kernel");
}

/* The kernels report a timeout in the word behind the exchange buffer. */
bool cuda_exchange_ok(struct cuda *x)
{
	int words[2] = {0}; /* the error, cuda_doubtful */
	if (!x->exchange.data)
		return true;
	if (!cuda_ok(x,
	            cudaMemcpyAsync(words, exchange_error(x), sizeof words, cudaMemcpyDeviceToHost,
	                    stream_of(x)),
	            "read the exchange's error") ||
	        !cuda_sync(&x->base))
		return false;
	if (!words[0] && !words[1])
		return true;
	if (!cuda_ok(x, cudaMemsetAsync(exchange_error(x), 0, sizeof words, stream_of(x)),
	            "clear the error"))
		return false;
	if (words[0])
		return fault_set(&x->base.fault, "the resident panel kernel gave up: a block "
		                                 "waited more than a second for another");
	fault_set(&x->base.fault, "gels: R's diagonal spans more than 1 / (n eps): A is nearly "
	                          "rank deficient, or its columns are of very different sizes");
	return true;
}
