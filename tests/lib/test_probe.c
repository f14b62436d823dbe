/* SPDX-License-Identifier: MIT */
/* The program around a set of probes: what was measured is kept, what fails or is not possible does
 * not keep the others from being measured, those of the GPU share their processes. The program
 * starts itself with arguments as such a set of stand-in probes. */
#include "lib/host/host_load.h"
#include "lib/probe/probe.h"
#include "lib/base/table.h"
#include "scratch.h"

#include <signal.h>
#include <sys/wait.h>

static const char *const columns[] = {"pid"};

static void record(struct probe_run *run, double point, double seconds)
{
	const struct arg arg = {"pid", point};
	const struct measurement m = {{seconds, seconds, seconds, 3}, 0, NAN, 0, false};
	probe_record(run, "own", &arg, 1, &m);
}

static void measure_pid(struct probe_run *run)
{
	record(run, getpid(), 1e-3);
}

/* The driver reads these variables when a process starts. */
static void measure_variables(struct probe_run *run)
{
	if (getenv("CUDA_LAUNCH_BLOCKING") || getenv("CUDA_DEVICE_MAX_CONNECTIONS"))
		msg_die(EXIT_MEASURE_FAILED, "a variable changes the timings");
	measure_pid(run);
}

static void measure_nowhere(struct probe_run *run)
{
	(void)run;
	msg_die(EXIT_NOT_POSSIBLE, "there is nothing to measure");
}

static void measure_crash(struct probe_run *run)
{
	measure_pid(run);
	if (run->process == 1)
		raise(SIGKILL);
}

/* Two points; process 1 is slower at one of them, its repeats are not. */
static void measure_uneven(struct probe_run *run)
{
	for (int point = 0; point < 2; point++) {
		const struct arg arg = {"pid", point};
		if (run->wanted && probe_wants(run, "own", &arg, 1))
			msg_warn("point %d again", point);
		record(run, point, run->process == 1 && point == 1 ? 1.3e-3 : 1e-3);
	}
}

static void fit_nothing(const struct table *curve, struct profile *profile)
{
	(void)curve;
	(void)profile;
}

#define STAND_IN(tag, function, ...)                                                               \
	static const struct probe tag = {.name = #tag,                                             \
	        .question = "Which process is this?",                                              \
	        .args = columns,                                                                   \
	        .arg_count = 1,                                                                    \
	        .seconds = 0.1,                                                                    \
	        .measure = function,                                                               \
	        .fit = fit_nothing,                                                                \
	        __VA_ARGS__}
STAND_IN(first, measure_pid, .processes = 4, .needs_gpu = true);
STAND_IN(nowhere, measure_nowhere, .processes = 4, .needs_gpu = true);
STAND_IN(crash, measure_crash, .processes = 4, .needs_gpu = true);
STAND_IN(last, measure_pid, .processes = 4, .needs_gpu = true);
STAND_IN(host, measure_pid, .processes = 4);
STAND_IN(alone, measure_pid, .processes = 4, .needs_gpu = true, .alone = true);
STAND_IN(variables, measure_variables, .processes = 4, .needs_gpu = true);
STAND_IN(uneven, measure_uneven, .processes = 4, .revisits = true);

static bool is_first(const char *series, double seconds)
{
	return strcmp(series, "own") == 0 && seconds < 1.1e-3;
}

/* Process 1 sees the second point otherwise, but by too little to be noisy; it is the longer one.
 */
static void measure_chancy(struct probe_run *run)
{
	for (int point = 0; point < 2; point++)
		record(run, point, (1 + 0.2 * point) * (run->process == 1 ? 1.01e-3 : 1e-3));
}

STAND_IN(chancy, measure_chancy, .processes = 4, .needs_gpu = true, .revisits = true,
        .by_chance = is_first);

/* Its place among the probes of a process, in thousandths of a second. */
static void measure_place(struct probe_run *run)
{
	static int before;

	record(run, 0, 1e-3 * ++before);
}

static bool is_any(const char *series, double seconds)
{
	(void)series;
	return seconds > 0;
}

STAND_IN(late, measure_place, .processes = 3, .needs_gpu = true, .turn = 1, .revisits = true,
        .by_chance = is_any);
STAND_IN(early, measure_place, .processes = 3, .needs_gpu = true, .turn = -1, .revisits = true,
        .by_chance = is_any);

/* Others keep many processors busy while it measures: the file stands for the kernel's counters. */
static void measure_load(struct probe_run *run)
{
	const struct measurement m = {{1e-3, 1e-3, 1e-3, 3}, 0, NAN, 0, false};
	FILE *stat = fopen(getenv("TEST_COUNTERS"), "w");

	record(run, 0, 1e-3);
	probe_record(run, "device", NULL, 0, &m);
	if (!stat || fputs("cpu  900000000 0 0 0 0 0 0 0\n", stat) == EOF || fclose(stat) != 0)
		msg_die(EXIT_MEASURE_FAILED, "no counters");
}

static bool is_own(const char *series)
{
	return strcmp(series, "own") == 0;
}

STAND_IN(loaded, measure_load, .processes = 2, .needs_gpu = true, .by_host = is_own);

static const struct probe *const list[] = {&first, &nowhere, &crash, &last, &host, &alone, &uneven,
        &chancy, &late, &early, &variables, &loaded};

static int run(const char *options)
{
	char *command = xasprintf("/proc/%d/exe --output %s %s >%s/out 2>&1", (int)getpid(),
	        scratch, options, scratch);
	const int status = system(command);
	free(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool said(const char *text)
{
	char *command = xasprintf("grep -q -e '%s' %s/out", text, scratch);
	const int status = system(command);
	free(command);
	return status == 0;
}

/* The curve of a stand-in, or NULL; it is removed. */
static struct table *take(const char *name)
{
	struct fault fault;
	char *path = xasprintf("%s/%s.tsv", scratch, name);
	struct table *table = access(path, F_OK) == 0 ? table_read(path, &fault) : NULL;
	remove(path);
	free(path);
	return table;
}

static bool same_processes(const struct table *a, const struct table *b)
{
	for (size_t i = 0; a && b && i < a->row_count && i < b->row_count; i++)
		if (table_real(a, i, "pid") != table_real(b, i, "pid"))
			return false;
	return a && b;
}

static void test_set(const char *options, size_t processes)
{
	ok(run(options) == EXIT_MEASURE_FAILED, "'%s': a crash among them fails the set", options);
	ok(said("nowhere is not possible here"), "what is not possible is said");
	ok(said("crash: process 2 of .* was ended by signal 9"), "so is the crash, and where");
	struct table *a = take("first"), *b = take("last"), *c = take("host"), *d = take("alone");
	ok(a && a->row_count == processes, "the first probe has all its processes");
	ok(b && b->row_count == processes, "so has the one behind the crash");
	ok(same_processes(a, b), "they were the same processes until the crash");
	ok(c && c->row_count == processes && !same_processes(a, c),
	        "one of the host has its own processes");
	ok(d && d->row_count == processes && !same_processes(a, d), "so has one that is alone");
	ok(!take("crash") && !take("nowhere"), "the others left no file");
	table_free(a);
	table_free(b);
	table_free(c);
	table_free(d);
}

static void test_remeasured(void)
{
	ok(run("host uneven") == EXIT_DONE, "a probe that asks for repeats");
	struct table *curve = take("uneven"), *other = take("host");
	ok(said("point 1 again") && !said("point 0 again"), "noisy points are repeated");
	ok(curve && curve->row_count == 9, "its row is added");
	ok(curve && table_real(curve, 8, "process") == 4, "of one more process");
	ok(curve && table_real(curve, 3, "seconds") == 1.3e-3, "the slow one's stays");
	ok(curve && strcmp(table_meta(curve, "remeasured"), "1") == 0, "one repeat is enough");
	ok(other && !table_meta(other, "remeasured"), "another probe has none");
	table_free(curve);
	table_free(other);
	ok(run("--quick uneven") == EXIT_DONE && !said("again"), "--quick does without");
	table_free(take("uneven"));
}

static size_t rows_of(const struct table *curve, double point)
{
	size_t rows = 0;

	for (size_t i = 0; curve && i < curve->row_count; i++)
		rows += table_real(curve, i, "pid") == point;
	return rows;
}

static void test_chance(void)
{
	ok(run("chancy") == EXIT_DONE, "a probe of what chance decides by process");
	struct table *curve = take("chancy");
	ok(rows_of(curve, 0) == 10, "ten processes measure such a point");
	ok(rows_of(curve, 1) == 4, "and no further ones another");
	table_free(curve);
	ok(run("--quick chancy") == EXIT_DONE, "--quick");
	curve = take("chancy");
	ok(rows_of(curve, 0) == 3, "does without");
	table_free(curve);
}

/* In repeats, too, in whatever order they are named. */
static void test_turns(void)
{
	static const char *const names[] = {"early", "late"};

	ok(run("late early") == EXIT_DONE, "probes that have their turns");
	for (size_t n = 0; n < ARRAY_LEN(names); n++) {
		struct table *curve = take(names[n]);
		size_t placed = 0;
		for (size_t i = 0; curve && i < curve->row_count; i++)
			placed += fabs(1e3 * table_real(curve, i, "seconds") - (double)(n + 1)) <
			          1e-9;
		ok(placed == 10, "%s has its place in all ten processes", names[n]);
		table_free(curve);
	}
}

static void test_variables(void)
{
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
	ok(run("--quick variables") == EXIT_DONE,
	        "variables of CUDA that change timings are set aside");
	ok(said("CUDA_LAUNCH_BLOCKING=1 CUDA_DEVICE_MAX_CONNECTIONS=1 changes timings"),
	        "which is said");
	struct table *curve = take("variables");
	const char *noted = curve ? table_meta(curve, "set_aside") : NULL;
	is_text(noted, "CUDA_LAUNCH_BLOCKING=1 CUDA_DEVICE_MAX_CONNECTIONS=1", "and noted");
	table_free(curve);
	ok(run("--quick host") == EXIT_DONE && !said("changes timings"), "the host does not mind");
	table_free(take("host"));
	unsetenv("CUDA_LAUNCH_BLOCKING");
	unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
}

static void test_load(void)
{
	setenv("TEST_COUNTERS", put_text("counters", "cpu  1 1 1 1 1 1 1 1\n"), 1);
	ok(run("loaded") == EXIT_DONE, "others keep the processors busy");
	struct table *curve = take("loaded");
	ok(curve && table_meta(curve, "processors_of_others"), "which is noted");
	size_t marked = 0, other = 0;
	/* the first process sees the counters grow */
	for (size_t i = 0; curve && i < curve->row_count; i++) {
		const bool busy = table_real(curve, i, "busy") > 0;
		marked += busy && is_own(table_text(curve, i, "series"));
		other += busy && !is_own(table_text(curve, i, "series"));
	}
	ok(marked == 1 && other == 0, "rows that wait for the host are marked, no others");
	table_free(curve);
	unsetenv("TEST_COUNTERS");
}

int main(int argc, char **argv)
{
	if (getenv("TEST_COUNTERS"))
		host_load_from(getenv("TEST_COUNTERS"));
	if (argc > 1)
		return probe_main(argc, argv, list, ARRAY_LEN(list), NULL);
	scratch_open();
	test_set("first last crash nowhere host alone", 4);
	test_set("--quick alone host first last crash nowhere", 3);
	test_remeasured();
	test_chance();
	test_turns();
	test_variables();
	test_load();
	ok(run("--quick last") == EXIT_DONE && !said("process 1 took"), "a set of one named probe");
	struct table *a = take("last"), *b = take("first");
	ok(a && a->row_count == 3 && !b, "measures that one");
	table_free(a);
	ok(run("--quick --verbose last") == EXIT_DONE && said("process 3 took") &&
	                said(": last 0.") && said("to start and to end "),
	        "--verbose says where the time of a process went");
	table_free(take("last"));
	ok(run("lst") == EXIT_BAD_USAGE && said("no probe is named lst"),
	        "unknown names are refused");
	ok(run("--check") == EXIT_BAD_USAGE, "no check where no probe has one");
	scratch_close();
	return finish();
}
