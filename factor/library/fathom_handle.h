/* SPDX-License-Identifier: MIT */
/* Inside of the library: the handle, and the common parts of all calls. */
#pragma once

#include "fathom.h"

#include "factor/executors/cuda/executor_cuda.h"
#include "fathom_calls.h"
#include "fathom_choices.h"
#include "lib/device/driver.h"
#include "factor/algorithms/plan_default.h"

/* A thread's state that a call changes and puts back. */
struct caller {
	CUcontext context;
	enum cudaStreamCaptureMode mode;
};

struct fathom {
	struct cuda *cuda;
	struct executor *e; /* the same */
	bool host_panels;
	CUcontext context;       /* in which all is made, */
	uint64_t context_number; /* and its number: another one when it is gone */
	struct caller caller;    /* during a call */
	struct choices *choices; /* NULL until a profile is read */
};

/* False with the fault filled, as fault_set. */
bool call_refuse(struct fathom *, const char *format, ...) PRINTF_LIKE(2, 3);

/* Checks. call_shape: a matrix's sizes are possible; _given: there is memory for its elements;
 * call_work: the workspace has the needed bytes (-1: refused already). The fault names the
 * argument. */
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

/* The default plan for a matrix. */
void call_plan(struct fathom *, enum operation operation, struct matrix a, struct default_plan *);

/* Make the handle's context current, and the caller's again. Captures of other streams go on. */
bool call_enter(struct fathom *);
void call_leave(struct fathom *);

/* Around the work of a call. call_begin makes the handle's device and QUEUE_MAIN current; on a
 * stream under capture the work becomes part of the graph. False: return *status, nothing is left
 * to do. call_end returns the status. */
bool call_begin(struct fathom *, enum fathom_status *status);
enum fathom_status call_end(struct fathom *, bool good);
