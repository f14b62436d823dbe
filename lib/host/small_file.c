/* SPDX-License-Identifier: MIT */
#include "small_file.h"

#include <stdio.h>
#include <string.h>

bool small_file_line(const char *path, const char *start, char *text, int size)
{
	const size_t length = strlen(start);
	char line[1024];
	bool found = false;
	FILE *file = fopen(path, "r");

	text[0] = '\0';
	while (file && !found && fgets(line, sizeof line, file))
		found = strncmp(line, start, length) == 0;
	if (file)
		fclose(file);
	if (found) {
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, (size_t)size, "%s", line + length);
	}
	return found;
}

bool small_file_number(const char *path, const char *start, double *value)
{
	char text[256];

	return small_file_line(path, start, text, sizeof text) && sscanf(text, "%lf", value) == 1;
}
