/* SPDX-License-Identifier: MIT */
/* Costs of the operations of blocked factorizations at level 2: those that move data. Library calls
 * are in cost_gemm.c, kernels that factorize in cost_triangles.c, LU's row swaps in
 * cost_lu.c.
 *
 * copy, transpose, explicit_v read and write mnw bytes each (w: bytes of a word), split writes its
 * stack, fill its part: the start of our kernel, and the time that the bytes add on the measured
 * curve. Kernels over a few integers only start. Clearing info is queued as a copy, and takes the
 * device no longer.
 *
 * A transfer costs the measured round trip less the call and the wait, which the host's clock
 * counts. It occupies the copy engine of its direction. The host's panels are the surfaces of
 * LAPACKE; potrf has half the operations of getrf of the same block. */
#include "cost_blocks.h"

#include "factor/kernels/gemm/half_pair.h"

#include <math.h>

static struct cost move(struct cost_reader *r, struct matrix a)
{
	return cost_sweep(r, "gpu.copy.time", 2 * cost_bytes(a));
}

static struct cost copy(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return cost_sweep(r, "gpu.copy.time", 2 * cost_part(uplo, a));
}

/* The cost of a kernel of ours that only moves numbers, by its own surface. */
static struct cost measured(struct cost cost, double seconds)
{
	cost.term[TERM_MEMORY] = fmax(0, seconds - cost.term[TERM_LAUNCH]);
	return cost;
}

/* The surfaces are of two operands with the same number of columns. */
static struct cost split(struct cost_reader *r, const struct splits *splits)
{
	static const char *const axes[] = {"n", "k"};
	const struct splitting *one = &splits->of[0];
	const bool half = one->stack == HALF_PAIR;
	const char *name = half ? "gpu.half_pair.s" : "gpu.tf32_split.s";
	const double k = (double)(one->trans == PLAIN ? one->a.m : one->a.n);
	const double rows = half ? (double)half_rows((int64_t)k) : tf32_slots(TF32_LEFT) * k;
	struct cost cost = cost_sweep(r, "gpu.copy.time", cost_splits(splits));
	double words = 0;

	for (int i = 0; i < splits->count; i++)
		words += (double)(splits->of[i].to.m * splits->of[i].to.n);
	const double at[] = {words / rows / 2, k};
	return cost_known(r, name) ? measured(cost, cost_surface(r, name, axes, at, 2)) : cost;
}

/* The rows below the blocks; the surface is of squares. */
static struct cost apply_swaps(struct cost_reader *r, struct matrix a)
{
	static const char *const names[] = {"gpu.apply_swaps.s", "gpu.apply_swaps.d"};
	const char *name = names[a.precision == DOUBLE];
	const struct matrix below = matrix_view(a, a.n / 2, 0, a.m - a.n / 2, a.n);
	const double side = sqrt(2 * (double)below.m * (double)below.n);
	struct cost cost = move(r, below);

	return cost_known(r, name) ? measured(cost, cost_surface1(r, name, "n", side)) : cost;
}

/* Two reads of half of the blocks, and a write. */
static struct cost add(struct cost_reader *r, struct matrix blocks)
{
	return cost_sweep(r, "gpu.copy.time", 1.5 * cost_bytes(blocks));
}

static struct cost fill(struct cost_reader *r, enum uplo uplo, struct matrix a)
{
	return cost_sweep(r, "gpu.write.time", cost_part(uplo, a));
}

/* Columns that a wavefront has just touched are still in L2 if they fit. */
static struct cost rotate(struct cost_reader *r, struct matrix x)
{
	return cost_sweep(r, "gpu.copy.time", 2 * cost_bytes(x));
}

/* A block of threads has a pair of columns. It reads the two elements that define the rotation,
 * then reads the columns from L2 and writes them, on one multiprocessor. */
static struct cost make_rotations(struct cost_reader *r, struct matrix x)
{
	struct cost cost = rotate(r, x);
	double pairs = (double)x.n / 2, each = 2 * cost_bytes(x) / pairs;

	cost.share = cost_share(r, pairs);
	cost.term[TERM_MEMORY] = fmax(cost.term[TERM_MEMORY],
	        each / cost_scalar(r, "gpu.sm.l2_read") + cost_scalar(r, "gpu.l2.latency"));
	cost.term[TERM_BARRIER] = cost_scalar(r, "gpu.l2.latency") +
	                           cost_at(r, "gpu.barrier.block", "threads", 512);
	return cost;
}

static struct cost integers(struct cost_reader *r, int64_t count)
{
	struct cost cost = cost_kernel(r);

	cost.share = cost_share(r, 1);
	return cost;
}

static struct cost clear(struct cost_reader *r)
{
	double call = cost_scalar(r, "gpu.copy.enqueue");

	return (struct cost){
	        .enqueue = call, .share = cost_share(r, 1), .term[TERM_LAUNCH] = call};
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

static struct cost to_host(struct cost_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", cost_bytes(a), ENGINE_OUT);
}

/* Data that the host has just written lies in the core's caches, from which the copy engine reads.
 */
static struct cost to_device(struct cost_reader *r, struct matrix a)
{
	static const char written[] = "link.h2d.written.time";
	const bool cached = r->host_wrote && isfinite(cost_last(r, written, "bytes"));

	return transfer(r, cached ? written : "link.h2d.pinned.time", cost_bytes(a), ENGINE_IN);
}

/* ---- the host's panels ---- */

/* A panel computed by the host. The surfaces are of panels that the host has just copied; panels
 * that a copy engine has just written take as long. */
static struct cost by_host(double seconds)
{
	return (struct cost){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

/* Pivots and tau wait in pinned memory until those of an earlier panel have left it. */
static double note(struct cost_reader *r)
{
	static const char name[] = "gpu.event.sync";

	return cost_known(r, name) ? cost_scalar(r, name) : 0;
}

static struct cost host_getrf(struct cost_reader *r, struct matrix a)
{
	return by_host(note(r) + cost_host_getrf(r, a));
}

static struct cost host_geqrf(struct cost_reader *r, struct matrix a)
{
	return by_host(note(r) + cost_host_geqrf(r, a));
}

static struct cost host_potrf(struct cost_reader *r, struct matrix a)
{
	return by_host(cost_host_potrf(r, a));
}

/* ---- events ---- */

/* Host time to record an event or to wait for one. Behind a kernel it takes somewhat longer, which
 * adds a few microseconds to a whole factorization. */
static double event(struct cost_reader *r)
{
	return cost_scalar(r, "gpu.event.record");
}

/* The extra delay of a kernel behind an event of another queue, against one in its own queue. */
static double stream_wait(struct cost_reader *r)
{
	return fmax(0, cost_scalar(r, "gpu.concurrent.stream_wait_idle") -
	                       cost_scalar(r, "gpu.concurrent.dependent_idle"));
}

const struct block_cost_model blocks_cuda_full = {.gemm = cost_gemm,
        .split = split,
        .gemm_tf32 = cost_gemm_tf32,
        .half_update = cost_half_update,
        .gemm_tall = cost_gemm_tall,
        .add = add,
        .syrk = cost_syrk,
        .trsm = cost_trsm,
        .trsm_guard = cost_trsm_guard,
        .gemv = cost_gemv,
        .column_norms = cost_gram_norms,
        .gram_pass = cost_gram_pass,
        .gram_shaped = cost_gram_shaped,
        .gram_panel = cost_gram_panel,
        .gram_apply = cost_gram_apply,
        .make_rotations = make_rotations,
        .rotate = rotate,
        .trtri = cost_trtri,
        .apply_swaps = apply_swaps,
        .laswp = cost_laswp,
        .lu_columns = cost_lu_columns,
        .lu_rows = cost_lu_rows,
        .lu_top = cost_lu_top,
        .integers = integers,
        .clear = clear,
        .potrf_block = cost_potrf_block,
        .panel_geqrf = cost_panel_geqrf,
        .explicit_v = move,
        .larft = cost_larft,
        .panel_reflects = cost_panel_reflects,
        .panel_reflectors = cost_panel_reflectors,
        .band_fits = cost_band_fits,
        .band_sweep = cost_band_sweep,
        .reflects_columns = cost_reflects_columns,
        .reflect_columns = cost_reflect_columns,
        .transpose = move,
        .copy = copy,
        .fill = fill,
        .to_host = to_host,
        .to_device = to_device,
        .host_getrf = host_getrf,
        .host_geqrf = host_geqrf,
        .host_potrf = host_potrf,
        .event = event,
        .stream_wait = stream_wait};
