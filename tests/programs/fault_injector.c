/* SPDX-License-Identifier: MIT */
/* Preloaded into a program, makes calls of the system fail, which faults.t builds:
 *   FAULT=KIND:N    the N-th call of that kind (N+: and all later ones)
 *   FAULT_IN=NAME   in programs of that name alone
 *   FAULT_LOG=FILE  gets a line when a call has failed, and FAULT=KIND:0 one with the number of
 * calls. Kinds: memory (of the program and libc, not of other libraries), open, full (the file or
 * stream takes nothing more), read (the file cannot be read), sync (fsync, ftruncate, close,
 * rename), process (fork, exec, popen, wait, threads). Calls of the GPU's driver do not fail: some
 * releases crash then. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum kind { MEMORY, OPEN, FULL, READ, SYNC, PROCESS, NONE };
static const char *const kinds[] = {"memory", "open", "full", "read", "sync", "process"};

static enum kind wanted = NONE;
static long first;
static bool later;
static atomic_long calls;
static int log_file = -1;
static uintptr_t own[2][2]; /* addresses of the program and of libc */
static bool begun;          /* main: what libraries in the program do before it is theirs */

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* The function of libc behind one of this file, as real_name. */
#define REAL(type, name, ...)                                                                      \
	static type (*real_##name)(__VA_ARGS__);                                                   \
	if (!real_##name)                                                                          \
	*(void **)&real_##name = next(#name)

static void say(const char *what, long n)
{
	char line[96];
	const int length = snprintf(line, sizeof line, "%s %ld\n", what, n);

	if (log_file >= 0)
		(void)!write(log_file, line, (size_t)length);
}

static bool fails(enum kind kind)
{
	if (kind != wanted || !begun)
		return false;
	const long n = atomic_fetch_add(&calls, 1) + 1;
	const bool now = first > 0 && (n == first || (later && n > first));
	if (now && n == first)
		say("failed", n);
	return now;
}

static bool of_driver(const void *caller)
{
	Dl_info from;

	return dladdr(caller, &from) && from.dli_fname &&
	       (strstr(from.dli_fname, "/libcuda.so") || strstr(from.dli_fname, "/libnvidia-"));
}

/* The same in a function of this file, which someone else calls. */
#define FAILS(kind) (wanted == (kind) && !of_driver(__builtin_return_address(0)) && fails(kind))

static int find_own(struct dl_phdr_info *info, size_t size, void *context)
{
	int *objects = context;
	const int place = *objects == 0 ? 0 : strstr(info->dlpi_name, "/libc.so") ? 1 : -1;

	(void)size;
	++*objects;
	for (int i = 0; place >= 0 && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		own[place][0] = info->dlpi_addr + part->p_vaddr;
		own[place][1] = own[place][0] + part->p_memsz;
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("FAULT"), *in = getenv("FAULT_IN"), *log = getenv("FAULT_LOG");
	const char *colon = fault ? strchr(fault, ':') : NULL;
	char *end;
	int objects = 0;

	if (!colon || (in && strcmp(in, program_invocation_short_name) != 0))
		return;
	dl_iterate_phdr(find_own, &objects);
	first = strtol(colon + 1, &end, 10);
	later = *end == '+';
	if (log)
		log_file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	for (int kind = 0; kind < NONE; kind++)
		if (strncmp(fault, kinds[kind], (size_t)(colon - fault)) == 0)
			wanted = (enum kind)kind;
}

typedef int main_function(int, char **, char **);
static main_function *real_main;

static int begin_main(int argc, char **argv, char **environment)
{
	begun = true;
	return real_main(argc, argv, environment);
}

/* What calls main. */
EXPORT int __libc_start_main(main_function *of_program, int argc, char **argv, main_function *start,
        void (*end)(void), void (*loader_end)(void), void *stack)
{
	REAL(int, __libc_start_main, main_function *, int, char **, main_function *, void (*)(void),
	        void (*)(void), void *);

	real_main = of_program;
	return real___libc_start_main(begin_main, argc, argv, start, end, loader_end, stack);
}

__attribute__((destructor)) static void finish(void)
{
	const enum kind kind = wanted;

	wanted = NONE;
	if (kind != NONE && first == 0)
		say("calls", atomic_load(&calls));
}

/* ---- memory: glibc's own functions have these second names ---- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

#define FAILS_HERE fails_from((uintptr_t)__builtin_return_address(0))
static bool fails_from(uintptr_t caller)
{
	if (wanted != MEMORY)
		return false;
	for (int i = 0; i < 2; i++)
		if (caller >= own[i][0] && caller < own[i][1] && fails(MEMORY)) {
			errno = ENOMEM;
			return true;
		}
	return false;
}

EXPORT void *malloc(size_t bytes)
{
	return FAILS_HERE ? NULL : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
	return FAILS_HERE ? NULL : __libc_calloc(count, bytes);
}

EXPORT void *realloc(void *old, size_t bytes)
{
	return FAILS_HERE ? NULL : __libc_realloc(old, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
	return FAILS_HERE ? NULL : __libc_memalign(alignment, bytes);
}

EXPORT int posix_memalign(void **data, size_t alignment, size_t bytes)
{
	void *const found = FAILS_HERE ? NULL : __libc_memalign(alignment, bytes);

	if (found)
		*data = found;
	return found ? 0 : ENOMEM;
}

/* ---- files ---- */

static void *refuse(int error)
{
	errno = error;
	return NULL;
}

/* Puts a device that is full, or a folder, which cannot be read, in the place of an open file. */
static void spoil(int file, const char *by, int flags)
{
	REAL(int, open, const char *, int, ...);
	const int other = real_open(by, flags | O_CLOEXEC);

	if (file < 0 || other < 0)
		return;
	dup2(other, file);
	syscall(SYS_close, other);
}

static int opened(int file, bool writing, const void *caller)
{
	if (file < 0 || (wanted != FULL && wanted != READ) || of_driver(caller))
		return file;
	if (writing && fails(FULL))
		spoil(file, "/dev/full", O_WRONLY);
	if (!writing && fails(READ))
		spoil(file, "/", O_RDONLY);
	return file;
}
#define OPENED(file, writing) opened(file, writing, __builtin_return_address(0))

static mode_t mode_of(int flags, va_list list)
{
	return flags & O_CREAT ? (mode_t)va_arg(list, int) : 0;
}

#define OPEN_LIKE(name)                                                                            \
	EXPORT int name(const char *path, int flags, ...)                                          \
	{                                                                                          \
		va_list list;                                                                      \
		REAL(int, name, const char *, int, ...);                                           \
		va_start(list, flags);                                                             \
		const mode_t mode = mode_of(flags, list);                                          \
		va_end(list);                                                                      \
		if (FAILS(OPEN)) {                                                                 \
			errno = EMFILE;                                                            \
			return -1;                                                                 \
		}                                                                                  \
		return OPENED(real_##name(path, flags, mode), flags & (O_WRONLY | O_RDWR));        \
	}
OPEN_LIKE(open)
OPEN_LIKE(open64)

#define FOPEN_LIKE(name)                                                                           \
	EXPORT FILE *name(const char *path, const char *mode)                                      \
	{                                                                                          \
		REAL(FILE *, name, const char *, const char *);                                    \
		if (FAILS(OPEN))                                                                   \
			return refuse(EMFILE);                                                     \
		FILE *const file = real_##name(path, mode);                                        \
		if (file)                                                                          \
			OPENED(fileno(file), mode[0] != 'r');                                      \
		return file;                                                                       \
	}
FOPEN_LIKE(fopen)
FOPEN_LIKE(fopen64)

EXPORT FILE *fdopen(int number, const char *mode)
{
	REAL(FILE *, fdopen, int, const char *);
	if (FAILS(OPEN))
		return refuse(ENOMEM);
	FILE *const file = real_fdopen(number, mode);
	if (file)
		OPENED(number, mode[0] != 'r');
	return file;
}

EXPORT int memfd_create(const char *name, unsigned flags)
{
	REAL(int, memfd_create, const char *, unsigned);
	if (FAILS(OPEN)) {
		errno = EMFILE;
		return -1;
	}
	return OPENED(real_memfd_create(name, flags), true);
}

EXPORT DIR *opendir(const char *path)
{
	REAL(DIR *, opendir, const char *);
	return FAILS(OPEN) ? refuse(EMFILE) : real_opendir(path);
}

/* What fails has been done, as far as the program can tell. */
#define SYNC_LIKE(name, error, parameters, arguments, ...)                                         \
	EXPORT int name parameters                                                                 \
	{                                                                                          \
		REAL(int, name, __VA_ARGS__);                                                      \
		if (FAILS(SYNC)) {                                                                 \
			errno = error;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		return real_##name arguments;                                                      \
	}
SYNC_LIKE(fsync, EIO, (int file), (file), int)
SYNC_LIKE(ftruncate, EIO, (int file, off_t size), (file, size), int, off_t)
SYNC_LIKE(
        rename, EACCES, (const char *from, const char *to), (from, to), const char *, const char *)

EXPORT int fclose(FILE *file)
{
	REAL(int, fclose, FILE *);
	const bool failed = FAILS(SYNC);
	const int status = real_fclose(file);

	if (failed)
		errno = EIO;
	return failed ? EOF : status;
}

EXPORT int close(int file)
{
	REAL(int, close, int);
	const bool failed = FAILS(SYNC);
	const int status = real_close(file);

	if (failed)
		errno = EIO;
	return failed ? -1 : status;
}

/* ---- processes ---- */

#define PROCESS_LIKE(type, name, failure, error, parameters, arguments, ...)                       \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		REAL(type, name, __VA_ARGS__);                                                     \
		if (FAILS(PROCESS)) {                                                              \
			errno = error;                                                             \
			return failure;                                                            \
		}                                                                                  \
		return real_##name arguments;                                                      \
	}
PROCESS_LIKE(pid_t, fork, -1, EAGAIN, (void), (), void)
PROCESS_LIKE(int, execv, -1, ENOEXEC, (const char *path, char *const words[]), (path, words),
        const char *, char *const *)
PROCESS_LIKE(int, execvp, -1, ENOEXEC, (const char *path, char *const words[]), (path, words),
        const char *, char *const *)
PROCESS_LIKE(FILE *, popen, NULL, EAGAIN, (const char *command, const char *mode), (command, mode),
        const char *, const char *)
PROCESS_LIKE(pid_t, waitpid, -1, ECHILD, (pid_t process, int *status, int options),
        (process, status, options), pid_t, int *, int)
PROCESS_LIKE(int, pthread_create, EAGAIN, EAGAIN,
        (pthread_t * thread, const pthread_attr_t *how, void *(*work)(void *), void *context),
        (thread, how, work, context), pthread_t *, const pthread_attr_t *, void *(*)(void *),
        void *)
