/* SPDX-License-Identifier: MIT */
/* Graphs of libfathom's calls: captured once and launched several times, before and after ordinary
 * calls of the same handle, with new numbers each time. They give the bits of ordinary calls, and
 * ordinary calls give the same bits as without graphs. Calls that are refused under stream capture
 * leave the capture valid; calls after abandoned captures; two handles in one graph. */
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
	const int rounds = (int)test_at_most(ROUNDS, 1);
	void *usual = NULL;
	bool good = true;
	int same = 0;

	if (warm) {
		usual = called(&other, 0, &good);
		free(called(&s, 0, &good));
	}
	cudaGraphExec_t graph = graph_of(&s, &good);
	for (int round = 1; graph && round <= rounds; round++) {
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
	ok(good && same == rounds,
	        "%c%s, %s of %" PRId64 " x %" PRId64 "%s: %d of %d launches as the calls", p, math,
	        problem->name, problem->m, problem->n, warm ? "" : ", captured first", same,
	        rounds);
	free(usual);
	fixture_close(&s);
	fixture_close(&other);
}

/* Of 9000 rows a panel is more than a cluster holds, as is that of 10000 with look-ahead; of 80000,
 * in double precision of 40000, more than registers hold. Exchanges are made as they come, from
 * 4000 on at the end. 2101 go in a copy that is aligned. */
static const struct problem each[] = {{"two LUs", two_lus, 300, 300, 0, 0},
        {"two LUs", two_lus, 1500, 1500, 0, 0}, {"two LUs", two_lus, 9000, 100, 0, 0},
        {"LU", lu, 4000, 4000, 0, 0}, {"Cholesky", cholesky, 1500, 1500, 2, 0},
        {"QR", qr, 1500, 1500, 0, 0}}; /* QR is the last */
static const struct problem row_major = {"LU", lu, 8600, 8600, 0, 0};
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

static void play_all(
        const struct problem *list, size_t count, enum precision p, const char *math, bool warm)
{
	for (size_t i = 0; i < count; i++)
		if (test_fits(list[i].m, list[i].n))
			play(&list[i], p, math, warm);
}

/* In any math mode; or as the process's first such calls. */
static void play_each(enum precision p, const char *math, bool warm, bool qr_too)
{
	play_all(each, ARRAY_LEN(each) - !qr_too, p, math, warm);
}

static void play_others(enum precision p, bool qr_too)
{
	play_all(others, ARRAY_LEN(others), p, "", true);
	play_all(of_qr, qr_too ? ARRAY_LEN(of_qr) : 0, p, "", true);
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

/* ---- refused calls, abandoned captures ---- */

static const struct problem square = {"LU", lu, 300, 300, 0, 0};
static const struct problem tall = {"LU", lu, 9000, 100, 0, 0};

static void refused(enum fathom_status status, const char *why, const char *what)
{
	const char *text = fathom_error(handle);

	if (!ok(status == FATHOM_NOT_POSSIBLE && strstr(text, why), "refused: %s", what))
		diag("status %d, \"%s\", want \"%s\"", status, text, why);
}

static enum fathom_status call_small(struct fixture *s)
{
	int64_t bytes = fathom_sgetrf_work(handle, 4, 4, 4);

	return fathom_sgetrf(handle, 4, 4, s->work, 4, s->work, s->data, bytes, s->work);
}

static void check_refused(void)
{
	struct fixture s = fixture_open(&square, SINGLE);
	bool good = true;
	void *want = called(&s, 1, &good);

	capture_begin(stream);
	refused(fathom_finish(handle), "captured", "fathom_finish");
	refused(fathom_set_stream(handle, second), "captured", "another stream during a capture");
	good = call(&s) && good;
	refused(fathom_finish(handle), "captured", "fathom_finish after a call");
	refused(fathom_set_stream(handle, NULL), "captured", "another stream after a call");
	good = succeeded(fathom_set_host_panels(handle, 1), "host panels") && good;
	refused(call_small(&s), "host panels", "a call with host panels");
	good = succeeded(fathom_set_host_panels(handle, 0), "host panels") && good;
	cudaGraphExec_t graph = capture_end(stream);
	if (graph) {
		fill(&s, 1);
		launch(graph, stream);
	}
	ok(graph && good && is_result(&s, want), "refused calls leave the capture valid");
	graph_free(graph);
	free(want);
	fixture_close(&s);
}

static void check_stream(void)
{
	cudaGraph_t empty = NULL;

	capture_begin(second);
	refused(fathom_set_stream(handle, second), "captured", "a stream under capture");
	ok(cudaStreamEndCapture(second, &empty) == cudaSuccess, "its capture stays valid");
	if (empty)
		GPU(cudaGraphDestroy(empty));
	cudaGetLastError();
}

/* Waiting for a stream makes its capture invalid. */
static bool make_invalid(struct fixture *s)
{
	bool failed = cudaStreamSynchronize(stream) != cudaSuccess;

	cudaGetLastError();
	refused(call_small(s), "invalid", "a call when the capture has become invalid");
	refused(fathom_finish(handle), "invalid", "fathom_finish then");
	return failed;
}

static void check_abandoned(bool invalid)
{
	struct fixture s = fixture_open(&tall, SINGLE);
	cudaGraph_t graph = NULL;
	bool good = true;
	void *want = called(&s, 1, &good);

	capture_begin(stream);
	good = call(&s) && (!invalid || make_invalid(&s)) && good;
	bool ended = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
	cudaGetLastError();
	if (graph)
		GPU(cudaGraphDestroy(graph));
	void *now = called(&s, 1, &good);
	ok(good && ended == !invalid && memcmp(now, want, (size_t)s.bytes) == 0 &&
	                succeeded(fathom_finish(handle), "finish"),
	        "calls after a capture that %s", invalid ? "became invalid" : "was abandoned");
	free(now);
	free(want);
	fixture_close(&s);
}

/* The other's call is in a stream that the capture has spread to. */
static cudaGraphExec_t capture_both(
        struct fixture *s, struct fixture *beside, struct fathom *other, bool *good)
{
	struct fathom *first = handle;
	cudaEvent_t event;

	GPU(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	capture_begin(stream);
	GPU(cudaEventRecord(event, stream));
	GPU(cudaStreamWaitEvent(second, event, 0));
	*good = call(s) && *good;
	handle = other;
	*good = call(beside) && *good;
	handle = first;
	GPU(cudaEventRecord(event, second));
	GPU(cudaStreamWaitEvent(stream, event, 0));
	cudaGraphExec_t graph = capture_end(stream);
	GPU(cudaEventDestroy(event));
	return graph;
}

static void check_two_handles(void)
{
	struct fixture s = fixture_open(&square, SINGLE), beside = fixture_open(&square, SINGLE);
	struct fathom *other;
	bool good = succeeded(fathom_create(&other), "another handle") &&
	            fathom_set_stream(other, second) == FATHOM_OK;
	void *want = called(&s, 1, &good), *want_beside = called(&beside, 2, &good);
	cudaGraphExec_t graph = capture_both(&s, &beside, other, &good);

	for (int i = 0; graph && i < ROUNDS; i++) {
		fill(&s, 1);
		fill(&beside, 2);
		launch(graph, stream);
		good = is_result(&s, want) && is_result(&beside, want_beside) && good;
	}
	ok(graph && good, "calls of two handles in one graph");
	graph_free(graph);
	fathom_destroy(other);
	free(want);
	free(want_beside);
	fixture_close(&s);
	fixture_close(&beside);
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
	play_all(&row_major, 1, SINGLE, "", true);
	check_math(FATHOM_MATH_3XTF32, " by 3xTF32", qr_too);
	check_math(FATHOM_MATH_3XFP16, " by 3xFP16", qr_too);
	check_refused();
	check_stream();
	check_abandoned(false);
	check_abandoned(true);
	check_two_handles();
	pool_close();
	pool_open(17000000, DOUBLE);
	play_each(DOUBLE, "", true, qr_too);
	play_others(DOUBLE, qr_too);
	pool_close();
	streams_close();
	fathom_destroy(handle);
	return finish();
}
