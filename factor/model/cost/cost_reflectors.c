/* SPDX-License-Identifier: MIT */
/* Costs of QR's panels at level 2, from hardware parameters.
 *
 * panel_geqrf: its slots are cleared, then one cooperative kernel holds the panel in registers: 128
 * rows a block, or more by powers of two where multiprocessors are few; beside an update it has
 * half of the multiprocessors. A column costs what a column of the resident LU panel was measured
 * to cost, with its reduction, exchange and barriers, and in addition: every block's threads read
 * all that the blocks sent (8 bytes a word, eight loads at a time); two passes of FMA over the
 * columns left, with a shuffle for each. A panel that does not fit (double precision, more than 64
 * columns) takes one kernel with two grid barriers a column, which moves three words an element; it
 * has its own surface. In single precision panels of up to 64 columns use a Gram matrix, whose time
 * is in the surface of all panels; in double precision that form has a surface of its own.
 *
 * panel_reflectors: a panel that one cluster holds, or that uses the Gram matrix, with V and T.
 * update_panel: the update that leaves such a panel's Gram matrix.
 * reflect_columns: the columns right of it, in clusters. Where the profile has a kernel's surface
 * (block_kernel probe), the surface gives the time, and these formulas its division into terms. */
#include "cost_blocks.h"
#include "cost_products.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemm/double_tall.h"

#include <math.h>

enum {
	LOADS = 8,
	TAGGED_BYTES = 8,
	STREAMED_BLOCKS = 2, /* per multiprocessor */
	STREAMED_THREADS = 256,
	RESIDENT_THREADS = 256, /* of a block, or half as many */
	RESIDENT_WORDS = 128,   /* of the panel in a thread's registers */
	CLUSTER = 8,            /* blocks, which share so many columns right of a panel */
	CLUSTER_COLUMNS = 8
};

/* The resident kernel's threads a block, rows a thread, and blocks. */
struct geqrf_blocks {
	double threads, rows, blocks;
};

/* The fewest rows a block with which the panel fits on so many multiprocessors. */
static bool geqrf_fits(struct matrix a, double multiprocessors, struct geqrf_blocks *g)
{
	const int64_t words = panel_columns(a.n * precision_bytes(a.precision) / 4);
	const int64_t most = RESIDENT_THREADS * (RESIDENT_WORDS / words);

	for (int64_t rows = RESIDENT_THREADS / 2; rows <= most; rows *= 2) {
		g->threads = (double)min_int64(rows, RESIDENT_THREADS);
		g->rows = (double)rows / g->threads;
		g->blocks = ceil((double)a.m / (double)rows);
		if (g->blocks <= multiprocessors)
			return true;
	}
	return false;
}

static double geqrf_column(
        struct cost_reader *r, struct matrix a, const struct geqrf_blocks *g, double columns)
{
	double words = columns * word_bytes(a) / 4;
	double groups = fmax(1, g->threads / ((double)panel_columns(a.n) * word_bytes(a) / 8));
	double rounds = ceil(g->blocks / groups / LOADS);
	double warps = g->threads / WARP;
	double column = cost_surface2(r, OF_PRECISION("gpu.panel.column", a.precision), "blocks",
	        g->blocks, "n", (double)a.n);
	double reads = rounds * cost_scalar(r, "gpu.l2.latency") +
	               g->blocks * words * TAGGED_BYTES / cost_scalar(r, "gpu.sm.l2_read");
	double passes = 2 * columns * g->rows * fmax(1, warps / SCHEDULERS) * cost_issue(r, a) +
	                words * warps * cost_scalar(r, "gpu.warp.shuffle.issue");

	return column + reads + passes;
}

static struct cost resident_geqrf(
        struct cost_reader *r, struct matrix a, const struct geqrf_blocks *g)
{
	double clear = cost_scalar(r, "gpu.copy.enqueue"), bytes = cost_bytes(a);
	struct cost cost = {.enqueue = clear + cost_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = cost_share(r, g->blocks),
	        .term[TERM_LAUNCH] = clear + cost_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_MEMORY] = cost_traffic(r, "gpu.read.time", bytes) +
	                             cost_traffic(r, "gpu.write.time", bytes)};

	for (int64_t j = 0; j < a.n; j++)
		cost.term[TERM_BARRIER] += geqrf_column(r, a, g, (double)(a.n - j));
	return cost;
}

static struct cost streamed_geqrf(struct cost_reader *r, struct matrix a)
{
	double clear = cost_scalar(r, "gpu.copy.enqueue");
	struct cost cost = {.enqueue = clear + cost_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = 1,
	        .term[TERM_LAUNCH] = clear + cost_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_BARRIER] = 2 * (double)a.n *
	                              cost_at2(r, "gpu.barrier.grid", "blocks",
	                                      STREAMED_BLOCKS * cost_scalar(r, "gpu.sm.count"),
	                                      "threads", STREAMED_THREADS)};

	for (int64_t j = 0; j < a.n; j++) {
		double bytes = (double)(a.m - j) * (double)(a.n - j) * word_bytes(a);
		cost.term[TERM_MEMORY] += cost_traffic(r, "gpu.read.time", bytes) +
		                          cost_traffic(r, "gpu.copy.time", 2 * bytes);
	}
	return cost;
}

/* Whether the panel is resident, and its blocks. */
static bool geqrf_resides(
        struct cost_reader *r, struct matrix a, bool overlapped, struct geqrf_blocks *g)
{
	double multiprocessors = cost_scalar(r, "gpu.sm.count");

	return (overlapped && geqrf_fits(a, floor(multiprocessors / 2), g)) ||
	       geqrf_fits(a, multiprocessors, g);
}

static bool has_clusters(const struct cost_reader *r)
{
	return r->tuning.device.max_cluster >= PANEL_CLUSTER;
}

/* With V and T by the Gram matrix in double precision, a form that plans ask for. */
static const char gram_double[] = "gpu.panel_geqrf_gram.d";

static const char *gram_surface(enum precision precision)
{
	return precision == DOUBLE ? gram_double : "gpu.panel_reflectors.s";
}

/* Measured; or, of a profile without that form's surface, by the hardware law. */
static double gram_time(struct cost_reader *r, enum precision precision, int64_t m, int64_t n)
{
	const char *name = gram_surface(precision);
	const double at[] = {(double)m, (double)n};

	return cost_known(r, name) || precision == SINGLE
	               ? cost_at2(r, name, "m", at[0], "n", at[1])
	               : cost_scalar(r, "gpu.launch.dependent") +
	                         cost_of_work(r, name, axes_mn, at, 2);
}

/* A profile with neither has the cost of the other forms for it. */
static bool by_gram(struct cost_reader *r, struct matrix a)
{
	return panel_gram_takes(a.precision, a.m, a.n) &&
	       (a.precision == SINGLE ||
	               (r->gram_double && isfinite(gram_time(r, DOUBLE, a.m, a.n))));
}

/* The columns of the kernel that takes the panel, where fewer columns may have another kernel. */
static double geqrf_columns(struct cost_reader *r, struct matrix a)
{
	enum { NARROWEST = 32 };
	const bool same = by_gram(r, a) && panel_gram_takes(a.precision, a.m, NARROWEST);

	return (double)(same ? a.n : panel_columns(a.n));
}

static double beside_products(
        struct cost_reader *r, const struct cost *cost, struct matrix a, const double *at)
{
	const char *shared = OF_PRECISION("gpu.panel_geqrf_shared", a.precision);

	return cost_beside(r, cost, a.precision, shared, axes_mn, at, geqrf_columns(r, a));
}

/* A profile without the surface of streamed panels has them in the surface of all. */
struct cost cost_panel_geqrf(struct cost_reader *r, struct matrix a, bool overlapped)
{
	static const char *const axes[] = {"m", "n", "overlapped"};
	const double at[] = {(double)a.m, (double)a.n, overlapped};
	const char *all = OF_PRECISION("gpu.panel_geqrf", a.precision);
	const char *columns = OF_PRECISION("gpu.panel_geqrf_columns", a.precision);
	struct geqrf_blocks g;
	bool resides = geqrf_resides(r, a, overlapped, &g);
	struct cost cost = resides ? resident_geqrf(r, a, &g) : streamed_geqrf(r, a);

	/* the Gram matrix's form is in the surface of all */
	if (!resides && !by_gram(r, a) && cost_known(r, columns))
		return cost_as_measured(cost, cost_surface(r, columns, axes_mn, at, 2));
	if (cost_known(r, all))
		cost = cost_as_measured(cost,
		        cost_surface_width(r, all, axes, at, ARRAY_LEN(axes), geqrf_columns(r, a)));
	if (resides)
		cost.overlapped = beside_products(r, &cost, a, at);
	return cost;
}

static const char *reflectors_surface(struct matrix a)
{
	return OF_PRECISION("gpu.panel_reflectors", a.precision);
}

bool cost_panel_reflects(struct cost_reader *r, struct matrix a)
{
	const int64_t rows =
	        has_clusters(r) ? panel_cluster_rows(a.n, precision_bytes(a.precision)) : 0;

	if (a.precision == DOUBLE && by_gram(r, a))
		return true;
	return cost_known(r, reflectors_surface(a)) && (by_gram(r, a) || a.m <= rows);
}

/* In one cluster all columns take part, and half as many columns have a kernel of their own; with
 * several kernels the cost lies on the line through the two measured widths. */
static double gram_reflectors(struct cost_reader *r, struct matrix a)
{
	enum { HALF = PANEL_GRAM_COLUMNS / 2 };
	const double whole = gram_time(r, a.precision, a.m, PANEL_GRAM_COLUMNS);

	if (panel_gram_launches(a.precision, a.m, has_clusters(r)) == 1)
		return whole;
	const double half = gram_time(r, a.precision, a.m, HALF);
	return half + (whole - half) * (double)(a.n - HALF) / HALF;
}

/* The kernel exists for rows of 32, 64 and 128 columns; all take part in every column. Above the
 * measured columns every column costs the same, beside the start, which is an early one. */
static double cluster_reflectors(struct cost_reader *r, struct matrix a)
{
	enum { FEWEST = 16 };
	const char *name = reflectors_surface(a);
	double columns = FEWEST;

	while (columns < (double)a.n)
		columns *= 2;
	columns = fmin(columns, cost_last(r, name, "n"));
	const double full = cost_at2(r, name, "m", (double)a.m, "n", columns);
	const double start = cost_scalar(
	        r, cost_known(r, "gpu.launch.pdl") ? "gpu.launch.pdl" : "gpu.launch.dependent");

	return start + fmax(0, full - start) * (double)a.n / columns;
}

/* The pass that forms A^T A, by the hardware law. */
static double gram_pass(struct cost_reader *r, struct matrix a)
{
	const double at[] = {(double)a.m, (double)a.n};

	return cost_of_work(r, gram_double, axes_mn, at, 2) -
	       cost_of_work(r, "gpu.panel_geqrf_summed.d", axes_mn, at, 2);
}

/* By the Gram matrix without the store of V and T: as much less as the hardware law says. */
static double gram_without_v(struct cost_reader *r, struct matrix a)
{
	const double at[] = {(double)a.m, (double)a.n};
	const double ratio =
	        cost_of_work(r, OF_PRECISION("gpu.panel_geqrf_last", a.precision), axes_mn, at, 2) /
	        cost_of_work(r, gram_surface(a.precision), axes_mn, at, 2);

	return gram_reflectors(r, a) * (isfinite(ratio) ? ratio : 1);
}

struct cost cost_panel_reflectors(
        struct cost_reader *r, struct matrix a, bool reflects, bool summed)
{
	const double at[] = {(double)a.m, (double)a.n};
	struct cost cost = cost_kernel(r);
	const double launch = cost.term[TERM_LAUNCH];
	const double all = !by_gram(r, a) ? cluster_reflectors(r, a)
	                   : reflects     ? gram_reflectors(r, a)
	                                  : gram_without_v(r, a),
	             seconds = summed ? all - gram_pass(r, a) : all;

	const int kernels =
	        by_gram(r, a) ? panel_gram_launches(a.precision, a.m, has_clusters(r)) - summed : 1;
	cost.early = true;
	cost.enqueue = cost_enqueue_early(r);
	cost.first = cost.enqueue; /* the others follow while it runs */
	cost.enqueue *= kernels;
	cost.share = kernels > 1 ? 1 : cost_share(r, PANEL_CLUSTER);
	cost.term[TERM_BARRIER] = fmax(0, seconds - launch);
	cost.overlapped = beside_products(r, &cost, a, at);
	if (!summed && (a.precision == SINGLE || !by_gram(r, a)))
		cost.alone = cost_alone(r, OF_PRECISION("gpu.alone.panel_reflectors", a.precision),
		        axes_mn, at, ARRAY_LEN(at));
	return cost;
}

/* What C^T C adds to an update, by the hardware law. */
static double gram_of_update(struct cost_reader *r, struct matrix v, struct matrix c)
{
	const double at[] = {(double)c.m, (double)c.n, (double)v.n};

	return cost_of_work(r, "gpu.double_tall_update_gram.d", product_axes, at, 3) -
	       cost_of_work(r, "gpu.double_tall_update.d", product_axes, at, 3);
}

bool cost_updates_panel(
        struct cost_reader *r, struct matrix v, struct matrix c, struct matrix panel)
{
	const struct gemm_problem problem = gemm_product(PLAIN, PLAIN, c, v.n);

	return double_tall_gram_takes(
	               v.n, c.n, c.m - panel.m, matrix_is_aligned(v) && matrix_is_aligned(c)) &&
	       panel.precision == DOUBLE && by_gram(r, panel) &&
	       is_double_tall(r, &problem, c, true) && isfinite(gram_pass(r, panel)) &&
	       isfinite(gram_of_update(r, v, c));
}

struct cost cost_update_panel(struct cost_reader *r, struct matrix v, struct matrix c)
{
	const struct gemm_problem problem = gemm_product(PLAIN, PLAIN, c, v.n);
	struct cost cost = cost_double_tall(r, &problem, c);

	cost.term[TERM_ARITHMETIC] += fmax(0, gram_of_update(r, v, c));
	return cost;
}

/* A device whose profile has the kernel's surface runs the kernel. */
bool cost_reflects_columns(struct cost_reader *r, struct matrix v, struct matrix c)
{
	return cost_known(r, "gpu.qr_columns.s") && c.precision == SINGLE &&
	       v.n <= BLOCK_QR_COLUMNS_MAX && v.m <= BLOCK_QR_COLUMNS_ROWS;
}

/* The measured number of clusters runs at once; fewer take as long. */
struct cost cost_reflect_columns(struct cost_reader *r, struct matrix v, struct matrix c)
{
	const double at[] = {(double)v.m, (double)v.n};
	struct cost cost = cost_kernel(r);

	cost.early = true;
	cost.enqueue = cost_enqueue_early(r);
	cost.share = cost_share(r, CLUSTER * ceil((double)c.n / CLUSTER_COLUMNS));
	cost.term[TERM_MEMORY] = cost_bytes(v) / cost_scalar(r, "gpu.sm.l2_read") / CLUSTER;
	return cost_as_measured(cost, cost_surface(r, "gpu.qr_columns.s", axes_mn, at, 2));
}
