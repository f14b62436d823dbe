/* SPDX-License-Identifier: MIT */
#include "libfathom.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdbool.h>

#ifndef LIBFATHOM_SONAME
#define LIBFATHOM_SONAME "libfathom.so" /* the build gives the name with its version */
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct libfathom calls;
static bool loaded;
static char error[400];

/* dlsym returns a pointer to data, and the standard has no conversion from it to one to code. */
static bool look_up(void *library, const char *name, void *place)
{
	void *function = dlsym(library, name);

	if (!function)
		snprintf(error, sizeof error, "%s has no %s", LIBFATHOM_SONAME, name);
	*(void **)place = function;
	return function != NULL;
}

/* The run path of this library leads to the libfathom that was installed with it. */
static void load(void)
{
	void *library = dlopen(LIBFATHOM_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(error, sizeof error, "libfathom cannot be loaded: %s", dlerror());
		return;
	}
	loaded = true;
#define LOOK_UP(name) loaded = look_up(library, "fathom_" #name, &calls.name) && loaded;
	LIBFATHOM_CALLS(LOOK_UP)
#undef LOOK_UP
}

const struct libfathom *libfathom(void)
{
	pthread_once(&once, load);
	return loaded ? &calls : NULL;
}

const char *libfathom_error(void)
{
	return error;
}
