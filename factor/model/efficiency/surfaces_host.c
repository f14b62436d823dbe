/* SPDX-License-Identifier: MIT */
/* Surfaces of the host: calls of BLAS and LAPACK, and the passes of Gram-Schmidt. */
#include "factor/kernels/gram_schmidt/gram_levels.h"
#include "factor/kernels/gram_schmidt/gram_threads_work.h"
#include "factor/kernels/lu/host_panel.h"
#include "factor/model/law/host_law.h"
#include "host_surfaces.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

/* A point of a surface; arguments that the row has not are NaN. */
struct host_point {
	struct cost_reader *reader;
	const char *name; /* after "host." */
	enum precision precision;
	double m, n, threads, bytes, level;
};

typedef size_t (*library_function)(const struct host_call *, struct host_work *);

/* Panels and solves run on the threads of host_panel.h, products on all, the rest on one. */
static const struct library {
	const char *name;
	library_function work;
	enum { ONE, BY_PANEL, BY_SOLVE, ALL } threads;
} libraries[] = {{"iamax.?", host_library_iamax, ONE}, {"scal.?", host_library_scal, ONE},
        {"swap.?", host_library_swap, ONE}, {"ger.?", host_library_ger, ONE},
        {"gemm.*", host_library_gemm, ALL}, {"getrf.*", host_library_getrf, BY_PANEL},
        {"geqrf.?", host_library_geqrf, BY_PANEL}, {"potrf.?", host_library_potrf, BY_PANEL},
        {"potrf_rows.?", host_library_potrf_rows, BY_SOLVE}};

static size_t library_works(const struct library *l, struct host_point *p, struct host_work *work)
{
	const double all = host_law_threads(p->reader), m = isnan(p->m) ? p->n : p->m,
	             bytes = m * p->n * (double)precision_bytes(p->precision);
	const double own = l->threads == ALL        ? all
	                   : l->threads == BY_PANEL ? host_panel_threads((int64_t)bytes, (int)all)
	                   : l->threads == BY_SOLVE ? host_solve_threads(m, p->n, (int)all)
	                                            : 1;
	const struct host_call call = {p->precision, m, p->n, isnan(p->threads) ? own : p->threads};

	return isnan(call.m * call.n) ? 0 : l->work(&call, work);
}

/* Columns of a pass on average: the host_gram probe times some steps of a factorization, whose
 * columns become fewer. The column of the step itself is not changed. */
static double columns_of(const struct host_point *p, enum gram_threads_pass pass, double all)
{
	const double most = p->level == GRAM_FAR ? GRAM_FAR_STEPS : GRAM_STEPS,
	             steps = fmin(p->threads, most);

	return all - (pass == GRAM_THREADS_DOTS ? 0 : 1) - (steps - 1) / 2;
}

/* Levels are numbers of columns by the caches of the machine. */
static size_t gram_works(const struct host_point *p, struct host_work *work)
{
	static const char *const passes[] = {"gram.dots", "gram.update", "gram.fused"};
	struct gram_threads_call call = {p->threads, 0, p->bytes, SINGLE};

	if (strcmp(p->name, "gram.handed") == 0) {
		gram_threads_handed_work(p->bytes, work);
		return !isnan(p->bytes);
	}
	if (isnan(p->bytes + p->threads + p->level))
		return 0;
	const double l1 = cost_scalar(p->reader, "host.l1.stated"),
	             l2 = cost_scalar(p->reader, "host.l2.stated");
	for (int pass = 0; pass < (int)ARRAY_LEN(passes); pass++)
		if (strcmp(p->name, passes[pass]) == 0) {
			const double each =
			        gram_columns_at((enum gram_level)p->level, p->bytes, l1, l2);
			call.columns =
			        columns_of(p, (enum gram_threads_pass)pass, p->threads * each);
			gram_threads_pass_work(&call, (enum gram_threads_pass)pass, work);
			return 1;
		}
	call.columns = p->threads * GRAM_TOGETHER *
	               gram_groups_at((enum gram_apply_level)p->level, p->bytes, l2);
	gram_threads_apply_work(
	        &call, strcmp(p->name, "gram.few") == 0 ? GRAM_FEW : GRAM_MANY, work);
	return GRAM_APPLY_PARTS;
}

size_t host_surface_works(
        struct cost_reader *reader, const struct parameter *row, struct host_work *work)
{
	const char *const name = row->name + strlen("host."), *const end = name + strlen(name);
	struct host_point p = {reader, name, end[-1] == 'd' ? DOUBLE : SINGLE,
	        profile_row_argument(row, "m"), profile_row_argument(row, "n"),
	        profile_row_argument(row, "threads"), profile_row_argument(row, "bytes"),
	        profile_row_argument(row, "level")};

	if (strncmp(name, "gram.", strlen("gram.")) == 0)
		return gram_works(&p, work);
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
		if (fnmatch(libraries[i].name, name, 0) == 0)
			return library_works(&libraries[i], &p, work);
	return 0;
}
