/* SPDX-License-Identifier: MIT */
/* Costs on the device at level 2 of operations that move data. A sweep costs the start of our
 * kernel and the time that its bytes add on the measured curve. Clearing info is queued as a copy,
 * and takes the device no longer. A transfer costs the measured round trip less the call and the
 * wait, which the host's clock counts. It occupies the copy engine of its direction. */
#include "cost_blocks.h"

#include "factor/kernels/gemm/half_pair.h"

#include <math.h>

/* The surfaces are of two operands with the same number of columns. */
struct cost cost_split(struct cost_reader *r, const struct splits *splits)
{
	static const char *const axes[] = {"n", "k"};
	const struct splitting *one = &splits->of[0];
	const bool half = one->stack == HALF_PAIR;
	const char *name = half ? "gpu.half_pair.s" : "gpu.tf32_split.s";
	const double k = (double)(one->trans == PLAIN ? one->a.m : one->a.n);
	const double rows = half ? (double)half_rows((int64_t)k) : tf32_slots(TF32_LEFT) * k;
	struct cost cost = cost_sweep(r, "gpu.copy.time", cost_splits(splits));
	double words = 0;

	cost.enqueue = cost_enqueue_early(r);
	for (int i = 0; i < splits->count; i++)
		words += (double)(splits->of[i].to.m * splits->of[i].to.n);
	const double at[] = {words / rows / 2, k};
	return cost_if_measured(r, cost, name, axes, at, 2);
}

/* The rows below the blocks; the surface is of squares. */
struct cost cost_apply_swaps(struct cost_reader *r, struct matrix a)
{
	static const char *const axes[] = {"n"};
	const struct matrix below = matrix_view(a, a.n / 2, 0, a.m - a.n / 2, a.n);
	const double side = sqrt(2 * (double)below.m * (double)below.n);

	return cost_if_measured(r, cost_sweep(r, "gpu.copy.time", 2 * cost_bytes(below)),
	        OF_PRECISION("gpu.apply_swaps", a.precision), axes, &side, 1);
}

/* A block of threads has a pair of columns. It reads the two elements that define the rotation,
 * then reads the columns from L2 and writes them, on one multiprocessor. */
struct cost cost_make_rotations(struct cost_reader *r, struct matrix x)
{
	struct cost cost = cost_sweep(r, "gpu.copy.time", 2 * cost_bytes(x));
	double pairs = (double)x.n / 2, each = 2 * cost_bytes(x) / pairs;

	cost.share = cost_share(r, pairs);
	cost.term[TERM_MEMORY] = fmax(cost.term[TERM_MEMORY],
	        each / cost_scalar(r, "gpu.sm.l2_read") + cost_scalar(r, "gpu.l2.latency"));
	cost.term[TERM_BARRIER] =
	        cost_scalar(r, "gpu.l2.latency") + cost_at(r, "gpu.barrier.block", "threads", 512);
	return cost;
}

struct cost cost_clear_info(struct cost_reader *r, int64_t count)
{
	double call = cost_scalar(r, "gpu.copy.enqueue");

	return (struct cost){.enqueue = call, .share = cost_share(r, 1), .term[TERM_LAUNCH] = call};
}

static struct cost transfer(
        struct cost_reader *r, const char *curve, double bytes, enum engine engine)
{
	double call = cost_scalar(r, "gpu.copy.enqueue");
	double whole = cost_surface1(r, curve, "bytes", bytes);

	return (struct cost){.enqueue = call,
	        .term[TERM_TRANSFER] = fmax(0, whole - call - cost_wait(r)),
	        .behind = cost_hand_over(r),
	        .engine = engine};
}

struct cost cost_to_host(struct cost_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", cost_bytes(a), ENGINE_OUT);
}

struct cost cost_store_pivots(struct cost_reader *r, int64_t n)
{
	return transfer(r, "link.h2d.pinned.time", (double)(n + 1) * sizeof(int), ENGINE_IN);
}

/* Data that the host has just written lies in the core's caches, from which the copy engine reads.
 */
struct cost cost_to_device(struct cost_reader *r, struct matrix a)
{
	static const char written[] = "link.h2d.written.time";
	const bool cached = r->host_wrote && isfinite(cost_last(r, written, "bytes"));

	return transfer(r, cached ? written : "link.h2d.pinned.time", cost_bytes(a), ENGINE_IN);
}

/* Sweeps, and kernels over a few integers, which only start. */
struct cost cost_moves(struct cost_reader *r, struct operation_work work)
{
	struct cost cost;

	switch (work.kind) {
	case WORK_READ:
		return cost_sweep(r, "gpu.read.time", work.amount);
	case WORK_WRITE:
		return cost_sweep(r, "gpu.write.time", work.amount);
	case WORK_INTEGERS:
		cost = cost_kernel(r);
		cost.share = cost_share(r, 1);
		return cost;
	case WORK_COPY:
		return cost_sweep(r, "gpu.copy.time", work.amount);
	default:
		return cost_cuda_level1.by_work(r, work);
	}
}

/* ---- events ---- */

/* The event is on an idle stream. */
double cost_query(struct cost_reader *r)
{
	static const char name[] = "gpu.event.sync";

	return cost_known(r, name)
	               ? fmax(0, cost_scalar(r, name) - cost_scalar(r, "gpu.event.record"))
	               : 0;
}

/* Host time to record an event or to wait for one. Behind a kernel it takes somewhat longer, which
 * adds a few microseconds to a whole factorization. */
double cost_event(struct cost_reader *r)
{
	return cost_scalar(r, "gpu.event.record");
}

/* The extra delay of a kernel behind an event of another queue, against one in its own queue. */
double cost_stream_wait(struct cost_reader *r)
{
	return fmax(0, cost_scalar(r, "gpu.concurrent.stream_wait_idle") -
	                       cost_scalar(r, "gpu.concurrent.dependent_idle"));
}
