/* SPDX-License-Identifier: MIT */
/* Panels called alone, on a recorded machine with rows that say what such a call takes beyond one
 * in a row: a call that the host waits for takes both. Later calls of a run, calls behind work, and
 * profiles without these rows have the time that they had. A launch that costs more makes no such
 * panel quicker, and it costs it no more than a round trip. */
#include "cost_lines.h"

#include "factor/model/efficiency/efficiency.h"
#include "lib/profile/profile_row.h"

#include <string.h>

enum { ROWS = 2048, COLUMNS = 64 };
static const double alone = 12e-6;

typedef bool panel(struct executor *e);

static struct matrix of(int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, m, DOUBLE};
}

static bool potrf(struct executor *e)
{
	return ex_potrf_block(e, LOWER, of(COLUMNS, COLUMNS), (struct matrix){0}, 0, NULL);
}

static bool geqrf(struct executor *e)
{
	const struct matrix a = of(ROWS, COLUMNS), t = of(COLUMNS, COLUMNS);

	return ex_panel_reflectors(e, a, of(COLUMNS, 1), a, t, false, NULL);
}

static bool getrf(struct executor *e)
{
	return ex_resident_panel(e, of(ROWS, COLUMNS), NULL, (struct pivots){NULL, COLUMNS});
}

static const struct {
	panel *call;
	const char *row, *name;
} panels[] = {{potrf, "gpu.alone.potrf.d", "Cholesky's"},
        {geqrf, "gpu.alone.panel_reflectors.d", "QR's"},
        {getrf, "gpu.alone.panel_cluster.d", "LU's"}};

static void add_rows(struct profile *p)
{
	for (size_t i = 0; i < ARRAY_LEN(panels); i++) {
		struct parameter_spec spec = {.name = panels[i].row,
		        .unit = "s",
		        .method = "called alone, less one in a row",
		        .regime = "calibrated"};
		const struct arg shape[] = {{"m", ROWS}, {"n", COLUMNS}};
		const bool square = panels[i].call == potrf;
		profile_add(p, &spec, shape + square, ARRAY_LEN(shape) - square,
		        (struct estimate){alone, 0.98 * alone, 1.02 * alone, 90}, false);
	}
	efficiency_prepare(p);
}

static struct executor *start(const struct profile *p)
{
	return executor_model_new(p, MODEL_CUDA, 2);
}

/* Seconds until the host knows of the end of so many calls. */
static double of_calls(const struct profile *p, panel *call, int calls)
{
	struct executor *e = start(p);

	for (int i = 0; i < calls; i++)
		if (!call(e))
			diag("%s", e->fault.text);
	const double seconds = executor_model_seconds(e);
	executor_free(e);
	return seconds;
}

static double behind_work(const struct profile *p, panel *call)
{
	struct executor *e = start(p);

	ex_fill(e, WHOLE, 0, 0, of(100000, 1000));
	call(e);
	const double seconds = executor_model_seconds(e);
	executor_free(e);
	return seconds;
}

static double in_row(const struct profile *p, panel *call)
{
	struct executor *e = start(p);

	call(e);
	const struct charged *c = &model_self(e)->charged[0];
	const double seconds = cost_total(&c->cost);
	executor_free(e);
	return seconds;
}

static void test_terms(const struct profile *p, panel *call, const char *name)
{
	struct executor *e = start(p);
	double terms = 0, phases = 0;

	call(e);
	const struct model_result result = executor_model_result(e);
	for (int t = 0; t < TERM_COUNT; t++)
		terms += result.term[t];
	for (int i = 0; i < PHASE_COUNT; i++)
		phases += result.phase[i];
	executor_free(e);
	is_real(phases, result.seconds, 1e-9, name);
	ok(terms <= result.seconds * (1 + 1e-9) && terms > 0.5 * result.seconds,
	        "%s panel: its terms are of the same time", name);
}

static void test_launches(const struct profile *p, panel *call, const char *name)
{
	static const char *const rows[] = {"gpu.launch.enqueue", "gpu.launch.dependent",
	        "gpu.launch.pdl", "gpu.launch.sync", "gpu.launch.enqueue_pdl"};
	const double before = of_calls(p, call, 1);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct profile *what_if = profile_copy(p);
		const double row = profile_get(p, rows[i], NULL, 0).estimate.value;
		profile_scale_rows(what_if, rows[i], 2);
		const double more = of_calls(what_if, call, 1) - before;
		if (!ok(more > -1e-9 && more < 1.5 * row,
		            "%s panel: %s twice as dear costs up to its time", name, rows[i]))
			diag("%g s of %g s", more, row);
		profile_free(what_if);
	}
}

static bool is_alone(const struct parameter *row, const void *none)
{
	(void)none;
	return strncmp(row->name, "gpu.alone.", strlen("gpu.alone.")) == 0;
}

int main(void)
{
	struct profile *without = profile_open(RECORDED);

	profile_remove_if(without, is_alone, NULL);
	struct profile *with = profile_copy(without);

	add_rows(with);
	for (size_t i = 0; i < ARRAY_LEN(panels); i++) {
		panel *call = panels[i].call;
		is_real(of_calls(with, call, 1), in_row(without, call) + alone, 1e-9,
		        panels[i].name);
		is_real(of_calls(with, call, 3) - of_calls(with, call, 1),
		        of_calls(without, call, 3) - of_calls(without, call, 1), 1e-9,
		        "later calls of the run take what they took");
		is_real(behind_work(with, call), behind_work(without, call), 1e-12,
		        "so does one behind work");
		test_terms(with, call, panels[i].name);
		test_launches(with, call, panels[i].name);
	}
	profile_free(with);
	profile_free(without);
	return finish();
}
