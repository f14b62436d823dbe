/* SPDX-License-Identifier: MIT */
/* What one operation costs, and the cost_models that say it: one per level and target. A cost_model reads
 * the profile and shapes only. */
#ifndef FATHOM_COST_H
#define FATHOM_COST_H

#include "lib/profile/model.h"
#include "factor/executors/executor.h"
#include "factor/kernels/lu/panel_geometry.h"

/* What time goes to. */
enum term {
	TERM_LAUNCH,     /* starting kernels on the device */
	TERM_MEMORY,     /* traffic of L2, DRAM or host memory */
	TERM_BARRIER,    /* waiting inside a kernel: barriers, reductions, exchanges, chains of
	                    dependent loads */
	TERM_ARITHMETIC, /* work on operands held on chip */
	TERM_TRANSFER,   /* between device and host */
	TERM_HOST,       /* the host computing or queueing */
	TERM_SYNC,       /* the host waiting for the device to answer */
	TERM_COUNT
};
extern const char *const term_name[TERM_COUNT];

/* What works on an operation: kernels have the multiprocessors, transfers a copy engine for each
 * direction. */
enum engine { ENGINE_KERNELS, ENGINE_OUT, ENGINE_IN, ENGINE_HOST, ENGINE_COUNT };

/* The host is busy for `enqueue`, then the queue for the sum of the terms; the host waits for that
 * when `wait`. On ENGINE_HOST the host thread does it all, and no queue. */
struct cost {
	double enqueue;
	double first; /* of it, until the device begins on the first of several kernels; 0: all */
	double term[TERM_COUNT];
	bool wait;
	double behind; /* what a copy takes longer when the queue is still at work: the hand-over
	                  from the multiprocessors to the copy engine (a transfer) */
	enum engine engine;
	double share;  /* of the multiprocessors that a kernel can use, 0 for all of them; not while
	                  it starts (TERM_LAUNCH) */
	bool light;    /* waits for memory and leaves arithmetic to others */
	bool loose;    /* finds places beside the blocks of light ones */
	double beside; /* a panel's speed while others have work for its multiprocessors, 0: half */
	double block;  /* seconds after which a kernel's blocks give up their multiprocessors */
	bool whole;    /* which these have for themselves */
	bool apart;    /* a panel whose blocks do not wait for each other */
	bool early;    /* its time is that of one in a row of its like, to which it came early */
	int further;   /* kernels behind the first one */
};

/* A function of up to three arguments as a dense grid, for reading it often. */
enum {
	SURFACE_ARGS = 3,
	SURFACE_AXIS = 32,
	SURFACE_VALUES = 512,
	SURFACE_MIDDLES = 32,
	COST_SURFACES = 88
};
struct cost_surface {
	const char *name; /* NULL: free */
	uint32_t key;     /* of its rows */
	size_t args, count[SURFACE_ARGS];
	double axis[SURFACE_ARGS][SURFACE_AXIS]; /* logarithms when not linear */
	size_t slope[SURFACE_ARGS];   /* from that row to the last: the slope that goes on beyond */
	double value[SURFACE_VALUES]; /* the last argument runs fastest */
	/* rows off the grid: where they are, in intervals of the axes, and how far they lie above
	 * what the grid says there */
	struct cost_middle {
		double at[SURFACE_ARGS], above;
	} middle[SURFACE_MIDDLES];
	size_t middles;
};

/* The rows of LAPACKE's panels (cost_host.c), by width and then length. */
enum { PANEL_ROWS = 64, COST_PANELS = 5 /* four functions and an end */ };
struct cost_panels {
	const char *name; /* NULL: free */
	size_t count;
	double longest;
	struct cost_panel {
		double m, n, seconds;
	} row[PANEL_ROWS];
};

/* Reads values once each. linear: interpolate functions linearly between rows instead of by their
 * logarithms. */
enum { COST_CACHE = 16384 };
struct cost_reader {
	struct model model;
	bool linear;
	bool shares;        /* our own products have a block a tile: other queues have work */
	bool blas_only;     /* products are the library's, not our own kernels' */
	int threads;        /* of the host that work, 0: as many as the profile knows */
	bool same_way;      /* as the pass before it a pass of Gram-Schmidt goes through columns */
	bool host_wrote;    /* a panel on the host: it is in the caches of the core */
	double working_set; /* bytes the operations work on: what host caches hold or not */
	struct cost_entry {
		const char *name;
		double arg[2], value;
	} cache[COST_CACHE];
	struct cost_surface surface[COST_SURFACES];
	unsigned char last[COST_SURFACES]; /* where a name was found, by where it lies */
	struct cost_panels panels[COST_PANELS];
};

void cost_reader_start(struct cost_reader *reader, const struct profile *profile);

/* Takes another profile, in which nothing but `name` differs. */
void cost_reader_change(
        struct cost_reader *reader, const struct profile *profile, const char *name);

/* Whether the profile has a value of it at all. */
bool cost_known(struct cost_reader *reader, const char *name);

/* Bytes that the part of L2 nearest to a multiprocessor holds; where they were not resolved, its
 * share of what the device states. */
double cost_near_l2(struct cost_reader *reader);

/* The largest value of an argument in a function's rows, NaN when it has no such rows. */
double cost_last(struct cost_reader *reader, const char *name, const char *arg);

/* As model_scalar, model_at, model_at2. Names must be string constants. */
double cost_scalar(struct cost_reader *reader, const char *name);
double cost_at(struct cost_reader *reader, const char *name, const char *arg, double value);
double cost_at2(struct cost_reader *reader, const char *name, const char *arg1, double value1,
        const char *arg2, double value2);

/* Value of a function of `count` arguments named `arg` whose rows form a grid, as profile_get has
 * it but for arguments below the first row: they cost what the first row does, as a call's start-up
 * does not shrink with it. Single rows off the grid correct it around them, less and less up to the
 * next rows of the grid. */
double cost_surface(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count);

/* What a time is known to go along with, > 0: in how many rounds a kernel goes through its blocks,
 * or what another one takes that was measured more finely. */
typedef double (*cost_course)(const double *at, const void *self);

/* That, over what interpolation between the rows of that grid makes of it: times the value there,
 * the value follows it between the rows. */
double cost_along(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, cost_course course, const void *self);

/* The first and the last row of one of the arguments of that grid; 0 and infinite when it has
 * none. */
double cost_surface_begin(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which);
double cost_surface_end(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which);

/* Of one and two arguments, and as cost_traffic, through surfaces. */
double cost_surface1(struct cost_reader *reader, const char *name, const char *arg, double at);
double cost_surface2(struct cost_reader *reader, const char *name, const char *arg1, double at1,
        const char *arg2, double at2);
double cost_surface_traffic(struct cost_reader *reader, const char *curve, double bytes);

/* What `bytes` of traffic add to the smallest kernel of the curve (gpu.copy.time, gpu.read.time,
 * gpu.write.time). */
double cost_traffic(struct cost_reader *reader, const char *curve, double bytes);

/* Bytes per second of one host thread on a working set (host.memory.read, host.memory.copy). Sets
 * smaller than the smallest measured are in the same cache. */
double cost_host_rate(struct cost_reader *reader, const char *name, double working_set);

/* NULL operations are not estimated on the target. */
struct cost_model {
	struct cost (*iamax)(struct cost_reader *, struct matrix x);
	struct cost (*iamax_host)(struct cost_reader *, struct matrix x);
	struct cost (*nrm2)(struct cost_reader *, struct matrix x);
	struct cost (*get)(struct cost_reader *, struct matrix element);
	struct cost (*swap)(struct cost_reader *, struct matrix row);
	struct cost (*scal)(struct cost_reader *, struct matrix x);
	struct cost (*scale_by)(struct cost_reader *, struct matrix x);
	struct cost (*ger)(struct cost_reader *, struct matrix a);
	struct cost (*zero_pivot)(struct cost_reader *, struct matrix a);
	struct cost (*store_pivots)(struct cost_reader *, int64_t n);
	struct cost (*fused_begin)(struct cost_reader *, struct matrix a);
	struct cost (*fused_pivot)(struct cost_reader *, struct matrix a, int64_t j);
	struct cost (*fused_update)(struct cost_reader *, struct matrix a, int64_t j);
	struct cost (*resident_panel)(
	        struct cost_reader *, struct matrix a, const struct panel_geometry *g);
	/* from the stream's last work being done to the host knowing it */
	double (*sync)(struct cost_reader *);
};

extern const struct cost_model cost_cuda_level2, cost_cuda_level1; /* levels 2 and 1 */
extern const struct cost_model cost_host_level2, cost_host_level1;

/* Bytes of a matrix, and of a triangle of it or (WHOLE) all. */
double cost_bytes(struct matrix a);
double cost_part(enum uplo uplo, struct matrix a);

/* What splits read and write. */
double cost_splits(const struct splits *);

#endif
