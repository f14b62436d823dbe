/* SPDX-License-Identifier: MIT */
/* The calls of gemm and gemv, of both precisions. */
#include "fathom_handle.h"

/* inner: op(A)'s columns and op(B)'s rows; a and b come without sizes */
enum fathom_status call_multiply(struct fathom *h, char transa, char transb, int64_t inner,
        double alpha, struct matrix a, struct matrix b, double beta, struct matrix c)
{
	enum fathom_status status;
	enum trans ta, tb;

	if (!h || !call_trans(h, transa, &ta) || !call_trans(h, transb, &tb))
		return FATHOM_BAD_ARGUMENT;
	a.m = ta == PLAIN ? c.m : inner;
	a.n = ta == PLAIN ? inner : c.m;
	b.m = tb == PLAIN ? inner : c.n;
	b.n = tb == PLAIN ? c.n : inner;
	if (!call_shape(h, "A", a) || !call_shape(h, "B", b) || !call_shape(h, "C", c) ||
	        !call_matrix_given(h, "A", a) || !call_matrix_given(h, "B", b) ||
	        !call_matrix_given(h, "C", c))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, ex_gemm(h->e, ta, tb, alpha, a, b, beta, c))
	                              : status;
}

/* A vector as a column when its elements are next to each other, else as a row of a matrix. */
static struct matrix as_vector(
        const void *data, int64_t count, int64_t increment, enum precision precision)
{
	return increment == 1 ? call_column(data, count, precision)
	                      : call_matrix(data, 1, count, increment, precision);
}

/* The vector y of a sum without terms is scaled, as C of a product is. */
static bool multiply_vector(struct executor *e, enum trans trans, double alpha, struct matrix a,
        struct matrix x, double beta, struct matrix y)
{
	if (a.m > 0 && a.n > 0)
		return ex_gemv(e, trans, alpha, a, x, beta, y);
	return ex_gemm(e, PLAIN, PLAIN, alpha,
	        call_matrix(NULL, y.m, 0, max_int64(y.m, 1), a.precision),
	        call_matrix(NULL, 0, y.n, 1, a.precision), beta, y);
}

enum fathom_status call_multiply_vector(struct fathom *h, char letter, double alpha,
        struct matrix a, const void *x, int64_t incx, double beta, void *y, int64_t incy)
{
	enum fathom_status status;
	enum trans trans;

	if (!h || !call_trans(h, letter, &trans) || !call_shape(h, "A", a))
		return FATHOM_BAD_ARGUMENT;
	struct matrix in = as_vector(x, trans == PLAIN ? a.n : a.m, incx, a.precision);
	struct matrix out = as_vector(y, trans == PLAIN ? a.m : a.n, incy, a.precision);
	if (!call_shape(h, "x", in) || !call_shape(h, "y", out) || !call_matrix_given(h, "A", a) ||
	        !call_matrix_given(h, "x", in) || !call_matrix_given(h, "y", out))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status)
	               ? call_end(h, multiply_vector(h->e, trans, alpha, a, in, beta, out))
	               : status;
}
