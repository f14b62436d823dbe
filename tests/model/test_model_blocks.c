/* SPDX-License-Identifier: MIT */
/* What moves between and beside the operations of blocked factorizations costs on the model
 * executor, on the synthetic profile, and that every operation has a cost in every phase. */
#include "cost_lines.h"

/* A kernel of our own starts in 1 us, and copies 8 MiB twice in `copied`. */
static void test_moves(void)
{
	const double copied = 1 + (2 * 8 * 1048576.0 - 4096) / 1e6;
	const struct line lines[] = {{"copy 2048 1024", copied, "copy", 1e-6},
	        {"transpose 2048 1024", copied, "transpose", 1e-6},
	        {"rotate 2048 1024", copied, "rotate", 1e-6},
	        {"explicit_v 2048 1024", copied, "explicit_v", 1e-6},
	        {"fill 4096 1024", copied, "fill", 1e-6},
	        {"time: copy 2048 1024", 2 + copied + 5, "queued, done, and waited for", 1e-6},
	        /* two blocks: 2 MiB each go through one multiprocessor at 200 GB/s */
	        {"make_rotations 131072 4", 1 + 0.25 + 2 * 2 * 131072 * 4 / 200e3 + 0.25 + 0.015,
	                "make_rotations: a pair is one block's", 1e-6},
	        {"laswp 2048 1024 128",
	                1 + (2.0 * 128 * 1024 * 68 - 4096) / 1e6 + 128 * 0.022 + 0.5,
	                "laswp: words above, sectors below", 0.02},
	        {"offset_pivots 128 128 128", 1, "a kernel over integers only starts"},
	        {"check_triangle 2048 1024", 1, "and so does check_triangle"},
	        {"time: clear_info", 3 + 3 + 5, "clear_info is queued as a copy is"},
	        {"time: to_host 1024 1024", 10 + 4194304 / 50e3 - 4 / 50e3,
	                "to_host and the wait are the measured round trip", 1e-6},
	        {"time: to_device 1024 1024", 12 + 4194304 / 50e3 - 4 / 50e3, "to_device", 1e-6},
	        {"time: gemm 0 1 1", 0, "nothing to do costs nothing"},
	        {"time: gemm 1 1 0", 0, "of no depth, too"}};

	PLAY(synthetic_blocks(), lines);
}

static struct executor *fresh(const struct profile *p)
{
	return executor_model_new(p, MODEL_CUDA, 2);
}

/* A copy of 4 MiB that finds its queue at work: on a kernel, or on a copy of its direction. */
static double behind_kernel(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix host, a = shape(1024, 1024);

	e->ops->stage(e, 0, a.m, a.n, SINGLE, &host);
	ex_copy(e, WHOLE, shape(2048, 1024), shape(2048, 1024));
	ex_to_host(e, a, host);
	const double seconds = us(e);
	executor_free(e);
	return seconds;
}

static void test_hand_over(struct profile *p)
{
	const double bytes = 4194304, link = 10 + (bytes - 4) / 50e3,
	             kernel = 2 + 1 + (4 * bytes - 4096) / 1e6;
	struct executor *e = fresh(p);
	struct matrix host, a = shape(1024, 1024), panel = shape(4096, 64);

	is_real(behind_kernel(p), kernel + link - 3 + 6, 1e-6,
	        "behind a kernel the copy engine takes over, as a copy behind one kernel says");
	e->ops->stage(e, 0, a.m, a.n, SINGLE, &host);
	ex_to_host(e, a, host);
	ex_to_host(e, a, host);
	is_real(us(e), 3 + 2 * (link - 3 - 5) + 5, 1e-9, "behind a copy it has it already");
	ADD(p, 0, {"gpu.copy.behind[kernels=4]", 25e-6}, {"link.h2d.written.time[bytes=1]", 10e-6},
	        {"link.h2d.written.time[bytes=1048576]", 80e-6});
	is_real(behind_kernel(p), kernel + link - 3 + 25 - 4 * 2 - 1 - 7, 1e-6,
	        "or as one behind several does");
	ADD(p, 0, {"gpu.copy.running[accesses=64]", 11e-6});
	is_real(behind_kernel(p), kernel + link - 3 + 11 + (8 - 2 - 1) - 7, 1e-6,
	        "or as one behind a kernel that still runs");

	e->ops->stage(e, 0, panel.m, panel.n, SINGLE, &host);
	ok(answer(e, "time: to_device 4096 64") < 79, "what the host has not written is quicker");
	executor_model_restart(e, false);
	ex_host_panel_geqrf(e, host, shape(64, 1));
	const double computed = us(e);
	ex_to_device(e, host, panel);
	is_real(us(e) - computed, 80, 1e-9, "what it has written comes out of its caches");
	executor_free(e);
}

/* ---- everything, everywhere ---- */

static const char *const everything[] = {"to_host 512 64", "host_getrf 512 64", "host_geqrf 512 64",
        "host_potrf 64 64", "to_device 512 64", "gemm nt 512 512 64", "gemm tn 64 64 512",
        "syrk upper 64 64 512", "trsm right 64 512", "trsm_guard 64 64", "gemv 512 64", "trtri 64",
        "laswp 512 64 64", "offset_pivots 64 64 64", "join_halves 512 64 64", "clear_info",
        "potrf 64 64", "geqrf 512 64", "explicit_v 512 64", "larft 512 64", "transpose 512 64",
        "copy 512 64", "fill 64 64"};

static bool run_all(struct executor *e)
{
	bool good = true;

	for (size_t i = 0; i < ARRAY_LEN(everything); i++)
		good = make_call(e, everything[i]) && good;
	return good && ex_record(e, 0) && ex_wait(e, 0) && ex_wait_host(e, 0);
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
	const struct matrix a = shape(2000, 64), c = shape(2000, 64);
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

/* An early kernel, a product, and another early kernel in one queue. */
static double early_behind_product(const struct profile *p)
{
	const struct pivots pivots = {NULL, 64};
	const struct matrix a = shape(2000, 64), c = shape(2000, 64);
	struct executor *e = fresh(p);

	ex_lu_top(e, a, pivots, c);
	ex_gemm(e, PLAIN, PLAIN, -1, shape(1936, 64), shape(64, 64), 1, shape(1936, 64));
	ex_lu_top(e, a, pivots, c);
	const double seconds = us(e);
	executor_free(e);
	return seconds;
}

static void test_late_start(void)
{
	struct profile *p = synthetic_blocks(), *early = synthetic_blocks();
	const double later = 0.4;

	add_written(early, "gpu.launch.pdl", (1 - later) * 1e-6, 0);
	is_real(early_kernels(early, 1, 0), early_kernels(p, 1, 0) + later, 1e-9,
	        "an early kernel starts later in an idle queue");
	is_real(early_kernels(early, 3, 0), early_kernels(p, 3, 0) + later, 1e-9,
	        "but not behind another one");
	is_real(early_kernels(early, 1, 2), early_kernels(p, 1, 2) + 3 * later, 1e-9,
	        "and behind events of another queue");
	is_real(early_behind_product(early) - early_behind_product(p),
	        early_kernels(early, 1, 0) - early_kernels(p, 1, 0) + later, 1e-9,
	        "and behind a product, which does not release it");
	ADD(early, 0, {"gpu.event.mark", 4e-6});
	struct executor *e = fresh(early);
	executor_model_record(e, true);
	const double marked = answer(e, "time: copy 2048 1024");
	executor_model_record(e, false);
	is_real(marked, answer(e, "time: copy 2048 1024") + 0.125 + 4 - 1, 1e-9,
	        "a mark behind a kernel of a recorded run");
	executor_free(e);
	profile_free(p);
	profile_free(early);
}

int main(void)
{
	struct profile *p = synthetic_blocks();

	test_moves();
	test_everything(p);
	test_hand_over(p);
	test_late_start();
	profile_free(p);
	return finish();
}
