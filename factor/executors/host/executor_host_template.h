/* SPDX-License-Identifier: MIT */
/* The host executor's operations in one precision. Included once with REAL float and once with REAL
 * double; NAME(x), BLAS(x) and LAPACK(x) give the names of that precision, IAMAX its search,
 * REAL_SAFE the smallest number with a finite reciprocal.
 *
 * The fused and resident operations are plain C, the reference of the kernels' tests. The pivot is
 * the entry of largest magnitude, in the lowest row on ties. NaN is larger than any number, and all
 * NaN are equal. Whole rows are swapped. A zero pivot leaves its column unchanged and sets info
 * once. The remaining columns are always updated. */

static REAL *NAME(at)(struct matrix a)
{
	return (REAL *)a.data + a.offset;
}

static int64_t NAME(iamax)(struct matrix x)
{
	return (int64_t)IAMAX((blasint)x.m, NAME(at)(x), 1);
}

static double NAME(get)(struct matrix element)
{
	return (double)*NAME(at)(element);
}

static void NAME(swap)(struct matrix x, struct matrix y)
{
	BLAS(swap)
	((blasint)x.n, NAME(at)(x), (blasint)x.ld, NAME(at)(y), (blasint)y.ld);
}

static void NAME(scal)(double alpha, struct matrix x)
{
	REAL *at = NAME(at)(x);

	/* OpenBLAS takes a NaN for zero */
	for (int64_t i = 0; isnan(alpha) && i < x.m * x.n; i++)
		at[x.n == 1 ? i : i * x.ld] = (REAL)alpha;
	if (isnan(alpha))
		return;
	BLAS(scal)
	((blasint)(x.m * x.n), (REAL)alpha, at, x.n == 1 ? 1 : (blasint)x.ld);
}

static void NAME(scale_by)(struct matrix element, struct matrix column)
{
	REAL pivot = *NAME(at)(element), *x = NAME(at)(column);
	REAL magnitude = pivot < 0 ? -pivot : pivot, reciprocal = 1 / pivot;

	if (pivot == 0)
		return;
	for (int64_t i = 0; i < column.m; i++)
		x[i] = magnitude < REAL_SAFE ? x[i] / pivot : x[i] * reciprocal;
}

static void NAME(ger)(struct matrix x, struct matrix y, struct matrix a)
{
	BLAS(ger)
	(CblasColMajor, (blasint)a.m, (blasint)a.n, -1, NAME(at)(x), 1, NAME(at)(y), (blasint)y.ld,
	        NAME(at)(a), (blasint)a.ld);
}

static int NAME(zero_pivot)(struct matrix a)
{
	const REAL *x = NAME(at)(a);

	for (int64_t j = 0; j < a.n; j++)
		if (x[j + j * a.ld] == 0)
			return (int)(j + 1);
	return 0;
}

/* Row of the pivot of column j among rows j and below. */
static int64_t NAME(reference_search)(struct matrix a, int64_t j)
{
	const REAL *x = NAME(at)(a) + j * a.ld;
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
	REAL *x = NAME(at)(a);

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
	REAL *x = NAME(at)(a), *left = x + j * a.ld;

	NAME(scale_by)(matrix_view(a, j, j, 1, 1), matrix_view(a, j + 1, j, a.m - j - 1, 1));
	for (int64_t c = j + 1; c < a.n; c++) {
		REAL *column = x + c * a.ld, top = column[j];
		for (int64_t i = j + 1; i < a.m; i++)
			column[i] -= left[i] * top;
	}
}

/* ---- blocks ---- */

static void NAME(gemm)(enum trans ta, enum trans tb, double alpha, struct matrix a, struct matrix b,
        double beta, struct matrix c)
{
	int64_t k = ta == PLAIN ? a.n : a.m;

	BLAS(gemm)
	(CblasColMajor, blas_trans(ta), blas_trans(tb), (blasint)c.m, (blasint)c.n, (blasint)k,
	        (REAL)alpha, NAME(at)(a), (blasint)a.ld, NAME(at)(b), (blasint)b.ld, (REAL)beta,
	        NAME(at)(c), (blasint)c.ld);
}

static void NAME(syrk)(enum uplo uplo, enum trans trans, double alpha, struct matrix a, double beta,
        struct matrix c)
{
	int64_t k = trans == PLAIN ? a.n : a.m;

	BLAS(syrk)
	(CblasColMajor, blas_uplo(uplo), blas_trans(trans), (blasint)c.n, (blasint)k, (REAL)alpha,
	        NAME(at)(a), (blasint)a.ld, (REAL)beta, NAME(at)(c), (blasint)c.ld);
}

static void NAME(trsm)(enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        double alpha, struct matrix a, struct matrix b)
{
	BLAS(trsm)
	(CblasColMajor, side == LEFT ? CblasLeft : CblasRight, blas_uplo(uplo), blas_trans(trans),
	        blas_diag(diag), (blasint)b.m, (blasint)b.n, (REAL)alpha, NAME(at)(a),
	        (blasint)a.ld, NAME(at)(b), (blasint)b.ld);
}

static double NAME(nrm2)(struct matrix x)
{
	return (double)BLAS(nrm2)((blasint)x.m, NAME(at)(x), 1);
}

static void NAME(gemv)(enum trans trans, double alpha, struct matrix a, struct matrix x,
        double beta, struct matrix y)
{
	REAL *out = NAME(at)(y);
	int64_t stride = y.n == 1 ? 1 : y.ld, count = trans == PLAIN ? a.m : a.n;

	/* beta = 0 overwrites; OpenBLAS may scale a NaN instead */
	for (int64_t i = 0; beta == 0 && i < count; i++)
		out[i * stride] = 0;
	BLAS(gemv)
	(CblasColMajor, blas_trans(trans), (blasint)a.m, (blasint)a.n, (REAL)alpha, NAME(at)(a),
	        (blasint)a.ld, NAME(at)(x), x.n == 1 ? 1 : (blasint)x.ld, (REAL)beta, out,
	        (blasint)stride);
}

static void NAME(fill)(enum uplo uplo, double off, double on, struct matrix a)
{
	REAL *x = NAME(at)(a);

	for (int64_t j = 0; j < a.n; j++)
		for (int64_t i = 0; i < a.m; i++)
			if (i == j)
				x[i + j * a.ld] = (REAL)on;
			else if (uplo == WHOLE || (uplo == LOWER) == (i > j))
				x[i + j * a.ld] = (REAL)off;
}

static void NAME(copy)(enum uplo uplo, struct matrix from, struct matrix to)
{
	char part = uplo == LOWER ? 'L' : uplo == UPPER ? 'U' : 'A';

	LAPACK(lacpy_work)
	(LAPACK_COL_MAJOR, part, (lapack_int)from.m, (lapack_int)from.n, NAME(at)(from),
	        (lapack_int)from.ld, NAME(at)(to), (lapack_int)to.ld);
}

/* Column j of the inverse, by substitution; only its triangle is written. */
static void NAME(invert_column)(enum uplo uplo, enum diag diag, struct matrix a, int64_t j, REAL *x)
{
	const REAL *t = NAME(at)(a);
	int64_t step = uplo == LOWER ? 1 : -1;

	x[j] = 1;
	for (int64_t k = j; k >= 0 && k < a.n; k += step) {
		if (diag == NON_UNIT)
			x[k] /= t[k + k * a.ld];
		for (int64_t i = k + step; i >= 0 && i < a.n; i += step)
			x[i] -= t[i + k * a.ld] * x[k];
	}
}

static void NAME(trtri)(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse)
{
	NAME(fill)(WHOLE, 0, 0, inverse);
	for (int64_t j = 0; j < a.n; j++)
		NAME(invert_column)(uplo, diag, a, j, NAME(at)(inverse) + j * inverse.ld);
}

/* Largest magnitude in a triangle, NaN if any element is NaN; a unit diagonal counts as 1. */
static REAL NAME(largest)(enum uplo uplo, enum diag diag, struct matrix a)
{
	const REAL *x = NAME(at)(a);
	REAL largest = 0;

	for (int64_t j = 0; j < a.n; j++)
		for (int64_t i = uplo == LOWER ? j : 0; i < (uplo == LOWER ? a.n : j + 1); i++) {
			REAL value = i == j && diag == UNIT ? 1 : x[i + j * a.ld];
			REAL magnitude = value < 0 ? -value : value;
			if (magnitude > largest || magnitude != magnitude)
				largest = magnitude;
			if (largest != largest)
				return largest;
		}
	return largest;
}

static bool NAME(trusted)(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse)
{
	return NAME(largest)(uplo, diag, a) * NAME(largest)(uplo, NON_UNIT, inverse) <=
	       (REAL)EXECUTOR_INVERSE_GROWTH;
}

static void NAME(laswp)(struct matrix a, struct pivots p, bool backwards)
{
	LAPACK(laswp_work)
	(LAPACK_COL_MAJOR, (lapack_int)a.n, NAME(at)(a), (lapack_int)a.ld, 1, (lapack_int)p.n,
	        p.data, backwards ? -1 : 1);
}

/* The product of rows i and j of the factor's first j columns. */
static REAL NAME(potrf_sum)(const REAL *x, int64_t down, int64_t right, int64_t i, int64_t j)
{
	REAL sum = 0;

	for (int64_t k = 0; k < j; k++)
		sum += x[i * down + k * right] * x[j * down + k * right];
	return sum;
}

/* Row of the first pivot that is not positive, or 0. Unblocked and in plain C, because OpenBLAS
 * takes the square root of a NaN pivot and continues. Left-looking, as potf2: each element is
 * rounded once. */
static int NAME(potrf)(enum uplo uplo, struct matrix a)
{
	REAL *x = NAME(at)(a);
	int64_t down = uplo == LOWER ? 1 : a.ld, right = uplo == LOWER ? a.ld : 1;

	for (int64_t j = 0; j < a.n; j++) {
		REAL *column = x + j * right;
		REAL pivot = column[j * down] - NAME(potrf_sum)(x, down, right, j, j);
		if (!(pivot > 0))
			return (int)(j + 1);
		pivot = NAME(root)(pivot);
		column[j * down] = pivot;
		for (int64_t i = j + 1; i < a.n; i++)
			column[i * down] =
			        (column[i * down] - NAME(potrf_sum)(x, down, right, i, j)) / pivot;
	}
	return 0;
}

/* LAPACKE's potrf, and a search for the NaN pivots that it does not report. */
static int NAME(fast_potrf)(enum uplo uplo, struct matrix a)
{
	const REAL *x = NAME(at)(a);
	int info = (int)LAPACK(potrf_work)(LAPACK_COL_MAJOR, uplo == LOWER ? 'L' : 'U',
	        (lapack_int)a.n, NAME(at)(a), (lapack_int)a.ld);
	int64_t done = info > 0 ? info - 1 : a.n;

	for (int64_t j = 0; j < done; j++)
		if (x[j + j * a.ld] != x[j + j * a.ld])
			return (int)(j + 1);
	return info;
}

static int NAME(getrf)(struct matrix a, int *ipiv)
{
	return (int)LAPACK(getrf_work)(LAPACK_COL_MAJOR, (lapack_int)a.m, (lapack_int)a.n,
	        NAME(at)(a), (lapack_int)a.ld, ipiv);
}

static int NAME(geqrf)(struct matrix a, struct matrix tau, void *work)
{
	return (int)LAPACK(geqrf_work)(LAPACK_COL_MAJOR, (lapack_int)a.m, (lapack_int)a.n,
	        NAME(at)(a), (lapack_int)a.ld, NAME(at)(tau), work,
	        (lapack_int)(a.n * GEQRF_BLOCK));
}

/* Without LAPACKE's search for NaN. */
static int NAME(host_reflect)(
        struct matrix v, struct matrix tau, struct matrix c, void *work, int64_t words)
{
	return (int)LAPACK(ormqr_work)(LAPACK_COL_MAJOR, 'L', 'T', (lapack_int)c.m, (lapack_int)c.n,
	        (lapack_int)v.n, NAME(at)(v), (lapack_int)v.ld, NAME(at)(tau), NAME(at)(c),
	        (lapack_int)c.ld, work, (lapack_int)words);
}

static void NAME(explicit_v)(struct matrix a, struct matrix v)
{
	const REAL *x = NAME(at)(a);
	REAL *y = NAME(at)(v);

	for (int64_t j = 0; j < a.n; j++)
		for (int64_t i = 0; i < a.m; i++)
			y[i + j * v.ld] = i < j ? 0 : i == j ? 1 : x[i + j * a.ld];
}

static void NAME(larft)(struct matrix v, struct matrix tau, struct matrix t)
{
	NAME(fill)(LOWER, 0, 0, t);
	LAPACK(larft_work)
	(LAPACK_COL_MAJOR, 'F', 'C', (lapack_int)v.m, (lapack_int)v.n, NAME(at)(v),
	        (lapack_int)v.ld, NAME(at)(tau), NAME(at)(t), (lapack_int)t.ld);
}

static void NAME(rotate_pair)(struct matrix g, struct matrix x)
{
	const REAL c = NAME(at)(g)[0], s = NAME(at)(g)[1];
	REAL *left = NAME(at)(x), *right = left + x.ld;

	for (int64_t i = 0; i < x.m; i++) {
		REAL kept = left[i];
		left[i] = c * kept + s * right[i];
		right[i] = c * right[i] - s * kept;
	}
}

/* The eliminated element becomes exactly zero. */
static void NAME(make_rotations)(int64_t row, struct matrix x, struct matrix g)
{
	for (int64_t i = 0; i < g.n; i++) {
		REAL *made = NAME(at)(g) + i * g.ld;
		REAL *at = NAME(at)(x) + row + i + 2 * i * x.ld, a = at[0], b = at[x.ld];
		REAL r = NAME(hypot)(a, b);
		made[0] = b == 0 ? 1 : a / r;
		made[1] = b == 0 ? 0 : b / r;
		NAME(rotate_pair)(matrix_view(g, 0, i, 2, 1), matrix_view(x, 0, 2 * i, x.m, 2));
		at[0] = b == 0 ? a : r;
		at[x.ld] = 0;
	}
}

static void NAME(add_to_diagonal)(struct matrix x, struct matrix a)
{
	BLAS(axpy)((blasint)x.m, 1, NAME(at)(x), 1, NAME(at)(a), (blasint)a.ld + 1);
}

static void NAME(transpose)(struct matrix a, struct matrix b)
{
	const REAL *x = NAME(at)(a);
	REAL *y = NAME(at)(b);

	for (int64_t j = 0; j < a.n; j++)
		for (int64_t i = 0; i < a.m; i++)
			y[j + i * b.ld] = x[i + j * a.ld];
}

#undef REAL
#undef REAL_SAFE
#undef NAME
#undef BLAS
#undef IAMAX
#undef LAPACK
