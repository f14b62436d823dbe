/* SPDX-License-Identifier: MIT */
/* libfathom.so, loaded at the first call that needs it: a process that uses no cuSOLVER loads
 * nothing, and the client's own cuBLAS is loaded first. */
#pragma once

#include "factor/library/fathom.h"

#define LIBFATHOM_CALLS(X)                                                                         \
	X(create)                                                                                  \
	X(destroy)                                                                                 \
	X(error)                                                                                   \
	X(finish)                                                                                  \
	X(set_stream)                                                                              \
	X(sgetrf_work)                                                                             \
	X(dgetrf_work)                                                                             \
	X(sgetrf)                                                                                  \
	X(dgetrf)                                                                                  \
	X(sgetrs)                                                                                  \
	X(dgetrs)                                                                                  \
	X(sgeqrf_work)                                                                             \
	X(dgeqrf_work)                                                                             \
	X(sgeqrf)                                                                                  \
	X(dgeqrf)                                                                                  \
	X(sorgqr_work)                                                                             \
	X(dorgqr_work)                                                                             \
	X(sorgqr)                                                                                  \
	X(dorgqr)                                                                                  \
	X(sormqr_work)                                                                             \
	X(dormqr_work)                                                                             \
	X(sormqr)                                                                                  \
	X(dormqr)                                                                                  \
	X(spotrf_work)                                                                             \
	X(dpotrf_work)                                                                             \
	X(spotrf)                                                                                  \
	X(dpotrf)                                                                                  \
	X(spotrs)                                                                                  \
	X(dpotrs)

#define LIBFATHOM_MEMBER(name) __typeof__(fathom_##name) *name;
struct libfathom {
	LIBFATHOM_CALLS(LIBFATHOM_MEMBER)
};
#undef LIBFATHOM_MEMBER

/* Its functions; NULL where it cannot be loaded: libfathom_error() says why. */
const struct libfathom *libfathom(void);
const char *libfathom_error(void);
