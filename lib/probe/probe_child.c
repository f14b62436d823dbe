/* SPDX-License-Identifier: MIT */
#include "probe_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/msg.h"

/* Between the user's words and the order: "process:probes:adds", then
 * "probe:number:file:wanted:left" for each part. */
static const char child_option[] = "--child";

/* ---- the order ---- */

bool child_take_order(int *argc, char **argv, struct child_order *order)
{
	int at = 1;
	*order = (struct child_order){0};
	while (at < *argc && strcmp(argv[at], child_option) != 0)
		at++;
	if (at + 2 >= *argc || sscanf(argv[at + 1], "%d:%zu:%lf", &order->process, &order->total,
	                               &order->core_usual) != 3)
		return false;
	for (int i = at + 2; i < *argc && order->count < CHILD_MOST_PARTS; i++) {
		struct child_part *part = &order->part[order->count++];
		if (sscanf(argv[i], "%31[^:]:%zu:%d:%d:%lf", part->probe, &part->number,
		            &part->file, &part->wanted, &part->left) != 5)
			return false;
	}
	*argc = at;
	argv[at] = NULL;
	return true;
}

/* The command line of a child; it lasts until exec. */
static char **words_with_order(int argc, char **argv, const struct child_order *order)
{
	char **words = xcalloc((size_t)argc + order->count + 3, sizeof *words);
	memcpy(words, argv, (size_t)argc * sizeof *words);
	words[argc] = (char *)child_option;
	words[argc + 1] = xasprintf("%d:%zu:%g", order->process, order->total, order->core_usual);
	for (size_t i = 0; i < order->count; i++) {
		const struct child_part *part = &order->part[i];
		words[(size_t)argc + 2 + i] = xasprintf("%s:%zu:%d:%d:%g", part->probe,
		        part->number, part->file, part->wanted, part->left);
	}
	return words;
}

/* ---- the files ---- */

bool child_begin(const struct child_part *part)
{
	return write(part->file, "#", 1) == 1;
}

/* Writes a table to an open file, which it closes. */
static bool write_table(int file, const struct table *table)
{
	FILE *out = fdopen(file, "w");
	if (!out)
		return false;
	const bool written = table_write_stream(table, out);
	return fclose(out) == 0 && written;
}

static struct table *read_table(int file, struct fault *fault)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	return table_read(path, fault);
}

bool child_send(const struct child_part *part, const struct table *curve)
{
	if (ftruncate(part->file, 0) != 0 || lseek(part->file, 0, SEEK_SET) != 0)
		return false;
	return write_table(part->file, curve);
}

struct table *child_wanted(const struct child_part *part)
{
	struct fault fault;
	if (part->wanted < 0)
		return NULL;
	struct table *wanted = read_table(part->wanted, &fault);
	if (!wanted)
		msg_die(EXIT_MEASURE_FAILED, "no points to measure again: %s", fault.text);
	return wanted;
}

static int new_file(void)
{
	const int file = memfd_create("fathom-curve", 0);
	if (file < 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot create a memory file: %s", strerror(errno));
	return file;
}

void child_open(struct child_part *part, const struct table *wanted)
{
	part->file = new_file();
	part->wanted = wanted ? new_file() : -1;
	if (wanted && !write_table(dup(part->wanted), wanted))
		msg_die(EXIT_MEASURE_FAILED, "cannot write a memory file: %s", strerror(errno));
}

bool child_begun(const struct child_part *part)
{
	struct stat facts;
	return fstat(part->file, &facts) == 0 && facts.st_size > 0;
}

struct table *child_curve(const struct child_part *part, struct fault *fault)
{
	return read_table(part->file, fault);
}

void child_close(struct child_part *part)
{
	close(part->file);
	if (part->wanted >= 0)
		close(part->wanted);
}

/* ---- signals ---- */

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

void child_watch_signals(void)
{
	static const int number[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_stop, .sa_mask = stop_signals()};

	for (size_t i = 0; i < ARRAY_LEN(number); i++)
		sigaction(number[i], &action, NULL);
}

void child_leave_if_stopped(void)
{
	if (!stop_signal)
		return;
	msg_progress_end();
	exit(128 + (int)stop_signal);
}

/* ---- the process ---- */

/* The path of a program in our folder; NULL when it cannot be started. */
static char *find_sibling(const char *name)
{
	char self[4096];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (length <= 0)
		return NULL;
	self[length] = '\0';
	char *slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	slash[1] = '\0';
	char *path = xasprintf("%s%s", self, name);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* In the child, between fork and its own main. */
NORETURN static void become_child(const char *sibling, char **words)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);   /* no orphan keeps the device busy */
	dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is for the parent's results alone */
	if (sibling)
		execv(sibling, words);
	execv("/proc/self/exe", words);
	fprintf(stderr, "fathom: cannot start this program again: %s\n", strerror(errno));
	_exit(EXIT_MEASURE_FAILED);
}

int child_run(int argc, char **argv, const struct child_order *order, const char *sibling)
{
	sigset_t stop = stop_signals(), before;
	char **words = words_with_order(argc, argv, order);
	char *path = sibling ? find_sibling(sibling) : NULL;
	int status;

	/* A signal between fork and the note of the child's id would not reach the child. */
	sigprocmask(SIG_BLOCK, &stop, &before);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_child(path, words);
	}
	child_pid = (sig_atomic_t)pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		msg_die(EXIT_MEASURE_FAILED, "cannot start a process: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			msg_die(EXIT_MEASURE_FAILED, "lost a process: %s", strerror(errno));
	child_pid = 0;
	for (size_t i = 0; i < order->count + 1; i++)
		free(words[(size_t)argc + 1 + i]);
	free(words);
	free(path);
	return status;
}
