/* SPDX-License-Identifier: MIT */
/* Scenes (capture_calls.h) on the device: their numbers, the results of their calls, graphs of the
 * calls. */
#pragma once

#include "capture_calls.h"

enum {
	SHIFT = 977,    /* numbers from one round's first to the next one's */
	DIAGONAL = 5000 /* columns of a definite matrix at most */
};

static cudaStream_t stream, second; /* the handle's, and another one */
static void *pool, *diagonal;       /* random numbers and large ones on the device */

/* ---- numbers ---- */

/* For fixtures of `count` numbers at most. */
static inline void pool_open(int64_t count, enum precision p)
{
	const int64_t all = count + SHIFT * 16, bytes = all * precision_bytes(p);
	void *host = xmalloc((size_t)bytes);

#pragma omp parallel for
	for (int64_t i = 0; i < all; i++)
		put(host, i, p, test_random(5, i));
	pool = on_device(host, bytes);
	for (int i = 0; i < DIAGONAL; i++)
		put(host, i, p, 2 * DIAGONAL);
	diagonal = on_device(host, DIAGONAL * precision_bytes(p));
	GPU(cudaDeviceSynchronize()); /* later work is in other streams */
	free(host);
}

static inline void pool_close(void)
{
	GPU(cudaFree(pool));
	GPU(cudaFree(diagonal));
}

static inline void streams_open(void)
{
	GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	GPU(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	succeeded(fathom_set_stream(handle, stream), "the stream");
}

static inline void streams_close(void)
{
	succeeded(fathom_set_stream(handle, NULL), "the stream");
	GPU(cudaStreamDestroy(stream));
	GPU(cudaStreamDestroy(second));
}

/* ---- fixtures ---- */

static inline bool call(struct fixture *s)
{
	s->bytes = 0;
	return s->of.calls(s);
}

static inline struct fixture fixture_open(const struct problem *problem, enum precision p)
{
	struct fixture s = {.of = *problem, .p = p};

	call(&s);
	s.data = on_device(NULL, s.bytes);
	s.work = on_device(NULL, s.work_bytes);
	GPU(cudaDeviceSynchronize());
	return s;
}

static inline void fixture_close(struct fixture *s)
{
	GPU(cudaFree(s->data));
	GPU(cudaFree(s->work));
}

/* The round's numbers, in the handle's stream. */
static inline void fill(struct fixture *s, int round)
{
	const size_t word = (size_t)precision_bytes(s->p), n = (size_t)s->of.n;
	const size_t apart = ((size_t)leading(s) + 1) * word;

	GPU(cudaMemcpyAsync(s->data, (char *)pool + (size_t)round * SHIFT * word, (size_t)s->bytes,
	        cudaMemcpyDeviceToDevice, stream));
	const int64_t all = s->bytes;
	s->bytes = 0;
	for (int i = 0; i < s->of.definite; i++)
		GPU(cudaMemcpy2DAsync(numbers(s, leading(s) * s->of.n), apart, diagonal, word, word,
		        n, cudaMemcpyDeviceToDevice, stream));
	s->bytes = all;
}

/* All memory that the calls may have changed, for free(). */
static inline void *result(const struct fixture *s)
{
	void *host = xmalloc((size_t)s->bytes);

	GPU(cudaMemcpyAsync(host, s->data, (size_t)s->bytes, cudaMemcpyDeviceToHost, stream));
	GPU(cudaStreamSynchronize(stream));
	return host;
}

static inline bool is_result(const struct fixture *s, const void *want)
{
	void *got = result(s);
	bool same = memcmp(got, want, (size_t)s->bytes) == 0;

	free(got);
	return same;
}

/* The results of ordinary calls for the round's numbers, for free(). */
static inline void *called(struct fixture *s, int round, bool *good)
{
	fill(s, round);
	*good = call(s) && *good;
	return result(s);
}

/* ---- graphs ---- */

/* Nothing in it allocates or goes to the host. */
static inline bool is_plain(cudaGraph_t graph)
{
	size_t count = 0;
	bool plain = true;

	GPU(cudaGraphGetNodes(graph, NULL, &count));
	cudaGraphNode_t *nodes = xmalloc((count + 1) * sizeof *nodes);
	GPU(cudaGraphGetNodes(graph, nodes, &count));
	for (size_t i = 0; plain && i < count; i++) {
		enum cudaGraphNodeType type;
		GPU(cudaGraphNodeGetType(nodes[i], &type));
		plain = type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
		        type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeEmpty;
		if (!plain)
			diag("the graph has a node of type %d", (int)type);
	}
	free(nodes);
	return plain;
}

static inline void capture_begin(cudaStream_t where)
{
	GPU(cudaStreamBeginCapture(where, cudaStreamCaptureModeGlobal));
}

/* NULL when the capture failed. */
static inline cudaGraphExec_t capture_end(cudaStream_t where)
{
	cudaGraphExec_t graph = NULL;
	cudaGraph_t captured = NULL;
	cudaError_t error = cudaStreamEndCapture(where, &captured);

	if (error == cudaSuccess && is_plain(captured))
		error = cudaGraphInstantiateWithFlags(&graph, captured, 0);
	if (error != cudaSuccess)
		diag("capture: %s", cudaGetErrorString(error));
	if (captured)
		GPU(cudaGraphDestroy(captured));
	cudaGetLastError();
	return graph;
}

static inline cudaGraphExec_t graph_of(struct fixture *s, bool *good)
{
	capture_begin(stream);
	*good = call(s) && *good;
	return capture_end(stream);
}

/* In the handle's stream, or in another stream while the handle's is idle. */
static inline void launch(cudaGraphExec_t graph, cudaStream_t where)
{
	if (where != stream)
		GPU(cudaStreamSynchronize(stream));
	GPU(cudaGraphLaunch(graph, where));
	if (where != stream)
		GPU(cudaStreamSynchronize(where));
}

static inline void graph_free(cudaGraphExec_t graph)
{
	GPU(cudaStreamSynchronize(stream));
	if (graph)
		GPU(cudaGraphExecDestroy(graph));
}
