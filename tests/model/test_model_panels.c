/* SPDX-License-Identifier: MIT */
/* Panels, reflectors and sweeps on the model executor: what each costs by its parts and as
 * measured, on the synthetic profile. */
#include "tests/tap.h"
#include "model_calls.h"

static void test_panels(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix a = block(128, 128), tall = block(4096, 64);
	/* On one of 100 multiprocessors a product of tiles takes 0.65536 us and an FMA of a warp
	 * 0.64 ns; a solve 32 x (2 x 2 + 10 + 16 x 0.64) ns; a column 20 + 5 x 2 + 10 + 32 x 0.64
	 */
	double product = 0.65536, solve = 32 * 0.02424, column = 0.06048;
	double moved = 128 * 128 * 4 / 200e3 + 0.25, inverted = started + 4 * solve + 6 * product;

	ex_potrf_block(e, LOWER, a, 0, NULL);
	double half = 128 * 128 * 2 / 200e3 + 0.25;
	is_real(us(e), queued + started + 128 * column + 10 * product + 2 * half + WAIT, 1e-9,
	        "potrf_block");
	executor_model_restart(e, false);
	/* 62 strips of 64 rows, each 12 products more */
	ex_potrf_block(e, LOWER, block(4096, 128), 0, NULL);
	double solved = 128 * 128 * 4 / 200e3 + 0.25;
	is_real(us(e), queued + started + 128 * column + 22 * product + 2 * solved + WAIT, 1e-9,
	        "potrf_block with what is below it");
	executor_model_restart(e, false);
	/* 8 tiles on 100 multiprocessors, each the product of 32 x 128 and 128 x 32 */
	ex_syrk(e, LOWER, PLAIN, -1, block(256, 128), 1, block(256, 32));
	double rank =
	        started + 4 * product / 2 + 2 * 32 * 128 * 4 / 200e3 + 0.25 + (65536 - 4096) / 1e6;
	is_real(us(e), queued + rank + WAIT, 1e-9, "a small syrk");
	COSTS(ex_syrk(e, UPPER, TRANSPOSED, -1, block(128, 256), 1, block(32, 256)),
	        queued + rank + WAIT, 1e-9, "its mirror image");
	executor_model_restart(e, false);
	ex_potrf_block(e, LOWER, block(200, 200), 0, NULL);
	ok(executor_model_result(e).term[TERM_LAUNCH] > 2.99e-6, "of 200 columns: three kernels");
	COSTS(ex_trtri(e, LOWER, UNIT, a, a), queued + inverted + moved + WAIT, 1e-9, "trtri");
	COSTS(ex_larft(e, block(8192, 128), block(128, 1), a),
	        library + queued + 2.0 * 128 * 128 * 8192 / 1e7 + inverted + moved + WAIT, 1e-9,
	        "larft: both kernels are queued before the first runs");
	COSTS(ex_trsm_guard(e, LEFT, LOWER, PLAIN, UNIT, a, a, block(128, 3000), block(128, 3000)),
	        queued + started + 0.4 + 32 * 0.25 + WAIT, 1e-9, "trsm_guard");
	executor_model_restart(e, false);
	ex_panel_geqrf(e, tall, block(64, 1), NULL);
	/* a column as LU's; 32 blocks of 128 threads; 4 groups of these read a record each, 8 loads
	 * at a time: one round; what the others sent comes at 200 GB/s; two FMA and 4 shuffles a
	 * column */
	double columns = 64 * 65 / 2.0, traffic = 2 * (4096 * 64 * 4 - 4096) / 1e6;
	is_real(us(e),
	        3 + 4 + 3 + 3 + 64 * (1.75 + 0.25) + 32 * columns * 8 / 200e3 +
	                columns * (2 * 0.64e-3 + 4 * 0.5e-3) + traffic + WAIT,
	        1e-6, "panel_geqrf, resident");
	executor_model_restart(e, false);
	bool good = ex_panel_geqrf(e, block(4000000, 64), block(64, 1), NULL);
	ok(good && us(e) > 64 * 2 * started && !e->fault.text[0],
	        "panel_geqrf that does not fit streams");
	executor_free(e);
}

static double potrf_rows(struct executor *e, int64_t below, enum precision precision)
{
	const struct matrix a = {NULL, 0, below + 128, 128, below + 128, precision};

	executor_model_restart(e, false);
	ex_potrf_block(e, LOWER, a, 0, NULL);
	return us(e) - queued - WAIT;
}

/* 100 multiprocessors take 6400 rows in one round of strips of 64, 12800 of 128; 51200 in four
 * rounds of 128 in single precision, in double, where 128 do not fit, in eight of 64. */
static void test_strips(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	for (int rounds = 1; rounds <= 8; rounds *= 2) {
		add_row(p, rounds * 30e-6, "gpu.potrf_rows.d[n=128,below=%d]", 6400 * rounds);
		add_row(p, rounds == 1 ? 30e-6 : rounds * 25e-6, "gpu.potrf_rows.s[n=128,below=%d]",
		        6400 * rounds);
	}
	struct executor *e = fresh(p);
	is_real(potrf_rows(e, 12800, SINGLE), 50, 1e-9, "twice as many rows, one round");
	is_real(potrf_rows(e, 12801, SINGLE), 100, 1e-9, "a row more, another");
	is_real(potrf_rows(e, 6400, SINGLE), 30, 1e-9, "strips of half the height");
	is_real(potrf_rows(e, 6401, SINGLE), potrf_rows(e, 9600, SINGLE), 1e-9,
	        "a row more, and all that the next higher ones take");
	ok(potrf_rows(e, 6401, SINGLE) > 40, "which is longer");
	is_real(potrf_rows(e, 6401, DOUBLE), 60, 1e-9, "in double precision earlier");
	executor_free(e);
	profile_free(p);
}

/* 100 multiprocessors take 100 tiles in one round: 800 rows by 128 columns (94 tiles), 832 in two.
 */
static void test_rank(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	for (int rounds = 1; rounds <= 2; rounds++)
		for (int k = 64; k <= 256; k *= 2)
			add_row(p, rounds * k * 0.1e-6, "gpu.rank.s[rounds=%d,k=%d]", rounds, k);
	struct executor *e = fresh(p);
	ex_syrk(e, LOWER, PLAIN, -1, block(800, 128), 1, block(800, 128));
	is_real(us(e), queued + 12.8 + WAIT, 1e-9, "an update of small rank: one round");
	COSTS(ex_syrk(e, LOWER, PLAIN, -1, block(832, 65), 1, block(832, 128)),
	        queued + 12.8 + WAIT, 1e-9, "98 tiles, and all of the larger depth");
	COSTS(ex_syrk(e, LOWER, PLAIN, -1, block(864, 64), 1, block(864, 128)),
	        queued + 12.8 + WAIT, 1e-9, "102 tiles by half the depth: two rounds");
	COSTS(ex_syrk(e, LOWER, PLAIN, -1, block(800, 129), 1, block(800, 128)),
	        queued + 25.6 + WAIT, 1e-9, "deeper than is held at a time: twice as deep");
	executor_model_restart(e, false);
	for (int q = 0; q < 2; q++) {
		e->queue = q ? QUEUE_PANEL : QUEUE_MAIN;
		ex_syrk(e, LOWER, PLAIN, -1, block(800, 128), 1, block(800, 128));
	}
	ok(us(e) < queued + 1.5 * 12.8 + WAIT,
	        "two at once find places, three of whose blocks a multiprocessor holds: %.1f us",
	        us(e));
	executor_free(e);
	profile_free(p);
}

/* Surfaces that a profile may lack: products beside a panel, panels too tall for the chip, marks.
 */
static void test_measured_later(void)
{
	struct profile *p = synthetic(0);
	struct matrix a = block(1024, 64), b = block(64, 1024), c = block(1024, 1024);
	struct matrix rest = block(1000, 1000);

	add_blocks(p, 0);
	add_row(p, 40e-6, "gpu.own_gemm.s[m=1024,n=1024,k=64]");
	add_row(p, 30e-6, "gpu.own_syrk.s[n=3000,k=200]");
	struct executor *e = fresh(p);
	e->shares = true;
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), queued + 40 + WAIT, 1e-9, "our product, whatever is beside it");
	executor_free(e);

	add_row(p, 50e-6, "gpu.own_gemm_shared.s[m=1024,n=1024,k=64]");
	add_row(p, 35e-6, "gpu.own_syrk_shared.s[n=3000,k=200]");
	add_row(p, 900e-6, "gpu.panel_geqrf_columns.s[m=200000,n=64]");
	add_row(p, 45e-6, "gpu.own_gemm_edge.s[m=1000,n=1000,k=64]");
	add_row(p, 60e-6, "gpu.own_gemm_edge_shared.s[m=1000,n=1000,k=64]");
	add_row(p, 21e-6, "gpu.potrf_rows.s[n=64,below=1000]");
	add_row(p, 31e-6, "gpu.potrf_rows_overlapped.s[n=64,below=1000]");
	add_row(p, 200e-6, "gpu.panel_geqrf.s[m=2560,n=64,overlapped=1]");
	add_row(p, 200e-6, "gpu.panel_geqrf_shared.s[m=2560,n=64]");
	add_row(p, 4e-6, "gpu.event.mark");
	e = fresh(p);
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), queued + 40 + WAIT, 1e-9, "our product alone");
	executor_model_restart(e, false);
	e->shares = true;
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), queued + 50 + WAIT, 1e-9, "with a block a tile");
	COSTS(ex_gemm(e, PLAIN, PLAIN, -1, block(1000, 64), block(64, 1000), 1, rest),
	        queued + 60 + WAIT, 1e-9, "and with tiles cut off");
	executor_model_restart(e, false);
	e->shares = false;
	ex_gemm(e, PLAIN, PLAIN, -1, block(1000, 64), block(64, 1000), 1, rest);
	is_real(us(e), queued + 45 + WAIT, 1e-9, "these alone");
	COSTS(ex_potrf_block(e, LOWER, block(1064, 64), 0, NULL), queued + 21 + WAIT, 1e-9,
	        "Cholesky's panel alone");
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	ex_potrf_block(e, LOWER, block(1064, 64), 0, NULL);
	is_real(us(e), queued + 21 + WAIT, 1e-9, "the first one, beside which there is nothing");
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	e->block = 1;
	ex_potrf_block(e, LOWER, block(1064, 64), 64, NULL);
	is_real(us(e), queued + 31 + WAIT, 1e-9, "and on few multiprocessors");
	e->shares = true;
	COSTS(ex_syrk(e, LOWER, PLAIN, -1, block(3000, 200), 1, block(3000, 3000)),
	        library + 35 + WAIT, 1e-9, "and our syrk");
	COSTS(ex_panel_geqrf(e, block(200000, 128), block(128, 1), NULL), 3 + 4 + 900 + WAIT, 1e-9,
	        "a panel too tall for the chip");
	executor_model_restart(e, false);
	executor_model_record(e, true);
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	is_real(us(e), queued + 0.125 + 50 + 3 + WAIT, 1e-9, "a mark behind it");
	executor_model_record(e, false);
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	ex_panel_geqrf(e, block(2560, 64), block(64, 1), NULL);
	e->queue = QUEUE_MAIN;
	ex_gemm(e, PLAIN, PLAIN, -1, a, b, 1, c);
	struct timeline *t = executor_model_timeline(e, "overlapped");
	/* a tile stays for 4 128^2 64 operations at 10 Tflop/s / 100 */
	is_real(t->entry[1].end * 1e6, 7 + 200 + 4.0 * 128 * 128 * 64 / 1e5 - 2.25, 1e-2,
	        "a panel that products do not slow down waits for a tile's end");
	timeline_free(t);
	executor_model_restart(e, false);
	e->queue = QUEUE_PANEL;
	ex_panel_geqrf(e, block(2560, 8), block(8, 1), NULL);
	is_real(us(e), 7 + started + (200 - started) / 8 + WAIT, 1e-9,
	        "an eighth of the columns measured takes an eighth of their time");
	executor_free(e);
	profile_free(p);
}

/* A surface of sweeps over 32 columns: 10 us, and so many for each window, or 3 for each of its
 * four tiles where there are many rows. */
static void add_sweep(struct profile *p, const char *name, double rows, double window_us)
{
	for (int half = 0; half < 2; half++) {
		const int n = half ? 512 : 1024, windows = n / 32;
		add_row(p, (10 + windows * window_us) * 1e-6, "%s[p=32,n=%d,rows=32]", name, n);
		add_row(p, (10 + windows * 4 * 3) * 1e-6, "%s[p=32,n=%d,rows=%.0f]", name, n, rows);
	}
}

/* A sweep of one kernel: 100 multiprocessors, a window of 6, a tile of 3, 10 at the start. */
static void test_sweep(void)
{
	struct profile *p = synthetic(0);
	const double rows = (4 * 99 - 32) * 32;
	struct band band = {
	        .of = {block(320, 320), block(320, 1), {NULL, 0, 0, 320, 1, SINGLE}}, .p = 20};

	add_blocks(p, 0);
	struct executor *e = fresh(p);
	ok(!e->ops->band_fits(e, SINGLE, 20), "no sweep that the profile does not have");
	executor_free(e);
	add_sweep(p, "gpu.band_sweep.s", rows, 6);
	e = fresh(p);
	ok(e->ops->band_fits(e, SINGLE, 20) && !e->ops->band_fits(e, SINGLE, 257) &&
	                !e->ops->band_fits(e, DOUBLE, 20),
	        "the sweeps that it has");
	ex_band_sweep(e, &band, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 6 + WAIT, 1e-9, "windows that are waited for");
	executor_model_restart(e, false);
	band.of.q = block(5 * 99 * 32, 320);
	ex_band_sweep(e, &band, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 6 * 3 + WAIT, 1e-9, "tiles that are");
	executor_free(e);
	add_sweep(p, "gpu.band_slide.s", rows, 7);
	e = fresh(p);
	band.of.q = matrix_view(band.of.q, 0, 0, 0, 320);
	ex_band_sweep(e, &band, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 7 + WAIT, 1e-9,
	        "windows that slide, where they are known");
	executor_model_restart(e, false);
	ex_band_sweep(e, &(struct band){.of = band.of, .added = &band.of, .p = 20}, NULL);
	is_real(us(e), 3 + 4 + 10 + 10 * 6 + WAIT, 1e-9, "and those of added rows");
	executor_free(e);
	profile_free(p);
}

/* A panel with V and T in one kernel, where the profile has it and a cluster holds it. */
static void test_reflectors(void)
{
	struct profile *p = synthetic(0);
	const struct matrix a = block(1024, 48), v = block(1024, 48), t = block(48, 48);
	const struct matrix wide = block(1024, 96);

	add_blocks(p, 0);
	struct executor *e = fresh(p);
	ex_panel_reflectors(e, a, block(48, 1), v, t, NULL);
	const double separate = us(e);
	executor_free(e);
	add_row(p, 30e-6, "gpu.panel_reflectors.s[m=1024,n=32]");
	add_row(p, 60e-6, "gpu.panel_reflectors.s[m=1024,n=64]");
	add_row(p, 160e-6, "gpu.panel_reflectors.s[m=1024,n=128]");
	e = fresh(p);
	ex_panel_reflectors(e, a, block(48, 1), v, t, NULL);
	const double together = us(e);
	is_real(together, queued + 60 + WAIT, 1e-9, "by the Gram matrix as its widest panel");
	if (!ok(together < separate, "and sooner than the three calls without it"))
		diag("%g against %g", together, separate);
	COSTS(ex_panel_reflectors(e, wide, block(96, 1), wide, block(96, 96), NULL),
	        queued + started + 0.75 * (160 - started) + WAIT, 1e-9,
	        "in one cluster as measured");
	executor_model_restart(e, false);
	ex_panel_reflectors(
	        e, block(8193, 128), block(128, 1), block(8193, 128), block(128, 128), NULL);
	const double tall = us(e);
	executor_model_restart(e, false);
	ex_panel_geqrf(e, block(8193, 128), block(128, 1), NULL);
	const double alone = us(e);
	if (!ok(tall > alone + library, "three calls where a cluster does not hold the panel"))
		diag("%g and alone %g", tall, alone);
	executor_free(e);
	profile_free(p);
}

/* A panel by several kernels: the device begins when the first is queued. */
static void test_several_kernels(void)
{
	struct profile *p = synthetic(0);
	const struct matrix a = block(16384, 48), v = block(16384, 48), t = block(48, 48);
	const int kernels = panel_gram_launches(16384);

	add_blocks(p, 0);
	add_row(p, 60e-6, "gpu.panel_reflectors.s[m=16384,n=32]");
	add_row(p, 90e-6, "gpu.panel_reflectors.s[m=16384,n=64]");
	struct executor *e = fresh(p);
	ex_panel_reflectors(e, a, block(48, 1), v, t, NULL);
	ok(kernels > 1, "a tall panel takes %d kernels", kernels);
	is_real(us(e), queued + 75 + WAIT, 1e-9, "of which the first starts the device");
	executor_free(e);
	profile_free(p);
}

static void test_measured(void)
{
	static const struct written_row rows[] = {{"gpu.potrf_block.s[n=128]", 30e-6},
	        {"gpu.trtri.s[n=128]", 20e-6}, {"gpu.larft.s[n=128]", 21e-6},
	        {"gpu.trsm_guard.s[n=128]", 5e-6},
	        {"gpu.panel_geqrf.s[m=4096,n=64,overlapped=0]", 200e-6},
	        {"gpu.laswp.s[swaps=64,n=512,cold=0]", 7e-6},
	        {"gpu.lu_columns.s[m=4096,n=64]", 6e-6},
	        {"gpu.own_gemv.s.n[m=512,n=512,cold=0]", 3e-6}};
	struct profile *p = synthetic(0);
	struct matrix a = block(128, 128), square = block(512, 512);

	add_blocks(p, 0);
	add_written_rows(p, rows, ARRAY_LEN(rows), 0);
	struct executor *e = fresh(p);

	ex_potrf_block(e, LOWER, a, 0, NULL);
	is_real(us(e), queued + 30 + WAIT, 1e-9, "potrf_block as measured");
	is_real(executor_model_result(e).term[TERM_LAUNCH] * 1e6, started, 1e-6,
	        "of which it starts as kernels do");
	COSTS(ex_trtri(e, LOWER, UNIT, a, a), queued + 20 + WAIT, 1e-9, "trtri as measured");
	COSTS(ex_larft(e, block(8192, 128), block(128, 1), a),
	        library + queued + 2.0 * 128 * 128 * 8192 / 1e7 + 21 + WAIT, 1e-9,
	        "larft: the product, and T as measured");
	COSTS(ex_trsm_guard(e, LEFT, LOWER, PLAIN, UNIT, a, a, block(128, 3000), block(128, 3000)),
	        queued + 5 + WAIT, 1e-9, "trsm_guard as measured");
	COSTS(ex_panel_geqrf(e, block(4096, 64), block(64, 1), NULL), 3 + 4 + 200 + WAIT, 1e-9,
	        "panel_geqrf as measured");
	COSTS(ex_panel_geqrf(e, block(200000, 64), block(64, 1), NULL), 3 + 4 + 200 + WAIT, 1e-9,
	        "one too tall for the chip has its Gram matrix's form there, too");
	executor_model_restart(e, false);
	ex_laswp(e, square, (struct pivots){NULL, 64}, false);
	is_real(us(e), queued + 7 + WAIT, 1e-9, "laswp as measured");
	executor_model_restart(e, false);
	ex_join_halves(e, square, (struct pivots){NULL, 64}, 64, (struct pivots){NULL, 128});
	is_real(us(e), queued + 7 + WAIT, 1e-9, "the pivots joined beside it take no longer");
	executor_model_restart(e, false);
	ex_lu_columns(e, block(4096, 64), (struct pivots){NULL, 64}, block(4096, 64));
	is_real(us(e), queued + 6 + WAIT, 1e-9, "columns right of an LU panel as measured");
	COSTS(ex_gemv(e, PLAIN, 1, square, block(512, 1), 0, block(512, 1)), queued + 3 + WAIT,
	        1e-9, "our gemv as measured, queued as kernels are");
	executor_free(e);
	profile_free(p);
}

static void test_host_panels(const struct profile *p)
{
	struct executor *e = fresh(p);
	struct matrix a = block(4096, 64);
	double sent = link_us(p, "link.h2d.pinned.time", 65 * 4);

	ex_host_panel_getrf(e, a, (struct pivots){NULL, 64});
	is_real(us(e), 4096 * 64.0 * 64 / 1e4 + sent, 1e-9, "LU panel on the host, pivots sent");
	executor_model_restart(e, false);
	sent = link_us(p, "link.h2d.pinned.time", 64 * 4);
	ex_host_panel_geqrf(e, a, block(64, 1));
	is_real(us(e), 4096 * 64.0 * 64 / 1e4 + sent, 1e-9, "QR panel on the host, tau sent");
	executor_model_restart(e, false);
	sent = link_us(p, "link.h2d.pinned.time", 200 * 4);
	ex_host_panel_geqrf(e, block(4096, 200), block(200, 1));
	is_real(us(e), 4096 * 200.0 * 200 / 1e4 + sent, 1e-9, "one between the widths measured");
	executor_model_restart(e, false);
	sent = link_us(p, "link.h2d.pinned.time", 4);
	ex_host_panel_potrf(e, LOWER, block(64, 64), 0, NULL);
	is_real(us(e), 64.0 * 64 * 64 / 2e4 + sent, 1e-9, "Cholesky on the host, info sent");
	COSTS(ex_host_panel_potrf(e, LOWER, block(1088, 64), 0, NULL),
	        64.0 * 64 * 64 / 2e4 + 64.0 * 64 * 1024 / 2 / 1e5 + sent, 1e-9,
	        "and a solve with the rows below");
	executor_free(e);
}

int main(void)
{
	struct profile *p = synthetic(0);

	add_blocks(p, 0);
	test_panels(p);
	test_sweep();
	test_reflectors();
	test_several_kernels();
	test_measured();
	test_strips();
	test_rank();
	test_measured_later();
	test_host_panels(p);
	profile_free(p);
	return finish();
}
