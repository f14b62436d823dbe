/* SPDX-License-Identifier: MIT */
/* Tables: round trips, broken files, JSON, printing, atomic writes. */
#include "scratch.h"

#include "lib/base/table.h"
#include "lib/base/wrap.h"

#include <dirent.h>

static size_t count_files(void)
{
	DIR *dir = opendir(scratch);
	size_t n = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static struct table *example(void)
{
	static const char *const columns[] = {"name", "bytes", "seconds"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	table_meta_set(table, "probe", "test");
	table_meta_set(table, "empty", "%s", "");
	table_meta_set(table, "colons", "a: b: c");
	size_t row = table_add_row(table);
	table_set_text(table, row, "name", "tab\there\nand there");
	table_set_int(table, row, "bytes", INT64_C(1) << 40);
	table_set_real(table, row, "seconds", 1.23456789e-9);
	row = table_add_row(table);
	table_set_text(table, row, "name", "");
	table_set_real(table, row, "bytes", INFINITY);
	table_set_real(table, row, "seconds", -NAN);
	row = table_add_row(table);
	table_set_text(table, row, "name", "# no comment");
	return table;
}

static void test_cells(void)
{
	struct table *table = example();

	is_text(table_text(table, 0, "name"), "tab here and there", "tabs and newlines: spaces");
	is_text(table_text(table, 0, "bytes"), "1099511627776", "integers are exact");
	is_text(table_text(table, 0, "seconds"), "1.23456789e-09", "reals: 9 digits");
	is_text(table_text(table, 1, "bytes"), "inf", "inf");
	is_text(table_text(table, 1, "seconds"), "nan", "a negative nan is nan");
	is_text(table_text(table, 2, "bytes"), "nan", "a fresh cell is nan");
	is_text(table_text(table, 0, "nowhere"), "", "text of a missing column is empty");
	ok(isnan(table_real(table, 0, "nowhere")), "real of a missing column is nan");
	ok(isnan(table_real(table, 0, "name")), "real of a text is nan");
	ok(isnan(table_real(table, 1, "name")), "real of an empty text is nan");
	ok(table_column(table, "bytes") == 1 && table_column(table, "byte") == -1, "column index");
	table_meta_set(table, "probe", "other\nline");
	is_text(table_meta(table, "probe"), "other line", "metadata is replaced, on one line");
	const size_t keys = table->meta_count;
	table_meta_set(table, "a\tkey", "1");
	table_meta_set(table, "a\tkey", "2");
	ok(table->meta_count == keys + 1 && strcmp(table_meta(table, "a key"), "2") == 0,
	        "so is that of a key with a tab");
	ok(table_meta(table, "absent") == NULL, "absent metadata is NULL");
	struct table *more = table_new(NULL, 0);
	table_meta_set(more, "probe", "kept");
	table_meta_add(more, table);
	is_text(table_meta(more, "probe"), "kept", "added metadata keeps what is there");
	is_text(table_meta(more, "colons"), "a: b: c", "added metadata brings the rest");
	table_free(more);
	table_free(table);
}

static void test_round_trip(void)
{
	struct table *table = example();
	struct fault fault;
	char *path = in_scratch("new/deep/table.tsv");

	ok(table_write(table, path, &fault), "writing creates the folders");
	struct table *back = table_read(path, &fault);
	if (!ok(back != NULL, "what was written is read"))
		diag("%s", fault.text);
	ok(back && back->row_count == 3 && back->column_count == 3 && back->meta_count == 3,
	        "same size");
	bool same = back != NULL;
	for (size_t i = 0; same && i < 9; i++)
		same = strcmp(back->cell[i], table->cell[i]) == 0;
	ok(same, "same cells, empty text, inf, nan and a leading # included");
	is_text(back ? table_meta(back, "empty") : NULL, "", "empty metadata");
	is_text(back ? table_meta(back, "colons") : NULL, "a: b: c", "metadata with colons");
	table_free(back);
	table_free(table);
}

static void test_many_rows(void)
{
	static const char *const columns[] = {"i"};
	struct table *table = table_new(columns, 1);
	struct fault fault;
	char *path = in_scratch("many.tsv");

	for (int64_t i = 0; i < 1000; i++)
		table_set_int(table, table_add_row(table), "i", i);
	ok(table_write(table, path, &fault), "1000 rows written");
	struct table *back = table_read(path, &fault);
	ok(back && back->row_count == 1000 && table_real(back, 999, "i") == 999, "and read");
	table_free(back);
	table_free(table);
}

/* Each broken file gives a fault with its name, its line and a word of the reason. */
static void broken(
        const char *name, const char *bytes, size_t length, const char *line, const char *reason)
{
	char *path = put_bytes("broken.tsv", bytes, length);
	char *where = xasprintf("broken.tsv%s", line);
	struct fault fault = {.text = ""};
	struct table *table = table_read(path, &fault);

	ok(!table, "broken: %s is refused", name);
	if (!ok(strstr(fault.text, where) && strstr(fault.text, reason), "broken: %s is named",
	            name))
		diag("%s", fault.text);
	table_free(table);
	free(where);
}

#define BROKEN(name, text, line, reason) broken(name, text, sizeof(text) - 1, line, reason)

static void test_broken(void)
{
	enum { LONG = (1 << 20) + 100 };
	struct fault fault = {.text = ""};

	BROKEN("an empty file", "", ":0", "the file is empty");
	BROKEN("metadata alone", "# a: b\n", ":1", "column names");
	BROKEN("a missing tab", "a\tb\n1\t2\n3 4\n", ":3", "fewer");
	BROKEN("one cell too many", "a\tb\n1\t2\t3\n", ":2", "more");
	BROKEN("a truncated row", "a\tb\n1\t2\n3\t4", ":3", "truncated");
	BROKEN("a column twice", "# k: v\na\tb\ta\n", ":2", "twice");
	BROKEN("a nameless column", "a\t\tb\n", ":1", "without a name");
	BROKEN("a binary file", "a\tb\n1\t\0\n", ":2", "binary");
	BROKEN("overlong UTF-8", "a\tb\n1\t\xc0\xaf\n", ":2", "UTF-8");
	BROKEN("half of a surrogate pair", "a\tb\n1\t\xed\xa0\x80\n", ":2", "UTF-8");
	BROKEN("half of a character", "a\tb\n1\t\xe2\x82\n", ":2", "UTF-8");
	BROKEN("an ELF file", "\177ELF\2\1\1\n", ":1", "binary");
	char *line = xmalloc(LONG);
	memset(line, 'x', LONG);
	broken("a huge line", line, LONG, ":1", "longer");
	for (size_t i = 1; i < LONG; i += 2)
		line[i] = '\t';
	line[20000] = '\n';
	broken("thousands of columns", line, 20001, ":1", "columns");
	free(line);

	ok(!table_read("/tmp", &fault) && strstr(fault.text, "/tmp"), "a folder is refused");
	char *path = in_scratch("absent.tsv");
	ok(!table_read(path, &fault) && strstr(fault.text, "absent.tsv"), "a missing file, too");
	ok(!table_read("/dev/zero", &fault), "a device is refused");
}

static void test_lenient(void)
{
	static const char text[] = "# SPDX-License-Identifier: MIT\r\n#comment\r\na\tb\r\n1\t\r\n";
	char *path = put_bytes("crlf.tsv", text, sizeof text - 1);
	struct fault fault;
	struct table *table = table_read(path, &fault);

	ok(table && table->row_count == 1, "CRLF line ends are accepted");
	is_real(table ? table_real(table, 0, "a") : NAN, 1, 0, "CRLF: first cell");
	is_text(table ? table_text(table, 0, "b") : NULL, "", "CRLF: the last cell has no CR");
	is_text(table ? table_meta(table, "SPDX-License-Identifier") : NULL, "MIT",
	        "CRLF: metadata");
	table_free(table);
}

static void test_atomic(void)
{
	struct table *table = example();
	struct fault fault = {.text = ""};
	char *path = in_scratch("kept.tsv"), *below = in_scratch("kept.tsv/below.tsv");
	size_t before = count_files();

	ok(table_write(table, path, &fault) && count_files() == before + 1,
	        "a write leaves no second file");
	ok(!table_write(table, below, &fault) && strstr(fault.text, "kept.tsv"),
	        "a file in the folder's place is a fault");
	ok(!table_write(table, scratch, &fault) && fault.text[0], "so is a folder as the file");
	ok(count_files() == before + 1, "failures leave no temporary");
	put_bytes("other.tsv.1.new", "a\n", 2);
	put_bytes("kept.tsv.1.newer", "a\n", 2);
	ok(table_write(table, path, &fault) && count_files() == before + 2,
	        "what a killed writer left is removed, and nothing else");
	ok(!table_write(table, "/dev/full/x.tsv", &fault), "an impossible folder is a fault");
	ok(!table_write(table, "/proc/x.tsv", &fault), "a folder that refuses is a fault");
	FILE *full = fopen("/dev/full", "w");
	if (full) {
		ok(!table_write_stream(table, full), "a full disk is noticed");
		fclose(full);
	} else
		skip("a full disk is noticed", "no /dev/full here");
	table_free(table);
}

static char *captured(const struct table *table, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (json)
		table_write_json(table, out);
	else
		table_print(table, NULL, 0, out);
	fclose(out);
	return text;
}

static void test_output(void)
{
	static const char *const columns[] = {"k\"", "v"};
	struct table *table = table_new(columns, 2);

	table_meta_set(table, "seed", "7");
	table_meta_set(table, "id", "007e");
	const char *const value[] = {"1.5e-9", "nan", "-inf", "007", "0x10", "1e999", "a\\b", ""};
	for (size_t i = 0; i < ARRAY_LEN(value); i++) {
		size_t row = table_add_row(table);
		table_set_int(table, row, "k\"", (int64_t)i);
		table_set_text(table, row, "v", value[i]);
	}
	char *json = captured(table, true);
	is_text(json,
	        "{\n\"meta\": {\"seed\": 7,\n\t\"id\": \"007e\"},\n\"rows\": [\n"
	        "\t{\"k\\\"\": 0, \"v\": 1.5e-9},\n"
	        "\t{\"k\\\"\": 1, \"v\": null},\n"
	        "\t{\"k\\\"\": 2, \"v\": null},\n"
	        "\t{\"k\\\"\": 3, \"v\": \"007\"},\n"
	        "\t{\"k\\\"\": 4, \"v\": \"0x10\"},\n"
	        "\t{\"k\\\"\": 5, \"v\": \"1e999\"},\n"
	        "\t{\"k\\\"\": 6, \"v\": \"a\\\\b\"},\n"
	        "\t{\"k\\\"\": 7, \"v\": null}\n]\n}\n",
	        "JSON: numbers, null, text and escapes");
	free(json);
	table->row_count = 2;
	table_set_text(table, 1, "v", "\xc3\xa9");
	char *text = captured(table, false);
	is_text(text, "k\"  v\n 0  1.5e-9\n 1  \xc3\xa9\n",
	        "printing: numbers right-aligned, no space at the ends of lines");
	free(text);
	table->row_count = ARRAY_LEN(value); /* all cells are freed */
	table_free(table);
}

static void test_sha256(void)
{
	char *path = put_bytes("odd 'name' \\.txt", "abc", 3);
	char hex[65];
	struct fault fault = {.text = ""};

	ok(table_sha256(path, hex, &fault), "sha256 of a file with an odd name");
	is_text(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	        "sha256 of abc (FIPS 180-2)");
	path = in_scratch("absent");
	ok(!table_sha256(path, hex, &fault) && strstr(fault.text, "absent"),
	        "sha256 of a missing file is a fault");
	ok(!table_sha256(scratch, hex, &fault), "sha256 of a folder is a fault");
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	for (; *text; text += *text == '\n') {
		const size_t length = strcspn(text, "\n");
		widest = length > widest ? length : widest;
		text += length;
	}
	return widest;
}

/* A table too wide for 100 columns continues its texts; numbers stay whole and aligned. */
static void test_wide(void)
{
	static const char *const columns[] = {"name", "a_number", "why"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	char words[400] = "";

	for (int i = 0; i < 60; i++)
		strcat(words, "words ");
	size_t row = table_add_row(table);
	table_set_text(table, row, "name",
	        "gpu.a.name.with.many.parts.that.is.longer.than.its.column.may.be");
	table_set_text(table, row, "a_number", "nan");
	table_set_text(table, row, "why", words);
	row = table_add_row(table);
	table_set_real(table, row, "a_number", 1234.5);
	table_set_text(table, row, "name", "short");
	table_set_text(table, row, "why", "nothing");
	char *text = captured(table, false);
	ok(widest_line(text) <= 100, "a wide table: lines of at most 100 columns, not %zu",
	        widest_line(text));
	ok(strstr(text, "\nshort ") && strstr(text, " 1234.5  nothing\n"),
	        "rows that fit stand on one line");
	ok(strstr(text, "gpu.") && !strstr(text, "nan"), "what is not measured is -");
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, "words")); at++)
		count++;
	ok(count == 60, "no word is lost: %zu of 60", count);
	free(text);
	table_free(table);
}

static void test_wrap(void)
{
	FILE *text = wrap_open(), *out = tmpfile();
	char line[400];

	for (int i = 0; i < 40; i++)
		fprintf(text, "%s", i ? "  word" : "begin");
	fprintf(text, "\nshort  line\n\nlast\n");
	wrap_close(text, out);
	rewind(out);
	size_t longest = 0, lines = 0, indented = 0, plain = 0;
	while (fgets(line, sizeof line, out)) {
		longest = strlen(line) - 1 > longest ? strlen(line) - 1 : longest;
		indented += strncmp(line, "    word", 8) == 0;
		plain += strcmp(line, "short  line\n") == 0 || strcmp(line, "\n") == 0;
		lines++;
	}
	ok(longest <= 100 && longest > 90, "wrapped lines have up to 100 columns (%zu)", longest);
	ok(indented == lines - 4 && indented > 0, "continued lines are indented");
	ok(plain == 2, "short and empty lines stay as they are");
	fclose(out);
}

int main(void)
{
	scratch_open();
	test_cells();
	test_round_trip();
	test_many_rows();
	test_broken();
	test_lenient();
	test_atomic();
	test_output();
	test_wide();
	test_wrap();
	test_sha256();
	scratch_close();
	return finish();
}
