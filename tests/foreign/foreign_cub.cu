/* SPDX-License-Identifier: MIT */
/* Functions of CUB, the toolkit's own library of device-wide algorithms. */
#include "foreign.h"

#include "lib/device/gpu.h"

#include <cub/cub.cuh>
#include <math.h>

/* The library's templates take the type of the number: int. */
static const int reduced = 1 << 28, scanned = 1 << 27, sorted = 1 << 26, counted = 1 << 27,
                 bins = 256;

/* More than CUB asks for; it takes the beginning. */
static const size_t scratch_bytes = (size_t)64 << 20;

static void fill_floats(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], reduced, seed, stream);
}

static int reduce(void *const *piece, void *stream)
{
	size_t bytes = scratch_bytes;

	return cub::DeviceReduce::Sum(piece[2], bytes, (const float *)piece[0], (float *)piece[1],
	        reduced, (cudaStream_t)stream);
}

static bool is_sum(void *const *piece)
{
	const float *x = (const float *)piece[0];
	double sum = 0, size = 0;

	for (int64_t i = 0; i < reduced; i++) {
		sum += x[i];
		size += fabs((double)x[i]);
	}
	return fabs(*(const float *)piece[1] - sum) <= 1e-6 * size;
}

static void fill_scan(void *const *piece, uint64_t seed, void *stream)
{
	foreign_fill_words(piece[0], scanned, seed, stream);
}

static int scan(void *const *piece, void *stream)
{
	size_t bytes = scratch_bytes;

	return cub::DeviceScan::ExclusiveSum(piece[2], bytes, (const unsigned *)piece[0],
	        (unsigned *)piece[1], scanned, (cudaStream_t)stream);
}

static bool is_scan(void *const *piece)
{
	const unsigned *in = (const unsigned *)piece[0], *out = (const unsigned *)piece[1];
	unsigned sum = 0;
	bool same = true;

	for (int64_t i = 0; i < scanned; i++) {
		same &= out[i] == sum;
		sum += in[i];
	}
	return same;
}

static void fill_sort(void *const *piece, uint64_t seed, void *stream)
{
	foreign_fill_words(piece[0], sorted, seed, stream);
}

static int sort(void *const *piece, void *stream)
{
	size_t bytes = sizeof(unsigned) * sorted + scratch_bytes;

	return cub::DeviceRadixSort::SortKeys(piece[2], bytes, (const unsigned *)piece[0],
	        (unsigned *)piece[1], sorted, 0, 32, (cudaStream_t)stream);
}

/* In order, and the same words: equal sums of three functions of a word. */
static bool is_sorted(void *const *piece)
{
	const unsigned *in = (const unsigned *)piece[0], *out = (const unsigned *)piece[1];
	uint64_t difference[3] = {0, 0, 0};
	bool ordered = true;

	for (int64_t i = 0; i < sorted; i++) {
		const uint64_t x = in[i], y = out[i];
		ordered &= i == 0 || out[i - 1] <= out[i];
		difference[0] += x - y;
		difference[1] += x * x - y * y;
		difference[2] += x * x * x - y * y * y;
	}
	return ordered && difference[0] == 0 && difference[1] == 0 && difference[2] == 0;
}

static void fill_histogram(void *const *piece, uint64_t seed, void *stream)
{
	gpu_fill_float((float *)piece[0], counted, seed, stream);
}

static int histogram(void *const *piece, void *stream)
{
	size_t bytes = scratch_bytes;

	return cub::DeviceHistogram::HistogramEven(piece[2], bytes, (const float *)piece[0],
	        (int *)piece[1], bins + 1, -1.0f, 1.0f, counted, (cudaStream_t)stream);
}

/* A value at the edge of a bin may count in either. No bin has its upper end: of 2^27 random floats
 * about one is rounded up to 1. */
static bool is_histogram(void *const *piece)
{
	const float *x = (const float *)piece[0];
	const int *got = (const int *)piece[1];
	int64_t want[bins] = {0}, difference = 0, outside = 0;

	for (int64_t i = 0; i < counted; i++) {
		const int bin = (int)floor(((double)x[i] + 1) * (bins / 2));
		if (bin >= 0 && bin < bins)
			want[bin]++;
		else
			outside++;
	}
	for (int b = 0; b < bins; b++)
		difference += llabs(want[b] - got[b]);
	return difference + outside <= counted / 10000;
}

extern "C" const struct foreign_kernel foreign_cub[] = {
        {"cub_reduce", "sum of 2^28 words", {sizeof(float) * reduced, sizeof(float), scratch_bytes},
                fill_floats, reduce, is_sum},
        {"cub_scan", "sums before each of 2^27 words",
                {sizeof(unsigned) * scanned, sizeof(unsigned) * scanned, scratch_bytes}, fill_scan,
                scan, is_scan},
        {"cub_sort", "radix sort of 2^26 words",
                {sizeof(unsigned) * sorted, sizeof(unsigned) * sorted,
                        sizeof(unsigned) * sorted + scratch_bytes},
                fill_sort, sort, is_sorted},
        {"cub_histogram", "256 bins of 2^27 words",
                {sizeof(float) * counted, sizeof(int) * bins, scratch_bytes}, fill_histogram,
                histogram, is_histogram},
        {NULL, NULL, {0, 0, 0}, NULL, NULL, NULL}};
