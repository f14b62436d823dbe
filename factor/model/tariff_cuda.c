/* SPDX-License-Identifier: MIT */
/* Prices of the cuda executor's operations at level 2. A kernel costs its start-to-start time in a
 * stream plus what its traffic adds to the smallest kernel of the measured copy curve (L2 and DRAM
 * alike, as panels run warm). With w the word, in bytes: swap 4n sectors, scal and scale 2mw, ger
 * (2mn + m + n)w. Our own kernels' steps are measured surfaces: the two fused kernels, the panel of
 * one cluster, and a column of the resident panel, to which come load + store of mnw and what of
 * the update the exchange does not hide. An operation that waits for the host costs its measured
 * round trip, of which the queueing can hide behind earlier work. */
#include "price_blocks.h"

#include <math.h>

enum {
	SECTOR_BYTES = 32,  /* what a strided access moves through L2 */
	FEWEST_COLUMNS = 2, /* of the update surface: its own column and one */
	UPDATE_ROWS = 32    /* of a block of the fused update */
};

static double larger(double a, double b)
{
	return b > a ? b : a;
}

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static double copy_traffic(struct price_reader *r, double bytes)
{
	return price_traffic(r, "gpu.copy.time", bytes);
}

/* A measured round trip whose first part, the call itself, is over when the stream begins. */
static struct price round_trip(double enqueue, double total, enum term term)
{
	struct price price = {.enqueue = enqueue < total ? enqueue : total, .wait = true};

	price.term[term] = total - price.enqueue;
	return price;
}

/* A few kernels and a small copy behind them, which the host waits for, less the kernels. A profile
 * without it has one kernel, which may be done before the copy is there. */
static double behind_kernels(struct price_reader *r)
{
	static const char name[] = "gpu.copy.behind";
	const double most = price_last(r, name, "kernels"), kernels = isfinite(most) ? most : 1;
	const double whole = isfinite(most) ? price_at(r, name, "kernels", most)
	                                    : price_scalar(r, "gpu.copy.sync");

	return whole - kernels * price_scalar(r, "gpu.launch.enqueue") -
	       price_scalar(r, "gpu.launch.dependent");
}

double price_hand_over(struct price_reader *r)
{
	double idle = price_at(r, "link.d2h.pinned.time", "bytes", sizeof(float)) -
	              price_scalar(r, "gpu.copy.enqueue");

	return larger(0, behind_kernels(r) - idle);
}

static struct price transfer(
        struct price_reader *r, const char *curve, double bytes, enum engine engine)
{
	struct price price = round_trip(price_scalar(r, "gpu.copy.enqueue"),
	        price_at(r, curve, "bytes", bytes), TERM_TRANSFER);

	price.behind = price_hand_over(r);
	price.engine = engine;
	return price;
}

/* The pivot kernel, from start to start. */
static double pivot_time(struct price_reader *r, struct matrix a, double m, double n)
{
	return price_at2(r, a.precision == SINGLE ? "gpu.panel.pivot.s" : "gpu.panel.pivot.d", "m",
	        m, "n", n);
}

/* The update kernel: what a step of both takes longer. */
static struct price update_kernel(struct price_reader *r, struct matrix a, double m, double n)
{
	struct price price = price_kernel(r);
	double step = price_at2(
	        r, a.precision == SINGLE ? "gpu.panel.step.s" : "gpu.panel.step.d", "m", m, "n", n);

	price.term[TERM_MEMORY] =
	        larger(0, step - pivot_time(r, a, m, n) - price.term[TERM_LAUNCH]);
	price.share = price_share(r, m / UPDATE_ROWS);
	return price;
}

/* By the bytes searched, which are in it. */
static struct price iamax(struct price_reader *r, struct matrix x)
{
	return round_trip(price_scalar(r, "gpu.cublas.level1"),
	        price_at(r, "gpu.cublas.iamax", "bytes", price_bytes(x)), TERM_SYNC);
}

/* A profile without it has iamax stand for it, which reads as much and answers in the same way. */
static struct price nrm2(struct price_reader *r, struct matrix x)
{
	struct price price;

	if (!price_known(r, "gpu.cublas.nrm2"))
		return iamax(r, x);
	price = round_trip(price_scalar(r, "gpu.cublas.level1"), price_scalar(r, "gpu.cublas.nrm2"),
	        TERM_SYNC);
	price.term[TERM_MEMORY] = price_traffic(r, "gpu.read.time", price_bytes(x));
	return price;
}

static struct price iamax_host(struct price_reader *r, struct matrix x)
{
	double bytes = price_bytes(x);
	struct price price = transfer(r, "link.d2h.pinned.time", bytes, ENGINE_OUT);

	price.term[TERM_HOST] = bytes / price_host_rate(r, "host.memory.read", bytes);
	return price;
}

static struct price get(struct price_reader *r, struct matrix element)
{
	return transfer(r, "link.d2h.pinned.time", word_of(element), ENGINE_OUT);
}

static struct price swap(struct price_reader *r, struct matrix row)
{
	return (struct price){.enqueue = price_scalar(r, "gpu.cublas.swap"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.cublas.swap_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 4 * (double)row.n * SECTOR_BYTES)};
}

static struct price scal(struct price_reader *r, struct matrix x)
{
	return (struct price){.enqueue = price_scalar(r, "gpu.cublas.level1"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.cublas.level1_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 2 * price_bytes(x))};
}

static struct price scale_by(struct price_reader *r, struct matrix x)
{
	struct price price = price_kernel(r);

	price.term[TERM_MEMORY] = copy_traffic(r, 2 * price_bytes(x));
	return price;
}

static struct price ger(struct price_reader *r, struct matrix a)
{
	const double vectors = (double)(a.m + a.n) * word_of(a);

	if (price_known(r, a.precision == SINGLE ? "gpu.ger.s" : "gpu.ger.d"))
		return price_ger(r, a);
	return (struct price){.enqueue = price_scalar(r, "gpu.cublas.level2"),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.cublas.level2_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 2 * price_bytes(a) + vectors)};
}

static struct price zero_pivot(struct price_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", (double)a.n * word_of(a), ENGINE_OUT);
}

/* Host time from the last kernel's end to the return of a synchronization: what a launch with one
 * leaves of its round trip. */
static double sync(struct price_reader *r)
{
	return larger(0, price_scalar(r, "gpu.launch.sync") -
	                         price_scalar(r, "gpu.launch.enqueue") -
	                         price_scalar(r, "gpu.launch.dependent"));
}

/* The copy of a round trip without the host's call and wait. */
static struct price store_pivots(struct price_reader *r, int64_t n)
{
	double bytes = (double)(n + 1) * sizeof(int), call = price_scalar(r, "gpu.copy.enqueue");
	double whole = price_at(r, "link.h2d.pinned.time", "bytes", bytes);

	return (struct price){.enqueue = call,
	        .term[TERM_TRANSFER] = larger(0, whole - call - sync(r)),
	        .behind = price_hand_over(r),
	        .engine = ENGINE_IN};
}

/* The first search is an update without columns. */
static struct price fused_begin(struct price_reader *r, struct matrix a)
{
	return update_kernel(r, a, (double)a.m, FEWEST_COLUMNS);
}

static struct price fused_pivot(struct price_reader *r, struct matrix a, int64_t j)
{
	struct price price = price_kernel(r);

	price.term[TERM_MEMORY] = larger(
	        0, pivot_time(r, a, (double)(a.m - j), (double)a.n) - price.term[TERM_LAUNCH]);
	price.share = price_share(r, 1);
	return price;
}

static struct price fused_update(struct price_reader *r, struct matrix a, int64_t j)
{
	return update_kernel(r, a, (double)(a.m - j), larger(FEWEST_COLUMNS, (double)(a.n - j)));
}

/* One cluster holds the panel: the surface of that kernel. Where the rows of a thread or the warps
 * of a block become twice as many, a column takes a step longer, which the surface has both sides
 * of; from there on more blocks take part. */
static struct price cluster_panel(struct price_reader *r, struct matrix a, const char *name)
{
	static const char *const axes[] = {"m", "n"};
	static const struct beside_surface shared = {
	        {"gpu.panel_cluster_shared.s", "gpu.panel_cluster_shared.d"}, {"m", "n"}};
	const double at[] = {(double)a.m, (double)a.n};
	struct price price = price_kernel(r);
	const double seconds = price_surface(r, name, axes, at, 2);

	price.early = true;
	price.share = price_share(r, PANEL_CLUSTER);
	price.term[TERM_BARRIER] = larger(0, seconds - price.term[TERM_LAUNCH]);
	price.beside = price_beside(r, &price, a.precision, &shared, at);
	return price;
}

/* Several multiprocessors hold it in registers: the surface of that kernel. */
static struct price registers_panel(struct price_reader *r, struct matrix a, const char *name)
{
	static const char *const axes[] = {"m", "n"};
	static const struct beside_surface shared = {
	        {"gpu.panel_grid_shared.s", "gpu.panel_grid_shared.d"}, {"m", "n"}};
	const double at[] = {(double)a.m, (double)a.n};
	struct price price = price_kernel(r);
	int64_t rows = panel_grid_rows(a.n, precision_bytes(a.precision), 1);

	price.enqueue = price_scalar(r, "gpu.launch.enqueue_cooperative");
	price.share = price_share(r, ceil((double)a.m / (double)rows));
	price.term[TERM_BARRIER] =
	        larger(0, price_surface(r, name, axes, at, 2) - price.term[TERM_LAUNCH]);
	price.beside = price_beside(r, &price, a.precision, &shared, at);
	return price;
}

/* A column's round is measured with one pass of a block's warps over its rows; more passes cost
 * what they were measured to cost, and so does the update of the other columns as far as the
 * exchange, behind which it runs, does not hide it. */
static struct price grid_panel(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	bool single = a.precision == SINGLE;
	double words = (double)(a.n + 1) * word_of(a) / 4 + 1;
	double round = price_at2(r, single ? "gpu.panel.column.s" : "gpu.panel.column.d", "blocks",
	        g->blocks, "n", (double)a.n);
	double exchange = price_at2(r, "gpu.exchange.grid", "blocks", g->blocks, "words", words);
	double rate = price_at(r, "gpu.shared.update", "threads", g->threads);
	double rows = (double)(a.m < g->rows_per_block ? a.m : g->rows_per_block);
	double loads = ceil(rows * (double)a.n / (g->threads * (double)PANEL_LOADS));
	double passes = ceil(rows / g->threads);
	struct price price = {.enqueue = price_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = price_share(r, g->blocks),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_MEMORY] = price_traffic(r, "gpu.read.time", price_bytes(a)) +
	                             price_traffic(r, "gpu.write.time", price_bytes(a)) +
	                             loads * price_scalar(r, "gpu.l2.latency")};

	if (passes > 1) {
		double n = (double)a.n, sms = price_scalar(r, "gpu.sm.count");
		double twice =
		        price_at(r, single ? "gpu.panel.twice.s" : "gpu.panel.twice.d", "n", n);
		double once = price_at2(r, single ? "gpu.panel.column.s" : "gpu.panel.column.d",
		        "blocks", sms, "n", n);
		round += (passes - 1) * larger(0, twice - once);
	}
	for (int64_t j = 0; j < a.n; j++) {
		double rest = j + 2 < a.n ? 2 * rows * word_of(a) * (double)(a.n - j - 2) : 0;
		price.term[TERM_BARRIER] += round;
		price.term[TERM_ARITHMETIC] += larger(0, rest / rate - exchange);
	}
	return price;
}

/* As the executor chooses. */
static struct price resident_panel(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	bool single = a.precision == SINGLE;
	int64_t word = precision_bytes(a.precision);
	const char *cluster = single ? "gpu.panel_cluster.s" : "gpu.panel_cluster.d";
	const char *grid = single ? "gpu.panel_grid.s" : "gpu.panel_grid.d";

	if (price_known(r, cluster) && a.m <= panel_cluster_rows(a.n, word))
		return cluster_panel(r, a, cluster);
	if (price_known(r, grid) &&
	        a.m <= panel_grid_rows(a.n, word, (int64_t)price_scalar(r, "gpu.sm.count")))
		return registers_panel(r, a, grid);
	return grid_panel(r, a, g);
}

const struct tariff tariff_cuda_full = {iamax, iamax_host, nrm2, get, swap, scal, scale_by, ger,
        zero_pivot, store_pivots, fused_begin, fused_pivot, fused_update, resident_panel, sync};
