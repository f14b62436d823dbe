/* SPDX-License-Identifier: MIT */
/* Shared by the files of the launch probe: device objects, operations and samples. */
#pragma once

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
	SIZES = 32, /* of products: multiples of N */
	LENGTHS = 5,
	LONGEST = 131072 /* elements of the longest search */
};

struct subject;
struct launch {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t stream, other;
	cudaEvent_t event[2], mark;
	unsigned *words;               /* device: WORDS words, WORDS_APART from each other */
	unsigned *word;                /* the word that counts the kernels run */
	unsigned launched;             /* as the host counts them */
	const struct subject *subject; /* the current one */
	int stream_wait;               /* which stream the next hop starts from */
	unsigned *nodes;               /* device: nodes of access_launch */
	unsigned *copied;              /* pinned: destination of the small copy */
	volatile unsigned *flag;       /* pinned, mapped */
	PFN_cuLaunchKernel_v4000 driver_launch;
	CUfunction driver_kernel;
	/* Graphs of 1, SHORT and LONG kernels in a row. */
	cudaGraphExec_t graph, chain_short, chain_long;
	cublasHandle_t blas;
	void *blas_workspace;
	float *x, *y, *z, *matrix; /* device: vectors of N, z of LONGEST, SIZES N x SIZES N */
	float *strip, *product;    /* device: SIZES N x N, N x SIZES N */
	double *doubles;           /* device: zeros, as many as of matrix, strip and product */
	int products;              /* so far */
	bool copies;               /* whether running_sync copies */
	int largest[LENGTHS];      /* the right answers of cublasIsamax on z */
};

enum way { HOST_SHARE, DEVICE_SHARE, CHAIN, ROUND_TRIP, RUNNING, COPY };

/* What a series needs of the device. */
enum need { NOTHING, COOPERATIVE, OVERLAP };

/* One series: operation puts one call, of `kernels` counted kernels, into launch->stream, and for a
 * round trip waits for its end. A point of the sweep has one argument, the first. */
enum { ARGUMENTS = 5 };
struct subject {
	const char *series;
	enum way way;
	void (*operation)(struct launch *launch);
	int kernels;
	enum need need;
	const char *argument_name;
	int argument[ARGUMENTS]; /* 0 beyond the last */
};

/* ---- operations (launch_operations.c) ---- */

/* All series except the grid sizes. */
extern const struct subject launch_subject[];
extern const size_t launch_subject_count;

/* One null kernel of one block, or of as many blocks as the subject's argument says. */
void launch_one(struct launch *launch);
void launch_grid(struct launch *launch);

/* cuBLAS and the data of its calls. */
void launch_blas_open(struct launch *launch, uint64_t seed);
void launch_blas_close(struct launch *launch);

/* ---- samples (launch_samples.c) ---- */

void launch_queue(struct launch *launch, int count);
void launch_finish(const struct launch *launch);

/* A sample_function; context is a struct launch. */
bool launch_sample(void *context, struct sample *sample);

/* Chooses the word with the quickest null kernels, and clears it. */
void launch_choose_word(struct launch *launch);
