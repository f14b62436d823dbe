/* SPDX-License-Identifier: MIT */
/* Question: how long do the phases of QR with the whole Q take, in Kerr's baseline of BLAS calls
 * and in ours? Which width of blocks is fastest? What is the speedup over the host? Method: the
 * paper's matrices of twice as many rows as columns; five runs of each, from resident data. Total:
 * the median of runs without marks. Phases: medians of runs with events between the kernels; the
 * paper waits for each kernel instead. Predictions are made before. Error sources: clocks that
 * still rise (a warm-up run), a wrong result (then there is no time). Unit: seconds. */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "factor/algorithms/geqrf.h"
#include "factor/model/predictions/model_kerr.h"
#include "factor/model/simulation/executor_model.h"
#include "factor/validation/fixture.h"
#include "measure_kerr.h"

#include <cblas.h>
#include <inttypes.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	size_t samples;
	struct kerr_errors errors;
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
	c->whole[i] = *seconds;
	return ok;
}

/* The first run counts only when it is long and code is loaded; long runs are fewer than five. */
static bool run_all(struct kerr_bench *b, struct configuration *c, bool marked)
{
	double seconds = 0, spent = 0, enough = b->measure->plan.max_seconds;
	bool ok = run_once(b, c, marked, 0, &seconds);

	c->samples = b->warm[c->variant] && seconds > enough;
	b->warm[c->variant] = true;
	while (ok && c->samples < KERR_RUNS && spent < enough &&
	        (c->samples == 0 || seconds < 2 * enough) && !*b->measure->plan.stop) {
		ok = run_once(b, c, marked, c->samples++, &seconds);
		spent += seconds;
	}
	return ok && kerr_errors(b->e, b->a0, b->a, b->q, &b->room, &c->errors);
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
	double count[KERR_PHASES];

	kerr_count(b->a0.m, b->a0.n, c->r, count);
	for (int p = 0; p < KERR_PHASES; p++) {
		bool fused = p == KERR_PANEL, ours = c->variant == KERR_STEPS;
		struct kerr_row row =
		        kerr_bench_row(b, kerr_variant_name[c->variant], kerr_phase_name[p], c->r);
		row.flops = count[p];
		row.predicted = predicted->phase[p];
		if (fused == ours || p > KERR_PANEL)
			kerr_bench_add(b, &row, c->phase[p], c->samples, &c->errors);
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

double kerr_gemv_predicted(const struct kerr_bench *b, bool tuned, int calls)
{
	const int64_t m = b->a0.m;
	struct matrix a = {NULL, 0, m, m, m, SINGLE}, v = {NULL, 0, m, 1, m, SINGLE};
	double seconds = NAN;

	if (!b->profile)
		return NAN;
	struct executor *e = executor_model_new(b->profile, MODEL_CUDA, 2);
	bool good = e->ops->mark(e, 0);
	if (tuned)
		good = good && cost_known(executor_model_reader(e), "gpu.own_gemv.s.n");
	e->blas_only = !tuned;
	for (int i = 0; i < calls && good; i++)
		good = ex_gemv(e, PLAIN, 1, a, v, 0, v);
	if (!good || !e->ops->mark(e, 1) || !e->ops->elapsed(e, 0, 1, &seconds))
		seconds = NAN;
	executor_free(e);
	return seconds / calls;
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
	if (ok && variant != KERR_AHEAD) {
		ok = run_all(b, &c, true);
		if (ok)
			add_phases(b, &c, &predicted);
	}
	if (ok && run_all(b, &c, false)) {
		kerr_bench_add(b, &total, c.whole, c.samples, &c.errors);
	} else {
		snprintf(total.note, sizeof total.note, "%.120s", e->fault.text);
		kerr_rows_add(b->rows, &total);
		b->measure->failed++;
	}
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
	       wants(b, kerr_variant_name[variant]);
}

static void measure_size(struct kerr_bench *b)
{
	for (int v = 0; v < KERR_VARIANTS; v++)
		for (size_t w = 0; w < ARRAY_LEN(widths); w++)
			if (suits(b, (enum kerr_variant)v, widths[w]) &&
			        measure_in_time(b->measure))
				measure_configuration(b, (enum kerr_variant)v, widths[w]);
	if (b->measure->executor[0] && wants(b, "gemv") && measure_in_time(b->measure))
		measure_kerr_gemv(b);
}

/* ---- LAPACK on the host ---- */

/* The paper's reference: LAPACK's geqrf, and ormqr applied to the unit matrix, on 1, 2, 4 and all
 * threads of the host. */
struct factors {
	float *a, *q, *tau;
};

/* The time includes the unit matrix, as on the GPU. */
static bool run_host_once(const struct kerr_bench *b, const struct factors *f, double *seconds)
{
	int m = (int)b->a0.m, n = (int)b->a0.n;

	memcpy(f->a, b->host, (size_t)m * (size_t)n * sizeof *f->a);
	double start = clock_now();
	memset(f->q, 0, (size_t)m * (size_t)m * sizeof *f->q);
	for (size_t i = 0; i < (size_t)m; i++)
		f->q[i * ((size_t)m + 1)] = 1;
	bool ok =
	        LAPACKE_sgeqrf(LAPACK_COL_MAJOR, m, n, f->a, m, f->tau) == 0 &&
	        LAPACKE_sormqr(LAPACK_COL_MAJOR, 'L', 'N', m, m, n, f->a, m, f->tau, f->q, m) == 0;
	*seconds = clock_now() - start;
	return ok;
}

static void measure_threads(struct kerr_bench *b, const struct factors *f, int t, int threads)
{
	struct kerr_row row = kerr_bench_row(b, "lapack", "total", 0);
	int64_t m = row.m;
	double growth = b->before[t].m ? (double)m / (double)b->before[t].m : 0;
	double expected = b->before[t].seconds * growth * growth * growth;
	double left = b->measure->budget - (clock_now() - b->measure->start), sample[KERR_RUNS];
	double phase[KERR_PHASES];
	struct kerr_errors errors;
	double spent = 0, enough = b->measure->plan.max_seconds;
	size_t count = 0;
	bool ok = true;

	row.threads = threads;
	row.flops = kerr_count(m, row.n, KERR_TABLE_R, phase);
	if (kerr_rows_find(b->rows, &row) || expected > left)
		return;
	openblas_set_num_threads(threads);
	for (; ok && count < KERR_RUNS && spent < enough; count++) {
		ok = run_host_once(b, f, &sample[count]);
		spent += sample[count];
	}
	openblas_set_num_threads(1);
	if (!ok || !b->e->ops->upload(b->e, f->a, m, b->a) ||
	        !b->e->ops->upload(b->e, f->q, m, b->q) ||
	        !kerr_errors(b->e, b->a0, b->a, b->q, &b->room, &errors)) {
		msg_warn("LAPACKE at %" PRId64 " rows: %s", m, ok ? b->e->fault.text : "refused");
		b->measure->failed++;
		return;
	}
	kerr_bench_add(b, &row, sample, count, &errors);
	b->before[t].seconds = stats_median(sample, count);
	b->before[t].m = m;
}

static void measure_host(struct kerr_bench *b)
{
	int64_t m = b->a0.m, n = b->a0.n;
	const int threads[KERR_THREADS] = {1, 2, 4, executor_host_threads()};
	struct factors f = {xmalloc((size_t)(m * n) * sizeof(float)),
	        xmalloc((size_t)(m * m) * sizeof(float)), xmalloc((size_t)n * sizeof(float))};

	for (int t = KERR_THREADS - 1; t >= 0 && !measure_over(b->measure); t--)
		if (t == KERR_THREADS - 1 || threads[t] < threads[KERR_THREADS - 1])
			measure_threads(b, &f, t, threads[t]);
	free(f.a);
	free(f.q);
	free(f.tau);
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
	struct kerr_rows *old = kerr_rows_read(path, &fault);

	if (old &&
	        measure_continues(b->measure, old->table, b->rows->table, NULL, path, old->count))
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
		each_size(b, measure_host);
	msg_progress_end();
	kerr_rows_print(b->rows, stdout);
	printf("%s\n", measure->path);
	kerr_rows_free(b->rows);
	free(b);
}
