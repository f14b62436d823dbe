/* SPDX-License-Identifier: MIT */
/* cuSOLVER's factorizations as a reference to measure against, never an ingredient: only `measure`
 * and the tests link it. Without the CUDA Toolkit vendor_new returns NULL with a fault. */
#pragma once

#include "lib/base/msg.h"
#include "timing.h"
#include "whole.h"

struct vendor;

/* Ways to call cuSOLVER. */
enum vendor_algorithm {
	VENDOR_PLAIN, /* the calls by type, with 32-bit sizes */
	VENDOR_ALG_0, /* the generic calls, default algorithm */
	VENDOR_ALG_1, /* the generic calls, getrf's other algorithm */
	VENDOR_ALGORITHMS
};
static const char *const vendor_algorithm_name[VENDOR_ALGORITHMS] = {"plain", "0", "1"};

/* The variant of rows by emulated products. */
#define VENDOR_EMULATED "cusolver_emulated"

/* Context of a candidate; it outlives the timing. */
struct vendor_entry {
	struct vendor *vendor;
	enum operation operation;
	enum uplo uplo;
	enum vendor_algorithm algorithm;
	bool emulated; /* see vendor_emulates */
};

#ifdef FATHOM_CUDA
/* NULL with a fault when the library refuses. Works on the current device, with a stream of its
 * own. */
struct vendor *vendor_new(struct fault *fault);
void vendor_free(struct vendor *vendor);

/* Whether cuSOLVER's products can be emulated here: by BF16 numbers in single, by fixed-point ones
 * in double precision. Answers "no" where the results have the same bits as the default mode's; a
 * fault says when that could not be seen. */
bool vendor_emulates(struct vendor *vendor, enum precision precision, struct fault *fault);

/* Factorizes the problem's matrix, in device memory; pivots as in LAPACK, then info. */
struct candidate candidate_vendor(struct vendor_entry *entry);

/* Least squares: geqrf, ormqr and trsm in place of a (m x n, m >= n), tau and b, whose first n rows
 * become the solution; to completion. vendor_solve_prepare takes the memory first. info: in device
 * memory. */
bool vendor_solve_prepare(
        struct vendor *vendor, struct matrix a, struct matrix b, struct fault *fault);
bool vendor_solve(struct vendor *vendor, struct matrix a, struct matrix tau, struct matrix b,
        int *info, struct fault *fault);

/* The whole Q: geqrf of a (m x n, m >= n) in place with tau (n x 1), its vectors copied into q
 * (m x m), and orgqr there; to completion. vendor_whole_q_prepare takes the memory first. */
bool vendor_whole_q_prepare(struct vendor *vendor, struct matrix a, struct matrix tau,
        struct matrix q, struct fault *fault);
bool vendor_whole_q(struct vendor *vendor, struct matrix a, struct matrix tau, struct matrix q,
        struct fault *fault);
#else
static inline struct vendor *vendor_new(struct fault *fault)
{
	fault_set(fault, "built without the CUDA Toolkit: no cuSOLVER");
	return NULL;
}

static inline void vendor_free(struct vendor *vendor)
{
	(void)vendor;
}

static inline bool vendor_emulates(
        struct vendor *vendor, enum precision precision, struct fault *fault)
{
	(void)vendor, (void)precision, (void)fault;
	return false;
}

static inline struct candidate candidate_vendor(struct vendor_entry *entry)
{
	return (struct candidate){.context = entry};
}

static inline bool vendor_solve_prepare(
        struct vendor *vendor, struct matrix a, struct matrix b, struct fault *fault)
{
	(void)vendor, (void)a, (void)b;
	return fault_set(fault, "built without the CUDA Toolkit: no cuSOLVER");
}

static inline bool vendor_solve(struct vendor *vendor, struct matrix a, struct matrix tau,
        struct matrix b, int *info, struct fault *fault)
{
	(void)tau, (void)info;
	return vendor_solve_prepare(vendor, a, b, fault);
}

static inline bool vendor_whole_q_prepare(struct vendor *vendor, struct matrix a, struct matrix tau,
        struct matrix q, struct fault *fault)
{
	(void)tau;
	return vendor_solve_prepare(vendor, a, q, fault);
}

static inline bool vendor_whole_q(struct vendor *vendor, struct matrix a, struct matrix tau,
        struct matrix q, struct fault *fault)
{
	return vendor_whole_q_prepare(vendor, a, tau, q, fault);
}
#endif
