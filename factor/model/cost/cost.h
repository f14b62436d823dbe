/* SPDX-License-Identifier: MIT */
/* Costs of operations, and the cost models that give them: one for each level and target. A cost
 * model reads the profile and the shapes of operands, nothing else. */
#pragma once

#include "cost_work.h"

#include "lib/profile/model.h"
#include "lib/profile/profile_grid.h"
#include "factor/kernels/lu/panel_geometry.h"
#include "factor/tuning/tuning.h"

/* Kinds of time in a cost. */
enum term {
	TERM_LAUNCH,     /* starting kernels on the device */
	TERM_MEMORY,     /* traffic of L2, DRAM or host memory */
	TERM_BARRIER,    /* waits inside a kernel: barriers, reductions, exchanges, chains of
	                    dependent loads */
	TERM_ARITHMETIC, /* work on operands held on chip */
	TERM_TRANSFER,   /* between device and host */
	TERM_HOST,       /* the host computing or queueing */
	TERM_SYNC,       /* the host waiting for the device to answer */
	TERM_COUNT
};
extern const char *const term_name[TERM_COUNT];

/* Where an operation runs: kernels on the multiprocessors, transfers on the copy engine of their
 * direction, broadcasts on the links between GPUs, the rest on the host thread. */
enum engine { ENGINE_KERNELS, ENGINE_OUT, ENGINE_IN, ENGINE_LINK, ENGINE_HOST, ENGINE_COUNT };

/* The cost of an operation, in seconds. The host is busy for `enqueue`, then the queue for the sum
 * of the terms; with `wait` the host waits for the queue. On ENGINE_HOST the host thread does all,
 * and the queue nothing. */
struct cost {
	double enqueue;
	double first; /* part of enqueue after which the first of several kernels begins; 0: all */
	double term[TERM_COUNT];
	bool wait;
	double behind; /* a copy's extra time when its queue is still at work: the hand-over from
	                  the multiprocessors to the copy engine */
	enum engine engine;
	double share;          /* of the multiprocessors that a kernel can use, 0: all; none during
	                          TERM_LAUNCH */
	bool light;            /* it waits for memory and leaves arithmetic to others */
	bool coresident;       /* finds places beside the blocks of light kernels */
	double overlapped;     /* a panel's relative speed while others want its multiprocessors,
	                          0: half */
	double block_lifetime; /* seconds after which a block gives up its multiprocessor */
	bool exclusive;        /* a block has a multiprocessor for itself */
	bool independent;      /* a panel of blocks that do not wait for each other */
	bool early;    /* the time was measured in a row of such kernels, each launched early */
	bool withheld; /* it does not release the next kernel of its queue early: the library's
	                  kernels, and ours for products */
	int further;   /* kernels after the first */
	double alone;  /* seconds that a call alone takes beyond one in a row, where the host waits
	                  for it; 0: not known */
};

/* The rows of a function of LAPACKE's panels (cost_host.c), by width and then length. */
enum { PANEL_ROWS = 64, COST_PANELS = 7 /* six functions and an end */ };
struct cost_panels {
	const char *name; /* NULL: free */
	size_t count;
	double longest;
	struct cost_panel {
		double m, n, seconds;
	} row[PANEL_ROWS];
};

/* The hardware law for surfaces whose work is known (factor/model/efficiency), with a cache of its
 * answers: intervals ask for the same again and again. */
enum { COST_BODIES = 2048, COST_ARGS = GRID_ARGS + 1 };
struct cost_hardware {
	/* Seconds of the work of `surface` (what `find` returned) at these arguments. */
	double (*seconds)(struct cost_hardware *, const void *surface, const char *name,
	        const char *const *arg, const double *at, size_t count);
	const void *(*find)(const char *name);
	/* Takes another profile, in which nothing but the parameter `name` differs. */
	void (*change)(struct cost_hardware *, const struct profile *, const char *name);
	const struct model *model; /* the parameters read */
	struct cost_body {
		const char *name; /* NULL: free */
		double at[COST_ARGS], seconds;
	} body[COST_BODIES];
};
void cost_hardware_change(
        struct cost_hardware *hardware, const struct profile *profile, const char *name);

/* Reads the profile and caches the values. */
enum { COST_CACHE = 4096, COST_SURFACES = 128 /* fits a byte */, COST_NAMES = 1024 };
struct cost_reader {
	struct model model;
	const struct profile *whole;    /* what cost_known asks where model.profile has only the
	                                   rows that were read; or NULL */
	struct tuning tuning;           /* for the profile's GPU: the kernels' plans */
	struct cost_hardware *hardware; /* NULL: times are interpolated as they are */
	bool sums;                      /* level 1: alpha-beta sums */
	bool shares;        /* another queue has work: our own products run one tile a block */
	bool blas_only;     /* products are the library's, not our own kernels' */
	bool gram_double;   /* QR's panels in double precision use the Gram matrix, too */
	int threads;        /* of the host that work, 0: as many as the profile knows */
	bool same_way;      /* a Gram-Schmidt pass goes through the columns in the direction of the
	                       pass before */
	bool host_wrote;    /* the host has just written the panel: the core's caches hold it */
	double working_set; /* bytes of all operands: decides which cache of the host holds them */
	struct cost_entry {
		const char *name; /* NULL: free */
		double arg[2], value;
	} cache[COST_CACHE];
	uint16_t entry[COST_CACHE]; /* the places of the cache that are not free */
	size_t entries;
	struct cost_panels panels[COST_PANELS];
	const void *work[COST_SURFACES]; /* of the surface, as hardware->find says */
	unsigned char last[COST_NAMES];  /* the surface last found for a hash of the name */
	size_t surfaces;                 /* beyond these all are free */
	struct profile_grid surface[COST_SURFACES];
};

void cost_reader_start(struct cost_reader *reader, const struct profile *profile);
void cost_reader_copy(struct cost_reader *to, const struct cost_reader *from);

/* For caches, of the name's place in the program: it is the same in every process. */
static inline uint64_t cost_name_hash(const char *name)
{
	return ((uintptr_t)name - (uintptr_t)term_name) * 0x9e3779b97f4a7c15;
}

/* With a number's bits: a small number differs in its highest bits only. */
static inline uint64_t cost_hash(uint64_t hash, uint64_t bits)
{
	hash = (hash ^ bits) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 44 ^ hash >> 29;
}

/* The profile's GPU, and what the probes' code uses of it: no clusters where the barrier probe
 * found none. */
struct tuning_device cost_device(const struct profile *profile);

/* Takes another profile, in which nothing but the parameter `name` differs. */
void cost_reader_change(
        struct cost_reader *reader, const struct profile *profile, const char *name);

/* Whether values of the parameter were read at single points (cost_at), not from a surface. */
bool cost_read_at(const struct cost_reader *reader, const char *name);

/* Whether the profile has a value of the parameter. */
bool cost_known(struct cost_reader *reader, const char *name);

/* Bytes of the part of L2 that is near to a multiprocessor: measured, else the stated size divided
 * by the number of partitions; at most the stated size. */
double cost_near_l2(struct cost_reader *reader);

/* The share of so many bytes that L2 holds from one sweep over them to the next: all up to 3/4 of
 * L2, none from 7/8 on; nothing of 0 bytes. */
double cost_l2_hits(struct cost_reader *reader, double bytes);

/* The largest value of an argument in a function's rows, NaN when there are none. */
double cost_last(struct cost_reader *reader, const char *name, const char *arg);

/* As model_scalar and model_at2. Names must be string constants. */
double cost_scalar(struct cost_reader *reader, const char *name);
/* The same as a whole number; 1 where it is missing. */
int64_t cost_whole(struct cost_reader *reader, const char *name);
double cost_at(struct cost_reader *reader, const char *name, const char *arg, double value);
double cost_at2(struct cost_reader *reader, const char *name, const char *arg1, double value1,
        const char *arg2, double value2);

/* Value of a function of `count` arguments named `arg`, at `at`, from its dense table
 * (lib/profile/profile_grid.h). */
double cost_surface(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count);

/* The same, with further arguments behind the surface's own (`known` in all) that its work depends
 * on, such as a leading dimension. */
double cost_surface_with(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t known);

/* The time of a panel of at[1] columns by a kernel that is compiled for `columns`, at the
 * efficiency of a panel of so many. Without known work all columns cost the same beyond a launch.
 * Up to the narrowest kernel, and beyond the last row, it is cost_surface. */
double cost_surface_width(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, double columns);

/* The time at `at`, of which the work takes `known` arguments, by the efficiency of a point near
 * it; without known work the time there. */
double cost_surface_near(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *near, const double *at, size_t count, size_t known);

/* What the hardware law says of the work of `name`, which needs no rows, over that of `other`; 1
 * where the latter is not read by efficiencies. */
double cost_work_ratio(struct cost_reader *reader, const char *name, const char *other,
        const char *const *arg, const double *at, size_t count);

/* What the hardware law says of the work of `name`, which needs no rows, beyond the kernel's start;
 * NaN where the reader has no law, or the law lacks a parameter. */
double cost_of_work(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count);

/* Whether the surface is read by efficiencies: then the law of its work holds beyond its rows. */
bool cost_by_work(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count);

/* A quantity > 0 that a time is known to follow: the number of rounds in which a kernel goes
 * through its blocks, or another time that was measured at more sizes. */
typedef double (*cost_course)(const double *at, const void *self);

/* The course at `at`, divided by its interpolation between the rows of the surface. The surface's
 * value times that ratio follows the course between the rows. */
double cost_along(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, cost_course course, const void *self);

/* The first and the last row of argument `which` of that surface; 0 and infinite when it has
 * none. */
double cost_surface_begin(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which);
double cost_surface_end(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which);

/* The rows of argument `which` of that surface around its value: the last one at or below it, and
 * the first one above. Beyond the rows, and without rows, both are the value. */
void cost_surface_rows(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which, double rows[2]);

/* Surfaces of one and of two arguments. Seconds that `bytes` of traffic add to the smallest kernel
 * of a curve (gpu.copy.time, gpu.read.time, gpu.write.time). */
double cost_surface1(struct cost_reader *reader, const char *name, const char *arg, double at);
double cost_surface2(struct cost_reader *reader, const char *name, const char *arg1, double at1,
        const char *arg2, double at2);
double cost_traffic(struct cost_reader *reader, const char *curve, double bytes);

/* Bytes per second of one host thread on a working set (host.memory.read, host.memory.copy). Sets
 * smaller than the smallest measured lie in the same cache. */
double cost_host_rate(struct cost_reader *reader, const char *name, double working_set);

/* A cost depends on few of an operation's parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A cost model: one for each level and target. by_work is the cost of operations whose function is
 * NULL. */
struct cost_model {
	struct cost (*by_work)(struct cost_reader *, struct operation_work work);
#define FUNCTION(type, name, ...) type (*name)(struct cost_reader *, __VA_ARGS__);
#include "cost_functions.h"
	/* Seconds; NULL: none. sync: from the end of the stream's last work until the host knows of
	 * it. query: the host's, to wait for work that is over. event: the host's, to record an
	 * event or to make a queue wait. stream_wait: a queue's delay by waiting. */
	double (*sync)(struct cost_reader *);
	double (*query)(struct cost_reader *);
	double (*event)(struct cost_reader *);
	double (*stream_wait)(struct cost_reader *);
};

extern const struct cost_model cost_cuda_level1, cost_cuda_level2;
extern const struct cost_model cost_host_level1, cost_host_level2;
