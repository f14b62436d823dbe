/* SPDX-License-Identifier: MIT */
/* The program of one probe or of the whole set: command line, the measuring child (the parent is in
 * probe_jobs.c), fit and output. */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

#include "lib/host/allowance.h"
#include "lib/host/clock.h"
#include "lib/host/host_load.h"
#include "curve_fit.h"
#include "curve_resample.h"
#include "lib/device/machine.h"
#include "lib/base/msg.h"
#include "probe_jobs.h"
#include "probe_noise.h"
#include "lib/profile/profile_odd.h"
#include "lib/profile/profile_row.h"

void probe_record(struct probe_run *run, const char *series, const struct arg *args,
        size_t arg_count, const struct measurement *measurement)
{
	if (probe_wants(run, series, args, arg_count))
		curve_add(
		        run->curve, series, args, arg_count, run->process, measurement, run->busy);
}

bool probe_wants(
        const struct probe_run *run, const char *series, const struct arg *args, size_t arg_count)
{
	return !run->wanted || curve_lists(run->wanted, series, args, arg_count);
}

/* series: marks only these rows; NULL: all. */
static void mark_busy(struct probe_run *run, bool (*series)(const char *series))
{
	for (size_t row = 0; row < run->curve->row_count; row++)
		if (!series || series(table_text(run->curve, row, "series")))
			table_set_int(run->curve, row, "busy", 1);
}

void probe_watch_gpu(struct probe_run *run, const struct gpu *gpu)
{
	run->gpu = *gpu;
	run->on_gpu = true;
	if (gpu_other_users(gpu) <= 0)
		return;
	run->busy = true;
	mark_busy(run, NULL);
}

/* A child gets the words of its parent, which may name other probes. */
static void parse(int argc, char **argv, const struct probe *const *list, size_t count, bool child,
        struct options *options, char ***operands)
{
	const bool set = count > 1;
	char *name = xasprintf("fathom-%s", set ? "probe" : list[0]->name);
	char *example = xasprintf("fathom %s --quick\n", list[0]->name);
	const struct cli_option table[] = {
	        {"processes", 0, CLI_INT, &options->processes, "N",
	                "fresh processes that repeat the sweep (0: 3 to 5, the probe's own choice)",
	                0, 1000},
	        {"seconds", 0, CLI_REAL, &options->seconds, "S",
	                "time for the sweep of one process; 0: as this probe needs", 0, 86400},
	        {"check", 0, CLI_FLAG, &options->check, NULL,
	                "prove correctness instead of measuring", 0, 0},
	        {"profile", 0, CLI_TEXT, &options->profile, "POINT",
	                "one call of a point, as SERIES[m=64,n=64], between a profiler's start and "
	                "stop, instead of measuring",
	                0, 0},
	};
	const struct cli_program program = {
	        .name = name,
	        .summary = set ? "Measures this machine with the probes named, or with all."
	                       : list[0]->question,
	        .operands = set || child ? "[PROBE]..." : NULL,
	        .examples = set ? "fathom probe\nfathom probe launch copy --quick\n" : example,
	        .details =
	                set ? "Without names it measures the whole machine and fits its profile, "
	                      "in "
	                      "two minutes (--quick: fifteen seconds); with names it writes their "
	                      "curves to OUTPUT, of which fathom fit makes the profile. "
	                      "fathom list probes names them."
	                    : "Writes the curve to OUTPUT and prints the parameters fitted to it.",
	        .options = table,
	        .option_count = ARRAY_LEN(table),
	};

	cli_parse(argc, argv, &program, &options->common, operands);
	free(example);
}

/* A quick run also has fewer points. */
static const double quick_divisor = 24;

static struct job new_job(const struct probe *probe, size_t number, const struct options *options)
{
	/* to start and end a process on the GPU */
	static const double start_seconds = 0.4;
	const bool quick = options->common.quick;
	struct job job = {.probe = probe, .number = number, .outcome = EXIT_DONE};

	job.budget = options->seconds > 0 ? options->seconds
	                                  : probe->seconds / (quick ? quick_divisor : 1);
	job.processes = options->processes > 0 ? (int)options->processes
	                : quick                ? 3
	                : probe->processes > 0 ? (int)probe->processes
	                                       : 5;
	job.expected = job.budget + start_seconds;
	return job;
}

static size_t find_probe(const struct probe *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i]->name, name) == 0)
			return i;
	msg_die(EXIT_BAD_USAGE, "no probe is named %s: --help shows how, fathom help the names",
	        name);
}

/* The jobs in the order named, or all in the program's. */
static void take_jobs(
        struct work *work, const struct probe *const *list, size_t count, char *const *names)
{
	work->job = xcalloc(count + 1, sizeof *work->job);
	for (size_t i = 0; names && names[i] && i < count; i++) {
		const size_t index = find_probe(list, count, names[i]);
		work->job[work->count++] = new_job(list[index], i + 1, work->options);
	}
	for (size_t i = 0; work->count == 0 && i < count; i++)
		work->job[i] = new_job(list[i], i + 1, work->options);
	if (work->count == 0)
		work->count = count;
	work->total = work->count;
}

/* ---- the child ---- */

static struct probe_run new_run(
        const struct probe *probe, const struct options *options, double budget)
{
	return (struct probe_run){
	        .common = options->common,
	        .curve = curve_new(probe->args, probe->arg_count),
	        .seconds = budget,
	        .warm_seconds = options->common.quick ? 0.02 : 0.15,
	        .probe = probe,
	};
}

/* Facts of the device that fits turn into parameters: the model reads only the profile. */
static void note_device(struct table *curve, const struct gpu *gpu)
{
	table_meta_set(curve, "gpu_compute_capability", "%d.%d", gpu->major, gpu->minor);
	table_meta_set(curve, "gpu_sms", "%d", gpu->sm_count);
	table_meta_set(curve, "gpu_threads_per_sm", "%d", gpu->max_threads_per_sm);
	table_meta_set(curve, "gpu_blocks_per_sm", "%d", gpu->max_blocks_per_sm);
	table_meta_set(curve, "gpu_shared_per_block", "%lld", (long long)gpu->shared_per_block);
	table_meta_set(curve, "gpu_l2_bytes", "%lld", (long long)gpu->l2_bytes);
}

/* Periods in which the CPU quota stopped the process. When no row of a host probe saw it
 * (sample.h), any row may have met it. */
static void note_throttling(struct probe_run *run, int64_t times)
{
	if (times <= 0)
		return;
	table_meta_set(run->curve, throttled_key, "%lld", (long long)times);
	if (!run->probe->needs_gpu && !curve_any_busy(run->curve))
		mark_busy(run, NULL);
}

static void note_load(struct probe_run *run, double others)
{
	if (!host_load_is_high(others))
		return;
	table_meta_set(run->curve, "processors_of_others", "%.1f", others);
	if (run->probe->by_host)
		mark_busy(run, run->probe->by_host);
}

static const double warm_again = 0.1; /* part of the warm-up that the next probe needs */

static void measure_and_send(const struct work *work, const struct job *job, int process,
        const struct child_part *part, bool first, struct probe_noise **noise)
{
	struct probe_run run = new_run(job->probe, work->options, job->budget);
	const int64_t throttled = cpu_quota_throttled(host_quota());
	const struct host_load load = host_load_now();

	run.process = process;
	run.noise = noise;
	run.warm_seconds *= first ? 1 : warm_again;
	run.core_usual = work->core_usual;
	run.wanted = job->wanted;
	if (!child_begin(part))
		msg_die(EXIT_MEASURE_FAILED, "cannot reach the starting process");
	job->probe->measure(&run);
	msg_progress_end();
	note_throttling(&run, cpu_quota_throttled(host_quota()) - throttled);
	note_load(&run, host_load_others(load, host_load_now()));
	machine_stamp(
	        run.curve, job->probe->name, run.on_gpu ? &run.gpu : NULL, work->argc, work->argv);
	if (run.on_gpu)
		note_device(run.curve, &run.gpu);
	table_meta_set(run.curve, "wall_seconds", "%.3f", clock_now() - load.when);
	if (!child_send(part, run.curve))
		msg_die(EXIT_MEASURE_FAILED, "cannot hand over the measurements");
	table_free(run.curve);
}

static int follow(const struct work *work, const struct child_order *order,
        const struct probe *const *list, size_t count)
{
	struct probe_noise *noise = NULL;

	for (size_t i = 0; i < order->count; i++) {
		const struct child_part *part = &order->part[i];
		const struct probe *probe = list[find_probe(list, count, part->probe)];
		struct job job = new_job(probe, part->number, work->options);
		job.wanted = child_wanted(part);
		probe_show_progress(work, &job, order->process, part->left);
		measure_and_send(work, &job, order->process, part, i == 0, &noise);
		table_free(job.wanted);
	}
	probe_noise_close(noise);
	return EXIT_DONE;
}

/* Fits, prints, and counts the failed parameters into the exit code. */
static int fit_and_print(const struct job *job, const struct options *options)
{
	const struct table *curve = job->curve;
	const struct probe *probe = job->probe;
	struct profile *profile = profile_new();

	probe->fit(curve, profile);
	if (options->common.json) {
		struct table *table = profile_to_table(profile);
		table_meta_add(table, curve);
		cli_write_json(table, "parameters");
		table_free(table);
	} else {
		profile_print(profile, options->common.verbose, stdout);
	}
	const size_t odd = profile_say_odd(profile);
	size_t failed = profile_failed(profile);
	if (failed)
		msg_warn("%zu of %zu parameters failed; the curve is kept in %s/%s.tsv", failed,
		        profile->count, options->common.output, probe->name);
	profile_free(profile);
	return failed || odd ? EXIT_MEASURE_FAILED : EXIT_DONE;
}

/* The exit code of a set; its fit is a program of its own. */
static int conclude(const struct work *work)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < work->count; i++) {
		const struct job *job = &work->job[i];
		if (job->outcome == EXIT_NOT_POSSIBLE)
			msg_warn("%s is not possible here, for the reason above", job->probe->name);
		else if (job->outcome != EXIT_DONE)
			code = EXIT_MEASURE_FAILED;
	}
	return code;
}

static int check(const struct work *work)
{
	bool correct = true, any = false;

	for (size_t i = 0; i < work->count; i++) {
		const struct job *job = &work->job[i];
		if (!job->probe->check)
			continue;
		struct probe_run run = new_run(job->probe, work->options, job->budget);
		const bool right = job->probe->check(&run);
		printf("%s: %s\n", job->probe->name, right ? "all checks passed" : "CHECKS FAILED");
		table_free(run.curve);
		any = true;
		correct = correct && right;
	}
	if (!any)
		msg_die(EXIT_BAD_USAGE, "--check: this probe has no correctness mode");
	return correct ? EXIT_DONE : EXIT_MEASURE_FAILED;
}

/* One point for a profiler, which sees no launch but those of its call. */
static void profile(const struct work *work)
{
	const struct job *job = &work->job[0];
	struct probe_run run = new_run(job->probe, work->options, job->budget);
	struct table *wanted = curve_new(job->probe->args, job->probe->arg_count);
	struct arg args[PROFILE_ARGS];
	struct parameter point;
	char *text = xstrdup(work->options->profile);
	const char *wrong = profile_parse_name(text, &point);

	for (size_t i = 0; !wrong && i < point.arg_count; i++) {
		args[i] = (struct arg){point.arg_name[i], point.arg[i]};
		if (table_column(wanted, args[i].name) < 0)
			wrong = "the curve has no such argument";
	}
	if (wrong)
		msg_die(EXIT_BAD_USAGE, "--profile %s: %s", work->options->profile, wrong);
	curve_add(wanted, point.name, args, point.arg_count, 0, &(struct measurement){0}, false);
	run.wanted = wanted;
	run.profiled = true;
	job->probe->measure(&run);
	/* had it been, the program would have ended (probe_profile) */
	msg_die(EXIT_BAD_USAGE, "--profile %s: no such point is measured here, or not so",
	        work->options->profile);
}

static void work_free(struct work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		table_free(work->job[i].curve);
		table_free(work->job[i].wanted);
	}
	free(work->job);
	free(work->set_aside);
	free(work->argv);
}

/* What a process does that no other one has started. */
static int lead(struct work *work, const struct probe *const *list, size_t count, char **names)
{
	take_jobs(work, list, count, names);
	if (work->options->check)
		return check(work);
	if (work->options->profile)
		profile(work);
	probe_measure_all(work);
	if (count > 1)
		return conclude(work);
	const struct job *job = &work->job[0];
	return job->outcome == EXIT_DONE ? fit_and_print(job, work->options) : (int)job->outcome;
}

int probe_main(
        int argc, char **argv, const struct probe *const *list, size_t count, probe_whole whole)
{
	struct options options = {0};
	struct child_order order;
	const bool child = child_take_order(&argc, argv, &order);
	char **words = xcalloc((size_t)argc + 1, sizeof *words), **names = NULL;
	struct work work = {.argc = argc, .argv = words, .options = &options};

	host_processors(); /* these two are read before any thread is bound */
	host_threads();
	/* the parser reorders */
	memcpy(words, argv, (size_t)argc * sizeof *words);
	parse(argc, argv, list, count, child, &options, count > 1 ? &names : NULL);
	if (child) {
		work.total = order.total;
		work.core_usual = order.core_usual;
	} else if (whole && names && !names[0] && !options.check && !options.profile) {
		whole(&options.common, words + 1, (size_t)argc - 1);
	}
	const int code =
	        child ? follow(&work, &order, list, count) : lead(&work, list, count, names);
	work_free(&work);
	return code;
}
