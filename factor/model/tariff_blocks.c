/* SPDX-License-Identifier: MIT */
/* Prices of the operations of blocked factorizations at level 2. The calls of the library are in
 * tariff_gemm.c, kernels that factorize in tariff_triangles.c; here is what moves data. With w the
 * word in bytes:
 *
 * copy, transpose, explicit_v read and write mnw each, split writes its stack, fill its part: our
 * kernels' start and what the bytes add on the measured curve. laswp touches, in every column, 2
 * p.n words of the top rows, which lie together, and 2 p.n words elsewhere, each a sector of its
 * own (in L2) or an access of its own (in DRAM, by the law of strided copies), after every block
 * has read the pivots and followed p.n exchanges, six dependent integer instructions and a read of
 * shared memory each; where the profile has its surface (the block_kernel probe), that says how
 * long it takes. Kernels over a few integers only start; to clear info is queued as a copy is, and
 * takes the device no longer.
 *
 * A transfer costs the measured round trip less the call and the wait, which the host clock has
 * already; on the device it holds its direction's copy engine. The host's panels are the rate
 * surfaces of LAPACKE; potrf has half the operations of getrf of the same block. */
#include "price_blocks.h"

#include "../../lib/block_kernels.h"

#include <math.h>

enum {
	WIDEST_STRIDE = 512,  /* words, of the copy probe */
	LASWP_COLUMNS = 8,    /* of a block */
	LASWP_SWAPS = 128,    /* of a kernel */
	LU_ROWS_COLUMNS = 64, /* of a block of lu_rows */
	LU_CLUSTER = 8,       /* blocks that have so many columns right of an LU panel */
	LU_COLUMNS = 8,
	MOST_BLOCKS = 8 /* of 256 threads on a multiprocessor */
};

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

static struct price sweep(struct price_reader *r, const char *curve, double bytes)
{
	struct price price = price_kernel(r);

	price.light = true;
	price.share = price_share(r, ceil(bytes / sweep_bytes));
	price.term[TERM_MEMORY] = price_surface_traffic(r, curve, bytes);
	return price;
}

static struct price move(struct price_reader *r, struct matrix a)
{
	return sweep(r, "gpu.copy.time", 2 * price_bytes(a));
}

static struct price copy(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return sweep(r, "gpu.copy.time", 2 * price_part(uplo, a));
}

static struct price split(struct price_reader *r, struct matrix a, struct matrix to)
{
	return sweep(r, "gpu.copy.time", price_bytes(a) + price_bytes(to));
}

/* Two reads and a write of half of it. */
static struct price add(struct price_reader *r, struct matrix blocks)
{
	return sweep(r, "gpu.copy.time", 1.5 * price_bytes(blocks));
}

static struct price fill(struct price_reader *r, enum uplo uplo, struct matrix a)
{
	return sweep(r, "gpu.write.time", price_part(uplo, a));
}

/* Seconds that an element takes that lies apart from all others, read and written: two thirds of
 * what the widest strided copy takes for one, which reads in one place and, to write a part of a
 * sector, reads and writes in another. */
static double scattered(struct price_reader *r, int64_t ld)
{
	double stride = fmin((double)ld, WIDEST_STRIDE);

	return 2.0 / 3 * 2 * sizeof(float) /
	       price_surface2(r, "gpu.copy.stride", "words", 0, "stride", stride);
}

/* What all multiprocessors read lies in either half of an L2 that has two. */
static bool in_l2(struct price_reader *r, struct matrix a)
{
	return price_bytes(a) <= price_near_l2(r);
}

/* Seconds to read so many pivots and to follow the exchanges. */
static double compose(struct price_reader *r, int64_t swaps)
{
	return (double)swaps * (6 * price_scalar(r, "gpu.int.logic.latency") +
	                               price_scalar(r, "gpu.shared.latency")) +
	       2 * price_scalar(r, "gpu.l2.latency");
}

static struct price reckoned_laswp(struct price_reader *r, struct matrix a, int64_t swaps)
{
	double word = (double)precision_bytes(a.precision);
	double elements = (double)swaps * (double)a.n;
	double apart = in_l2(r, a) ? 2 * price_scalar(r, "gpu.l2.sector") : 0;
	struct price price = sweep(r, "gpu.copy.time", elements * (2 * word + apart));

	if (!in_l2(r, a))
		price.term[TERM_MEMORY] += elements * scattered(r, a.ld);
	price.share = price_share(r, ceil((double)a.n / LASWP_COLUMNS));
	price.term[TERM_BARRIER] = compose(r, swaps);
	return price;
}

/* Seconds that a price's kernels have multiprocessors. */
static double stay(const struct price *price)
{
	double seconds = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		seconds += t == TERM_LAUNCH ? 0 : price->term[t];
	return seconds;
}

/* All blocks of its kernels fit at once, and stay until the last column. */
static struct price laswp(struct price_reader *r, struct matrix a, int64_t swaps)
{
	static const char *const axes[] = {"swaps", "n", "cold"};
	const double at[] = {(double)swaps, (double)a.n, !in_l2(r, a)};
	const char *name = a.precision == SINGLE ? "gpu.laswp.s" : "gpu.laswp.d";
	struct price price = reckoned_laswp(r, a, swaps);

	if (price_known(r, name))
		price = price_as_measured(price, price_surface(r, name, axes, at, 3));
	price.block = stay(&price) / ceil((double)swaps / LASWP_SWAPS);
	return price;
}

/* A shuffle for every row of the triangle and an FMA for every two. */
static double lu_solve(struct price_reader *r, struct matrix c, int64_t k)
{
	bool single = c.precision == SINGLE;

	return (double)k *
	       (price_scalar(r, "gpu.warp.shuffle.latency") +
	               price_scalar(r, single ? "gpu.fma.s.latency" : "gpu.fma.d.latency"));
}

/* How often a multiprocessor gets blocks that hold the triangle, and their columns twice, in shared
 * memory. */
static double lu_top_waves(struct price_reader *r, struct matrix c, int64_t k)
{
	const double wide = k <= 64 ? 64 : 128, word = (double)precision_bytes(c.precision),
	             bytes = wide * (wide + 2 * LU_COLUMNS) * word,
	             places = fmin(
	                     MOST_BLOCKS, floor(price_scalar(r, "gpu.shared.per_block") / bytes));

	return ceil(ceil((double)c.n / LU_COLUMNS) /
	            (larger(1, places) * price_scalar(r, "gpu.sm.count")));
}

/* The exchange of rows, whose blocks go through the triangle as well. */
static struct price lu_top(struct price_reader *r, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"swaps", "n", "cold"};
	const double at[] = {(double)k, (double)c.n, !in_l2(r, c)};
	const char *name = c.precision == SINGLE ? "gpu.lu_top.s" : "gpu.lu_top.d";
	struct price price = laswp(r, c, k);

	price.term[TERM_BARRIER] += lu_solve(r, c, k);
	if (price_known(r, name))
		price = price_as_measured(price, price_surface(r, name, axes, at, 3));
	price.block = stay(&price) / lu_top_waves(r, c, k);
	price.early = true;
	return price;
}

/* In one kernel: the pivots and the rows they name, one after the other; the solution; the other
 * operations and the bytes of a block. */
static struct price one_kernel(struct price_reader *r, struct matrix c, int64_t k)
{
	double blocks = LU_CLUSTER * ceil((double)c.n / LU_COLUMNS), rows = (double)(c.m - k);
	const char *rate = c.precision == SINGLE ? "gpu.fma.s.rate" : "gpu.fma.d.rate";
	struct price price = price_kernel(r);

	price.loose = true;
	price.early = true;
	price.share = price_share(r, blocks);
	price.term[TERM_BARRIER] = 2 * price_scalar(r, "gpu.l2.latency") + lu_solve(r, c, k);
	price.term[TERM_ARITHMETIC] = 2 * rows * (double)c.n * (double)k *
	                              price_scalar(r, "gpu.sm.count") /
	                              (blocks * price_scalar(r, rate));
	price.term[TERM_MEMORY] = rows * (double)(k + 2 * LU_COLUMNS) *
	                          (double)precision_bytes(c.precision) / LU_CLUSTER /
	                          price_scalar(r, "gpu.sm.l2_read");
	return price;
}

/* Rows that take as long: the blocks of a cluster, half of them as long as that is enough, go
 * through theirs in turns (H100: of 64 columns right of 64, less a mark's time, up to 2100 rows 10
 * us, up to 4160 13, up to 8256 17). */
static double lu_columns_rows(struct matrix c, int64_t k)
{
	const double turn = BLOCK_LU_COLUMNS_TURN / (double)precision_bytes(c.precision),
	             below = (double)(c.m - k);

	return 2 * below <= turn ? (double)c.m : (double)k + turn * ceil(below / turn);
}

/* Where the profile has the surface of the kernel the device has the kernel; else it is two. */
static struct price lu_columns(struct price_reader *r, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"m", "n"};
	const double at[] = {lu_columns_rows(c, k), (double)k};
	const char *name = c.precision == SINGLE ? "gpu.lu_columns.s" : "gpu.lu_columns.d";

	if (price_known(r, name))
		return price_as_measured(one_kernel(r, c, k), price_surface(r, name, axes, at, 2));
	return price_both(lu_top(r, c, k),
	        price_gemm(r, PLAIN, PLAIN, matrix_view(c, k, 0, c.m - k, c.n), k));
}

/* Where the profile has the surface of the kernel the device has the kernel. */
static bool reflects_columns(struct price_reader *r, struct matrix v, struct matrix c)
{
	return price_known(r, "gpu.qr_columns.s") && c.precision == SINGLE &&
	       v.n <= BLOCK_QR_COLUMNS_MAX && v.m <= BLOCK_QR_COLUMNS_ROWS;
}

/* Of as many clusters as are measured, or fewer at once. */
static struct price reflect_columns(struct price_reader *r, struct matrix v, struct matrix c)
{
	static const char *const axes[] = {"m", "n"};
	const double at[] = {(double)v.m, (double)v.n};
	struct price price = price_kernel(r);

	price.early = true;
	price.share = price_share(r, LU_CLUSTER * ceil((double)c.n / LU_COLUMNS));
	price.term[TERM_MEMORY] = price_bytes(v) / price_scalar(r, "gpu.sm.l2_read") / LU_CLUSTER;
	return price_as_measured(price, price_surface(r, "gpu.qr_columns.s", axes, at, 2));
}

/* A solve without exchanges takes what one with them takes more than they do alone, and a launch
 * and the words it moves. Where the profile does not have it: the words, the exchanges composed as
 * laswp's, the solve as the library's. */
static struct price lu_rows(
        struct price_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	static const char *const axes[] = {"swaps", "n", "cold"};
	const double at[] = {(double)k, (double)c.m, !in_l2(r, c)};
	const char *alone = c.precision == SINGLE ? "gpu.swap_rows.s" : "gpu.swap_rows.d";
	const char *name = !solves                 ? alone
	                   : c.precision == SINGLE ? "gpu.lu_rows.s"
	                                           : "gpu.lu_rows.d";
	const double words = (exchanges ? 4 : 2) * (double)k * (double)c.m;
	struct price price =
	        sweep(r, "gpu.copy.time", words * (double)precision_bytes(c.precision));

	price.loose = true;
	price.share = price_share(r, ceil((double)c.m / LU_ROWS_COLUMNS));
	price.term[TERM_BARRIER] = exchanges ? compose(r, k) : 0;
	if (price_known(r, name) && exchanges)
		price = price_as_measured(price, price_surface(r, name, axes, at, 3));
	else if (price_known(r, name))
		price.term[TERM_BARRIER] = larger(0,
		        price_surface(r, name, axes, at, 3) - price_surface(r, alone, axes, at, 3));
	else if (solves)
		price = price_both(price, price_trsm(r, LEFT, UNIT, k, c.m, c.precision));
	price.block = stay(&price);
	return price;
}

/* Columns that a wavefront has just touched are in L2 where they find room. */
static struct price rotate(struct price_reader *r, struct matrix x)
{
	return sweep(r, "gpu.copy.time", 2 * price_bytes(x));
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
        .laswp = laswp,
        .lu_columns = lu_columns,
        .lu_rows = lu_rows,
        .lu_top = lu_top,
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
        .reflects_columns = reflects_columns,
        .reflect_columns = reflect_columns,
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
