/* SPDX-License-Identifier: MIT */
#include "msg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *program_name = "fathom";
static bool show_notes, progress_shown;

void msg_start(const char *program, bool verbose)
{
	program_name = program;
	show_notes = verbose;
}

PRINTF_LIKE(2, 0) static void print_line(const char *kind, const char *format, va_list args)
{
	char line[4096];

	msg_progress_end();
	vsnprintf(line, sizeof line, format, args);
	for (char *c = line; *c;
	        c++) /* of a user's words and files: one line, nothing for a terminal */
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			*c = '?';
	fprintf(stderr, "%s: %s%s\n", program_name, kind, line);
}

void msg_die(enum exit_code code, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	print_line("", format, args);
	va_end(args);
	exit((int)code);
}

void msg_abandon(enum exit_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("", format, args);
	va_end(args);
	_exit((int)code);
}

void msg_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("warning: ", format, args);
	va_end(args);
}

void msg_note(const char *format, ...)
{
	va_list args;

	if (!show_notes)
		return;
	va_start(args, format);
	print_line("", format, args);
	va_end(args);
}

void msg_progress(const char *format, ...)
{
	char line[80]; /* a line that wrapped could not be erased */
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
	progress_shown = true;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void msg_progress_step(double done, double total, double most, const char *format, ...)
{
	static double begun, shown;
	const double time = now();
	char text[80];
	va_list args;

	if (done <= 0)
		begun = time;
	else if (time - shown < 0.1 || !isatty(STDERR_FILENO))
		return;
	shown = time;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	const double left =
	        done > 0 ? fmin(most, (time - begun) * (total - done) / done) : INFINITY;
	if (isfinite(left))
		msg_progress("[about %.0f s left]  %s", fmax(left, 0), text);
	else
		msg_progress("%s", text);
}

void msg_progress_end(void)
{
	if (!progress_shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress_shown = false;
}

static bool fill(struct fault *fault, bool refused, const char *format, va_list args)
{
	vsnprintf(fault->text, sizeof fault->text, format, args);
	fault->refused = refused;
	return false;
}

bool fault_set(struct fault *fault, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(fault, false, format, args);
	va_end(args);
	return false;
}

bool fault_refuse(struct fault *fault, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(fault, true, format, args);
	va_end(args);
	return false;
}

static _Thread_local jmp_buf *without_memory; /* of the guard; NULL: none */

bool msg_guard_memory(void (*work)(void *), void *context, struct fault *fault)
{
	jmp_buf place, *const outer = without_memory;

	if (setjmp(place) == 0) {
		without_memory = &place;
		work(context);
		without_memory = outer;
		return true;
	}
	without_memory = outer;
	return fault_set(fault, "out of host memory");
}

static void *checked(void *memory, size_t bytes)
{
	if (!memory && without_memory)
		longjmp(*without_memory, 1);
	if (!memory)
		msg_die(EXIT_NOT_POSSIBLE,
		        "out of host memory (%zu bytes asked for): close other programs or "
		        "choose a smaller size",
		        bytes);
	return memory;
}

void *xmalloc(size_t bytes)
{
	return checked(malloc(bytes ? bytes : 1), bytes);
}

void *xcalloc(size_t count, size_t bytes)
{
	if (bytes && count > SIZE_MAX / bytes)
		checked(NULL, SIZE_MAX);
	return checked(calloc(count ? count : 1, bytes ? bytes : 1), count * bytes);
}

void *xrealloc(void *old, size_t bytes)
{
	return checked(realloc(old, bytes ? bytes : 1), bytes);
}

char *xstrdup(const char *text)
{
	return checked(strdup(text), strlen(text) + 1);
}

PRINTF_LIKE(1, 0) static char *formatted(const char *format, va_list args)
{
	char *text;
	const int length = vasprintf(&text, format, args);

	return checked(length < 0 ? NULL : text, 0);
}

char *xasprintf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = formatted(format, args);
	va_end(args);
	return text;
}

void xappend(char **text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *more = formatted(format, args), *before = *text;
	va_end(args);
	*text = xasprintf("%s%s", before ? before : "", more);
	free(before);
	free(more);
}
