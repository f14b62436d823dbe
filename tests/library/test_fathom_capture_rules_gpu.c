/* SPDX-License-Identifier: MIT */
/* Calls that libfathom refuses under stream capture, and that leave the capture valid; calls after
 * abandoned captures; two handles in one graph. */
#include "capture_graph.h"

enum { ROUNDS = 3 };

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
	pool_open(2000000, SINGLE);
	check_refused();
	check_stream();
	check_abandoned(false);
	check_abandoned(true);
	check_two_handles();
	pool_close();
	streams_close();
	fathom_destroy(handle);
	return finish();
}
