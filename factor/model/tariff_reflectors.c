/* SPDX-License-Identifier: MIT */
/* QR's panels, at level 2, from hardware parameters.
 *
 * panel_geqrf: its slots cleared, then one cooperative kernel with the panel in registers (128 rows
 * a block, or more by powers of two when there are not enough multiprocessors; beside an update
 * half of these). A column costs what one of the resident LU panel was measured to cost, as it has
 * its reduction, exchange and barriers; and what is different: all that all blocks sent, 8 bytes a
 * word, is read by the threads of each, eight loads at a time; two passes of FMA over the columns
 * that are left, and a shuffle for each of them. A panel that does not fit (more than 64 columns in
 * double precision) takes one kernel with two barriers of the grid a column, which reads or writes
 * three words an element; its surface is another one. In single precision and up to 64 columns it
 * takes the form with a Gram matrix, whose time is in the surface of all.
 *
 * panel_reflectors: a panel that one cluster holds, or that goes by the Gram matrix, V and T
 * included; its columns' exchanges. reflect_columns: the columns right of it, in clusters.
 *
 * Where the profile has the kernel as a surface (the block_kernel probe), the surface says how long
 * it takes, and all this what that time goes to. */
#include "price_blocks.h"

#include "../../lib/block_kernels.h"

#include <math.h>

enum {
	WARP = 32,
	SCHEDULERS = 4,
	LOADS = 8,
	TAGGED_BYTES = 8,
	STREAMED_BLOCKS = 264,
	STREAMED_THREADS = 256,
	CLUSTER = 8, /* blocks that have so many columns right of a panel */
	CLUSTER_COLUMNS = 8
};

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static const struct beside_surface geqrf_shared = {
        {"gpu.panel_geqrf_shared.s", "gpu.panel_geqrf_shared.d"}, {"m", "n"}};

/* How the resident kernel is divided: threads and the rows of each. */
struct geqrf_blocks {
	double threads, rows, blocks;
};

/* The least rows a block with which the panel fits on so many multiprocessors. */
static bool geqrf_fits(struct matrix a, double multiprocessors, struct geqrf_blocks *g)
{
	int64_t words = a.n * precision_bytes(a.precision) / 4;
	int64_t most = words <= 32 ? 1024 : words <= 64 ? 512 : words <= 128 ? 256 : 0;

	for (int64_t rows = 128; rows <= most; rows *= 2) {
		g->threads = rows < 256 ? (double)rows : 256;
		g->rows = (double)rows / g->threads;
		g->blocks = ceil((double)a.m / (double)rows);
		if (g->blocks <= multiprocessors)
			return true;
	}
	return false;
}

static double geqrf_column(
        struct price_reader *r, struct matrix a, const struct geqrf_blocks *g, double columns)
{
	double widest = a.n <= 32 ? 32 : a.n <= 64 ? 64 : 128, words = columns * word_of(a) / 4;
	double groups = fmax(1, g->threads / (widest * word_of(a) / 8));
	double rounds = ceil(g->blocks / groups / LOADS);
	double warps = g->threads / WARP;
	double column = price_surface2(r,
	        a.precision == SINGLE ? "gpu.panel.column.s" : "gpu.panel.column.d", "blocks",
	        g->blocks, "n", (double)a.n);
	double reads = rounds * price_scalar(r, "gpu.l2.latency") +
	               g->blocks * words * TAGGED_BYTES / price_scalar(r, "gpu.sm.l2_read");
	double passes = 2 * columns * g->rows * fmax(1, warps / SCHEDULERS) * price_issue(r, a) +
	                words * warps * price_scalar(r, "gpu.warp.shuffle.issue");

	return column + reads + passes;
}

static struct price resident_geqrf(
        struct price_reader *r, struct matrix a, const struct geqrf_blocks *g)
{
	double clear = price_scalar(r, "gpu.copy.enqueue"), bytes = price_bytes(a);
	struct price price = {.enqueue = clear + price_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = price_share(r, g->blocks),
	        .term[TERM_LAUNCH] = clear + price_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_MEMORY] = price_surface_traffic(r, "gpu.read.time", bytes) +
	                             price_surface_traffic(r, "gpu.write.time", bytes)};

	for (int64_t j = 0; j < a.n; j++)
		price.term[TERM_BARRIER] += geqrf_column(r, a, g, (double)(a.n - j));
	return price;
}

static struct price streamed_geqrf(struct price_reader *r, struct matrix a)
{
	double clear = price_scalar(r, "gpu.copy.enqueue");
	struct price price = {.enqueue = clear + price_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = 1,
	        .term[TERM_LAUNCH] = clear + price_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_BARRIER] = 2 * (double)a.n *
	                              price_at2(r, "gpu.barrier.grid", "blocks", STREAMED_BLOCKS,
	                                      "threads", STREAMED_THREADS)};

	for (int64_t j = 0; j < a.n; j++) {
		double bytes = (double)(a.m - j) * (double)(a.n - j) * word_of(a);
		price.term[TERM_MEMORY] += price_surface_traffic(r, "gpu.read.time", bytes) +
		                           price_surface_traffic(r, "gpu.copy.time", 2 * bytes);
	}
	return price;
}

/* Whether the panel is resident, and how it is divided then. */
static bool geqrf_resides(
        struct price_reader *r, struct matrix a, bool beside, struct geqrf_blocks *g)
{
	double multiprocessors = price_scalar(r, "gpu.sm.count");

	return (beside && geqrf_fits(a, floor(multiprocessors / 2), g)) ||
	       geqrf_fits(a, multiprocessors, g);
}

static bool by_gram(struct matrix a)
{
	return a.precision == SINGLE && panel_gram_takes(a.m, a.n);
}

/* Fewer columns than measured take the part of theirs: each costs the same. */
static double measured_geqrf(struct price_reader *r, const char *name, const double *at)
{
	static const char *const axes[] = {"m", "n", "beside"};
	const double first = price_surface_begin(r, name, axes, at, ARRAY_LEN(axes), 1),
	             start = price_scalar(r, "gpu.launch.dependent"),
	             time = price_surface(r, name, axes, at, ARRAY_LEN(axes));

	return at[1] < first ? start + fmax(0, time - start) * at[1] / first : time;
}

/* A profile without the surface of streamed panels has them in that of all. */
struct price price_panel_geqrf(struct price_reader *r, struct matrix a, bool beside)
{
	static const char *const axes[] = {"m", "n", "beside"};
	const double at[] = {(double)a.m, (double)a.n, beside};
	bool single = a.precision == SINGLE;
	const char *all = single ? "gpu.panel_geqrf.s" : "gpu.panel_geqrf.d";
	const char *columns = single ? "gpu.panel_geqrf_columns.s" : "gpu.panel_geqrf_columns.d";
	struct geqrf_blocks g;
	bool resides = geqrf_resides(r, a, beside, &g);
	struct price price = resides ? resident_geqrf(r, a, &g) : streamed_geqrf(r, a);

	/* the Gram matrix's form is in the surface of all */
	if (!resides && !by_gram(a) && price_known(r, columns))
		return price_as_measured(price, price_surface(r, columns, axes, at, 2));
	if (price_known(r, all))
		price = price_as_measured(price, measured_geqrf(r, all, at));
	if (resides)
		price.beside = price_beside(r, &price, a.precision, &geqrf_shared, at);
	return price;
}

static const char *reflectors_surface(struct matrix a)
{
	return a.precision == SINGLE ? "gpu.panel_reflectors.s" : "gpu.panel_reflectors.d";
}

bool price_panel_reflects(struct price_reader *r, struct matrix a)
{
	return price_known(r, reflectors_surface(a)) &&
	       (by_gram(a) || a.m <= panel_cluster_rows(a.n, precision_bytes(a.precision)));
}

/* In one cluster all of its columns take part (H100, 300 and 3000 rows: 48 take as long as 64), and
 * half as many go by another kernel; else on the line through the two widths that are measured. */
static double gram_reflectors(struct price_reader *r, struct matrix a)
{
	enum { HALF = PANEL_GRAM_COLUMNS / 2 };
	const char *name = reflectors_surface(a);
	const double whole = price_at2(r, name, "m", (double)a.m, "n", PANEL_GRAM_COLUMNS);

	if (panel_gram_launches(a.m) == 1)
		return whole;
	const double half = price_at2(r, name, "m", (double)a.m, "n", HALF);
	return half + (whole - half) * (double)(a.n - HALF) / HALF;
}

/* The kernel exists for rows of 32, 64 and 128 columns; all of them take part in every column. */
static double cluster_reflectors(struct price_reader *r, struct matrix a, double launch)
{
	enum { FEWEST = 16 };
	const char *name = reflectors_surface(a);
	double columns = FEWEST;

	while (columns < (double)a.n)
		columns *= 2;
	const double full = price_at2(r, name, "m", (double)a.m, "n", columns);
	return launch + fmax(0, full - launch) * (double)a.n / columns;
}

struct price price_panel_reflectors(struct price_reader *r, struct matrix a)
{
	const double at[] = {(double)a.m, (double)a.n};
	struct price price = price_kernel(r);
	const double launch = price.term[TERM_LAUNCH];
	const double seconds =
	        by_gram(a) ? gram_reflectors(r, a) : cluster_reflectors(r, a, launch);

	const int kernels = by_gram(a) ? panel_gram_launches(a.m) : 1;
	price.early = true;
	price.first = price.enqueue; /* the others follow while it runs */
	price.enqueue *= kernels;
	price.share = kernels > 1 ? 1 : price_share(r, PANEL_CLUSTER);
	price.term[TERM_BARRIER] = fmax(0, seconds - launch);
	price.beside = price_beside(r, &price, a.precision, &geqrf_shared, at);
	return price;
}

/* Where the profile has the surface of the kernel the device has the kernel. */
bool price_reflects_columns(struct price_reader *r, struct matrix v, struct matrix c)
{
	return price_known(r, "gpu.qr_columns.s") && c.precision == SINGLE &&
	       v.n <= BLOCK_QR_COLUMNS_MAX && v.m <= BLOCK_QR_COLUMNS_ROWS;
}

/* Of as many clusters as are measured, or fewer at once. */
struct price price_reflect_columns(struct price_reader *r, struct matrix v, struct matrix c)
{
	static const char *const axes[] = {"m", "n"};
	const double at[] = {(double)v.m, (double)v.n};
	struct price price = price_kernel(r);

	price.early = true;
	price.share = price_share(r, CLUSTER * ceil((double)c.n / CLUSTER_COLUMNS));
	price.term[TERM_MEMORY] = price_bytes(v) / price_scalar(r, "gpu.sm.l2_read") / CLUSTER;
	return price_as_measured(price, price_surface(r, "gpu.qr_columns.s", axes, at, 2));
}
