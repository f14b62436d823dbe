/* SPDX-License-Identifier: MIT */
/* The model's prices of Gram-Schmidt on the host by hand from a synthetic profile: caches by their
 * sizes, threads, memory that they share, and the width of blocks that follows. */
#include "../factor/model/price_blocks.h"
#include "../factor/runs/gram_rows.h"
#include "../lib/gram_loops.h"
#include "tap.h"

static void add(struct profile *p, const char *name, const char *unit, const struct arg *args,
        size_t count, double value)
{
	struct parameter_spec spec = {.name = name, .unit = unit, .method = "synthetic"};

	profile_add(p, &spec, args, count, (struct estimate){value, value, value, 30}, false);
}

static void add_rate(struct profile *p, double threads, double bytes, double read)
{
	const struct arg args[] = {{"threads", threads}, {"bytes", bytes}};

	add(p, "host.memory.read", "B/s", args, 2, read);
	add(p, "host.memory.copy", "B/s", args, 2, 2 * read);
}

/* Seconds of a loop over m rows by one thread from its first cache; twice as many from the second,
 * four times from the last; twice as many when eight threads run. */
static const double dot = 1e-10, subtract = 2e-10, fused = 3e-10, pair = 8e-10;

static void add_loop(struct profile *p, const char *name, double row)
{
	for (int threads = 1; threads <= 8; threads *= 8)
		for (int m = 256; m <= 16384; m *= 64)
			for (int level = 1; level <= 4; level++) {
				const struct arg args[] = {
				        {"threads", threads}, {"m", m}, {"level", level}};
				add(p, name, "s", args, 3,
				        row * m *
				                (level == 4          ? 4
				                        : level == 1 ? 1
				                                     : 2) *
				                (threads > 1 ? 2 : 1));
			}
}

static void add_fetch(struct profile *p, double threads, double bytes, double seconds)
{
	const struct arg args[] = {{"threads", threads}, {"bytes", bytes}};

	add(p, "host.gram.fetch", "s", args, 2, seconds);
}

/* Memory gives one thread 4 GB/s and eight 20, copies twice as much; a column of another core comes
 * at 10 GB/s, to all at a third of that; a region takes a microsecond a thread. */
static struct profile *machine(void)
{
	struct profile *p = profile_new();

	add_rate(p, 1, 1 << 28, 4e9);
	add_rate(p, 8, 1 << 28, 20e9);
	add(p, "host.l1.stated", "B", NULL, 0, 1 << 15);
	add(p, "host.l2.stated", "B", NULL, 0, 1 << 20);
	add(p, "host.l3.stated", "B", NULL, 0, 1 << 25);
	add_loop(p, "host.gram.dot.s", dot);
	add_loop(p, "host.gram.subtract.s", subtract);
	add_loop(p, "host.gram.fused.s", fused);
	add_loop(p, "host.gram.pair.s", pair);
	for (int bytes = 1 << 10; bytes <= 1 << 16; bytes <<= 6) {
		add_fetch(p, 1, bytes, bytes * 1e-10);
		add_fetch(p, 8, bytes, bytes * 3e-10);
	}
	for (int threads = 1; threads <= 8; threads *= 2) {
		const struct arg team = {"threads", threads};
		add(p, "host.parallel.fork", "s", &team, 1, 1e-6);
		add(p, "host.gram.region", "s", &team, 1, 1e-6 * threads);
	}
	return p;
}

static bool near(double got, double want)
{
	bool same = fabs(got - want) <= 1e-9 * fabs(want);

	if (!same)
		diag("got %.12g want %.12g", got, want);
	return same;
}

static struct matrix single(int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, m, SINGLE};
}

static void test_passes(struct price_reader *r)
{
	struct price p;

	r->threads = 1;
	p = price_gram_pass_host(r, GRAM_DOTS, single(1000, 100));
	ok(near(p.term[TERM_MEMORY], 100 * 1000 * 2 * dot) && near(p.term[TERM_HOST], 1e-6),
	        "dot products of one thread in its second cache");
	p = price_gram_pass_host(r, GRAM_UPDATE, single(1000, 2001));
	ok(near(p.term[TERM_MEMORY], 2000 * 1000 * 4 * subtract) &&
	                near(p.term[TERM_HOST], 1e-6 + 1000 * subtract),
	        "an update from the last cache, and the normalization");
	r->threads = 8;
	p = price_gram_pass_host(r, GRAM_DOTS, single(1000, 100));
	ok(near(p.term[TERM_MEMORY], 13 * 1000 * 2 * 2 * dot) &&
	                near(p.term[TERM_HOST], 8e-6 + 4e3 * 3e-10),
	        "eight threads: the one with most columns, and one column from another thread");
	p = price_gram_pass_host(r, GRAM_FUSED, single(1000, 32));
	ok(near(p.term[TERM_MEMORY], 30 * 1000 * 2 * fused) &&
	                near(p.term[TERM_HOST], 1e-6 + 1000 * (2 * subtract + dot)),
	        "a small pass is left to one thread: the next column, its norm, the normalization");
	p = price_gram_pass_host(r, GRAM_DOTS, single(16000, 40000));
	ok(near(p.term[TERM_MEMORY], 5000 * 64e3 * 8 / 20e9),
	        "what no cache holds comes at memory's rate, which all share");
}

static void test_apply(struct price_reader *r)
{
	const double m = 1000, first = GRAM_TOGETHER * (GRAM_PAIR * m * dot + m * subtract);

	r->threads = 1;
	struct price p = price_gram_apply_host(r, single(1000, 40), 10, false);
	ok(near(p.term[TERM_MEMORY], 10 * (5 * m * 2 * pair + first)) &&
	                near(p.term[TERM_HOST], 1e-6 + 5 * m * dot),
	        "a group of columns, while pairs go by in the second cache");
	r->threads = 8;
	p = price_gram_apply_host(r, single(1000, 40), 10, false);
	ok(near(p.term[TERM_HOST], 8e-6 + 10 * 4e3 * 3e-10 + m * 2 * dot),
	        "all threads get the columns that are taken out from the one that had them");
	const double from = GRAM_TOGETHER * (GRAM_PAIR * m * 2 * dot + 4e3 * 1e-10);
	ok(near(p.term[TERM_MEMORY], 2 * (5 * m * 2 * 2 * pair + from)),
	        "and each of them the columns that it changes");
}

static double seconds(const struct profile *profile, int64_t n, int64_t k, int64_t nb)
{
	const struct gram_run run = {.form = "blocked", .nb = nb, .k = k, .threads = 8};
	struct result row = gram_row(SINGLE, n, n, &run, NULL);

	gram_row_predict(profile, 2, &row);
	return row.seconds.value;
}

static void test_width(const struct profile *profile)
{
	ok(gram_threads(profile) == 8, "the profile's largest team");
	const int64_t n = 8000, k = 256, nb = gram_width(profile, SINGLE, n, n, k, 8);
	double best = seconds(profile, n, k, nb);
	ok(nb > 8 && nb < 256 && best < seconds(profile, n, k, nb / 2) &&
	                best < seconds(profile, n, k, 2 * nb),
	        "the width of blocks that takes the least time: %d", (int)nb);
	ok(gram_width(profile, SINGLE, 2, 3, 3, 8) == 0, "none of a matrix that is refused");
}

int main(void)
{
	struct profile *profile = machine();
	struct price_reader *r = calloc(1, sizeof *r);

	price_reader_start(r, profile);
	test_passes(r);
	test_apply(r);
	test_width(profile);
	free(r);
	profile_free(profile);
	return finish();
}
