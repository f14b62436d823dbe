/* SPDX-License-Identifier: MIT */
/* Of QR in single precision: columns that are nearly parallel. What is left of a column's norm,
 * kept up to date by taking squares of R's elements off its square (as Kerr's kernels and LAPACK's
 * column pivoting do), loses all its digits there; R's diagonal, whose norms are taken anew, does
 * not. Include it after struct problem, problem_open, problem_close and run. */

enum { PARALLEL_ROWS = 300, PARALLEL_COLUMNS = 40 };

/* What squares leave of column j's norm. */
static double norm_by_squares(const float *a, const float *r, int64_t lda, int64_t j)
{
	float left = 0;

	for (int64_t i = 0; i < PARALLEL_ROWS; i++)
		left += a[i + j * lda] * a[i + j * lda];
	for (int64_t i = 0; i < j; i++)
		left -= r[i + j * lda] * r[i + j * lda];
	return sqrt(fmax((double)left, 0));
}

static void test_partial_norms(struct executor *e, const struct plan *plan)
{
	const float apart = 1e-4f;
	struct problem p = {
	        .shape = {PARALLEL_ROWS, PARALLEL_COLUMNS, PARALLEL_ROWS + 3}, .precision = SINGLE};
	const int64_t lda = p.shape.lda;
	double tau[PARALLEL_COLUMNS], worst = 0, worst_by_squares = 0;

	problem_open(&p, MATRIX_RANDOM);
	float *a = p.before;
	for (int64_t j = 1; j < PARALLEL_COLUMNS; j++)
		for (int64_t i = 0; i < PARALLEL_ROWS; i++)
			a[i + j * lda] = a[i] + apart * a[i + j * lda];
	double *exact = to_doubles(a, lda, PARALLEL_ROWS, PARALLEL_COLUMNS, SINGLE);
	LAPACKE_dgeqrf(
	        LAPACK_COL_MAJOR, PARALLEL_ROWS, PARALLEL_COLUMNS, exact, PARALLEL_ROWS, tau);
	const bool good = run(e, plan, &p, 0xff);
	const float *r = p.after;
	for (int64_t j = 1; j < PARALLEL_COLUMNS; j++) {
		const double norm = fabs(exact[j + j * PARALLEL_ROWS]);
		worst = worse(worst, fabs(fabs((double)r[j + j * lda]) / norm - 1));
		worst_by_squares =
		        fmax(worst_by_squares, fabs(norm_by_squares(a, r, lda, j) / norm - 1));
	}
	ok(good && worst < 0.05 && worst_by_squares > 0.5,
	        "%s nb %d, panels on the %s: norms of nearly parallel columns to %.2g, by squares "
	        "to %.2g",
	        e->name, (int)plan->widths[0], plan->hybrid ? "host" : "device", worst,
	        worst_by_squares);
	free(exact);
	problem_close(&p);
}
