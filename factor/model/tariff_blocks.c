/* SPDX-License-Identifier: MIT */
/* Prices of the operations of blocked factorizations at level 2. The calls of the library are in
 * tariff_gemm.c, kernels that factorize in tariff_triangles.c, LU's exchanges in tariff_lu.c; here
 * is what moves data. With w the word in bytes:
 *
 * copy, transpose, explicit_v read and write mnw each, split writes its stack, fill its part: our
 * kernels' start and what the bytes add on the measured curve. Kernels over a few integers only
 * start; to clear info is queued as a copy is, and takes the device no longer.
 *
 * A transfer costs the measured round trip less the call and the wait, which the host clock has
 * already; on the device it holds its direction's copy engine. The host's panels are the rate
 * surfaces of LAPACKE; potrf has half the operations of getrf of the same block. */
#include "price_blocks.h"

#include "../../lib/half_pair.h"

#include <math.h>

/* What a block of our sweeps takes care of. */
static const double sweep_bytes = 16384;

static double larger(double a, double b)
{
	return b > a ? b : a;
}

struct price price_kernel(struct price_reader *r)
{
	return (struct price){.enqueue = price_scalar(r, "gpu.launch.enqueue"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.dependent")};
}

struct price price_sweep(struct price_reader *r, const char *curve, double bytes)
{
	struct price price = price_kernel(r);

	price.light = true;
	price.share = price_share(r, ceil(bytes / sweep_bytes));
	price.term[TERM_MEMORY] = price_surface_traffic(r, curve, bytes);
	return price;
}

static struct price move(struct price_reader *r, struct matrix a)
{
	return price_sweep(r, "gpu.copy.time", 2 * price_bytes(a));
}

static struct price copy(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return price_sweep(r, "gpu.copy.time", 2 * price_part(uplo, a));
}

/* What a kernel of ours takes that only moves numbers, by its own surface. */
static struct price measured(struct price price, double seconds)
{
	price.term[TERM_MEMORY] = larger(0, seconds - price.term[TERM_LAUNCH]);
	return price;
}

/* The surfaces have two operands with as many columns each. */
static struct price split(struct price_reader *r, const struct splits *splits)
{
	static const char *const axes[] = {"n", "k"};
	const struct splitting *one = &splits->of[0];
	const bool half = one->stack == HALF_PAIR;
	const char *name = half ? "gpu.half_pair.s" : "gpu.tf32_split.s";
	const double k = (double)(one->trans == PLAIN ? one->a.m : one->a.n);
	const double rows = half ? (double)half_rows((int64_t)k) : tf32_slots(TF32_LEFT) * k;
	struct price price = price_sweep(r, "gpu.copy.time", price_splits(splits));
	double words = 0;

	for (int i = 0; i < splits->count; i++)
		words += (double)(splits->of[i].to.m * splits->of[i].to.n);
	const double at[] = {words / rows / 2, k};
	return price_known(r, name) ? measured(price, price_surface(r, name, axes, at, 2)) : price;
}

/* Of what lies below the blocks; the surface is of squares. */
static struct price settle_rows(struct price_reader *r, struct matrix a)
{
	static const char *const names[] = {"gpu.settle_rows.s", "gpu.settle_rows.d"};
	const char *name = names[a.precision == DOUBLE];
	const struct matrix below = matrix_view(a, a.n / 2, 0, a.m - a.n / 2, a.n);
	const double side = sqrt(2 * (double)below.m * (double)below.n);
	struct price price = move(r, below);

	return price_known(r, name) ? measured(price, price_surface1(r, name, "n", side)) : price;
}

/* Two reads and a write of half of it. */
static struct price add(struct price_reader *r, struct matrix blocks)
{
	return price_sweep(r, "gpu.copy.time", 1.5 * price_bytes(blocks));
}

static struct price fill(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return price_sweep(r, "gpu.write.time", price_part(uplo, a));
}

/* Columns that a wavefront has just touched are in L2 where they find room. */
static struct price rotate(struct price_reader *r, struct matrix x)
{
	return price_sweep(r, "gpu.copy.time", 2 * price_bytes(x));
}

/* A block of threads has a pair of columns: it reads the two elements that say how they are
 * rotated, then the columns, which one multiprocessor gets out of L2 and writes. */
static struct price make_rotations(struct price_reader *r, struct matrix x)
{
	struct price price = rotate(r, x);
	double pairs = (double)x.n / 2, each = 2 * price_bytes(x) / pairs;

	price.share = price_share(r, pairs);
	price.term[TERM_MEMORY] = larger(price.term[TERM_MEMORY],
	        each / price_scalar(r, "gpu.sm.l2_read") + price_scalar(r, "gpu.l2.latency"));
	price.term[TERM_BARRIER] = price_scalar(r, "gpu.l2.latency") +
	                           price_at(r, "gpu.barrier.block", "threads", 512);
	return price;
}

static struct price integers(struct price_reader *r, int64_t count)
{
	struct price price = price_kernel(r);

	(void)count;
	price.share = price_share(r, 1);
	return price;
}

static struct price clear(struct price_reader *r)
{
	double call = price_scalar(r, "gpu.copy.enqueue");

	return (struct price){
	        .enqueue = call, .share = price_share(r, 1), .term[TERM_LAUNCH] = call};
}

static struct price transfer(
        struct price_reader *r, const char *curve, double bytes, enum engine engine)
{
	double call = price_scalar(r, "gpu.copy.enqueue");
	double whole = price_surface1(r, curve, "bytes", bytes);
	double wait = larger(0, price_scalar(r, "gpu.launch.sync") -
	                                price_scalar(r, "gpu.launch.enqueue") -
	                                price_scalar(r, "gpu.launch.dependent"));

	return (struct price){.enqueue = call,
	        .term[TERM_TRANSFER] = larger(0, whole - call - wait),
	        .behind = price_hand_over(r),
	        .engine = engine};
}

static struct price to_host(struct price_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", price_bytes(a), ENGINE_OUT);
}

/* What the host has just written the copy engine must get from the core's caches. */
static struct price to_device(struct price_reader *r, struct matrix a)
{
	static const char written[] = "link.h2d.written.time";
	const bool cached = r->host_wrote && isfinite(price_last(r, written, "bytes"));

	return transfer(r, cached ? written : "link.h2d.pinned.time", price_bytes(a), ENGINE_IN);
}

/* ---- the host's panels ---- */

/* A panel computed by the host. The surfaces know it where the host has just copied it to; one that
 * a copy engine has just written takes as long (both measured, 300 x 24 to 48000 x 48). */
static struct price by_host(double seconds)
{
	return (struct price){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds};
}

/* Pivots and tau wait in pinned memory until an earlier panel's have left it. */
static double note(struct price_reader *r)
{
	static const char name[] = "gpu.event.sync";

	return price_known(r, name) ? price_scalar(r, name) : 0;
}

static struct price host_getrf(struct price_reader *r, struct matrix a)
{
	return by_host(note(r) + price_host_getrf(r, a));
}

static struct price host_geqrf(struct price_reader *r, struct matrix a)
{
	return by_host(note(r) + price_host_geqrf(r, a));
}

static struct price host_potrf(struct price_reader *r, struct matrix a)
{
	return by_host(price_host_potrf(r, a));
}

/* ---- events ---- */

/* Behind a kernel to record it or to wait for it takes the host 0.25 us on an H200, alone 0.15: a
 * few microseconds in a whole factorization. */
static double event(struct price_reader *r)
{
	return price_scalar(r, "gpu.event.record");
}

/* What a kernel behind an event of another queue starts later than behind one of its own. */
static double hop(struct price_reader *r)
{
	return larger(0, price_scalar(r, "gpu.concurrent.hop_idle") -
	                         price_scalar(r, "gpu.concurrent.dependent_idle"));
}

const struct block_tariff blocks_cuda_full = {.gemm = price_gemm,
        .split = split,
        .gemm_tf32 = price_gemm_tf32,
        .half_update = price_half_update,
        .gemm_tall = price_gemm_tall,
        .add = add,
        .syrk = price_syrk,
        .trsm = price_trsm,
        .trsm_guard = price_trsm_guard,
        .gemv = price_gemv,
        .column_norms = price_gram_norms,
        .gram_pass = price_gram_pass,
        .gram_shaped = price_gram_shaped,
        .gram_panel = price_gram_panel,
        .gram_apply = price_gram_apply,
        .make_rotations = make_rotations,
        .rotate = rotate,
        .trtri = price_trtri,
        .settle_rows = settle_rows,
        .laswp = price_laswp,
        .lu_columns = price_lu_columns,
        .lu_rows = price_lu_rows,
        .lu_top = price_lu_top,
        .integers = integers,
        .clear = clear,
        .potrf_block = price_potrf_block,
        .panel_geqrf = price_panel_geqrf,
        .explicit_v = move,
        .larft = price_larft,
        .panel_reflects = price_panel_reflects,
        .panel_reflectors = price_panel_reflectors,
        .band_fits = price_band_fits,
        .band_sweep = price_band_sweep,
        .reflects_columns = price_reflects_columns,
        .reflect_columns = price_reflect_columns,
        .transpose = move,
        .copy = copy,
        .fill = fill,
        .to_host = to_host,
        .to_device = to_device,
        .host_getrf = host_getrf,
        .host_geqrf = host_geqrf,
        .host_potrf = host_potrf,
        .event = event,
        .hop = hop};
