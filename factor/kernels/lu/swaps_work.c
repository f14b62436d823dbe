/* SPDX-License-Identifier: MIT */
#include "swaps_work.h"
#include "deferred_swaps.h"

#include "factor/kernels/blocks/block_kernels.h"

#include <math.h>

enum { SECTOR = 32 /* bytes */ };

/* Swapped rows of n columns of m rows: k of each column are contiguous, and k are somewhere below
 * them, in sectors of which several may lie side by side. All are read and written. */
static void swap(double m, double k, double n, double word, struct kernel_work *work)
{
	const double sectors = m * word / SECTOR, share = 1 - exp(-k / sectors),
	             bytes = n * (k * word + share * sectors * SECTOR);

	work->dram = (struct work_bytes){bytes, bytes};
	work->working_set = bytes;
	work->pattern = PATTERN_RANDOM;
	work->step = (1 + share) * SECTOR;
}

/* ---- laswp ---- */

enum { CHUNK = 128, COLUMNS_AT_ONCE = 8, MOST_BLOCKS = 256 };

void laswp_work(enum precision precision, double m, double k, double n, struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision), chunks = ceil(k / CHUNK),
	             each = fmin(k, CHUNK), wanted = ceil(n / COLUMNS_AT_ONCE),
	             blocks = fmin(wanted, MOST_BLOCKS), rounds = ceil(wanted / blocks);

	*work = (struct kernel_work){.launches = chunks,
	        .blocks = blocks,
	        .threads = 2 * CHUNK,
	        .registers = 40,
	        .in_flight = COLUMNS_AT_ONCE * SECTOR};
	swap(m, k / chunks, n, word, work);
	work->working_set *= chunks;
	work->link[LINK_L2] = 1;
	work->link[LINK_DRAM] = rounds;
	work->link[LINK_BLOCK] = 1 + rounds;
	/* a row's source: three dependent instructions a swap, and one of the look for earlier
	 * swaps; eight reads of shared memory at once in either */
	work->operations[PIPE_INTEGER] = blocks * 2 * CHUNK * 5 * each;
	work->link[LINK_FMA] = 4 * each;
	work->link[LINK_SHARED] = 2 * each / 8;
}

/* ---- the columns of a row-major matrix ---- */

/* As room and exchange_room (lu_rows*.cuh) have them. */
struct rows_shape {
	double rows, side, threads, shared;
};

static struct rows_shape rows_shape(enum precision precision, bool solves, double k, double n)
{
	enum { FEW = 4096, TALLEST = 512 };
	const bool single = precision == SINGLE;
	const double word = (double)precision_bytes(precision), piece = 16 / word;
	struct rows_shape s = {.rows = 64};

	while (s.rows < k)
		s.rows *= 2;
	const bool tallest = s.rows == TALLEST;
	if (solves && !single) {
		const double warps = tallest ? 2 : s.rows > 128 ? 8 : 4;
		s.side = 8 * warps;
		s.threads = 32 * warps;
	} else {
		const double warps = tallest && (single || !solves) ? 16 : 8;
		const bool narrow = tallest || (solves && n <= FEW);
		s.side = warps * (solves ? (narrow ? 4 : 8) : (narrow ? 16 : 32) / word);
		s.threads = 32 * warps;
	}
	s.shared = solves ? (double)BLOCK_ROWS_BYTES(precision, k)
	                  : s.rows * ((s.side + piece) * word + 5 * sizeof(int));
	return s;
}

/* The inverses of a triangle's diagonal blocks of 16: a half warp each, 120 multiply-adds a lane
 * and a word of shared memory for each. Columns are stored to one bank, in double precision to
 * four. */
static void add_inverses(
        const struct rows_shape *s, enum precision precision, struct kernel_work *work)
{
	enum { STEP = 16, EACH = STEP * (STEP - 1) / 2 };
	const double steps = s->rows / STEP, words = (double)precision_bytes(precision) / 4;

	work->operations[work_fma_pipe(precision)] += work->blocks * steps * STEP * 2 * EACH;
	work->wavefronts += work->blocks * steps / 2 * (EACH + STEP * (STEP / words + words));
}

/* The solve in single precision. A step of 16 rows multiplies by an inverse, 16 dependent
 * multiply-adds and selects, and takes the rows out of the blocks of 32 rows that are left: a read
 * of shared memory a block and 16 bytes of the solved row, two passes, for each of 16 columns. */
static void add_solve(const struct rows_shape *s, struct kernel_work *work)
{
	const double steps = s->rows / 16, left = (s->rows / 32 + 1) / 2, warps = s->threads / 32,
	             columns = s->side / warps, quads = ceil(columns / 4);

	work->operations[PIPE_FP32] += work->blocks * s->side * s->rows * (s->rows + 32 + 17);
	work->wavefronts +=
	        work->blocks * warps * steps * (16 * (left + 2 * quads) + 16 * 2 + 4 * quads + 1.5);
	/* the triangle arrives, the top is read, its solution written */
	work->wavefronts += work->blocks * (s->rows * (s->rows + 32) / 2 * 4 / 128 +
	                                           2 * s->rows * s->side * 4 / 128);
	add_inverses(s, SINGLE, work);
	work->link[LINK_FMA] += 120 + 48 * steps; /* inverses first */
	work->link[LINK_SHARED] += 16 + 12 * steps;
	work->link[LINK_BLOCK] += steps;
}

/* In double precision: chunks of 32 x 32 of the triangle, two dependent instructions of the tensor
 * cores each, and six more for every 32 rows. */
static void add_double_solve(const struct rows_shape *s, double k, struct kernel_work *work)
{
	const double tall = ceil(k / 32), chunks = tall * (tall + 1) / 2;

	work->operations[PIPE_TENSOR_FP64_LARGE] = 2 * work->blocks * s->side * 32 * 32 * chunks;
	/* A product of 16 x 16: four reads of 16 bytes a lane and of 8. A chunk has four, the last
	 * of 32 rows three; there sums and solutions are read and written. Copies; waits. */
	const double warps = s->threads / 32, product = 4 * (4 + 2);
	work->wavefronts +=
	        work->blocks * (warps * (product * (4 * chunks - tall) + chunks + 48 * tall) +
	                               chunks * 32 * 32 * 8 / 128);
	add_inverses(s, DOUBLE, work);
	work->chains = 2;
	work->link[LINK_FMA_DOUBLE] += 120 + 20 * chunks + 60 * tall;
	work->link[LINK_SHARED] += 16 + 2 * chunks + 12 * tall;
	work->link[LINK_BLOCK] += chunks;
}

void lu_rows_work(
        enum precision precision, bool solves, double k, double n, struct kernel_work *work)
{
	const struct rows_shape s = rows_shape(precision, solves, k, n);
	const double word = (double)precision_bytes(precision), blocks = ceil(n / s.side),
	             bytes = 2 * k * n * word, pieces = k * s.side * word / 16;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = s.threads,
	        .registers = 128,
	        .shared = s.shared,
	        .dram = {bytes, bytes},
	        .working_set = bytes,
	        .in_flight = pieces / s.threads * 16};
	work->operations[PIPE_INTEGER] = blocks * 5 * k * k; /* the swaps are composed */
	/* Four pivots a read; a counter of displaced rows. A piece of 16 bytes a lane passes the
	 * tile twice without a solve, and its row is looked up three times. */
	work->wavefronts = blocks * (k * k / 64 + k + pieces / 32 * ((solves ? 4 : 8) + 3));
	work->link[LINK_L2] = 1;
	work->link[LINK_DRAM] = n < s.side ? 1 + ceil(pieces / s.threads) : 2;
	work->link[LINK_BLOCK] = 6;
	work->link[LINK_FMA] = k;
	work->link[LINK_SHARED] = 4 + k / 16;
	if (!solves)
		return;
	work->l2.read = blocks * k * k * word / 2;
	if (precision == SINGLE)
		add_solve(&s, work);
	else
		add_double_solve(&s, k, work);
}

/* ---- the top right of a panel ---- */

enum { TOP_COLUMNS = 8, TOP_THREADS = 256, WARPS = TOP_THREADS / 32 };

/* struct top of lu_solve.cuh. */
static double top_bytes(double word, double width)
{
	return (width * width + 2 * TOP_COLUMNS * width) * word + 3 * width * sizeof(int);
}

/* Words of columns that do not begin at 16 bytes are copied to shared memory one by one: a warp
 * reads a line more than it has words for, and writes the words. */
static void add_words(enum precision precision, double words, struct kernel_work *work)
{
	enum { VECTOR = 16, INSTRUCTIONS = 2 };
	const double word = (double)precision_bytes(precision);

	work->wavefronts += words / 32 * (2 * word / 4 + 1);
	work->operations[PIPE_INTEGER] += INSTRUCTIONS * words * (1 - word / VECTOR);
}

/* Pivots, then rows from below; the search for a row's origin; the solve, two rows a step, over the
 * whole width, each with two shuffles and reads of shared memory. */
static void add_top(enum precision precision, double width, struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision);
	const double parts = TOP_THREADS / width, words = word / 4;

	work->link[LINK_DRAM] += 2;
	work->link[LINK_BLOCK] += 4;
	work->link[LINK_SHARED] += 6;
	work->link[LINK_SHUFFLE] += log2(parts) + width / 2;
	work->link[LINK_FMA] += width / parts;
	work->link[precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE] += 3 * width / 2;
	/* two shuffles, a word for all lanes, and of the triangle what is left */
	work->wavefronts +=
	        work->blocks * TOP_COLUMNS * width / 2 * (2 * words + 1 + words * (1 + width / 32));
	/* The triangle arrives, 16 bytes a copy, and the top, a word a copy. Its rows are written
	 * to eight places of a bank. A part of the pivots is read by each of `parts` threads. */
	work->wavefronts +=
	        work->blocks *
	        (width * width * word / 128 + width * TOP_COLUMNS / 32 * 8 +
	                width * TOP_COLUMNS / 32 * 8 * words + TOP_COLUMNS * width * width / 512);
	work->operations[work_fma_pipe(precision)] +=
	        work->blocks * TOP_COLUMNS * width * (width + 32);
}

void lu_top_work(enum precision precision, double m, double k, double n, bool aligned,
        struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision), width = k <= 64 ? 64 : 128,
	             blocks = ceil(n / TOP_COLUMNS);

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = TOP_THREADS,
	        .registers = 64,
	        .shared = top_bytes(word, width),
	        .l2 = {.read = blocks * k * k * word},
	        .in_flight = (TOP_COLUMNS + width) * width * word / TOP_THREADS};
	swap(m, k, n, word, work);
	add_top(precision, width, work);
	work->wavefronts += blocks * width * TOP_COLUMNS / 32 * 8 * word / 4; /* read again */
	if (!aligned)
		add_words(precision, blocks * width * width, work);
}

/* ---- the columns right of a panel ---- */

void lu_columns_work(enum precision precision, double m, double n, double k, int sms, bool aligned,
        struct kernel_work *work)
{
	enum { FEW = 8, MOST = 16, ALONE_BYTES = 120 << 10 };
	const double word = (double)precision_bytes(precision), width = BLOCK_LU_COLUMNS_MAX,
	             at_once = 1024 / word, clusters = ceil(n / TOP_COLUMNS),
	             cluster = m - k <= FEW * at_once ? FEW : MOST, blocks = clusters * cluster,
	             share = ceil((m - k) / cluster / 32) * 32, turns = ceil(share / at_once),
	             fixed = top_bytes(word, width) + width * (at_once + 4) * word,
	             bytes = fixed + share * sizeof(int);

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = TOP_THREADS,
	        .registers = 128,
	        .shared = 2 * blocks <= sms ? fmax(bytes, ALONE_BYTES) : bytes,
	        .cluster = cluster,
	        .dram = {.read = m * (k + n) * word, .written = m * n * word},
	        /* the panel, its triangle, the top: k words, and k sectors from below */
	        .l2 = {.read = (clusters - 1) * m * k * word +
	                       blocks * k * (k * word + TOP_COLUMNS * (word + SECTOR))},
	        .working_set = m * (k + n) * word,
	        .in_flight = width * at_once * word / TOP_THREADS};
	add_top(precision, width, work);
	/* of a block: warps have 64 of them in single precision, 16 in double, or stay idle */
	const double rows = precision == SINGLE ? ceil(share / 64) * 64 : share;
	work->operations[precision == SINGLE ? PIPE_FP32 : PIPE_TENSOR_FP64] +=
	        2 * blocks * rows * width * TOP_COLUMNS;
	/* single: a quad of the top, two passes, and two of the panel's elements for eight
	 * multiply-adds; double: three operands of two passes for two products of 8 x 8 x 4 */
	work->wavefronts +=
	        blocks * rows * width * TOP_COLUMNS / 32 * (precision == SINGLE ? 1. / 2 : 3. / 8);
	work->wavefronts += blocks * WARPS * (6 + 2 * turns); /* waits */
	if (!aligned) /* the triangle, and all rows of a turn that there may be */
		add_words(precision, blocks * width * (width + turns * at_once), work);
	work->chains = 8;
	work->link[LINK_CLUSTER_BARRIER] = 1;
	work->link[LINK_BLOCK] += 2 * turns;
	work->link[LINK_L2] = turns - 1;
	work->link[LINK_SHARED] += 2 * turns;
}

/* ---- deferred swaps ---- */

void deferred_swaps_work(
        enum precision precision, double n, int64_t shared_per_block, struct kernel_work *work)
{
	enum { SETTLE_THREADS = 512 };
	const double word = (double)precision_bytes(precision), column = n * word,
	             columns = deferred_swaps_group(precision, (int64_t)n, shared_per_block),
	             half = n * n / 2; /* elements below the blocks on the diagonal */
	const double rows = n / 2 / SETTLE_THREADS;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = ceil(n / columns),
	        .threads = SETTLE_THREADS,
	        .registers = 40,
	        .shared = columns * column,
	        .dram = {half * word, half * word},
	        .l2 = {.read = half / columns * 2 * sizeof(int)},
	        .working_set = half * word,
	        .in_flight = rows * columns * word};
	/* Elements arrive by a copy of a word a lane, read and written: two passes a line. Source
	 * rows are anywhere: of 32 elements in 32 banks the fullest bank has 3.5, of 16 in 16 it
	 * has 3.1. Their numbers come from a table in L1, of half the rows in the mean: a pass for
	 * each line that a warp touches, on the same path. */
	const double lines = n / 2 * sizeof(int) / 128, touched = lines * (1 - exp(-32 / lines));
	work->wavefronts = half / columns / 32 * touched +
	                   half / 32 * (word / 4 * 2 + (precision == SINGLE ? 3.5 : 2 * 3.1));
	work->link[LINK_L2] = 2 + 2 * ceil(rows / 2);
	work->link[LINK_DRAM] = 1;
	work->link[LINK_BLOCK] = 1;
	work->link[LINK_SHARED] = ceil(rows / 2);
}
