/* SPDX-License-Identifier: MIT */
/* Of the stand-in for cuSOLVER (client_cusolver.c), beside cuSOLVER's own calls. */
#pragma once

#include "factor/library/cusolver/cusolver_calls.h"

enum { PASSED = 4711 }; /* devInfo of calls that reached cuSOLVER */

#pragma GCC visibility push(default)
cusolverStatus_t cusolverDnSpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n,
        float **a, int lda, int *info, int count);
double cusolverDnMixed(int a, double b, long c, float d, int e, double f, long g, double h, int i,
        double j, int k, double l, long m, double n, double o, double p, double q);
#pragma GCC visibility pop
