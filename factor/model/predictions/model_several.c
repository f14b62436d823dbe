/* SPDX-License-Identifier: MIT */
#include "model_several.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/potrf.h"
#include "factor/distributed/distributed.h"
#include "factor/model/simulation/model_ranks.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"
#include "model_factor.h"
#include "model_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const several_share_name[SHARES] = {[SHARE_UPDATES] = "updates",
        [SHARE_PANELS] = "panels",
        [SHARE_BROADCASTS] = "broadcasts",
        [SHARE_HOST] = "host"};

/* ---- assumptions ---- */

/* Of links inside a host: what NCCL reaches over NVLink of one generation. */
static const struct {
	const char *name, *unit, *why;
	double value;
	const char *instead; /* a row in place of it */
} assumptions[] = {
        {"link.nccl.broadcast.alpha", "s", "assumed: NCCL over NVLink", 20e-6, "link.peer.alpha"},
        {"link.nccl.broadcast.beta", "B/s", "assumed: NCCL over NVLink", 300e9, "link.peer.beta"},
        {"link.nccl.hop", "s", "assumed: each GPU beyond those measured", 4e-6, NULL},
        {"link.network.alpha", "s", "assumed: each host after the first", 20e-6, NULL},
        {"link.network.beta", "B/s", "assumed: one port of 400 Gbit/s a host", 50e9, NULL}};

/* Whether any row whose name begins so has a value. */
static bool is_measured(const struct profile *profile, const char *begin)
{
	for (size_t i = 0; i < profile->count; i++)
		if (strncmp(profile->row[i].name, begin, strlen(begin)) == 0 &&
		        profile_row_usable(&profile->row[i]))
			return true;
	return false;
}

static bool has_name(const struct parameter *row, const void *name)
{
	return strcmp(row->name, name) == 0;
}

void model_several_assume(struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(assumptions); i++) {
		const double value = assumptions[i].value;
		const struct parameter_spec spec = {.name = assumptions[i].name,
		        .unit = assumptions[i].unit,
		        .method = assumptions[i].why};
		if (is_measured(profile, spec.name) ||
		        (assumptions[i].instead && is_measured(profile, assumptions[i].instead)))
			continue;
		profile_remove_if(profile, has_name, spec.name); /* one without a value */
		profile_add(
		        profile, &spec, NULL, 0, (struct estimate){value, value, value, 1}, false);
	}
}

bool model_several_assumed(const struct parameter *row)
{
	return strncmp(row->method, "assumed", 7) == 0;
}

/* ---- the run ---- */

struct run {
	const struct several_question *asked;
	struct model_ranks *ranks;
};

static enum operation operation_of(const struct several_question *asked)
{
	return strcmp(asked->operation, "potrf") == 0   ? POTRF
	       : strcmp(asked->operation, "geqrf") == 0 ? GEQRF
	                                                : GETRF;
}

/* The rank's part, in columns that begin at lines of memory. */
static struct distributed part_of(const struct run *run, int rank)
{
	const struct several_question *asked = run->asked;
	const int64_t line = 128 / precision_bytes(asked->precision);
	struct distributed a = {grid_of_row(model_ranks_comm(run->ranks, rank)),
	        {.m = asked->m, .n = asked->n, .nb = asked->nb},
	        {.m = asked->m,
	                .ld = (asked->m + line - 1) / line * line,
	                .precision = asked->precision}};

	a.local.n = block_cyclic_columns_before(&a.layout, rank, asked->gpus, asked->n);
	return a;
}

static bool factorize(const struct run *run, int rank)
{
	struct executor *e = model_ranks_executor(run->ranks, rank);
	const struct distributed a = part_of(run, rank);
	const struct matrix tau = {
	        NULL, 0, a.local.n, 1, max_int64(a.local.n, 1), a.local.precision};

	switch (operation_of(run->asked)) {
	case POTRF:
		return potrf_distributed(e, &a, NULL, NULL);
	case GEQRF:
		return geqrf_distributed(e, &a, tau, NULL);
	default:
		return getrf_distributed(
		        e, &a, NULL, (struct pivots){NULL, min_int64(a.layout.m, a.layout.n)});
	}
}

static bool run_all(struct executor *first, const void *context)
{
	const struct run *run = context;
	const enum operation operation = operation_of(run->asked);
	const int64_t pivots = operation == GETRF ? min_int64(run->asked->m, run->asked->n) : 0;
	bool ok = true;

	(void)first;
	model_ranks_restart(run->ranks);
	for (int i = 0; ok && i < run->asked->gpus; i++)
		ok = factorize(run, i);
	if (!model_ranks_meet(run->ranks) || !ok)
		return false;
	if (operation != GEQRF)
		model_ranks_read(run->ranks, pivots + 1);
	return true;
}

/* ---- memory ---- */

static double bytes_of(const struct run *run)
{
	struct executor *e = model_ranks_executor(run->ranks, 0);
	const struct distributed a = part_of(run, 0);
	const enum operation operation = operation_of(run->asked);
	const int64_t work = operation == POTRF   ? potrf_distributed_work(e, &a)
	                     : operation == GEQRF ? geqrf_distributed_work(e, &a)
	                                          : getrf_distributed_work(e, &a);

	return work < 0 ? NAN : cost_bytes(a.local) + (double)work;
}

/* LU works without its copy where there is no memory for it. */
static bool choose_memory(const struct run *run, struct several_prediction *out)
{
	const double with = bytes_of(run);

	out->bytes = with;
	if (run->asked->memory > 0 && with > run->asked->memory) {
		for (int i = 0; i < run->asked->gpus; i++)
			model_ranks_executor(run->ranks, i)->row_major = 0;
		out->bytes = bytes_of(run);
	}
	out->no_copy = out->bytes < with;
	return !isnan(out->bytes);
}

/* ---- where the time goes ---- */

static enum several_share share_of(const struct timeline_entry *e)
{
	return e->engine == LANE_LINK                          ? SHARE_BROADCASTS
	       : e->lane == LANE_HOST                          ? SHARE_HOST
	       : e->lane == LANE_QUEUE + (enum lane)QUEUE_MAIN ? SHARE_UPDATES
	                                                       : SHARE_PANELS;
}

/* clock: the seconds without what lasting load adds to the updates. */
static void add_shares(struct executor *e, double clock, double seconds, int gpus, double *share)
{
	struct timeline *t = executor_model_timeline(e, "");
	double *critical = xmalloc((t->count + 1) * sizeof *critical);

	t->seconds = clock;
	share[SHARE_UPDATES] += (seconds - clock) / seconds / gpus;
	share[SHARE_PANELS] += timeline_critical(t, critical) / seconds / gpus;
	for (size_t i = 0; i < t->count; i++)
		share[share_of(&t->entry[i])] += critical[i] / seconds / gpus;
	free(critical);
	timeline_free(t);
}

/* ---- one GPU ---- */

static bool predict_one(const struct profile *profile, const struct several_question *asked,
        bool interval, struct several_prediction *out)
{
	struct factor_question one = {.operation = asked->operation,
	        .m = asked->m,
	        .n = asked->n,
	        .precision = asked->precision,
	        .uplo = LOWER,
	        .math = asked->math};
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &one, LEVEL_FULL);
	const struct matrix a = {NULL, 0, one.m, one.n, one.m, one.precision};
	const enum operation operation = operation_of(asked);
	struct default_plan chosen;

	plan_default(e, operation, a.m, a.n, a.precision, false, &chosen);
	const int64_t work = operation == POTRF   ? potrf_work(e, &chosen.plan, LOWER, a)
	                     : operation == GEQRF ? geqrf_work(e, &chosen.plan, a)
	                                          : getrf_work(e, &chosen.plan, a);
	out->bytes = cost_bytes(a) + (double)work;
	executor_free(e);
	one.plan = &chosen.plan;
	for (int s = 0; s < SHARES; s++)
		out->share[s] = NAN;
	if (asked->memory > 0 && out->bytes > asked->memory) {
		out->whole.seconds = out->whole.low = out->whole.high = NAN;
		return fault_refuse(&out->whole.fault,
		        "matrix and workspace take %.3g GB, one GPU has %.3g GB: ask for more "
		        "--gpus",
		        out->bytes / 1e9, asked->memory / 1e9);
	}
	if (interval)
		return model_factor_predict(profile, MODEL_CUDA, &one, LEVEL_FULL, &out->whole);
	e = model_factor_executor(profile, MODEL_CUDA, &one, LEVEL_FULL);
	out->whole.seconds = model_factor_run(e, &one) ? executor_model_seconds(e) : (double)NAN;
	out->whole.fault = executor_model_fault(e);
	executor_free(e);
	return !isnan(out->whole.seconds);
}

/* ---- several ---- */

/* Blocks times GPUs: so many are simulated for the interval, with wider blocks where there are
 * more; up to so many each parameter has runs of its own; and more are not tried to find a width.
 */
enum { INTERVAL_PARTS = 16384, FEW_PARTS = 256, DRAWS = 4, TRIED_PARTS = 65536 };
enum { NARROWEST = 128, WIDEST = 1024 };

static int64_t parts_of(const struct several_question *asked)
{
	return (min_int64(asked->m, asked->n) / asked->nb + 1) * asked->gpus;
}

static struct run start(const struct profile *profile, const struct several_question *asked)
{
	struct executor *first = prediction_executor(profile, MODEL_CUDA, LEVEL_FULL,
	        asked->m * asked->n * precision_bytes(asked->precision) / asked->gpus);

	first->math = asked->math;
	executor_model_lasting(first, asked->precision, asked->math);
	return (struct run){asked, model_ranks_new(first, asked->gpus, asked->hosts)};
}

static void end(struct run *run)
{
	struct executor *first = model_ranks_executor(run->ranks, 0);

	model_ranks_free(run->ranks);
	executor_free(first);
}

static bool run_once(struct run *run, struct several_prediction *out)
{
	struct executor *first = model_ranks_executor(run->ranks, 0);
	const struct question q = {first, run_all, run};

	*out = (struct several_prediction){.nb = run->asked->nb};
	out->whole.seconds =
	        choose_memory(run, out) ? question_seconds(&q, false, NULL) : (double)NAN;
	out->whole.low = out->whole.high = NAN;
	out->whole.model = executor_model_reader(first)->model;
	if (isnan(out->whole.seconds))
		out->whole.fault = executor_model_fault(first);
	return !isnan(out->whole.seconds);
}

/* Relative to the time with blocks of that width. */
static void add_interval(const struct profile *profile, struct several_question asked,
        struct several_prediction *out)
{
	struct several_prediction wide;

	while (parts_of(&asked) > INTERVAL_PARTS && asked.nb < WIDEST)
		asked.nb *= 2;
	struct run run = start(profile, &asked);
	const struct question q = {model_ranks_executor(run.ranks, 0), run_all, &run};
	if (run_once(&run, &wide)) {
		const double ratio = out->whole.seconds / wide.whole.seconds;
		question_interval(&q, parts_of(&asked) > FEW_PARTS ? DRAWS : 0, &wide.whole);
		out->whole.low = ratio * wide.whole.low;
		out->whole.high = ratio * wide.whole.high;
	}
	end(&run);
}

static bool predict(const struct profile *profile, const struct several_question *asked,
        struct several_prediction *out)
{
	struct run run = start(profile, asked);
	const bool ok = run_once(&run, out);
	const double clock =
	        ok ? executor_model_clock(model_ranks_executor(run.ranks, 0)) : (double)NAN;

	for (int i = 0; ok && i < asked->gpus; i++)
		add_shares(model_ranks_executor(run.ranks, i), clock, out->whole.seconds,
		        asked->gpus, out->share);
	end(&run);
	return ok;
}

/* Replaces out where blocks of this width are faster. */
static bool try_width(const struct profile *profile, struct several_question asked, int64_t nb,
        struct several_prediction *out)
{
	struct several_prediction tried;

	asked.nb = nb;
	if (nb < NARROWEST || parts_of(&asked) > TRIED_PARTS || !predict(profile, &asked, &tried) ||
	        tried.whole.seconds > out->whole.seconds)
		return false;
	*out = tried;
	return true;
}

/* The fastest of some widths. A wide one is halved until it gets slower. Then half as much again is
 * tried, and where that is not faster, three quarters. */
static bool predict_fastest(const struct profile *profile, struct several_question asked,
        struct several_prediction *out)
{
	int64_t nb = WIDEST;

	asked.nb = nb;
	if (!predict(profile, &asked, out))
		return false;
	while (try_width(profile, asked, nb / 2, out))
		nb /= 2;
	if (nb + nb / 2 <= min_int64(asked.m, asked.n))
		try_width(profile, asked, nb + nb / 2, out);
	if (out->nb == nb)
		try_width(profile, asked, nb - nb / 4, out);
	return true;
}

bool model_several_predict(const struct profile *profile, const struct several_question *asked,
        bool interval, struct several_prediction *out)
{
	struct several_question chosen = *asked;

	*out = (struct several_prediction){.nb = 0};
	if (asked->gpus == 1)
		return predict_one(profile, asked, interval, out);
	if (!(asked->nb ? predict(profile, asked, out) : predict_fastest(profile, chosen, out)))
		return false;
	chosen.nb = out->nb;
	if (interval)
		add_interval(profile, chosen, out);
	return true;
}

bool model_several_trace(const struct profile *profile, const struct several_question *asked,
        const char *const *titles, struct timeline **timelines, struct fault *fault)
{
	struct several_prediction out;
	struct run run = start(profile, asked);
	const bool ok = run_once(&run, &out);

	*fault = out.whole.fault;
	for (int i = 0; ok && i < asked->gpus; i++)
		timelines[i] =
		        executor_model_timeline(model_ranks_executor(run.ranks, i), titles[i]);
	end(&run);
	return ok;
}
