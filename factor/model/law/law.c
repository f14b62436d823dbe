/* SPDX-License-Identifier: MIT */
/* The composition: throughput against chain, and launches by form. */
#include "law_parts.h"

#include "lib/base/msg.h"

#include <math.h>

const char *const law_term_name[LAW_TERMS] = {"launch", "dispatch", "dram", "l2", "shared",
        "arithmetic", "atomics", "loads", "dependent", "reductions", "barriers", "exchanges"};
const char *const law_form_name[FORM_COUNT] = {
        "launches", "graph", "programmatic", "cooperative", "cluster"};

/* A launch: throughput and chain overlap as far as there are others to run meanwhile. */
static double overlapped(double throughput, const struct law_chain *c, const struct law_place *p,
        double in_step, int overlap)
{
	const double shorter = fmin(throughput, c->own), longer = fmax(throughput, c->own),
	             others = p->together * (c->by_blocks ? 1 : p->warps);

	if (overlap)
		return longer + (overlap > 0 ? shorter : 0);
	/* All warps begin at once: the first link of each step has nothing to hide behind. */
	const double first = c->links > 0 ? c->own / c->links * c->steps : 0;
	return longer + fmax(shorter / others, fmin(shorter, fmax(first, in_step)));
}

/* Throughput of a work that moves bytes apart: they pass while only other blocks compute. */
static double apart(struct cost_reader *r, const double term[LAW_TERMS],
        const struct kernel_work *w, const struct law_place *p, int overlap)
{
	struct kernel_work data = *w, hits = *w;

	if (!(w->apart > 0) || overlap < 0)
		return 0;
	data.l2 = hits.dram = (struct work_bytes){0, 0};
	const double all = fmax(term[LAW_DRAM], law_l2(r, &data, p)), moved = w->apart * all,
	             computed = fmax(fmax(all - moved, law_l2(r, &hits, p)),
	                     fmax(term[LAW_SHARED], term[LAW_ARITHMETIC])),
	             others = overlap > 0 ? 1 : fmax(1, p->together);
	return fmax(moved, computed) + fmin(moved, computed) / others;
}

/* Warps of a multiprocessor that wait for loads of their own compute by turns. While they compute,
 * memory serves other multiprocessors, but their own way to it is idle. Works that load ahead or
 * move bytes apart say how these overlap. */
static double by_turns(struct cost_reader *r, const struct kernel_work *w,
        const struct law_place *p, const double term[LAW_TERMS])
{
	if (!(w->link[LINK_DRAM] > 0) || w->ahead || w->apart > 0)
		return 0;
	return law_way(r, w, p) + fmax(term[LAW_SHARED], term[LAW_ARITHMETIC]);
}

/* Adds a launch's terms, `launches` times, and returns its seconds on the device. */
static double body(struct cost_reader *r, const struct kernel_work *w, const struct law_place *p,
        int overlap, double term[LAW_TERMS])
{
	double own[LAW_TERMS] = {[LAW_DISPATCH] = law_dispatch(r, p),
	        [LAW_DRAM] = law_dram(r, w, p),
	        [LAW_L2] = law_l2(r, w, p),
	        [LAW_SHARED] = law_shared(r, w, p),
	        [LAW_ARITHMETIC] = law_arithmetic(r, w, p),
	        [LAW_ATOMICS] = law_atomics(r, w)};
	/* DRAM answers in no order, which puts blocks out of step */
	const double memory = fmax(own[LAW_DRAM], own[LAW_L2]),
	             step = overlap >= 0 && w->in_step > 0
	                            ? w->in_step * cost_l2_hits(r, w->working_set)
	                            : 0;
	double throughput = 0;

	for (int t = LAW_DISPATCH; t < LAW_LOADS; t++)
		if (!w->ahead || (t != LAW_DRAM && t != LAW_L2))
			throughput = fmax(throughput, own[t]);
	struct law_chain c = law_chain(r, w, p, 0);
	throughput = fmax(throughput, fmax(by_turns(r, w, p, own), apart(r, own, w, p, overlap)));
	/* while blocks in step load, only others compute */
	throughput += step * fmin(memory, fmax(own[LAW_SHARED], own[LAW_ARITHMETIC])) /
	              fmax(1, p->together);
	if (own[LAW_DRAM] > 0 && w->link[LINK_DRAM] > 0) {
		const double alone = fmax(fmax(throughput, memory), c.own + c.common);
		c = law_chain(r, w, p, fmin(0.9, own[LAW_DRAM] / alone));
	}
	for (int t = 0; t < LAW_TERMS; t++)
		term[t] += w->launches * (own[t] + c.term[t]);
	return fmax(memory, overlapped(throughput, &c, p, step * memory, overlap) + c.common);
}

/* The host's and the device's time to start a kernel. */
struct start {
	double enqueue, gap;
};

static struct start start_of(struct cost_reader *r, enum law_form form)
{
	static const char *const enqueue[] = {"gpu.launch.enqueue", "gpu.launch.stream", NULL},
	                         *const together[] = {"gpu.launch.enqueue_cooperative",
	                                 "gpu.launch.enqueue", "gpu.launch.stream", NULL},
	                         *const early[] = {"gpu.launch.enqueue_pdl", "gpu.launch.enqueue",
	                                 "gpu.launch.stream", NULL},
	                         *const gap[] = {"gpu.launch.dependent", "gpu.launch.stream", NULL},
	                         *const cooperative[] = {"gpu.launch.cooperative",
	                                 "gpu.launch.dependent", "gpu.launch.stream", NULL};

	switch (form) {
	case FORM_GRAPH:
		return (struct start){0, cost_scalar(r, "gpu.launch.graph_node")};
	case FORM_PROGRAMMATIC:
		return (struct start){law_first(r, early), cost_scalar(r, "gpu.launch.pdl")};
	case FORM_COOPERATIVE:
		return (struct start){law_first(r, together), law_first(r, cooperative)};
	default:
		return (struct start){law_first(r, enqueue), law_first(r, gap)};
	}
}

/* The start of a work's launches. */
static struct start start_of_work(
        struct cost_reader *r, const struct kernel_work *w, enum law_form form)
{
	if (w->phase > 0)
		return (struct start){0, 0};
	const bool early = w->early > 0 && form == FORM_LAUNCHES && cost_known(r, "gpu.launch.pdl");
	return start_of(r, early ? FORM_PROGRAMMATIC : form);
}

/* From the end of a kernel until the host knows of it: a measured round trip less its launch and
 * the kernel's start. A what-if of these moves the round trip, too (profile_parts.c). */
static double notice(struct cost_reader *r)
{
	const struct start start = start_of(r, FORM_LAUNCHES);

	return fmax(0, cost_scalar(r, "gpu.launch.sync") - start.enqueue - start.gap);
}

double law_overlapped(struct cost_reader *r, const struct kernel_work *work, size_t count,
        enum law_form form, int overlap, struct law_answer *a)
{
	double total = 0, waits = 0;

	for (int t = 0; t < LAW_TERMS; t++)
		a->term[t] = 0;
	a->body = a->device = 0;
	for (size_t i = 0; i < count; i++) {
		struct kernel_work w;
		if (!law_transform(r, &work[i], form, &w, &a->fault))
			return NAN;
		const struct start start = start_of_work(r, &w, form);
		const struct law_place p = law_place(r, &w);
		if (i == 0)
			a->place = p;
		const double efficiency = w.efficiency.value > 0 ? w.efficiency.value : 1,
		             device = body(r, &w, &p, overlap, a->term) / efficiency,
		             begun = start.gap + device;
		a->body += w.launches * device;
		a->device += w.launches * begun;
		total += w.launches * (w.waits > 0 ? start.enqueue + begun + notice(r)
		                                   : fmax(start.enqueue, begun));
		waits += work[i].waits;
	}
	if (form == FORM_GRAPH) {
		/* The first node starts as a kernel does; the host waits for the whole. */
		total = fmax(total, cost_scalar(r, "gpu.launch.graph")) +
		        fmax(0, start_of(r, FORM_LAUNCHES).gap - start_of(r, form).gap) +
		        (waits > 0 ? cost_scalar(r, "gpu.launch.graph") + notice(r) : 0);
	}
	a->term[LAW_LAUNCH] = total - a->body;
	return total;
}

static enum law_term limiter_of(const double term[LAW_TERMS])
{
	enum law_term longest = LAW_LAUNCH;

	for (int t = 0; t < LAW_TERMS; t++)
		if (term[t] > term[longest])
			longest = (enum law_term)t;
	return longest;
}

struct law_answer law_answer_in_form(
        struct cost_reader *r, const struct kernel_work *work, size_t count, enum law_form form)
{
	struct law_answer a = {.low = NAN, .high = NAN};

	a.seconds = law_overlapped(r, work, count, form, 0, &a);
	if (r->model.missing) {
		fault_set(&a.fault, "the profile has no %s, which the law needs: run fathom probe",
		        r->model.missing_name);
		a.seconds = NAN;
	}
	a.limiter = limiter_of(a.term);
	return a;
}
