/* SPDX-License-Identifier: MIT */
/* The model's costs of Gram-Schmidt on the host by hand from a synthetic profile: passes by their
 * columns and caches, memory that threads share, what other threads have changed, blocks, and the
 * width of blocks that follows. */
#include "factor/model/predictions/model_gram_schmidt.h"
#include "factor/model/cost/cost_blocks.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/kernels/gram_schmidt/gram_levels.h"
#include "tests/tap.h"

enum { L1 = 1 << 15, L2 = 1 << 20, L3 = 1 << 27 };

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

/* Seconds of a pass that take so many a byte in the first two caches, four times as many beyond
 * two columns in the last; a microsecond a thread to begin. */
static const double dots = 1e-10, update = 2e-10, fused = 3e-10;

static double begin(double threads)
{
	return 1e-6 * threads;
}

static void add_pass(struct profile *p, const char *name, double byte)
{
	for (int threads = 1; threads <= 8; threads *= 8)
		for (int bytes = 1024; bytes <= 65536; bytes *= 4)
			for (int level = GRAM_LEAST; level <= GRAM_FAR; level++) {
				const struct arg args[] = {
				        {"threads", threads}, {"bytes", bytes}, {"level", level}};
				const double columns =
				        gram_columns_at((enum gram_level)level, bytes, L1, L2);
				add(p, name, "s", args, 3,
				        begin(threads) +
				                bytes * byte *
				                        (level == GRAM_FAR ? 2 + 4 * (columns - 2)
				                                           : columns));
			}
}

/* Blocks: to begin, for a column that is taken out, for a group as it comes and for each column
 * out of it, a byte; more where it comes from the last cache. */
static const double column = 1e-10, group = 8e-10, out = 3e-10, late = 5e-10;

static double apply(double threads, double bytes, double k, double groups)
{
	return begin(threads) + bytes * (k * column + groups * (group + k * out));
}

static void add_apply(struct profile *p, const char *name, double k, int levels)
{
	for (int threads = 1; threads <= 8; threads *= 8)
		for (int bytes = 1024; bytes <= 65536; bytes *= 4)
			for (int level = GRAM_ONE; level <= levels; level++) {
				const struct arg args[] = {
				        {"threads", threads}, {"bytes", bytes}, {"level", level}};
				const double groups =
				        gram_groups_at((enum gram_apply_level)level, bytes, L2);
				add(p, name, "s", args, 3,
				        apply(threads, bytes, k, groups) +
				                (level == GRAM_APPLY_FAR ? groups * late * bytes
				                                         : 0));
			}
}

/* Memory gives one thread 4 GB/s and eight 20, copies twice as much; a column of another core comes
 * at 10 GB/s. */
static struct profile *machine(void)
{
	struct profile *p = profile_new();

	add_rate(p, 1, 1 << 28, 4e9);
	add_rate(p, 8, 1 << 28, 20e9);
	add(p, "host.l1.stated", "B", NULL, 0, L1);
	add(p, "host.l2.stated", "B", NULL, 0, L2);
	add(p, "host.l3.stated", "B", NULL, 0, L3);
	add_pass(p, "host.gram.dots", dots);
	add_pass(p, "host.gram.update", update);
	add_pass(p, "host.gram.fused", fused);
	add_apply(p, "host.gram.few", GRAM_FEW, GRAM_APPLY_FAR);
	add_apply(p, "host.gram.many", GRAM_MANY, GRAM_FOUR);
	for (int bytes = 1 << 10; bytes <= 1 << 16; bytes <<= 6) {
		const struct arg length = {"bytes", bytes};
		add(p, "host.gram.handed", "s", &length, 1, bytes * 1e-10);
	}
	for (int threads = 1; threads <= 8; threads *= 2) {
		const struct arg pinned = {"threads", threads};
		add(p, "host.parallel.fork", "s", &pinned, 1, 1e-6);
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

static double sum(struct cost p)
{
	return p.term[TERM_MEMORY] + p.term[TERM_HOST];
}

static void test_passes(struct cost_reader *r)
{
	r->threads = 1;
	ok(near(sum(cost_gram_pass_host(r, GRAM_DOTS, single(1024, 100))),
	           begin(1) + 100 * 4096 * dots),
	        "dot products of one thread in its second cache");
	ok(near(sum(cost_gram_pass_host(r, GRAM_UPDATE, single(1024, 2002))),
	           begin(1) + (2 + 2000 * 4) * 4096 * update),
	        "an update from the last cache");
	r->threads = 8;
	ok(near(sum(cost_gram_pass_host(r, GRAM_FUSED, single(1024, 100))),
	           begin(8) + 13 * 4096 * fused),
	        "eight threads: the one with most columns");
	ok(near(sum(cost_gram_pass_host(r, GRAM_DOTS, single(16384, 40000))),
	           40000 * 65536.0 / 20e9),
	        "what no cache holds comes at memory's rate, which all share");
	ok(near(sum(cost_gram_pass_host(r, GRAM_FUSED, single(1024, 20))),
	           begin(1) + 20 * 4096 * fused),
	        "a small pass is left to one thread");
	ok(near(sum(cost_gram_pass_host(r, GRAM_FUSED, single(1024, 63))),
	           begin(1) + 63 * 4096 * (fused + 1e-10)),
	        "the first such has its columns from others");
	ok(near(sum(cost_gram_panel_host(r, single(1024, 2))),
	           3 * begin(1) + 4096 * (2 * dots + 2 * fused + update + 2e-10)),
	        "a panel, too");
}

static void test_apply(struct cost_reader *r)
{
	r->threads = 1;
	ok(near(sum(cost_gram_apply_host(r, single(1024, 40), 10, false)), apply(1, 4096, 10, 10)),
	        "ten columns out of ten groups in the second cache");
	r->threads = 8;
	ok(near(sum(cost_gram_apply_host(r, single(1024, 100), 96, false)), apply(8, 4096, 96, 4)),
	        "eight threads: the one with most groups");
	ok(near(sum(cost_gram_apply_host(r, single(1024, 4 * 8 * 100), 8, false)),
	           apply(8, 4096, 8, 100) + 100 * late * 4096),
	        "they come from the last cache");
	ok(near(sum(cost_gram_apply_host(r, single(16384, 4 * 8 * 130), 8, false)),
	           apply(8, 65536, 8, 130) + 130 * 4 * 65536 * 8 / 20e9),
	        "or from memory, as all read it");
}

/* A host on which every pass was slowed down, by up to a thousand times. */
static void test_noise(void)
{
	uint64_t random = 1;
	int costs = 0, positive = 0;

	for (int machines = 0; machines < 50; machines++) {
		struct profile *p = machine();
		struct cost_reader *r = calloc(1, sizeof *r);
		for (size_t i = 0; i < p->count; i++)
			if (strncmp(p->row[i].name, "host.gram.", 10) == 0) {
				random = random * 6364136223846793005u + 1442695040888963407u;
				p->row[i].estimate.value *=
				        pow(10, 3 * (double)(random >> 40) / 0x1p24);
			}
		cost_reader_start(r, p);
		for (r->threads = 1; r->threads <= 8; r->threads *= 8)
			for (int64_t n = 1; n <= 4096; n *= 4) {
				const double got[] = {
				        sum(cost_gram_pass_host(r, GRAM_DOTS, single(1024, n))),
				        sum(cost_gram_pass_host(r, GRAM_FUSED, single(16384, n))),
				        sum(cost_gram_apply_host(r, single(1024, n), 1, false)),
				        sum(cost_gram_apply_host(r, single(1024, n), 96, false))};
				for (size_t k = 0; k < ARRAY_LEN(got); k++, costs++)
					positive += got[k] > 0;
			}
		free(r);
		profile_free(p);
	}
	ok(positive == costs, "noise makes no cost negative: %d of %d", positive, costs);
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
	ok(gram_threads(profile) == 8, "the profile's largest number of threads");
	const int64_t n = 8000, k = 256, nb = gram_width(profile, SINGLE, n, n, k, 8);
	double best = seconds(profile, n, k, nb);
	ok(nb > 8 && nb < 256 && best < seconds(profile, n, k, nb / 2) &&
	                best < seconds(profile, n, k, 2 * nb),
	        "the width of blocks that takes the least time: %d", (int)nb);
	ok(gram_width(profile, SINGLE, 2, 3, 3, 8) == 0, "none of a matrix that is refused");
}

/* Rows that are exact, read where they are: what is left is the accuracy that the model claims. */
static void test_interval(const struct profile *profile)
{
	static const int pinned_sets[] = {
	        0, 1, 8}; /* 0: as many as the profile knows, which is 8 */
	double high[ARRAY_LEN(pinned_sets)];

	for (size_t i = 0; i < ARRAY_LEN(pinned_sets); i++) {
		const struct gram_question asked = {.form = "fused",
		        .m = 1024,
		        .n = 500,
		        .precision = SINGLE,
		        .threads = pinned_sets[i]};
		struct prediction got;
		if (!ok(model_gram_schmidt_predict(profile, MODEL_HOST, &asked, 2, true, &got),
		            "predicted for %d threads", pinned_sets[i]))
			continue;
		high[i] = got.high;
		const double half = fmax(got.high / got.seconds - 1, 1 - got.low / got.seconds);
		ok(half > 0.99 * claimed_accuracy && half < 1.5 * claimed_accuracy,
		        "within +- %.1f %% of those threads", 100 * half);
	}
	ok(high[0] == high[2], "the largest number of threads is taken");
}

int main(void)
{
	struct profile *profile = machine();
	struct cost_reader *r = calloc(1, sizeof *r);

	cost_reader_start(r, profile);
	test_passes(r);
	test_apply(r);
	test_noise();
	test_width(profile);
	test_interval(profile);
	free(r);
	profile_free(profile);
	return finish();
}
