/* SPDX-License-Identifier: MIT */
/* The operations of blocked factorizations on the model executor: what each costs, what overlaps
 * and who is owed the time, on the synthetic profile. Microseconds unless said otherwise. */
#include "tap.h"
#include "model_profile.h"

#include "../factor/model/executor_model.h"

static struct matrix block(int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, m, SINGLE};
}

static double us(struct executor *e)
{
	return executor_model_result(e).seconds * 1e6;
}

static struct executor *fresh(const struct profile *p)
{
	return executor_model_new(p, MODEL_CUDA, 2);
}

/* ---- prices ---- */

/* One operation of our own or the library: queued, done, and the wait of 5. */
enum { WAIT = 5 };
static const double queued = 2, library = 2.75, started = 1;

static double link_us(const struct profile *p, const char *name, double bytes)
{
	return profile_get(p, name, &(struct arg){"bytes", bytes}, 1).estimate.value * 1e6;
}

static void test_library(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix a = block(4096, 256), b = block(256, 1024), c = block(4096, 1024);

	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), library + 2.0 * 4096 * 1024 * 256 / 1e7 + WAIT, 1e-9, "gemm");
	executor_model_restart(e, false);
	ex_gemm(e, TRANSPOSED, PLAIN, 1, block(8192, 64), block(8192, 1000), 0, block(64, 1000));
	is_real(us(e), library + 2.0 * 64 * 1000 * 8192 / 1e7 + WAIT, 1e-9, "gemm along columns");
	executor_model_restart(e, false);
	ex_syrk(e, LOWER, PLAIN, -1, block(3000, 200), 1, block(3000, 3000));
	is_real(us(e), library + 3000.0 * 3000 * 200 / 1e7 + WAIT, 1e-9, "syrk");
	executor_model_restart(e, false);
	ex_trsm(e, LEFT, LOWER, PLAIN, UNIT, 1, block(256, 256), block(256, 3000));
	is_real(us(e), library + 256.0 * 256 * 3000 / 1e7 + WAIT, 1e-9, "trsm from the left");
	executor_model_restart(e, false);
	ex_trsm(e, RIGHT, LOWER, TRANSPOSED, NON_UNIT, 1, block(256, 256), block(3000, 256));
	is_real(us(e), library + 256.0 * 256 * 3000 / 1e7 + WAIT, 1e-9, "trsm from the right");
	executor_model_restart(e, false);
	ex_gemm(e, TRANSPOSED, PLAIN, 1, block(8192, 1000), block(8192, 64), 0, block(1000, 64));
	is_real(us(e), library + 2.0 * 64 * 1000 * 8192 / 1e7 + WAIT, 1e-9,
	        "gemm along many columns");
	executor_model_restart(e, false);
	ex_gemv(e, PLAIN, 1, block(3000, 3000), block(3000, 1), 0, block(3000, 1));
	is_real(us(e), library + 9e6 / 1e7 + WAIT, 1e-9, "gemv in L2");
	executor_model_restart(e, false);
	ex_gemv(e, TRANSPOSED, 1, block(5000, 5000), block(5000, 1), 0, block(5000, 1));
	is_real(us(e), library + 2 * 25e6 / 1e7 + WAIT, 1e-9, "gemv out of DRAM");
	executor_model_restart(e, false);
	ex_gemm(e, PLAIN, PLAIN, 1, block(1, 1), block(1, 1), 0, block(1, 1));
	is_real(us(e), library + 2 * 32 * 32 * 32 / 1e7 + WAIT, 1e-9,
	        "smaller than the smallest measured costs what that does");
	ok(!executor_model_reader(e)->model.extrapolated, "and is no extrapolation");
	executor_model_restart(e, false);
	ex_gemm(e, PLAIN, PLAIN, 1, block(0, 1), block(1, 1), 0, block(0, 1));
	ex_gemm(e, PLAIN, PLAIN, 1, block(1, 0), block(0, 1), 1, block(1, 1));
	is_real(us(e), 0, 0, "nothing to do costs nothing");
	executor_free(e);
}

/* With a diagonal, and where the profile has them. */
static void test_few_sides(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	for (double m = 512; m <= 2048; m *= 4)
		for (double n = 1; n <= 256; n *= 256) {
			const struct arg args[] = {{"m", m}, {"n", n}};
			add(p, "gpu.trsm_few.s", "s", args, 2, 1e-7 * m, 0);
		}
	struct executor *e = fresh(p);
	ex_trsm(e, LEFT, UPPER, PLAIN, NON_UNIT, 1, block(1024, 1024), block(1024, 8));
	is_real(us(e), library + 102.4 + WAIT, 1e-9, "trsm of few right-hand sides");
	executor_model_restart(e, false);
	ex_trsm(e, LEFT, LOWER, PLAIN, UNIT, 1, block(512, 512), block(512, 128));
	is_real(us(e), library + 512.0 * 512 * 128 / 1e7 + WAIT, 1e-9, "LU's have no diagonal");
	executor_free(e);
	profile_free(p);
}

static void test_moves(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix a = block(2048, 1024), twice = block(4096, 1024);
	double mib = 1048576, bytes = 8 * mib, least = 4096;
	double copied = (2 * bytes - least) / 1e6, written = (2 * bytes - least) / 1e6;
	struct pivots pivots = {NULL, 128};
	struct matrix host;

	ex_copy(e, a, a);
	is_real(us(e), queued + started + copied + WAIT, 1e-6, "copy");
	executor_model_restart(e, false);
	ex_transpose(e, a, a);
	is_real(us(e), queued + started + copied + WAIT, 1e-6, "transpose");
	executor_model_restart(e, false);
	ex_rotate(e, block(2, 512), a);
	is_real(us(e), queued + started + copied + WAIT, 1e-6, "rotate");
	executor_model_restart(e, false);
	/* two blocks: 2 MiB each go through one multiprocessor at 200 GB/s */
	ex_make_rotations(e, 0, block(131072, 4), block(2, 2));
	double pair = 2 * 2 * 131072 * 4 / 200e3;
	is_real(us(e), queued + started + 0.25 + pair + 0.25 + 0.015 + WAIT, 1e-6,
	        "make_rotations: a pair is one block's");
	executor_model_restart(e, false);
	ex_explicit_v(e, a, a);
	is_real(us(e), queued + started + copied + WAIT, 1e-6, "explicit_v");
	executor_model_restart(e, false);
	ex_fill(e, WHOLE, 0, 0, twice);
	is_real(us(e), queued + started + written + WAIT, 1e-6, "fill");
	executor_model_restart(e, false);
	ex_laswp(e, a, pivots, false);
	is_real(us(e),
	        queued + started + (2.0 * 128 * 1024 * 68 - least) / 1e6 + 128 * 0.022 + 0.5 + WAIT,
	        0.02, "laswp: words above, sectors below");
	executor_model_restart(e, false);
	ex_adopt_pivots(e, pivots, 7, pivots);
	is_real(us(e), queued + started + WAIT, 1e-9, "a kernel over integers only starts");
	executor_model_restart(e, false);
	ex_zero_diagonal(e, a, NULL);
	is_real(us(e), queued + started + WAIT, 1e-9, "and so does zero_diagonal");
	executor_model_restart(e, false);
	ex_clear_info(e, NULL);
	is_real(us(e), 3 + 3 + WAIT, 1e-9, "clear_info is queued as a copy is");
	executor_model_restart(e, false);
	e->ops->stage(e, 0, 2048, 1024, SINGLE, &host);
	ex_to_host(e, a, host);
	is_real(us(e), link_us(p, "link.d2h.pinned.time", bytes), 1e-9,
	        "to_host and the wait are the measured round trip");
	executor_model_restart(e, false);
	ex_to_device(e, host, a);
	is_real(us(e), link_us(p, "link.h2d.pinned.time", bytes), 1e-9, "to_device");
	executor_free(e);
}

/* A copy of 8 MiB that finds its queue at work: on a kernel, or on a copy of its direction. */
static double behind_kernel(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix host, a = block(2048, 1024);

	e->ops->stage(e, 0, a.m, a.n, SINGLE, &host);
	ex_copy(e, a, a);
	ex_to_host(e, a, host);
	const double seconds = us(e);
	executor_free(e);
	return seconds;
}

static void test_hand_over(struct profile *p)
{
	const double bytes = 8 * 1048576.0, least = 4096;
	const double link = link_us(p, "link.d2h.pinned.time", bytes);
	const double kernel = queued + started + (2 * bytes - least) / 1e6;
	struct executor *e = fresh(p);
	struct matrix host, a = block(2048, 1024), panel = block(4096, 64);

	is_real(behind_kernel(p), kernel + link - 3 + 6, 1e-6,
	        "behind a kernel the copy engine takes over, as a copy behind one kernel says");
	e->ops->stage(e, 0, a.m, a.n, SINGLE, &host);
	ex_to_host(e, a, host);
	ex_to_host(e, a, host);
	is_real(us(e), 3 + 2 * (link - 3 - WAIT) + WAIT, 1e-9, "behind a copy it has it already");
	add(p, "gpu.copy.behind", "s", &(struct arg){"kernels", 4}, 1, 25e-6, 0);
	is_real(behind_kernel(p), kernel + link - 3 + 25 - 4 * 2 - 1 - 7, 1e-6,
	        "or as one behind several does");

	add(p, "link.h2d.written.time", "s", &(struct arg){"bytes", 1}, 1, 10e-6, 0);
	add(p, "link.h2d.written.time", "s", &(struct arg){"bytes", 1 << 20}, 1, 80e-6, 0);
	e->ops->stage(e, 0, panel.m, panel.n, SINGLE, &host);
	executor_model_restart(e, false);
	ex_to_device(e, host, panel);
	const double clean = us(e);
	executor_model_restart(e, false);
	ex_host_panel_geqrf(e, host, block(64, 1));
	const double computed = us(e);
	ex_to_device(e, host, panel);
	is_real(us(e) - computed, 80, 1e-9, "what the host has written comes out of its caches");
	ok(clean < 79, "what it has not is quicker: %.1f us", clean);
	executor_free(e);
}

static void test_panels(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix a = block(128, 128), tall = block(4096, 64);
	/* On one of 100 multiprocessors a product of tiles takes 0.65536 us and an FMA of a warp
	 * 0.64 ns; a solve 32 x (2 x 2 + 10 + 16 x 0.64) ns; a column 20 + 5 x 2 + 10 + 32 x 0.64
	 */
	double product = 0.65536, solve = 32 * 0.02424, column = 0.06048;
	double moved = 128 * 128 * 4 / 200e3 + 0.25, inverted = started + 4 * solve + 6 * product;

	ex_potrf_block(e, LOWER, a, 0, NULL);
	double half = 128 * 128 * 2 / 200e3 + 0.25;
	is_real(us(e), queued + started + 128 * column + 10 * product + 2 * half + WAIT, 1e-9,
	        "potrf_block");
	executor_model_restart(e, false);
	/* 62 strips of 64 rows, each 12 products more */
	ex_potrf_block(e, LOWER, block(4096, 128), 0, NULL);
	double solved = 128 * 128 * 4 / 200e3 + 0.25;
	is_real(us(e), queued + started + 128 * column + 22 * product + 2 * solved + WAIT, 1e-9,
	        "potrf_block with what is below it");
	executor_model_restart(e, false);
	/* 8 tiles on 100 multiprocessors, each the product of 32 x 128 and 128 x 32 */
	ex_syrk(e, LOWER, PLAIN, -1, block(256, 128), 1, block(256, 32));
	double rank =
	        started + 4 * product + 2 * 32 * 128 * 4 / 200e3 + 0.25 + (65536 - 4096) / 1e6;
	is_real(us(e), queued + rank + WAIT, 1e-9, "a small syrk");
	executor_model_restart(e, false);
	ex_syrk(e, UPPER, TRANSPOSED, -1, block(128, 256), 1, block(32, 256));
	is_real(us(e), queued + rank + WAIT, 1e-9, "its mirror image");
	executor_model_restart(e, false);
	ex_potrf_block(e, LOWER, block(200, 200), 0, NULL);
	ok(executor_model_result(e).term[TERM_LAUNCH] > 2.99e-6, "of 200 columns: three kernels");
	executor_model_restart(e, false);
	ex_trtri(e, LOWER, UNIT, a, a);
	is_real(us(e), queued + inverted + moved + WAIT, 1e-9, "trtri");
	executor_model_restart(e, false);
	ex_larft(e, block(8192, 128), block(128, 1), a);
	is_real(us(e), library + queued + 2.0 * 128 * 128 * 8192 / 1e7 + inverted + moved + WAIT,
	        1e-9, "larft: both kernels are queued before the first runs");
	executor_model_restart(e, false);
	ex_trsm_guard(e, LEFT, LOWER, PLAIN, UNIT, a, a, block(128, 3000), block(128, 3000));
	is_real(us(e), queued + started + 0.4 + 32 * 0.25 + WAIT, 1e-9, "trsm_guard");
	executor_model_restart(e, false);
	ex_panel_geqrf(e, tall, block(64, 1), NULL);
	/* a column as LU's; 32 blocks of 128 threads; 4 groups of these read a record each, 8 loads
	 * at a time: one round; what the others sent comes at 200 GB/s; two FMA and 4 shuffles a
	 * column */
	double columns = 64 * 65 / 2.0, traffic = 2 * (4096 * 64 * 4 - 4096) / 1e6;
	is_real(us(e),
	        3 + 4 + 3 + 3 + 64 * (1.75 + 0.25) + 32 * columns * 8 / 200e3 +
	                columns * (2 * 0.64e-3 + 4 * 0.5e-3) + traffic + WAIT,
	        1e-6, "panel_geqrf, resident");
	executor_model_restart(e, false);
	bool good = ex_panel_geqrf(e, block(4000000, 64), block(64, 1), NULL);
	ok(good && us(e) > 64 * 2 * started && !e->fault.text[0],
	        "panel_geqrf that does not fit streams");
	executor_free(e);
}

/* Kernels that the profile has as surfaces cost what those say, from start to start. */
/* What a profile may lack: products beside a panel, panels too tall for the chip, marks. */
static void test_measured_later(void)
{
	struct profile *p = synthetic(0);
	const struct arg product[] = {{"m", 1024}, {"n", 1024}, {"k", 64}};
	const struct arg odd[] = {{"m", 1000}, {"n", 1000}, {"k", 64}};
	const struct arg square[] = {{"n", 3000}, {"k", 200}};
	const struct arg rows[] = {{"n", 64}, {"below", 1000}};
	const struct arg wide[] = {{"m", 2560}, {"n", 64}, {"beside", 1}};
	const struct arg panel[] = {{"m", 200000}, {"n", 64}};
	struct matrix a = block(1024, 64), b = block(64, 1024), c = block(1024, 1024);
	struct matrix rest = block(1000, 1000);

	add_blocks(p, 0);
	add(p, "gpu.own_gemm.s", "s", product, 3, 40e-6, 0);
	add(p, "gpu.own_syrk.s", "s", square, 2, 30e-6, 0);
	struct executor *e = fresh(p);
	e->shares = true;
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), library + 40 + WAIT, 1e-9, "our product, whatever is beside it");
	executor_free(e);

	add(p, "gpu.own_gemm_shared.s", "s", product, 3, 50e-6, 0);
	add(p, "gpu.own_syrk_shared.s", "s", square, 2, 35e-6, 0);
	add(p, "gpu.panel_geqrf_columns.s", "s", panel, 2, 900e-6, 0);
	add(p, "gpu.own_gemm_edge.s", "s", odd, 3, 45e-6, 0);
	add(p, "gpu.own_gemm_edge_shared.s", "s", odd, 3, 60e-6, 0);
	add(p, "gpu.potrf_rows.s", "s", rows, 2, 21e-6, 0);
	add(p, "gpu.potrf_rows_beside.s", "s", rows, 2, 31e-6, 0);
	add(p, "gpu.panel_geqrf.s", "s", wide, 3, 200e-6, 0);
	add(p, "gpu.panel_geqrf_shared.s", "s", wide, 2, 200e-6, 0);
	add(p, "gpu.event.mark", "s", NULL, 0, 4e-6, 0);
	e = fresh(p);
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), library + 40 + WAIT, 1e-9, "our product alone");
	executor_model_restart(e, false);
	e->shares = true;
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), library + 50 + WAIT, 1e-9, "with a block a tile");
	executor_model_restart(e, false);
	ex_gemm(e, PLAIN, PLAIN, -1, block(1000, 64), block(64, 1000), 1, rest);
	is_real(us(e), library + 60 + WAIT, 1e-9, "and with tiles cut off");
	executor_model_restart(e, false);
	e->shares = false;
	ex_gemm(e, PLAIN, PLAIN, -1, block(1000, 64), block(64, 1000), 1, rest);
	is_real(us(e), library + 45 + WAIT, 1e-9, "these alone");
	executor_model_restart(e, false);
	ex_potrf_block(e, LOWER, block(1064, 64), 0, NULL);
	is_real(us(e), queued + 21 + WAIT, 1e-9, "Cholesky's panel alone");
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	ex_potrf_block(e, LOWER, block(1064, 64), 0, NULL);
	is_real(us(e), queued + 31 + WAIT, 1e-9, "and on half of the multiprocessors");
	e->shares = true;
	executor_model_restart(e, false);
	ex_syrk(e, LOWER, PLAIN, -1, block(3000, 200), 1, block(3000, 3000));
	is_real(us(e), library + 35 + WAIT, 1e-9, "and our syrk");
	executor_model_restart(e, false);
	ex_panel_geqrf(e, block(200000, 128), block(128, 1), NULL);
	is_real(us(e), 3 + 4 + 900 + WAIT, 1e-9, "a panel too tall for the chip");
	executor_model_restart(e, false);
	executor_model_record(e, true);
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), library + 0.125 + 50 + 3 + WAIT, 1e-9, "a mark behind it");
	executor_model_record(e, false);
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	ex_panel_geqrf(e, block(2560, 64), block(64, 1), NULL);
	e->queue = QUEUE_MAIN;
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	struct timeline *t = executor_model_timeline(e, "beside");
	/* a tile stays for 4 128^2 64 operations at 10 Tflop/s / 100 */
	is_real(t->entry[1].end * 1e6, 7 + 200 + 4.0 * 128 * 128 * 64 / 1e5 - 2.25, 1e-2,
	        "a panel that products do not slow down waits for a tile's end");
	timeline_free(t);
	executor_free(e);
	profile_free(p);
}

/* A sweep of one kernel: 100 multiprocessors, a window of 6, a tile of 3, 10 at the start. */
static void test_sweep(void)
{
	struct profile *p = synthetic(0);
	const double rows = (4 * 99 - 32) * 32;
	struct band band = {
	        .of = {block(320, 320), block(320, 1), {NULL, 0, 0, 320, 1, SINGLE}}, .p = 20};

	add_blocks(p, 0);
	struct executor *e = fresh(p);
	ok(!e->ops->band_fits(e, SINGLE, 20), "no sweep that the profile does not have");
	executor_free(e);
	for (int half = 0; half < 2; half++) {
		const double n = half ? 512 : 1024, windows = n / 32;
		const struct arg few[] = {{"p", 32}, {"n", n}, {"rows", 32}};
		const struct arg many[] = {{"p", 32}, {"n", n}, {"rows", rows}};
		add(p, "gpu.band_sweep.s", "s", few, 3, (10 + windows * 6) * 1e-6, 0);
		add(p, "gpu.band_sweep.s", "s", many, 3, (10 + windows * 4 * 3) * 1e-6, 0);
	}
	e = fresh(p);
	ok(e->ops->band_fits(e, SINGLE, 20) && !e->ops->band_fits(e, SINGLE, 257) &&
	                !e->ops->band_fits(e, DOUBLE, 20),
	        "the sweeps that it has");
	ex_band_sweep(e, &band, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 6 + WAIT, 1e-9, "windows that are waited for");
	executor_model_restart(e, false);
	band.of.q = block(5 * 99 * 32, 320);
	ex_band_sweep(e, &band, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 6 * 3 + WAIT, 1e-9, "tiles that are");
	executor_free(e);
	for (int half = 0; half < 2; half++) {
		const double n = half ? 512 : 1024, windows = n / 32;
		const struct arg few[] = {{"p", 32}, {"n", n}, {"rows", 32}};
		const struct arg many[] = {{"p", 32}, {"n", n}, {"rows", rows}};
		add(p, "gpu.band_slide.s", "s", few, 3, (10 + windows * 7) * 1e-6, 0);
		add(p, "gpu.band_slide.s", "s", many, 3, (10 + windows * 4 * 3) * 1e-6, 0);
	}
	e = fresh(p);
	band.of.q = matrix_view(band.of.q, 0, 0, 0, 320);
	ex_band_sweep(e, &band, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 7 + WAIT, 1e-9,
	        "windows that slide, where they are known");
	executor_model_restart(e, false);
	ex_band_sweep(e, &(struct band){.of = band.of, .added = &band.of, .p = 20}, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 6 + WAIT, 1e-9, "and those of added rows");
	executor_free(e);
	profile_free(p);
}

/* A panel with V and T in one kernel, where the profile has it and a cluster holds it. */
static void test_reflectors(void)
{
	struct profile *p = synthetic(0);
	const struct arg at[][2] = {
	        {{"m", 1024}, {"n", 32}}, {{"m", 1024}, {"n", 64}}, {{"m", 1024}, {"n", 128}}};
	const struct matrix a = block(1024, 48), v = block(1024, 48), t = block(48, 48);
	const struct matrix wide = block(1024, 96);

	add_blocks(p, 0);
	struct executor *e = fresh(p);
	ex_panel_reflectors(e, a, block(48, 1), v, t, NULL);
	const double separate = us(e);
	executor_free(e);
	add(p, "gpu.panel_reflectors.s", "s", at[0], 2, 30e-6, 0);
	add(p, "gpu.panel_reflectors.s", "s", at[1], 2, 60e-6, 0);
	add(p, "gpu.panel_reflectors.s", "s", at[2], 2, 160e-6, 0);
	e = fresh(p);
	ex_panel_reflectors(e, a, block(48, 1), v, t, NULL);
	const double together = us(e);
	is_real(together, queued + 30 + 0.5 * 30 + WAIT, 1e-9, "by the Gram matrix as measured");
	if (!ok(together < separate, "and sooner than the three calls without it"))
		diag("%g against %g", together, separate);
	executor_model_restart(e, false);
	ex_panel_reflectors(e, wide, block(96, 1), wide, block(96, 96), NULL);
	is_real(us(e), queued + started + 0.75 * (160 - started) + WAIT, 1e-9,
	        "in one cluster as measured");
	executor_model_restart(e, false);
	ex_panel_reflectors(
	        e, block(8193, 128), block(128, 1), block(8193, 128), block(128, 128), NULL);
	const double tall = us(e);
	executor_model_restart(e, false);
	ex_panel_geqrf(e, block(8193, 128), block(128, 1), NULL);
	const double alone = us(e);
	if (!ok(tall > alone + library, "three calls where a cluster does not hold the panel"))
		diag("%g and alone %g", tall, alone);
	executor_free(e);
	profile_free(p);
}

static void test_measured(void)
{
	struct profile *p = synthetic(0);
	const struct arg n = {"n", 128};
	const struct arg panel[] = {{"m", 4096}, {"n", 64}, {"beside", 0}};
	const struct arg swaps[] = {{"swaps", 64}, {"n", 512}, {"cold", 0}};
	const struct arg vector[] = {{"m", 512}, {"n", 512}, {"cold", 0}};
	struct matrix a = block(128, 128), square = block(512, 512);

	add_blocks(p, 0);
	add(p, "gpu.potrf_block.s", "s", &n, 1, 30e-6, 0);
	add(p, "gpu.trtri.s", "s", &n, 1, 20e-6, 0);
	add(p, "gpu.larft.s", "s", &n, 1, 21e-6, 0);
	add(p, "gpu.trsm_guard.s", "s", &n, 1, 5e-6, 0);
	add(p, "gpu.panel_geqrf.s", "s", panel, 3, 200e-6, 0);
	add(p, "gpu.laswp.s", "s", swaps, 3, 7e-6, 0);
	add(p, "gpu.lu_columns.s", "s", panel, 2, 6e-6, 0);
	add(p, "gpu.own_gemv.s.n", "s", vector, 3, 3e-6, 0);
	struct executor *e = fresh(p);

	ex_potrf_block(e, LOWER, a, 0, NULL);
	is_real(us(e), queued + 30 + WAIT, 1e-9, "potrf_block as measured");
	is_real(executor_model_result(e).term[TERM_LAUNCH] * 1e6, started, 1e-6,
	        "of which it starts as kernels do");
	executor_model_restart(e, false);
	ex_trtri(e, LOWER, UNIT, a, a);
	is_real(us(e), queued + 20 + WAIT, 1e-9, "trtri as measured");
	executor_model_restart(e, false);
	ex_larft(e, block(8192, 128), block(128, 1), a);
	is_real(us(e), library + queued + 2.0 * 128 * 128 * 8192 / 1e7 + 21 + WAIT, 1e-9,
	        "larft: the product, and T as measured");
	executor_model_restart(e, false);
	ex_trsm_guard(e, LEFT, LOWER, PLAIN, UNIT, a, a, block(128, 3000), block(128, 3000));
	is_real(us(e), queued + 5 + WAIT, 1e-9, "trsm_guard as measured");
	executor_model_restart(e, false);
	ex_panel_geqrf(e, block(4096, 64), block(64, 1), NULL);
	is_real(us(e), 3 + 4 + 200 + WAIT, 1e-9, "panel_geqrf as measured");
	executor_model_restart(e, false);
	ex_panel_geqrf(e, block(200000, 64), block(64, 1), NULL);
	is_real(us(e), 3 + 4 + 200 + WAIT, 1e-9,
	        "one too tall for the chip has its Gram matrix's form there, too");
	executor_model_restart(e, false);
	ex_laswp(e, square, (struct pivots){NULL, 64}, false);
	is_real(us(e), queued + 7 + WAIT, 1e-9, "laswp as measured");
	executor_model_restart(e, false);
	ex_lu_columns(e, block(4096, 64), (struct pivots){NULL, 64}, block(4096, 64));
	is_real(us(e), queued + 6 + WAIT, 1e-9, "columns right of an LU panel as measured");
	executor_model_restart(e, false);
	ex_gemv(e, PLAIN, 1, square, block(512, 1), 0, block(512, 1));
	is_real(us(e), queued + 3 + WAIT, 1e-9, "our gemv as measured, queued as kernels are");
	executor_free(e);
	profile_free(p);
}

static void test_host_panels(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix a = block(4096, 64);
	double sent = link_us(p, "link.h2d.pinned.time", 65 * 4);

	ex_host_panel_getrf(e, a, (struct pivots){NULL, 64});
	is_real(us(e), 4096 * 64.0 * 64 / 1e4 + sent, 1e-9, "LU panel on the host, pivots sent");
	executor_model_restart(e, false);
	sent = link_us(p, "link.h2d.pinned.time", 64 * 4);
	ex_host_panel_geqrf(e, a, block(64, 1));
	is_real(us(e), 4096 * 64.0 * 64 / 1e4 + sent, 1e-9, "QR panel on the host, tau sent");
	executor_model_restart(e, false);
	sent = link_us(p, "link.h2d.pinned.time", 200 * 4);
	ex_host_panel_geqrf(e, block(4096, 200), block(200, 1));
	is_real(us(e), 4096 * 200.0 * 200 / 1e4 + sent, 1e-9, "one between the widths measured");
	executor_model_restart(e, false);
	sent = link_us(p, "link.h2d.pinned.time", 4);
	ex_host_panel_potrf(e, LOWER, block(64, 64), 0, NULL);
	is_real(us(e), 64.0 * 64 * 64 / 2e4 + sent, 1e-9, "Cholesky on the host, info sent");
	executor_model_restart(e, false);
	ex_host_panel_potrf(e, LOWER, block(1088, 64), 0, NULL);
	is_real(us(e), 64.0 * 64 * 64 / 2e4 + 64.0 * 64 * 1024 / 2 / 1e5 + sent, 1e-9,
	        "and a solve with the rows below");
	executor_free(e);
}

/* ---- schedules ---- */

/* The whole synthetic machine of 100 multiprocessors. */
static bool update(struct executor *e, int64_t k)
{
	return ex_gemm(e, PLAIN, PLAIN, -1, block(1280, k), block(k, 1280), 1, block(1280, 1280));
}

static double update_us(int64_t k)
{
	return 2.0 * 1280 * 1280 * (double)k / 1e7;
}

static void test_two_queues(const struct profile *p)
{
	struct executor *e = fresh(p);
	/* 5 x 10 tiles of 32 x 32: half of the machine, */
	struct matrix half = block(160, 320);
	double one = 2.0 * 160 * 320 * 512 / 1e7;

	ex_gemm(e, PLAIN, PLAIN, -1, block(160, 512), block(512, 320), 1, half);
	e->queue = QUEUE_PANEL;
	ex_gemm(e, PLAIN, PLAIN, -1, block(160, 512), block(512, 320), 1, half);
	is_real(us(e), 2 * library + one + WAIT, 1e-9, "two halves of the machine in two queues");

	executor_model_restart(e, false);
	e->queue = QUEUE_OUT;
	update(e, 512);
	e->queue = QUEUE_IN;
	update(e, 512);
	is_real(us(e), library + 2 * update_us(512) - started + WAIT, 1e-9,
	        "two whole machines' work: only the second's start is hidden");
	executor_free(e);
}

static void test_events(const struct profile *p)
{
	struct executor *e = fresh(p);

	update(e, 512);
	ex_record(e, 3);
	update(e, 512);
	e->queue = QUEUE_OUT;
	ex_wait(e, 3);
	ex_to_host(e, block(1280, 64), block(1280, 64));
	ex_record(e, 4);
	ex_wait_host(e, 4);
	struct timeline *t = executor_model_timeline(e, "events");
	double first = t->entry[1].end, copy = t->entry[5].begin;
	is_real(first * 1e6, library + update_us(512), 1e-9, "the first update");
	is_real((copy - first) * 1e6, 0.25, 1e-6, "a copy of its result begins a hop later");
	timeline_free(t);

	executor_model_restart(e, false);
	ex_wait(e, 5);
	ex_wait_host(e, 5);
	is_real(us(e), 0.125, 1e-9, "an event never recorded is over");
	ok(!ex_record(e, EXECUTOR_EVENTS) && strstr(e->fault.text, "event"), "refused: %s",
	        e->fault.text);
	executor_free(e);
}

/* A panel on the host, beside an update of the rest or after it. */
static double hybrid_step(struct executor *e, bool ahead)
{
	struct matrix panel = block(1280, 64), host;

	executor_model_restart(e, false);
	e->ops->stage(e, 0, 1280, 64, SINGLE, &host);
	if (!ahead)
		update(e, 8192);
	ex_record(e, 0);
	if (ahead)
		update(e, 8192);
	e->queue = QUEUE_OUT;
	ex_wait(e, 0);
	ex_to_host(e, panel, host);
	ex_record(e, 1);
	ex_wait_host(e, 1);
	e->queue = QUEUE_IN;
	ex_host_panel_getrf(e, host, (struct pivots){NULL, 64});
	ex_to_device(e, host, panel);
	ex_record(e, 2);
	e->queue = QUEUE_MAIN;
	ex_wait(e, 2);
	update(e, 32);
	return us(e);
}

static void test_look_ahead(const struct profile *p)
{
	struct executor *e = fresh(p);
	double after = hybrid_step(e, false);
	struct timeline *t = executor_model_timeline(e, "after");
	double host = 1280 * 64.0 * 64 / 1e4;
	ok(after > update_us(8192) + host, "without look-ahead the panel shows: %.0f us", after);
	ok(timeline_expose(t).owed[PHASE_PANEL] > 0.99e-6 * host, "all of it");
	timeline_free(t);

	double ahead = hybrid_step(e, true);
	struct model_result r = executor_model_result(e);
	t = executor_model_timeline(e, "ahead");
	is_real(ahead, 0.125 + library + update_us(8192) + 0.25 + update_us(32) + WAIT, 1e-9,
	        "with it nothing but the updates does");
	ok(timeline_expose(t).owed[PHASE_PANEL] < 1e-9, "the panel is hidden");
	ok(r.limiter == TERM_ARITHMETIC, "arithmetic limits it");
	double phases = 0, terms = 0;
	for (int i = 0; i < PHASE_COUNT; i++)
		phases += r.phase[i];
	for (int i = 0; i < TERM_COUNT; i++)
		terms += r.term[i];
	is_real(phases, r.seconds, 1e-9, "phases add up");
	is_real(terms, r.seconds, 1e-9, "terms add up");
	timeline_free(t);
	executor_free(e);
}

/* A panel of a few multiprocessors on the device beside an update. */
static void test_panel_beside_update(const struct profile *p)
{
	struct executor *e = fresh(p);

	e->queue = QUEUE_PANEL;
	ex_panel_geqrf(e, block(2560, 64), block(64, 1), NULL); /* 20 blocks */
	double panel = us(e) - WAIT;
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	ex_panel_geqrf(e, block(2560, 64), block(64, 1), NULL);
	e->queue = QUEUE_IN;
	ex_clear_info(e, NULL);
	ex_clear_info(e, NULL);
	e->queue = QUEUE_MAIN;
	update(e, 512);
	struct timeline *t = executor_model_timeline(e, "beside");
	/* the panel works from 7 + 6 on, the update from 7 + 2 x 3 + 2.75 + 1 on; until that is
	 * done both have half of the panel's 20 of 100 multiprocessors */
	double begins = 13 + library + started, lasts = (update_us(512) - started) / 0.9;
	is_real(t->entry[t->count - 1].end * 1e6, begins + lasts, 1e-9, "the update has 90 of 100");
	is_real(t->entry[1].end * 1e6, panel + lasts / 2, 1e-9, "the panel half speed meanwhile");
	timeline_free(t);
	executor_free(e);
}

/* Of each of 10 columns 64 words and 64 lines, read and written at 20 GB/s. */
static void test_host_laswp(const struct profile *p)
{
	struct executor *e = executor_model_new(p, MODEL_HOST, 2);

	ex_laswp(e, block(512, 10), (struct pivots){NULL, 64}, false);
	is_real(us(e), 10 * 64 * 2 * (4 + 64) / 20e3, 1e-9, "the host exchanges rows by lines");
	executor_free(e);
}

/* ---- everything, everywhere ---- */

static bool run_all(struct executor *e)
{
	struct matrix a = block(512, 64), b = block(64, 64), x = block(64, 1), host;
	struct pivots pivots = {NULL, 64};

	return e->ops->stage(e, 3, 512, 64, SINGLE, &host) && ex_to_host(e, a, host) &&
	       ex_record(e, 0) && ex_wait_host(e, 0) && ex_host_panel_getrf(e, host, pivots) &&
	       ex_host_panel_geqrf(e, host, x) && ex_host_panel_potrf(e, LOWER, b, 0, NULL) &&
	       ex_to_device(e, host, a) && ex_record(e, 1) && ex_wait(e, 1) &&
	       ex_gemm(e, PLAIN, TRANSPOSED, 1, a, a, 0, block(512, 512)) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, 1, a, a, 0, b) &&
	       ex_syrk(e, UPPER, TRANSPOSED, 1, a, 0, b) &&
	       ex_trsm(e, RIGHT, UPPER, PLAIN, UNIT, 1, b, a) &&
	       ex_trsm_guard(e, LEFT, UPPER, TRANSPOSED, UNIT, b, b, b, b) &&
	       ex_gemv(e, PLAIN, 1, a, x, 0, block(512, 1)) && ex_trtri(e, LOWER, UNIT, b, b) &&
	       ex_laswp(e, a, pivots, true) && ex_adopt_pivots(e, pivots, 0, pivots) &&
	       ex_clear_info(e, NULL) && ex_potrf_block(e, UPPER, b, 0, NULL) &&
	       e->ops->geqrf_work(e, a) >= 0 && ex_panel_geqrf(e, a, x, NULL) &&
	       ex_explicit_v(e, a, a) && ex_larft(e, a, x, b) && ex_transpose(e, a, host) &&
	       ex_copy(e, a, host) && ex_fill(e, LOWER, 0, 1, b);
}

static void test_everything(const struct profile *p)
{
	for (int target = MODEL_CUDA; target <= MODEL_HOST; target++)
		for (int level = 1; level <= 2; level++) {
			struct executor *e =
			        executor_model_new(p, (enum model_target)target, level);
			bool good = run_all(e);
			struct model_result r = executor_model_result(e);
			ok(good && r.seconds > 0 && isfinite(r.seconds), "%s, level %d: %.1f us",
			        target == MODEL_HOST ? "host" : "cuda", level, r.seconds * 1e6);
			executor_free(e);
		}
	for (size_t i = 0; i < PHASE_COUNT; i++) {
		struct executor *e = fresh(p);
		e->skip = ((1u << PHASE_COUNT) - 1) & ~(1u << i);
		ok(run_all(e) && isfinite(us(e)), "%s alone", phase_name[i]);
		executor_free(e);
	}
	struct profile *empty = profile_new();
	struct executor *e = executor_model_new(empty, MODEL_CUDA, 2);
	run_all(e);
	ok(isnan(us(e)) && executor_model_reader(e)->model.missing,
	        "an empty profile: %s is missing", executor_model_reader(e)->model.missing_name);
	executor_free(e);
	profile_free(empty);
}

int main(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	test_library(p);
	test_moves(p);
	test_panels(p);
	test_few_sides();
	test_sweep();
	test_reflectors();
	test_measured();
	test_measured_later();
	test_host_panels(p);
	test_two_queues(p);
	test_events(p);
	test_look_ahead(p);
	test_panel_beside_update(p);
	test_host_laswp(p);
	test_everything(p);
	test_hand_over(p);
	profile_free(p);
	return finish();
}
