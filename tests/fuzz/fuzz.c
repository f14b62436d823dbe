/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "lib/base/msg.h"

#include <sanitizer/lsan_interface.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static jmp_buf end;
static bool guarded;

/* The linker puts these in the places of msg_die and exit (--wrap). */
NORETURN void __wrap_msg_die(enum exit_code code, const char *format, ...);
NORETURN void __wrap_exit(int status);
NORETURN void __real_exit(int status);

void __wrap_msg_die(enum exit_code code, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fuzz_require(guarded && strncmp(text, "bug:", 4) != 0);
	__wrap_exit((int)code);
}

void __wrap_exit(int status)
{
	if (guarded)
		longjmp(end, 1);
	__real_exit(status);
}

void fuzz_guarded(void (*work)(void *), void *context)
{
	__lsan_disable(); /* what a program that ends still holds is no leak */
	guarded = true;
	if (setjmp(end) == 0)
		work(context);
	guarded = false;
	__lsan_enable();
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int file = -1;

	if (file < 0)
		file = memfd_create("fuzz", 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fuzz_require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
	return path;
}

void fuzz_require(bool condition)
{
	if (!condition)
		abort();
}
