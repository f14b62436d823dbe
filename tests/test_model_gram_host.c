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

/* 64 GB/s to 1 MB, 16 GB/s to 16 MB, 4 GB/s from memory, which gives 8 threads 20 GB/s; copies
 * twice as much; lines of other cores take four times as long as those of the last cache; starting
 * a team takes a microsecond a thread. */
static struct profile *machine(void)
{
	struct profile *p = profile_new();

	add_rate(p, 1, 1 << 14, 64e9);
	add_rate(p, 1, 1 << 20, 64e9);
	add_rate(p, 1, 1 << 22, 16e9);
	add_rate(p, 1, 1 << 24, 16e9);
	add_rate(p, 1, 1 << 28, 4e9);
	add_rate(p, 8, 1 << 28, 20e9);
	add(p, "host.l2.stated", "B", NULL, 0, 1 << 20);
	add(p, "host.l3.stated", "B", NULL, 0, 1 << 25);
	add(p, "host.l3.latency", "s", NULL, 0, 30e-9);
	add(p, "host.exchange.latency", "s", NULL, 0, 120e-9);
	for (int threads = 1; threads <= 8; threads *= 2)
		add(p, "host.parallel.fork", "s", &(struct arg){"threads", threads}, 1,
		        1e-6 * threads);
	return p;
}

static bool near(double got, double want)
{
	bool same = fabs(got - want) <= 1e-9 * fabs(want);

	if (!same)
		diag("got %.12g want %.12g", got, want);
	return same;
}

static double both(double a, double b)
{
	return sqrt(a * a + b * b);
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
	ok(near(p.term[TERM_MEMORY], both(4e5 / 64e9, 4e5 / 64e9)) && near(p.term[TERM_HOST], 1e-6),
	        "dot products of one thread in its cache: the columns, and the one they are with");
	p = price_gram_pass_host(r, GRAM_UPDATE, single(1000, 2001));
	ok(near(p.term[TERM_MEMORY], both(16e6 / 48e9, 8e6 / 64e9)) &&
	                near(p.term[TERM_HOST], 1e-6 + 8e3 / 128e9),
	        "an update in place from the last cache, and the division");
	r->threads = 8;
	p = price_gram_pass_host(r, GRAM_DOTS, single(1000, 100));
	ok(near(p.term[TERM_MEMORY], both(13 * 4e3 / 64e9, 13 * 4e3 / 64e9)) &&
	                near(p.term[TERM_HOST], 8e-6 + 4e3 / 4e9),
	        "eight threads: the one with most columns, and one column from another thread");
	p = price_gram_pass_host(r, GRAM_FUSED, single(1000, 32));
	ok(near(p.term[TERM_HOST], 1e-6 + 5 * 4e3 / 128e9 + 4e3 / 64e9),
	        "a small pass is left to one thread: the next column, its norm, the division");
	p = price_gram_pass_host(r, GRAM_DOTS, single(80000, 8000));
	ok(near(p.term[TERM_MEMORY], both(2.56e9 / 20e9, 3.2e8 / 64e9)),
	        "what no cache holds comes at memory's rate, which all share");
}

static void test_apply(struct price_reader *r)
{
	const double column = 4e3, group = GRAM_TOGETHER;

	r->threads = 1;
	struct price p = price_gram_apply_host(r, single(1000, 40), 10, false);
	double pass = both(2 * group * column / 128e9 + 2 * column / 64e9, 2 * column / 64e9);
	ok(near(p.term[TERM_MEMORY], 10 * (5 * pass + 2 * group * column / 128e9)),
	        "a group of columns, while pairs go by in the nearest cache");
	p = price_gram_apply_host(r, single(10000, 200), 200, false);
	pass = both(2 * group * 4e4 / 128e9 + 2 * 4e4 / 64e9, 2 * 4e4 / 16e9);
	ok(near(p.term[TERM_MEMORY], 50 * (100 * pass + 2 * group * 4e4 / 48e9)),
	        "more of them than it holds come from the last one");
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
