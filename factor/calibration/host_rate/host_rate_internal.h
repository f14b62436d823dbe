/* SPDX-License-Identifier: MIT */
/* Shared by the files of the host_rate probe: its memory, and a call at one size. */
#pragma once

#include "lib/base/base.h"
#include "lib/probe/probe.h"
#include "lib/host/core_noise.h"
#include "lib/probe/repeats.h"

#include <lapacke.h>

enum {
	LEAST_SAMPLES = 3,
	LARGEST_N = 128,
	WIDE_N = 256, /* of a few panels */
	QR_BLOCK = 64 /* columns of LAPACK's work space, at most */
};

struct rates {
	struct probe_run *run;
	struct repeats repeats;
	char *a, *master;           /* panels and square matrices; master is copied to a */
	char *at;                   /* the panel's place in a */
	size_t bytes;               /* of each */
	bool filled, double_filled; /* the master; in which precision */
	void *tau, *work;
	lapack_int *ipiv;
	int threads;             /* of the BLAS */
	struct core_noise noise; /* the calling thread is on the quietest core */
	size_t turn;             /* calls of this point so far */
	uint64_t state;          /* of the random numbers */
	double end;              /* clock_now() when the time is spent */
	char dropped[256];
};

struct call;

/* m and n go from first to last by factors; a square has m = n, and a restored panel at most
 * LARGEST_PANEL bytes. When the time is short, whole panels and squares, which hybrid
 * factorizations wait for, lose their largest sizes. The others, whose points all take the same
 * time, lose sizes between their first and last rows. */
struct surface {
	const char *series[2];                             /* single, double */
	bool (*run)(const struct call *call, size_t turn); /* false: the library reports an error */
	bool restored; /* the panel is the master's before every sample ... */
	bool definite; /* ... with a diagonal that makes it positive definite */
	bool square, all_threads;
	bool columns;   /* a turn takes one of the n columns, or two rows ... */
	unsigned turns; /* ... or all: then this many belong together */
	int first_m, last_m, step_m, first_n, step_n;
};

/* Calls timed together on an m x n panel. */
struct call {
	struct rates *rates;
	const struct surface *surface;
	int m, n, ld;
	int threads; /* 0: as the host executor chooses */
	bool is_double;
	size_t cycle, turns; /* turns of a sample: several cycles */
	size_t samples;      /* so far */
};

/* ---- calls (host_rate_calls.c): run of a struct call ---- */

bool run_iamax(const struct call *c, size_t turn);
bool run_scal(const struct call *c, size_t turn);
bool run_swap(const struct call *c, size_t turn);
bool run_ger(const struct call *c, size_t turn);
bool run_getrf(const struct call *c, size_t turn);
bool run_geqrf(const struct call *c, size_t turn);
bool run_potrf(const struct call *c, size_t turn);
bool run_gemm(const struct call *c, size_t turn);

/* Threads that the BLAS gets. */
int panel_threads(const struct call *c);

/* ---- points (host_rate_point.c) ---- */

int leading(int m, bool is_double);
size_t panel_bytes(int m, int n, bool is_double);
void drop(struct rates *rates, const char *series, int m, int n);
struct call call_of(
        struct rates *rates, const struct surface *surface, int m, int n, bool is_double);
double measure_call(struct call call, const char *series);

/* Short BLAS calls, and long rows of dependent adds for the clock. */
void measure_short(struct rates *rates);
