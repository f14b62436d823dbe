/* SPDX-License-Identifier: MIT */
/* Question: how long do the phases of QR with the whole Q take, in Kerr's baseline of BLAS calls
 * and in ours? Which width of blocks is fastest? What is the speedup over the host? Method: the
 * paper's matrices of twice as many rows as columns; five runs of each, fewer of long ones, from
 * resident data (LAPACK's: in host memory). Total: the median of runs without marks. Phases:
 * medians of runs with events between the kernels; the paper waits for each kernel instead.
 * Predictions are made before. Error sources: clocks that still rise (a warm-up run), a wrong
 * result (then there is no time). Unit: seconds. */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "factor/algorithms/geqrf.h"
#include "factor/model/predictions/model_kerr.h"
#include "factor/model/simulation/executor_model.h"
#include "factor/validation/fixture.h"
#include "measure_kerr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Table 1's rows, and one more. */
static const int64_t sizes[] = {
        512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 4608, 5120, 6656, 8192, 16384};
/* The widest for KERR_AHEAD alone: the panels of the others are limited to GEQRF_LEAF_MAX. */
static const int64_t widths[] = {16, 32, 64, 128, 256};

/* ---- one size ---- */

static void close_size(struct kerr_bench *b)
{
	fixture_close(&b->memory);
	free(b->host);
	b->host = NULL;
}

static bool open_size(struct kerr_bench *b, int64_t m)
{
	struct timing_fixture *memory = &b->memory;
	int64_t n = m / 2;

	memory->executor = b->e;
	b->host = xmalloc((size_t)(m * n) * sizeof(float));
	kerr_matrix(b->host, m, n, SINGLE, (uint64_t)b->measure->common.seed);
	return fixture_matrix(memory, &b->a0, m, n, m, SINGLE) &&
	       fixture_matrix(memory, &b->a, m, n, m, SINGLE) &&
	       fixture_matrix(memory, &b->q, m, m, m, SINGLE) &&
	       kerr_room_take(memory, m, n, &b->room) && b->e->ops->upload(b->e, b->host, m, b->a0);
}

/* ---- one configuration ---- */

struct configuration {
	enum kerr_variant variant;
	int64_t r;
	void *work;
	struct phase_timer phase_timer;
	double whole[KERR_RUNS], phase[KERR_PHASES][KERR_RUNS];
	size_t samples, marked; /* of the last runs, of those with marks */
	struct kerr_errors errors, marked_errors;
};

static bool run_once(
        struct kerr_bench *b, struct configuration *c, bool marked, size_t i, double *seconds)
{
	struct executor *e = b->e;
	double phase[KERR_PHASES];

	e->queue = QUEUE_MAIN;
	if (!e->ops->duplicate(e, b->a0, b->a) || !ex_fill(e, WHOLE, NAN, NAN, b->q) ||
	        !e->ops->sync(e))
		return false;
	double start = clock_now();
	bool ok = kerr_qr(e, c->variant, c->r, b->a, b->q, c->work,
	                  marked ? &c->phase_timer : NULL) &&
	          e->ops->sync(e);
	*seconds = clock_now() - start;
	if (ok && marked)
		ok = phase_timer_read(e, &c->phase_timer, phase, KERR_PHASES);
	for (int p = 0; ok && marked && p < KERR_PHASES; p++)
		c->phase[p][i] = phase[p];
	return ok;
}

/* Whether others use the calling thread's core. */
static bool disturbed(const struct measure *measure)
{
	const struct core_noise *noise = measure->plan.noise;

	return noise && !core_noise_undisturbed(noise);
}

bool kerr_bench_runs(struct measure *measure, kerr_run *run, void *context, bool warm,
        double sample[KERR_RUNS], size_t *count)
{
	const double enough = measure->plan.max_seconds;
	double spent = 0, left_out = 0;

	if (measure->plan.noise)
		core_noise_refresh(measure->plan.noise);
	bool ok = run(context, 0, &sample[0]), before = disturbed(measure);
	double seconds = sample[0];
	*count = ok && warm && seconds > enough;
	while (ok && *count < KERR_RUNS && spent < enough &&
	        (*count == 0 || seconds < 2 * enough) && !*measure->plan.stop) {
		ok = run(context, *count, &sample[*count]);
		seconds = sample[*count];
		const bool after = disturbed(measure),
		           kept = !(before || after) || left_out >= enough;
		*(kept ? &spent : &left_out) += seconds;
		*count += kept;
		before = after;
	}
	return ok;
}

struct runs {
	struct kerr_bench *b;
	struct configuration *c;
	bool marked;
};

static bool run_of(void *context, size_t i, double *seconds)
{
	const struct runs *r = context;

	return run_once(r->b, r->c, r->marked, i, seconds);
}

static bool run_all(struct kerr_bench *b, struct configuration *c, bool marked)
{
	struct runs runs = {b, c, marked};
	const bool warm = b->warm[c->variant];

	b->warm[c->variant] = true;
	const bool ok = kerr_bench_runs(b->measure, run_of, &runs, warm, c->whole, &c->samples) &&
	                kerr_errors(b->e, b->a0, b->a, b->q, &b->room, &c->errors);
	if (marked) {
		c->marked = c->samples;
		c->marked_errors = c->errors;
	}
	return ok;
}

struct kerr_row kerr_bench_row(
        const struct kerr_bench *b, const char *variant, const char *phase, int64_t r)
{
	struct kerr_row row = {.m = b->a0.m,
	        .n = b->a0.n,
	        .r = r,
	        .predicted = NAN,
	        .seconds = {NAN, NAN, NAN, 0},
	        .residual = NAN,
	        .orthogonality = NAN,
	        .triangularity = NAN,
	        .limit = NAN};

	snprintf(row.variant, sizeof row.variant, "%s", variant);
	snprintf(row.phase, sizeof row.phase, "%s", phase);
	return row;
}

void kerr_bench_add(struct kerr_bench *b, struct kerr_row *row, const double *sample, size_t count,
        const struct kerr_errors *errors)
{
	row->residual = errors->residual;
	row->orthogonality = errors->orthogonality;
	row->triangularity = errors->triangularity;
	row->limit = errors->limit;
	if (errors->passed && count) {
		row->seconds = stats_median_interval(sample, count);
	} else {
		snprintf(row->note, sizeof row->note, "beyond the limit of errors");
		b->measure->failed++;
	}
	kerr_rows_add(b->rows, row);
}

static void add_phases(struct kerr_bench *b, const struct configuration *c,
        const struct kerr_prediction *predicted)
{
	const bool one = c->variant == KERR_ONE; /* Q reflector by reflector */
	double count[KERR_PHASES], single[KERR_PHASES];

	kerr_count(b->a0.m, b->a0.n, c->r, count);
	if (one)
		kerr_count(b->a0.m, b->a0.n, 1, single);
	count[KERR_APPLY_Q] = (one ? single : count)[KERR_APPLY_Q];
	for (int p = 0; p < KERR_PHASES; p++) {
		bool fused = p == KERR_PANEL, ours = c->variant == KERR_STEPS;
		if (one && (p == KERR_WY || p == KERR_APPLY_A))
			continue;
		struct kerr_row row =
		        kerr_bench_row(b, kerr_variant_name[c->variant], kerr_phase_name[p], c->r);
		row.flops = count[p];
		row.predicted = predicted->phase[p];
		if (fused == ours || p > KERR_PANEL)
			kerr_bench_add(b, &row, c->phase[p], c->marked, &c->marked_errors);
	}
}

static struct kerr_prediction predict(const struct kerr_bench *b, const struct configuration *c)
{
	struct kerr_prediction predicted = {.total = NAN};

	for (int p = 0; p < KERR_PHASES; p++)
		predicted.phase[p] = NAN;
	if (b->profile && !model_kerr(b->profile, c->variant, b->a0.m, b->a0.n, c->r, &predicted))
		msg_warn("no prediction: %s", predicted.fault.text);
	return predicted;
}

/* One product on the model executor. */
static bool predict_product(
        struct executor *e, enum kerr_product product, bool transposed, int64_t m)
{
	const struct matrix a = {NULL, 0, m, m, m, SINGLE}, v = {NULL, 0, m, 1, m, SINGLE},
	                    row = {NULL, 0, 1, m, 1, SINGLE}, tau = {NULL, 0, 1, 1, 1, SINGLE};

	e->blas_only = product == KERR_CUBLAS;
	if (product != KERR_PAPER)
		return ex_gemv(e, transposed ? TRANSPOSED : PLAIN, 1, a, v, 0, v);
	return transposed ? ex_kerr_project(e, tau, a, v, row)
	                  : ex_kerr_extend(e, tau, a, row, v, v);
}

double kerr_gemv_predicted(
        const struct kerr_bench *b, enum kerr_product product, bool transposed, int calls)
{
	double seconds = NAN;

	if (!b->profile)
		return NAN;
	struct executor *e = executor_model_new(b->profile, MODEL_CUDA, 2);
	bool good = e->ops->mark(e, 0);
	if (product == KERR_TUNED)
		good = good && cost_known(executor_model_reader(e),
		                       transposed ? "gpu.own_gemv.s.t" : "gpu.own_gemv.s.n");
	for (int i = 0; i < calls && good; i++)
		good = predict_product(e, product, transposed, b->a0.m);
	if (!good || !e->ops->mark(e, 1) || !e->ops->elapsed(e, 0, 1, &seconds))
		seconds = NAN;
	executor_free(e);
	return seconds / calls;
}

/* The phases, where they were measured, and the total or why there is none. */
static void add_rows(struct kerr_bench *b, const struct configuration *c,
        const struct kerr_prediction *predicted, struct kerr_row *total, bool phases, bool whole)
{
	if (phases)
		add_phases(b, c, predicted);
	if (whole) {
		kerr_bench_add(b, total, c->whole, c->samples, &c->errors);
		return;
	}
	snprintf(total->note, sizeof total->note, "%.120s", b->e->fault.text);
	kerr_rows_add(b->rows, total);
	b->measure->failed++;
}

static void measure_configuration(struct kerr_bench *b, enum kerr_variant variant, int64_t r)
{
	struct executor *e = b->e;
	struct configuration c = {.variant = variant, .r = r};
	struct kerr_row total = kerr_bench_row(b, kerr_variant_name[variant], "total", r);
	int64_t bytes;
	double count[KERR_PHASES];

	if (kerr_rows_find(b->rows, &total))
		return;
	struct kerr_prediction predicted = predict(b, &c);
	total.predicted = predicted.total;
	total.flops = kerr_count(total.m, total.n, KERR_TABLE_R, count);
	bytes = kerr_work(e, variant, r, b->a, b->q);
	bool ok = bytes >= 0 && e->ops->alloc(e, bytes, &c.work);
	if (ok && variant != KERR_AHEAD)
		ok = run_all(b, &c, true);
	const bool phases = ok && variant != KERR_AHEAD;
	ok = ok && run_all(b, &c, false);
	/* Interrupted: without any of its rows, the next call measures all of them. */
	if (!*b->measure->plan.stop)
		add_rows(b, &c, &predicted, &total, phases, ok);
	if (c.work)
		e->ops->release(e, c.work);
	phase_timer_free(&c.phase_timer);
}

/* Whether the request includes that variant. */
static bool wants(const struct kerr_bench *b, const char *variant)
{
	return !b->measure->request.only[0] || strcmp(b->measure->request.only, variant) == 0;
}

static bool suits(const struct kerr_bench *b, enum kerr_variant variant, int64_t r)
{
	return r <= b->a0.n && (r <= GEQRF_LEAF_MAX || variant == KERR_AHEAD) &&
	       variant != KERR_ONE && wants(b, kerr_variant_name[variant]);
}

static void measure_size(struct kerr_bench *b)
{
	for (int v = 0; v < KERR_VARIANTS; v++)
		for (size_t w = 0; w < ARRAY_LEN(widths); w++)
			if (suits(b, (enum kerr_variant)v, widths[w]) &&
			        measure_in_time(b->measure))
				measure_configuration(b, (enum kerr_variant)v, widths[w]);
	if (wants(b, kerr_variant_name[KERR_ONE]) && measure_in_time(b->measure))
		measure_configuration(b, KERR_ONE, b->a0.n);
	if (wants(b, "balance") && measure_in_time(b->measure))
		measure_kerr_balance(b);
	if (b->measure->vendor && wants(b, "cusolver") && measure_in_time(b->measure))
		measure_kerr_vendor(b);
	if (b->measure->executor[0] && wants(b, "gemv") && measure_in_time(b->measure))
		measure_kerr_gemv(b);
}

/* ---- all ---- */

static void each_size(struct kerr_bench *b, void (*work)(struct kerr_bench *))
{
	const struct bench_request *request = &b->measure->request;
	struct fault fault;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		if (sizes[i] < request->smallest || sizes[i] > request->largest ||
		        !measure_in_time(b->measure))
			continue;
		measure_progress(b->measure, i, ARRAY_LEN(sizes),
		        "QR with the whole Q, %" PRId64 " x %" PRId64, sizes[i], sizes[i] / 2);
		if (open_size(b, sizes[i]))
			work(b);
		else
			msg_warn("%" PRId64 " rows: %s", sizes[i], b->e->fault.text);
		close_size(b);
		if (!kerr_rows_write(b->rows, b->measure->path, &fault))
			msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	}
}

/* Keeps the rows of kerr.tsv of this program on this machine. */
static void keep_rows(struct kerr_bench *b)
{
	const char *path = b->measure->path;
	struct fault fault;
	struct kerr_rows *old;

	if (b->measure->again || access(path, F_OK) != 0)
		return;
	old = kerr_rows_read(path, &fault);
	if (!old)
		msg_warn("starting afresh: %s", fault.text);
	else if (measure_continues(b->measure, old->table, b->rows->table, NULL, path, old->count))
		for (size_t i = 0; i < old->count; i++)
			kerr_rows_add(b->rows, &old->row[i]);
	kerr_rows_free(old);
}

void measure_kerr(struct measure *measure)
{
	struct kerr_bench *b = xcalloc(1, sizeof *b);

	b->measure = measure;
	b->rows = kerr_rows_new();
	b->e = measure_first(measure, NULL);
	measure_stamp(measure, b->rows->table);
	table_meta_set(b->rows->table, "executor", "%s", b->e->name);
	keep_rows(b);
	b->profile = measure->executor[0] ? measure->profile : NULL;
	if (strcmp(measure->request.only, "lapack") != 0)
		each_size(b, measure_size);
	if (measure->executor[1] && wants(b, "lapack"))
		each_size(b, measure_kerr_lapack);
	msg_progress_end();
	kerr_rows_print(b->rows, stdout);
	printf("%s\n", measure->path);
	kerr_rows_free(b->rows);
	free(b);
}
