/* SPDX-License-Identifier: MIT */
#include "probe_jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/host/allowance.h"
#include "lib/host/clock.h"
#include "curve_resample.h"
#include "lib/base/msg.h"
#include "lib/host/core_noise.h"

const char throttled_key[] = "cpu_throttled";

void probe_show_progress(const struct work *work, const struct job *job, int process, double left)
{
	char *place = work->total > 1 ? xasprintf("[%zu of %zu, about %.0f s left]  ", job->number,
	                                        work->total, left)
	                              : xstrdup("");
	if (job->wanted)
		msg_progress("%s%s: points again", place, job->probe->name);
	else
		msg_progress("%s%s: process %d of %d", place, job->probe->name, process + 1,
		        job->processes);
	free(place);
}

/* The measured clock, where the probe has one, stands in the metadata too. */
static void note_clock(struct table *curve)
{
	double *hz = xcalloc(curve->row_count + 1, sizeof *hz);
	size_t n = 0;

	for (size_t row = 0; row < curve->row_count; row++) {
		hz[n] = table_real(curve, row, "sm_hz");
		n += hz[n] > 0;
	}
	if (n)
		table_meta_set(curve, "sm_hz", "%.9g", stats_median(hz, n));
	free(hz);
}

/* The child has said on stderr why it failed; a crash is said here. */
static enum exit_code judge(const struct job *job, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_POSSIBLE)
		return EXIT_NOT_POSSIBLE;
	if (WIFSIGNALED(status))
		msg_warn("%s: process %d of %d was ended by signal %d (%s); nothing was written",
		        job->probe->name, job->done + 1, job->processes, WTERMSIG(status),
		        strsignal(WTERMSIG(status)));
	else
		msg_warn("%s: process %d of %d failed; nothing was written", job->probe->name,
		        job->done + 1, job->processes);
	return EXIT_MEASURE_FAILED;
}

static void take_curve(struct work *work, struct job *job, const struct child_part *part)
{
	struct fault fault;
	struct table *rows = child_curve(part, &fault);

	if (!rows)
		msg_die(EXIT_MEASURE_FAILED, "%s: process %d of %d sent no table: %s",
		        job->probe->name, job->done + 1, job->processes, fault.text);
	const char *seconds = table_meta(rows, "wall_seconds");
	const char *adds = table_meta(rows, core_adds_key);
	const char *times = table_meta(rows, throttled_key);
	const long throttled = times ? atol(times) : 0;
	job->expected = seconds ? atof(seconds) : job->expected;
	job->wall += job->expected;
	if (job->wanted) {
		curve_resample(job->curve, rows);
		table_meta_set(job->curve, "remeasured", "%d", ++job->repeats);
	} else {
		table_meta_add(job->curve, rows);
		for (size_t row = 0; row < rows->row_count; row++)
			table_copy_row(job->curve, rows, row);
		job->done++;
	}
	job->throttled += throttled;
	work->core_usual = fmax(work->core_usual, adds ? atof(adds) : 0);
	table_free(rows);
}

static double seconds_left(const struct work *work)
{
	double left = 0;
	for (size_t i = 0; i < work->count; i++)
		if (work->job[i].outcome == EXIT_DONE)
			left += (work->job[i].processes - work->job[i].done) *
			        work->job[i].expected;
	return left;
}

/* Says where a child's time went: its probes, and its start and end. */
static void note_times(struct job *const *job, size_t count, int process, double all)
{
	char *text = xstrdup("");
	double rest = all;

	for (size_t i = 0; i < count; i++) {
		xappend(&text, "%s %.2f, ", job[i]->probe->name, job[i]->expected);
		rest -= job[i]->expected;
	}
	msg_note(
	        "process %d took %.2f s: %sto start and to end %.2f", process + 1, all, text, rest);
	free(text);
}

/* Measures jobs one after another in one child. When the child fails in a job, another child goes
 * on with the next job. */
static void measure_together(struct work *work, struct job *const *job, size_t count, int process)
{
	/* A program without GPU libraries starts faster: they take longer than some host sweeps. */
	const char *sibling = count > 0 && !job[0]->probe->needs_gpu ? job[0]->probe->name : NULL;
	struct child_order order = {
	        .process = process, .total = work->total, .core_usual = work->core_usual};
	double left = seconds_left(work);

	if (count == 0)
		return;
	for (size_t i = 0; i < count && i < CHILD_MOST_PARTS; i++) {
		struct child_part *part = &order.part[i];
		*part = (struct child_part){.number = job[i]->number, .left = left};
		snprintf(part->probe, sizeof part->probe, "%s", job[i]->probe->name);
		child_open(part, job[i]->wanted);
		left -= job[i]->expected;
		order.count++;
	}
	probe_show_progress(work, job[0], process, order.part[0].left);
	const double start = clock_now();
	const int status = child_run(work->argc, work->argv, &order, sibling);
	const double took = clock_now() - start;
	msg_progress_end();
	child_leave_if_stopped();
	const bool success = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE;
	size_t last = 0, complete = order.count;
	for (size_t i = 0; i < order.count; i++)
		last = child_begun(&order.part[i]) ? i : last;
	if (!success)
		complete = last;
	for (size_t i = 0; i < order.count; i++) {
		if (i < complete)
			take_curve(work, job[i], &order.part[i]);
		child_close(&order.part[i]);
	}
	if (success) {
		note_times(job, order.count, process, took);
		return;
	}
	if (job[last]->wanted) {
		msg_warn("%s: its points could not be measured again", job[last]->probe->name);
		return;
	}
	job[last]->outcome = judge(job[last], status);
	measure_together(work, job + last + 1, count - last - 1, process);
}

static void write_curve(struct job *job, const struct options *options)
{
	struct table *curve = job->curve;
	char *path = xasprintf("%s/%s.tsv", options->common.output, job->probe->name);
	struct fault fault;

	table_meta_set(curve, "processes", "%d", job->processes);
	table_meta_set(curve, "seconds", "%g", job->budget);
	table_meta_set(curve, "wall_seconds", "%.1f", job->wall);
	table_meta_set(curve, "quick", "%s", options->common.quick ? "yes" : "no");
	if (job->throttled > 0)
		table_meta_set(curve, throttled_key, "%ld", job->throttled);
	note_clock(curve);
	child_leave_if_stopped();
	if (!table_write(curve, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	msg_note("wrote %s", path);
	free(path);
}

/* Runs all processes of jobs that share children, then writes their curves. */
static void measure_group(struct work *work, struct job *const *job, size_t count)
{
	struct job **able = xcalloc(count + 1, sizeof(struct job *));
	int processes = 0;

	for (size_t i = 0; i < count; i++) {
		job[i]->curve = curve_new(job[i]->probe->args, job[i]->probe->arg_count);
		table_meta_set(job[i]->curve, "probe", "%s", job[i]->probe->name);
		if (work->set_aside && job[i]->probe->needs_gpu)
			table_meta_set(job[i]->curve, "set_aside", "%s", work->set_aside);
		processes = job[i]->processes > processes ? job[i]->processes : processes;
	}
	for (int process = 0; process < processes; process++) {
		size_t left = 0;
		for (size_t i = 0; i < count; i++)
			if (job[i]->outcome == EXIT_DONE && process < job[i]->processes)
				able[left++] = job[i];
		measure_together(work, able, left, process);
	}
	for (size_t i = 0; i < count; i++) {
		if (job[i]->outcome == EXIT_DONE && job[i]->curve->row_count == 0) {
			msg_warn("%s measured nothing; nothing was written", job[i]->probe->name);
			job[i]->outcome = EXIT_MEASURE_FAILED;
		}
		if (job[i]->outcome == EXIT_DONE)
			write_curve(job[i], work->options);
	}
	free(able);
}

/* The GPU jobs that share processes, in their turn. Returns their number. */
static size_t sharing_jobs(struct work *work, struct job **group)
{
	size_t found = 0;

	for (int turn = -1; turn <= 2; turn++)
		for (size_t i = 0; i < work->count; i++) {
			struct job *job = &work->job[i];
			if (job->probe->needs_gpu && !job->probe->alone && job->probe->turn == turn)
				group[found++] = job;
		}
	return found;
}

/* ---- re-measurement ---- */

/* Processes that measure noisy points again; a GPU process takes longer to start. Three more of
 * them resolve points that differ between processes by less than a fifth. */
enum { NOISY_REPEATS = 8, NOISY_REPEATS_GPU = 3 };

/* Processes for points whose value chance decides: the midrange of ten processes repeats within 2 %
 * (tests/lib/test_curve.c). */
enum { CHANCE_PROCESSES = 10 };

/* No process begins later: interference may last longer than the measurement. GPU processes come
 * first and leave some time to those of the host. */
static const double repeats_seconds = 8, repeats_seconds_gpu = 7;

static bool may_repeat(const struct job *job, bool on_gpu)
{
	return job->probe->revisits && job->probe->needs_gpu == on_gpu &&
	       job->outcome == EXIT_DONE && job->processes > 2;
}

static void forget_wanted(struct job *job)
{
	table_free(job->wanted);
	job->wanted = NULL;
}

/* The GPU jobs with points to measure again, in their turn. Returns their number. */
static size_t find_wanted(struct work *work, bool noisy, struct job **wanted)
{
	const size_t all = sharing_jobs(work, wanted);
	size_t found = 0;

	for (size_t i = 0; i < all; i++) {
		struct job *job = wanted[i];
		if (!may_repeat(job, true))
			continue;
		job->wanted =
		        curve_wanted(job->curve, noisy, job->probe->by_chance, CHANCE_PROCESSES);
		if (job->wanted)
			wanted[found++] = job;
	}
	return found;
}

/* The host job with the most noisy points among the jobs not tried too often; NULL: none. */
static struct job *noisiest_job(struct work *work, const int *tried)
{
	struct job *noisiest = NULL;

	for (size_t i = 0; i < work->count; i++) {
		struct job *job = &work->job[i];
		if (!may_repeat(job, false) || tried[i] >= NOISY_REPEATS)
			continue;
		job->wanted = curve_wanted(job->curve, true, NULL, 0);
		if (!job->wanted)
			continue;
		if (noisiest && job->wanted->row_count <= noisiest->wanted->row_count) {
			forget_wanted(job);
			continue;
		}
		if (noisiest)
			forget_wanted(noisiest);
		noisiest = job;
	}
	return noisiest;
}

/* A fresh process measures the wanted points of these jobs. */
static void repeat_point(struct work *work, struct job *const *job, size_t count, int process)
{
	measure_together(work, job, count, process);
	for (size_t i = 0; i < count; i++)
		forget_wanted(job[i]);
}

/* At the end, when interference may be over, fresh processes measure again the noisy points, and
 * the points by chance that too few processes measured, until there is none or the time is spent.
 * Then the curves are written again. */
static void repeat_all(struct work *work)
{
	const double start = clock_now();
	struct job **wanted = xcalloc(work->count + 1, sizeof(struct job *)), *job;
	int *tried = xcalloc(work->count + 1, sizeof *tried), processes = 0;
	size_t count;

	for (size_t i = 0; i < work->count; i++)
		processes = work->job[i].processes > processes ? work->job[i].processes : processes;
	for (int repeat = 0;
	        repeat < CHANCE_PROCESSES && clock_now() < start + repeats_seconds_gpu &&
	        (count = find_wanted(work, repeat < NOISY_REPEATS_GPU, wanted)) > 0;
	        repeat++)
		repeat_point(work, wanted, count, processes + repeat);
	while (clock_now() < start + repeats_seconds && (job = noisiest_job(work, tried))) {
		int *times = &tried[job - work->job];
		repeat_point(work, &job, 1, processes + (*times)++);
	}
	for (size_t i = 0; i < work->count; i++)
		if (work->job[i].repeats > 0)
			write_curve(&work->job[i], work->options);
	free(wanted);
	free(tried);
}

/* Variables that change timings of the GPU, or what a call computes; the driver reads them when a
 * process starts. They are for finding errors, or for one application: the machine is measured
 * without them. */
static void set_aside_variables(struct work *work)
{
	static const char *const name[] = {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
	        "CUDA_FORCE_PTX_JIT", "CUDA_MODULE_LOADING", "NVIDIA_TF32_OVERRIDE"};
	bool on_gpu = false;

	for (size_t i = 0; i < work->count; i++)
		on_gpu = on_gpu || work->job[i].probe->needs_gpu;
	for (size_t i = 0; i < ARRAY_LEN(name) && on_gpu; i++) {
		const char *value = getenv(name[i]);
		if (!value)
			continue;
		xappend(&work->set_aside, "%s%s=%s", work->set_aside ? " " : "", name[i], value);
		unsetenv(name[i]);
	}
	if (work->set_aside)
		msg_warn("%s changes timings of the GPU: it is set aside while measuring",
		        work->set_aside);
}

static void say_threads(const struct work *work)
{
	const char *asked = host_threads_asked();
	bool on_host = false;

	for (size_t i = 0; i < work->count; i++)
		on_host = on_host || !work->job[i].probe->needs_gpu;
	if (asked && on_host)
		msg_warn(
		        "%s does not limit the host probes: they use up to %d threads, one on each "
		        "processor of this process",
		        asked, host_threads());
}

static void say_throttling(const struct work *work)
{
	long times = 0;

	for (size_t i = 0; i < work->count; i++)
		times += work->job[i].throttled;
	if (times > 0)
		msg_warn("the CPU quota stopped the measuring processes %ld times (%.3g "
		         "processors): the rows that met it are noisy",
		        times, host_quota()->processors);
}

/* A host probe has processes of its own, as its threads are bound. GPU probes share processes, as a
 * rule: starting one, with libraries and a context, takes as long as a short sweep. */
void probe_measure_all(struct work *work)
{
	struct job **group = xcalloc(work->count + 1, sizeof(struct job *));
	size_t shared;

	set_aside_variables(work);
	say_threads(work);
	child_watch_signals();
	for (size_t i = 0; i < work->count; i++) {
		struct job *job = &work->job[i];
		if (!job->probe->needs_gpu || job->probe->alone)
			measure_group(work, &job, 1);
	}
	shared = sharing_jobs(work, group);
	if (shared > 0)
		measure_group(work, group, shared);
	free(group);
	if (!work->options->common.quick)
		repeat_all(work);
	say_throttling(work);
}
