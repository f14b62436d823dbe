/* SPDX-License-Identifier: MIT */
/* Whether a GPU can be used, decided from plain facts: one sentence says what is wrong and what to
 * do. Needs no GPU and no CUDA. */
#pragma once

#include "lib/base/base.h"

/* Errors of CUDA that have a sentence of their own; gpu.c checks that the numbers are
 * cudaError_t's.
 */
enum gpu_error {
	GPU_ERROR_MEMORY = 2,
	GPU_ERROR_START = 3,
	GPU_ERROR_STUB = 34,
	GPU_ERROR_OLD_DRIVER = 35,
	GPU_ERROR_UNAVAILABLE = 46,
	GPU_ERROR_NO_DEVICE = 100,
	GPU_ERROR_NO_LICENCE = 102,
	GPU_ERROR_NO_CODE = 209,
	GPU_ERROR_ECC = 214,
	GPU_ERROR_FABRIC = 802,
	GPU_ERROR_MISMATCH = 803,
	GPU_ERROR_COMPATIBILITY = 804,
	GPU_ERROR_MPS_CONNECTION = 805,
	GPU_ERROR_MPS_NOT_READY = 807,
	GPU_ERROR_MPS_CLIENTS = 808,
	GPU_ERROR_MPS_CONNECTIONS = 809
};

struct gpu_opening {
	int error; /* cudaError_t of the last step; 0: none */
	const char *error_text;
	int count;           /* of visible devices */
	int driver, runtime; /* 13000 = 13.0; driver 0: none is installed */
	const char *visible; /* CUDA_VISIBLE_DEVICES; NULL: not set */
	const char *slice;   /* the slice of a GPU (MIG) that was asked for; NULL: none */

	/* Of the device, once one is chosen. */
	int device; /* -1: none yet */
	const char *name;
	int major, minor; /* compute capability */
	int code;         /* of the code loaded for it (current.h); -1: not known yet, 0: none */
};

/* False with a fault. A fault without a chosen device begins with "no GPU: ". */
bool gpu_usable(const struct gpu_opening *opening, struct fault *fault);
