/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/device/machine.h"
#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const measure_executor_names[MEASURE_EXECUTORS] = {"cuda", "host"};

/* Binds the calling thread to the quietest core. Threads started before are not bound: those of the
 * BLAS, of the driver and, started here, the threads that make matrices and check results. */
static void take_core(struct measure *measure)
{
	struct topology_facts facts;
	struct fault fault = {""};
	int started = 0;

#pragma omp parallel reduction(+ : started)
	started++;
	msg_note("%d threads make and check matrices", started);

	if (!(measure->topology = topology_host(&fault))) {
		msg_warn("the measuring thread is not bound to a core: %s", fault.text);
		return;
	}
	topology_facts(measure->topology, &facts);
	core_noise_open(&measure->noise, measure->topology, facts.cores, -1, false);
	measure->plan.noise = &measure->noise;
}

void measure_open(struct measure *measure)
{
	struct fault fault = {""};

	measure->has_gpu = gpu_open(&measure->gpu, measure->common.device, &fault);
	if (measure->has_gpu)
		measure->executor[0] = executor_cuda_new(measure->common.device, &fault);
	if (!measure->executor[0])
		msg_warn("no GPU is measured, host cases only: %s", fault.text);
	else if (!(measure->vendor = vendor_new(&fault)))
		msg_warn("no cuSOLVER reference: %s", fault.text);
	if (!(measure->executor[1] = executor_host_new(&fault)))
		msg_warn("no host executor: %s", fault.text);
	if (!measure->executor[0] && !measure->executor[1])
		msg_die(EXIT_NOT_POSSIBLE, "nothing can be measured here: %s", fault.text);
	take_core(measure);
}

void measure_close(struct measure *measure)
{
	vendor_free(measure->vendor);
	for (int e = 0; e < MEASURE_EXECUTORS; e++)
		executor_free(measure->executor[e]);
	if (measure->topology)
		core_noise_close(&measure->noise);
}

void measure_stamp(struct measure *measure, struct table *table)
{
	const struct gpu *gpu = measure->has_gpu ? &measure->gpu : NULL;

	machine_stamp(table, "measure", gpu, measure->argc, measure->argv);
	table_meta_set(table, "seed", "%" PRId64, measure->common.seed);
	if (gpu)
		table_meta_set(table, "other_users", "%d", gpu_other_users(gpu));
	if (measure->topology)
		core_noise_note(&measure->noise, table);
}

bool measure_same_meta(const struct table *a, const struct table *b, const char *key)
{
	const char *x = table_meta(a, key), *y = table_meta(b, key);
	return x && y && strcmp(x, y) == 0;
}

bool measure_same(const struct table *a, const struct table *b)
{
	return measure_same_meta(a, b, "fathom") && measure_same_meta(a, b, "machine");
}

void measure_save(struct results *results, const char *path)
{
	struct fault fault;

	if (!results_write(results, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
}

struct results *measure_start(
        struct measure *measure, const char *path, const char *predictions_sha)
{
	struct results *results = results_new(), *old;
	struct fault fault;

	measure_stamp(measure, results->table);
	if (predictions_sha)
		table_meta_set(results->table, "predictions_sha256", "%s", predictions_sha);
	if (measure->again || access(path, F_OK) != 0)
		return results;
	old = results_read(path, &fault);
	if (!old) {
		msg_warn("starting afresh: %s", fault.text);
	} else if (!measure_same(old->table, results->table) ||
	           (predictions_sha &&
	                   !measure_same_meta(old->table, results->table, "predictions_sha256"))) {
		msg_warn("starting afresh: %s is of another version, machine or predictions", path);
	} else {
		results_append(results, old);
		msg_warn("%s: %zu rows kept (--again measures them again)", path, results->count);
	}
	results_free(old);
	measure->kept = results->count;
	return results;
}

void measure_say(const struct measure *measure, const struct results *results, const char *path,
        double seconds)
{
	printf("%s: %zu rows, %zu disturbed, %zu refused, %zu failed, %.0f s\n", path,
	        results->count, results_count_disturbed(results), measure->refused, measure->failed,
	        seconds);
}

void measure_say_late(const struct measure *measure, size_t late, const char *what)
{
	if (late)
		msg_warn("the budget of %.0f s is spent: %zu %s are not measured; the same command "
		         "continues",
		        measure->budget, late, what);
}

int measure_code(const struct measure *measure)
{
	return measure->failed || *measure->plan.stop ? EXIT_MEASURE_FAILED : EXIT_DONE;
}

struct profile *measure_profile(const struct measure *measure, struct fault *fault)
{
	char *path = xasprintf("%s/profile.tsv", measure->common.output);
	struct profile *profile = profile_read(path, fault);

	free(path);
	return profile;
}

struct executor *measure_first(const struct measure *measure, const char **name)
{
	const int first = measure->executor[0] ? 0 : 1;

	if (name)
		*name = measure_executor_names[first];
	return measure->executor[first];
}

void measure_add_model(const struct profile *profile, const struct result *measured, bool on,
        row_predictor predict, struct results *out)
{
	struct result row = *measured, made = *measured;

	if (on)
		results_option_add(row.options, "on", measured->executor);
	snprintf(row.executor, sizeof row.executor, "model");
	if (!profile || results_find(out, &row) || !predict(profile, 2, &made))
		return;
	row.seconds = made.seconds;
	memcpy(row.regime, made.regime, sizeof row.regime);
	results_add(out, &row);
}

struct executor *measure_executor(const struct measure *measure, const char *name)
{
	for (int e = 0; e < MEASURE_EXECUTORS; e++)
		if (strcmp(name, measure_executor_names[e]) == 0)
			return measure->executor[e];
	return NULL;
}

void measure_add(struct measure *measure, struct result *row, const struct candidate *candidate,
        struct results *out)
{
	row->seconds = candidate->seconds;
	row->residual = candidate->residual;
	row->orthogonality = candidate->orthogonality;
	row->regime[0] = 0;
	snprintf(row->note, sizeof row->note, "%s", candidate->note);
	if (candidate->disturbed && !row->note[0])
		results_disturbed_set(row);
	results_add(out, row);
	measure->runs += candidate->seconds.samples + candidate->discarded;
	measure->discarded += candidate->discarded;
	measure->failed += candidate->failed;
	measure->refused += candidate->refused;
	if (candidate->failed)
		msg_warn("%s %s %s %" PRId64 " x %" PRId64 ": %s", row->executor, row->operation,
		        row->variant, row->m, row->n, candidate->note);
}

bool measure_add_all(struct measure *measure, struct result *row, const struct candidate *candidate,
        size_t count, bool timed, const struct fault *fault, struct results *out)
{
	for (size_t i = 0; timed && i < count; i++)
		measure_add(measure, &row[i], &candidate[i], out);
	if (!timed && !*measure->plan.stop)
		msg_warn("%s %" PRId64 " x %" PRId64 " on %s: %s", row->operation, row->m, row->n,
		        row->executor, fault->text);
	return timed;
}
