/* SPDX-License-Identifier: MIT */
/* Costs beside and beyond the rows of surfaces: the host's panels and products, panels of a
 * cluster and those that stream, exchanges of rows and what solves behind them. */
#include "cost_test.h"

static const double us = 1e-6;

static void add(struct profile *p, const char *name, double m, double n, double seconds)
{
	const struct parameter_spec spec = {name, "s", "synthetic", "surface", 0, 0};
	const struct arg both[] = {{"m", m}, {"n", n}}, edge = {"n", n};

	profile_add(p, &spec, m > 0 ? both : &edge, m > 0 ? 2 : 1,
	        (struct estimate){seconds, 0.9 * seconds, 1.1 * seconds, 30}, false);
}

/* 64 and 128 columns: one thread up to 8192 and 4096 rows, which takes m n^1.5; all threads from 4
 * MiB on, twice as slow as one there. */
static struct profile *new_profile(void)
{
	struct profile *p = profile_new();

	for (int n = 64; n <= 128; n *= 2) {
		for (double m = 128; m * n < 1 << 20; m *= 2)
			add(p, "host.getrf.s", m, n, m * pow(n, 1.5) * 1e-9);
		add(p, "host.getrf.s", (1 << 20) / n, n, 2 * (1 << 20) / n * pow(n, 1.5) * 1e-9);
	}
	add(p, "host.gemm.s", 0, 256, 100 * us);
	return p;
}

static double getrf(struct cost_reader *r, int64_t m, int64_t n)
{
	return cost_host_getrf(r, (struct matrix){NULL, 0, m, n, m, SINGLE});
}

static void test_panels(struct cost_reader *r)
{
	const double root = sqrt(128), one = 128 * root * 1e-9; /* of a row of 128 columns */

	is_real(getrf(r, 1024, 128), 1024 * one, 1e-9, "a row is itself");
	is_real(getrf(r, 3000, 128), 3000 * one, 1e-9, "between the rows of one thread");
	is_real(getrf(r, 1024, 90), 1024 * pow(90, 1.5) * 1e-9, 1e-9, "between widths");
	is_real(getrf(r, 1024, 24), 1024 * pow(24, 1.5) * 1e-9, 1e-9,
	        "narrower than all rows: the first slope");
	is_real(getrf(r, 8000, 128), 8000 * one, 1e-9,
	        "beyond the last row of one thread: as long, whatever all threads take");
	is_real(getrf(r, 50, 128), 128 * one, 1e-9, "shorter than all rows: as the first");
	is_real(getrf(r, 65536, 128), 65536 * 2 * one, 1e-9,
	        "beyond the only row of all threads: as long as that");
	is_real(getrf(r, 1024, 256), 1024 * pow(256, 1.5) * 1e-9, 1e-9,
	        "one thread beyond the widest: the last slope");
}

/* 4096 x 384 is 6 MiB: three blocks of 128 columns and the products right of the first two. */
static void test_wide(struct cost_reader *r)
{
	const double one = 128 * sqrt(128) * 1e-9;
	double want = 0;

	for (int j = 0; j < 3; j++) {
		const double rows = 4096 - 128 * j;
		want += 2 * rows * one;
		want += 100 * us * rows * 128 * (256 - 128 * j) / (256.0 * 256 * 256);
	}
	is_real(getrf(r, 4096, 384), want, 1e-9,
	        "all threads beyond the widest: block by block, each as much slower than one "
	        "thread as measured");
}

/* A start and work for every row. */
static void test_lengths(struct profile *p, struct cost_reader *r)
{
	const struct matrix a = {NULL, 0, 100000, 64, 100000, SINGLE};

	for (double m = 32768; m <= 65536; m *= 2)
		add(p, "host.geqrf.s", m, 64, 1000 * us + m * 0.1 * us);
	cost_reader_start(r, p);
	is_real(cost_host_geqrf(r, a), 11000 * us, 1e-9,
	        "beyond the last row, which is not the only one: in a straight line");
}

static void test_cholesky(struct cost_reader *r)
{
	const struct matrix square = {NULL, 0, 128, 128, 128, SINGLE};
	struct profile *p = profile_new();
	struct cost_reader *other = xmalloc(sizeof *other);

	is_real(cost_host_potrf(r, square), getrf(r, 128, 128) / 2, 1e-9,
	        "a diagonal block that is not measured: half of LU");
	add(p, "host.potrf.s", 0, 64, 10 * us);
	add(p, "host.potrf.s", 0, 256, 160 * us);
	cost_reader_start(other, p);
	is_real(cost_host_potrf(other, square), 40 * us, 1e-9, "between two that are");
	free(other);
	profile_free(p);
}

static void test_products(struct cost_reader *r)
{
	is_real(cost_host_gemm(r, SINGLE, 1024), 6400 * us, 1e-9, "a larger product: the rate");
	is_real(cost_host_gemm(r, SINGLE, 100), 100 * us, 1e-9, "a smaller one: the start-up");
}

/* n^1.2 us with up to 512 rows, and from there on m / 512 times that. */
static void test_cluster(struct profile *p, struct cost_reader *r)
{
	static const char name[] = "gpu.panel_cluster.s";
	const struct panel_geometry g = {.blocks = 1};
	const struct parameter_spec start = {"gpu.launch.dependent", "s", "synthetic", NULL, 0, 0};

	for (double m = 512; m <= 1024; m *= 2)
		for (int n = 16; n <= 64; n *= 2)
			add(p, name, m, n, pow(n, 1.2) * m / 512 * us);
	profile_add(p, &start, NULL, 0, (struct estimate){0.5 * us, 0.5 * us, 0.5 * us, 9}, false);
	cost_reader_start(r, p);
	for (int64_t m = 500; m <= 600; m += 100)
		for (int64_t n = 24; n <= 48; n += 24) {
			const struct matrix a = {NULL, 0, m, n, m, SINGLE};
			const struct cost cost = cost_cuda_level2.resident_panel(r, a, &g);
			is_real((cost.term[TERM_LAUNCH] + cost.term[TERM_BARRIER]) / us,
			        pow((double)n, 1.2) * fmax(1, (double)m / 512), 1e-9,
			        "a panel of a cluster: between the rows measured");
		}
}

/* Panels of 40 us, which beside products A B of 1 Tflop/s a multiprocessor take 60 and wait for
 * half of two tiles' time on average. */
static void test_panel_beside(struct profile *p, struct cost_reader *r)
{
	enum { DEPTH = 64, TILE = 128 };
	const double tiles = 2 * 2.0 * TILE * TILE * DEPTH / 1e12;
	static const char *const alone[] = {"gpu.panel_cluster.s", "gpu.panel_cluster.d"};
	static const char *const shared[] = {
	        "gpu.panel_cluster_shared.s", "gpu.panel_cluster_shared.d"};
	static const char *const peak[] = {"gpu.gemm.s.peak", "gpu.gemm.d.peak"};
	const struct panel_geometry g = {.blocks = 1};

	add_scalar(p, "gpu.launch.dependent", 0);
	add_scalar(p, "gpu.sm.count", 100);
	for (int twice = 0; twice < 2; twice++) {
		add(p, alone[twice], 1024, 32, 40 * us);
		add(p, shared[twice], 1024, 32, 60 * us + tiles / 2);
		add_scalar(p, peak[twice], 1e14);
	}
	cost_reader_start(r, p);
	for (int twice = 0; twice < 2; twice++) {
		const struct matrix a = {NULL, 0, 1024, 32, 1024, twice ? DOUBLE : SINGLE};
		const struct cost cost = cost_cuda_level2.resident_panel(r, a, &g);
		is_real(cost.overlapped, 40.0 / 60, 1e-9,
		        twice ? "a panel beside products, in double precision"
		              : "a panel beside products");
	}
}

/* QR's panels by the Gram matrix: in one cluster, and where they stream over memory. */
static void test_streaming(struct profile *p, struct cost_reader *r)
{
	add_scalar(p, "gpu.sm.count", 100);
	add_scalar(p, "gpu.launch.enqueue", us);
	add_scalar(p, "gpu.launch.dependent", us);
	for (double m = 1024; m <= 131072; m *= 128)
		for (double n = 32; n <= 64; n *= 2)
			add(p, "gpu.panel_reflectors.s", m, n, 100 * us);
	cost_reader_start(r, p);
	const struct matrix low = {NULL, 0, 4096, 64, 4096, SINGLE},
	                    high = {NULL, 0, 65536, 64, 65536, SINGLE};
	is_real(cost_panel_reflectors(r, low).share, 0.16, 1e-9, "a cluster's 16 multiprocessors");
	is_real(cost_panel_reflectors(r, high).share, 1, 1e-9, "all where panels stream");
}

/* A grid of 1 us at 32 and 512, where a square between has 3 us. */
static void test_middle(struct profile *p, struct cost_reader *r)
{
	static const char name[] = "gpu.surface";

	for (int m = 32; m <= 512; m *= 16)
		for (int n = 32; n <= 512; n *= 16)
			add(p, name, m, n, us);
	add(p, name, 128, 128, 3 * us);
	cost_reader_start(r, p);
	is_real(cost_surface2(r, name, "m", 128, "n", 128) / us, 3, 1e-9,
	        "a row off the grid is itself");
	is_real(cost_surface2(r, name, "m", 64, "n", 128) / us, sqrt(3), 1e-9,
	        "it counts less beside it");
	is_real(cost_surface2(r, name, "m", 512, "n", 128) / us, 1, 1e-9,
	        "and nothing on the grid's next rows");
}

/* Every m takes 1 us for 1024 rows, 128 more than 4096 half as long again. */
static void test_step(struct profile *p, struct cost_reader *r)
{
	static const char name[] = "gpu.surface";

	for (double n = 32; n <= 64; n *= 2) {
		for (double m = 1024; m <= 4096; m *= 2)
			add(p, name, m, n, m / 1024 * us);
		add(p, name, 4224, n, 6.1875 * us);
	}
	cost_reader_start(r, p);
	is_real(cost_surface2(r, name, "m", 4096, "n", 32) / us, 4, 1e-9, "before a step");
	is_real(cost_surface2(r, name, "m", 4224, "n", 32) / us, 6.1875, 1e-9, "behind it");
	is_real(cost_surface2(r, name, "m", 3000, "n", 48) / us, 3000 / 1024.0, 1e-9,
	        "between the rows before it");
	const double slope = log(6.1875 / 2) / log(4224 / 2048.0);
	is_real(cost_surface2(r, name, "m", 8448, "n", 32) / us, 6.1875 * pow(2, slope), 1e-9,
	        "beyond the last row no step, but the slope since the row before both");
}

/* Exchanges of rows, and with a solve, in 2048 columns: 20 and 50 us; a launch takes 2 us. */
static void test_rows(struct profile *p, struct cost_reader *r)
{
	static const char *const names[] = {"gpu.swap_rows.s", "gpu.lu_rows.s"};
	static const char *const scalars[] = {"gpu.launch.enqueue", "gpu.launch.dependent",
	        "gpu.l2.stated", "gpu.sm.count", "gpu.int.logic.latency", "gpu.shared.latency",
	        "gpu.l2.latency"};
	static const double values[] = {1e-6, 2e-6, 5e7, 100, 1e-9, 1e-9, 1e-7};
	static const double seconds[] = {20e-6, 50e-6};
	const struct matrix c = {NULL, 0, 2048, 4096, 2048, SINGLE};
	double time[3];

	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		add_scalar(p, scalars[i], values[i]);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (int cold = 0; cold < 2; cold++) {
			const struct parameter_spec spec = {
			        names[i], "s", "synthetic", "surface", 0, 0};
			const struct arg args[] = {{"swaps", 128}, {"n", 2048}, {"cold", cold}};
			const double v = seconds[i];
			profile_add(p, &spec, args, 3, (struct estimate){v, v, v, 9}, false);
		}
	for (double bytes = 1e5; bytes < 1e9; bytes *= 10) {
		const struct parameter_spec spec = {
		        "gpu.copy.time", "s", "synthetic", "surface", 0, 0};
		const struct arg arg = {"bytes", bytes};
		const double v = bytes * 1e-12;
		profile_add(p, &spec, &arg, 1, (struct estimate){v, v, v, 9}, false);
	}
	cost_reader_start(r, p);
	for (int way = 0; way < 3; way++) {
		const struct cost cost = cost_cuda_level2.lu_rows(r, c, 128, way != 2, way != 0);
		time[way] = sum(&cost);
	}
	is_real(time[0], seconds[0], 1e-9, "exchanges alone");
	is_real(time[1], seconds[1], 1e-9, "and a solve");
	ok(time[2] >= seconds[1] - seconds[0] + values[1] && time[2] < seconds[1],
	        "a solve alone: what it adds, and a launch (%.1f us)", 1e6 * time[2]);
}

static double by_work(
        struct cost_reader *r, const struct cost_model *model, struct operation_work work)
{
	const struct cost cost = model->by_work(r, work);

	return sum(&cost);
}

/* Operations without a cost of their own: a start of 2 us, 1 TB/s and 10 Tflop/s; on the host 10
 * GB/s. */
static void test_work(void)
{
	struct profile *p = profile_new();
	struct cost_reader *r = xmalloc(sizeof *r);

	add_scalar(p, "gpu.launch.stream", 2 * us);
	add_scalar(p, "gpu.copy.beta", 1e12);
	add_scalar(p, "gpu.gemm.s.peak", 1e13);
	add_scalar(p, "host.memory.copy.peak", 1e10);
	cost_reader_start(r, p);
	r->sums = true;
	is_real(by_work(r, &cost_cuda_level1, COPIES(3e6)), 5 * us, 1e-9, "bytes on the device");
	is_real(by_work(r, &cost_cuda_level1, FLOPS(1e8, SINGLE)), 12 * us, 1e-9, "flops");
	is_real(by_work(r, &cost_host_level1, READS(1e5)), 10 * us, 1e-9, "bytes on the host");
	is_real(by_work(r, &cost_host_level1, FETCHES(1e9)), 0, 1e-9, "which copies nothing");
	free(r);
	profile_free(p);
}

static void test_missing(struct profile *p, struct cost_reader *r)
{
	cost_reader_start(r, p);
	ok(isnan(getrf(r, 1000, 64)) && r->model.missing, "a profile without rows says so");
	is_text(r->model.missing_name, "host.getrf.s[m=1000,n=64]", "and which");
}

/* A size that a probe could not resolve is none; the near part of L2 is then the device's own
 * statement, over its partitions. */
static void test_unresolved(struct profile *p, struct cost_reader *r)
{
	const struct parameter_spec stated = {"gpu.l2.stated", "B", "synthetic", NULL, 0, 0},
	                            near = {"gpu.l2.near.size", "B", "synthetic", NULL, 0, 0},
	                            parts = {"gpu.l2.partitions", "count", "synthetic", NULL, 0, 0};

	profile_add(p, &stated, NULL, 0, (struct estimate){6e7, 6e7, 6e7, 1}, false);
	profile_add(p, &near, NULL, 0, (struct estimate){NAN, NAN, NAN, 78}, false);
	cost_reader_start(r, p);
	ok(!cost_known(r, "gpu.l2.near.size"), "what was not resolved is not known");
	is_real(cost_near_l2(r), 6e7, 1e-12, "all of L2 is near");
	profile_add(p, &parts, NULL, 0, (struct estimate){2, 2, 2, 9}, false);
	cost_reader_start(r, p);
	is_real(cost_near_l2(r), 3e7, 1e-12, "or its part");
	ok(!r->model.missing, "and nothing is missing");
}

int main(void)
{
	static cost_test *const tests[] = {test_lengths, test_cluster, test_panel_beside,
	        test_streaming, test_middle, test_step, test_rows, test_missing, test_unresolved};
	struct profile *p = new_profile();
	struct cost_reader *r = xmalloc(sizeof *r);

	cost_reader_start(r, p);
	test_panels(r);
	test_wide(r);
	test_cholesky(r);
	test_products(r);
	free(r);
	profile_free(p);
	run_cost_tests(profile_new, tests, ARRAY_LEN(tests));
	test_work();
	return finish();
}
