/* SPDX-License-Identifier: MIT */
#include "model_factor.h"

#include "lib/base/msg.h"
#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "model_question.h"
#include "factor/algorithms/potrf.h"
#include "factor/algorithms/host_transfer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 128 };

/* ---- operation counts ---- */

static double flops_geqrf(double m, double n)
{
	if (m < n)
		return 2 * n * m * m - 2 * m * m * m / 3 + 3 * n * m - m * m + 14 * m / 3;
	return 2 * m * n * n - 2 * n * n * n / 3 + m * n + n * n + 14 * n / 3;
}

double model_factor_flops(const char *operation, double m, double n)
{
	if (strcmp(operation, "getrf") == 0)
		return m < n ? model_flops_getrf(n, m) : model_flops_getrf(m, n);
	if (strcmp(operation, "geqrf") == 0)
		return flops_geqrf(m, n);
	if (strcmp(operation, "potrf") == 0)
		return n * n * n / 3 + n * n / 2 + n / 6;
	return NAN;
}

/* ---- the run ---- */

static struct matrix matrix_of(const struct factor_question *asked)
{
	int64_t line = LINE_BYTES / precision_bytes(asked->precision);
	int64_t ld = asked->ld > 0 ? asked->ld : (asked->m + line - 1) / line * line;

	return (struct matrix){NULL, 0, asked->m, asked->n, ld > 0 ? ld : 1, asked->precision};
}

static bool factorize(struct executor *e, const struct factor_question *asked, struct matrix a)
{
	int64_t k = a.m < a.n ? a.m : a.n;
	struct matrix tau = {NULL, 0, k, 1, k > 0 ? k : 1, a.precision};

	if (strcmp(asked->operation, "getrf") == 0)
		return getrf(e, asked->plan, a, NULL, (struct pivots){NULL, k});
	if (strcmp(asked->operation, "geqrf") == 0)
		return geqrf(e, asked->plan, a, tau, NULL);
	if (strcmp(asked->operation, "potrf") == 0)
		return potrf(e, asked->plan, asked->uplo, a, NULL, NULL);
	return fault_set(
	        &e->fault, "unknown operation '%s': getrf, geqrf or potrf", asked->operation);
}

bool model_factor_run(struct executor *e, const struct factor_question *asked)
{
	struct matrix a = matrix_of(asked);
	enum uplo part = strcmp(asked->operation, "potrf") == 0 ? asked->uplo : WHOLE;

	if (!asked->from_host)
		return factorize(e, asked, a);
	bool ok = factor_from_host(e, asked->plan, part, asked->piece, a, a) &&
	          factorize(e, asked, a);
	return factor_to_host(e, asked->plan, part, asked->piece, a, a) && ok;
}

static bool run_factor(struct executor *e, const void *context)
{
	return model_factor_run(e, context);
}

struct executor *model_factor_executor(const struct profile *profile, enum model_target target,
        const struct factor_question *asked, int level)
{
	struct executor *e = prediction_executor(
	        profile, target, level, asked->m * asked->n * precision_bytes(asked->precision));

	e->math = asked->math;
	executor_model_lasting(e, asked->precision, asked->math);
	return e;
}

/* ---- predictions ---- */

static void bound(const struct asking *asking, struct prediction *out)
{
	const struct factor_question *asked = asking->question.context;
	const bool host = asking->question.executor->on_host, single = asked->precision == SINGLE;
	struct cost_reader *r = executor_model_reader(asking->question.executor);
	const double flops =
	        model_factor_flops(asked->operation, (double)asked->m, (double)asked->n);
	double rate = prediction_peak(asking, asked->precision);
	double bandwidth = cost_scalar(r, host ? "host.memory.copy.peak" : "gpu.dram.copy");

	if (!host && single && asked->math == MATH_3XTF32)
		rate = fmax(rate, cost_scalar(r, "gpu.gemm.tf32.peak") / 3);
	if (!host && single && asked->math == MATH_3XFP16)
		rate = fmax(rate, cost_scalar(r, "gpu.half_gemm.s.peak"));
	if (!host && asked->from_host) /* the way to the device and back takes longer */
		bandwidth = 2 / (1 / cost_scalar(r, "link.h2d.pinned.beta") +
		                        1 / cost_scalar(r, "link.d2h.pinned.beta"));
	const struct matrix a = matrix_of(asked);
	const bool triangle = strcmp(asked->operation, "potrf") == 0;
	const double bytes = cost_part(triangle ? asked->uplo : WHOLE, a);
	prediction_bound(asking, flops / rate, 2 * bytes / bandwidth, out);
}

bool model_factor_predict(const struct profile *profile, enum model_target target,
        const struct factor_question *asked, int level, struct prediction *out)
{
	struct executor *e = model_factor_executor(profile, target, asked, level);
	char after[64];

	snprintf(after, sizeof after, ", which the cost of %s needs: run fathom probe",
	        asked->operation);
	return prediction_make(
	        &(struct asking){{e, run_factor, asked}, level, true, false, 1, NULL, bound, after},
	        out);
}
