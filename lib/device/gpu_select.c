/* SPDX-License-Identifier: MIT */
#include "gpu_select.h"

#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool gpu_show_slice(const char *text)
{
	static const char variable[] = "CUDA_VISIBLE_DEVICES";

	if (strncasecmp(text, "MIG-", 4) != 0)
		return false;
	setenv(variable, text, 0);
	const char *shown = getenv(variable); /* NULL: no memory for it */
	return shown && strcasecmp(shown, text) == 0;
}

/* The text after "GPU-" or "MIG-"; NULL without either. */
static const char *uuid_digits(const char *text)
{
	if (strncasecmp(text, "GPU-", 4) == 0 || strncasecmp(text, "MIG-", 4) == 0)
		return text + 4;
	return NULL;
}

static bool has_uuid(const struct gpu_identity *device, const char *text)
{
	const char *digits = uuid_digits(text), *own = uuid_digits(device->uuid);
	return digits && *digits && own && strncasecmp(own, digits, strlen(digits)) == 0;
}

/* domain:bus:device.function, hexadecimal; the domain, or the function, may be left out. */
static bool read_address(const char *text, unsigned address[4])
{
	const char *colon = strchr(text, ':'), *dot = strchr(text, '.');
	const bool has_domain = colon && strchr(colon + 1, ':');
	const int parts = 2 + has_domain + (dot != NULL);
	unsigned *at = address + !has_domain;

	memset(address, 0, 4 * sizeof *address);
	for (int i = 0; colon && i < parts; i++) {
		char *end;
		*at++ = (unsigned)strtoul(text, &end, 16);
		const char want = i + 1 == parts ? '\0' : i + 2 == parts && dot ? '.' : ':';
		if (end == text || *end != want)
			return false;
		text = end + 1;
	}
	return colon != NULL;
}

static bool has_address(const struct gpu_identity *device, const char *text)
{
	unsigned meant[4], own[4];
	return read_address(text, meant) && read_address(device->pci, own) &&
	       memcmp(meant, own, sizeof own) == 0;
}

int gpu_select(const char *text, const struct gpu_identity *device, int count, struct fault *fault)
{
	int found = -1, matches = 0;
	char *end;
	const long number = strtol(text, &end, 10);
	const bool is_number = end != text && *end == '\0';

	if (is_number && number >= 0 && number < count)
		return (int)number;
	for (int i = 0; !is_number && i < count; i++)
		if (has_uuid(&device[i], text) || has_address(&device[i], text)) {
			found = i;
			matches++;
		}
	if (matches == 1)
		return found;
	if (matches > 1)
		fault_set(fault, "no single GPU %s: %d devices are named so", text, matches);
	else if (count == 1)
		fault_set(fault, "no GPU %s: the only visible device is 0", text);
	else
		fault_set(fault, "no GPU %s: the visible devices are 0 to %d", text, count - 1);
	return -1;
}
