/* SPDX-License-Identifier: MIT */
/* The tiles of an update and their order, for half_update.cu. */
#pragma once

#include "half_update.h"

namespace
{

const int ROWS = HALF_TILE_ROWS, COLUMNS = HALF_TILE_COLUMNS;
const int BAND =
        12; /* tiles across a band, at least: about the square root of the running blocks */
const int BANDS_MOST = 64;

struct update {
	float *c;
	int64_t ldc;
	int m, n;
	int slabs; /* along the inner dimension */
	float alpha;
	float returned; /* share of the high parts' product, for truncation (half_pair.h) */
	enum uplo part;
	int wide;                      /* blocks that run at a time, as far as known */
	bool shared;                   /* blocks make room for other kernels in between */
	int tiles;                     /* tiles that overlap the updated part */
	int band;                      /* tiles across a band */
	int bands, before[BANDS_MOST]; /* tiles before each band */
};

/* In stairs; `part` is LOWER. Functions of both kinds are templates, so that other updates do not
 * look for the block of a column. */
struct stairs_update : update {
	int width, step;  /* stairs.h */
	uint32_t inverse; /* a column's block is column * inverse / 2^(31 + shift), rounded down */
	int shift;
};

struct stairs_update in_stairs(const struct update &u, struct stairs stairs)
{
	int shift = 0;
	while ((int64_t)1 << shift < stairs.width)
		shift++;
	const uint32_t inverse = (uint32_t)(((uint64_t)1 << (31 + shift)) / stairs.width + 1);
	return {u, (int)stairs.width, (int)stairs.step, inverse, shift};
}

/* The row where a column meets the diagonal of a LOWER update, and the last column that meets it in
 * a row or above. */
__host__ DEVICE int top_of(const struct update &, int column)
{
	return column;
}

__host__ DEVICE int top_of(const struct stairs_update &u, int column)
{
	const uint32_t twice = 2 * (uint32_t)column;
	const int block = (int)((uint32_t)((uint64_t)twice * u.inverse >> 32) >> u.shift);
	return column + block * (u.step - u.width);
}

__host__ DEVICE int last_column(const struct update &, int row)
{
	return row;
}

__host__ DEVICE int last_column(const struct stairs_update &u, int row)
{
	return row / u.step * u.width + min(row % u.step, u.width - 1);
}

/* Order: bands of BAND tiles along the side that extends beyond the triangle; within a band one
 * line of tiles after another, so that data in use stays in L2. */
__host__ DEVICE int tiles_along(int n, int size)
{
	return (n + size - 1) / size;
}

/* The first tile of a line that overlaps the updated part. */
template <class any_update> __host__ DEVICE int line_first(const any_update &u, int line)
{
	return u.part == LOWER   ? top_of(u, line * COLUMNS) / ROWS
	       : u.part == UPPER ? line * ROWS / COLUMNS
	                         : 0;
}

/* Tiles along the bands' lines, and number of lines. */
__host__ DEVICE int tiles_across(const struct update &u)
{
	return u.part == UPPER ? tiles_along(u.n, COLUMNS) : tiles_along(u.m, ROWS);
}

__host__ DEVICE int lines(const struct update &u)
{
	return u.part == UPPER ? tiles_along(u.m, ROWS) : tiles_along(u.n, COLUMNS);
}

/* End of the band that starts with tile `from`. */
__host__ DEVICE int band_end(const struct update &u, int from)
{
	return min(from + u.band, tiles_across(u));
}

/* Lines of full length in the band that starts with tile `from`. */
template <class any_update> DEVICE int full_lines(const any_update &u, int from)
{
	const int last = u.part == LOWER   ? last_column(u, (from + 1) * ROWS - 1) / COLUMNS
	                 : u.part == UPPER ? ((from + 1) * COLUMNS - 1) / ROWS
	                                   : lines(u) - 1;
	return min(last + 1, lines(u));
}

/* A tile: the first tile of its band, its line, and its index in the line. */
struct place {
	int from, line, index;
};

template <class any_update> __device__ struct place place_of(const any_update &u, int tile)
{
	int band = 0;
	while (band + 1 < u.bands && tile >= u.before[band + 1])
		band++;
	const int from = band * u.band, across = band_end(u, from) - from;
	const int before = tile - u.before[band], line = min(before / across, full_lines(u, from));
	return {from, line, before - line * across};
}

/* Advances by that many tiles. by = 0 normalizes a place that lies past the end of its line, as
 * place_of may give. */
template <class any_update> DEVICE void advance(const any_update &u, struct place &at, int by)
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

/* A block's tiles, from `first` on, u.wide apart. With `shared`, later blocks have few tiles, so
 * that all end together. */
struct share {
	int first, end; /* past the last tile */
};

__host__ DEVICE int share_size(const struct update &u, int rounds)
{
	return u.shared ? (int)half_update_share(rounds) : rounds;
}

DEVICE struct share share_of(const struct update &u, int block)
{
	int from = 0, rounds = tiles_along(u.tiles, u.wide), size = share_size(u, rounds);
	for (; block >= u.wide; block -= u.wide) {
		from += size * u.wide;
		rounds -= size;
		size = share_size(u, rounds);
	}
	return {from + block, min(from + size * u.wide, u.tiles)};
}

/* The block's tile after tile t. Without a next tile `at` stays, because a search to the end would
 * take longer than a tile. */
template <class any_update>
DEVICE int next(const any_update &u, struct place &at, const struct share &mine, int t)
{
	if (t + u.wide < mine.end)
		advance(u, at, u.wide);
	return t + u.wide;
}

/* First row and column of a tile. */
template <class any_update> DEVICE int2 corner(const any_update &u, const struct place &at)
{
	const int across = max(at.from, line_first(u, at.line)) + at.index;
	return u.part == UPPER ? make_int2(at.line * ROWS, across * COLUMNS)
	                       : make_int2(across * ROWS, at.line * COLUMNS);
}

template <class any_update> void divide(any_update &u)
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

/* Number of blocks that share the tiles. */
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
