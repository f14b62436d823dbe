/* SPDX-License-Identifier: MIT */
/* The work of OpenBLAS's and LAPACK's calls on the host, by their published algorithms. Each
 * function returns the number of parts that it fills in. threads: of the call. */
#pragma once

#include "factor/kernels/host_work.h"

enum { HOST_WORKS = 8 };

struct host_call {
	enum precision precision;
	double m, n, threads;
};

/* Of a column of an m x n panel: iamax, scal; of two rows: swap. Of the panel: ger. */
size_t host_library_iamax(const struct host_call *, struct host_work *work);
size_t host_library_scal(const struct host_call *, struct host_work *work);
size_t host_library_swap(const struct host_call *, struct host_work *work);
size_t host_library_ger(const struct host_call *, struct host_work *work);

/* An n x n x n product. */
size_t host_library_gemm(const struct host_call *, struct host_work *work);

/* Panels; potrf: n x n; potrf_rows: the rows below that block of an m x n panel. */
size_t host_library_getrf(const struct host_call *, struct host_work *work);
size_t host_library_geqrf(const struct host_call *, struct host_work *work);
size_t host_library_potrf(const struct host_call *, struct host_work *work);
size_t host_library_potrf_rows(const struct host_call *, struct host_work *work);
