/* SPDX-License-Identifier: MIT */
/* Results of a random case, bit by bit: of repeated runs, and of a matrix times a power of two. */
#pragma once

#include "property_checks.h"

/* Whether element (i,j) of the matrix may be written. */
static inline bool property_written(const struct property_problem *p, int64_t i, int64_t j)
{
	if (i < 0 || j < 0 || i >= p->of->m || j >= p->of->n)
		return false;
	return p->of->operation != POTRF || (p->uplo == LOWER ? i >= j : i <= j);
}

/* Whether all other elements of the array are as before. */
static inline bool property_beside_intact(
        const struct property_problem *p, const struct property_result *r)
{
	const int64_t word = precision_bytes(p->precision);

	for (int64_t j = 0; j < p->columns; j++)
		for (int64_t i = 0; i < p->ld; i++) {
			const int64_t at = (i + j * p->ld) * word;
			if (!property_written(p, i - p->of->above, j - p->of->before) &&
			        memcmp((char *)r->after + at, (char *)p->before + at,
			                (size_t)word) != 0)
				return false;
		}
	return true;
}

static inline bool property_same_bits(const struct property_problem *p,
        const struct property_result *x, const struct property_result *y)
{
	return memcmp(x->after, y->after, property_bytes(p)) == 0 &&
	       memcmp(x->x, y->x, property_right_bytes(p)) == 0 &&
	       memcmp(x->tau, y->tau, (size_t)p->k * sizeof(double)) == 0 &&
	       memcmp(x->ipiv, y->ipiv, (size_t)p->k * sizeof(int)) == 0 && x->info == y->info &&
	       x->solve_info == y->solve_info;
}

/* ---- a power of two ---- */

/* Of the matrix. Roots of Cholesky's scale are powers of two, too. LU's may be negative; QR takes
 * its signs from elements, and a zero has none. */
static inline double property_scale_of(const struct property_case *c)
{
	if (c->operation == POTRF)
		return ldexp(1, 2 * (int)c->exponent);
	return ldexp(c->negative && c->operation == GETRF ? -1 : 1, (int)c->exponent);
}

static inline void property_scale(struct property_problem *p)
{
	const double scale = property_scale_of(p->of);

	for (int64_t i = 0; i < p->ld * p->columns; i++)
		put(p->before, i, p->precision, scale * get(p->before, i, p->precision));
}

/* Whether y is x times scale; a NaN is any NaN. */
static inline bool property_is_scaled(
        const void *x, const void *y, int64_t at, double scale, enum precision precision)
{
	const double before = scale * get(x, at, precision), after = get(y, at, precision);

	return before == after || (isnan(before) && isnan(after));
}

/* What an element of the factors is multiplied by. */
static inline double property_factor_scale(const struct property_problem *p, int64_t i, int64_t j)
{
	const double scale = property_scale_of(p->of);

	if (p->of->operation == POTRF)
		return sqrt(scale);
	return i <= j ? scale : 1;
}

/* And of row i of the solve's result. Below a least-squares solution is its residual. */
static inline double property_solution_scale(const struct property_problem *p, int64_t i)
{
	const struct property_case *c = p->of;

	if (c->operation == GEQRF && (c->solve != SOLVE_GELS || i >= (c->transposed ? c->m : c->n)))
		return 1;
	return 1 / property_scale_of(c);
}

/* Whether steps to these solutions may have overflowed or underflowed: triangles of some kinds are
 * nearly singular. */
static inline bool property_far(const struct property_problem *p, const void *x)
{
	const double most = p->precision == SINGLE ? 0x1p60 : 0x1p500;

	for (int64_t i = 0; i < p->rows * p->rhs; i++)
		if (!(fabs(get(x, i, p->precision)) < most))
			return true;
	return false;
}

/* x: of the matrix, y: of the scaled one. */
static inline const char *property_scaled_fault(const struct property_problem *p,
        const struct property_result *x, const struct property_result *y)
{
	const struct property_case *c = p->of;

	/* a BLAS may find any element beside a NaN the largest */
	if (c->operation == GETRF && !property_finite(c))
		return NULL;
	if (x->info != y->info || x->solve_info != y->solve_info ||
	        memcmp(x->ipiv, y->ipiv, (size_t)p->k * sizeof(int)) != 0)
		return "a scale changes pivots or info";
	if (c->operation == POTRF && x->info) /* the rest is undefined */
		return NULL;
	for (int64_t j = 0; j < c->n; j++)
		for (int64_t i = 0; i < c->m; i++)
			if (property_written(p, i, j) &&
			        !property_is_scaled(x->after, y->after,
			                c->above + i + (c->before + j) * p->ld,
			                property_factor_scale(p, i, j), p->precision))
				return "factors do not scale bit by bit";
	for (int64_t i = 0; i < p->k; i++)
		if (!property_is_scaled(x->tau, y->tau, i, 1, p->precision))
			return "a scale changes tau";
	if (property_far(p, x->x))
		return NULL;
	for (int64_t i = 0; i < p->rows * p->rhs; i++)
		if (!property_is_scaled(
		            x->x, y->x, i, property_solution_scale(p, i % p->rows), p->precision))
			return "solutions do not scale bit by bit";
	return NULL;
}
