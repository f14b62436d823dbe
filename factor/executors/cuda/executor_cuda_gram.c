/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt in the cuda executor. */
#include "executor_cuda.h"

#include "factor/kernels/gram_schmidt/gram_schmidt_kernels.h"

ONE_KERNEL(column_norms, (struct matrix a, struct matrix norms),
        gram_schmidt_norms(a, norms, stream(executor)))

/* Covers panels of 1 to a.n columns: narrow panels may take other kernels than wide ones. */
int64_t cuda_gram_work(struct executor *executor, struct matrix a)
{
	int64_t most = gram_schmidt_bytes(a.precision, a.m, a.n);

	(void)executor;
	for (int64_t n = a.n < GRAM_RESIDENT_COLUMNS ? a.n : GRAM_RESIDENT_COLUMNS; n > 0; n /= 2) {
		int64_t resident = gram_schmidt_resident_bytes(a.precision, a.m, n);
		most = resident > most ? resident : most;
	}
	return most;
}

static bool run_pass(struct cuda *x, enum gram_step step, const struct gram_schmidt *g, int64_t j)
{
	if (g->shape.access != GRAM_OWN)
		return cuda_ok(x, gram_schmidt_shaped(step, g, j, stream_of(x)), "Gram-Schmidt");
	return cuda_ok(x, gram_schmidt_pass(step, g, j, &x->gpu, stream_of(x)), "Gram-Schmidt");
}

bool cuda_gram_dots(struct executor *executor, const struct gram_schmidt *g, int64_t j)
{
	return run_pass(self(executor), GRAM_DOTS, g, j);
}

bool cuda_gram_update(struct executor *executor, const struct gram_schmidt *g, int64_t j)
{
	return run_pass(self(executor), GRAM_UPDATE, g, j);
}

bool cuda_gram_scale(struct executor *executor, const struct gram_schmidt *g, int64_t j)
{
	return run_pass(self(executor), GRAM_SCALE, g, j);
}

bool cuda_gram_fused(struct executor *executor, const struct gram_schmidt *g, int64_t j)
{
	return run_pass(self(executor), GRAM_FUSED, g, j);
}

/* In registers if the panel fits. */
bool cuda_gram_panel(struct executor *executor, const struct gram_schmidt *g)
{
	struct cuda *x = self(executor);
	if (gram_schmidt_resident_bytes(g->a.precision, g->a.m, g->a.n) >= 0)
		return cuda_ok(x, gram_schmidt_resident(g, stream_of(x)), "Gram-Schmidt panel");
	return gram_by_passes(executor, g, g->a.n);
}

bool cuda_gram_apply(
        struct executor *executor, struct matrix q, struct matrix r, struct matrix a, bool single)
{
	struct cuda *x = self(executor);
	return cuda_ok(x, gram_schmidt_apply(q, r, a, single, stream_of(x)), "Gram-Schmidt update");
}
