/* SPDX-License-Identifier: MIT */
/* Shared by the tests of panels' kernels on the GPU: every form of LU and Householder panels, and
 * device memory in which a form factorizes a given panel. */
#pragma once

#include "panel_quality.h"
#include "tests/tap.h"

#include "factor/kernels/lu/panel_kernels.h"
#include "factor/kernels/qr/panel_geqrf.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>

enum panel_form {
	LU_SHARED, /* the panel in shared memory, which other tests compare with LAPACK */
	LU_CLUSTER,
	LU_GRID,
	QR_CLUSTER,
	QR_RESIDENT,
	QR_COLUMNS,
	QR_GRAM, /* where the Gram matrix does not do, column by column */
	QR_GRAM_CLUSTER,
	QR_CHOSEN, /* beside other kernels; in double precision also by the Gram matrix */
	PANEL_FORMS
};
static const char *const panel_form_name[PANEL_FORMS] = {"LU in shared memory", "LU, a cluster",
        "LU, many multiprocessors", "QR, a cluster", "QR, many multiprocessors", "QR, in memory",
        "QR, Gram matrix", "QR, Gram matrix, one kernel", "QR as chosen"};

enum { PANEL_BYTES = 72 << 20, PANEL_COLUMNS = 128 };

struct panel_device {
	struct gpu gpu;
	void *given, *a, *tau, *work, *exchange, *slots;
	int64_t work_bytes, exchange_bytes;
	int *pivots; /* and info */
	uint32_t tag;
	cudaStream_t stream;
};

/* Skips the program without a GPU. */
static inline struct panel_device panel_device_open(void)
{
	struct panel_device d = {.tag = 1};
	struct fault fault;

	if (!gpu_open(&d.gpu, "0", &fault))
		skip_all(fault.text);
	d.exchange_bytes =
	        exchange_bytes(d.gpu.sm_count, panel_resident_words(DOUBLE, PANEL_COLUMNS));
	GPU(cudaMalloc(&d.given, PANEL_BYTES));
	GPU(cudaMalloc(&d.a, PANEL_BYTES));
	GPU(cudaMalloc(&d.tau, PANEL_COLUMNS * sizeof(double)));
	GPU(cudaMalloc((void **)&d.pivots, (PANEL_COLUMNS + 1) * sizeof(int)));
	GPU(cudaMalloc(&d.exchange, (size_t)d.exchange_bytes));
	GPU(cudaMalloc(&d.slots, (size_t)panel_grid_work()));
	GPU(cudaMemset(d.slots, 0, (size_t)panel_grid_work()));
	GPU(cudaStreamCreateWithFlags(&d.stream, cudaStreamNonBlocking));
	return d;
}

static inline bool panel_fits(enum panel_form form, enum precision p, int64_t m, int64_t n)
{
	switch (form) {
	case LU_CLUSTER:
		return panel_cluster_fits(p, m, n);
	case LU_GRID:
		return panel_grid_fits(p, m, n);
	case QR_CLUSTER:
		return panel_geqrf_cluster_fits(p, m, n);
	case QR_RESIDENT:
		return panel_geqrf_resident_fits(p, m, n);
	case QR_GRAM:
		return panel_geqrf_gram_fits(p, m, n);
	case QR_GRAM_CLUSTER:
		return p == SINGLE && panel_geqrf_gram_cluster_fits(m, n);
	default:
		return true;
	}
}

static inline int64_t panel_work(enum panel_form form, enum precision p, int64_t m, int64_t n)
{
	switch (form) {
	case QR_CLUSTER:
		return panel_geqrf_cluster_work(p, m, n);
	case QR_RESIDENT:
		return panel_geqrf_resident_work(p, m, n);
	case QR_COLUMNS:
		return panel_geqrf_columns_work(p, m, n);
	case QR_GRAM:
		return panel_geqrf_gram_work(p) + panel_geqrf_columns_work(p, m, n);
	case QR_GRAM_CLUSTER:
		return panel_geqrf_gram_work(p);
	case QR_CHOSEN:
		return panel_geqrf_work(p, m, n, true);
	default:
		return sizeof(int); /* the error word alone */
	}
}

static inline int64_t panel_lda(const struct shape *s)
{
	return s->m + s->padding;
}

static inline size_t panel_bytes(enum precision p, const struct shape *s)
{
	return (size_t)(panel_lda(s) * s->n * precision_bytes(p));
}

/* The panel that forms factorize, and room for what the form needs beside it. */
static inline void panel_give(struct panel_device *d, enum panel_form form, enum precision p,
        const struct shape *s, const void *a0)
{
	const int64_t work = panel_work(form, p, s->m, s->n);

	GPU(cudaMemcpy(d->given, a0, panel_bytes(p, s), cudaMemcpyHostToDevice));
	GPU(cudaDeviceSynchronize()); /* a copy from pageable memory returns once it is staged */
	if (work <= d->work_bytes)
		return;
	GPU(cudaFree(d->work));
	GPU(cudaMalloc(&d->work, (size_t)work));
	d->work_bytes = work;
}

static inline void by_gram(struct panel_device *d, enum precision p, const struct shape *s)
{
	const int64_t m = s->m, n = s->n, lda = panel_lda(s);

	GPU(panel_geqrf_gram_begin(p, d->a, lda, m, n, false, d->work, d->work, d->stream));
	GPU(panel_geqrf_columns_unless(d->work, p, d->a, lda, m, n, d->tau,
	        (char *)d->work + panel_geqrf_gram_work(p), d->stream));
	GPU(panel_geqrf_gram_end(p, d->a, lda, m, n, d->tau, d->work, NULL, d->work, d->stream));
}

static inline void in_shared_memory(struct panel_device *d, enum precision p, const struct shape *s)
{
	struct panel_geometry geometry;

	if (!panel_geometry(s->m, s->n, precision_bytes(p), d->gpu.sm_count,
	            d->gpu.shared_per_block, &geometry)) {
		diag("the panel does not fit in shared memory");
		return;
	}
	GPU(cudaMemsetAsync(d->exchange, 0, (size_t)d->exchange_bytes, d->stream));
	GPU(panel_resident(p, d->a, panel_lda(s), s->m, s->n, &geometry,
	        exchange_layout(d->exchange, geometry.blocks, panel_resident_words(p, s->n), 1),
	        d->pivots, d->stream));
}

/* Factorizes a copy of the given panel with a workspace full of `fill`, whose first word is the
 * error word of most forms. Pivots and tau are poisoned. Returns without waiting. */
static inline void panel_start(struct panel_device *d, enum panel_form form, enum precision p,
        const struct shape *s, int fill)
{
	const int64_t m = s->m, n = s->n, lda = panel_lda(s);
	void *a = d->a, *tau = d->tau, *work = d->work, *stream = d->stream;

	GPU(cudaMemsetAsync(work, fill, (size_t)panel_work(form, p, m, n), d->stream));
	GPU(cudaMemsetAsync(tau, 0xff, PANEL_COLUMNS * sizeof(double), d->stream));
	GPU(cudaMemsetAsync(d->pivots, 0xff, (PANEL_COLUMNS + 1) * sizeof(int), d->stream));
	GPU(cudaMemcpyAsync(a, d->given, panel_bytes(p, s), cudaMemcpyDeviceToDevice, d->stream));
	GPU(cudaStreamSynchronize(d->stream));
	switch (form) {
	case LU_SHARED:
		in_shared_memory(d, p, s);
		break;
	case LU_CLUSTER:
		GPU(panel_cluster(p, a, lda, m, n, d->pivots, work, stream));
		break;
	case LU_GRID:
		GPU(panel_grid(p, a, lda, m, n, d->pivots, d->slots, d->tag, work, stream));
		d->tag += (uint32_t)n;
		break;
	case QR_CLUSTER:
		GPU(panel_geqrf_cluster_unless(NULL, p, a, lda, m, n, tau, NULL, work, stream));
		break;
	case QR_RESIDENT:
		GPU(panel_geqrf_resident_unless(NULL, p, a, lda, m, n, tau, false, work, stream));
		break;
	case QR_COLUMNS:
		GPU(panel_geqrf_columns_unless(NULL, p, a, lda, m, n, tau, work, stream));
		break;
	case QR_GRAM:
		by_gram(d, p, s);
		break;
	case QR_GRAM_CLUSTER:
		GPU(panel_geqrf_gram_cluster(a, lda, m, n, tau, NULL, work, stream));
		break;
	default:
		GPU(panel_geqrf(p, a, lda, m, n, tau, true, true, false, NULL, work, stream));
	}
}

/* The whole panel with its padding, after its end; of QR with tau, of LU with pivots and info in
 * the place of tau. */
static inline struct result panel_result(
        struct panel_device *d, enum panel_form form, enum precision p, const struct shape *s)
{
	const bool lu = form < QR_CLUSTER;
	struct result r = {.bytes = panel_bytes(p, s),
	        .tau_bytes = lu ? (size_t)(s->n + 1) * sizeof(int)
	                        : (size_t)(s->n * precision_bytes(p))};

	r.a = xmalloc(r.bytes);
	r.tau = xmalloc(r.tau_bytes);
	GPU(cudaStreamSynchronize(d->stream));
	GPU(cudaMemcpy(r.a, d->a, r.bytes, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(
	        r.tau, lu ? (void *)d->pivots : d->tau, r.tau_bytes, cudaMemcpyDeviceToHost));
	return r;
}

static inline struct result panel_factorize(struct panel_device *d, enum panel_form form,
        enum precision p, const struct shape *s, int fill)
{
	panel_start(d, form, p, s, fill);
	return panel_result(d, form, p, s);
}

static inline bool panel_same(const struct result *one, const struct result *two)
{
	return memcmp(one->a, two->a, one->bytes) == 0 &&
	       memcmp(one->tau, two->tau, one->tau_bytes) == 0;
}

static inline void result_free(struct result *r)
{
	free(r->a);
	free(r->tau);
}
