/* SPDX-License-Identifier: MIT */
#include "efficiency_class.h"

#include "efficiency_internal.h"

#include "lib/stats/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const efficiency_class_name[CLASSES] = {"dram", "l2", "multiprocessors", "dram, brief",
        "l2, brief", "multiprocessors, brief", "chain", "waits"};

static const enum efficiency_class class_of_term[LAW_TERMS] = {[LAW_DISPATCH] = CLASS_SM,
        [LAW_DRAM] = CLASS_DRAM,
        [LAW_L2] = CLASS_L2,
        [LAW_SHARED] = CLASS_SM,
        [LAW_ARITHMETIC] = CLASS_SM,
        [LAW_ATOMICS] = CLASS_L2,
        [LAW_LOADS] = CLASS_CHAIN,
        [LAW_DEPENDENT] = CLASS_CHAIN,
        [LAW_REDUCTIONS] = CLASS_CHAIN,
        [LAW_BARRIERS] = CLASS_WAITS,
        [LAW_EXCHANGES] = CLASS_WAITS};

/* What works take together, at efficiency 1. */
struct sum {
	double term[LAW_TERMS], body, launches;
};

static void add(
        struct cost_reader *r, const struct kernel_work *work, enum law_form form, struct sum *sum)
{
	struct kernel_work one = *work, w;
	struct law_answer a = {0};

	one.efficiency.value = 0;
	if (!law_transform(r, &one, form, &w, &a.fault))
		return;
	law_overlapped(r, &one, 1, form, 0, &a);
	for (int t = 0; t < LAW_TERMS; t++)
		sum->term[t] += a.term[t];
	sum->body += a.body;
	sum->launches += w.phase > 0 ? 0 : w.launches;
}

/* A few accesses to DRAM pass while the multiprocessors fill, and while they drain: a tenth of a
 * brief launch. */
static bool is_brief(struct cost_reader *r, const struct sum *sum)
{
	static const char latency[] = "gpu.dram.latency";
	enum { ACCESSES = 100 };

	return cost_known(r, latency) &&
	       sum->body < ACCESSES * cost_scalar(r, latency) * fmax(1, sum->launches);
}

static enum efficiency_class class_of(struct cost_reader *r, const struct sum *sum)
{
	int longest = LAW_DISPATCH;

	for (int t = LAW_DISPATCH; t < LAW_TERMS; t++)
		if (sum->term[t] > sum->term[longest])
			longest = t;
	const enum efficiency_class c = class_of_term[longest];
	return c <= CLASS_SM && is_brief(r, sum) ? c + CLASS_DRAM_BRIEF : c;
}

static bool is_point(const struct parameter *row)
{
	return efficiency_has(row) && row->hardware > 0 && strncmp(row->name, "gpu.", 4) == 0 &&
	       strcmp(row->regime, "calibrated") == 0;
}

/* The class of a row's works; CLASSES: not known. */
static enum efficiency_class class_of_row(struct cost_reader *r, const struct parameter *row)
{
	struct kernel_work work[SURFACE_WORKS];
	const size_t works = surface_works(&r->tuning, row, work);
	struct sum sum = {0};

	r->model.missing = false;
	for (size_t i = 0; i < works; i++)
		add(r, &work[i], law_own_form(&work[i]), &sum);
	return r->model.missing || !(sum.body > 0) ? CLASSES : class_of(r, &sum);
}

/* Efficiencies by class, those of all in the last. */
struct points {
	double *of[CLASSES + 1];
	size_t count[CLASSES + 1];
};

static void put(struct points *p, int which, double efficiency)
{
	p->of[which][p->count[which]++] = efficiency;
}

static struct points points_of(const struct profile *profile)
{
	struct cost_reader *reader = xmalloc(sizeof *reader);
	struct points p = {0};

	for (int c = 0; c <= CLASSES; c++)
		p.of[c] = xmalloc(profile->count * sizeof *p.of[c]);
	cost_reader_start(reader, profile);
	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		const int class = is_point(row) ? (int)class_of_row(reader, row) : CLASSES;
		if (class == CLASSES)
			continue;
		const double efficiency = row->hardware / (row->estimate.value - row->start);
		put(&p, class, efficiency);
		put(&p, CLASSES, efficiency);
	}
	free(reader);
	return p;
}

static struct class_default middle(const struct points *p, int which)
{
	const double *x = p->of[which];
	const size_t n = p->count[which];

	return (struct class_default){stats_median(x, n), stats_quantile(x, n, 0.025),
	        stats_quantile(x, n, 0.975), n, which == CLASSES};
}

struct efficiency_classes efficiency_classes_of(const struct profile *profile)
{
	struct efficiency_classes all;
	struct points p = {0};

	for (int c = 0; c < CLASSES; c++)
		all.of[c] = (struct class_default){.efficiency = 1, .low = 1, .high = 1};
	if (profile->hardware_alone)
		return all;
	p = points_of(profile);
	for (int c = 0; c < CLASSES; c++)
		if (p.count[CLASSES] >= CLASS_POINTS)
			all.of[c] = middle(&p, p.count[c] >= CLASS_POINTS ? c : CLASSES);
	for (int c = 0; c <= CLASSES; c++)
		free(p.of[c]);
	return all;
}

enum efficiency_class efficiency_class_set(struct cost_reader *r,
        const struct efficiency_classes *classes, struct kernel_work *work, size_t count,
        enum law_form form)
{
	enum efficiency_class longest = CLASS_DRAM;
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		struct sum sum = {0};
		add(r, &work[i], form, &sum);
		const enum efficiency_class c = class_of(r, &sum);
		const struct class_default *d = &classes->of[c];
		if (d->points > 0)
			work[i].efficiency =
			        (struct work_efficiency){d->efficiency, d->low, d->high};
		if (sum.body > most) {
			most = sum.body;
			longest = c;
		}
	}
	return longest;
}
