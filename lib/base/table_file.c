/* SPDX-License-Identifier: MIT */
/* Tables on disk: written to a temporary name and renamed; a defect is reported by its line. */
#include "table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "msg.h"
#include "utf8.h"

enum { LINE_LIMIT = 1 << 20, FILE_LIMIT = 1 << 28, COLUMN_LIMIT = 4096, PATH_LIMIT = 4096 };

/* ---- writing ---- */

static void write_row(char *const *cell, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		fputs(cell[i], out);
		fputc(i + 1 < count ? '\t' : '\n', out);
	}
}

bool table_write_stream(const struct table *table, FILE *out)
{
	for (size_t i = 0; i < table->meta_count; i++)
		fprintf(out, "# %s: %s\n", table->meta_key[i], table->meta_value[i]);
	write_row(table->column, table->column_count, out);
	for (size_t row = 0; row < table->row_count; row++)
		write_row(table->cell + row * table->column_count, table->column_count, out);
	return fflush(out) == 0 && !ferror(out);
}

/* mkdir -p of everything before the last slash. */
static bool make_folder_of(const char *path, struct fault *fault)
{
	char *folder = xstrdup(path);
	bool ok = true;

	for (char *c = folder + 1; ok && folder[0] && *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		if (mkdir(folder, 0777) != 0 && errno != EEXIST)
			ok = fault_set(fault,
			        "cannot create the folder %s: %s; --output names another", folder,
			        strerror(errno));
		*c = '/';
	}
	free(folder);
	return ok;
}

/* Opens and locks a file to be written. Whoever removes files of dead writers holds the lock
 * meanwhile: the file may be gone when we have it. */
static FILE *open_locked(const char *path)
{
	struct stat facts;
	FILE *out;

	while ((out = fopen(path, "w")) != NULL) {
		if (flock(fileno(out), LOCK_EX) != 0 || fstat(fileno(out), &facts) != 0 ||
		        facts.st_nlink > 0)
			break;
		fclose(out);
	}
	return out;
}

/* *lock: a number of the file, which holds its lock until it is closed. */
static bool write_new_file(
        const struct table *table, const char *path, int *lock, struct fault *fault)
{
	FILE *out = open_locked(path);

	if (!out)
		return fault_set(fault, "cannot create %s: %s; --output names another folder", path,
		        strerror(errno));
	*lock = fcntl(fileno(out), F_DUPFD_CLOEXEC, 0);
	bool ok = table_write_stream(table, out) && fsync(fileno(out)) == 0;
	int error = errno;
	if (fclose(out) != 0 && ok) {
		ok = false;
		error = errno;
	}
	return ok || fault_set(fault, "cannot write %s: %s; --output names another folder", path,
	                     strerror(error));
}

/* ---- signals: they wait while a file is written. A mask would hold for one thread alone. ---- */

static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static volatile sig_atomic_t held;

static void hold(int number)
{
	held = number;
}

static void hold_signals(struct sigaction before[ARRAY_LEN(stops)])
{
	held = 0;
	for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
		sigaction(stops[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(stops[i],
			        &(struct sigaction){.sa_handler = hold, .sa_flags = SA_RESTART},
			        NULL);
	}
}

static void release_signals(const struct sigaction before[ARRAY_LEN(stops)])
{
	for (size_t i = 0; i < ARRAY_LEN(stops); i++)
		sigaction(stops[i], &before[i], NULL);
	if (held)
		raise(held);
}

/* Whether a name is NAME.tsv.PROCESS.new. */
static bool is_new_table(const char *name)
{
	static const char table[] = ".tsv.";
	const char *at = strstr(name, table);
	const size_t digits = at ? strspn(at + strlen(table), "0123456789") : 0;

	return digits > 0 && strcmp(at + strlen(table) + digits, ".new") == 0;
}

/* Removes what writers of tables left in the file's folder that were killed. */
static void remove_left(const char *path)
{
	char *folder = xstrdup(path), *slash = strrchr(folder, '/');

	if (slash)
		*slash = '\0';
	DIR *entries = opendir(!slash ? "." : slash > folder ? folder : "/");
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		if (!is_new_table(entry->d_name))
			continue;
		const int file =
		        openat(dirfd(entries), entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) /* its writer is dead */
			unlinkat(dirfd(entries), entry->d_name, 0);
		if (file >= 0)
			close(file);
	}
	if (entries)
		closedir(entries);
	free(folder);
}

bool table_write(const struct table *table, const char *path, struct fault *fault)
{
	struct sigaction before[ARRAY_LEN(stops)];
	char *fresh = xasprintf("%s.%ld.new", path, (long)getpid());

	if (!make_folder_of(path, fault)) {
		free(fresh);
		return false;
	}
	hold_signals(before); /* an interrupted run leaves no temporary file */
	int lock = -1;
	bool ok = write_new_file(table, fresh, &lock, fault);
	if (ok && rename(fresh, path) != 0)
		ok = fault_set(fault, "cannot rename %s to %s: %s", fresh, path, strerror(errno));
	if (ok)
		remove_left(path);
	if (!ok)
		unlink(fresh);
	if (lock >= 0)
		close(lock);
	free(fresh);
	release_signals(before);
	return ok;
}

void table_save(const struct table *table, const char *format, ...)
{
	char path[PATH_LIMIT];
	struct fault fault;
	va_list list;

	va_start(list, format);
	vsnprintf(path, sizeof path, format, list);
	va_end(list);
	if (!table_write(table, path, &fault))
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
}

/* ---- reading ---- */

/* The whole file, NUL-terminated, or NULL with a fault. */
static char *read_all(const char *path, size_t *length, struct fault *fault)
{
	struct stat facts;
	char *text = NULL;
	FILE *in = fopen(path, "r");

	if (!in) {
		fault_set(fault, "cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fileno(in), &facts) != 0 || !S_ISREG(facts.st_mode))
		fault_set(fault, "cannot read %s: it is not a regular file", path);
	else if (facts.st_size > FILE_LIMIT)
		fault_set(fault, "cannot read %s: longer than %d MiB, not a fathom table", path,
		        FILE_LIMIT >> 20);
	else {
		size_t size = (size_t)facts.st_size;
		text = xmalloc(size + 1);
		*length = fread(text, 1, size, in);
		text[*length] = '\0';
		if (ferror(in)) {
			fault_set(fault, "cannot read %s: %s", path, strerror(errno));
			free(text);
			text = NULL;
		}
	}
	fclose(in);
	return text;
}

struct reader {
	const char *path;
	char *next, *end; /* what is left */
	size_t line;      /* number of the last line read */
	struct fault *fault;
};

static bool bad(struct reader *reader, const char *what)
{
	return fault_set(reader->fault, "%s:%zu: %s", reader->path, reader->line, what);
}

/* The next line without its end; *line is NULL at the end of the file. */
static bool next_line(struct reader *reader, char **line)
{
	*line = NULL;
	if (reader->next == reader->end)
		return true;
	reader->line++;
	size_t left = (size_t)(reader->end - reader->next);
	char *newline = memchr(reader->next, '\n', left);
	if ((newline ? (size_t)(newline - reader->next) : left) > LINE_LIMIT)
		return bad(reader, "the line is longer than 1 MiB, not a fathom table");
	char *stop = newline ? newline : reader->end;
	if (newline && stop > reader->next && stop[-1] == '\r')
		stop--;
	for (const char *c = reader->next; c < stop; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return bad(reader, "a control character: the file is binary or damaged");
	if (!newline)
		return bad(reader, "the last line has no end: the file is truncated");
	for (const char *c = reader->next; c < stop; c += utf8_bytes(c, stop))
		if (!utf8_bytes(c, stop))
			return bad(reader, "a byte that is not UTF-8: the file is damaged");
	*stop = '\0';
	*line = reader->next;
	reader->next = newline + 1;
	return true;
}

static size_t split(char *line, char **part, size_t limit)
{
	size_t n = 0;

	for (char *tab; n < limit; line = tab + 1) {
		part[n++] = line;
		tab = strchr(line, '\t');
		if (!tab)
			break;
		*tab = '\0';
	}
	return n;
}

static bool read_columns(struct reader *reader, char *line, struct table *table)
{
	char **name = xmalloc(COLUMN_LIMIT * sizeof *name);
	size_t n = split(line, name, COLUMN_LIMIT);
	bool ok = n < COLUMN_LIMIT || bad(reader, "too many columns");

	for (size_t i = 0; ok && i < n; i++) {
		if (!name[i][0])
			ok = bad(reader, "a column without a name");
		for (size_t j = 0; ok && j < i; j++)
			if (strcmp(name[i], name[j]) == 0)
				ok = fault_set(reader->fault, "%s:%zu: the column %s stands twice",
				        reader->path, reader->line, name[i]);
	}
	if (ok) {
		table->column = xmalloc(n * sizeof *table->column);
		table->column_count = n;
		for (size_t i = 0; i < n; i++)
			table->column[i] = xstrdup(name[i]);
	}
	free(name);
	return ok;
}

/* `# key: value`; other comments are ignored. */
static void read_meta(char *line, struct table *table)
{
	char *key = line + 1 + strspn(line + 1, " \t"), *colon = strstr(key, ":");

	if (!colon || colon == key || (colon[1] && colon[1] != ' '))
		return;
	*colon = '\0';
	table_meta_set(table, key, "%s", colon[1] ? colon + 2 : "");
}

static bool read_row(struct reader *reader, char *line, struct table *table, char **part)
{
	size_t n = split(line, part, table->column_count + 1);

	if (n != table->column_count)
		return fault_set(reader->fault, "%s:%zu: %s cells than the %zu columns",
		        reader->path, reader->line, n < table->column_count ? "fewer" : "more",
		        table->column_count);
	size_t row = table_add_row(table);
	for (size_t i = 0; i < n; i++) {
		char **cell = &table->cell[row * n + i];
		free(*cell);
		*cell = xstrdup(part[i]);
	}
	return true;
}

static bool read_lines(struct reader *reader, struct table *table)
{
	char *line;

	do {
		if (!next_line(reader, &line))
			return false;
		if (!line)
			return bad(reader, reader->line ? "the file has no row of column names"
			                                : "the file is empty");
		if (line[0] == '#')
			read_meta(line, table);
	} while (line[0] == '#');
	table->path = xstrdup(reader->path);
	table->head_line = reader->line;
	if (!read_columns(reader, line, table))
		return false;
	char **part = xmalloc((table->column_count + 1) * sizeof *part);
	bool ok = true;
	while ((ok = next_line(reader, &line)) && line)
		if (!(ok = read_row(reader, line, table, part)))
			break;
	free(part);
	return ok;
}

struct table *table_read(const char *path, struct fault *fault)
{
	size_t length = 0;
	char *text = read_all(path, &length, fault);

	if (!text)
		return NULL;
	struct reader reader = {.path = path, .next = text, .end = text + length, .fault = fault};
	struct table *table = xcalloc(1, sizeof *table);
	if (!read_lines(&reader, table)) {
		table_free(table);
		table = NULL;
	}
	free(text);
	return table;
}

bool table_fault(
        const struct table *table, size_t row, struct fault *fault, const char *format, ...)
{
	char what[sizeof fault->text];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	if (!table->path)
		return fault_set(fault, "row %zu: %.400s", row + 1, what);
	return fault_set(
	        fault, "%.200s:%zu: %.280s", table->path, table->head_line + 1 + row, what);
}

/* ---- checksum ---- */

bool table_sha256(const char *path, char hex[65], struct fault *fault)
{
	const int file = open(path, O_RDONLY);

	if (file < 0)
		return fault_set(fault, "cannot read %s: %s", path, strerror(errno));
	/* the open file, as a shell would read other things in some paths */
	char *command = xasprintf("sha256sum </proc/self/fd/%d 2>/dev/null", file);
	FILE *sum = popen(command, "r");
	const size_t have = sum ? fread(hex, 1, 64, sum) : 0;
	hex[have] = '\0';
	if (sum)
		pclose(sum);
	free(command);
	close(file);
	if (have == 64 && strspn(hex, "0123456789abcdef") == 64)
		return true;
	return fault_set(fault, "sha256sum (coreutils) gave no checksum of %s", path);
}
