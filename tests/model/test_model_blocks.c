/* SPDX-License-Identifier: MIT */
/* The operations of blocked factorizations on the model executor: what library calls and moves cost
 * and whose share of the time it is, on the synthetic profile, and that every operation has a cost
 * in every phase. */
#include "tests/tap.h"
#include "model_calls.h"

static void test_library(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix a = block(4096, 256), b = block(256, 1024), c = block(4096, 1024);

	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), library + 2.0 * 4096 * 1024 * 256 / 1e7 + WAIT, 1e-9, "gemm");
	COSTS(ex_gemm(e, TRANSPOSED, PLAIN, 1, block(8192, 64), block(8192, 1000), 0,
	              block(64, 1000)),
	        library + 2.0 * 64 * 1000 * 8192 / 1e7 + WAIT, 1e-9, "gemm along columns");
	COSTS(ex_syrk(e, LOWER, PLAIN, -1, block(3000, 200), 1, block(3000, 3000)),
	        library + 3000.0 * 3000 * 200 / 1e7 + WAIT, 1e-9, "syrk");
	COSTS(ex_trsm(e, LEFT, LOWER, PLAIN, UNIT, 1, block(256, 256), block(256, 3000)),
	        library + 256.0 * 256 * 3000 / 1e7 + WAIT, 1e-9, "trsm from the left");
	COSTS(ex_trsm(e, RIGHT, LOWER, TRANSPOSED, NON_UNIT, 1, block(256, 256), block(3000, 256)),
	        library + 256.0 * 256 * 3000 / 1e7 + WAIT, 1e-9, "trsm from the right");
	COSTS(ex_gemm(e, TRANSPOSED, PLAIN, 1, block(8192, 1000), block(8192, 64), 0,
	              block(1000, 64)),
	        library + 2.0 * 64 * 1000 * 8192 / 1e7 + WAIT, 1e-9, "gemm along many columns");
	COSTS(ex_gemv(e, PLAIN, 1, block(3000, 3000), block(3000, 1), 0, block(3000, 1)),
	        library + 9e6 / 1e7 + WAIT, 1e-9, "gemv in L2");
	COSTS(ex_gemv(e, TRANSPOSED, 1, block(5000, 5000), block(5000, 1), 0, block(5000, 1)),
	        library + 2 * 25e6 / 1e7 + WAIT, 1e-9, "gemv out of DRAM");
	COSTS(ex_gemm(e, PLAIN, PLAIN, 1, block(1, 1), block(1, 1), 0, block(1, 1)),
	        library + 2 * 32 * 32 * 32 / 1e7 + WAIT, 1e-9,
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
		for (double n = 1; n <= 256; n *= 256)
			add_row(p, 1e-7 * m, "gpu.trsm_few.s[m=%.0f,n=%.0f]", m, n);
	struct executor *e = fresh(p);
	ex_trsm(e, LEFT, UPPER, PLAIN, NON_UNIT, 1, block(1024, 1024), block(1024, 8));
	is_real(us(e), library + 102.4 + WAIT, 1e-9, "trsm of few right-hand sides");
	COSTS(ex_trsm(e, LEFT, LOWER, PLAIN, UNIT, 1, block(512, 512), block(512, 128)),
	        library + 512.0 * 512 * 128 / 1e7 + WAIT, 1e-9, "LU's have no diagonal");
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

	ex_copy(e, WHOLE, a, a);
	is_real(us(e), queued + started + copied + WAIT, 1e-6, "copy");
	COSTS(ex_transpose(e, a, a), queued + started + copied + WAIT, 1e-6, "transpose");
	COSTS(ex_rotate(e, block(2, 512), a), queued + started + copied + WAIT, 1e-6, "rotate");
	executor_model_restart(e, false);
	/* two blocks: 2 MiB each go through one multiprocessor at 200 GB/s */
	ex_make_rotations(e, 0, block(131072, 4), block(2, 2));
	double pair = 2 * 2 * 131072 * 4 / 200e3;
	is_real(us(e), queued + started + 0.25 + pair + 0.25 + 0.015 + WAIT, 1e-6,
	        "make_rotations: a pair is one block's");
	COSTS(ex_explicit_v(e, a, a), queued + started + copied + WAIT, 1e-6, "explicit_v");
	COSTS(ex_fill(e, WHOLE, 0, 0, twice), queued + started + written + WAIT, 1e-6, "fill");
	COSTS(ex_laswp(e, a, pivots, false),
	        queued + started + (2.0 * 128 * 1024 * 68 - least) / 1e6 + 128 * 0.022 + 0.5 + WAIT,
	        0.02, "laswp: words above, sectors below");
	COSTS(ex_offset_pivots(e, pivots, 7, pivots), queued + started + WAIT, 1e-9,
	        "a kernel over integers only starts");
	COSTS(ex_zero_diagonal(e, a, NULL), queued + started + WAIT, 1e-9,
	        "and so does zero_diagonal");
	COSTS(ex_clear_info(e, NULL), 3 + 3 + WAIT, 1e-9, "clear_info is queued as a copy is");
	executor_model_restart(e, false);
	e->ops->stage(e, 0, 2048, 1024, SINGLE, &host);
	ex_to_host(e, a, host);
	is_real(us(e), link_us(p, "link.d2h.pinned.time", bytes), 1e-9,
	        "to_host and the wait are the measured round trip");
	COSTS(ex_to_device(e, host, a), link_us(p, "link.h2d.pinned.time", bytes), 1e-9,
	        "to_device");
	executor_free(e);
}

/* A copy of 8 MiB that finds its queue at work: on a kernel, or on a copy of its direction. */
static double behind_kernel(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix host, a = block(2048, 1024);

	e->ops->stage(e, 0, a.m, a.n, SINGLE, &host);
	ex_copy(e, WHOLE, a, a);
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
	add_row(p, 25e-6, "gpu.copy.behind[kernels=4]");
	is_real(behind_kernel(p), kernel + link - 3 + 25 - 4 * 2 - 1 - 7, 1e-6,
	        "or as one behind several does");

	add_row(p, 10e-6, "link.h2d.written.time[bytes=1]");
	add_row(p, 80e-6, "link.h2d.written.time[bytes=1048576]");
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
	       ex_laswp(e, a, pivots, true) && ex_offset_pivots(e, pivots, 0, pivots) &&
	       ex_join_halves(e, a, pivots, 0, pivots) && ex_clear_info(e, NULL) &&
	       ex_potrf_block(e, UPPER, b, 0, NULL) && e->ops->geqrf_work(e, a) >= 0 &&
	       ex_panel_geqrf(e, a, x, NULL) && ex_explicit_v(e, a, a) && ex_larft(e, a, x, b) &&
	       ex_transpose(e, a, host) && ex_copy(e, WHOLE, a, host) && ex_fill(e, LOWER, 0, 1, b);
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

/* So many of lu_top one behind the other, then as many behind an event of another queue. */
static double early_kernels(const struct profile *p, int in_a_row, int stream_waits)
{
	const struct pivots pivots = {NULL, 64};
	const struct matrix a = block(2000, 64), c = block(2000, 64);
	struct executor *e = fresh(p);

	for (int i = 0; i < in_a_row; i++)
		ex_lu_top(e, a, pivots, c);
	for (int event = 0; event < stream_waits; event++) {
		ex_record(e, event);
		e->queue = e->queue == QUEUE_MAIN ? QUEUE_PANEL : QUEUE_MAIN;
		ex_wait(e, event);
		ex_lu_top(e, a, pivots, c);
	}
	const double seconds = us(e);
	executor_free(e);
	return seconds;
}

static void test_late_start(void)
{
	struct profile *p = synthetic(0), *early = synthetic(0);
	const double later = 0.4;

	add_blocks(p, 0);
	add_blocks(early, 0);
	add_row(early, (started - later) * 1e-6, "gpu.launch.pdl");
	is_real(early_kernels(early, 1, 0), early_kernels(p, 1, 0) + later, 1e-9,
	        "an early kernel starts later in an idle queue");
	is_real(early_kernels(early, 3, 0), early_kernels(p, 3, 0) + later, 1e-9,
	        "but not behind another one");
	is_real(early_kernels(early, 1, 2), early_kernels(p, 1, 2) + 3 * later, 1e-9,
	        "and behind events of another queue");
	profile_free(p);
	profile_free(early);
}

/* Right of 64 columns of m rows, of which blocks of a cluster take turns. */
static double lu_columns(struct executor *e, int64_t m)
{
	executor_model_restart(e, false);
	ex_lu_columns(e, block(m, 64), (struct pivots){NULL, 64}, block(m, 64));
	return us(e) - queued - WAIT;
}

static void test_turns(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	for (int turns = 1; turns <= 2; turns++)
		add_row(p, turns * 10e-6, "gpu.lu_columns.s[m=%d,n=64]", 64 + 4096 * turns);
	struct executor *e = fresh(p);
	is_real(lu_columns(e, 2200), 10, 1e-9, "columns right of an LU panel of few rows: a turn");
	is_real(lu_columns(e, 4160), 10, 1e-9, "as of all that one turn has");
	is_real(lu_columns(e, 4161), 20, 1e-9, "a row more takes another");
	executor_free(e);
	profile_free(p);
}

int main(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	test_library(p);
	test_moves(p);
	test_few_sides();
	test_everything(p);
	test_hand_over(p);
	test_late_start();
	test_turns();
	profile_free(p);
	return finish();
}
