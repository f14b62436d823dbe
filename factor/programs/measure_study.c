/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "factor/model/efficiency/efficiency.h"
#include "lib/device/machine.h"
#include "lib/host/allowance.h"
#include "lib/host/clock.h"
#include "lib/host/pinned_threads.h"
#include "lib/base/msg.h"
#include "lib/base/wrap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the machine ---- */

static const char *const executor_names[MEASURE_EXECUTORS] = {"cuda", "host"};

/* Binds the calling thread to the quietest core. Threads started before are not bound: those of the
 * BLAS, of the driver and, started here, the threads that make matrices and check results. */
static void take_core(struct measure *measure)
{
	struct topology_facts facts;
	struct fault fault = {.text = ""};
	int started = 0;

	host_threads_all();
	host_threads(); /* these two before the thread is bound */
	host_processors();
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

int measure_largest_threads(const struct measure *measure)
{
	const int cores = measure->noise.cores, usable = host_threads();

	return pinned_largest(cores < usable ? cores : usable);
}

static void open_machine(struct measure *measure)
{
	struct fault fault = {.text = ""};

	measure->has_gpu = gpu_open(&measure->gpu, measure->common.device, &fault);
	if (measure->has_gpu)
		measure->executor[0] = executor_cuda_new(measure->common.device, &fault);
	if (measure->executor[0] &&
	        tuning_note(&measure->executor[0]->tuning.device, measure->tuning))
		msg_warn("%s", measure->tuning);
	if (!measure->executor[0])
		msg_warn("no GPU is measured, host cases only: %s", fault.text);
	else if (measure->gpu.sm_count < measure->gpu.device_sms)
		msg_warn("no cuSOLVER reference: in a part of a GPU its kernels may wait for "
		         "multiprocessors that they do not get");
	else if (!(measure->vendor = vendor_new(&fault)))
		msg_warn("no cuSOLVER reference: %s", fault.text);
	if (!(measure->executor[1] = executor_host_new(&fault)))
		msg_warn("no host executor: %s", fault.text);
	if (!measure->executor[0] && !measure->executor[1])
		msg_die(EXIT_NOT_POSSIBLE, "nothing can be measured here: %s", fault.text);
	take_core(measure);
}

static void close_machine(struct measure *measure)
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
	table_meta_set(table, "quick", "%s", measure->common.quick ? "yes" : "no");
	if (measure->tuning[0])
		table_meta_set(table, "tuning", "%s", measure->tuning);
	if (gpu)
		table_meta_set(table, "other_users", "%d", gpu_other_users(gpu));
	if (measure->topology)
		core_noise_note(&measure->noise, table);
}

struct executor *measure_first(const struct measure *measure, const char **name)
{
	const int first = measure->executor[0] ? 0 : 1;

	if (name)
		*name = executor_names[first];
	return measure->executor[first];
}

struct executor *measure_executor(const struct measure *measure, const char *name)
{
	for (int e = 0; e < MEASURE_EXECUTORS; e++)
		if (strcmp(name, executor_names[e]) == 0)
			return measure->executor[e];
	return NULL;
}

/* ---- a study ---- */

static char *path_of(const struct measure *measure, const char *name)
{
	return xasprintf("%s/%s", measure->common.output, name);
}

static bool same_meta(const struct table *a, const struct table *b, const char *key)
{
	const char *x = table_meta(a, key), *y = table_meta(b, key);
	return x && y && strcmp(x, y) == 0;
}

static bool same_or_none(const struct table *a, const struct table *b, const char *key)
{
	return (!table_meta(a, key) && !table_meta(b, key)) || same_meta(a, b, key);
}

/* Whether hosts are alike, and GPUs, drivers and toolkits have the same names. */
static bool same_kind_of_machine(const struct table *a, const struct table *b)
{
	return machine_same_host(table_meta(a, "machine"), table_meta(b, "machine")) &&
	       same_meta(a, b, "gpu") && same_or_none(a, b, "gpu_sms") &&
	       same_or_none(a, b, "mps_percentage") && same_or_none(a, b, "driver") &&
	       same_or_none(a, b, "cuda");
}

/* The number of rows that a note of rows of other runs names: "N rows ...; N rows ...". */
static size_t rows_noted(const char *note)
{
	size_t rows = 0;

	for (; note && *note; note = strstr(note, "; ") ? strstr(note, "; ") + 2 : "")
		rows += strtoul(note, NULL, 10);
	return rows;
}

/* Rows of other runs, in the head of the file that goes on: those that the old one names, and on
 * another machine the rest of it. */
static void note_rows(const struct table *old, struct table *fresh, size_t rows)
{
	static const char key[] = "rows_of_another_run";
	const char *before = table_meta(old, key);
	const size_t noted = rows_noted(before), rest = rows > noted ? rows - noted : 0;

	if (before)
		table_meta_set(fresh, key, "%s", before);
	if (rest > 0 && !same_meta(old, fresh, "machine"))
		table_meta_set(fresh, key, "%s%s%zu rows by %s on machine %s, %s",
		        before ? before : "", before ? "; " : "", rest, table_meta(old, "fathom"),
		        table_meta(old, "machine"), table_meta(old, "date"));
}

bool measure_continues(const struct measure *measure, const struct table *old, struct table *fresh,
        const char *key, const char *path, size_t rows)
{
	const bool here = same_meta(old, fresh, "machine");

	if (measure->again)
		return false;
	if (!same_meta(old, fresh, "fathom") || !same_meta(old, fresh, "quick") ||
	        (key ? !here || !same_meta(old, fresh, key)
	             : !here && !same_kind_of_machine(old, fresh))) {
		msg_warn("starting afresh: %s is of another version, %s", path,
		        key ? "machine, --quick or predictions"
		            : "kind of machine, driver or --quick");
		return false;
	}
	note_rows(old, fresh, rows);
	msg_warn("%s: %zu rows kept%s (--again measures them again)", path, rows,
	        here ? "" : ", of another machine of this kind");
	return true;
}

static void read_predictions(struct measure *measure, const struct study *study, char sha[65])
{
	char *source = path_of(measure, study->source);

	measure->predictions = results_read(source, &measure->fault);
	if (!measure->predictions || !table_sha256(source, sha, &measure->fault))
		msg_die(EXIT_MEASURE_FAILED, "%s; run fathom %s first", measure->fault.text,
		        study->remedy);
	free(source);
}

/* Stamped rows: those that the file has of this program, machine and predictions. */
static void open_results(struct measure *measure, const struct study *study, const char *sha)
{
	struct results *fresh = measure->results = results_new(), *old;
	const char *key = study->source ? "predictions_sha256" : NULL;

	measure_stamp(measure, fresh->table);
	if (key)
		table_meta_set(fresh->table, key, "%s", sha);
	if (!study->continues || study->own_rows || measure->again ||
	        access(measure->path, F_OK) != 0)
		return;
	old = results_read(measure->path, &measure->fault);
	if (!old)
		msg_warn("starting afresh: %s", measure->fault.text);
	else if (measure_continues(
	                 measure, old->table, fresh->table, key, measure->path, old->count))
		results_append(fresh, old);
	results_free(old);
	measure->kept = fresh->count;
}

void measure_save(struct measure *measure)
{
	if (!results_write(measure->results, measure->path, &measure->fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", measure->fault.text);
}

bool measure_over(const struct measure *measure)
{
	return *measure->plan.stop || clock_now() - measure->start > measure->budget;
}

bool measure_in_time(struct measure *measure)
{
	const bool over = measure_over(measure);

	measure->late += over && !*measure->plan.stop;
	return !over;
}

void measure_progress(struct measure *measure, size_t done, size_t total, const char *format, ...)
{
	static const double no_time = 2e-3;
	const double now = clock_now(), most = measure->budget - (now - measure->start);
	char text[80];
	va_list args;

	measure->no_steps =
	        done == 0 ? 0 : measure->no_steps + (now - measure->step_began < no_time);
	measure->step_began = now;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	msg_progress_step((double)(done - measure->no_steps), (double)(total - measure->no_steps),
	        most, "%zu of %zu: %s", done + 1, total, text);
}

static void say(const struct measure *measure, const struct study *study)
{
	const struct results *results = measure->results;

	msg_progress_end();
	if (results->count && study->print) {
		FILE *out = wrap_open();
		study->print(results, out);
		wrap_close(out, stdout);
	}
	if (results->count)
		printf("%s: %zu rows, %zu disturbed, %zu refused, %zu failed, %.0f s\n",
		        measure->path, results->count, results_count_disturbed(results),
		        measure->refused, measure->failed, clock_now() - measure->start);
	if (*measure->plan.stop)
		msg_warn("interrupted: all rows so far are kept%s",
		        study->continues ? "; the same command continues" : "");
	else if (measure->late)
		msg_warn("the budget of %.0f s is spent: %zu shapes are not measured%s",
		        measure->budget, measure->late,
		        study->continues ? "; the same command continues" : "");
}

/* With --json the rows alone go to stdout; what is said while measuring goes to stderr. */
static int hold_stdout(void)
{
	const int kept = dup(STDOUT_FILENO);

	dup2(STDERR_FILENO, STDOUT_FILENO);
	return kept;
}

static void write_rows(const struct results *results, int kept)
{
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	results_write_json(results);
}

int measure_study(struct measure *measure, const struct study *study)
{
	char sha[65] = "", *profile = path_of(measure, "profile.tsv");
	const int kept = measure->common.json ? hold_stdout() : -1;

	if (measure->budget <= 0)
		measure->budget = study->budget;
	if (study->source)
		read_predictions(measure, study, sha);
	open_machine(measure);
	measure->path = path_of(measure, study->file);
	open_results(measure, study, sha);
	measure->profile = profile_read(profile, &measure->fault);
	if (measure->profile)
		efficiency_prepare(measure->profile);
	measure->start = clock_now();
	study->measure(measure);
	say(measure, study);
	if (kept >= 0)
		write_rows(measure->results, kept);
	const bool all = !measure->failed && (study->continues || !measure->late);
	results_free(measure->predictions);
	results_free(measure->results);
	profile_free(measure->profile);
	free(measure->path);
	free(profile);
	close_machine(measure);
	if (*measure->plan.stop)
		return 128 + (int)*measure->plan.stop;
	return all ? EXIT_DONE : EXIT_MEASURE_FAILED;
}
