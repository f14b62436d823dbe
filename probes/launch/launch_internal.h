/* SPDX-License-Identifier: MIT */
/* What the files of the launch probe share: its device objects, operations and samples. */
#ifndef FATHOM_LAUNCH_INTERNAL_H
#define FATHOM_LAUNCH_INTERNAL_H

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/probe/probe.h"
#include "launch.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

enum {
	SHORT = 16, /* the two queue lengths of a device share */
	LONG = 144,
	ACCESS_BLOCKS = 64,
	WORDS = 16,
	WORDS_APART = 1024 + 32,
	N = 32,     /* length of the cuBLAS vectors */
	SIZES = 32, /* of products: so many multiples of N */
	LENGTHS = 5,
	LONGEST = 131072 /* of those searched */
};

struct launch {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream, other;
	cudaEvent_t event[2], mark;
	unsigned *words;         /* device: WORDS of them, WORDS_APART from each other ... */
	unsigned *word;          /* ... and the one that counts kernels run so far */
	unsigned launched;       /* the same as the host counts them */
	int argument;            /* of the subject at hand */
	int stream_wait;                 /* which stream the next hop starts from */
	unsigned *nodes;         /* device: what access_launch follows and writes */
	unsigned *copied;        /* pinned: destination of the small copy */
	volatile unsigned *flag; /* pinned, mapped */
	PFN_cuLaunchKernel_v4000 driver_launch;
	CUfunction driver_kernel;
	/* Graphs of 1, SHORT and LONG kernels in a row. */
	cudaGraphExec_t graph, chain_short, chain_long;
	cublasHandle_t blas;
	void *blas_workspace;
	float *x, *y, *z, *matrix; /* device: vectors of N, z of LONGEST, SIZES N x SIZES N */
	float *strip, *product;    /* device: SIZES N x N, N x SIZES N */
	int products;              /* so far */
	int largest[LENGTHS];      /* what cublasIsamax must say of z's first ones */
};

enum way { HOST_SHARE, DEVICE_SHARE, CHAIN, ROUND_TRIP, RUNNING };

/* What a series needs of the device. */
enum need { NOTHING, COOPERATIVE, OVERLAP };

/* One series: operation puts one into launch->stream, and for a round trip waits for its end. */
struct subject {
	const char *series;
	enum way way;
	void (*operation)(struct launch *launch);
	enum need need;
	const char *argument_name;
	int argument;
};

/* ---- operations (launch_operations.c) ---- */

void null_launch(struct launch *launch);
void grid_launch(struct launch *launch);
void driver_launch(struct launch *launch);
void cooperative_launch(struct launch *launch);
void argument_launch(struct launch *launch);
void overlapped_launch(struct launch *launch);
void graph_launch(struct launch *launch);
void event_record(struct launch *launch);
void event_wait(struct launch *launch);
void event_mark(struct launch *launch);
void small_copy(struct launch *launch);
void null_sync(struct launch *launch);
void copy_sync(struct launch *launch);
void copy_behind(struct launch *launch);
void access_launch(struct launch *launch);
void turn_launch(struct launch *launch);
void graph_sync(struct launch *launch);
void event_sync(struct launch *launch);
void flag_sync(struct launch *launch);

/* ---- operations of cuBLAS (launch_blas.c) ---- */

void set_up_blas(struct launch *launch, uint64_t seed);
void clean_up_blas(struct launch *launch);
void scal(struct launch *launch);
void swap(struct launch *launch);
void ger(struct launch *launch);
void gemv(struct launch *launch);
void gemv_transposed(struct launch *launch);
void gemm(struct launch *launch);
void gemm_transposed(struct launch *launch);
void iamax_sync(struct launch *launch);
void nrm2_sync(struct launch *launch);

/* ---- samples (launch_samples.c) ---- */

struct work {
	struct launch *launch;
	const struct subject *subject;
};

void queue(const struct work *work, int count);
void finish(const struct launch *launch);

/* context is a struct work. */
bool take_sample(void *context, struct sample *sample);

/* Counts in the word that null kernels are quickest with, from nothing. */
void choose_word(struct launch *launch);

#endif
