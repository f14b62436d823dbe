/* SPDX-License-Identifier: MIT */
/* Inside of the library: groups, and calls without a precision. fathom_mg.c needs no GPU; groups of
 * GPUs are made in fathom_mg_create.c. */
#pragma once

#include "fathom_mg.h"

#include "factor/distributed/distributed.h"

/* A rank of this process. */
struct mg_member {
	struct executor *e;
	struct comm *comm;
	struct grid grid, made; /* of comm's ranks; a new one, while the group takes it */
	bool has_made;
	int device;
	int64_t row_major;     /* of its executor, unless a call lacks memory for it */
	void *work, *integers; /* in executor memory, kept between calls */
	int64_t work_bytes, integers_bytes;
	int failure; /* of the last step of a call: 0: none; 1: the first one in time ... */
};

struct fathom_mg {
	int count; /* members */
	struct mg_member *members;
	struct mg_threads *threads; /* of the members; NULL before the first call */
	/* makes the member's GPU current in the member's thread; NULL: one member, in the caller's
	 * thread */
	bool (*enter)(struct mg_member *);
	struct fault fault;
	char note[160]; /* fathom_mg_note */
};

/* A group of members that are ready; it owns their executors and communicators. Takes the array,
 * which malloc made. NULL when memory is short. */
struct fathom_mg *mg_group(struct mg_member *members, int count, bool (*enter)(struct mg_member *));

/* The fault of calls without a group. */
struct fault *mg_create_fault(void);

/* A call on all members. */
struct mg_call {
	struct fathom_mg *group;
	enum precision precision;
	const struct fathom_mg_matrix *desc, *desc_right; /* NULL: none */
	void *const *a, *const *right, *const *tau;
	enum trans trans;
	int *ipiv, *info;
	void *host;
	int64_t ld_host;
	/* bytes of workspace, or -1; the work; NULL bytes: none */
	int64_t (*bytes)(struct mg_member *, const struct mg_call *);
	bool (*run)(struct mg_member *, const struct mg_call *);
	bool all_here;     /* every rank is in this process */
	int rows, columns; /* of a new grid */
};

/* The member's columns of A and of B (or C), its tau, and its pivots and info. */
struct distributed mg_matrix(const struct mg_member *, const struct mg_call *);
struct distributed mg_right(const struct mg_member *, const struct mg_call *);
struct matrix mg_tau(const struct mg_member *, const struct mg_call *);
struct pivots mg_pivots(const struct mg_member *, const struct mg_call *);

/* The step by all members at once. Others may fail because they waited for the member that failed
 * first: its fault is the group's. mg_end_threads: before the group is freed. */
typedef bool mg_step(struct mg_member *, const struct mg_call *);
bool mg_all_members(struct fathom_mg *, const struct mg_call *, mg_step *);
void mg_end_threads(struct fathom_mg *);

/* Checks the matrices, reserves workspace on all members, then works. */
enum fathom_status mg_run(struct mg_call *);

/* Checks of a matrix, and of the pointers to tau; false with the group's fault. */
bool mg_check_matrix(
        struct fathom_mg *, const char *name, const struct fathom_mg_matrix *, void *const *data);
bool mg_check_tau(struct fathom_mg *, const struct fathom_mg_matrix *, void *const *tau);

/* Checks of other arguments; false with the group's fault. mg_letter: a letter with one value. */
bool mg_given(struct fathom_mg *, const char *name, const void *data);
bool mg_letter(struct fathom_mg *, const char *name, char letter, char only);
bool mg_trans(struct fathom_mg *, char letter, enum trans *trans);
