/* SPDX-License-Identifier: MIT */
#include "panel_geqrf.h"

/* In the resident kernel or column by column. */
static int64_t steady_work(enum precision precision, int64_t m, int64_t n)
{
	return panel_geqrf_resident_fits(precision, m, n)
	               ? panel_geqrf_resident_work(precision, m, n)
	               : panel_geqrf_columns_work(precision, m, n);
}

static int steady(const int *done, enum precision precision, void *a, int64_t lda, int64_t m,
        int64_t n, void *tau, bool beside, void *work, void *stream)
{
	return panel_geqrf_resident_fits(precision, m, n)
	               ? panel_geqrf_resident_unless(
	                         done, precision, a, lda, m, n, tau, beside, work, stream)
	               : panel_geqrf_columns_unless(
	                         done, precision, a, lda, m, n, tau, work, stream);
}

/* Where the Gram matrix is ahead of the resident kernel, launches of the latter for nothing
 * included (H200). */
static bool by_gram(enum precision precision, int64_t m, int64_t n)
{
	return precision == SINGLE && m > 8192 && panel_geqrf_gram_fits(m, n) &&
	       (n > 32 || !panel_geqrf_resident_fits(precision, m, n));
}

extern "C" int64_t panel_geqrf_work(enum precision precision, int64_t m, int64_t n)
{
	if (panel_geqrf_cluster_fits(precision, m, n))
		return panel_geqrf_cluster_work(precision, m, n);
	return steady_work(precision, m, n) +
	       (by_gram(precision, m, n) ? panel_geqrf_gram_work() : 0);
}

extern "C" int panel_geqrf(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, bool beside, void *work, void *stream)
{
	if (panel_geqrf_cluster_fits(precision, m, n))
		return panel_geqrf_cluster(precision, a, lda, m, n, tau, NULL, work, stream);
	if (!by_gram(precision, m, n))
		return steady(NULL, precision, a, lda, m, n, tau, beside, work, stream);

	const int error =
	        panel_geqrf_gram((float *)a, lda, m, n, (float *)tau, (int *)work, work, stream);
	if (error)
		return error;
	return steady((const int *)work, precision, a, lda, m, n, tau, beside,
	        (char *)work + panel_geqrf_gram_work(), stream);
}
