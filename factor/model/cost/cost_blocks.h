/* SPDX-License-Identifier: MIT */
/* Building blocks of the cost models. */
#pragma once

#include "cost.h"

/* On every architecture: threads of a warp, schedulers of a multiprocessor. */
enum { WARP = 32, SCHEDULERS = 4 };

/* The device's functions at level 2. */
#define FUNCTION(type, name, ...) type cost_##name(struct cost_reader *r, __VA_ARGS__);
#include "cost_functions.h"

/* A library call of `total` seconds from start to start, as its launch and that term; two kernels
 * in turn. */
struct cost cost_library(struct cost_reader *r, double total, enum term term);
struct cost cost_both(struct cost first, struct cost second);

/* Our kernel's time on operands off boundaries of 16 bytes, which it copies word by word, from its
 * time on others: beyond the start as much longer as measured (`name`), else as the works say. */
double cost_unaligned(struct cost_reader *r, double time, const char *name, const char *aligned,
        const char *const *axes, const double *at, size_t count);

/* Sweeps, and kernels over a few integers (cost_blocks.c). */
struct cost cost_moves(struct cost_reader *r, struct operation_work work);

/* ger of the library from its surface (cost_gemv.c), and block_rank's update of a trapezoid
 * (cost_triangles.c). */
struct cost cost_ger_measured(struct cost_reader *r, struct matrix a);
struct cost cost_rank(struct cost_reader *r, struct matrix c, int64_t k, bool aligned);
/* Seconds of a multiprocessor for so many multiply-adds at the rate of their precision. */
double cost_multiply_adds(struct cost_reader *r, enum precision precision, double count);
/* Seconds between two FMA of a warp in a's precision on one of a multiprocessor's four schedulers.
 */
double cost_issue(struct cost_reader *r, struct matrix a);

/* Gram-Schmidt on the device (cost_gram.c) and on the host (cost_gram_host.c). */
double cost_gram_sweep(struct cost_reader *r, bool reads, double columns, double chained);
/* The widest access in bytes that all columns allow: of 16, or a word. The factor of the seconds in
 * which accesses change columns: more than 1 where some begin off a sector's boundary. */
int64_t cost_gram_access(struct matrix a);
double cost_gram_partial(struct cost_reader *r, struct matrix a, int64_t access);
double cost_accesses(struct cost_reader *r, double count);
struct cost cost_gram_pass_host(struct cost_reader *r, enum gram_step step, struct matrix a);
struct cost cost_gram_panel_host(struct cost_reader *r, struct matrix a);
struct cost cost_gram_apply_host(struct cost_reader *r, struct matrix a, int64_t k, bool single);
/* A panel column by column. */
struct cost cost_gram_passes(struct cost_reader *r, struct matrix a,
        struct cost (*pass)(struct cost_reader *, enum gram_step, struct matrix));

/* Operations a second of the largest gemm measured on the host. */
double cost_host_peak(struct cost_reader *r, enum precision precision);

/* From the host's rate surfaces (cost_host.c): seconds of square products (edge: m = n = k), and
 * LAPACKE's panels, to which cost_host_getrf and the others add what follows from the copies. */
double cost_host_gemm(struct cost_reader *r, enum precision precision, double edge);
struct cost cost_by_host_getrf(struct cost_reader *r, struct matrix a);
struct cost cost_by_host_geqrf(struct cost_reader *r, struct matrix a);
struct cost cost_by_host_potrf(struct cost_reader *r, struct matrix a);
struct cost cost_by_host(double seconds);

double cost_query(struct cost_reader *r);
double cost_event(struct cost_reader *r);
double cost_stream_wait(struct cost_reader *r);

/* How much longer a copy takes behind a kernel than on an idle stream. */
double cost_hand_over(struct cost_reader *r);

/* Host time from the last kernel's end to the return of a synchronization: the round trip of a
 * launch with a synchronization, less the launch and the kernel. */
double cost_wait(struct cost_reader *r);

/* Seconds that a call alone, behind other work, takes beyond one in a row of such calls; 0 where
 * the profile has no such rows. */
double cost_alone(struct cost_reader *r, const char *name, const char *const *axes,
        const double *at, size_t count);

/* A kernel of our own that only starts; one that moves so many bytes at the rate of a curve. */
struct cost cost_kernel(struct cost_reader *r);

/* The host's seconds for a kernel that is launched early (programmatic dependent launch). */
double cost_enqueue_early(struct cost_reader *r);
struct cost cost_sweep(struct cost_reader *r, const char *curve, double bytes);

/* The name of a parameter that the profile has for each precision. */
#define OF_PRECISION(name, precision) ((precision) == SINGLE ? name ".s" : name ".d")

/* A kernel of `seconds` from start to start, as measured, with the estimate's division into terms;
 * by a surface, and as estimated where the profile does not have it. */
struct cost cost_as_measured(struct cost estimated, double seconds);
struct cost cost_if_measured(struct cost_reader *r, struct cost estimated, const char *name,
        const char *const *axes, const double *at, size_t count);

/* The speed of a panel (cost.overlapped) from a surface of panels measured beside products: these
 * panels follow each other, and wait on average for half of the lifetime of tiles. 0 where the
 * profile does not have the surface. columns: of the kernel, as in cost_surface_width; 0: none. */
double cost_beside(struct cost_reader *r, const struct cost *alone, enum precision precision,
        const char *name, const char *const *axes, const double *at, double columns);

/* Axes of many surfaces. */
extern const char *const axes_mn[2], *const axes_swaps[3];

/* Seconds of all terms. */
double cost_total(const struct cost *cost);

/* The share of the multiprocessors that so many blocks can use. */
double cost_share(struct cost_reader *r, double blocks);

/* Blocks that a multiprocessor holds at a time, of so many threads with so many registers each. */
double cost_resident_blocks(struct cost_reader *r, double threads, double registers);
