/* SPDX-License-Identifier: MIT */
/* The candidates beside the paper's algorithms: they use no zeros and have the fewest calls. They
 * take 2 n^2 (m - n / 3) operations for m x n elements, 4 m n - 2 n^2 for each column of d and row
 * of q. */
#include "qr_update_paper_internal.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/solve.h"

bool paper_whole_workspace(struct paper *s, struct paper_whole *whole, struct workspace *workspace,
        struct matrix a, struct matrix d, struct matrix q)
{
	struct executor *e = s->e;
	const struct plan *plan = &whole->plan.plan;

	plan_default(e, GEQRF, a.m, a.n, a.precision, false, &whole->plan);
	whole->tau = workspace_matrix(workspace, a.n, 1, a.precision);
	int64_t bytes[3] = {geqrf_work(e, plan, a)};
	if (d.n > 0)
		bytes[1] = ormqr_work(e, plan, LEFT, a, whole->tau, d);
	if (q.m > 0)
		bytes[2] = ormqr_work(e, plan, RIGHT, a, whole->tau, q);
	whole->work =
	        workspace_bytes(workspace, max_int64(bytes[0], max_int64(bytes[1], bytes[2])));
	return bytes[0] >= 0 && bytes[1] >= 0 && bytes[2] >= 0;
}

bool paper_whole_run(const struct paper *s, const struct paper_whole *whole, struct matrix a,
        struct matrix d, struct matrix q)
{
	struct executor *e = s->e;
	const struct plan *plan = &whole->plan.plan;
	struct matrix tau = matrix_view(whole->tau, 0, 0, a.n, 1);

	return paper_begin(s, PAPER_WHOLE) && geqrf(e, plan, a, tau, whole->work) &&
	       (d.n == 0 || ormqr(e, plan, LEFT, TRANSPOSED, a, tau, d, whole->work)) &&
	       (q.m == 0 || (paper_begin(s, PAPER_APPLY_Q) &&
	                            ormqr(e, plan, RIGHT, PLAIN, a, tau, q, whole->work))) &&
	       paper_begin(s, PAPER_LAYOUT) &&
	       ex_fill(e, LOWER, 0, 0, matrix_view(a, 1, 0, a.m - 1, min_int64(a.n, a.m - 1)));
}
