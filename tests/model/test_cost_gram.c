/* SPDX-License-Identifier: MIT */
/* The model's costs of the Gram-Schmidt process: passes and blocks by hand from synthetic profiles,
 * on the device and on the host; the forms against one another; the width of blocks; intervals. */
#include "cost_lines.h"

#include "factor/kernels/gram_schmidt/gram_levels.h"
#include "factor/model/predictions/intervals.h"
#include "factor/model/predictions/model_gram_schmidt.h"
#include "factor/validation/papers/gram_cases.h"
#include "lib/base/random.h"

/* ---- the device ---- */

static struct profile *device(void)
{
	struct profile *p = synthetic(0);

	ADD(p, 0, {"gpu.launch.pdl", 0.5e-6}, {"gpu.l2.near.size", 1048576},
	        {"gpu.dram.read", 1.25e12}, {"gpu.dram.latency", 0.5e-6}, {"gpu.clock.sm", 1e9},
	        {"gpu.sm.l2_read", 1e11}, {"gpu.reduce.sum[threads=32/1024]", 0.2e-6},
	        {"gpu.fma.s.rate", 4e13});
	return p;
}

/* Columns of 4 KiB, of which L2 holds 256 near; those of the paper's kernels of 16 KiB. */
static void test_device(void)
{
	const double held = (1048576 - 4096) / 1e6, shared = 256 * 4096 / 2e6;
	const double issue = (40 + 8 * 60 + 45) * 32 / 4 / 1e3, connection = 2 * 32 * 16384 / 1e5;
	const struct line lines[] = {
	        {"memory: dots 1024 256", held + shared,
	                "dot products from L2: one read, and the first column by 256 blocks"},
	        {"memory: fused 1024 257", 2 * (held + shared),
	                "one pass in L2: all but the column itself, read and written"},
	        {"memory: update 1024 257", 2 * held + shared,
	                "the update moves as much, its blocks share one column"},
	        {"memory: dots 1024 1024", held + 3145728 / 1.25e6 + shared / 4,
	                "of what L2 does not hold a part is found there by the next pass"},
	        {"memory: update 1024 1", 0, "nothing right of the last column"},
	        {"launch: fused 10 2", 0.5, "a pass begins before the one ahead of it ends"},
	        {"enqueue: fused 10 2", 2, "queued as kernels are"},
	        {"barrier: fused 10 2", 5 * 0.25 + 2 * 0.2, "and waits for reads and sums"},
	        {"memory: wide update 4096 65 256 1", 2 * held,
	                "the update's traffic: a copy of as many bytes"},
	        {"launch: wide update 4096 65 256 1", 1, "by a kernel"},
	        {"barrier: wide scale 4096 9 64 8", 0.5, "scalings"}};
	struct profile *p = device();
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
	const double one = answer(e, "wide dots 4096 32 32 32");

	const double moved = answer(e, "memory: wide dots 4096 32 32 32");
	const double used = cbrt(pow(issue, 3) + pow(connection, 3) + pow(moved, 3)),
	             first = cbrt(pow(issue / 8, 3) + pow(connection / 8, 3) + pow(moved, 3));
	is_real(one, 1 + 0.25 + first + cbrt(pow(used - first, 3) + pow(8 * 0.25 + 0.2, 3)), 1e-9,
	        "one block of eight warps a scheduler: one issues, then the others, beside the "
	        "chain of eight accesses");
	ok(answer(e, "wide dots 4096 32768 1024 1") > 1.2 * answer(e, "wide dots 4096 32768 64 1"),
	        "a block that has a multiprocessor for itself leaves memory idle");
	executor_free(e);
	PLAY(p, lines);
}

static double seconds_of(
        const struct profile *p, enum model_target target, const struct gram_question *asked)
{
	struct prediction out;

	if (!model_gram_schmidt_predict(p, target, asked, 2, false, &out))
		diag("%s: %s", asked->form, out.fault.text);
	return out.seconds;
}

static void test_forms(void)
{
	struct profile *p = device();
	struct gram_question asked = {
	        .form = "fused", .nb = 1, .m = 4096, .n = 4096, .precision = SINGLE};
	const double cube = pow(4096, 3), fused = seconds_of(p, MODEL_CUDA, &asked);

	asked.form = "kernels";
	const double kernels = seconds_of(p, MODEL_CUDA, &asked);
	ok(fused > 3.8 * cube / 1e12 && fused < 4.4 * cube / 1e12,
	        "one pass: 8 bytes at memory's rate");
	ok(kernels > fused && kernels < 6 * cube / 0.9e12, "two passes: more, 12 at most");
	asked.m = asked.n = 0;
	ok(isnan(seconds_of(p, MODEL_CUDA, &asked)), "nothing is refused");
	profile_free(p);
}

/* Copies of words off a sector's boundary take twice as long. An odd leading dimension puts 7 of 8
 * columns there, and the wide kernels load words. */
static void test_unaligned(void)
{
	static const struct {
		const char *form;
		double least, most;
	} forms[] = {{"fused", 1.8, 1.875}, {"kernels", 1.3, 1.7}, {"direct", 1.1, 1.875},
	        {"wide", 1.2, 2}};
	struct profile *p = device();
	struct gram_question asked = {.m = 4096, .n = 4096, .precision = SINGLE};
	double direct = 0;

	ADD(p, 0, {"gpu.copy.width[width=4/16]", 1e12}, {"gpu.copy.misaligned[offset=4]", 5e11},
	        {"gpu.copy.misaligned[offset=16]", 1e12});
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		asked.form = forms[i].form;
		asked.lda = 4096 + 4;
		const double even = seconds_of(p, MODEL_CUDA, &asked);
		asked.lda = 4096 + 1;
		const double odd = seconds_of(p, MODEL_CUDA, &asked);
		ok(odd > forms[i].least * even && odd < forms[i].most * even,
		        "%s: changes of columns off boundaries take longer: %.2f times", asked.form,
		        odd / even);
		direct = strcmp(asked.form, "direct") == 0 ? odd : direct;
	}
	is_real(seconds_of(p, MODEL_CUDA, &asked), direct, 1e-9, "wide is then direct");
	profile_free(p);
}

/* Kernels that hold columns in registers, by k columns at once and by forms made of them. */
static void test_tallest(void)
{
	enum { MOST = GRAM_APPLY_BYTES / sizeof(float) };
	struct profile *p = device();
	struct gram_kernel kernel = {
	        .k = 24, .precision = SINGLE, .m = MOST + 1, .n = 100, .calls = 2};
	struct gram_question asked = {
	        .form = "blocked", .nb = 48, .m = MOST + 1, .n = 100, .precision = SINGLE};
	struct prediction out;

	ok(!model_gram_kernel_predict(p, &kernel, 2, &out) && out.fault.refused,
	        "a column that registers do not hold is refused: %s", out.fault.text);
	kernel.k = 0;
	model_gram_kernel_predict(p, &kernel, 2, &out);
	ok(!out.fault.refused, "but not by a pass over memory");
	model_gram_schmidt_predict(p, MODEL_CUDA, &asked, 2, false, &out);
	ok(out.fault.refused, "blocks of columns are: %s", out.fault.text);
	asked.nb = asked.n;
	model_gram_schmidt_predict(p, MODEL_CUDA, &asked, 2, false, &out);
	ok(!out.fault.refused, "but not one block of all columns");
	asked.nb = 48;
	asked.m = MOST;
	model_gram_schmidt_predict(p, MODEL_CUDA, &asked, 2, false, &out);
	ok(!out.fault.refused, "nor columns that registers hold");
	profile_free(p);
}

/* ---- the host ---- */

enum { L1 = 1 << 15, L2 = 1 << 20, L3 = 1 << 27 };

static void add_level(
        struct profile *p, const char *name, int threads, int bytes, int level, double seconds)
{
	char text[96];

	snprintf(
	        text, sizeof text, "%s[threads=%d,bytes=%d,level=%d]", name, threads, bytes, level);
	add_written(p, text, seconds, 0);
}

/* Microseconds of a pass that take so many a byte in the first two caches, four times as many
 * beyond two columns in the last; a microsecond a thread to begin. */
static const double dots = 1e-4, update = 2e-4, fused = 3e-4;

/* Blocks: to begin, for a column that is taken out, for a group as it comes and for each column
 * out of it, a byte; more where it comes from the last cache. */
static const double column = 1e-4, group = 8e-4, out = 3e-4, late = 5e-4;

static double apply(double threads, double bytes, double k, double groups)
{
	return threads + bytes * (k * column + groups * (group + k * out));
}

static void add_caches(struct profile *p, int threads, int bytes)
{
	for (int level = GRAM_LEAST; level <= GRAM_FAR; level++) {
		const double columns = gram_columns_at((enum gram_level)level, bytes, L1, L2),
		             cost = bytes * (level == GRAM_FAR ? 2 + 4 * (columns - 2) : columns);
		add_level(
		        p, "host.gram.dots", threads, bytes, level, (threads + cost * dots) * 1e-6);
		add_level(p, "host.gram.update", threads, bytes, level,
		        (threads + cost * update) * 1e-6);
		add_level(p, "host.gram.fused", threads, bytes, level,
		        (threads + cost * fused) * 1e-6);
	}
	for (int level = GRAM_ONE; level <= GRAM_APPLY_FAR; level++) {
		const bool far = level == GRAM_APPLY_FAR;
		const double groups = gram_groups_at((enum gram_apply_level)level, bytes, L2);
		add_level(p, "host.gram.few", threads, bytes, level,
		        (apply(threads, bytes, GRAM_FEW, groups) + far * groups * late * bytes) *
		                1e-6);
		if (!far)
			add_level(p, "host.gram.many", threads, bytes, level,
			        apply(threads, bytes, GRAM_MANY, groups) * 1e-6);
	}
}

/* Memory gives one thread 4 GB/s and eight 20, copies twice as much; a column of another core comes
 * at 10 GB/s. */
static struct profile *host(void)
{
	struct profile *p = profile_new();

	ADD(p, 0, {"host.memory.read[threads=1,bytes=268435456]", 4e9},
	        {"host.memory.read[threads=8,bytes=268435456]", 20e9},
	        {"host.memory.copy[threads=1,bytes=268435456]", 8e9},
	        {"host.memory.copy[threads=8,bytes=268435456]", 40e9}, {"host.l1.stated", L1},
	        {"host.l2.stated", L2}, {"host.l3.stated", L3},
	        {"host.gram.handed[bytes=1024/65536]", 1e-10, "b"},
	        {"host.parallel.fork[threads=1:8:2]", 1e-6});
	for (int threads = 1; threads <= 8; threads *= 8)
		for (int bytes = 1024; bytes <= 65536; bytes *= 4)
			add_caches(p, threads, bytes);
	return p;
}

static void test_host(void)
{
	const struct line lines[] = {{"one dots 1024 100", 1 + 100 * 4096 * dots,
	                                     "dot products of one thread in its second cache"},
	        {"one update 1024 2002", 1 + (2 + 2000 * 4) * 4096 * update,
	                "an update from the last cache"},
	        {"fused 1024 100", 8 + 13 * 4096 * fused,
	                "eight threads: the one with most columns"},
	        {"dots 16384 40000", 40000 * 65536.0 / 20e3,
	                "what no cache holds comes at memory's rate, which all share"},
	        {"fused 1024 20", 1 + 20 * 4096 * fused, "a small pass is left to one thread"},
	        {"fused 1024 63", 1 + 63 * 4096 * (fused + 1e-4),
	                "the first such has its columns from others"},
	        {"gram_panel 1024 2", 3 + 4096 * (2 * dots + 2 * fused + update + 2e-4),
	                "a panel, too"},
	        {"one apply 1024 40 10", apply(1, 4096, 10, 10),
	                "ten columns out of ten groups in the second cache"},
	        {"apply 1024 100 96", apply(8, 4096, 96, 4),
	                "eight threads: the one with most groups"},
	        {"apply 1024 3200 8", apply(8, 4096, 8, 100) + 100 * late * 4096,
	                "they come from the last cache"},
	        {"apply 16384 4160 8", apply(8, 65536, 8, 130) + 130 * 4 * 65536 * 8 / 20e3,
	                "or from memory, as all read it"}};

	play(host(), MODEL_HOST, lines, ARRAY_LEN(lines));
}

/* A host on which every pass was slowed down, by up to a thousand times. */
static void test_noise(void)
{
	/* a call, its rows, and the columns that are subtracted */
	static const struct {
		const char *name;
		int m, k;
	} calls[] = {
	        {"dots", 1024, 0}, {"fused", 16384, 0}, {"apply", 1024, 1}, {"apply", 1024, 96}};
	uint64_t random = 1;
	int costs = 0, positive = 0;

	for (int machines = 0; machines < 50; machines++) {
		struct profile *p = host();
		for (size_t i = 0; i < p->count; i++)
			if (strncmp(p->row[i].name, "host.gram.", 10) == 0)
				p->row[i].estimate.value *=
				        pow(10, 3 * (double)(random_next(&random) >> 40) / 0x1p24);
		struct executor *e = executor_model_new(p, MODEL_HOST, 2);
		for (int one = 0; one < 2; one++)
			for (int n = 1; n <= 4096; n *= 4)
				for (size_t k = 0; k < ARRAY_LEN(calls); k++, costs++) {
					char text[64];
					snprintf(text, sizeof text, "%s %s %d %d %d",
					        one ? "one" : "", calls[k].name, calls[k].m, n,
					        calls[k].k);
					positive += answer(e, text) > 0;
				}
		executor_free(e);
		profile_free(p);
	}
	ok(positive == costs, "noise makes no cost negative: %d of %d", positive, costs);
}

static void test_width(const struct profile *p)
{
	struct gram_question asked = {.form = "blocked",
	        .m = 8000,
	        .n = 8000,
	        .k = 256,
	        .precision = SINGLE,
	        .threads = 8};
	const int64_t nb = gram_width(p, 8000, 8000, 256, 8);
	double seconds[3];

	ok(gram_threads(p) == 8, "the profile's largest number of threads");
	for (int i = 0; i < 3; i++) {
		asked.nb = (nb << i) / 2;
		seconds[i] = seconds_of(p, MODEL_HOST, &asked);
	}
	ok(nb > 8 && nb < 256 && seconds[1] < seconds[0] && seconds[1] < seconds[2],
	        "the width of blocks that takes the least time: %d", (int)nb);
	ok(gram_width(p, 2, 3, 3, 8) == 0, "none of a matrix that is refused");
}

/* Rows that are exact, read where they are. */
static void test_interval(const struct profile *p)
{
	static const int threads[] = {0, 1, 8}; /* 0: as many as the profile knows, which is 8 */
	double high[3], least, most;

	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		const struct gram_question asked = {.form = "fused",
		        .m = 1024,
		        .n = 500,
		        .precision = SINGLE,
		        .threads = threads[i]};
		struct prediction got;
		const bool good = model_gram_schmidt_predict(p, MODEL_HOST, &asked, 2, true, &got);
		high[i] = got.high;
		const double part = 0.11 * got.seconds;
		interval_ends(&interval_table.of[INTERVAL_HARDWARE],
		        &(struct spread){part * part, part * part}, got.seconds, &least, &most);
		ok(good && got.low >= least && got.high <= most,
		        "%d threads: composition leaves at most 11 %% open", threads[i]);
	}
	ok(high[0] == high[2], "the largest number of threads is taken");
}

int main(void)
{
	struct profile *p = host();

	test_device();
	test_forms();
	test_unaligned();
	test_tallest();
	test_host();
	test_noise();
	test_width(p);
	test_interval(p);
	profile_free(p);
	return finish();
}
