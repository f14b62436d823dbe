/* SPDX-License-Identifier: MIT */
#include "wrap.h"

#include "msg.h"

#include <stdlib.h>
#include <string.h>

/* Continuation bytes do not count. */
static size_t characters(const char *text, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

size_t wrap_length(const char *text)
{
	return characters(text, strlen(text));
}

void wrap_print(FILE *out, const char *first, const char *rest, const char *text)
{
	size_t column = wrap_length(first + (*first == '\n'));
	bool empty = true; /* no word on this line */

	if (*first && first[strlen(first) - 1] != ' ')
		empty = false;

	fputs(first, out);
	while (*(text += strspn(text, " \n"))) {
		const size_t bytes = strcspn(text, " \n"), width = characters(text, bytes);
		if (!empty && column + 1 + width > WRAP_WIDTH) {
			fprintf(out, "\n%s", rest);
			column = wrap_length(rest);
			empty = true;
		}
		fprintf(out, "%s%.*s", empty ? "" : " ", (int)bytes, text);
		column += width + !empty;
		empty = false;
		text += bytes;
	}
	fputc('\n', out);
}

/* Bytes of the text that fit into a line: all, or up to the last space, or at least one word. */
static size_t line_bytes(const char *text, size_t length, size_t width)
{
	size_t space = 0;

	if (characters(text, length) <= width)
		return length;
	for (size_t i = 1; i < length; i++)
		if (text[i] == ' ' && text[i - 1] != ' ' &&
		        (space == 0 || characters(text, i) <= width))
			space = i;
	return space ? space : length;
}

void wrap_lines(FILE *out, const char *text)
{
	for (; *text; text += *text == '\n') {
		const char *indent = "";
		do {
			const size_t bytes =
			        line_bytes(text, strcspn(text, "\n"), WRAP_WIDTH - strlen(indent));
			fprintf(out, "%s%.*s\n", indent, (int)bytes, text);
			text += bytes;
			text += strspn(text, " ");
			indent = "    ";
		} while (*text && *text != '\n');
	}
}

static char *collected;
static size_t collected_size;

FILE *wrap_open(void)
{
	FILE *text = open_memstream(&collected, &collected_size);

	if (!text)
		msg_die(EXIT_MEASURE_FAILED, "no memory for a text");
	return text;
}

void wrap_close(FILE *text, FILE *out)
{
	fclose(text);
	wrap_lines(out, collected);
	free(collected);
}
