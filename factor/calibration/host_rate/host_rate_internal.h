/* SPDX-License-Identifier: MIT */
/* Shared by the files of the host_rate probe: its memory, and a call at one size. */
#pragma once

#include "host_rate.h"

#include "lib/base/base.h"
#include "lib/probe/probe.h"
#include "lib/host/core_noise.h"
#include "lib/probe/repeats.h"

#include <lapacke.h>

enum {
	LEAST_SAMPLES = 3,
	LARGEST_N = 128,
	WIDE_N = 256, /* of a few panels */
	PLACES = 8,   /* of a panel, at most */
	QR_BLOCK = 64 /* columns of LAPACK's work space, at most */
};

struct rates {
	struct probe_run *run; /* NULL: single points, outside a sweep */
	struct repeats repeats;
	char *a, *master;           /* panels and square matrices; master is copied to a */
	char *at;                   /* the panel's place in a */
	size_t room, bytes;         /* of each, and those in use */
	bool filled, double_filled; /* the master; in which precision */
	void *tau, *work;
	lapack_int *ipiv;
	int threads;              /* of the BLAS */
	struct core_noise *noise; /* the calling thread is on the quietest core; NULL: on any */
	double part;              /* of a point's usual time */
	size_t turn;              /* calls of this point so far */
	uint64_t state;           /* of the random numbers */
	double end;               /* clock_now() when the time is spent */
	char dropped[256];
};

/* Calls timed together on an m x n panel. */
struct call {
	struct rates *rates;
	bool (*run)(const struct call *call, size_t turn); /* false: the library reports an error */
	int m, n, ld;
	int threads;             /* 0: as the host executor chooses */
	bool is_double, square;  /* a square has all threads */
	bool solve;              /* threads by its work, not by the panel's bytes */
	bool restored, definite; /* the panel is the master's before every sample; with a diagonal
	                            that makes it positive definite */
	size_t cycle, turns;     /* turns of a sample: several cycles */
	size_t samples;          /* so far */
};

/* ---- calls (host_rate_calls.c): run of a struct call ---- */

bool run_iamax(const struct call *c, size_t turn);
bool run_scal(const struct call *c, size_t turn);
bool run_swap(const struct call *c, size_t turn);
bool run_ger(const struct call *c, size_t turn);
bool run_getrf(const struct call *c, size_t turn);
bool run_geqrf(const struct call *c, size_t turn);
bool run_potrf(const struct call *c, size_t turn);
bool run_potrf_rows(const struct call *c, size_t turn);
bool run_gemm(const struct call *c, size_t turn);

/* Threads that the BLAS gets. */
int panel_threads(const struct call *c);

/* ---- data (host_rate_data.c) ---- */

/* Panels and squares up to this edge: false without memory for them. */
bool rates_open(struct rates *rates, int edge, uint64_t seed);
void rates_close(struct rates *rates);

/* Fresh data of a precision in all that is in use. rates_use: only where the
 * places of one panel lack it. */
void rates_fill(struct rates *rates, bool is_double);
void rates_use(struct rates *rates, int m, int n, bool is_double);

/* ---- points (host_rate_point.c) ---- */

int leading(int m, bool is_double);
size_t panel_bytes(int m, int n, bool is_double);
void drop(struct rates *rates, const char *series, int m, int n);

/* Samples one point; measure_call also keeps it for the curve. Return the seconds of a sample, 0
 * when it failed. */
double sample_point(struct call call, const char *series, struct measurement *measurement);
double measure_call(struct call call, const char *series);

/* ---- host_rate_short.c ---- */

void measure_short(struct rates *rates);
