/* SPDX-License-Identifier: MIT */
/* The cost model of the device at level 2, and its costs of LU's panels. A kernel costs its
 * start-to-start time in a stream and the time that its traffic adds to the smallest kernel of the
 * measured copy curve (L2 and DRAM alike, as panels run warm). In bytes, w those of a word: swap 4n
 * sectors, scal and scale 2mw, ger (2mn + m + n)w. Our own kernels' steps are measured surfaces:
 * the two fused kernels, the panel of one cluster, and a column of the resident panel. The resident
 * panel adds the load and store of mnw, and the part of the update that the exchange does not hide.
 * An operation that waits for the host costs its measured round trip; its queueing can hide behind
 * earlier work. */
#include "cost_blocks.h"

#include <math.h>

enum {
	SECTOR_BYTES = 32,  /* that a strided access moves through L2 */
	FEWEST_COLUMNS = 2, /* of the update surface: the column itself and one more */
	UPDATE_ROWS = 32    /* of a block of the fused update */
};

static double copy_traffic(struct cost_reader *r, double bytes)
{
	return cost_traffic(r, "gpu.copy.time", bytes);
}

/* A measured round trip whose first part, the call itself, is over when the stream begins. */
static struct cost round_trip(double enqueue, double total, enum term term)
{
	struct cost cost = {.enqueue = enqueue < total ? enqueue : total, .wait = true};

	cost.term[term] = total - cost.enqueue;
	return cost;
}

static struct cost transfer(
        struct cost_reader *r, const char *curve, double bytes, enum engine engine)
{
	struct cost cost = round_trip(cost_scalar(r, "gpu.copy.enqueue"),
	        cost_at(r, curve, "bytes", bytes), TERM_TRANSFER);

	cost.behind = cost_hand_over(r);
	cost.engine = engine;
	return cost;
}

/* The pivot kernel, from start to start. */
static double pivot_time(struct cost_reader *r, struct matrix a, double m, double n)
{
	return cost_surface2(r, OF_PRECISION("gpu.panel.pivot", a.precision), "m", m, "n", n);
}

/* The update kernel: a step of both kernels less the pivot kernel. */
static struct cost update_kernel(struct cost_reader *r, struct matrix a, double m, double n)
{
	struct cost cost = cost_kernel(r);
	double step = cost_surface2(r, OF_PRECISION("gpu.panel.step", a.precision), "m", m, "n", n);

	cost.term[TERM_MEMORY] = fmax(0, step - pivot_time(r, a, m, n) - cost.term[TERM_LAUNCH]);
	cost.share = cost_share(r, m / UPDATE_ROWS);
	return cost;
}

/* The surface is by the bytes searched. */
struct cost cost_iamax(struct cost_reader *r, struct matrix x)
{
	return round_trip(cost_scalar(r, "gpu.cublas.level1"),
	        cost_at(r, "gpu.cublas.iamax", "bytes", cost_bytes(x)), TERM_SYNC);
}

/* Long vectors take the library a second kernel. A profile without nrm2 by length has as much more
 * as iamax's longer searches, which read as much and answer in the same way; one without nrm2 has
 * iamax alone. */
struct cost cost_nrm2(struct cost_reader *r, struct matrix x)
{
	static const char by_length[] = "gpu.cublas.nrm2_length", shortest[] = "gpu.cublas.nrm2",
	                  search[] = "gpu.cublas.iamax";
	const double bytes = cost_bytes(x), least = 32 * sizeof(float); /* of `shortest` */

	if (!cost_known(r, by_length) && !cost_known(r, shortest))
		return cost_iamax(r, x);
	const double time =
	        cost_known(r, by_length)
	                ? cost_at(r, by_length, "bytes", bytes)
	                : cost_scalar(r, shortest) +
	                          fmax(0, cost_at(r, search, "bytes", fmax(bytes, least)) -
	                                          cost_at(r, search, "bytes", least));
	return round_trip(cost_scalar(r, "gpu.cublas.level1"), time, TERM_SYNC);
}

struct cost cost_iamax_host(struct cost_reader *r, struct matrix x)
{
	double bytes = cost_bytes(x);
	struct cost cost = transfer(r, "link.d2h.pinned.time", bytes, ENGINE_OUT);

	cost.term[TERM_HOST] = bytes / cost_host_rate(r, "host.memory.read", bytes);
	return cost;
}

struct cost cost_get(struct cost_reader *r, struct matrix element)
{
	return transfer(r, "link.d2h.pinned.time", word_bytes(element), ENGINE_OUT);
}

struct cost cost_swap(struct cost_reader *r, struct matrix row)
{
	return (struct cost){.enqueue = cost_scalar(r, "gpu.cublas.swap"),
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.cublas.swap_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 4 * (double)row.n * SECTOR_BYTES)};
}

struct cost cost_scal(struct cost_reader *r, struct matrix x)
{
	return (struct cost){.enqueue = cost_scalar(r, "gpu.cublas.level1"),
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.cublas.level1_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 2 * cost_bytes(x))};
}

struct cost cost_scale_by(struct cost_reader *r, struct matrix x)
{
	struct cost cost = cost_kernel(r);

	cost.term[TERM_MEMORY] = copy_traffic(r, 2 * cost_bytes(x));
	return cost;
}

struct cost cost_ger(struct cost_reader *r, struct matrix a)
{
	const double vectors = (double)(a.m + a.n) * word_bytes(a);

	if (cost_known(r, OF_PRECISION("gpu.ger", a.precision)))
		return cost_ger_measured(r, a);
	return (struct cost){.enqueue = cost_scalar(r, "gpu.cublas.level2"),
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.cublas.level2_device"),
	        .term[TERM_MEMORY] = copy_traffic(r, 2 * cost_bytes(a) + vectors)};
}

struct cost cost_zero_pivot(struct cost_reader *r, struct matrix a)
{
	return transfer(r, "link.d2h.pinned.time", (double)a.n * word_bytes(a), ENGINE_OUT);
}

/* The first search is an update without columns. */
struct cost cost_fused_begin(struct cost_reader *r, struct matrix a)
{
	return update_kernel(r, a, (double)a.m, FEWEST_COLUMNS);
}

struct cost cost_fused_pivot(struct cost_reader *r, struct matrix a, int64_t j)
{
	struct cost cost = cost_kernel(r);

	cost.term[TERM_MEMORY] =
	        fmax(0, pivot_time(r, a, (double)(a.m - j), (double)a.n) - cost.term[TERM_LAUNCH]);
	cost.share = cost_share(r, 1);
	return cost;
}

struct cost cost_fused_update(struct cost_reader *r, struct matrix a, int64_t j)
{
	return update_kernel(r, a, (double)(a.m - j), fmax(FEWEST_COLUMNS, (double)(a.n - j)));
}

/* One cluster holds the panel, or several multiprocessors hold it in registers: the surface of that
 * kernel. Where the rows of a thread or the warps of a block double, the time of a column makes a
 * step, and the surface has rows on both sides. */
static struct cost panel_on_chip(
        struct cost_reader *r, struct matrix a, bool cluster, const char *name)
{
	const char *shared = cluster ? OF_PRECISION("gpu.panel_cluster_shared", a.precision)
	                             : OF_PRECISION("gpu.panel_grid_shared", a.precision);
	const double rows = (double)panel_grid_rows(a.n, precision_bytes(a.precision), 1);
	const double at[] = {(double)a.m, (double)a.n}, columns = (double)panel_columns(a.n);
	struct cost cost = cost_kernel(r);

	cost.early = cluster;
	cost.enqueue =
	        cluster ? cost_enqueue_early(r) : cost_scalar(r, "gpu.launch.enqueue_cooperative");
	cost.share = cost_share(r, cluster ? PANEL_CLUSTER : ceil((double)a.m / rows));
	cost.term[TERM_BARRIER] = fmax(
	        0, cost_surface_width(r, name, axes_mn, at, 2, columns) - cost.term[TERM_LAUNCH]);
	cost.overlapped = cost_beside(r, &cost, a.precision, shared, axes_mn, at, columns);
	cost.alone = cost_alone(r,
	        cluster ? OF_PRECISION("gpu.alone.panel_cluster", a.precision)
	                : OF_PRECISION("gpu.alone.panel_grid", a.precision),
	        axes_mn, at, ARRAY_LEN(at));
	return cost;
}

/* A column's round is measured with one pass of a block's warps over its rows; further passes have
 * a measurement of their own. The update of the other columns costs the part that the exchange,
 * behind which it runs, does not hide. */
static struct cost grid_panel(
        struct cost_reader *r, struct matrix a, const struct panel_geometry *g)
{
	const char *column = OF_PRECISION("gpu.panel.column", a.precision);
	double n = (double)a.n, words = (n + 1) * word_bytes(a) / 4 + 1;
	double round = cost_surface2(r, column, "blocks", g->blocks, "n", n);
	double exchange = cost_at2(r, "gpu.exchange.grid", "blocks", g->blocks, "words", words);
	double rate = cost_at(r, "gpu.shared.update", "threads", g->threads);
	double rows = (double)(a.m < g->rows_per_block ? a.m : g->rows_per_block);
	double loads = ceil(rows * (double)a.n / (g->threads * (double)PANEL_LOADS));
	double passes = ceil(rows / g->threads);
	struct cost cost = {.enqueue = cost_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = cost_share(r, g->blocks),
	        .term[TERM_LAUNCH] = cost_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_MEMORY] = cost_traffic(r, "gpu.read.time", cost_bytes(a)) +
	                             cost_traffic(r, "gpu.write.time", cost_bytes(a)) +
	                             loads * cost_scalar(r, "gpu.l2.latency")};

	if (passes > 1) {
		const double sms = cost_scalar(r, "gpu.sm.count");
		const double twice =
		        cost_surface1(r, OF_PRECISION("gpu.panel.twice", a.precision), "n", n);
		round += (passes - 1) *
		         fmax(0, twice - cost_surface2(r, column, "blocks", sms, "n", n));
	}
	for (int64_t j = 0; j < a.n; j++) {
		double rest = j + 2 < a.n ? 2 * rows * word_bytes(a) * (double)(a.n - j - 2) : 0;
		cost.term[TERM_BARRIER] += round;
		cost.term[TERM_ARITHMETIC] += fmax(0, rest / rate - exchange);
	}
	return cost;
}

/* The kernel that the executor chooses. */
struct cost cost_resident_panel(
        struct cost_reader *r, struct matrix a, const struct panel_geometry *g)
{
	int64_t word = precision_bytes(a.precision);
	const char *cluster = OF_PRECISION("gpu.panel_cluster", a.precision);
	const char *grid = OF_PRECISION("gpu.panel_grid", a.precision);

	if (cost_known(r, cluster) && a.m <= panel_cluster_rows(a.n, word))
		return panel_on_chip(r, a, true, cluster);
	if (cost_known(r, grid) && a.m <= panel_grid_rows(a.n, word, cost_whole(r, "gpu.sm.count")))
		return panel_on_chip(r, a, false, grid);
	return grid_panel(r, a, g);
}

/* ---- panels by the host ---- */

/* Pivots and tau wait in pinned memory until those of an earlier panel have left it. */
static double note_wait(struct cost_reader *r)
{
	static const char name[] = "gpu.event.sync";

	return cost_known(r, name) ? cost_scalar(r, name) : 0;
}

/* What the copy engine has written comes from the last cache when the host reads it first. The
 * panels of the host's surfaces lie in the core's caches, as far as these hold a panel and the
 * matrix that it was copied from. */
static double first_reads(struct cost_reader *r, double bytes)
{
	static const char read[] = "host.memory.read", l2[] = "host.l2.stated";

	if (!cost_known(r, l2) || !cost_known(r, read))
		return 0;
	const double far = fmax(2 * bytes, 2 * cost_scalar(r, l2));
	return fmax(0,
	        bytes / cost_host_rate(r, read, far) - bytes / cost_host_rate(r, read, 2 * bytes));
}

static struct cost after_copy(struct cost_reader *r, struct cost panel, double bytes)
{
	panel.term[TERM_HOST] += first_reads(r, bytes);
	return panel;
}

struct cost cost_host_getrf(struct cost_reader *r, struct matrix a)
{
	struct cost panel = cost_by_host_getrf(r, a);

	panel.term[TERM_HOST] += note_wait(r);
	return after_copy(r, panel, cost_bytes(a));
}

struct cost cost_host_geqrf(struct cost_reader *r, struct matrix a)
{
	struct cost panel = cost_by_host_geqrf(r, a);

	panel.term[TERM_HOST] += note_wait(r);
	return after_copy(r, panel, cost_bytes(a));
}

/* Of the block a triangle is read. */
struct cost cost_host_potrf(struct cost_reader *r, struct matrix a)
{
	return after_copy(r, cost_by_host_potrf(r, a), cost_bytes(a) / 2);
}

const struct cost_model cost_cuda_level2 = {
        .by_work = cost_moves,
        .sync = cost_wait,
        .query = cost_query,
        .event = cost_event,
        .stream_wait = cost_stream_wait,
#define FUNCTION(type, name, ...) .name = cost_##name,
#include "cost_functions.h"
};
