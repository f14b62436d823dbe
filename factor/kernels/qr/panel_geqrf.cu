/* SPDX-License-Identifier: MIT */
#include "panel_geqrf.h"
#include "factor/kernels/lu/panel_geometry.h"

/* The forms without the Gram matrix. */
static int64_t steady_work(enum precision precision, int64_t m, int64_t n)
{
	if (panel_geqrf_cluster_fits(precision, m, n))
		return panel_geqrf_cluster_work(precision, m, n);
	return panel_geqrf_resident_fits(precision, m, n)
	               ? panel_geqrf_resident_work(precision, m, n)
	               : panel_geqrf_columns_work(precision, m, n);
}

static int steady(const int *done, enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, bool beside, void *work, void *stream)
{
	if (panel_geqrf_cluster_fits(precision, m, n))
		return panel_geqrf_cluster_unless(
		        done, precision, a, lda, m, n, tau, NULL, work, stream);
	return panel_geqrf_resident_fits(precision, m, n)
	               ? panel_geqrf_resident_unless(
	                         done, precision, a, lda, m, n, tau, beside, work, stream)
	               : panel_geqrf_columns_unless(
	                         done, precision, a, lda, m, n, tau, work, stream);
}

/* gram: also in double precision. */
static bool by_gram(enum precision precision, int64_t m, int64_t n, bool gram)
{
	return (precision == SINGLE || gram) && panel_gram_takes(precision, m, n) &&
	       panel_geqrf_gram_fits(precision, m, n);
}

extern "C" int64_t panel_geqrf_work(enum precision precision, int64_t m, int64_t n, bool gram)
{
	return steady_work(precision, m, n) +
	       (by_gram(precision, m, n, gram) ? panel_geqrf_gram_work(precision) : 0);
}

extern "C" bool panel_geqrf_reflects(enum precision precision, int64_t m, int64_t n, bool gram)
{
	return by_gram(precision, m, n, gram) || panel_geqrf_cluster_fits(precision, m, n);
}

extern "C" bool panel_geqrf_takes_sums(enum precision precision, int64_t m, int64_t n, bool gram)
{
	return precision == DOUBLE && by_gram(precision, m, n, gram);
}

extern "C" int panel_geqrf(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, bool beside, bool gram, bool summed, const struct block_reflector *r, void *work,
        void *stream)
{
	if (!by_gram(precision, m, n, gram))
		return r ? panel_geqrf_cluster_unless(
		                   NULL, precision, a, lda, m, n, tau, r, work, stream)
		         : steady(NULL, precision, a, lda, m, n, tau, beside, work, stream);

	if (precision == SINGLE && panel_geqrf_gram_cluster_fits(m, n))
		return panel_geqrf_gram_cluster(
		        (float *)a, lda, m, n, (float *)tau, r, work, stream);

	int *done = (int *)work;
	void *rest = (char *)work + panel_geqrf_gram_work(precision);
	int error = panel_geqrf_gram_begin(precision, a, lda, m, n, summed, done, work, stream);
	if (!error)
		error = steady(done, precision, a, lda, m, n, tau, beside, rest, stream);
	return error ? error
	             : panel_geqrf_gram_end(precision, a, lda, m, n, tau, done, r, work, stream);
}
