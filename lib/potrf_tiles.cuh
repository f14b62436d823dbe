/* SPDX-License-Identifier: MIT */
/* The tiles of potrf_tiles.cu: where they are in the matrix and in the workspace, what is said
 * about them, and the order in which they are given out. */
#ifndef FATHOM_POTRF_TILES_CUH
#define FATHOM_POTRF_TILES_CUH

#include "tile_image.cuh"

static inline __host__ __device__ int tiles_edge(int64_t n)
{
	return (int)((n + EDGE - 1) / EDGE);
}

/* Words of the workspace, `square` tile columns and `tall` tile rows: the first ones on lines of
 * their own. */
enum { WORD_LINE = 32, WORD_LINES = 5 };

static inline __host__ __device__ int64_t tiles_words(int square, int tall)
{
	return (WORD_LINES * WORD_LINE + tall + 3 * square + WORD_LINE - 1) / WORD_LINE * WORD_LINE;
}

/* Images: of the tiles below the diagonal, then of the diagonal tiles' inverses. */
static inline __host__ __device__ int64_t tiles_images(int square, int tall)
{
	return (int64_t)square * (square + 1) / 2 + (int64_t)(tall - square) * square;
}

enum { INVERSE_GOOD = 1, INVERSE_BAD };

template <typename T, bool upper> struct tiles_args {
	struct triangle<T, upper> a;
	int rows, columns;
	int square, tall; /* tile columns and tile rows; those below the square are on their own */
	int first;        /* row of the matrix */
	int *info;
	float growth;
	uint32_t *words;
	T *images;

	/* ---- in the matrix ---- */

	__device__ __forceinline__ int64_t tile_row(int i) const
	{
		return i < square ? i * EDGE : columns + (i - square) * EDGE;
	}

	__device__ __forceinline__ int tile_rows(int i) const
	{
		return (int)min((int64_t)EDGE, (i < square ? columns : rows) - tile_row(i));
	}

	/* ---- in the workspace ---- */

	__device__ __forceinline__ T *image(int i, int j) const
	{
		const int64_t above = i < square ? (int64_t)i * (i - 1) / 2
		                                 : (int64_t)square * (square - 1) / 2 +
		                                           (int64_t)(i - square) * square;
		return images + (above + j) * IMAGE;
	}

	/* Before, that of the diagonal tile as it waits for the chain. */
	__device__ __forceinline__ T *inverse(int j) const
	{
		return images + (tiles_images(square, tall) - square + j) * IMAGE;
	}

	/* ---- words ---- */

	__device__ __forceinline__ uint32_t *tickets(void) const
	{
		return words;
	}

	/* Not 0: whoever waits gives up. */
	__device__ __forceinline__ uint32_t *error(void) const
	{
		return words + WORD_LINE;
	}

	__device__ __forceinline__ uint32_t *roles(void) const
	{
		return words + 2 * WORD_LINE;
	}

	/* The chain's multiprocessor, from 1 on; whether somebody left it to the chain. */
	__device__ __forceinline__ uint32_t *chain_place(void) const
	{
		return words + 3 * WORD_LINE;
	}

	__device__ __forceinline__ uint32_t *vacated(void) const
	{
		return words + 4 * WORD_LINE;
	}

	/* Tiles of a tile row that are final, from the left; whether the inverse of diagonal tile j
	 * is there (INVERSE_GOOD, INVERSE_BAD); whether all but the chain's updates of the diagonal
	 * tile and of the tile below it have been made. */
	__device__ __forceinline__ uint32_t *progress(int i) const
	{
		return words + WORD_LINES * WORD_LINE + i;
	}

	__device__ __forceinline__ uint32_t *inverted(int j) const
	{
		return progress(tall) + j;
	}

	__device__ __forceinline__ uint32_t *diagonal(int j) const
	{
		return progress(tall) + square + j;
	}

	__device__ __forceinline__ uint32_t *below(int j) const
	{
		return progress(tall) + 2 * square + j;
	}

	/* ---- tickets ---- */

	/* The first diagonal tile, then columns: of each the tile below the diagonal, the next
	 * diagonal tile, all others. */
	__device__ __forceinline__ int column_tickets(int j) const
	{
		return j + 1 < square ? tall - j : tall - square;
	}

	__device__ __forceinline__ int tickets_all(void) const
	{
		return 1 + (square - 1) * tall - (square - 1) * (square - 2) / 2 + tall - square;
	}
};

enum task_kind { TASK_DIAGONAL, TASK_BELOW, TASK_SOLVE };

/* Sum up over `steps` tile columns; all but TASK_SOLVE leave the rest to the chain. */
struct tiles_task {
	enum task_kind kind;
	struct tile_at at;
	int steps;
};

/* Where tickets have come to; they rise. */
struct tiles_cursor {
	int column, first; /* the column's first ticket */

	template <typename T, bool upper>
	__device__ __forceinline__ tiles_task at(const tiles_args<T, upper> &g, int ticket)
	{
		if (ticket == 0)
			return {TASK_DIAGONAL, {0, 0}, 0};
		while (ticket - first >= g.column_tickets(column))
			first += g.column_tickets(column++);
		const int j = column, place = ticket - first;
		if (j + 1 == g.square)
			return {TASK_SOLVE, {g.square + place, j}, j};
		if (place == 1)
			return {TASK_DIAGONAL, {j + 1, j + 1}, j};
		return {place ? TASK_SOLVE : TASK_BELOW, {j + 1 + (place ? place - 1 : 0), j}, j};
	}
};

#endif
