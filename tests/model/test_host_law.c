/* SPDX-License-Identifier: MIT */
/* The host's law: sums by hand on a made-up host, works of calls by hand, and the directions in
 * which a recorded host's surfaces move with its hardware. */
#include "factor/kernels/gram_schmidt/gram_threads_work.h"
#include "factor/model/efficiency/efficiency.h"
#include "factor/model/efficiency/host_library_work.h"
#include "factor/model/law/host_law.h"
#include "model_profile.h"
#include "tests/tap.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* Four cores of two hardware threads. Lines that are changed take twice as long as those read. */
static struct profile *made_up(void)
{
	struct profile *p = profile_new();

	ADD(p, 0.01, {"host.clock", 1e9}, {"host.blas.level1", 1e-8}, {"host.l1.stated", 48 * KIB},
	        {"host.l2.stated", 2 * MIB}, {"host.l3.stated", 256 * MIB},
	        {"host.exchange.latency", 1e-7}, {"host.parallel.fork[threads=8]", 4e-6},
	        {"host.fma.s[threads=1]", 1e11}, {"host.fma.s[threads=8]", 4e11},
	        {"host.fma.d[threads=1]", 5e10}, {"host.fma.d[threads=8]", 2e11},
	        {"host.memory.read[threads=1,bytes=16384]", 1e11},
	        {"host.memory.read[threads=1,bytes=262144/1048576]", 5e10},
	        {"host.memory.read[threads=1,bytes=4194304/67108864]", 2e10},
	        {"host.memory.read[threads=1,bytes=1073741824]", 1e10},
	        {"host.memory.read[threads=8,bytes=1073741824]", 4e10},
	        {"host.memory.write[threads=1,bytes=16384]", 5e10},
	        {"host.memory.write[threads=1,bytes=262144/1048576]", 2.5e10},
	        {"host.memory.write[threads=1,bytes=4194304/67108864]", 1e10},
	        {"host.memory.write[threads=1,bytes=1073741824]", 5e9},
	        {"host.memory.write[threads=8,bytes=1073741824]", 2e10});
	return p;
}

static double seconds(const struct profile *profile, struct host_work work)
{
	struct cost_reader *reader = malloc(sizeof *reader);

	cost_reader_start(reader, profile);
	const double answer = host_law(reader, &work, 1);
	free(reader);
	return answer;
}

static struct host_work moves(double read, double changed, double set, double threads)
{
	return (struct host_work){
	        .threads = threads, .traffic[0] = {.read = read, .changed = changed, .set = set}};
}

static void test_caches(const struct profile *p)
{
	is_real(seconds(p, moves(1e6, 0, 8 * KIB, 1)), 1e-5, 1e-9, "reads of the first cache");
	is_real(seconds(p, moves(1e6, 0, MIB, 1)), 2e-5, 1e-9, "of the second");
	is_real(seconds(p, moves(1e6, 0, 4. * MIB, 1)), 5e-5, 1e-9, "twice the second: the last");
	is_real(seconds(p, moves(1e6, 0, 1e9, 1)), 1e-4, 1e-9, "beyond the last: memory");
	is_real(seconds(p, moves(0, 1e6, MIB, 1)), 4e-5, 1e-9, "changes evict lines");
	is_real(seconds(p, moves(1e6, 1e6, MIB, 1)), 4e-5, 1e-9, "beside which others are read");
	is_real(seconds(p, moves(1e6, 0, 8 * MIB, 8)), 2e-5 / 4, 1e-9,
	        "eight threads on four cores have four second caches");
	is_real(seconds(p, moves(1e6, 0, 1e9, 8)), 2.5e-5, 1e-9, "and one memory");
	is_real(seconds(p, (struct host_work){.words = 100, .words_set = KIB}), 1e-7, 1e-9,
	        "words of the first cache take a cycle");
	is_real(seconds(p, (struct host_work){.words = 100, .words_set = MIB}), 6400 / 2.5e10, 1e-9,
	        "beyond it a line");
}

static void test_parts(const struct profile *p)
{
	const struct host_work flops = {.flops = 1e9, .precision = SINGLE},
	                       threads = {.flops = 1e9, .precision = SINGLE, .threads = 8},
	                       doubles = {.flops = 1e9, .precision = DOUBLE};

	is_real(seconds(p, flops), 1e-2, 1e-9, "multiply-adds of one thread");
	is_real(seconds(p, threads), 2.5e-3, 1e-9, "of all");
	is_real(seconds(p, doubles), 2e-2, 1e-9, "of doubles");
	is_real(seconds(p, (struct host_work){.calls = 3, .cycles = 500}), 3e-8 + 5e-7, 1e-9,
	        "calls, and dependent cycles");
	is_real(seconds(p, (struct host_work){.threads = 8, .regions = 2}), 8e-6, 1e-9,
	        "threads start and are waited for");
	is_real(seconds(p, (struct host_work){.handed = 1e6, .handovers = 2}), 2e-7 + 5e-5, 1e-9,
	        "bytes of another core come through the last cache");
}

/* A vector of 64 bytes loaded and stored a cycle of 1e9: two vectors multiplied and added. Products
 * were timed, and say nothing. */
static void test_substitute(void)
{
	struct profile *p = profile_new();

	ADD(p, 0.01, {"host.memory.copy[threads=1,bytes=16384]", 128e9},
	        {"host.memory.copy[threads=1,bytes=1048576]", 32e9},
	        {"host.gemm.threads.s[n=1000,threads=1]", 2e-2}, {"host.gemm.s[n=2000]", 4e-2});
	is_real(seconds(p, (struct host_work){.flops = 64e9, .precision = SINGLE}), 1, 1e-9,
	        "without host.fma: as many vectors as a core copies");
	is_real(seconds(p, (struct host_work){.flops = 32e9, .precision = DOUBLE}), 1, 1e-9,
	        "of half as many doubles");
	is_real(seconds(p, (struct host_work){.flops = 64e9, .precision = SINGLE, .threads = 8}),
	        1. / 8, 1e-9, "by each thread");
	ok(isnan(seconds(p, (struct host_work){.calls = 1})), "a missing row gives no answer");
	ADD(p, 0.01, {"host.l1.latency", 2e-9});
	is_real(seconds(p, (struct host_work){.calls = 1, .cycles = 1}), 25 * 0.4e-9, 1e-9,
	        "a machine without calibration has a clock by its first cache");
	profile_free(p);
}

/* ---- works ---- */

static double flops_of(const struct host_work *work, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += work[i].flops;
	return sum;
}

static double changed_in(const struct host_work *work, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t t = 0; t < HOST_TRAFFICS; t++)
			sum += work[i].traffic[t].changed;
	return sum;
}

static void test_library(void)
{
	const struct host_call lu = {SINGLE, 1024, 32, 1}, qr = {SINGLE, 100, 2, 1},
	                       cholesky = {DOUBLE, 32, 32, 1}, product = {DOUBLE, 100, 100, 8};
	struct host_work work[HOST_WORKS];
	size_t parts = host_library_gemm(&product, work);

	ok(parts == 1 && work[0].flops == 2e6 && work[0].threads == 8 && work[0].regions == 1 &&
	                work[0].traffic[0].read == 160e3 && work[0].traffic[0].changed == 80e3,
	        "a product: 2 n^3, two operands read, one changed");
	parts = host_library_getrf(&lu, work);
	is_real(flops_of(work, parts), 2 * (8 + 1008) * 16 * 16, 1e-12,
	        "LU of 32 columns: a triangular solve and a product of 16 by 16");
	is_real(changed_in(work, parts), 4 * 16 * (2 * (1024 + 1008) + 8 + 1008), 1e-12,
	        "each column changes twice, the right half once more");
	parts = host_library_geqrf(&qr, work);
	ok(flops_of(work, parts) == 0, "QR of two columns is level 2");
	is_real(changed_in(work, parts), 4 * (100 + 99 + 100), 1e-12,
	        "it scales both columns and updates one");
	parts = host_library_potrf(&cholesky, work);
	ok(flops_of(work, parts) == 0 && changed_in(work, parts) == 32 * 32 * 8,
	        "Cholesky of 32 columns changes each element once");
}

static void test_gram(void)
{
	const struct gram_threads_call one = {1, 4, 1024, SINGLE}, all = {4, 16, 1024, SINGLE};
	struct host_work work[GRAM_APPLY_PARTS];

	gram_threads_pass_work(&one, GRAM_THREADS_DOTS, work);
	ok(work->traffic[0].read == 4096 && work->traffic[1].read == 4096 &&
	                work->traffic[0].changed == 0 && work->handed == 0,
	        "dot products read each column, and another one beside it");
	gram_threads_pass_work(&all, GRAM_THREADS_FUSED, work);
	ok(work->traffic[0].changed == 16 * 1024 && work->traffic[1].read == 2 * 16 * 1024 &&
	                work->handed == 2048 && work->words == 16,
	        "the fused pass changes columns by one, and meets the next");
	gram_threads_apply_work(&all, 8, work);
	is_real(work[0].flops + work[1].flops, 4. * 256 * 8 * 16, 1e-12,
	        "projections: four flops an element, column and projected column");
}

/* ---- a recorded machine ---- */

static bool is_fma(const struct parameter *row, const void *unused)
{
	(void)unused;
	return strncmp(row->name, "host.fma.", strlen("host.fma.")) == 0;
}

/* With the rates of multiply-adds that its processor states. */
static struct profile *machine(void)
{
	struct profile *p = profile_open(RECORDED);

	profile_remove_if(p, is_fma, NULL);
	ADD(p, 0.01, {"host.fma.s[threads=1]", 1.7e11}, {"host.fma.s[threads=16]", 1.36e12},
	        {"host.fma.d[threads=1]", 8.5e10}, {"host.fma.d[threads=16]", 6.8e11});
	return p;
}

static struct profile *with(const struct profile *p, const char *assignment)
{
	struct profile *changed = profile_copy(p);
	struct fault fault = {.text = ""};
	const bool one = strchr(assignment, '[');

	ok((one ? what_if_set : what_if_scale)(changed, assignment, &fault), "%s", assignment);
	return changed;
}

/* A row's value over that before the what-if. */
static double times(const struct profile *changed, const struct profile *p, const char *name,
        const struct arg *args, size_t count)
{
	return profile_get(changed, name, args, count).estimate.value /
	       profile_get(p, name, args, count).estimate.value;
}

#define TIMES(changed, name, ...)                                                                  \
	times(changed, p, name, (const struct arg[]){__VA_ARGS__},                                 \
	        sizeof((const struct arg[]){__VA_ARGS__}) / sizeof(struct arg))

static void test_arithmetic(const struct profile *p)
{
	struct profile *half = with(p, "host.fma.*=0.5"),
	               *cores = with(p, "host.fma.s[threads=16]=680e9");
	const double product = TIMES(half, "host.gemm.s", {"n", 2048}),
	             panel = TIMES(half, "host.getrf.s", {"m", 1024}, {"n", 128}),
	             pass = TIMES(cores, "host.gram.dots", {"threads", 14}, {"bytes", 65536},
	                     {"level", 3});

	ok(product > 1.8 && product < 2.05, "products take %.2f times as long", product);
	ok(panel > 1.2 && panel < product, "panels, which also move data, %.2f times", panel);
	is_real(TIMES(half, "host.scal.s", {"m", 1024}, {"n", 128}), 1, 1e-9,
	        "a column's scaling stays");
	is_real(TIMES(cores, "host.gemm.s", {"n", 2048}), product, 1e-2,
	        "half the cores: products by all threads take as much longer");
	is_real(TIMES(cores, "host.getrf.s", {"m", 1024}, {"n", 128}), 1, 1e-9,
	        "a panel of one thread stays");
	ok(pass > 1.3 && pass < 2.05, "a pass of all threads in their caches %.2f times", pass);
	profile_free(half);
	profile_free(cores);
}

static void test_memory(const struct profile *p)
{
	struct profile *half = with(p, "host.memory.*=0.5");
	const double column = TIMES(half, "host.scal.s", {"m", 16384}, {"n", 128}),
	             panel = TIMES(half, "host.geqrf.s", {"m", 4096}, {"n", 64});

	ok(column > 1.9 && column < 2.05, "a column's scaling takes %.2f times as long", column);
	ok(panel > 1.7 && panel < 2.05, "a panel of level 2 %.2f times", panel);
	is_real(TIMES(half, "host.gemm.s", {"n", 2048}), 1, 1e-2, "a product stays");
	profile_free(half);
}

static void test_waits(const struct profile *p)
{
	struct profile *fork = with(p, "host.parallel.fork=20"),
	               *exchange = with(p, "host.exchange.*=2");
	const double pass = TIMES(fork, "host.gram.dots", {"threads", 14}, {"bytes", 1024},
	                     {"level", 1}),
	             handed = TIMES(exchange, "host.gram.handed", {"bytes", 1024});

	ok(pass > 10 && pass < 20, "a short pass takes %.1f times as long", pass);
	is_real(TIMES(fork, "host.scal.s", {"m", 1024}, {"n", 128}), 1, 1e-9,
	        "a call of one thread stays");
	ok(handed > 1.5 && handed < 2, "a short column from another core %.2f times", handed);
	profile_free(fork);
	profile_free(exchange);
}

static bool is_calibrated(const struct parameter *row, const void *unused)
{
	(void)unused;
	return regime_is_timing(row->regime) || strcmp(row->name, "host.clock") == 0 ||
	       strncmp(row->name, "host.blas.", strlen("host.blas.")) == 0;
}

static size_t host_surfaces_of(const struct profile *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		count += efficiency_has(&p->row[i]) && strncmp(p->row[i].name, "host.", 5) == 0;
	return count;
}

static void test_new_machine(const struct profile *p)
{
	struct profile *new = profile_copy(p);

	profile_remove_if(new, is_calibrated, NULL);
	ok(host_surfaces_of(new) == 0, "a host that only probes have measured has no surfaces");
	efficiency_take(new, p);
	ok(host_surfaces_of(new) == host_surfaces_of(p), "it takes all of another host's");
	const double panel = TIMES(new, "host.getrf.s", {"m", 1024}, {"n", 128});
	ok(panel > 0.9 && panel < 1.1, "of which panels take %.2f times as long", panel);
	profile_free(new);
}

int main(void)
{
	struct profile *p = made_up(), *recorded = machine();

	test_caches(p);
	test_parts(p);
	test_substitute();
	test_library();
	test_gram();
	test_arithmetic(recorded);
	test_memory(recorded);
	test_waits(recorded);
	test_new_machine(recorded);
	profile_free(p);
	profile_free(recorded);
	return finish();
}
