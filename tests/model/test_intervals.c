/* SPDX-License-Identifier: MIT */
/* Spreads of predictions: of surfaces by their scatter, of sums by what is common, and the interval
 * that a spread becomes. */
#include "tests/tap.h"

#include "factor/model/efficiency/efficiency.h"
#include "factor/model/predictions/model_question.h"
#include "factor/model/simulation/executor_model_internal.h"
#include "model_profile.h"

/* A surface of our own kernels over m = 64, 128, ..., 16384; every other row is off the power law
 * by `scatter`. */
static void add_surface(struct profile *p, const char *name, double scatter)
{
	const struct parameter_spec spec = {name, "s", "synthetic", "calibrated", 0, 0};

	for (int i = 0; i <= 8; i++) {
		const double m = ldexp(64, i), v = m * 1e-9 * (i % 2 ? 1 + scatter : 1);
		profile_add(
		        p, &spec, &(struct arg){"m", m}, 1, (struct estimate){v, v, v, 9}, false);
	}
}

static double spread_at(const struct profile *p, const char *name, double m)
{
	EACH_ROW (i, p, name)
		if (p->row[i].arg[0] == m)
			return p->row[i].spread;
	return NAN;
}

static void test_scatter(void)
{
	const double scatter[] = {0, 0.02, 0.2};
	double spread[3];

	for (int i = 0; i < 3; i++) {
		struct profile *p = profile_new();
		add_surface(p, "gpu.own_a.s", scatter[i]);
		efficiency_prepare(p);
		spread[i] = spread_at(p, "gpu.own_a.s", 1024);
		ok(spread_at(p, "gpu.own_a.s", 16384) > 0.99 * spread[i] - 1e-9,
		        "a row at the end, which cannot be left out, is as uncertain");
		profile_free(p);
	}
	ok(spread[0] < 1e-9, "a power law has no scatter");
	is_real(spread[1], log(1.02), 1e-6, "rows that alternate are off by as much");
	is_real(spread[2], log(1.2), 1e-6, "and more where they are farther off");
}

/* A smooth surface beside a scattered one of the same class. */
static void test_class(void)
{
	struct profile *p = profile_new();

	add_surface(p, "gpu.own_a.s", 0.01);
	add_surface(p, "gpu.own_b.s", 0.1);
	add_surface(p, "gpu.own_c.s", 0.2);
	efficiency_prepare(p);
	is_real(spread_at(p, "gpu.own_a.s", 1024),
	        sqrt((2 * pow(log(1.01), 2) + pow(log(1.1), 2)) / 3), 1e-6,
	        "few rows without scatter are drawn to what is usual");
	profile_free(p);
}

/* Two rows hard by each other show where a step is; it is not scatter. */
static void test_step(void)
{
	const struct parameter_spec spec = {"gpu.own_a.s", "s", "synthetic", "calibrated", 0, 0};
	const double m[] = {1024, 2048, 4096, 4160, 8192, 16384};
	struct profile *p = profile_new();

	for (int i = 0; i < 6; i++) {
		const double v = m[i] * (m[i] > 4096 ? 1.3 : 1) * 1e-9;
		profile_add(p, &spec, &(struct arg){"m", m[i]}, 1, (struct estimate){v, v, v, 9},
		        false);
	}
	efficiency_prepare(p);
	ok(spread_at(p, "gpu.own_a.s", 4160) < 1e-6, "a step whose place is known: spread %g",
	        spread_at(p, "gpu.own_a.s", 4160));
	profile_free(p);
}

static const char *surface_of(char letter)
{
	return letter == 'a' ? "gpu.own_a.s" : letter == 'b' ? "gpu.own_b.s" : "host.own.s";
}

/* One operation, or two of which the second reads the same surface or another. */
static bool run(struct executor *e, const void *context)
{
	struct cost_reader *r = executor_model_reader(e);
	bool good = true;

	for (const char *name = context; *name && good; name++) {
		const double seconds = cost_surface1(r, surface_of(*name), "m", 1024);
		good = model_charge(e, PHASE_PANEL, "test", model_shape(1, 1), 0,
		        (struct cost){.engine = ENGINE_HOST, .term[TERM_HOST] = seconds});
	}
	return good;
}

/* In spreads of that kind. */
static double half_width_of(const struct profile *p, const char *surfaces, enum interval_kind kind)
{
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const struct question q = {e, run, surfaces};
	struct prediction out = {.seconds = question_seconds(&q, false, NULL)};

	question_interval(&q, 0, &out);
	executor_free(e);
	return (out.high - out.seconds) / interval_table.of[kind].spreads;
}

static double half_width(const struct profile *p, const char *surfaces)
{
	return half_width_of(p, surfaces, INTERVAL_CALIBRATED);
}

/* Takes ten times as long where a row is not known that the sequence never reads. Further lookups
 * take the places of all others in the reader's cache. */
static bool run_known(struct executor *e, const void *context)
{
	struct cost_reader *r = executor_model_reader(e);

	for (int i = 1; i <= 8 * COST_CACHE; i++)
		cost_at(r, "gpu.own_a.s", "m", i);
	return run(e, cost_known(r, context) ? "a" : "aaaaaaaaaa");
}

static void test_known(void)
{
	static const char only_known[] = "gpu.own_b.s";
	struct profile *p = profile_new();

	add_surface(p, "gpu.own_a.s", 0.05);
	add_surface(p, only_known, 0.05);
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const struct question q = {e, run_known, only_known};
	for (int draws = 0; draws <= 4; draws += 4) {
		struct prediction out = {.seconds = question_seconds(&q, false, NULL)};
		question_interval(&q, draws, &out);
		ok(out.high < 2 * out.seconds,
		        "%d draws: a row that is known, and not read, is so in each trial", draws);
	}
	executor_free(e);
	profile_free(p);
}

static void test_sums(void)
{
	struct profile *p = profile_new();

	add_surface(p, "gpu.own_a.s", 0.05);
	add_surface(p, "gpu.own_b.s", 0.05);
	efficiency_prepare(p);
	const double one = half_width(p, "a");
	is_real(one, spread_at(p, "gpu.own_a.s", 1024) * 1024e-9, 1e-6,
	        "one term: the spread of its efficiency");
	is_real(half_width(p, "aa"), 2 * one, 1e-6, "two terms of one surface add");
	is_real(half_width(p, "ab"), sqrt(2) * one, 1e-6, "two surfaces add in quadrature");
	add_surface(p, "host.own.s", 0.05);
	efficiency_prepare(p);
	const double host = spread_at(p, "host.own.s", 1024) * 1024e-9;
	is_real(half_width_of(p, "h", INTERVAL_WITH_HOST), host, 1e-6,
	        "of the host: by another factor");
	is_real(half_width_of(p, "ah", INTERVAL_WITH_HOST), hypot(one, host), 1e-6,
	        "as where the host computes a part");
	profile_free(p);
}

static void test_ends(void)
{
	const struct interval_factor measured = {3, 1, 1, 100}, unknown = {1, 0.5, 1, 100};
	const struct spread spread = {0.01, 0.04}, none = {0, 0};
	double low, high;

	interval_ends(&measured, &spread, 1, &low, &high);
	is_real(low, 0.7, 1e-12, "three spreads below");
	is_real(high, 1.6, 1e-12, "three spreads above");
	interval_ends(&unknown, &none, 1, &low, &high);
	is_real(low, 1, 1e-12, "an unknown efficiency is at most 1: nothing is faster");
	is_real(high, 2, 1e-12, "at least a half: twice the time");
}

static void test_table(void)
{
	const struct interval_table table = {.run = {{"one", -1}, {"two", 42}}};

	ok(interval_saw(&table, 42), "a seed that factors were calibrated on");
	ok(!interval_saw(&table, 43) && !interval_saw(&table, -1), "not others");
	for (int k = 0; k < INTERVAL_KINDS; k++) {
		const struct interval_factor *f = &interval_table.of[k];
		ok(f->spreads > 0 && f->least > 0 && f->least <= 1 && f->most >= 1 && f->cases > 50,
		        "%s: factors from %zu cases", interval_kind_name[k], f->cases);
	}
	ok(interval_table.run[0].machine, "the table names its runs");
}

int main(void)
{
	test_scatter();
	test_class();
	test_step();
	test_known();
	test_sums();
	test_ends();
	test_table();
	return finish();
}
