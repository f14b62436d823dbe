/* SPDX-License-Identifier: MIT */
/* Internals of the cuda executor: its state, and the functions that its files share. */
#pragma once

#include "factor/executors/executor.h"
#include "factor/kernels/gemm/blas_double.h"
#include "lib/device/gpu.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

/* Memory that grows to the largest size asked for. */
struct buffer {
	void *data;
	int64_t bytes;
};

/* Pinned memory for a few numbers on their way to the device. A note is written again after its
 * last copy has ended. With this many notes the host seldom waits. */
struct note {
	struct buffer buffer;
	cudaEvent_t sent;
};
enum { NOTES = 8 };

/* Resources of one queue. scratch passes data from one kernel of an operation, or one block of a
 * kernel, to the next. The kernels' counters lie before scratch and are zero between kernels. */
enum { LANE_SCRATCH_BYTES = 27 << 20 };
struct lane {
	cudaStream_t stream;
	bool borrowed; /* the stream belongs to a caller */
	bool busy;     /* used since all queues were last waited for */
	cublasHandle_t blas;
	void *product_work, *counters, *scratch;
};

struct cuda {
	struct executor base;
	struct gpu gpu;
	struct lane lanes[QUEUE_COUNT];
	struct blas_double doubles; /* kernels chosen for cuBLAS in double precision */
	cudaEvent_t events[EXECUTOR_EVENTS];
	cudaEvent_t *marks; /* mark_count of them */
	int64_t mark_count;
	struct executor *host; /* works on pinned memory; NULL until cuda_host */
	double *scalar;        /* pinned: one element on its way to the host */
	struct buffer staging; /* pinned: the panel on the host, or a column of it */
	struct buffer stages[EXECUTOR_STAGES]; /* pinned */
	struct note notes[NOTES];
	int next_note;
	struct buffer exchange; /* device: slots of the resident kernel, for one panel at a time */
	uint32_t tag;           /* next unused tag of the exchange buffer */
	bool captured;          /* the library's call is captured into a graph */
	uint32_t captured_tag;  /* next tag in a captured call; 0: the buffer is not cleared yet */
};

static inline struct cuda *self(struct executor *executor)
{
	return (struct cuda *)executor;
}

/* The lane of the current queue, marked as busy. */
static inline const struct lane *lane_of(struct cuda *x)
{
	struct lane *lane = &x->lanes[x->base.queue];

	lane->busy = true;
	return lane;
}

static inline cudaStream_t stream_of(struct cuda *x)
{
	return lane_of(x)->stream;
}

/* For the library: the executor of executor_cuda_new without one for panels on the host, which
 * cuda_host adds. cuda_follow moves QUEUE_MAIN to a caller's stream, which must outlive its work.
 * cuda_reserve_exchange allocates the memory that resident panels of at most `widest` columns would
 * otherwise allocate when they run. cuda_abandon frees only host memory, after the context is gone.
 */
struct cuda *cuda_new(const char *device, struct fault *fault);
void cuda_abandon(struct cuda *x);
bool cuda_host(struct cuda *x);
bool cuda_follow(struct cuda *x, cudaStream_t stream);
bool cuda_reserve_exchange(struct cuda *x, int64_t widest);

/* Begins a library call on a stream under capture (true), or on another stream (false, the initial
 * state). */
void cuda_capture(struct cuda *x, bool captured);

/* False with the executor's fault filled when a CUDA or cuBLAS call failed. */
bool cuda_ok(struct cuda *x, int error, const char *what);

/* cudaMemcpy2DAsync, for pitches of any size. */
int cuda_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
        size_t count, enum cudaMemcpyKind kind, cudaStream_t stream);
bool blas_ok(struct cuda *x, cublasStatus_t status, const char *what);

/* For operations of one kernel: the stream, and the result of the launch. */
static inline cudaStream_t stream(struct executor *executor)
{
	return stream_of(self(executor));
}

static inline bool launched(struct executor *executor, int error, const char *what)
{
	return cuda_ok(self(executor), error, what);
}

/* cuda_<name> of every operation. */
#define FUNCTION(type, name, parameters) type cuda_##name parameters;
#include "factor/executors/operations.h"

/* An operation of one kernel. */
#define ONE_KERNEL(name, parameters, launch)                                                       \
	bool cuda_##name(struct executor *executor, EXECUTOR_LIST parameters)                      \
	{                                                                                          \
		return launched(executor, launch, #name);                                          \
	}

/* A scalar as cuBLAS reads it: a float or a double. */
union scalar {
	float single;
	double wide;
};

static inline union scalar scalar_of(enum precision precision, double value)
{
	return precision == SINGLE ? (union scalar){.single = (float)value}
	                           : (union scalar){.wide = value};
}

/* Calls one of two cuBLAS functions, for SINGLE and DOUBLE, on the current queue. */
#define BLAS(x, precision, what, single, wide, ...)                                                \
	blas_ok(x,                                                                                 \
	        (precision) == SINGLE ? single(lane_of(x)->blas, __VA_ARGS__)                      \
	                              : wide(lane_of(x)->blas, __VA_ARGS__),                       \
	        what)

/* Grows the buffer to at least `bytes` of pinned memory. No copy in flight may use it. */
bool grow_pinned(struct cuda *x, struct buffer *buffer, int64_t bytes);

/* A free note of at least `bytes`, NULL with a fault; and its copy to the device on the current
 * queue. */
struct note *note_take(struct cuda *x, int64_t bytes);
bool note_send(struct cuda *x, struct note *note, void *to, int64_t bytes, const char *what);

/* Sets the tuned sizes for x->gpu. */
void cuda_tune(struct cuda *x);

/* Streams, library handles and events. */
bool lanes_open(struct cuda *x);
void lanes_close(struct cuda *x);

/* Whether the last resident panel ended correctly; then the fault says whether cuda_doubtful was
 * set, which is cleared. */
bool cuda_exchange_ok(struct cuda *x);

/* A word in device memory for gels, after cuda_reserve_exchange. */
int *cuda_doubtful(struct cuda *x);
