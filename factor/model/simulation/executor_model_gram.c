/* SPDX-License-Identifier: MIT */
/* The model executor's operations of Gram-Schmidt. */
#include "executor_model_internal.h"

#define COST(name, ...) model_blocks(e)->name(model_reader(e), __VA_ARGS__)

/* clang-format off */

MODEL_OPERATION(column_norms, PHASE_SEARCH, a, 0, COST(column_norms, a),
	struct matrix a, struct matrix norms)
MODEL_OPERATION(gram_panel, PHASE_PANEL, g->a, 0, COST(gram_panel, g->a),
	const struct gram_schmidt *g)
MODEL_OPERATION(gram_apply, PHASE_UPDATE, a, q.n, COST(gram_apply, a, q.n, single),
	struct matrix q, struct matrix r, struct matrix a, bool single)

/* clang-format on */

/* The direction in which our kernels go through the columns (factor/kernels/gram_schmidt/gram_schmidt_pass.cuh). */
static enum way way_of(enum gram_step step, int64_t j)
{
	if (step == GRAM_FUSED)
		return j & 1 ? FORWARDS : BACKWARDS;
	return step == GRAM_DOTS ? FORWARDS : BACKWARDS;
}

static bool gram_pass(struct executor *e, enum phase phase, const char *name, enum gram_step step,
        const struct gram_schmidt *g, int64_t j)
{
	struct simulated *s = model_self(e);
	struct matrix a = matrix_view(g->a, 0, j, g->a.m, g->a.n - j);
	const enum way way = way_of(step, j);

	s->reader.same_way = s->way == way;
	s->way = way;
	struct cost cost = g->shape.access != GRAM_OWN
	                             ? s->blocks->gram_shaped(&s->reader, step, g->shape, a)
	                             : s->blocks->gram_pass(&s->reader, step, a);

	s->reader.same_way = false;
	return model_charge(e, phase, name, a, 0, cost);
}

static bool model_gram_dots(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return gram_pass(e, PHASE_SEARCH, "gram_dots", GRAM_DOTS, g, j);
}

static bool model_gram_update(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return gram_pass(e, PHASE_UPDATE, "gram_update", GRAM_UPDATE, g, j);
}

static bool model_gram_scale(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return gram_pass(e, PHASE_SCALE, "gram_scale", GRAM_SCALE, g, j);
}

static bool model_gram_fused(struct executor *e, const struct gram_schmidt *g, int64_t j)
{
	return gram_pass(e, PHASE_UPDATE, "gram_fused", GRAM_FUSED, g, j);
}

void model_add_gram(struct executor_ops *ops)
{
	ops->column_norms = model_column_norms;
	ops->gram_work = model_no_work;
	ops->gram_dots = model_gram_dots;
	ops->gram_update = model_gram_update;
	ops->gram_scale = model_gram_scale;
	ops->gram_fused = model_gram_fused;
	ops->gram_panel = model_gram_panel;
	ops->gram_apply = model_gram_apply;
}
