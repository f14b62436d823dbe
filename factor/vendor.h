/* SPDX-License-Identifier: MIT */
/* cuSOLVER's getrf as a reference to measure against, never an ingredient: only `measure` and the
 * tests link it. Built with the CUDA Toolkit only; elsewhere vendor_new says so. */
#ifndef FATHOM_VENDOR_H
#define FATHOM_VENDOR_H

#include "../lib/msg.h"
#include "executor.h"

struct vendor;

#ifdef FATHOM_CUDA
/* NULL with a fault when the library refuses. Works on the current device, with a stream of its
 * own. */
struct vendor *vendor_new(struct fault *fault);
void vendor_free(struct vendor *vendor);

/* Workspace for a panel of this shape, allocated ahead of vendor_getrf so that it is not timed. */
bool vendor_prepare(struct vendor *vendor, struct matrix a, struct fault *fault);

/* Factorizes a (device memory) in place; pivots as in LAPACK, then info. Returns when it is done.
 */
bool vendor_getrf(
        struct vendor *vendor, struct matrix a, struct pivots pivots, struct fault *fault);
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

static inline bool vendor_prepare(struct vendor *vendor, struct matrix a, struct fault *fault)
{
	(void)vendor;
	(void)a;
	return fault_set(fault, "built without the CUDA Toolkit: no cuSOLVER");
}

static inline bool vendor_getrf(
        struct vendor *vendor, struct matrix a, struct pivots pivots, struct fault *fault)
{
	(void)pivots;
	return vendor_prepare(vendor, a, fault);
}
#endif

#endif
