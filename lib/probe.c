/* SPDX-License-Identifier: MIT */
/* The program around every probe. The parent starts fresh processes of itself one after another,
 * each of which runs the whole sweep and hands its rows over in a memory file; nothing reaches the
 * disk before all of them succeeded. */
#include "base.h"
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "machine.h"
#include "msg.h"

/* Last two words of a child's command line: this one and "process:file". */
static const char child_option[] = "--child";

struct options {
	struct cli_common common;
	int64_t processes;
	double seconds; /* 0: the probe's default */
	bool check;
};

/* What a child is told; process is -1 in the parent. */
struct child_order {
	int process, file;
};

void probe_record(struct probe_run *run, const char *series, const struct arg *args,
        size_t arg_count, const struct measurement *measurement)
{
	curve_add(run->curve, series, args, arg_count, run->process, measurement, run->busy);
}

void probe_watch_gpu(struct probe_run *run, const struct gpu *gpu)
{
	run->gpu = *gpu;
	run->on_gpu = true;
	if (gpu_other_users(gpu) <= 0)
		return;
	run->busy = true;
	for (size_t row = 0; row < run->curve->row_count; row++)
		table_set_int(run->curve, row, "busy", 1);
}

/* Cuts the order off a child's command line, before the user's options are parsed. */
static struct child_order take_order(int *argc, char **argv)
{
	struct child_order order = {-1, -1};

	if (*argc < 3 || strcmp(argv[*argc - 2], child_option) != 0)
		return order;
	if (sscanf(argv[*argc - 1], "%d:%d", &order.process, &order.file) != 2)
		return (struct child_order){-1, -1};
	*argc -= 2;
	argv[*argc] = NULL;
	return order;
}

static void parse(int argc, char **argv, const struct probe *probe, struct options *options)
{
	char *name = xasprintf("fathom-%s", probe->name);
	const struct cli_option table[] = {
	        {"processes", 0, CLI_INT, &options->processes, "N",
	                "fresh processes that repeat the sweep (0: 3 to 5, the probe's own choice)",
	                0, 1000},
	        {"seconds", 0, CLI_REAL, &options->seconds, "S",
	                "time for the sweep of one process; 0: as this probe needs", 0, 86400},
	        {"check", 0, CLI_FLAG, &options->check, NULL,
	                "prove correctness instead of measuring", 0, 0},
	};
	const struct cli_program program = {
	        .name = name,
	        .summary = probe->question,
	        .details = "Writes the curve to OUTPUT and prints the parameters fitted to it.",
	        .options = table,
	        .option_count = ARRAY_LEN(table),
	};

	cli_parse(argc, argv, &program, &options->common, NULL);
	if (options->seconds == 0)
		options->seconds = probe->seconds / (options->common.quick ? 5 : 1);
	if (options->processes == 0)
		options->processes = options->common.quick  ? 3
		                     : probe->processes > 0 ? probe->processes
		                                            : 5;
}

/* Parent and child both show it, so that each erases it before it says anything else. */
static void show_progress(const struct probe *probe, int process, const struct options *options)
{
	const char *place = getenv("FATHOM_PLACE"); /* in the whole set, by scripts/probe.sh */
	msg_progress("%s%s%s: process %d of %d", place ? place : "", place ? "  " : "", probe->name,
	        process + 1, (int)options->processes);
}

/* ---- the child ---- */

static struct probe_run new_run(const struct probe *probe, const struct options *options)
{
	return (struct probe_run){
	        .common = options->common,
	        .curve = curve_new(probe->args, probe->arg_count),
	        .seconds = options->seconds,
	        .probe = probe,
	};
}

/* Sizes of the device that fits turn into parameters: the model knows the machine by its profile
 * alone. */
static void note_device(struct table *curve, const struct gpu *gpu)
{
	table_meta_set(curve, "gpu_sms", "%d", gpu->sm_count);
	table_meta_set(curve, "gpu_shared_per_block", "%lld", (long long)gpu->shared_per_block);
	table_meta_set(curve, "gpu_l2_bytes", "%lld", (long long)gpu->l2_bytes);
}

static int measure_and_send(const struct probe *probe, const struct options *options,
        struct child_order order, int argc, char **argv)
{
	struct probe_run run = new_run(probe, options);
	FILE *out = fdopen(order.file, "w");

	if (!out)
		msg_die(EXIT_MEASURE_FAILED, "cannot reach the starting process: %s",
		        strerror(errno));
	run.process = order.process;
	show_progress(probe, order.process, options);
	probe->measure(&run);
	msg_progress_end();
	machine_stamp(run.curve, probe->name, run.on_gpu ? &run.gpu : NULL, argc, argv);
	if (run.on_gpu)
		note_device(run.curve, &run.gpu);
	if (!table_write_stream(run.curve, out) || fclose(out) != 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot hand over the measurements: %s",
		        strerror(errno));
	table_free(run.curve);
	return EXIT_DONE;
}

/* ---- the parent ---- */

/* Signals end the child first; the parent then leaves without writing. */
static volatile sig_atomic_t stop_signal, child_pid;

static void on_stop(int signal_number)
{
	stop_signal = signal_number;
	if (child_pid > 0)
		kill((pid_t)child_pid, signal_number);
}

static sigset_t stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return set;
}

static void watch_signals(void)
{
	static const int number[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_stop, .sa_mask = stop_signals()};

	for (size_t i = 0; i < ARRAY_LEN(number); i++)
		sigaction(number[i], &action, NULL);
}

static void leave_if_stopped(void)
{
	if (!stop_signal)
		return;
	msg_progress_end();
	exit(128 + (int)stop_signal);
}

/* In the child, between fork and its own main. */
NORETURN static void become_child(int argc, char **argv, int process, int file)
{
	char **words = xcalloc((size_t)argc + 3, sizeof *words);

	memcpy(words, argv, (size_t)argc * sizeof *words);
	words[argc] = (char *)child_option;
	words[argc + 1] = xasprintf("%d:%d", process, file);
	prctl(PR_SET_PDEATHSIG, SIGTERM);   /* no orphan keeps the device busy */
	dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is for the parent's results alone */
	execv("/proc/self/exe", words);
	fprintf(stderr, "fathom: cannot start this program again: %s\n", strerror(errno));
	_exit(EXIT_MEASURE_FAILED);
}

/* Starts one child and waits for its end. Returns its status as waitpid gives it. */
static int run_child(int argc, char **argv, int process, int file)
{
	sigset_t stop = stop_signals(), before;
	int status;

	/* A signal between fork and the note of the child's id would not reach the child. */
	sigprocmask(SIG_BLOCK, &stop, &before);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_child(argc, argv, process, file);
	}
	child_pid = (sig_atomic_t)pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot start a process: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			msg_die(EXIT_MEASURE_FAILED, "lost a process: %s", strerror(errno));
	child_pid = 0;
	return status;
}

/* The child has said on stderr why it failed; a crash is said here. */
static void require_success(int status, int process, int processes)
{
	leave_if_stopped();
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE)
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_POSSIBLE)
		exit(EXIT_NOT_POSSIBLE);
	if (WIFSIGNALED(status))
		msg_die(EXIT_MEASURE_FAILED,
		        "process %d of %d was ended by signal %d (%s); nothing was written",
		        process + 1, processes, WTERMSIG(status), strsignal(WTERMSIG(status)));
	msg_die(EXIT_MEASURE_FAILED, "process %d of %d failed; nothing was written", process + 1,
	        processes);
}

static void append_rows(struct table *curve, const struct table *from)
{
	table_meta_add(curve, from);
	for (size_t i = 0; i < from->row_count; i++) {
		size_t row = table_add_row(curve);
		for (size_t c = 0; c < from->column_count; c++)
			table_set_text(curve, row, from->column[c],
			        from->cell[i * from->column_count + c]);
	}
}

/* Measures with one fresh process and appends its rows to the curve. */
static void measure_once(struct table *curve, int argc, char **argv, int process, int processes)
{
	int file = memfd_create("fathom-curve", 0);
	struct fault fault;
	char path[64];

	if (file < 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot create a memory file: %s", strerror(errno));
	int status = run_child(argc, argv, process, file);
	msg_progress_end();
	require_success(status, process, processes);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	struct table *rows = table_read(path, &fault);
	if (!rows)
		msg_die(EXIT_MEASURE_FAILED, "process %d of %d sent no table: %s", process + 1,
		        processes, fault.text);
	append_rows(curve, rows);
	table_free(rows);
	close(file);
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

static struct table *measure_all(
        const struct probe *probe, const struct options *options, int argc, char **argv)
{
	struct table *curve = curve_new(probe->args, probe->arg_count);
	int processes = (int)options->processes;
	double start = clock_now();

	watch_signals();
	table_meta_set(curve, "probe", "%s", probe->name);
	for (int process = 0; process < processes; process++) {
		show_progress(probe, process, options);
		measure_once(curve, argc, argv, process, processes);
	}
	if (curve->row_count == 0)
		msg_die(EXIT_MEASURE_FAILED, "the probe measured nothing; nothing was written");
	table_meta_set(curve, "processes", "%d", processes);
	table_meta_set(curve, "seconds", "%g", options->seconds);
	table_meta_set(curve, "wall_seconds", "%.1f", clock_now() - start);
	table_meta_set(curve, "quick", "%s", options->common.quick ? "yes" : "no");
	note_clock(curve);
	return curve;
}

static void write_curve(
        const struct table *curve, const struct probe *probe, const struct options *options)
{
	char *path = xasprintf("%s/%s.tsv", options->common.output, probe->name);
	struct fault fault;

	leave_if_stopped();
	if (!table_write(curve, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	msg_note("wrote %s", path);
	free(path);
}

/* Fits, prints, and counts the failed parameters into the exit code. */
static int fit_and_print(
        const struct table *curve, const struct probe *probe, const struct options *options)
{
	struct profile *profile = profile_new();

	probe->fit(curve, profile);
	if (options->common.json) {
		struct table *table = profile_to_table(profile);
		table_meta_add(table, curve);
		table_write_json(table, stdout);
		table_free(table);
	} else {
		profile_print(profile, options->common.verbose, stdout);
	}
	size_t failed = profile_failed(profile);
	if (failed)
		msg_warn("%zu of %zu parameters failed; the curve is kept in %s/%s.tsv", failed,
		        profile->count, options->common.output, probe->name);
	profile_free(profile);
	return failed ? EXIT_MEASURE_FAILED : EXIT_DONE;
}

static int check(const struct probe *probe, const struct options *options)
{
	if (!probe->check)
		msg_die(EXIT_BAD_USAGE, "--check: this probe has no correctness mode");
	struct probe_run run = new_run(probe, options);
	bool correct = probe->check(&run);
	printf("%s: %s\n", probe->name, correct ? "all checks passed" : "CHECKS FAILED");
	table_free(run.curve);
	return correct ? EXIT_DONE : EXIT_MEASURE_FAILED;
}

int probe_main(int argc, char **argv, const struct probe *probe)
{
	struct options options = {0};
	struct child_order order = take_order(&argc, argv);
	char **words = xcalloc((size_t)argc + 1, sizeof *words);

	/* The parser reorders; the children and the metadata get the words as typed. */
	memcpy(words, argv, (size_t)argc * sizeof *words);
	parse(argc, argv, probe, &options);
	if (options.check)
		return check(probe, &options);
	if (order.process >= 0)
		return measure_and_send(probe, &options, order, argc, words);
	struct table *curve = measure_all(probe, &options, argc, words);
	write_curve(curve, probe, &options);
	int code = fit_and_print(curve, probe, &options);
	table_free(curve);
	free(words);
	return code;
}
