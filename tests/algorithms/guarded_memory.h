/* SPDX-License-Identifier: MIT */
/* Executor memory between margins that nothing may write. */
#pragma once

#include "factor/executors/executor.h"
#include "lib/base/msg.h"

#include "tests/tap.h"

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

/* ---- all memory of one test ---- */

enum { ROOM_MOST = 16 };

struct test_room {
	struct executor *e;
	int fill, used;
	bool good; /* nothing has failed */
	struct test_memory memory[ROOM_MOST];
};

static inline struct test_room room_new(struct executor *e)
{
	return (struct test_room){.e = e, .fill = 0xff, .good = true};
}

/* Negative: a size that was refused. */
static inline void *room_bytes(struct test_room *room, int64_t bytes)
{
	struct test_memory *memory = &room->memory[room->used];

	if (!test_open(room->e, memory, bytes, room->fill))
		room->good = false;
	room->used += memory->whole != NULL;
	return memory->data;
}

static inline struct matrix room_matrix(
        struct test_room *room, int64_t m, int64_t n, int64_t ld, enum precision precision)
{
	void *data = room_bytes(room, ld * n * precision_bytes(precision));

	return (struct matrix){data, 0, m, n, ld, precision};
}

/* n pivots, and info behind them. */
static inline struct pivots room_pivots(struct test_room *room, int64_t n)
{
	return (struct pivots){room_bytes(room, (n + 1) * (int64_t)sizeof(int)), n};
}

/* The info of pivots without pivots. */
static inline int room_info(struct test_room *room, struct pivots p)
{
	int none, info = -1;

	room->good = room->e->ops->sync(room->e) &&
	             room->e->ops->read_pivots(
	                     room->e, (struct pivots){p.data + p.n, 0}, &none, &info) &&
	             room->good;
	return info;
}

/* Frees all. Whether all went well, `good` included, and no margin was written. */
static inline bool room_close(struct test_room *room, bool good)
{
	good = good && room->good;
	if (!good)
		diag("%s", room->e->fault.text);
	while (room->used > 0)
		good = test_close(room->e, &room->memory[--room->used]) && good;
	return good;
}
