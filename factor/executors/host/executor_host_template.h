/* SPDX-License-Identifier: MIT */
/* The host executor's operations in one precision. Included once with REAL float and once with REAL
 * double; NAME(x) and BLAS(x) give the names of that precision, REAL_SAFE the smallest number with
 * a finite reciprocal.
 *
 * The fused and resident operations are plain C, the reference of the kernels' tests. The pivot is
 * the entry of largest magnitude, in the lowest row on ties. NaN is larger than any number, and all
 * NaN are equal. Whole rows are swapped. A zero pivot leaves its column unchanged and sets info
 * once. The remaining columns are always updated. */

static REAL *NAME(address)(struct matrix a)
{
	return (REAL *)a.data + a.offset;
}

static int64_t NAME(iamax)(struct matrix x)
{
	return (int64_t)BLAS(cblas_i, amax)((blasint)x.m, NAME(address)(x), 1);
}

static double NAME(get)(struct matrix element)
{
	return (double)*NAME(address)(element);
}

static void NAME(swap)(struct matrix x, struct matrix y)
{
	BLAS(cblas_, swap)
	((blasint)x.n, NAME(address)(x), (blasint)x.ld, NAME(address)(y), (blasint)y.ld);
}

static void NAME(scal)(double alpha, struct matrix x)
{
	REAL *at = NAME(address)(x);

	/* OpenBLAS takes a NaN for zero */
	for (int64_t i = 0; isnan(alpha) && i < x.m * x.n; i++)
		at[x.n == 1 ? i : i * x.ld] = (REAL)alpha;
	if (isnan(alpha))
		return;
	BLAS(cblas_, scal)
	((blasint)(x.m * x.n), (REAL)alpha, at, x.n == 1 ? 1 : (blasint)x.ld);
}

static void NAME(scale_by)(struct matrix element, struct matrix column)
{
	REAL pivot = *NAME(address)(element), *x = NAME(address)(column);
	REAL magnitude = pivot < 0 ? -pivot : pivot, reciprocal = 1 / pivot;

	if (pivot == 0)
		return;
	for (int64_t i = 0; i < column.m; i++)
		x[i] = magnitude < REAL_SAFE ? x[i] / pivot : x[i] * reciprocal;
}

static void NAME(ger)(struct matrix x, struct matrix y, struct matrix a)
{
	BLAS(cblas_, ger)
	(CblasColMajor, (blasint)a.m, (blasint)a.n, -1, NAME(address)(x), 1, NAME(address)(y),
	        (blasint)y.ld, NAME(address)(a), (blasint)a.ld);
}

static int NAME(zero_pivot)(struct matrix a)
{
	const REAL *x = NAME(address)(a);

	for (int64_t j = 0; j < a.n; j++)
		if (x[j + j * a.ld] == 0)
			return (int)(j + 1);
	return 0;
}

/* Row of the pivot of column j among rows j and below. */
static int64_t NAME(reference_search)(struct matrix a, int64_t j)
{
	const REAL *x = NAME(address)(a) + j * a.ld;
	REAL largest = -1;
	int64_t row = j;

	for (int64_t i = j; i < a.m; i++) {
		if (x[i] != x[i])
			return i;
		REAL magnitude = x[i] < 0 ? -x[i] : x[i];
		if (magnitude > largest) {
			largest = magnitude;
			row = i;
		}
	}
	return row;
}

static void NAME(reference_pivot)(struct matrix a, int64_t j, int64_t row, struct pivots p)
{
	REAL *x = NAME(address)(a);

	p.data[j] = (int)(row + 1);
	if (x[row + j * a.ld] == 0 && p.data[a.n] == 0)
		p.data[a.n] = (int)(j + 1);
	for (int64_t c = 0; c < a.n; c++) {
		REAL kept = x[j + c * a.ld];
		x[j + c * a.ld] = x[row + c * a.ld];
		x[row + c * a.ld] = kept;
	}
}

static void NAME(reference_update)(struct matrix a, int64_t j)
{
	REAL *x = NAME(address)(a), *left = x + j * a.ld;

	NAME(scale_by)(matrix_view(a, j, j, 1, 1), matrix_view(a, j + 1, j, a.m - j - 1, 1));
	for (int64_t c = j + 1; c < a.n; c++) {
		REAL *column = x + c * a.ld, top = column[j];
		for (int64_t i = j + 1; i < a.m; i++)
			column[i] -= left[i] * top;
	}
}

#undef REAL
#undef REAL_SAFE
#undef NAME
#undef BLAS
