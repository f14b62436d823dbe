/* SPDX-License-Identifier: MIT */
/* Executor memory between margins that nothing may write. */
#pragma once

#include "factor/executors/executor.h"
#include "lib/base/msg.h"

#include <string.h>

enum { MARGIN_BYTES = 256, MARGIN = 0xa5 };

struct test_memory {
	void *whole, *data;
	int64_t bytes;
};

static inline struct matrix test_words(const struct test_memory *memory)
{
	int64_t words = (memory->bytes + 2 * MARGIN_BYTES) / 4;

	return (struct matrix){memory->whole, 0, words, 1, words, SINGLE};
}

/* bytes (whole words) of executor memory, filled with `fill`. */
static inline bool test_open(
        struct executor *e, struct test_memory *memory, int64_t bytes, int fill)
{
	*memory = (struct test_memory){.bytes = (bytes + 3) / 4 * 4};
	if (bytes < 0 || !e->ops->alloc(e, memory->bytes + 2 * MARGIN_BYTES, &memory->whole))
		return false;
	char *content = xmalloc((size_t)memory->bytes + 2 * MARGIN_BYTES);
	memset(content, MARGIN, (size_t)memory->bytes + 2 * MARGIN_BYTES);
	memset(content + MARGIN_BYTES, fill, (size_t)memory->bytes);
	struct matrix words = test_words(memory);
	bool good = e->ops->upload(e, content, words.ld, words);
	free(content);
	memory->data = (char *)memory->whole + MARGIN_BYTES;
	return good;
}

/* False when a margin was written. Frees. */
static inline bool test_close(struct executor *e, struct test_memory *memory)
{
	if (!memory->whole)
		return false;
	unsigned char *content = xcalloc((size_t)memory->bytes + 2 * MARGIN_BYTES, 1);
	struct matrix words = test_words(memory);
	bool intact = e->ops->download(e, words, content, words.ld);

	for (int64_t i = 0; i < MARGIN_BYTES; i++)
		intact = intact && content[i] == MARGIN &&
		         content[MARGIN_BYTES + memory->bytes + i] == MARGIN;
	free(content);
	e->ops->release(e, memory->whole);
	return intact;
}
