/* SPDX-License-Identifier: MIT */
/* Sizes and rates that were measured: which kernel is faster from which size on, and how wide the
 * blocks of a factorization are. One file here holds those of one architecture (hopper.c). For
 * other GPUs, and for another number of multiprocessors, a rule derives them (tuning.c). What a
 * compiled kernel is, such as the shape of its tiles, stands beside the kernel; what a device has
 * comes from the device. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

struct gpu;

/* What plans and the rule need to know of a GPU. */
struct tuning_device {
	int capability;   /* compute capability, 10 x major + minor */
	int code;         /* that the loaded code was compiled for, at most `capability` */
	int sm_count;     /* multiprocessors in use */
	int max_cluster;  /* most blocks of a cluster; 1: no clusters */
	int64_t l2_bytes; /* 0: unknown */
};

/* Kernels of factor/kernels/gemm/gemm.h, and the most blocks of one on a multiprocessor. */
enum { GEMM_SHAPES = 7, GEMM_RESIDENT = 4 };

struct gemm_tuning {
	/* share of the multiprocessor's multiply-adds that 1, 2 ... resident blocks reach */
	double rate[GEMM_SHAPES][GEMM_RESIDENT];
	double multiply_adds[2]; /* of a multiprocessor in a cycle: fp32, fp64 */
	/* cycles of a multiprocessor */
	struct {
		double start;   /* first operands of a kernel */
		double unit;    /* start and end of a tile */
		double element; /* store of an element of a tile */
		double end;     /* and in a triangle's last tiles */
		double copy;    /* an element that is copied separately */
		double reduce;  /* the second kernel of a product with splits, */
		double partial; /* and its read of an element of a partial C */
	} cycles;
	/* our kernels are faster than cuBLAS up to this k, from this many elements of C on; a
	 * larger k for a large C */
	int64_t ahead_depth, ahead_elements, ahead_depth_large, ahead_elements_large;
	/* A^T B: least rows of A and B, in multiples of C's longer side and at least; most columns
	 * of C's shorter side */
	int64_t ahead_tall, ahead_tall_rows, ahead_tall_side;
	/* products of tall matrices in double precision (double_tall.h): least rows; most columns;
	 * least columns of V, and of C in updates */
	int64_t ahead_double_rows, ahead_double_columns, ahead_double_least;
	/* triangles in double precision: below so many columns times k, or so many columns */
	int64_t ahead_triangle, ahead_order;
	/* the kernel chosen in double precision (blas_double.h): least side and depth; for A B
	 * least depth and elements of C */
	int64_t chosen_side, chosen_depth, chosen_depth_plain, chosen_elements_plain;
	/* triangles in double precision by halves: above this order, from this depth on */
	int64_t halved_order, halved_depth;
	/* a last odd line of C is computed separately when the product has at least edge_least
	 * multiply-adds, plus edge_line times those of the line */
	int64_t edge_least, edge_line;
	int64_t transposed_from; /* multiply-adds of A^T A from which A is transposed first */
};

/* block_rank (factor/kernels/blocks): most tiles for which it is faster, fp32 and fp64, and in fp64
 * for an inner dimension that it does not hold at once. */
struct rank_tuning {
	int64_t tiles[2], tiles_deep;
};

/* The estimate of y = A x (factor/kernels/gemv/gemv_plan.c). */
struct gemv_tuning {
	double batch_us;      /* the loads of a thread in flight arrive */
	double bytes_per_us;  /* of a multiprocessor */
	double short_segment; /* bytes of bandwidth lost per segment */
	double wave_us;       /* per wave of blocks but the last */
	double combine_us[2]; /* sums through memory: fixed part, part per split */
	/* y = A^T x, bytes of A: large; large where the last wave is short; large for long
	 * columns */
	int64_t large_bytes, large_uneven_bytes, large_long_bytes;
};

/* Width of a block: the narrowest, doubled for each of these lengths that the side of a square with
 * as many elements as the rest of the matrix exceeds. 0 ends the list. */
enum { TUNING_DOUBLINGS = 4 };
struct width_rule {
	int64_t narrowest, from[TUNING_DOUBLINGS];
};
struct width_rules {
	struct width_rule getrf, geqrf, potrf;
};

/* The default plan (factor/algorithms/plan_default.c). */
struct plan_tuning {
	struct width_rules in_single, in_double, by_splits, on_host;
	int64_t beside;        /* columns: look-ahead 2 in LU; half: look-ahead in Cholesky */
	int64_t tall;          /* rows over columns: no look-ahead */
	int64_t few_panels;    /* columns: no look-ahead in Cholesky by 3xFP16 */
	int64_t short_corners; /* rows: narrow leaves in fp64 Cholesky */
	int64_t waiting;       /* rows: wide leaves in LU by 3xTF32 */
	int64_t qr_leaf_bytes; /* half of the registers of the GPU */
};

/* Cholesky over several GPUs (factor/distributed/lower_update.h): a rank updates so many blocks one
 * by one, more in halves. */
struct several_tuning {
	int64_t in_single, in_double, by_splits;
};

/* Layout in memory (docs/experiments/lu-layout.md). */
struct layout_tuning {
	/* LU in single precision works on the transpose of a matrix of this many columns or more,
	 * and returns to column-major when this many are left */
	int64_t row_major, column_major;
	/* QR, Cholesky and column-major LU copy an unaligned matrix of this many columns or more to
	 * aligned memory (aligned.h) */
	int64_t aligned_from;
	int64_t deferred_from;   /* columns: LU defers the row swaps left of a panel (getrf.c) */
	int64_t lu_columns_rows; /* most rows for which LU uses lu_columns */
};

/* Which products use split operands (factor/executors/split.h). */
struct split_limits {
	int64_t side, depth;  /* least rows and columns of C, least inner dimension */
	int64_t alignment;    /* of C in bytes */
	int64_t use;          /* least rows or columns of C that read a new stack */
	int64_t together;     /* narrower squares on the diagonal are products of one call */
	int64_t tall, across; /* V^T C without stacks: most columns of V, least of C */
	int64_t apart;        /* least order of matrices whose diagonal Cholesky keeps apart: up to
	                         there its blocks in fp32 are no wider */
	double flops, symmetric, half_symmetric; /* least operations: of products, of symmetric
	                                            updates by 3xTF32 and by 3xFP16 */
	bool half; /* 3xFP16, whose updates are one kernel each, for any alignment of C */
};

struct tuning {
	struct tuning_device device;
	struct gemm_tuning gemm;
	struct rank_tuning rank;
	struct gemv_tuning gemv;
	struct plan_tuning plan;
	struct several_tuning several;
	struct layout_tuning layout;
	struct split_limits split;
};

/* Measured on compute capability 9.0 with 132 multiprocessors. */
extern const struct tuning tuning_hopper;

/* The measured table for the device that it was measured on, else one by the rule. */
struct tuning tuning_for(struct tuning_device device);

struct tuning_device tuning_device_of(const struct gpu *gpu);

/* A device of which no more is known, with code for all it can do. */
struct tuning_device tuning_device_like(int capability, int sm_count, int64_t l2_bytes);

/* For a device without a measured table: one sentence that says so. False for others. */
enum { TUNING_NOTE = 160 };
bool tuning_note(const struct tuning_device *device, char note[TUNING_NOTE]);

C_END
