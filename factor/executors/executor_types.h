/* SPDX-License-Identifier: MIT */
/* The words of the executor interface: phases, queues, and how products are computed. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/matrix.h"
#include "factor/kernels/gemm/tf32.h"

/* Phases of an algorithm. Every operation belongs to one; phases are predicted and timed. */
enum phase {
	PHASE_SEARCH,   /* find the pivot; the norm of a column */
	PHASE_FETCH,    /* pivots and single values between executor memory and the host */
	PHASE_SWAP,     /* exchange two rows */
	PHASE_SCALE,    /* divide the column by the pivot */
	PHASE_UPDATE,   /* rank-1 update */
	PHASE_TRANSFER, /* panel to the host and back */
	PHASE_PANEL,    /* whole panel in one call (host LAPACK, resident kernel) */
	PHASE_SOLVE,    /* triangular solves and inverses of diagonal blocks */
	PHASE_LAYOUT,   /* transposes, copies and fills inside executor memory */
	PHASE_COUNT
};
extern const char *const phase_name[PHASE_COUNT];

/* Operations go into queues. A queue is in order; different queues overlap where the machine can.
 * An event is a number below EXECUTOR_EVENTS; the algorithm gives it a meaning. */
enum queue {
	QUEUE_MAIN,  /* updates */
	QUEUE_PANEL, /* panels, ahead of the updates; of higher priority */
	QUEUE_OUT,   /* copies to the host */
	QUEUE_IN,    /* copies to the device */
	QUEUE_COUNT
};
enum { EXECUTOR_EVENTS = 64, EXECUTOR_STAGES = 4 };

/* How products in single precision are computed: by fused multiply-adds of fp32, or the large ones
 * with operands split in two, by 3xTF32 (factor/kernels/gemm/tf32.h) or 3xFP16
 * (factor/kernels/gemm/half_pair.h). */
enum math { MATH_FP32, MATH_3XTF32, MATH_3XFP16, MATHS };
extern const char *const math_name[MATHS], *const math_title[MATHS];

/* False when no math has this name. */
bool math_find(const char *name, enum math *math);

/* Products of one shape; steps between their operands in elements. */
struct products {
	int64_t count, a, b, c;
};

/* Workspace of products with split operands, and the operand that several products share
 * (split.h). */
struct split_room {
	void *data, *kept_data;
	int64_t bytes, kept_bytes; /* 0: no such products */
	struct matrix kept;
	enum split_form stack; /* of op(kept) */
	enum trans trans;
	bool made;           /* kept's stack exists */
	struct matrix ready; /* the next product's other operand, when its stack exists; no columns:
	                        none does */
};
