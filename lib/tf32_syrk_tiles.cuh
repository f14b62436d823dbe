/* SPDX-License-Identifier: MIT */
/* The tiles of a symmetric update and their order, for tf32_syrk.cu. */
#ifndef FATHOM_TF32_SYRK_TILES_CUH
#define FATHOM_TF32_SYRK_TILES_CUH

#include "base.h"

namespace
{

const int ROWS = 128, COLUMNS = 192; /* of a tile */
const int BAND = 12; /* tiles across a band, at least: about the square root of blocks at work */
const int BANDS_MOST = 64;

struct update {
	float *c;
	int64_t ldc;
	int m, n;
	int slabs; /* of the inner dimension */
	float alpha;
	bool lower;
	int tiles;                     /* that have a part of the triangle or trapezoid */
	int band;                      /* tiles across a band */
	int bands, before[BANDS_MOST]; /* tiles before each */
};

/* The order: along the side that goes beyond the triangle by bands of BAND tiles, in a band one
 * line of tiles after another, so that what is read at one time stays in L2. */
__host__ __device__ __forceinline__ int tiles_along(int n, int size)
{
	return (n + size - 1) / size;
}

/* The first tile of a line that has a part of the triangle. */
__host__ __device__ __forceinline__ int line_first(const struct update &u, int line)
{
	return u.lower ? line * COLUMNS / ROWS : line * ROWS / COLUMNS;
}

/* Tiles along the bands' lines, and lines. */
__host__ __device__ __forceinline__ int tiles_across(const struct update &u)
{
	return u.lower ? tiles_along(u.m, ROWS) : tiles_along(u.n, COLUMNS);
}

__host__ __device__ __forceinline__ int lines(const struct update &u)
{
	return u.lower ? tiles_along(u.n, COLUMNS) : tiles_along(u.m, ROWS);
}

/* Where the band ends that begins with tile `from`. */
__host__ __device__ __forceinline__ int band_end(const struct update &u, int from)
{
	return min(from + u.band, tiles_across(u));
}

/* The lines of full length of the band that begins with tile `from`. */
__device__ __forceinline__ int full_lines(const struct update &u, int from)
{
	const int last =
	        u.lower ? ((from + 1) * ROWS - 1) / COLUMNS : ((from + 1) * COLUMNS - 1) / ROWS;
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

/* The block's tile after tile t; none: that many. No walk to the end then, which would take longer
 * than the tile. */
__device__ __forceinline__ int next(const struct update &u, struct place &at, int t)
{
	if (t + (int)gridDim.x >= u.tiles)
		return u.tiles;
	advance(u, at, gridDim.x);
	return t + gridDim.x;
}

/* Its first row and column. */
__device__ __forceinline__ int2 corner(const struct update &u, const struct place &at)
{
	const int across = max(at.from, line_first(u, at.line)) + at.index;
	return u.lower ? make_int2(across * ROWS, at.line * COLUMNS)
	               : make_int2(at.line * ROWS, across * COLUMNS);
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

} // namespace

#endif
