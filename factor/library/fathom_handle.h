/* SPDX-License-Identifier: MIT */
/* Inside of the library: the handle, and what every call of fathom.h does before and after its
 * work. */
#ifndef FATHOM_FATHOM_HANDLE_H
#define FATHOM_FATHOM_HANDLE_H

#include "fathom.h"

#include "factor/executors/cuda/executor_cuda.h"
#include "fathom_calls.h"
#include "fathom_choices.h"
#include "factor/algorithms/plan_default.h"

struct fathom {
	struct cuda *cuda;
	struct executor *e; /* the same */
	bool host_panels;
	int caller_device;       /* during a call: what is current outside of it */
	struct choices *choices; /* NULL until a profile is read */
};

/* False with the fault filled, as fault_set. */
bool call_refuse(struct fathom *, const char *format, ...) PRINTF_LIKE(2, 3);

/* Whether a matrix's sizes are possible; whether there is memory for what has elements; whether the
 * workspace is as large as what the call needs (-1: refused already). What is wrong goes into the
 * fault, with the matrix's name. */
bool call_shape(struct fathom *, const char *name, struct matrix a);
bool call_given(struct fathom *, const char *name, const void *data, int64_t count);
bool call_matrix_given(struct fathom *, const char *name, struct matrix a);
bool call_work(struct fathom *, const void *work, int64_t bytes, int64_t needed);

/* LAPACK's letters, in either case. */
bool call_trans(struct fathom *, char letter, enum trans *trans);
bool call_uplo(struct fathom *, char letter, enum uplo *uplo);
bool call_side(struct fathom *, char letter, enum side *side);

/* A matrix of the caller's, and count elements next to each other. */
struct matrix call_matrix(
        const void *data, int64_t m, int64_t n, int64_t ld, enum precision precision);
struct matrix call_column(const void *data, int64_t count, enum precision precision);

/* The default plan of the handle for a matrix. */
void call_plan(struct fathom *, enum operation operation, struct matrix a, struct default_plan *);

/* The handle's device is current in between, for what asks CUDA about it. */
bool call_enter(struct fathom *);
void call_leave(struct fathom *);

/* Around the work of a call: the handle's device is current in between and QUEUE_MAIN the current
 * queue; on a stream under capture the work becomes part of the graph. call_end gives the status.
 * After a call_begin that returns false nothing is left to do. */
bool call_begin(struct fathom *, enum fathom_status *status);
enum fathom_status call_end(struct fathom *, bool good);

#endif
