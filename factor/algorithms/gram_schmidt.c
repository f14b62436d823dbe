/* SPDX-License-Identifier: MIT */
/* The forms by name, their checks and their workspace. */
#include "gram_schmidt_internal.h"

#include "plan.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct form {
	bool (*run)(struct gram_process *);
	bool in_blocks, twice;
};

const char *const gram_schmidt_forms[] = {
        "blas", "kernels", "fused", "blocked", "block", "twice", "direct", "shared", "wide", NULL};

static const struct form forms[] = {{gram_run_blas, false, false}, {gram_run_kernels, false, false},
        {gram_run_fused, false, false}, {gram_run_blocked, true, false},
        {gram_run_block, true, false}, {gram_run_twice, true, true},
        {gram_run_shaped, false, false}, {gram_run_shaped, false, false},
        {gram_run_shaped, false, false}};
static const struct form *const twice = &forms[5];

/* Blocks of threads near the fastest for many and for few columns. */
static const struct {
	const char *form;
	struct gram_shape shape;
} shaped[] = {{"direct", {GRAM_DIRECT, 256, 1}}, {"shared", {GRAM_SHARED, 256, 1}},
        {"wide", {GRAM_WIDE, 256, 1}}};

static bool is_called(const char *name, const char *form)
{
	size_t length = strlen(form);

	return strncmp(name, form, length) == 0 && (name[length] == '\0' || name[length] == '=');
}

struct gram_shape gram_schmidt_shape(const char *name)
{
	const char *blocks = strchr(name, '=');
	struct gram_shape shape = {GRAM_OWN, 0, 0};
	char end;

	for (size_t i = 0; i < ARRAY_LEN(shaped); i++)
		if (is_called(name, shaped[i].form))
			shape = shaped[i].shape;
	if (blocks && (sscanf(blocks, "=%dx%d%c", &shape.nx, &shape.ny, &end) != 2 ||
	                      !gram_shape_allowed(shape)))
		shape.access = GRAM_OWN;
	return shape;
}

static const struct form *find_form(struct gram_process *s, const char *name)
{
	s->shape = gram_schmidt_shape(name);
	for (size_t i = 0; gram_schmidt_forms[i]; i++)
		if (s->shape.access == GRAM_OWN ? strcmp(gram_schmidt_forms[i], name) == 0
		                                : is_called(name, gram_schmidt_forms[i]))
			return &forms[i];
	fault_set(&s->e->fault,
	        "unknown form \"%s\" of Gram-Schmidt: use blas, kernels, fused, blocked, block, "
	        "twice, or direct, shared, wide, which may end in =NXxNY",
	        name);
	return NULL;
}

static bool check(const struct gram_process *s, const struct form *form)
{
	struct fault *fault = &s->e->fault;
	int64_t n = s->a.n - s->basis;

	if (n < 1 || s->basis < 0)
		return fault_set(fault,
		        "%" PRId64 " columns can't be made orthonormal: at least "
		        "one is needed",
		        n);
	if (s->a.m < s->a.n)
		return fault_set(fault,
		        "%" PRId64 " columns of %" PRId64
		        " rows can't all be orthogonal: m >= n is needed",
		        s->a.n, s->a.m);
	if (s->k != s->a.n &&
	        (s->k < 1 || s->k > s->a.n || form->run == gram_run_block || form->twice))
		return fault_set(fault,
		        "the first %" PRId64 " of %" PRId64
		        " columns alone: not so many, and not by block or twice",
		        s->k, s->a.n);
	if (form->in_blocks && s->nb < 1)
		return fault_set(
		        fault, "a block of %" PRId64 " columns: at least one is needed", s->nb);
	if (s->shape.access != GRAM_OWN && s->e->on_host)
		return fault_set(fault, "blocks of threads are the GPU's: use kernels on the host");
	return matrix_check(s->e, s->a);
}

static void take_workspace(struct gram_process *s, const struct form *form, void *work)
{
	struct workspace workspace = {work, 0};
	enum precision precision = s->a.precision;
	int64_t n = s->a.n - s->basis;
	int64_t w = form->in_blocks ? min_int64(s->nb, n) : n;

	s->norms = workspace_matrix(&workspace, n, 1, precision);
	s->pass = workspace_bytes(
	        &workspace, s->e->ops->gram_work(s->e, matrix_view(s->a, 0, 0, s->a.m, w)));
	if (form->twice) {
		s->norms2 = workspace_matrix(&workspace, w, 1, precision);
		s->again = workspace_matrix(&workspace, s->a.n, w, precision);
		s->r1 = workspace_matrix(&workspace, w, w, precision);
		s->r2 = workspace_matrix(&workspace, w, w, precision);
	}
	s->bytes = workspace.used;
}

static int64_t work_of(struct gram_process *s, const struct form *form)
{
	if (!form || !check(s, form))
		return -1;
	take_workspace(s, form, NULL);
	return s->bytes;
}

static bool run(struct gram_process *s, const struct form *form, void *work)
{
	int64_t n = s->a.n - s->basis;

	if (!form || !check(s, form))
		return false;
	take_workspace(s, form, work);
	return ex_clear_info(s->e, s->info) && ex_fill(s->e, WHOLE, 0, 0, s->r) &&
	       ex_column_norms(s->e, matrix_view(s->a, 0, s->basis, s->a.m, n), s->norms) &&
	       form->run(s);
}

int64_t gram_schmidt_work(struct executor *e, const char *name, int64_t nb, struct matrix a)
{
	struct gram_process s = {.e = e, .a = a, .nb = nb, .k = a.n};

	return work_of(&s, find_form(&s, name));
}

bool gram_schmidt_first(struct executor *e, const char *name, int64_t nb, int64_t k,
        struct matrix a, struct matrix r, void *work, int *info)
{
	struct gram_process s = {.e = e, .a = a, .r = r, .nb = nb, .k = k, .info = info};

	return run(&s, find_form(&s, name), work);
}

bool gram_schmidt(struct executor *e, const char *name, int64_t nb, struct matrix a,
        struct matrix r, void *work, int *info)
{
	return gram_schmidt_first(e, name, nb, a.n, a, r, work, info);
}

int64_t orthogonalize_work(struct executor *e, int64_t nb, struct matrix a, int64_t basis)
{
	struct gram_process s = {.e = e, .a = a, .nb = nb, .k = a.n, .basis = basis};

	return work_of(&s, twice);
}

bool orthogonalize(struct executor *e, int64_t nb, struct matrix a, int64_t basis, struct matrix r,
        void *work, int *info)
{
	struct gram_process s = {
	        .e = e, .a = a, .r = r, .nb = nb, .k = a.n, .info = info, .basis = basis};

	return run(&s, twice, work);
}
