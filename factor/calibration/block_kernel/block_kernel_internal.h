/* SPDX-License-Identifier: MIT */
/* Shared by the files of the block_kernel probe. */
#pragma once

#include "lib/base/base.h"
#include "factor/calibration/blas_rate.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gram_schmidt/gram_schmidt_kernels.h"
#include "factor/kernels/update/sweep_kernel.h"

enum {
	BLOCK_KERNEL_ROWS = 131072, /* of the tallest panel */
	BLOCK_KERNEL_NARROWEST = 16,
	BLOCK_KERNEL_WIDEST = 16384, /* columns whose rows are swapped, right-hand sides */
	BLOCK_KERNEL_SWAPS = 1024,
	BLOCK_KERNEL_TURNS = 8,        /* sets of pivots, each further down */
	BLOCK_KERNEL_POOL_ROWS = 8192, /* of the matrix whose rows are swapped in DRAM */
	BLOCK_KERNEL_ARGS = 3
};

struct bench {
	struct blas_rate rate;
	int64_t step, narrow; /* factors from size to size; larger with --quick */
	bool has_cold;        /* the pool is large enough for swaps in DRAM */
	void *pool, *triangle, *inverse, *tau, *v, *t, *work;
	int64_t pool_bytes, used; /* used: by block_kernel_take */
	void *exchange;           /* of the LU panel of many multiprocessors; its next tag */
	uint32_t tag;
	int *info, *pivots; /* on the device; sets of pivots that are used in turn */
	unsigned *readers;

	int64_t points; /* of the kernel so far */

	/* the point: its kernel and the values of its arguments */
	const struct kernel *kernel;
	enum precision precision;
	int64_t m, n, k, p, rows, columns, swaps, below, rounds, cold, overlapped;
	int64_t turn, column; /* of the next call of row swaps; of the LU panel */

	/* operands of some kernels, in the pool */
	struct matrix x, r, c;
	void *scratch;
	struct gram_schmidt gram;
	struct band band;
	struct system added;
};

/* The values of an argument: from first to last by a factor, downwards when last is smaller; or by
 * `next`. */
struct range {
	const char *name;
	int64_t *value, first, last, factor;
	int64_t (*next)(const struct bench *, int64_t value);
};

/* One series: its calls and the ranges of its arguments, the last one innermost. */
struct kernel {
	const char *kind;
	int (*run)(struct bench *); /* puts a call into the stream; a cudaError_t */
	/* or NULL: fresh data of a shape; whether its calls worked */
	void (*fill)(struct bench *);
	bool (*check)(const struct bench *);
	struct range range[BLOCK_KERNEL_ARGS];
	/* or NULL: which shapes exist */
	bool (*has)(enum precision precision, int64_t m, int64_t n);
	bool (*fits)(const struct bench *);
	int form; /* of calls that one function makes in several forms */
};

/* Records kernels in the bench's precision, each as <kind>_<letter of the precision>. */
void block_kernel_measure(struct bench *, const struct kernel *kernels, size_t count);

/* The kernels by kind: panels of QR and LU; diagonal blocks and triangles, products of small rank;
 * row swaps and the columns right of a panel; sweeps over added rows; Gram-Schmidt's panel and
 * blocked update; split operands, in single precision. */
void block_kernel_panels(struct bench *);
void block_kernel_blocks(struct bench *);
void block_kernel_swaps(struct bench *);
void block_kernel_sweeps(struct bench *);
void block_kernel_gram(struct bench *);
void block_kernel_splits(struct bench *);

/* Panels beside products. */
void block_kernel_panels_beside(struct bench *);

void block_kernel_open(struct bench *, struct probe_run *run);

static inline struct matrix block_kernel_matrix(
        const struct bench *b, void *data, int64_t m, int64_t n)
{
	return (struct matrix){data, 0, m, n, m, b->precision};
}

/* Off the unit diagonal of triangles, and in small panels. */
static const double block_kernel_little = 1e-4;

/* The triangle of order n. */
static inline struct matrix block_kernel_triangle(const struct bench *b, int64_t n)
{
	return block_kernel_matrix(b, b->triangle, n, n);
}

/* Bytes of the pool that no operand of this point has yet, cleared; the same as a matrix. */
void *block_kernel_take(struct bench *, int64_t bytes);
struct matrix block_kernel_place(struct bench *, int64_t m, int64_t n);

/* Random numbers between -scale and scale, for `count` numbers or a contiguous matrix. */
void block_kernel_random(const struct bench *, void *data, int64_t count, double scale);
void block_kernel_fill_random(const struct bench *, struct matrix a, double scale);

/* Data to factorize: a panel of random numbers; nearly the identity, m x n. */
void block_kernel_fill_panel(struct bench *);
void block_kernel_fill_identity(struct bench *);

/* One pivot (1-based) of `row`, at it or below, of `rows` rows, as partial pivoting finds it. */
int block_kernel_pivot(uint64_t *state, int64_t row, int64_t rows);

/* Cholesky's diagonal block with rows below, on one of `form` multiprocessors; whether no block had
 * a bad pivot or waited too long. */
int block_kernel_potrf(struct bench *);
bool block_kernel_info_is_clear(const struct bench *);

/* Whether the kernel has the bench's shape. */
bool block_kernel_fits(const struct bench *, const struct kernel *);

/* For ranges of flags. */
int64_t block_kernel_one_more(const struct bench *, int64_t value);

/* Products in a stream of low priority beside panels in a stream of high priority, as in a
 * factorization with look-ahead: our own products in single precision, with a block a tile, the
 * library's in double precision. Between panels the stream pauses, and the products take all places
 * again. */
struct beside {
	struct bench *bench;
	const struct kernel *kernel;
	cudaStream_t low, high;
	cudaEvent_t going, over;         /* the first product, the last one */
	struct gpu_span *with, *without; /* pinned: of pauses between calls, of those alone */
	void *a, *b, *c;
	cublasHandle_t blas;    /* that calls go to `low` with */
	double product_seconds; /* of one alone */
	int calls, products;    /* in a sample */
};

/* In the bench's precision. */
void beside_open(struct beside *beside, struct bench *bench);
void beside_close(struct beside *beside);

/* Samples the kernel's calls, put into beside->high while products run, and records the seconds
 * that each adds to the pauses. The kernel's data are new before every sample. */
void beside_measure(struct beside *beside, const struct kernel *kernel, const struct arg *args,
        size_t arg_count);
