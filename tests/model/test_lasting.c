/* SPDX-License-Identifier: MIT */
/* Lasting load: short runs keep their time, the arithmetic of long ones takes longer, and a profile
 * without the rows says nothing of it. On the synthetic profile, where a factorization of 1000
 * columns takes milliseconds, one of 16000 some tenths of a second, and one of 32000 over two
 * seconds. */
#include "factor_question.h"

#include "factor/model/efficiency/efficiency.h"
#include "factor/model/law/law_lasting.h"

static const int64_t width[] = {256};
static const struct plan plan = {false, "persistent", width, 1, 64, 0, .lookahead = 1};

enum { SHORT = 1000, LONG = 16000, LONGEST = 32000 };

static struct prediction predicted(
        const struct profile *p, const char *operation, int64_t n, enum precision precision)
{
	struct factor_question asked = question(operation, &plan, n, n);
	struct prediction out;

	asked.precision = precision;
	if (!model_factor_predict(p, MODEL_CUDA, &asked, LEVEL_FULL, &out))
		diag("%s: %s", operation, out.fault.text);
	return out;
}

/* Twice the time of a call from a second on, and with intervals where half > 0. */
static struct profile *with_rows(const struct profile *p, double half)
{
	struct profile *copy = profile_copy(p);

	add_written(copy, "gpu.lasting.s[seconds=0.02]", 1, half);
	add_written(copy, "gpu.lasting.s[seconds=1]", 2, half);
	add_written(copy, "gpu.lasting.s[seconds=2]", 2, half);
	return copy;
}

static double sum(const double *part, int count)
{
	double all = 0;

	for (int i = 0; i < count; i++)
		all += part[i];
	return all;
}

static double factor_at(const struct profile *p, double seconds)
{
	return profile_get(p, "gpu.lasting.s", &(struct arg){"seconds", seconds}, 1).estimate.value;
}

static void test_operation(const struct profile *p, const char *operation)
{
	struct profile *lasting = with_rows(p, 0);
	const struct prediction clock = predicted(p, operation, LONG, SINGLE),
	                        out = predicted(lasting, operation, LONG, SINGLE);
	const double arithmetic = clock.parts.term[TERM_ARITHMETIC],
	             factor = factor_at(lasting, clock.seconds);

	ok(factor > 1.3 && factor < 2 && arithmetic > clock.seconds / 2,
	        "%s of %.2f s: factor %.2f on %.2f s", operation, clock.seconds, factor,
	        arithmetic);
	is_real(out.seconds, clock.seconds + (factor - 1) * arithmetic, 1e-9,
	        "its arithmetic takes longer");
	is_real(sum(out.parts.term, TERM_COUNT), out.seconds, 1e-9, "its terms add up");
	is_real(sum(out.parts.phase, PHASE_COUNT), out.seconds, 1e-9, "its phases add up");
	const struct prediction brief = predicted(lasting, operation, SHORT, SINGLE),
	                        before = predicted(p, operation, SHORT, SINGLE);
	ok(brief.seconds == before.seconds && brief.low == before.low && brief.high == before.high,
	        "a short run takes its time, with its interval");
	ok(predicted(lasting, operation, LONG, DOUBLE).seconds ==
	                predicted(p, operation, LONG, DOUBLE).seconds,
	        "other updates have other rows");
	profile_free(lasting);
}

/* Beyond the last row its value holds. */
static void test_longest(const struct profile *p)
{
	struct profile *lasting = with_rows(p, 0);
	const struct prediction clock = predicted(p, "getrf", LONGEST, SINGLE),
	                        out = predicted(lasting, "getrf", LONGEST, SINGLE);

	ok(clock.seconds > 2, "a run beyond the last row: %.1f s", clock.seconds);
	is_real(out.seconds, clock.seconds + clock.parts.term[TERM_ARITHMETIC], 1e-9,
	        "the last factor holds");
	ok(!out.model.extrapolated || clock.model.extrapolated, "and nothing is extrapolated");
	profile_free(lasting);
}

static double what_if(const struct profile *p, const char *scale, const char *set)
{
	struct profile *changed = profile_copy(p);
	struct fault fault;

	if ((scale && !profile_scale(changed, scale, &fault)) ||
	        (set && !profile_set(changed, set, &fault)))
		diag("%s", fault.text);
	const double seconds = predicted(changed, "getrf", LONG, SINGLE).seconds;
	profile_free(changed);
	return seconds;
}

static void test_what_if(const struct profile *p)
{
	struct profile *lasting = with_rows(p, 0), *wide = with_rows(p, 0.1);
	const struct prediction clock = predicted(p, "getrf", LONG, SINGLE),
	                        out = predicted(lasting, "getrf", LONG, SINGLE),
	                        wider = predicted(wide, "getrf", LONG, SINGLE);
	const double arithmetic = clock.parts.term[TERM_ARITHMETIC],
	             factor = factor_at(lasting, clock.seconds);

	is_real(what_if(lasting, "gpu.lasting.*=1.1", NULL),
	        clock.seconds + (1.1 * factor - 1) * arithmetic, 1e-9, "--scale acts");
	is_real(what_if(lasting, NULL, "gpu.lasting.s=1.5"), clock.seconds + arithmetic / 2, 1e-9,
	        "--set takes one factor for all times");
	ok(wider.above > out.above && wider.high > out.high,
	        "the rows' intervals widen the prediction's: %.3f s, without %.3f s", wider.above,
	        out.above);
	profile_free(lasting);
	profile_free(wide);
}

/* Level 1 and efficiencies of 1 read no timings. */
static void test_levels(const struct profile *p)
{
	const struct arg at = {"seconds", 1};
	struct profile *lasting = with_rows(p, 0);

	ok(seconds(lasting, "getrf", &plan, LONG, LONG, LEVEL_SUMS) ==
	                seconds(p, "getrf", &plan, LONG, LONG, LEVEL_SUMS),
	        "sums have no lasting load");
	profile_free(lasting);

	struct profile *own = profile_open(RECORDED), *alone = profile_copy(own);
	efficiency_by_hardware(alone, own);
	ok(profile_get(own, "gpu.lasting.d", &at, 1).found &&
	                !profile_get(alone, "gpu.lasting.d", &at, 1).found,
	        "nor has what the hardware alone says");
	profile_free(alone);
	profile_free(own);
}

static void test_names(void)
{
	is_text(law_lasting_row(DOUBLE, MATH_FP32), "gpu.lasting.d", "double precision");
	is_text(law_lasting_row(SINGLE, MATH_FP32), "gpu.lasting.s", "single precision");
	is_text(law_lasting_row(SINGLE, MATH_3XTF32), "gpu.lasting.tf32", "3xTF32");
	is_text(law_lasting_row(SINGLE, MATH_3XFP16), "gpu.lasting.half", "3xFP16");
}

int main(void)
{
	struct profile *p = synthetic(0.01);

	add_blocks(p, 0.01);
	test_names();
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		test_operation(p, operations[i]);
	test_longest(p);
	test_what_if(p);
	test_levels(p);
	profile_free(p);
	return finish();
}
