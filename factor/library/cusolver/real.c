/* SPDX-License-Identifier: MIT */
/* Where cuSOLVER is. The library may itself stand under cuSOLVER's name, so that a search by name
 * finds the library again; a candidate that has fathom_cusolver_answered is never taken. In order:
 *   1. the file that FATHOM_CUSOLVER_REAL names
 *   2. a libcusolver.so* that the process has loaded
 *   3. cuSOLVER's soname in the loader's search
 *   4. the soname as a file in the folders of that search, for any library that is loaded: the run
 *      path of this library names the CUDA Toolkit's, those of a client its own */
#include "real.h"

#include "cusolver_calls.h"
#include "report.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CUSOLVER_SONAME
#define CUSOLVER_SONAME "libcusolver.so.12"
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *real;

/* ---- candidates ---- */

static void *open_real(const char *path, int flags)
{
	void *found = dlopen(path, RTLD_LAZY | RTLD_LOCAL | flags);

	if (found && dlsym(found, "fathom_cusolver_answered")) {
		dlclose(found);
		return NULL;
	}
	return found;
}

/* ---- libraries that are loaded ---- */

/* Paths of loaded libraries whose file name begins with `name`. */
struct loaded {
	const char *name;
	int count;
	char **paths;
};

static int note_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *l = data;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *file = slash ? slash + 1 : info->dlpi_name;

	(void)size;
	if (strncmp(file, l->name, strlen(l->name)) != 0)
		return 0;
	char **paths = realloc(l->paths, (size_t)(l->count + 1) * sizeof *paths);
	if (!paths)
		return 1;
	l->paths = paths;
	paths[l->count] = strdup(info->dlpi_name);
	l->count += paths[l->count] != NULL;
	return 0;
}

/* The loader's lock is held while it lists libraries: they are opened afterwards. */
static struct loaded find_loaded(const char *name)
{
	struct loaded l = {name, 0, NULL};

	dl_iterate_phdr(note_loaded, &l);
	return l;
}

static void loaded_free(struct loaded *l)
{
	for (int i = 0; i < l->count; i++)
		free(l->paths[i]);
	free(l->paths);
}

static void *open_loaded(void)
{
	struct loaded l = find_loaded("libcusolver.so");
	void *found = NULL;

	for (int i = 0; i < l.count && !found; i++)
		found = open_real(l.paths[i], RTLD_NOLOAD);
	loaded_free(&l);
	return found;
}

/* ---- folders of the loader's search ---- */

#ifdef __GLIBC__ /* other C libraries do not name these folders */
static void *open_in(const char *folder)
{
	char path[4096];
	int length = snprintf(path, sizeof path, "%s/%s", folder, CUSOLVER_SONAME);

	return length < (int)sizeof path && access(path, R_OK) == 0 ? open_real(path, 0) : NULL;
}

/* The folders in which the loader looks for what a library needs; they depend on the library. */
static void *open_in_folders(void *library)
{
	void *found = NULL;
	Dl_serinfo size, *folders;

	if (dlinfo(library, RTLD_DI_SERINFOSIZE, &size) != 0 || !(folders = malloc(size.dls_size)))
		return NULL;
	if (dlinfo(library, RTLD_DI_SERINFOSIZE, folders) == 0 &&
	        dlinfo(library, RTLD_DI_SERINFO, folders) == 0)
		for (unsigned i = 0; i < folders->dls_cnt && !found; i++)
			found = open_in(folders->dls_serpath[i].dls_name);
	free(folders);
	return found;
}
#else
static void *open_in_folders(void *library)
{
	(void)library;
	return NULL;
}
#endif

/* The program's own name is "", and its handle that of NULL. */
static void *open_in_folders_of_loaded(void)
{
	struct loaded l = find_loaded("");
	void *found = NULL;

	for (int i = 0; i < l.count && !found; i++) {
		void *library = dlopen(*l.paths[i] ? l.paths[i] : NULL, RTLD_LAZY | RTLD_NOLOAD);
		if (!library)
			continue;
		found = open_in_folders(library);
		dlclose(library);
	}
	loaded_free(&l);
	return found;
}

/* ---- the search ---- */

static void find_real(void)
{
	const char *path = getenv("FATHOM_CUSOLVER_REAL");

	if (path && *path) {
		real = open_real(path, 0);
		if (!real)
			say("FATHOM_CUSOLVER_REAL=%s is not cuSOLVER, or cannot be loaded", path);
		return;
	}
	real = open_loaded();
	if (!real)
		real = open_real(CUSOLVER_SONAME, 0);
	if (!real)
		real = open_in_folders_of_loaded();
	if (!real)
		say("no %s was found to pass calls on to: FATHOM_CUSOLVER_REAL can name the file",
		        CUSOLVER_SONAME);
}

static cusolverStatus_t missing(void)
{
	return CUSOLVER_STATUS_INTERNAL_ERROR;
}

void *real_function(const char *name)
{
	pthread_once(&once, find_real);
	void *function = real ? dlsym(real, name) : NULL;
	if (function)
		return function;
	if (real)
		say("this cuSOLVER has no %s", name);
	return (void *)missing;
}
