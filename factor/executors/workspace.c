/* SPDX-License-Identifier: MIT */
#include "workspace.h"

/* Every piece and every column of a piece starts at a multiple of this. */
enum { PIECE_BYTES = 256, COLUMN_BYTES = 128 };

void *workspace_bytes(struct workspace *workspace, int64_t bytes)
{
	void *piece = workspace->base ? workspace->base + workspace->used : NULL;

	workspace->used += (bytes + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
	return piece;
}

/* Rounded up to keep columns aligned. */
static int64_t aligned(int64_t rows, enum precision precision)
{
	int64_t line = COLUMN_BYTES / precision_bytes(precision);

	return (rows + line - 1) / line * line;
}

struct matrix workspace_matrix(
        struct workspace *workspace, int64_t m, int64_t n, enum precision precision)
{
	int64_t ld = aligned(m, precision);
	void *data = workspace_bytes(workspace, ld * n * precision_bytes(precision));

	return (struct matrix){data, 0, m, n, ld, precision};
}

struct matrix workspace_room(
        struct workspace *workspace, int64_t m, int64_t n, enum precision precision)
{
	return workspace_matrix(workspace, aligned(m, precision), aligned(n, precision), precision);
}

struct matrix room_for(struct matrix room, int64_t m, int64_t n)
{
	return (struct matrix){room.data, 0, m, n, aligned(m, room.precision), room.precision};
}

int *workspace_integers(struct workspace *workspace, int64_t count)
{
	return workspace_bytes(workspace, count * (int64_t)sizeof(int));
}
