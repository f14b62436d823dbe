/* SPDX-License-Identifier: MIT */
/* Graphs of libfathom's calls: captured once and launched several times, before and after ordinary
 * calls of the same handle, with new numbers each time. They give the bits of ordinary calls, and
 * ordinary calls give the same bits as without graphs. */
#include "capture_graph.h"

enum {
	ROUNDS = 3,
	LOADS_CAPTURED = 12030 /* drivers from this one on load kernels during a capture */
};

/* Each launch whose result is checked follows another launch, and both follow an ordinary LU whose
 * panels take many multiprocessors. warm: calls come before the capture, too. */
static void play(const struct problem *problem, enum precision p, const char *math, bool warm)
{
	static const struct problem between = {"LU", lu, 9000, 100, 0, 0};
	struct fixture s = fixture_open(problem, p), other = fixture_open(&between, p);
	void *usual = NULL;
	bool good = true;
	int same = 0;

	if (warm) {
		usual = called(&other, 0, &good);
		free(called(&s, 0, &good));
	}
	cudaGraphExec_t graph = graph_of(&s, &good);
	for (int round = 1; graph && round <= ROUNDS; round++) {
		void *want = called(&s, round, &good), *now = called(&other, 0, &good);
		good = good && (!usual || memcmp(now, usual, (size_t)other.bytes) == 0);
		fill(&s, ROUNDS + round);
		launch(graph, stream);
		fill(&s, round);
		launch(graph, round % 2 ? stream : second);
		same += is_result(&s, want);
		free(want);
		free(now);
	}
	graph_free(graph);
	good = succeeded(fathom_finish(handle), "finish") && good;
	ok(good && same == ROUNDS,
	        "%c%s, %s of %" PRId64 " x %" PRId64 "%s: %d of %d launches as the calls", p, math,
	        problem->name, problem->m, problem->n, warm ? "" : ", captured first", same,
	        ROUNDS);
	free(usual);
	fixture_close(&s);
	fixture_close(&other);
}

/* Of 9000 rows a panel is more than a cluster holds, as is that of 10000 with look-ahead; of 80000,
 * in double precision of 40000, more than registers hold. Exchanges are made as they come, from
 * 4000 on at the end. 2101 go in a copy that is aligned. */
static const struct problem small = {"two LUs", two_lus, 300, 300, 0, 0};
static const struct problem middle = {"two LUs", two_lus, 1500, 1500, 0, 0};
static const struct problem tall = {"two LUs", two_lus, 9000, 100, 0, 0};
static const struct problem large = {"LU", lu, 4000, 4000, 0, 0};
static const struct problem row_major = {"LU", lu, 8600, 8600, 0, 0};
static const struct problem triangle = {"Cholesky", cholesky, 1500, 1500, 2, 0};
static const struct problem orthogonal = {"QR", qr, 1500, 1500, 0, 0};
static const struct problem others[] = {{"two LUs", two_lus, 100, 700, 0, 0},
        {"LU", lu, 10000, 1000, 0, 0}, {"LU", lu, 40000, 100, 0, 0}, {"LU", lu, 80000, 64, 0, 0},
        {"LU", lu, 2101, 2101, 0, 0}, {"Cholesky", cholesky, 300, 300, 2, 0},
        {"Cholesky", cholesky, 2101, 2101, 2, 0}, {"products", products, 300, 200, 0, 0},
        {"products", products, 1501, 1001, 0, 0}, {"Gram-Schmidt", gram_schmidt, 300, 150, 0, 0},
        {"Gram-Schmidt", gram_schmidt, 9000, 100, 0, 0}};
static const struct problem of_qr[] = {{"QR", qr, 300, 300, 0, 0}, {"QR", qr, 2101, 2101, 0, 0},
        {"QR", qr, 9000, 100, 0, 0}, {"QR", qr, 50000, 64, 0, 0},
        {"least squares", least_squares, 300, 150, 0, 0},
        {"least squares", least_squares, 1500, 1000, 0, 0},
        {"changes of QR", qr_changes, 300, 120, 0, 'S'},
        {"changes of QR", qr_changes, 300, 120, 0, 'A'},
        {"changes of QR", qr_changes, 1300, 700, 0, 'S'}};

/* In any math mode; or as the process's first such calls. */
static void play_each(enum precision p, const char *math, bool warm, bool qr_too)
{
	play(&small, p, math, warm);
	play(&middle, p, math, warm);
	play(&tall, p, math, warm);
	play(&large, p, math, warm);
	play(&triangle, p, math, warm);
	if (qr_too)
		play(&orthogonal, p, math, warm);
}

static void play_others(enum precision p, bool qr_too)
{
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		play(&others[i], p, "", true);
	for (size_t i = 0; qr_too && i < ARRAY_LEN(of_qr); i++)
		play(&of_qr[i], p, "", true);
}

static void check_first(bool qr_too)
{
	int driver = 0;

	GPU(cudaDriverGetVersion(&driver));
	if (driver >= LOADS_CAPTURED)
		play_each(SINGLE, "", false, qr_too);
	else
		skip("captured first", "the driver loads no kernels during a capture");
}

static void check_math(enum fathom_math math, const char *name, bool qr_too)
{
	if (fathom_set_math(handle, math) != FATHOM_OK) {
		skip(name, fathom_error(handle));
		return;
	}
	play_each(SINGLE, name, true, qr_too);
	fathom_set_math(handle, FATHOM_MATH_FP32);
}

int main(void)
{
	if (fathom_create(&handle) != FATHOM_OK)
		skip_all(fathom_error(NULL));
	streams_open();
	bool qr_too = qr_possible();
	pool_open(75000000, SINGLE);
	check_first(qr_too);
	play_each(SINGLE, "", true, qr_too);
	play_others(SINGLE, qr_too);
	play(&row_major, SINGLE, "", true);
	check_math(FATHOM_MATH_3XTF32, " by 3xTF32", qr_too);
	check_math(FATHOM_MATH_3XFP16, " by 3xFP16", qr_too);
	pool_close();
	pool_open(17000000, DOUBLE);
	play_each(DOUBLE, "", true, qr_too);
	play_others(DOUBLE, qr_too);
	pool_close();
	streams_close();
	fathom_destroy(handle);
	return finish();
}
