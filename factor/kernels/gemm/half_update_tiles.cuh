/* SPDX-License-Identifier: MIT */
/* The tiles of an update and their order, for half_update.cu. */
#ifndef FATHOM_HALF_UPDATE_TILES_CUH
#define FATHOM_HALF_UPDATE_TILES_CUH

#include "half_update.h"

namespace
{

const int ROWS = HALF_TILE_ROWS, COLUMNS = HALF_TILE_COLUMNS;
const int BAND = 12; /* tiles across a band, at least: about the square root of blocks at work */
const int BANDS_MOST = 64;

struct update {
	float *c;
	int64_t ldc;
	int m, n;
	int slabs; /* of the inner dimension */
	float alpha;
	enum uplo part;
	int wide;                      /* blocks that work at one time, as far as is known */
	bool shared;                   /* blocks make room for other kernels in between */
	int tiles;                     /* that have a part of what is updated */
	int band;                      /* tiles across a band */
	int bands, before[BANDS_MOST]; /* tiles before each */
};

/* The order: along the side that goes beyond the triangle by bands of BAND tiles, in a band one
 * line of tiles after another, so that what is read at one time stays in L2. */
__host__ __device__ __forceinline__ int tiles_along(int n, int size)
{
	return (n + size - 1) / size;
}

/* The first tile of a line that has a part of what is updated. */
__host__ __device__ __forceinline__ int line_first(const struct update &u, int line)
{
	return u.part == LOWER   ? line * COLUMNS / ROWS
	       : u.part == UPPER ? line * ROWS / COLUMNS
	                         : 0;
}

/* Tiles along the bands' lines, and lines. */
__host__ __device__ __forceinline__ int tiles_across(const struct update &u)
{
	return u.part == UPPER ? tiles_along(u.n, COLUMNS) : tiles_along(u.m, ROWS);
}

__host__ __device__ __forceinline__ int lines(const struct update &u)
{
	return u.part == UPPER ? tiles_along(u.m, ROWS) : tiles_along(u.n, COLUMNS);
}

/* Where the band ends that begins with tile `from`. */
__host__ __device__ __forceinline__ int band_end(const struct update &u, int from)
{
	return min(from + u.band, tiles_across(u));
}

/* The lines of full length of the band that begins with tile `from`. */
__device__ __forceinline__ int full_lines(const struct update &u, int from)
{
	const int last = u.part == LOWER   ? ((from + 1) * ROWS - 1) / COLUMNS
	                 : u.part == UPPER ? ((from + 1) * COLUMNS - 1) / ROWS
	                                   : lines(u) - 1;
	return min(last + 1, lines(u));
}

/* A tile: the first one of its band, its line, and those before it in both. */
struct place {
	int from, line, index;
};

__device__ struct place place_of(const struct update &u, int tile)
{
	int band = 0;
	while (band + 1 < u.bands && tile >= u.before[band + 1])
		band++;
	const int from = band * u.band, across = band_end(u, from) - from;
	const int before = tile - u.before[band], line = min(before / across, full_lines(u, from));
	return {from, line, before - line * across};
}

/* The tile so many further; or, of a place as place_of gives it, which may be beyond its line's
 * end, the same one (by = 0). */
__device__ __forceinline__ void advance(const struct update &u, struct place &at, int by)
{
	at.index += by;
	while (at.from < tiles_across(u)) {
		const int end = band_end(u, at.from),
		          here = at.line < lines(u) ? end - max(at.from, line_first(u, at.line))
		                                    : 0;
		if (at.index < here)
			return;
		at.index -= max(here, 0);
		at.from = here > 0 ? at.from : end;
		at.line = here > 0 ? at.line + 1 : 0;
	}
}

/* A block's tiles: so many from `first` on, each u.wide further than the one before. Of blocks that
 * make room for other kernels in between the last ones have few, so that they end at one time. */
struct share {
	int first, end; /* beyond the last one */
};

__host__ __device__ __forceinline__ int share_size(const struct update &u, int rounds)
{
	return u.shared ? (int)half_update_share(rounds) : rounds;
}

__device__ __forceinline__ struct share share_of(const struct update &u, int block)
{
	int from = 0, rounds = tiles_along(u.tiles, u.wide), size = share_size(u, rounds);
	for (; block >= u.wide; block -= u.wide) {
		from += size * u.wide;
		rounds -= size;
		size = share_size(u, rounds);
	}
	return {from + block, min(from + size * u.wide, u.tiles)};
}

/* The block's tile after tile t; none: beyond its end. No chain to the end then, which would take
 * longer than the tile. */
__device__ __forceinline__ int next(
        const struct update &u, struct place &at, const struct share &mine, int t)
{
	if (t + u.wide < mine.end)
		advance(u, at, u.wide);
	return t + u.wide;
}

/* Its first row and column. */
__device__ __forceinline__ int2 corner(const struct update &u, const struct place &at)
{
	const int across = max(at.from, line_first(u, at.line)) + at.index;
	return u.part == UPPER ? make_int2(at.line * ROWS, across * COLUMNS)
	                       : make_int2(across * ROWS, at.line * COLUMNS);
}

/* ---- host ---- */

/* The bands and their tiles. */
void divide(struct update &u)
{
	u.band = max(BAND, tiles_along(tiles_across(u), BANDS_MOST));
	u.bands = tiles_along(tiles_across(u), u.band);
	u.tiles = 0;
	for (int b = 0; b < u.bands; b++) {
		const int from = b * u.band, end = band_end(u, from);
		u.before[b] = u.tiles;
		for (int line = 0; line < lines(u) && line_first(u, line) < end; line++)
			u.tiles += end - max(from, line_first(u, line));
	}
}

/* Blocks that the tiles are dealt to. */
int blocks_of(const struct update &u)
{
	int blocks = 0, rounds = tiles_along(u.tiles, u.wide);
	while (rounds > 0) {
		rounds -= share_size(u, rounds);
		blocks += u.wide;
	}
	return min(blocks, u.tiles);
}

} // namespace

#endif
