/* SPDX-License-Identifier: MIT */
/* Decisions of the host for the devices that tests/devices describes: geometry and plans stay
 * within the device and cover the whole problem. */
#include "tests/tap.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemm/gemm.h"
#include "factor/kernels/gemm/double_tall.h"
#include "factor/kernels/gemm/tf32_tall.h"
#include "factor/kernels/gemv/gemv.h"
#include "factor/kernels/lu/deferred_swaps.h"
#include "factor/kernels/lu/panel_geometry.h"
#include "lib/base/msg.h"
#include "lib/base/architecture.h"
#include "lib/device/description.h"

#include <glob.h>
#include <inttypes.h>
#include <string.h>

static const int64_t sides[] = {1, 2, 31, 32, 33, 64, 100, 127, 128, 129, 255, 256, 1000, 3000,
        4096, 6000, 6390, 8191, 8192, 8193, 10000, 16384, 33000, 100003, 1000000};
enum { SIDES = ARRAY_LEN(sides), PART = 16 };

/* Blocks for `sms` multiprocessors, of shared memory for the rows, what is beside them, and the
 * kernel's variables. */
static bool panel_fits(const struct panel_geometry *g, int64_t m, int64_t n, enum precision p,
        const struct description *d, int64_t sms)
{
	const int64_t rows = (g->rows_per_block + 1) * n, kept = 3 * (n + 2);

	return g->blocks >= 1 && g->blocks <= sms && g->blocks * g->rows_per_block >= m &&
	       g->rows_per_block >= n && g->dynamic_bytes >= (rows + kept) * precision_bytes(p) &&
	       g->dynamic_bytes + PANEL_STATIC_BYTES <= d->shared_per_block;
}

/* All bytes of the panel's share of rows, but for up to 31 of them. */
static bool has_room(
        int64_t m, int64_t n, enum precision p, const struct description *d, int64_t sms)
{
	const int64_t least = (m + sms - 1) / sms, rows = n > least ? n : least;

	return ((rows + 32) * n + 6 * n) * precision_bytes(p) + 1024 <= d->shared_per_block;
}

/* sms: all that the device has, or a part of it. */
static bool panels_fit(
        const struct description *d, int64_t sms, int64_t m, int64_t n, enum precision p)
{
	const int64_t word = precision_bytes(p), shared = d->shared_per_block;
	struct panel_geometry g, beside;
	const bool fits = panel_geometry(m, n, word, (int)sms, shared, &g);

	return (fits ? panel_fits(&g, m, n, p, d, sms) : m < n || !has_room(m, n, p, d, sms)) &&
	       panel_geometry_beside(m, n, word, (int)sms, shared, &beside) == fits &&
	       (!fits || panel_fits(&beside, m, n, p, d, sms));
}

/* Deferred swaps of as many rows as fit, and of fewer. */
static bool swaps_fit(const struct description *d, enum precision p, int64_t m)
{
	const int64_t most = deferred_swaps_most(p, d->shared_per_block),
	              rows = m < most ? m : most;

	return deferred_swaps_group(p, rows, d->shared_per_block) * rows * precision_bytes(p) <=
	       d->shared_per_block;
}

/* Cholesky's blocks: what a block of threads has beside its strip is the kernel's variables. */
static bool strips_fit(const struct description *d, enum precision p, int width, int64_t below)
{
	enum { VARIABLES = 16, TILE = 32 };
	const int word = (int)precision_bytes(p),
	          strip = block_potrf_strip(width, below, word, (int)d->sms, d->shared_per_block);

	return block_potrf_bytes(width, TILE, word) > d->shared_per_block ||
	       block_potrf_bytes(width, strip, word) + VARIABLES <= d->shared_per_block;
}

static bool gemv_covers(const struct tuning *tuning, int64_t m, int64_t n, bool transposed)
{
	const struct gemv_call call = {.precision = SINGLE,
	        .transposed = transposed,
	        .m = m,
	        .n = n,
	        .alpha = 1,
	        .lda = m,
	        .incx = 1,
	        .incy = 1};
	const struct gemv_plan plan = gemv_plan(&call, tuning);

	return plan.splits >= 1 && plan.tiles * plan.width >= (transposed ? n : m) &&
	       (plan.splits == 1 || plan.tiles <= GEMV_MAX_SPLIT_TILES) &&
	       plan.early == (tuning->device.code >= 90) && gemv_work(&plan, SINGLE) >= 0;
}

static bool gemm_covers(const struct tuning *tuning, int64_t m, int64_t n, int64_t k)
{
	const int sms = tuning->device.sm_count;
	const struct gemm_problem problem = {.precision = SINGLE, .m = m, .n = n, .k = k, .ldc = m};
	const struct gemm_plan plan = gemm_plan_make(&problem, tuning, GEMM_WORK_BYTES);
	const struct tf32_tall_plan tall = tf32_tall_plan_make(n, n, m, sms);
	const struct double_tall_plan wide = double_tall_plan_make(n, n, m, sms);

	return plan.shape >= 0 && plan.shape < GEMM_DOUBLE && plan.splits >= 1 &&
	       plan.work_bytes <= GEMM_WORK_BYTES && (plan.splits - 1) * 4 <= k &&
	       tall.groups * tall.side >= n && tall.across * tall.width >= n &&
	       (tall.pinned_sets == 1 || tall.pinned_sets * tall.groups <= sms) &&
	       wide.groups * wide.side >= n && wide.across * wide.width >= n &&
	       (wide.teams == 1 || wide.teams * wide.groups * wide.across <= sms);
}

static void check(const char *path)
{
	struct description d = {0};
	bool panels = true, gemv = true, gemm = true, swaps = true, strips = true;

	if (!description_read(path, &d)) {
		ok(false, "%s: is read", path);
		return;
	}
	const struct tuning tuning = tuning_for(tuning_device_like((int)d.code, (int)d.sms, d.l2));
	for (int i = 0; i < SIDES; i++)
		for (int j = 0; j < SIDES; j++) {
			const int64_t m = sides[i], n = sides[j];
			for (int p = 0; n <= 1000 && p < 2; p++) {
				const enum precision precision = p ? DOUBLE : SINGLE;
				panels = panels && panels_fit(&d, d.sms, m, n, precision) &&
				         panels_fit(&d, PART, m, n, precision);
				swaps = swaps && swaps_fit(&d, precision, m);
				strips =
				        strips && (n > 128 || strips_fit(&d, precision, (int)n, m));
			}
			for (int t = 0; t < 2; t++)
				gemv = gemv && gemv_covers(&tuning, m, n, t);
			gemm = gemm && gemm_covers(&tuning, m, n, sides[(i + j) % SIDES]);
		}
	const char *name = strrchr(path, '/') + 1;
	ok(ARCHITECTURE_THREADS(d.code) == d.threads_per_sm,
	        "%s: a multiprocessor holds %" PRId64 " threads", name, d.threads_per_sm);
	ok(panels, "%s: panels are within its multiprocessors, or %d of them, and shared memory",
	        name, PART);
	ok(swaps, "%s: deferred swaps are within its shared memory", name);
	ok(strips, "%s: blocks of Cholesky are within its shared memory", name);
	ok(gemv, "%s: plans of gemv cover the matrix", name);
	ok(gemm, "%s: plans of gemm cover the matrix", name);
	for (int p = 0; p < 2; p++) {
		const enum precision precision = p ? DOUBLE : SINGLE;
		const int64_t rows = block_lu_rows_most(precision, d.shared_per_block);
		ok(rows == 0 || BLOCK_ROWS_BYTES(precision, rows) <= d.shared_per_block,
		        "%s: row kernels of %" PRId64 " rows, precision %c", name, rows, precision);
	}
	ok(!gemm_has(DOUBLE, (int)d.code, d.shared_per_block) || d.code >= 90,
	        "%s: products in double precision need code for 9.0", name);
}

/* Blocks of a panel wait for the keys of all; one warp polls those of 192. */
static void check_many(void)
{
	struct panel_geometry g, beside;
	bool good = true;

	for (int64_t m = 1000; m < 3000000; m += m / 3)
		good = good && (!panel_geometry(m, 64, 4, 224, 232448, &g) || g.blocks <= 192) &&
		       (!panel_geometry_beside(m, 64, 4, 224, 232448, &beside) ||
		               beside.blocks <= 192);
	ok(good && panel_geometry(100000, 64, 4, 224, 232448, &g) && g.blocks > 132,
	        "panels on 224 multiprocessors have as many blocks as can exchange keys");
}

int main(void)
{
	glob_t found;
	struct description d;

	if (glob("tests/devices/*", 0, NULL, &found) != 0)
		msg_die(1, "no tests/devices: run from the repository's root");
	for (size_t i = 0; i < found.gl_pathc; i++)
		check(found.gl_pathv[i]);
	check_many();
	ok(found.gl_pathc >= 10, "%zu devices", found.gl_pathc);
	ok(!description_read("tests/tap.h", &d) && !description_read("nowhere", &d),
	        "what describes no device is refused");
	globfree(&found);
	return finish();
}
