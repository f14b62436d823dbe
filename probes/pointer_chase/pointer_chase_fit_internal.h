/* SPDX-License-Identifier: MIT */
/* Shared by the files of pointer_chase's fit: series of the curve, rows of the profile, and the
 * entry points of each file. */
#pragma once

#include "lib/base/base.h"
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"
#include "lib/probe/curve_series.h"
#include "lib/profile/profile.h"
#include "lib/stats/tlb.h"
#include "pointer_chase.h"

#include <math.h>

/* A load takes at least two cycles of 4 GHz, and never 10 us. */
static const double quickest = 0.5e-9, slowest = 10e-6;

enum { STRIDES = 16 };

/* ---- series (pointer_chase_fit_series.c) ---- */

bool chase_read_levels(
        const struct table *curve, const char *series, const char *column, struct levels *levels);
struct estimate chase_plateau(
        const struct table *curve, const char *series, double low, double high);
/* Ascending; at most STRIDES. */
size_t chase_strides(const struct table *curve, const char *series, double *stride);

/* ---- parameters (pointer_chase_fit_output.c) ---- */

struct output {
	const struct table *curve;
	struct profile *profile;
	bool busy;
};

void chase_add(const struct output *out, const struct parameter_spec *spec, const struct arg *args,
        size_t count, struct estimate estimate);
void chase_add_time(const struct output *out, const char *name, const char *method, double bound,
        struct estimate estimate);
void chase_add_size(const struct output *out, const char *name, const char *unit,
        const char *method, double stated, struct estimate estimate);
struct estimate chase_size_of(const struct levels *levels, size_t level);

/* ---- caches, their lines, sectors and ways (pointer_chase_fit_caches.c) ---- */

/* The levels of L1 and L2 found in the pointer chains. */
struct caches {
	struct levels ca, cg;
	bool has_ca, has_cg;
	bool no_l1;    /* loads through L1 take as long as loads past it */
	size_t l2_end; /* kink of cg where memory begins; count: not seen */
	struct estimate l1_latency, l2_latency, dram, l1_line, l2_line;
};

void chase_read_caches(const struct table *curve, struct caches *caches);
void chase_fit_caches(const struct output *out, const struct caches *caches);

/* ---- constant memory, read-only and volatile loads (pointer_chase_fit_paths.c) ---- */

void chase_fit_paths(const struct output *out);

/* ---- TLBs (pointer_chase_fit_tlb.c) ---- */

/* Returns the number of levels. */
size_t chase_fit_tlb(const struct output *out, struct tlb_level *level);

/* ---- near and far hits in L2 (pointer_chase_fit_once.c) ---- */

void chase_fit_once(const struct output *out);

/* ---- which SMs are alike (pointer_chase_fit_map.c) ---- */

void chase_fit_partitions(const struct output *out);
/* latency: seconds of a load that finds its constant in the shared cache. */
void chase_fit_constant_sharing(const struct output *out, double latency);

/* ---- slices, what SMs share (pointer_chase_fit_sharing.c) ---- */

void chase_fit_slices(const struct output *out);
void chase_fit_sharing(const struct output *out, const struct caches *caches,
        const struct tlb_level *tlb, size_t tlbs);
