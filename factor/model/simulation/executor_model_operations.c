/* SPDX-License-Identifier: MIT */
/* The model executor's operations, made from the table of operations: each charges its cost. */
#include "executor_model_internal.h"

#include "factor/kernels/gemm/half_pair.h"
#include "lib/base/msg.h"

#include <inttypes.h>
#include <math.h>

/* ---- columns of the table that need the executor ---- */

/* The direction in which our kernels go through the columns
 * (factor/kernels/gram_schmidt/gram_schmidt_pass.cuh). */
static enum way way_of(enum gram_step step, int64_t j)
{
	if (step == GRAM_FUSED)
		return j & 1 ? FORWARDS : BACKWARDS;
	return step == GRAM_DOTS ? FORWARDS : BACKWARDS;
}

static struct cost gram_pass(struct executor *e, const struct cost_model *costs,
        enum gram_step step, const struct gram_schmidt *g, int64_t j, struct operation_work work)
{
	struct simulated *s = model_self(e);
	struct cost_reader *reader = s->reader;
	const struct matrix a = matrix_view(g->a, 0, j, g->a.m, g->a.n - j);
	const bool shaped = g->shape.access != GRAM_OWN;
	struct cost cost;

	reader->same_way = s->way == way_of(step, j);
	s->way = way_of(step, j);
	if (shaped && costs->gram_shaped)
		cost = costs->gram_shaped(reader, step, g->shape, a);
	else if (!shaped && costs->gram_pass)
		cost = costs->gram_pass(reader, step, a);
	else
		cost = costs->by_work(reader, work);
	reader->same_way = false;
	return cost;
}

#define BY_WORK costs->by_work(reader, estimated)
#define COST(name, ...) (costs->name ? costs->name(reader, __VA_ARGS__) : BY_WORK)
#define GRAM_PASS(step) gram_pass(e, costs, step, g, j, estimated)
#define GEOMETRY &model_self(e)->geometry
#define SHAPE(m, n) model_shape(m, n)
#define FROM_COLUMN(a, j) model_shape((a).m, (a).n - (j))

/* Operations left out do not come here; a value that the host reads keeps the sequence going. */
#define SKIPS(phase) false
#define EMPTY(a) false
#define NEVER false
#define GIVES(result, value) ((*(result) = (value)), false)

/* ---- the operations ---- */

#define OPERATION(name, parameters, arguments, phase, left_out, ends, engine, shape, k, law, ...)  \
	static bool model_##name(struct executor *e, EXECUTOR_LIST parameters)                     \
	{                                                                                          \
		const struct cost_model *costs = model_self(e)->costs;                             \
		struct cost_reader *reader = model_reader(e);                                      \
		const struct operation_work estimated = __VA_ARGS__;                               \
		const bool known = !reader->model.missing;                                         \
                                                                                                   \
		reader->shares = e->shares;                                                        \
		reader->blas_only = e->blas_only;                                                  \
		reader->gram_double = e->gram_double;                                              \
		if (left_out)                                                                      \
			return true;                                                               \
		struct cost charged = law;                                                         \
		if (known && model_simplify(e, &costs)) {                                          \
			const struct cost simpler = law;                                           \
			if (model_simplified(e, #name))                                            \
				charged = simpler;                                                 \
		}                                                                                  \
		return model_charge(e, phase, #name, shape, k, charged);                           \
	}
#define CHOSEN OPERATION
#define OPTIONAL(name, parameters, arguments)                                                      \
	static bool model_##name(struct executor *e, EXECUTOR_LIST parameters)                     \
	{                                                                                          \
		const struct cost_model *costs = model_self(e)->costs;                             \
		struct cost_reader *reader = model_reader(e);                                      \
                                                                                                   \
		reader->shares = e->shares;                                                        \
		reader->blas_only = e->blas_only;                                                  \
		reader->gram_double = e->gram_double;                                              \
		return costs->name && costs->name(reader, EXECUTOR_LIST arguments);                \
	}
#include "factor/executors/operations.h"

/* ---- LU's panels in one kernel ---- */

static bool not_estimated(struct executor *e, const char *variant)
{
	return fault_set(&e->fault,
	        "variant %s is not estimated for the host: it is a reference there", variant);
}

static int64_t model_fused_work(struct executor *e, struct matrix a)
{
	return model_self(e)->target == MODEL_CUDA ? 0 : (not_estimated(e, "fused"), -1);
}

/* The panel's geometry on the profile's GPU. */
static bool choose_geometry(struct executor *e, struct matrix a)
{
	struct panel_geometry *g = &model_self(e)->geometry;
	struct cost_reader *r = model_reader(e);
	double sms = cost_scalar(r, "gpu.sm.count"),
	       shared = cost_scalar(r, "gpu.shared.per_block");

	if (isnan(sms) || isnan(shared))
		return fault_set(&e->fault,
		        "the profile has no %s, which says whether a panel fits on chip: run make "
		        "probe",
		        r->model.missing_name);
	bool (*choose)(int64_t, int64_t, int64_t, int, int64_t, struct panel_geometry *) =
	        e->queue == QUEUE_PANEL ? panel_geometry_beside : panel_geometry;
	if (choose(a.m, a.n, precision_bytes(a.precision), (int)sms, (int64_t)shared, g))
		return true;
	return fault_set(&e->fault,
	        "the panel does not fit on chip: %" PRId64 " rows of %" PRId64
	        " columns on each of %d multiprocessors take %" PRId64
	        " bytes of shared memory, there are %" PRId64,
	        g->rows_per_block, a.n, (int)sms, g->shared_bytes, (int64_t)shared);
}

static bool model_resident_fits(struct executor *e, struct matrix a)
{
	return model_self(e)->target == MODEL_CUDA ? choose_geometry(e, a)
	                                           : not_estimated(e, "persistent");
}

static bool fitting_panel(struct executor *e, struct matrix a, void *work, struct pivots p)
{
	return choose_geometry(e, a) && model_resident_panel(e, a, work, p);
}

/* ---- copies, and panels on the host ---- */

static bool model_stage(struct executor *e, int stage, int64_t m, int64_t n,
        enum precision precision, struct matrix *host)
{
	if (stage < 0 || stage >= EXECUTOR_STAGES)
		return fault_set(&e->fault, "stage %d is not below %d", stage, EXECUTOR_STAGES);
	*host = (struct matrix){NULL, 0, m, n, m, precision};
	return true;
}

static bool copy_to_host(struct executor *e, struct matrix from, struct matrix host)
{
	model_reader(e)->host_wrote = false;
	return model_to_host(e, from, host);
}

/* A panel by the host, with the few values that follow it into executor memory. */
static bool host_panel(struct executor *e, const char *operation, struct matrix host,
        struct cost (*panel)(struct cost_reader *, struct matrix), struct matrix values)
{
	const struct cost_model *costs = model_self(e)->costs;
	struct cost_reader *reader = model_reader(e);
	const struct operation_work estimated = SENDS(cost_bytes(values));

	reader->host_wrote = true;
	return model_charge(e, PHASE_PANEL, operation, host, 0, panel(reader, host)) &&
	       model_charge(e, PHASE_PANEL, "send", values, 0, COST(to_device, values));
}

/* Every pivot is the last row. */
static bool model_host_panel_getrf(
        struct executor *e, struct matrix host, struct pivots p, int *ipiv)
{
	const struct cost_model *costs = model_self(e)->costs;
	struct cost_reader *reader = model_reader(e);
	const struct operation_work estimated = SENDS((double)(p.n + 1) * sizeof(int));

	for (int64_t i = 0; ipiv && i < p.n; i++)
		ipiv[i] = (int)host.m;
	reader->host_wrote = true;
	return model_charge(
	               e, PHASE_PANEL, "host_getrf", host, 0, costs->host_getrf(reader, host)) &&
	       model_charge(
	               e, PHASE_PANEL, "send", model_shape(p.n + 1, 1), 0, COST(store_pivots, p.n));
}

static bool model_host_panel_geqrf(struct executor *e, struct matrix host, struct matrix tau)
{
	return host_panel(e, "host_geqrf", host, model_self(e)->costs->host_geqrf,
	        (struct matrix){NULL, 0, tau.m, 1, tau.m, tau.precision});
}

static bool model_host_panel_potrf(
        struct executor *e, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	return host_panel(e, "host_potrf", host, model_self(e)->costs->host_potrf,
	        (struct matrix){NULL, 0, 1, 1, 1, SINGLE});
}

/* Operations that need no workspace here. */
static int64_t no_work(struct executor *e, struct matrix a)
{
	return 0;
}

static int64_t no_band_work(struct executor *e, const struct band *band)
{
	return 0;
}

void model_add_operations(struct executor_ops *ops)
{
#define OPERATION(name, ...) ops->name = model_##name;
#define CHOSEN OPERATION
#define OPTIONAL OPERATION
#define HOST_PANEL OPERATION
#include "factor/executors/operations.h"
	ops->resident_fits = model_resident_fits;
	ops->resident_panel = fitting_panel;
	ops->stage = model_stage;
	ops->to_host = copy_to_host;
	ops->fused_work = model_fused_work;
	ops->resident_work = ops->gram_work = ops->geqrf_work = no_work;
	ops->band_work = no_band_work;
}
