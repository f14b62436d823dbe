/* SPDX-License-Identifier: MIT */
/* Shared by the files of the block_kernel probe. */
#pragma once

#include "lib/base/base.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/calibration/blas_rate.h"

enum {
	BLOCK_KERNEL_ROWS = 131072,                   /* of the tallest panel, */
	BLOCK_KERNEL_TALLEST = 8 * BLOCK_KERNEL_ROWS, /* and by the Gram matrix: beyond the L2 */
	BLOCK_KERNEL_NARROWEST = 16,
	BLOCK_KERNEL_WIDEST = 16384, /* columns whose rows are swapped, right-hand sides */
	BLOCK_KERNEL_SWAPS = 1024,
	BLOCK_KERNEL_TURNS = 8,        /* sets of pivots, each further down */
	BLOCK_KERNEL_POOL_ROWS = 8192, /* of the matrix whose rows are swapped in DRAM */
	BLOCK_KERNEL_RIGHT = 64        /* columns right of a panel */
};

struct bench {
	struct blas_rate rate;
	void *pool, *triangle, *inverse, *tau, *v, *t, *work;
	int64_t pool_bytes;
	void *exchange; /* of the LU panel of many multiprocessors; its next tag */
	uint32_t tag;
	int *info, *pivots; /* on the device; sets of pivots that are used in turn */
	unsigned *readers;
	bool cold;       /* the pool is large enough for swaps in DRAM */
	int64_t tallest; /* rows of the tallest panel by the Gram matrix */
};

struct call {
	struct bench *bench;
	enum precision precision;
	int64_t m, n, swaps;
	bool beside, cold;
	bool gram;            /* QR's panels in double precision by the Gram matrix */
	int64_t turn, column; /* of the next call of row swaps; of the LU panel */
};

static inline struct matrix block_kernel_matrix(
        const struct call *c, void *data, int64_t m, int64_t n, int64_t ld)
{
	return (struct matrix){data, 0, m, n, ld, c->precision};
}

/* Of n columns. */
static inline struct matrix block_kernel_triangle(const struct call *c, int64_t n)
{
	return block_kernel_matrix(c, c->bench->triangle, n, n, n);
}

static inline struct matrix block_kernel_inverse(const struct call *c)
{
	return block_kernel_matrix(c, c->bench->inverse, c->n, c->n, c->n);
}

/* Measures the call that `put` makes, and records it as <kind>_<letter of the precision>. */
void block_kernel_measure(struct call *call, const char *kind, void (*put)(void *),
        const struct arg *args, size_t count);

/* The same with the arguments m and n, after `fill`. */
void block_kernel_measure_shape(struct call *call, const char *kind,
        void (*fill)(const struct call *), void (*put)(void *));

/* Factor from one number of columns to the next: --quick leaves out every other one. */
int64_t block_kernel_wider(const struct call *call);

/* The number of columns after the call's, with the widest among them. */
int64_t block_kernel_next_width(const struct call *call, int64_t widest);

/* Panels of QR and LU alone, and beside products; `step`: factor from one number of rows to the
 * next. */
void block_kernel_panels(struct call *call, int64_t step);
void block_kernel_panels_beside(struct bench *bench, enum precision precision, int64_t step);

/* What panels that are called alone take beyond one in a row, by the host's clock. */
void block_kernel_alone(struct bench *bench);
bool block_kernel_is_alone(const char *series);

void block_kernel_open(struct bench *bench, struct probe_run *run);
void block_kernel_close(struct bench *bench);

/* Random numbers between -scale and scale. */
void block_kernel_random(const struct blas_rate *rate, enum precision precision, void *data,
        int64_t count, double scale);

/* Data to factorize: a panel of random numbers; columns, or the triangle and its right-hand sides,
 * that are nearly the identity. */
void block_kernel_fill_panel(const struct call *call);
void block_kernel_fill_panels(const struct call *call); /* of LU, which take turns */
void block_kernel_fill_identity(const struct call *call);
void block_kernel_fill_triangle(const struct call *call);

/* Data that calls change again and again without letting them grow: rows to swap; the triangle,
 * nearly the identity, to solve them with; random columns right of a small LU panel, or of small
 * reflectors. */
void block_kernel_fill_pool(const struct call *call);
void block_kernel_fill_swaps_triangle(const struct call *call);
void block_kernel_fill_lu_columns(const struct call *call);
void block_kernel_fill_qr_columns(const struct call *call);

/* Number of LU panels that take turns: L2 holds them all, but for one that is too large, and no
 * point has more calls. */
int64_t block_kernel_turns(const struct call *call);

/* Rows that the next swaps may reach, and random pivots among them, as partial pivoting finds them.
 * block_kernel_pivot: one pivot (1-based) of `row`, at it or below, of `rows` rows. */
int block_kernel_pivot(uint64_t *state, int64_t row, int64_t rows);
int64_t block_kernel_swap_rows(const struct call *call);
void block_kernel_send_pivots(struct bench *bench, int64_t rows);

/* Each puts one call of a struct call into the stream. */
void block_kernel_geqrf(void *call);
void block_kernel_reflectors(void *call);
void block_kernel_columns(void *call);
void block_kernel_cluster(void *call);
void block_kernel_grid(void *call);
void block_kernel_potrf(void *call);
void block_kernel_trtri(void *call);
void block_kernel_larft(void *call);
void block_kernel_guard(void *call);
void block_kernel_laswp(void *call);
void block_kernel_lu_rows(void *call);
void block_kernel_exchange_rows(void *call);
void block_kernel_lu_top(void *call);
void block_kernel_lu_columns(void *call);
void block_kernel_qr_columns(void *call);

/* Products in a stream of low priority beside panels in a stream of high priority, as in a
 * factorization with look-ahead: our own products in single precision, with a block a tile, the
 * library's in double precision. Between panels the stream pauses, and the products take all places
 * again. */
struct beside {
	enum precision precision;
	cudaStream_t low, high;
	cudaEvent_t going, over;         /* the first product, the last one */
	struct gpu_span *with, *without; /* pinned: of pauses between calls, of those alone */
	void *a, *b, *c;
	cublasHandle_t blas;    /* that calls go to `low` with */
	double product_seconds; /* of one alone */
	const struct tuning *tuning;
};

void beside_open(struct beside *beside, struct blas_rate *rate, enum precision precision);
void beside_close(struct beside *beside, const struct blas_rate *rate);

/* Samples calls that `put` puts into beside->high while products run, and records the seconds that
 * each adds to the pauses. `fill` makes their data new before every sample. */
void beside_measure(struct beside *beside, struct blas_rate *rate,
        void (*fill)(const struct call *), void (*put)(void *), struct call *call, const char *kind,
        const struct arg *args, size_t arg_count);

/* Records sweeps of one kernel over added rows, for every number of rows that has a kernel. */
void block_kernel_sweeps(struct blas_rate *rate, enum precision precision);

/* Records Cholesky's update of small rank. */
void block_kernel_rank(struct blas_rate *rate, enum precision precision, int64_t step);

/* Records kernels that only move numbers: operands split for 3xTF32 and 3xFP16, and deferred row
 * swaps; `step`: factor from one number of columns to the next. Nothing when memory is short. */
void block_kernel_splits(struct blas_rate *rate, int64_t step);
void block_kernel_deferred(struct blas_rate *rate, enum precision precision, int64_t step);

/* Records Gram-Schmidt's panel in registers (`step`: factor from one number of rows to the next)
 * and its blocked update on `sms` multiprocessors. */
void block_kernel_gram(struct blas_rate *rate, enum precision precision, int64_t step);
void block_kernel_gram_apply(struct blas_rate *rate, enum precision precision, int64_t sms);
