/* SPDX-License-Identifier: MIT */
/* The work of the passes of gram_threads.h. */
#pragma once

#include "factor/kernels/host_work.h"

/* Passes of `threads` over `columns` in all, each of so many bytes. */
struct gram_threads_call {
	double threads, columns, bytes;
	enum precision precision;
};

enum gram_threads_pass { GRAM_THREADS_DOTS, GRAM_THREADS_UPDATE, GRAM_THREADS_FUSED };

void gram_threads_pass_work(
        const struct gram_threads_call *, enum gram_threads_pass, struct host_work *work);

/* Projects k columns out of the others; two parts. */
enum { GRAM_APPLY_PARTS = 2 };
void gram_threads_apply_work(const struct gram_threads_call *, double k, struct host_work *work);

/* A column that another core has changed. */
void gram_threads_handed_work(double bytes, struct host_work *work);
