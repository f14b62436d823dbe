/* SPDX-License-Identifier: MIT */
/* Inside of the cuda executor: its state, and what its files share. */
#ifndef FATHOM_EXECUTOR_CUDA_H
#define FATHOM_EXECUTOR_CUDA_H

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

/* Pinned memory for a few numbers on their way to the device. It is written again when its last
 * copy is over; with this many of them the host seldom has to wait for that. */
struct note {
	struct buffer buffer;
	cudaEvent_t sent;
};
enum { NOTES = 8 };

/* What the operations of one queue work with. scratch holds what is handed from one kernel of an
 * operation, or from one block of a kernel, to the next; before it lie counters of kernels, which
 * are zero between them. */
enum { LANE_SCRATCH_BYTES = 27 << 20 };
struct lane {
	cudaStream_t stream;
	bool borrowed; /* the stream is a caller's */
	bool busy;     /* something was put there since all queues were waited for */
	cublasHandle_t blas;
	void *product_work, *counters, *scratch;
};

struct cuda {
	struct executor base;
	struct gpu gpu;
	struct lane lanes[QUEUE_COUNT];
	struct blas_double doubles; /* for the BLAS of any lane */
	bool has_tall;              /* tf32_tall */
	cudaEvent_t events[EXECUTOR_EVENTS];
	cudaEvent_t *marks; /* mark_count of them */
	int64_t mark_count;
	struct executor *host; /* works on pinned memory; NULL until cuda_host */
	double *scalar;        /* pinned: one element on its way to the host */
	struct buffer staging; /* pinned: the panel on the host, or a column of it */
	struct buffer stages[EXECUTOR_STAGES]; /* pinned */
	struct note notes[NOTES];
	int next_note;
	struct buffer exchange; /* device: the resident kernel's slots, for one panel at a time */
	uint32_t tag;           /* next unused tag of the exchange buffer */
	bool captured;          /* the library's call is: what it puts goes into a graph */
	uint32_t captured_tag;  /* its next tag; 0: it has not cleared the buffer yet */
};

static inline struct cuda *self(struct executor *executor)
{
	return (struct cuda *)executor;
}

/* What the current queue works with; whoever asks will put something there. */
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

/* For the library, whose callers have streams of their own and need not want the host's BLAS:
 * executor_cuda_new's executor without one for panels on the host, which cuda_host adds;
 * QUEUE_MAIN into a caller's stream from now on, which has to outlive what is put there; and memory
 * that resident panels of at most `widest` columns would otherwise allocate when they run. */
struct cuda *cuda_new(const char *device, struct fault *fault);
bool cuda_host(struct cuda *x);
bool cuda_follow(struct cuda *x, cudaStream_t stream);
bool cuda_reserve_exchange(struct cuda *x, int64_t widest);

/* Begins a call of the library on a stream that is under capture, or that is not, as at first. */
void cuda_capture(struct cuda *x, bool captured);

/* False with the executor's fault filled when a CUDA or cuBLAS call failed. */
bool cuda_ok(struct cuda *x, int error, const char *what);
bool blas_ok(struct cuda *x, cublasStatus_t status, const char *what);

/* Waits for all queues: for those that something was put into since. To ask the idle ones, too,
 * made a short operation 3 to 4 us longer. */
bool cuda_sync(struct executor *executor);

/* At least `bytes` of pinned memory. What is in flight must not use the buffer. */
bool grow_pinned(struct cuda *x, struct buffer *buffer, int64_t bytes);

/* A note of at least `bytes` that nothing reads any more, NULL with a fault; and its copy to the
 * device on the current queue. */
struct note *note_take(struct cuda *x, int64_t bytes);
bool note_send(struct cuda *x, struct note *note, void *to, int64_t bytes, const char *what);

/* executor_cuda_queues.c: queues, events, copies, panels on the host. */
bool lanes_open(struct cuda *x);
void lanes_close(struct cuda *x);
bool cuda_mark(struct executor *, int64_t index);
bool cuda_elapsed(struct executor *, int64_t from, int64_t to, double *seconds);
bool cuda_record(struct executor *, int event);
bool cuda_wait(struct executor *, int event);
bool cuda_wait_host(struct executor *, int event);
bool cuda_stage(struct executor *, int stage, int64_t m, int64_t n, enum precision precision,
        struct matrix *host);
bool cuda_to_host(struct executor *, struct matrix from, struct matrix host);
bool cuda_to_device(struct executor *, struct matrix host, struct matrix to);
bool cuda_host_panel_getrf(struct executor *, struct matrix host, struct pivots p);
bool cuda_host_panel_geqrf(struct executor *, struct matrix host, struct matrix tau);
bool cuda_host_panel_potrf(
        struct executor *, enum uplo uplo, struct matrix host, int64_t first, int *info);

/* executor_cuda_blocks.c: the BLAS and the kernels of blocked factorizations. */
bool cuda_gemm(struct executor *, enum trans ta, enum trans tb, double alpha, struct matrix a,
        struct matrix b, double beta, struct matrix c);
bool cuda_split(struct executor *, struct splits splits);
bool cuda_gemm_tall(struct executor *, struct matrix v, struct matrix c, struct matrix p);
bool cuda_gemm_tf32(struct executor *, double alpha, struct matrix a, struct matrix b, double beta,
        struct matrix c, struct products products);
bool cuda_half_update(struct executor *, enum uplo part, double alpha, struct matrix left,
        struct matrix right, struct matrix c);
bool cuda_add_triangles(struct executor *, enum uplo uplo, struct matrix blocks, struct matrix c);
bool cuda_syrk(struct executor *, enum uplo uplo, enum trans trans, double alpha, struct matrix a,
        double beta, struct matrix c);
bool cuda_trsm(struct executor *, enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        double alpha, struct matrix a, struct matrix b);
bool cuda_trsm_guard(struct executor *, enum side side, enum uplo uplo, enum trans trans,
        enum diag diag, struct matrix a, struct matrix inverse, struct matrix kept,
        struct matrix b);
bool cuda_nrm2(struct executor *, struct matrix x, double *norm);
bool cuda_gemv(struct executor *, enum trans trans, double alpha, struct matrix a, struct matrix x,
        double beta, struct matrix y);
bool cuda_make_rotations(struct executor *, int64_t row, struct matrix x, struct matrix g);
bool cuda_rotate(struct executor *, struct matrix g, struct matrix x);
bool cuda_trtri(
        struct executor *, enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse);
bool cuda_laswp(struct executor *, struct matrix a, struct pivots p, bool backwards);
bool cuda_lu_top(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool cuda_lu_columns(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool cuda_lu_rows(struct executor *, struct matrix a, struct pivots p, struct matrix c);
bool cuda_join_halves(struct executor *, struct matrix beside, struct pivots half, int64_t first,
        struct pivots all);
bool cuda_record_swaps(
        struct executor *, struct deferred_swaps t, struct pivots p, int64_t first, int64_t block);
bool cuda_apply_swaps(struct executor *, struct deferred_swaps t, struct matrix a);
bool cuda_offset_pivots(struct executor *, struct pivots panel, int64_t first, struct pivots all);
bool cuda_clear_info(struct executor *, int *info);
bool cuda_zero_diagonal(struct executor *, struct matrix a, int *info);
bool cuda_potrf_block(struct executor *, enum uplo uplo, struct matrix a, int64_t first, int *info);
int64_t cuda_geqrf_work(struct executor *, struct matrix a);
bool cuda_panel_geqrf(struct executor *, struct matrix a, struct matrix tau, void *work);
bool cuda_explicit_v(struct executor *, struct matrix a, struct matrix v);
bool cuda_larft(struct executor *, struct matrix v, struct matrix tau, struct matrix t);
bool cuda_panel_reflects(struct executor *, struct matrix a);
bool cuda_panel_reflectors(struct executor *, struct matrix a, struct matrix tau, struct matrix v,
        struct matrix t, void *work);
bool cuda_band_fits(struct executor *, enum precision precision, int64_t p);
int64_t cuda_band_work(struct executor *, const struct band *band);
bool cuda_band_sweep(struct executor *, const struct band *band, void *work);
bool cuda_reflects_columns(struct executor *, struct matrix v, struct matrix c);
bool cuda_reflect_columns(struct executor *, struct matrix v, struct matrix t, struct matrix c);
bool cuda_transpose(struct executor *, struct matrix a, struct matrix b);
bool cuda_copy(struct executor *, enum uplo uplo, struct matrix from, struct matrix to);
bool cuda_fill(struct executor *, enum uplo uplo, double off, double on, struct matrix a);

/* executor_cuda_gram.c */
bool cuda_column_norms(struct executor *, struct matrix a, struct matrix norms);
int64_t cuda_gram_work(struct executor *, struct matrix a);
bool cuda_gram_dots(struct executor *, const struct gram_schmidt *g, int64_t j);
bool cuda_gram_update(struct executor *, const struct gram_schmidt *g, int64_t j);
bool cuda_gram_scale(struct executor *, const struct gram_schmidt *g, int64_t j);
bool cuda_gram_fused(struct executor *, const struct gram_schmidt *g, int64_t j);
bool cuda_gram_panel(struct executor *, const struct gram_schmidt *g);
bool cuda_gram_apply(
        struct executor *, struct matrix q, struct matrix r, struct matrix a, bool single);

/* executor_cuda_kernels.c: the operations of our own kernels, and whether the last resident panel
 * ended as it should. */
bool cuda_scale_by(struct executor *, struct matrix element, struct matrix v);
int64_t cuda_fused_work(struct executor *, struct matrix a);
bool cuda_fused_begin(struct executor *, struct matrix a, void *work, struct pivots p);
bool cuda_fused_pivot(struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);
bool cuda_fused_update(struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);
bool cuda_resident_fits(struct executor *, struct matrix a);
int64_t cuda_resident_work(struct executor *, struct matrix a);
bool cuda_resident_panel(struct executor *, struct matrix a, void *work, struct pivots p);
bool cuda_exchange_ok(struct cuda *x);

#endif
