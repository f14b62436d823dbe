/* SPDX-License-Identifier: MIT */
/* Shared by the files of pointer_chase's fit. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/msg.h"
#include "lib/probe/curve_fit.h"
#include "lib/probe/curve_series.h"
#include "lib/stats/estimate.h"
#include "pointer_chase.h"

#include <math.h>

/* A load takes at least two cycles of 4 GHz, and never 10 us. */
static const double quickest = 0.5e-9, slowest = 10e-6;

enum { PROCESSES_MAX = 64 };

struct output {
	const struct table *curve;
	struct profile *profile;
	bool busy;
};

/* ---- series and rows (pointer_chase_fit.c) ---- */

/* The levels of a series over bytes; false when it has too few points. */
bool chase_read_levels(const struct table *curve, const char *series, struct levels *levels);

/* The median, by time, of the points with low <= bytes <= high. */
struct estimate chase_plateau(
        const struct table *curve, const char *series, double low, double high);

/* The least stride of the chains over pages above this one; infinite: none. */
double chase_next_stride(const struct table *curve, double above);

/* Adds a value or its lower bound, if the curve has the series (NULL: always). A kink that could
 * not be placed has no bounds, as conflicts may smear it over doublings; only "beyond the largest
 * set" stays. */
void chase_add(const struct output *out, const char *series, struct parameter_spec spec,
        const struct arg *arg, struct estimate estimate);

/* Times of at least `bound` seconds, and sizes. */
static inline struct parameter_spec chase_time(const char *name, const char *method, double bound)
{
	return (struct parameter_spec){name, "s", method, NULL, bound, slowest};
}
static inline struct parameter_spec chase_bytes(const char *name, const char *method)
{
	return (struct parameter_spec){name, "B", method, NULL, 1, 1e13};
}

/* With few ways and hashed sets a kink moves by several percent; simulated caches of 4 to 32 ways
 * under four replacement policies stay within this size's interval. */
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

/* ---- near and far hits in L2 (pointer_chase_fit_once.c) ---- */

void chase_fit_once(const struct output *out);

/* ---- which SMs are alike, and what they share (pointer_chase_fit_sharing.c) ---- */

struct tlb_level;
void chase_fit_slices(const struct output *out);
void chase_fit_partitions(const struct output *out);
/* latency: seconds of a load that finds its constant in the shared cache. */
void chase_fit_constant_sharing(const struct output *out, double latency);
void chase_fit_sharing(const struct output *out, const struct caches *caches,
        const struct tlb_level *tlb, size_t tlbs);
