/* SPDX-License-Identifier: MIT */
/* The pointer_chase probe's analysis on machines drawn at random, some with a divided L2: no row is
 * wrong without saying so; and on some of them again with a clock that rises from process to
 * process. FATHOM_TEST_FULL=1: many machines. */
#include "chase_curves.h"

static double beyond_near(const struct machine *m)
{
	return m->base + m->cache[0].step + m->cache[1].step;
}

struct tally {
	int answers, questions, lines, parts, divided, clocks, wrong;
};

/* Two steps that one law fits as well are taken for one: then L2's size has the status noisy. */
static bool taken_for_one(const struct machine *m, const struct parameter *p)
{
	return m->caches > 2 && strcmp(p->name ? p->name : "", "gpu.l2.size") == 0 &&
	       strcmp(p->status, "noisy") == 0;
}

/* What the fit says of one machine, against the truth at the clock of the middle process. */
static void ask(struct machine *m, int number, struct tally *tally)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	const double quicker = 1 + m->ramp * (PROCESSES / 2);
	const struct {
		const char *name;
		double truth;
		int *resolved;
		bool asked;
	} questions[] = {{"gpu.l1.size", cache_bytes(&m->cache[0]), &tally->answers, true},
	        {"gpu.l2.size", last_cache_bytes(m), &tally->answers, true},
	        {"gpu.l1.latency", m->base / quicker, &tally->answers, true},
	        {"gpu.l2.latency", (m->base + m->cache[0].step) / quicker, &tally->answers, true},
	        {"gpu.dram.latency", memory_latency(m) / quicker, &tally->answers, true},
	        {"gpu.l1.line", 128, &tally->lines, true},
	        {"gpu.l2.line", 128, &tally->lines, true},
	        {"gpu.l2.near.size", cache_bytes(&m->cache[1]), &tally->parts, m->caches > 2},
	        {"gpu.l2.beyond_near.latency", beyond_near(m) / quicker, &tally->parts,
	                m->caches > 2},
	        {"gpu.clock.sm", m->hz * quicker, &tally->clocks, m->ramp > 0}};
	bool wrong = false;
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", last_cache_bytes(m));
	put_caches(m, curve, 128);
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	for (size_t i = 0; i < ARRAY_LEN(questions); ++i) {
		const struct parameter *p = row_of(profile, questions[i].name);
		bool off = false;
		if (!questions[i].asked || taken_for_one(m, p))
			continue;
		*questions[i].resolved += is_resolved(p, questions[i].truth, &off);
		if (off)
			diag("machine %d: %s is %g (%s), was made %g", number, questions[i].name,
			        p->estimate.value, p->status, questions[i].truth);
		wrong |= off;
	}
	tally->questions += 5;
	tally->divided += m->caches > 2;
	tally->wrong += wrong || (m->ramp > 0 && tally->clocks == 0);
	profile_free(profile);
}

static void add(struct tally *all, const struct tally *one)
{
	all->answers += one->answers;
	all->questions += one->questions;
	all->lines += one->lines;
	all->parts += one->parts;
	all->divided += one->divided;
	all->wrong += one->wrong;
}

/* The least share of resolved values; few machines vary more. */
static double least_share(void)
{
	return test_full() ? 0.7 : 0.5;
}

/* Each machine is drawn from its own number. */
static struct tally ask_all(int count, double ramp)
{
	struct tally all = {0};
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < count; ++i) {
		struct machine m = draw((uint64_t)i + 1);
		struct tally one = {0};
		m.ramp = ramp;
		ask(&m, i, &one);
#pragma omp critical
		add(&all, &one);
	}
	return all;
}

static void test_random(int count)
{
	const double share = least_share();
	const struct tally tally = ask_all(count, 0);
	ok(tally.wrong == 0, "%d machines at random: no row is wrong without saying so (%d are)",
	        count, tally.wrong);
	ok(tally.answers > share * tally.questions, "and most is resolved (%d of %d)",
	        tally.answers, tally.questions);
	ok(tally.lines > share * 2 * count, "and most lines (%d of %d)", tally.lines, 2 * count);
	ok(tally.parts > (share - 0.3) * 2 * tally.divided,
	        "and near parts and what lies beyond (%d of %d)", tally.parts, 2 * tally.divided);
}

/* The clock is higher in each further process, and its loads are quicker. */
static void test_ramp(int count, double ramp)
{
	const double share = least_share();
	const struct tally tally = ask_all(count, ramp);
	ok(tally.wrong == 0,
	        "a clock %g %% higher in each process: no row is wrong without saying so (%d are)",
	        100 * ramp, tally.wrong);
	ok(tally.answers > share * tally.questions && tally.lines > share * 2 * count,
	        "and most is resolved (%d of %d, lines %d of %d)", tally.answers, tally.questions,
	        tally.lines, 2 * count);
}

int main(void)
{
	const int part = test_full() ? 1 : 10;

	test_random(200 / part);
	test_ramp(20 / part, 0.005);
	test_ramp(20 / part, 0.03);
	test_ramp(30 / part, 0.15);
	return finish();
}
