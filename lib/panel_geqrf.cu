/* SPDX-License-Identifier: MIT */
#include "panel_geqrf.h"

extern "C" int64_t panel_geqrf_work(enum precision precision, int64_t m, int64_t n)
{
	return panel_geqrf_resident_fits(precision, m, n)
	               ? panel_geqrf_resident_work(precision, m, n)
	               : panel_geqrf_columns_work(precision, m, n);
}

extern "C" int panel_geqrf(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        void *tau, bool beside, void *work, void *stream)
{
	return panel_geqrf_resident_fits(precision, m, n)
	               ? panel_geqrf_resident(precision, a, lda, m, n, tau, beside, work, stream)
	               : panel_geqrf_columns(precision, a, lda, m, n, tau, work, stream);
}
