/* SPDX-License-Identifier: MIT */
#include "wrap.h"

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
