/* SPDX-License-Identifier: MIT */
/* The model executor and its predictions on a small synthetic profile whose sums can be done by
 * hand. */
#include "cost_lines.h"

#include "factor/model/predictions/model_question.h"
#include "factor/algorithms/panel_getrf.h"

static struct prediction predicted(const struct profile *p, enum model_target target,
        const char *variant, int64_t m, int64_t n, int level)
{
	struct prediction out;

	if (!model_predict(p, target, variant, m, n, SINGLE, level, &out))
		diag("%s %d x %d level %d: %s", variant, (int)m, (int)n, level, out.fault.text);
	return out;
}

/* A null kernel and a synchronization cost what the probe measured for them; two kernels one
 * enqueue more (2 us), as the host is slower than the device. A ger with 16 MiB of traffic hides
 * the queueing of the next one. */
static void test_host_and_device(const struct profile *p)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const struct matrix one = shape(1, 1), a = shape(2048, 1024);
	const struct matrix x = matrix_view(a, 0, 0, 2048, 1), y = matrix_view(a, 0, 0, 1, 1024);

	ex_scale_by(e, one, one);
	struct model_result r = executor_model_result(e);
	is_real(r.seconds, 8e-6, 1e-12, "one null kernel and a synchronization");
	is_real(r.term[TERM_SYNC], 5e-6, 1e-12, "what the host waits after the kernel's end");
	executor_model_restart(e, false);
	for (int i = 0; i < 2; i++)
		ex_scale_by(e, one, one);
	is_real(us(e), 10, 1e-12, "two null kernels: host-bound");
	executor_model_restart(e, false);
	ex_ger(e, x, y, a);
	const double alone = executor_model_result(e).seconds;
	executor_model_restart(e, false);
	for (int i = 0; i < 2; i++)
		ex_ger(e, x, y, a);
	r = executor_model_result(e);
	ok(r.seconds - alone > 16.5e-6 && r.seconds - alone < 19e-6,
	        "queueing hides behind a running kernel");
	ok(r.limiter == TERM_MEMORY, "memory limits it");
	is_real(r.term[TERM_HOST], 2.75e-6, 1e-9, "only the first call's queueing is exposed");
	executor_free(e);
}

/* The 2-column panel of 4 rows: all traffic lies below the smallest row of the curves and costs
 * nothing. */
static void test_two_columns(const struct profile *p)
{
	/* Host clock, microseconds. Column 1: iamax is a round trip of 15; swap queues 2.25 and
	 * ends at 3.5; get queues 3 meanwhile and copies for 7, and for 6 more because it comes
	 * behind a kernel (a copy behind one ends 16 - 2 - 1 after it, on an idle stream 10 -
	 * 3): 18.25; scal queues 2.5 and ger 2.75: 5.25, when the device runs ger until 7. Column
	 * 2: iamax queues 2.5 behind that and takes 12.5 more; swap and get 18.25; scal 2.5. The
	 * pivots queue 3; what remains of their round trip of 12 on the link without queueing and
	 * wait, and 6 behind scal; then the wait of 5. */
	double host = (15 + 18.25 + 5.25 + 2.5 + 12.5 + 18.25 + 2.5 + 3) * 1e-6;
	const double pivots = profile_get(p, "link.h2d.pinned.time", &(struct arg){"bytes", 12}, 1)
	                              .estimate.value -
	                      3e-6 - 5e-6 + 6e-6;
	/* Level 1: LAWN 202's calls and words, column by column; values and pivots are transferred
	 * over the link. */
	const double words = 4 + 8 + 6 + (2 * 3 * 1 + 3 + 1) + 3 + 8 + 4,
	             sums = 7 * 2.5e-6 + words * 4 / 1e12 + 2 * (10e-6 + 4 / 50e9) + 10e-6 +
	                    12 / 50e9;
	const struct {
		enum model_target target;
		const char *variant;
		int level;
		double seconds;
		const char *what;
	} cases[] = {{MODEL_CUDA, "blas", 2, host + pivots + 5e-6, "blas"},
	        /* every kernel (begin and update 1.125, pivot 1.875) is done before the next is
	         * queued (2): five launches, the last kernel, the wait of 5 */
	        {MODEL_CUDA, "fused", 2, (5 * 2 + 1.125 + 5) * 1e-6, "fused"},
	        /* queueing 4, start 3, two columns, an access to bring the panel in, the wait of 5
	         */
	        {MODEL_CUDA, "persistent", 2, (4 + 3 + 2 * 1.75 + 0.25 + 5) * 1e-6, "persistent"},
	        {MODEL_CUDA, "blas", 1, sums, "blas, level 1"},
	        {MODEL_CUDA, "persistent", 1, 2.5e-6 + 2 * 32 / 1e12 + 2e-6, "persistent, level 1"},
	        {MODEL_CUDA, "fused", 0, 2 * 32 / 2e12, "level 0"},
	        /* searches 4 and 3 elements, swaps 2 twice, scales 3 and 2, updates 3 */
	        {MODEL_HOST, "blas", 2, 19e-9, "blas on the host"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_real(predicted(p, cases[i].target, cases[i].variant, 4, 2, cases[i].level)
		                .seconds,
		        cases[i].seconds, 1e-9, cases[i].what);
	is_real(predicted(p, MODEL_HOST, "host", 1024, 64, 2).seconds, 1024.0 * 64 * 64 / 1e10,
	        1e-9, "LAPACKE on the host is the rate surface");
}

static void test_shapes(const struct profile *p)
{
	static const int64_t rows[] = {
	        64, 100, 256, 300, 750, 1000, 3000, 4095, 6000, 16384, 50000};

	for (int way = 0; way < 2; way++)
		for (const char *const *v = panel_getrf_variants; *v; v++) {
			const enum model_target target = way ? MODEL_HOST : MODEL_CUDA;
			bool rises = true, ordered = true;
			double last = 0;
			if (way && (strcmp(*v, "fused") == 0 || strcmp(*v, "persistent") == 0))
				continue;
			for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
				const double t = predicted(p, target, *v, rows[i], 64, 2).seconds,
				             bound = predicted(p, target, *v, rows[i], 64, 0)
				                             .seconds;
				/* the host searches shorter columns, another method altogether */
				rises = rises && (t >= last || strcmp(*v, "optimized") == 0);
				ordered = ordered && bound > 0 && bound <= t;
				last = t;
			}
			ok(rises, "%s on %s rises with m", *v, way ? "host" : "cuda");
			ok(ordered, "%s on %s is not below its bound", *v, way ? "host" : "cuda");
		}
}

static void test_parts(const struct profile *p)
{
	for (const char *const *v = panel_getrf_variants; *v; v++) {
		struct prediction out;
		double phases = 0, terms = 0, alone = 0;
		bool good = model_predict(p, MODEL_CUDA, *v, 3000, 48, SINGLE, 2, &out);
		for (int i = 0; i < PHASE_COUNT; i++)
			phases += out.parts.phase[i];
		for (int i = 0; i < TERM_COUNT; i++)
			terms += out.parts.term[i];
		ok(good && fabs(phases / out.seconds - 1) < 1e-9 &&
		                fabs(terms / out.seconds - 1) < 1e-9,
		        "%s: phases and terms add up", *v);
		ok(out.parts.term[out.parts.limiter] >= out.seconds / TERM_COUNT,
		        "%s is limited by %s", *v, term_name[out.parts.limiter]);

		/* phase by phase, each with its own final wait: the whole within what hides and
		 * what repeats */
		for (int i = 0; i < PHASE_COUNT; i++) {
			struct prediction one;
			good = model_predict_without(p, MODEL_CUDA, *v, 3000, 48, SINGLE, 2,
			               ((1u << PHASE_COUNT) - 1) & ~(1u << i), &one) &&
			       good;
			alone += one.seconds;
		}
		ok(good && alone > 0.6 * out.seconds && alone < 1.4 * out.seconds,
		        "%s: phases alone make %.2f of the whole", *v, alone / out.seconds);
	}
}

static void test_interval(void)
{
	struct profile *exact = synthetic(0), *wide = synthetic(0.05);
	struct prediction sharp, blurred;

	const double library = interval_table.of[INTERVAL_LIBRARY].spreads,
	             most = fmax(library, interval_table.of[INTERVAL_CALIBRATED].spreads);

	model_predict(exact, MODEL_HOST, "host", 1024, 64, SINGLE, 2, &sharp);
	is_real(sharp.high, sharp.seconds, 1e-9, "a row of an exact profile leaves nothing open");
	model_predict(wide, MODEL_HOST, "host", 1024, 64, SINGLE, 2, &blurred);
	is_real(blurred.high, (1 + library * 0.05) * blurred.seconds, 1e-9,
	        "a parameter's interval, times the factor of the regime: high");
	is_real(blurred.low, (1 - library * 0.05) * blurred.seconds, 1e-9, "and low");
	model_predict(exact, MODEL_HOST, "host", 1448, 64, SINGLE, 2, &sharp);
	is_real(sharp.high, sharp.seconds, 1e-9,
	        "nor does an exact power law between its rows add to it");
	for (const char *const *v = panel_getrf_variants; *v; v++) {
		bool good = model_predict(wide, MODEL_CUDA, *v, 3000, 48, DOUBLE, 2, &blurred);
		ok(good && blurred.low < blurred.seconds && blurred.seconds < blurred.high &&
		                blurred.high < (1 + 0.2 * most) * blurred.seconds,
		        "%s: interval of %.1f and %.1f %%", *v,
		        100 * (blurred.low / blurred.seconds - 1),
		        100 * (blurred.high / blurred.seconds - 1));
	}
	profile_free(exact);
	profile_free(wide);
}

/* What is small takes 10 us, what is large 13. */
static bool by_size(struct executor *e, const void *context)
{
	struct cost_reader *r = executor_model_reader(e);
	const bool small = cost_scalar(r, "gpu.test.size") < 1.02;
	const double seconds = cost_scalar(r, small ? "gpu.test.small" : "gpu.test.large");

	(void)context;
	return model_charge(e, PHASE_PANEL, "test", model_shape(1, 1), 0,
	        (struct cost){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds});
}

/* A parameter whose interval ends where another one is asked for, which its value does not use. */
static void test_interval_of_a_threshold(void)
{
	struct profile *p = synthetic(0);

	add_written(p, "gpu.test.size", 1, 0.05);
	ADD(p, 0, {"gpu.test.small", 10e-6}, {"gpu.test.large", 13e-6});
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const struct question q = {e, by_size, NULL};
	struct prediction out = {.seconds = question_seconds(&q, false, NULL)};
	question_interval(&q, 0, &out);
	double low, high;
	interval_ends(&interval_table.of[INTERVAL_HARDWARE], &(struct spread){0, 9e-12}, 10e-6,
	        &low, &high);
	is_real(out.low, low, 1e-9, "at one end nothing changes");
	is_real(out.high, high, 1e-9, "at the other one it is the other's");
	executor_free(e);
	profile_free(p);
}

static void test_flags(const struct profile *p)
{
	static const struct {
		const char *variant;
		int64_t m, n;
		const char *regime;
		bool extrapolated;
	} cases[] = {{"host", 1024, 64, "library", false}, {"fused", 1024, 64, "calibrated", true},
	        {"blas", 1024, 64, "library", false}, {"optimized", 300, 24, "library", false},
	        {"host", 1024, 512, "library", true}};
	bool used = false;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct model model =
		        predicted(p, MODEL_CUDA, cases[i].variant, cases[i].m, cases[i].n, 2).model;
		is_text(model.regime, cases[i].regime, cases[i].variant);
		ok(model.extrapolated == cases[i].extrapolated, "%s rests on rows%s",
		        cases[i].variant, cases[i].extrapolated ? ", extrapolated" : "");
		for (size_t u = 0; u < model.used_count; u++)
			used |= strcmp(model.used[u], "gpu.launch.dependent") == 0;
	}
	ok(used, "the parameters used are named");
}

static void test_missing(void)
{
	struct profile *host_only = profile_new(), *empty = profile_new();
	struct prediction out;

	add_host(host_only, 0);
	ok(!model_predict(host_only, MODEL_CUDA, "fused", 1024, 64, SINGLE, 2, &out) &&
	                strstr(out.fault.text, "gpu.launch.enqueue") && isnan(out.seconds),
	        "missing: %s", out.fault.text);
	ok(!model_predict(host_only, MODEL_CUDA, "persistent", 1024, 64, SINGLE, 2, &out) &&
	                strstr(out.fault.text, "gpu.sm.count"),
	        "missing: %s", out.fault.text);
	for (int level = 0; level <= 2; level++)
		for (const char *const *v = panel_getrf_variants; *v; v++)
			for (int target = MODEL_CUDA; target <= MODEL_HOST; target++)
				if (model_predict(empty, (enum model_target)target, *v, 100, 10,
				            DOUBLE, level, &out) ||
				        !isnan(out.seconds) || !out.fault.text[0])
					ok(false, "%s level %d on an empty profile", *v, level);
	ok(true, "an empty profile predicts nothing");
	profile_free(host_only);
	profile_free(empty);
}

static void test_refusals(const struct profile *p)
{
	static const struct {
		enum model_target target;
		const char *variant, *word;
		int64_t m, n;
	} cases[] = {{MODEL_CUDA, "persistent", "does not fit", 1000000, 64},
	        {MODEL_CUDA, "blas", "m >= n >= 1", 3, 4},
	        {MODEL_CUDA, "blas", "m >= n >= 1", 0, 0}, {MODEL_CUDA, "magic", "unknown", 8, 4},
	        {MODEL_HOST, "fused", "not estimated", 8, 4},
	        {MODEL_HOST, "persistent", "not estimated", 8, 4},
	        {MODEL_CUDA, "ger", "m >= 1", 0, 4}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int level = 0; level <= 2; level++) {
			struct prediction out;
			bool refused = !model_predict(p, cases[i].target, cases[i].variant,
			        cases[i].m, cases[i].n, SINGLE, level, &out);
			ok(refused && strstr(out.fault.text, cases[i].word), "level %d refuses: %s",
			        level, out.fault.text);
		}
}

static void test_geometry(void)
{
	struct panel_geometry g;

	ok(panel_geometry(4096, 64, 4, 132, 232448, &g) && g.blocks == 32 &&
	                g.rows_per_block == 128 && g.pitch == 129 &&
	                g.shared_bytes == 129 * 64 * 4 + (6 * 64 + 128) * 8,
	        "4096 x 64: fewest rows a block");
	ok(panel_geometry(65536, 64, 4, 132, 232448, &g) && g.rows_per_block == 512 &&
	                g.blocks == 128,
	        "65536 x 64: rows are rounded up to warps");
	ok(panel_geometry(200, 200, 4, 132, 232448, &g) && g.rows_per_block == 224 && g.blocks == 1,
	        "square: the first block holds all pivot rows");
	ok(panel_geometry(1000, 64, 8, 40, 65536, &g) && g.rows_per_block == 96 && g.blocks == 11,
	        "1000 x 64 in 64 KiB: the most rows a block that fit");
	ok(!panel_geometry(1000000, 64, 4, 132, 232448, &g) && g.shared_bytes > 232448, "too tall");
	ok(!panel_geometry(INT32_MAX, INT32_MAX, 8, 132, 232448, &g), "huge: no overflow");
	ok(!panel_geometry((int64_t)1 << 40, 1, 8, 132, 232448, &g), "beyond 32-bit integers");
	ok(!panel_geometry(10, 0, 4, 132, 232448, &g), "no columns");
}

int main(void)
{
	struct profile *p = synthetic(0);

	test_host_and_device(p);
	test_two_columns(p);
	test_shapes(p);
	test_parts(p);
	test_interval();
	test_interval_of_a_threshold();
	test_flags(p);
	test_missing();
	test_refusals(p);
	test_geometry();
	profile_free(p);
	return finish();
}
