/* SPDX-License-Identifier: MIT */
/* Chains are counted from the kernels' sources: a step is a load, a warp's vote, a dependent
 * multiply-add, or an integer instruction in the place of one. */
#include "panel_work.h"

#include "panel_geometry.h"

#include <math.h>

enum { WARP = 32 };

/* ---- rows in shared memory ---- */

/* A column: the exchange, a barrier, the row swap by a warp (a row of 32 columns a step), division,
 * update and search of the next column, and the candidate's row. */
void panel_column_work(
        enum precision precision, int64_t m, int64_t n, int sm_count, struct kernel_work *work)
{
	const int64_t word = precision_bytes(precision);
	struct panel_geometry g;

	panel_geometry(m, n, word, sm_count, INT64_MAX, &g);
	const double rows = ceil((double)n / WARP),
	             passes = ceil((double)g.rows_per_block / PANEL_COMPUTE_THREADS);
	*work = (struct kernel_work){.launches = 1,
	        .blocks = g.blocks,
	        .threads = PANEL_COMPUTE_THREADS + WARP,
	        .registers = precision == SINGLE ? 119 : 133,
	        .shared = (double)g.shared_bytes,
	        .exchange[SCOPE_GRID] = {4 * panel_resident_words(precision, n), 1}};
	work->link[LINK_BLOCK] = 1;
	work->link[LINK_SEARCH] = 1;
	work->link[LINK_REDUX] = precision == SINGLE ? 0 : 2; /* keys of two words */
	work->link[LINK_SHARED] = 2 + 2 * rows + 2 * passes;
	work->link[precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE] = 1 + 2 * passes;
}

/* ---- two kernels a column ---- */

enum {
	FUSED_THREADS = 256,
	FUSED_ROWS = 32,
	FUSED_COLUMNS = 64, /* in flight */
	FUSED_PARTS = 2048,
	FUSED_FIXED = 100, /* instructions of a thread a pass, and for a column that it may have */
	FUSED_COLUMN = 14,
	PART_BYTES = 16
};

static double fused_parts(int64_t rows)
{
	return fmax(1, fmin(FUSED_PARTS, ceil((double)rows / FUSED_ROWS)));
}

static double panel_bytes(enum precision precision, int64_t m, int64_t n)
{
	return (double)m * (double)n * (double)precision_bytes(precision);
}

/* Candidates come from L2, one of a thread after the other, then both rows. */
void panel_pivot_work(enum precision precision, int64_t m, int64_t n, struct kernel_work *work)
{
	const double parts = fused_parts(m), row = panel_bytes(precision, 1, n);

	*work = (struct kernel_work){.launches = 1,
	        .blocks = 1,
	        .threads = FUSED_THREADS,
	        .registers = 18,
	        .l2 = {PART_BYTES * parts + 2 * row, 2 * row}};
	work->link[LINK_L2] = ceil(parts / FUSED_THREADS) + 1;
	work->link[LINK_SEARCH] = 1;
	work->link[LINK_REDUX] = 2; /* keys of two words */
}

/* Each pass of a block over its rows waits for 64 columns at a time. Where there are fewer blocks
 * than strips of 32 rows, only the first blocks have another pass: the mean number counts. Blocks
 * of later rounds begin meanwhile. The 32 rows of a warp begin at any word, so they touch a sector
 * of L2 more. */
void panel_update_work(enum precision precision, int64_t m, int64_t n, struct kernel_work *work)
{
	const double blocks = fused_parts(m - 1), bytes = panel_bytes(precision, m, n),
	             passes = fmax(1, ceil((double)(m - 1) / FUSED_ROWS) / blocks),
	             batches = fmax(1, ceil((double)(n - 1) / FUSED_COLUMNS));

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = FUSED_THREADS,
	        .registers = precision == SINGLE ? 40 : 72,
	        .dram = {bytes, bytes},
	        .l2 = {(double)m * (double)n, (double)m * (double)n},
	        .working_set = bytes,
	        .in_flight = fmin(8, ceil((double)n / 8)) * (double)precision_bytes(precision)};
	work->operations[work_fma_pipe(precision)] = 2 * (double)m * (double)n;
	work->operations[PIPE_INTEGER] = blocks * FUSED_THREADS * passes *
	                                 (FUSED_FIXED + FUSED_COLUMN * FUSED_COLUMNS / 8 * batches);
	work->link[LINK_DRAM] = passes * batches;
	work->link[LINK_BLOCK] = passes;
	work->link[precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE] = 6 * passes;
	work->link[LINK_SPECIAL] = passes;
	work->link[LINK_REDUX] = 3;
}

/* ---- rows in registers ---- */

struct form {
	int64_t word;
	int columns, rows, most; /* rows: of a thread; most: row warps of a block */
};

static const struct form *cluster_form(int64_t word, int64_t m, int64_t n)
{
#define ROW(real, columns, rows, most) {sizeof(real), columns, rows, most},
	static const struct form forms[] = {PANEL_CLUSTER_FORMS(ROW)};
#undef ROW
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const struct form *f = &forms[i];
		if (f->word == word && n <= f->columns && n <= m &&
		        m <= (int64_t)PANEL_CLUSTER * f->rows * WARP * f->most)
			return f;
	}
	return NULL;
}

/* Passes of shared memory that the exchange of a column takes, of a row warp and of a block's
 * sender: reads of heads, shuffles, sends. */
struct exchange_passes {
	double warp, block;
};

/* Columns that the updates behind all pivots go through. An update among a column's waits takes all
 * columns of the kernel, or half of them when fewer are left, others 16 at a time. */
static double updated_columns(const struct form *f, int64_t n, bool among)
{
	enum { NARROWEST = 32, CHUNK = 16 };
	double sum = 0;

	for (int64_t left = n; left > 0; left--) {
		int64_t width = among ? f->columns : (left + CHUNK - 1) / CHUNK * CHUNK;
		while (among && width > NARROWEST && left <= width / 2)
			width /= 2;
		sum += (double)width;
	}
	return sum;
}

/* The panel once from L2 and back; per column the updates of all rows, and what row warps do for
 * its pivot: weigh their rows, find the best of them, multipliers, positions. All blocks count as
 * the busiest one, since the law shares out evenly. */
static void rows_in_registers_work(enum precision precision, int64_t m, int64_t n,
        const struct form *f, bool among, double warps, struct exchange_passes passes,
        struct kernel_work *work)
{
	enum { COLUMN = 60, ROW = 20 }; /* instructions of a warp beside the update, a word */
	const double all = warps * work->blocks, rows = all * WARP * f->rows,
	             bytes = panel_bytes(precision, m, n), updated = updated_columns(f, n, among);
	/* the pivot row, which all lanes read; the multipliers, kept and then written; the tail */
	const double words = (double)f->word / 4, read = updated / 2 / (double)n,
	             tail = updated_columns(f, n, false) / 4 / (double)n,
	             column = words * (read + f->rows * (2 + f->rows) + tail) + 3;

	work->launches = 1;
	work->registers = 168;
	work->l2 = (struct work_bytes){bytes, bytes};
	work->working_set = bytes;
	work->chains = 8;
	work->wavefronts = (double)n * (all * (column + passes.warp) + work->blocks * passes.block);
	work->operations[work_fma_pipe(precision)] = 2 * rows * updated;
	work->operations[PIPE_INTEGER] =
	        all * WARP * (double)n * (COLUMN + ROW * f->rows) * (double)f->word / 4;
	work->link[LINK_L2] = 2;
}

/* A column of a row warp: the best head of all, the multipliers, the next column, its best row. */
static void row_warp_chain(const struct form *f, double n, struct kernel_work *work)
{
	const double values = f->word == 4 ? 0 : 2; /* multiply-adds in double precision */

	work->link[LINK_SHARED] += n;
	work->link[LINK_REDUX] += n;
	work->link[LINK_BALLOT] += n;
	work->link[LINK_SHUFFLE] += n;
	work->link[LINK_FMA] += n * (8 - values + 2 * (f->rows - 1));
	work->link[LINK_FMA_DOUBLE] += n * values;
}

bool panel_cluster_work(enum precision precision, int64_t m, int64_t n, struct kernel_work *work)
{
	const struct form *f = cluster_form(precision_bytes(precision), m, n);

	if (!f)
		return false;
	const int blocks = panel_cluster_blocks(f->rows, m),
	          warps = panel_cluster_warps(f->rows, m, blocks);
	const bool grouped = f->most > PANEL_SCHEDULERS;
	*work = (struct kernel_work){.blocks = blocks,
	        .cluster = blocks,
	        .threads = WARP * (grouped ? PANEL_GROUPED : warps + 1),
	        .exchange[SCOPE_CLUSTER] = {4 * (double)f->word * warps, (double)n}};
	const double words = (double)f->word / 4,
	             heads = 4 * words * words * ceil((double)warps * blocks / WARP);
	const struct exchange_passes passes = {heads + 15 * words + 1, heads + 5 * words};
	rows_in_registers_work(precision, m, n, f, !grouped, warps, passes, work);
	row_warp_chain(f, (double)n, work);
	work->link[LINK_REDUX] += (double)n; /* among the heads */
	work->link[LINK_BALLOT] += (double)n;
	work->link[LINK_SHUFFLE] += (double)n;
	work->link[LINK_FMA] += 4 * (double)n;
	work->link[LINK_CLUSTER_BARRIER] = 2;
	return true;
}

/* Row warps hand their heads to a warp that publishes the best one, finds the best of all blocks,
 * and hands it back, through shared memory. */
bool panel_registers_work(
        enum precision precision, int64_t m, int64_t n, int sm_count, struct kernel_work *work)
{
	enum { OTHERS = 2, COPIES = 8 };
	const int64_t word = precision_bytes(precision), held = panel_grid_rows(n, word, 1);

	if (m > panel_grid_rows(n, word, sm_count))
		return false;
	struct form f = {
	        word, WARP, (int)(held / PANEL_CLUSTER_THREADS), PANEL_CLUSTER_THREADS / WARP};
	while (f.columns < n)
		f.columns *= 2;
	*work = (struct kernel_work){.blocks = ceil((double)m / (double)held),
	        .threads = PANEL_CLUSTER_THREADS + WARP * OTHERS,
	        .exchange[SCOPE_GRID] = {4 * (double)word, (double)n},
	        .copies = COPIES};
	rows_in_registers_work(precision, m, n, &f, false, f.most,
	        (struct exchange_passes){3 + (double)word, 10}, work);
	row_warp_chain(&f, (double)n, work);
	work->link[LINK_SHARED] += 6 * (double)n;
	work->link[LINK_REDUX] += 2 * (double)n;
	work->link[LINK_BALLOT] += 2 * (double)n;
	work->link[LINK_FMA] += 8 * (double)n;
	return true;
}
