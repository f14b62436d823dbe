/* SPDX-License-Identifier: MIT */
/* Panels, reflectors and sweeps on the model executor: what each costs by its parts and as
 * measured. */
#include "cost_lines.h"

/* Microseconds in which the synthetic profile queues a kernel and a call of the library, starts a
 * kernel, and waits. */
static const double queued = 2, library = 2.75, started = 1, wait = 5;

static void test_parts(void)
{
	/* On one of 100 multiprocessors a product of tiles takes 0.65536 us and an FMA of a warp
	 * 0.64 ns; a solve 32 x (2 x 2 + 10 + 16 x 0.64) ns; a column 20 + 5 x 2 + 10 + 32 x 0.64
	 */
	const double product = 0.65536, solve = 32 * 0.02424, column = 0.06048;
	const double moved = 128 * 128 * 4 / 200e3 + 0.25, half = 128 * 128 * 2 / 200e3 + 0.25;
	const double inverted = started + 4 * solve + 6 * product + moved;
	const double rank =
	        started + 4 * product / 2 + 2 * 32 * 128 * 4 / 200e3 + 0.25 + (65536 - 4096) / 1e6;
	/* panel_geqrf: a column as LU's; 32 blocks of 128 threads; 4 groups of these read a record
	 * each, 8 loads at a time: one round; what the others sent comes at 200 GB/s; two FMA and 4
	 * shuffles a column */
	const double columns = 64 * 65 / 2.0, traffic = 2 * (4096 * 64 * 4 - 4096) / 1e6;
	const double resident = 64 * (1.75 + 0.25) + 32 * columns * 8 / 200e3 +
	                        columns * (2 * 0.64e-3 + 4 * 0.5e-3) + traffic;
	const struct line lines[] = {
	        {"time: potrf 128 128",
	                queued + started + 128 * column + 10 * product + 2 * half + wait,
	                "potrf_block"},
	        /* 62 strips of 64 rows, each 12 products more */
	        {"potrf 4096 128", started + 128 * column + 22 * product + 2 * moved,
	                "potrf_block with what is below it"},
	        {"launch: potrf 200 200", 3, "of 200 columns: three kernels"},
	        /* 8 tiles on 100 multiprocessors, each the product of 32 x 128 and 128 x 32 */
	        {"syrk 256 32 128", rank, "a small syrk"},
	        {"syrk upper 32 256 128", rank, "its mirror image"},
	        {"trtri 128", inverted, "trtri"},
	        {"time: larft 8192 128",
	                library + queued + 2.0 * 128 * 128 * 8192 / 1e7 + inverted + wait,
	                "larft: both kernels are queued before the first runs"},
	        {"trsm_guard 128 3000", started + 0.4 + 32 * 0.25, "trsm_guard"},
	        {"time: geqrf 4096 64", 3 + 4 + 3 + 3 + resident + wait, "panel_geqrf, resident",
	                1e-6},
	        {"barrier: geqrf 4000000 64", 2 * 64, "panel_geqrf that does not fit streams"}};

	PLAY(synthetic_blocks(), lines);
}

/* 100 multiprocessors take 6400 rows in one round of strips of 64, 12800 of 128; 51200 in four
 * rounds of 128 in single precision, in double, where 128 do not fit, in eight of 64. */
static const struct line strips_lines[] = {
        {"+gpu.potrf_rows.d[n=128,below=6400:51200:2]", 30e-6 / 6400, "b"},
        {"+gpu.potrf_rows.s[n=128,below=12800:51200:2]", 25e-6 / 6400, "b"},
        {"+gpu.potrf_rows.s[n=128,below=6400]", 30e-6},
        {"potrf 12928 128", 50, "twice as many rows, one round"},
        {"potrf 12929 128", 100, "a row more, another"},
        {"potrf 6528 128", 30, "strips of half the height"},
        {"potrf 6529 128", 40.447758, "a row more, and all that the next higher ones take", 1e-7},
        {"potrf 9728 128", 40.447758, "as so many do", 1e-7},
        {"potrf d 6529 128", 60, "in double precision earlier"}};

/* 100 multiprocessors take 100 tiles in one round: 800 rows by 128 columns (94 tiles), 832 in two.
 */
static const struct line rank_lines[] = {{"+gpu.rank.s[rounds=1/2,k=64:256:2]", 0.1e-6, "rk"},
        {"syrk 800 128 128", 12.8, "an update of small rank: one round"},
        {"syrk 832 128 65", 12.8, "98 tiles, and all of the larger depth"},
        {"syrk 864 128 64", 12.8, "102 tiles by half the depth: two rounds"},
        {"syrk 800 128 129", 25.6, "deeper than is held at a time: twice as deep"},
        {"share: syrk 800 128 128", 94 / 300.0, "a multiprocessor holds three of its blocks"}};

/* Surfaces that a profile may lack: products beside a panel, panels too tall for the chip. */
static const struct line measured_later_lines[] = {{"+gpu.own_gemm.s[m=1024,n=1024,k=64]", 40e-6},
        {"+gpu.own_syrk.s[n=3000,k=200]", 30e-6},
        {"gemm shared 1024 1024 64", 40, "our product, whatever is beside it"},
        {"+gpu.own_gemm_shared.s[m=1024,n=1024,k=64]", 50e-6},
        {"+gpu.own_syrk_shared.s[n=3000,k=200]", 35e-6},
        {"+gpu.own_gemm_edge.s[m=1000,n=1000,k=64]", 45e-6},
        {"+gpu.own_gemm_edge_shared.s[m=1000,n=1000,k=64]", 60e-6},
        {"gemm 1024 1024 64", 40, "our product alone"},
        {"gemm shared 1024 1024 64", 50, "with a block a tile"},
        {"gemm shared 1000 1000 64", 60, "and with tiles cut off"},
        {"gemm 1000 1000 64", 45, "these alone"}, {"syrk shared 3000 3000 200", 35, "and our syrk"},
        {"+gpu.potrf_rows.s[n=64,below=1000]", 21e-6},
        {"+gpu.potrf_rows_overlapped.s[n=64,below=1000]", 31e-6},
        {"potrf 1064 64", 21, "Cholesky's panel alone"},
        {"potrf panel 1064 64", 21, "the first one, beside which there is nothing"},
        {"potrf ahead 1064 64", 31, "and on few multiprocessors"},
        {"+gpu.panel_geqrf_columns.s[m=200000,n=64]", 900e-6},
        {"+gpu.panel_geqrf.s[m=2560,n=64,overlapped=1]", 200e-6},
        {"geqrf 200000 128", 900, "a panel too tall for the chip"},
        {"geqrf panel 2560 8", 1 + 199 / 8.0,
                "an eighth of the columns measured takes an eighth of their time"},
        {"+gpu.panel_geqrf.d[m=2560,n=32,overlapped=0]", 50e-6},
        {"+gpu.panel_geqrf.d[m=2560,n=64,overlapped=0]", 321e-6},
        {"geqrf d 2560 32", 50, "a width that was measured"},
        {"geqrf d 2560 33", 1 + 320 * 33 / 64.0, "a column more takes the next wider kernel"},
        {"+gpu.panel_geqrf_shared.s[m=2560,n=64]", 200e-6},
        {"overlapped: geqrf panel 2560 64", 1, "one that products do not slow down"}};

static const struct line measured_lines[] = {{"+gpu.potrf_block.s[n=128]", 30e-6},
        {"+gpu.trtri.s[n=128]", 20e-6}, {"+gpu.larft.s[n=128]", 21e-6},
        {"+gpu.trsm_guard.s[n=128]", 5e-6},
        {"+gpu.panel_geqrf.s[m=4096,n=64,overlapped=0]", 200e-6},
        {"+gpu.laswp.s[swaps=64,n=512,cold=0]", 7e-6}, {"+gpu.lu_columns.s[m=4160,n=64]", 10e-6},
        {"+gpu.lu_columns.s[m=8256,n=64]", 20e-6}, {"+gpu.own_gemv.s.n[m=512,n=512,cold=0]", 3e-6},
        {"time: potrf 128 128", 2 + 30 + 5, "potrf_block as measured"},
        {"launch: potrf 128 128", 1, "of which it starts as kernels do"},
        {"trtri 128", 20, "trtri as measured"},
        {"larft 8192 128", 2.0 * 128 * 128 * 8192 / 1e7 + 21,
                "larft: the product, and T as measured"},
        {"trsm_guard 128 3000", 5, "trsm_guard as measured"},
        {"time: geqrf 4096 64", 3 + 4 + 200 + 5, "panel_geqrf as measured"},
        {"geqrf 200000 64", 200, "one too tall for the chip has its Gram matrix's form there, too"},
        {"laswp 512 512 64", 7, "laswp as measured"},
        {"join_halves 512 512 64", 7, "the pivots joined beside it take no longer"},
        {"lu_columns 2200 64 64", 10,
                "columns right of an LU panel of few rows: a turn of a cluster's blocks"},
        {"lu_columns 4160 64 64", 10, "as of all that one turn has"},
        {"lu_columns 4161 64 64", 20, "a row more takes another"},
        {"time: gemv 512 512", 2 + 3 + 5, "our gemv as measured, queued as kernels are"}};

/* A panel with V and T in one kernel, where the profile has it and a cluster holds it; by several
 * kernels the device begins when the first is queued. */
static const struct line reflectors_lines[] = {
        {"+gpu.panel_reflectors.s[m=1024,n=32/64]", 60e-6 / 64, "n"},
        {"+gpu.panel_reflectors.s[m=1024,n=128]", 160e-6},
        {"enqueue: reflectors 1024 64", 7 * queued, "without clusters several kernels are queued"},
        {"enqueue: reflectors 1024 96", 3 + 4, "and a wide panel is cleared slots and a kernel"},
        {"+gpu.barrier.cluster[blocks=2/16]", 0.5e-6},
        {"enqueue: reflectors 1024 64", queued, "in one cluster one kernel is"},
        {"time: reflectors 1024 48", 2 + 60 + 5, "by the Gram matrix as its widest panel"},
        {"reflectors 1024 96", 1 + 0.75 * (160 - 1), "in one cluster as measured"},
        {"+gpu.panel_reflectors.d[m=1024,n=32]", 60e-6},
        {"reflectors d 1024 64", 1 + 2 * (60 - 1),
                "above the columns measured each costs the same"},
        {"+gpu.panel_reflectors.s[m=16384,n=32]", 60e-6},
        {"+gpu.panel_reflectors.s[m=16384,n=64]", 90e-6},
        {"time: reflectors 16384 48", 2 + 75 + 5,
                "by several kernels, of which the first starts the device"},
        {"share: reflectors 4096 64", 0.16, "a cluster's 16 multiprocessors"},
        {"share: reflectors 65536 64", 1, "all where panels stream"},
        {"+gpu.panel_geqrf.d[m=16384,n=64,overlapped=0]", 300e-6},
        {"+gpu.panel_geqrf_gram.d[m=16384,n=32]", 80e-6},
        {"+gpu.panel_geqrf_gram.d[m=16384,n=64]", 100e-6},
        {"time: reflectors d gram 16384 48", 2 + 90 + 5,
                "in double precision by several kernels, too, if a plan asks for it"},
        {"enqueue: reflectors d gram 16384 64", 11 * queued, "eleven are queued"},
        {"enqueue: reflectors d gram 2048 64", queued, "not where one cluster holds the panel"}};

static void test_reflectors(void)
{
	struct profile *p = synthetic_blocks();
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	ok(answer(e, "time: reflectors 1024 48") > 67,
	        "without the kernel three calls take longer than it does");
	is_real(answer(e, "reflectors 8193 128"), answer(e, "geqrf 8193 128"), 1e-9,
	        "a panel that a cluster does not hold is one of these calls");
	executor_free(e);
	PLAY(p, reflectors_lines);
}

/* On a machine with all surfaces, also at widths between those that kernels are compiled for. */
static void test_widths(void)
{
	struct profile *p = profile_open(RECORDED);
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	for (int m = 1000; m < 100000; m *= 5) {
		double before = 0, here = 0;
		int n = 1;
		for (; n <= 64 && here >= before; n++) {
			char text[64];
			snprintf(text, sizeof text, "geqrf d %d %d", m, n);
			before = here;
			here = answer(e, text);
		}
		ok(here >= before, "panels of %d rows: %d columns take no less than fewer", m,
		        n - 1);
	}
	executor_free(e);
	profile_free(p);
}

/* Panels of n^1.5 us in a cluster with up to 512 rows, and from there on m / 512 times that. Panels
 * of 40 us, which beside products A B of 1 Tflop/s a multiprocessor take 60 and wait for half of
 * two tiles' time on average. */
static void test_clusters(void)
{
	const double tiles = 2 * 2.0 * 128 * 128 * 64 / 1e12;
	const struct line lines[] = {
	        {"+gpu.panel_cluster.s[m=512/1024,n=16:64:2]", 1e-6 / 512, "mnN"},
	        {"getrf 500 24", 24 * sqrt(24),
	                "a panel of a cluster: of fewer rows than measured"},
	        {"getrf 600 24", 24 * sqrt(24) * 600 / 512, "between the rows measured"},
	        {"getrf 600 48", 1 + (64 * sqrt(64) * 600 / 512 - 1) * 48 / 64,
	                "columns between take their part of the wider kernel's time"}};
	const struct line beside[] = {{"+gpu.launch.dependent", 0}, {"+gpu.sm.count", 100},
	        {"+gpu.shared.per_block", 232448}, {"+gpu.panel_cluster.?[m=1024,n=32]", 40e-6},
	        {"+gpu.panel_cluster_shared.?[m=1024,n=32]", 60e-6 + tiles / 2},
	        {"+gpu.gemm.?.peak", 1e14},
	        {"overlapped: getrf 1024 32", 40.0 / 60, "a panel beside products"},
	        {"overlapped: getrf d 1024 32", 40.0 / 60, "in double precision"}};

	PLAY(synthetic_blocks(), lines);
	PLAY(profile_new(), beside);
}

static void test_host(void)
{
	static const struct line lines[] = {
	        {"host_getrf 4096 64", 4096 * 64.0 * 64 / 1e4, "LU panel on the host"},
	        {"host_geqrf 4096 64", 4096 * 64.0 * 64 / 1e4, "QR panel on the host"},
	        {"host_geqrf 4096 200", 4096 * 200.0 * 200 / 1e4,
	                "one between the widths measured"},
	        {"host_potrf 64 64", 64.0 * 64 * 64 / 2e4, "Cholesky on the host"},
	        {"host_potrf 1088 64", 64.0 * 64 * 64 / 2e4 + 64.0 * 64 * 1024 / 2 / 1e5,
	                "and a solve with the rows below"},
	        {"time: host_potrf 64 64", 64.0 * 64 * 64 / 2e4 + 12, "and a word is sent"},
	        {"+host.potrf_rows.s[m=1000:4000:2,n=64]", 300e-6 / 1000, "m"},
	        {"host_potrf 1500 64", 64.0 * 64 * 64 / 2e4 + 450, "whose rows are measured"},
	        {"+host.potrf_rows.s[m=5000,n=64]", 600e-6},
	        {"host_potrf 4500 64", 64.0 * 64 * 64 / 2e4 + 600,
	                "from 16 Mflop on by all threads"}};

	PLAY(synthetic_blocks(), lines);
}

/* A sweep of one kernel over 32 columns of an n x n matrix, 100 multiprocessors: 10 us at the
 * start, and so many for each window, or 3 for each of its four tiles where there are many rows. */
static const struct line sweep_lines[] = {
        {"+gpu.band_sweep.s[p=32,n=512/1024,rows=32]", 6e-6 / 32, "n", 10e-6},
        {"+gpu.band_sweep.s[p=32,n=512/1024,rows=11648]", 12e-6 / 32, "n", 10e-6},
        {"time: band 20 320", 3 + 4 + 10 + 10 * 6 + 5, "windows that are waited for"},
        {"band 20 320 15840", 10 + 10 * 6 * 3, "tiles that are"},
        {"+gpu.band_slide.s[p=32,n=512/1024,rows=32]", 7e-6 / 32, "n", 10e-6},
        {"+gpu.band_slide.s[p=32,n=512/1024,rows=11648]", 12e-6 / 32, "n", 10e-6},
        {"band 20 320", 10 + 10 * 7, "windows that slide, where they are known"},
        {"band added 20 320", 10 + 10 * 6, "and those of added rows"}};

static void test_sweep(void)
{
	struct profile *p = synthetic_blocks();
	struct executor *e = executor_model_new(p, MODEL_CUDA, 2);

	ok(!e->ops->band_fits(e, SINGLE, 20), "no sweep that the profile does not have");
	executor_free(e);
	ADD(p, 0, {"gpu.band_sweep.s[p=32,n=512,rows=32]", 1e-5});
	e = executor_model_new(p, MODEL_CUDA, 2);
	ok(e->ops->band_fits(e, SINGLE, 20) && !e->ops->band_fits(e, SINGLE, 257) &&
	                !e->ops->band_fits(e, DOUBLE, 20),
	        "the sweeps that it has");
	executor_free(e);
	profile_free(p);
	PLAY(synthetic_blocks(), sweep_lines);
}

int main(void)
{
	test_parts();
	PLAY(synthetic_blocks(), strips_lines);
	PLAY(synthetic_blocks(), rank_lines);
	PLAY(synthetic_blocks(), measured_later_lines);
	PLAY(synthetic_blocks(), measured_lines);
	test_reflectors();
	test_widths();
	test_clusters();
	test_host();
	test_sweep();
	return finish();
}
