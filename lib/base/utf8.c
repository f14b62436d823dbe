/* SPDX-License-Identifier: MIT */
#include "utf8.h"

/* Neither longer than needed, nor half of a surrogate pair, nor above 0x10ffff. */
size_t utf8_bytes(const char *at, const char *end)
{
	const unsigned char *c = (const unsigned char *)at;
	const size_t bytes = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;
	const unsigned char least = *c == 0xe0   ? 0xa0
	                            : *c == 0xf0 ? 0x90
	                                         : 0x80,
	                    most = *c == 0xed   ? 0x9f
	                           : *c == 0xf4 ? 0x8f
	                                        : 0xbf;

	if (*c > 0xf4 || (end && (size_t)(end - at) < bytes))
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if (c[i] < (i == 1 ? least : 0x80) || c[i] > (i == 1 ? most : 0xbf))
			return 0;
	return bytes;
}

bool utf8_text(const char *text)
{
	for (size_t bytes; *text; text += bytes)
		if (!(bytes = utf8_bytes(text, NULL)))
			return false;
	return true;
}
