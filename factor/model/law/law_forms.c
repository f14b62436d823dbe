/* SPDX-License-Identifier: MIT */
/* The same work as launches and as persistent kernels. */
#include "law_parts.h"

#include "lib/base/architecture.h"
#include "lib/base/msg.h"

#include <math.h>

enum { REGISTER_BYTES = 4 * ARCHITECTURE_REGISTERS };

static double exchanges(const struct kernel_work *w)
{
	return w->exchange[SCOPE_CLUSTER].count + w->exchange[SCOPE_GRID].count;
}

static double barriers(const struct kernel_work *w)
{
	return w->link[LINK_CLUSTER_BARRIER] + w->link[LINK_GRID_BARRIER];
}

enum law_form law_own_form(const struct kernel_work *w)
{
	if (w->link[LINK_GRID_BARRIER] > 0 || w->exchange[SCOPE_GRID].count > 0)
		return FORM_COOPERATIVE;
	return barriers(w) > 0 || exchanges(w) > 0 ? FORM_CLUSTER : FORM_LAUNCHES;
}

/* Work of so many launches in one, or of a part of one. */
static void scale(struct kernel_work *w, double factor)
{
	double *const amounts[] = {&w->dram.read, &w->dram.written, &w->l2.read, &w->l2.written,
	        &w->wavefronts, &w->atomics, &w->instructions};

	for (size_t i = 0; i < ARRAY_LEN(amounts); i++)
		*amounts[i] *= factor;
	for (int i = 0; i < PIPE_COUNT; i++)
		w->operations[i] *= factor;
	for (int i = 0; i < LINK_COUNT; i++)
		w->link[i] *= factor;
}

/* What is kept on chip between steps moves through L2 in each, or DRAM where L2 does not hold
 * it. */
static void move_state(struct cost_reader *r, struct kernel_work *w, double times)
{
	const double held = cost_l2_hits(r, w->state);

	w->l2.read = fmax(0, w->l2.read + times * held * w->state);
	w->l2.written = fmax(0, w->l2.written + times * held * w->state);
	w->dram.read = fmax(0, w->dram.read + times * (1 - held) * w->state);
	w->dram.written = fmax(0, w->dram.written + times * (1 - held) * w->state);
}

static void separate(struct cost_reader *r, const struct kernel_work *w, struct kernel_work *out)
{
	const double steps = 1 + fmax(barriers(w), exchanges(w));

	if (steps == 1)
		return;
	out->link[LINK_CLUSTER_BARRIER] = out->link[LINK_GRID_BARRIER] = 0;
	out->launches = w->launches * steps;
	scale(out, 1 / steps);
	move_state(r, out, 1);
	for (int s = 0; s < SCOPE_COUNT; s++) {
		/* every block writes its words, and reads those of one block */
		out->l2.read += out->exchange[s].bytes * out->exchange[s].count * w->blocks / steps;
		out->l2.written +=
		        out->exchange[s].bytes * out->exchange[s].count * w->blocks / steps;
		out->link[LINK_L2] += out->exchange[s].count / steps;
		out->exchange[s].count = 0;
	}
}

static bool join(struct cost_reader *r, const struct kernel_work *w, enum work_scope scope,
        struct kernel_work *out, struct fault *fault)
{
	const enum work_link mine = scope == SCOPE_GRID ? LINK_GRID_BARRIER : LINK_CLUSTER_BARRIER;
	const struct law_place p = law_place(r, w);
	const double most = architecture_of(r->tuning.device.capability)->max_cluster,
	             room = scope == SCOPE_GRID ? p.resident * p.sms : most,
	             sms = fmin(scope == SCOPE_GRID ? p.sms : most, w->blocks);

	if (w->state > 0) {
		const double chip = sms * (cost_scalar(r, "gpu.shared.per_block") + REGISTER_BYTES);
		if (w->state > chip)
			return fault_set(fault,
			        "%.0f MB of state do not fit into the registers and shared memory "
			        "of %.0f multiprocessors, %.0f MB",
			        w->state / 1e6, sms, chip / 1e6);
	}
	out->launches = 1;
	out->waits = fmin(1, w->waits);
	scale(out, w->launches);
	if (w->launches > 1 && w->state > 0)
		move_state(r, out, 1 - w->launches);
	out->link[LINK_CLUSTER_BARRIER] = out->link[LINK_GRID_BARRIER] = 0;
	out->link[mine] = w->launches * (barriers(w) + 1) - 1;
	for (int s = 0; s < SCOPE_COUNT; s++)
		out->exchange[s].count = 0;
	out->exchange[scope] = (struct work_exchange){
	        fmax(w->exchange[SCOPE_CLUSTER].bytes, w->exchange[SCOPE_GRID].bytes),
	        w->launches * exchanges(w)};
	if (w->blocks > room) { /* its blocks go through those of a launch in turn */
		const double turns = ceil(w->blocks / room);
		for (int i = 0; i < LINK_CLUSTER_BARRIER; i++)
			out->link[i] *= turns;
		out->blocks = room;
	}
	if (scope == SCOPE_CLUSTER)
		out->cluster = out->blocks;
	return true;
}

bool law_transform(struct cost_reader *r, const struct kernel_work *w, enum law_form form,
        struct kernel_work *out, struct fault *fault)
{
	const struct law_place p = law_place(r, w);
	const double clusters = architecture_of(r->tuning.device.capability)->max_cluster;
	const bool own = form == law_own_form(w);

	*out = *w;
	if (form == FORM_GRAPH) /* the host waits for the whole */
		out->waits = 0;
	if (p.resident < 1)
		return fault_set(fault,
		        "a block of %.0f threads with %.0f registers each and %.0f bytes of shared "
		        "memory does not fit into a multiprocessor",
		        w->threads, w->registers, w->shared);
	if (form == FORM_GRAPH && !cost_known(r, "gpu.launch.graph_node"))
		return fault_set(fault, "the profile has no launch of graphs");
	if (form == FORM_PROGRAMMATIC && !cost_known(r, "gpu.launch.pdl"))
		return fault_set(fault, "the profile has no programmatic dependent launch");
	if (form == FORM_CLUSTER && (clusters <= 1 || !cost_known(r, "gpu.barrier.cluster")))
		return fault_set(fault, "the GPU has no clusters");
	if (form == FORM_CLUSTER && own && (w->cluster > 0 ? w->cluster : w->blocks) > clusters)
		return fault_set(fault, "a cluster has at most %.0f blocks", clusters);
	if (form == FORM_COOPERATIVE && own && w->blocks > p.resident * p.sms)
		return fault_set(fault,
		        "%.0f blocks that wait for each other: the multiprocessors hold %.0f",
		        w->blocks, p.resident * p.sms);
	if (form < FORM_COOPERATIVE)
		separate(r, w, out);
	else if (!own)
		return join(r, w, form == FORM_CLUSTER ? SCOPE_CLUSTER : SCOPE_GRID, out, fault);
	return true;
}
