/* SPDX-License-Identifier: MIT */
/* The update of small rank by our own kernel against plain C in fp64: both triangles, operands at
 * multiples of 16 bytes and not, tiles that C cuts, NaN in memory that must not be read. */
#include "tests/executors/executor_memory.h"

#include "factor/kernels/blocks/block_kernels.h"

static uint64_t state = 77;

/* A matrix within a block: at 16 bytes, with columns that are multiples of them, or one row off. */
struct operand {
	struct block block;
	struct matrix a;
};

static struct operand operand_new(
        struct executor *e, enum precision p, int64_t m, int64_t n, bool aligned)
{
	enum { PER_LINE = 4 };
	_Static_assert(MARGIN_ROWS % PER_LINE == 3, "one more row begins a line");
	const int64_t ld = m + 1 + 2 * MARGIN_ROWS, pad = (PER_LINE - ld % PER_LINE) % PER_LINE;
	struct operand x = {.block = block_new(e, p, m + 1 + pad, n, &state)};

	x.a = matrix_view(x.block.a, aligned, 0, m, n);
	return x;
}

static double *at(const struct operand *x, bool transposed, int64_t i, int64_t j)
{
	return x->block.x + x->a.offset + (transposed ? j + i * x->a.ld : i + j * x->a.ld);
}

/* C after the update, with NaN in the triangle that is not read. */
static void expect(const struct operand *x, struct operand *c, bool upper, int64_t rows,
        int64_t columns, int64_t k, double beta)
{
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++) {
			double *to = at(c, upper, i, j), sum = 0;
			if (i < j) {
				*to = NAN;
				continue;
			}
			for (int64_t l = 0; l < k; l++)
				sum += *at(x, upper, i, l) * *at(x, upper, j, l);
			*to = (beta == 0 ? 0 : beta * *to) - 1.5 * sum;
		}
}

static void check(struct executor *e, enum precision p, bool upper, bool aligned,
        const int64_t *shape, double beta)
{
	const int64_t rows = shape[0], columns = shape[1], k = shape[2];
	struct operand x = operand_new(e, p, upper ? k : rows, upper ? rows : k, aligned),
	               c = operand_new(
	                       e, p, upper ? columns : rows, upper ? rows : columns, aligned);

	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			if (beta == 0 || i < j)
				*at(&c, upper, i, j) = NAN;
	block_upload(e, &c.block);
	must(e, e->ops->syrk(e, upper ? UPPER : LOWER, upper ? TRANSPOSED : PLAIN, -1.5, x.a, beta,
	                c.a));
	expect(&x, &c, upper, rows, columns, k, beta);
	ok(block_rank_is_ahead(p, rows, columns, k) &&
	                block_holds(e, &c.block, 4 * (double)(k + 2) * unit_roundoff(p)),
	        "%c %s %" PRId64 " x %" PRId64 " k %" PRId64 " beta %g%s", p,
	        upper ? "upper" : "lower", rows, columns, k, beta, aligned ? "" : ", not aligned");
	block_free(e, &x.block);
	block_free(e, &c.block);
}

int main(void)
{
	static const int64_t shapes[][3] = {{1, 1, 1}, {31, 5, 3}, {32, 32, 16}, {33, 32, 65},
	        {70, 64, 127}, {97, 97, 128}, {128, 128, 128}, {300, 300, 17}, {513, 33, 1},
	        {500, 384, 128}, {999, 127, 100}, {2000, 128, 64}, {6001, 128, 128},
	        {256, 256, 256}, {97, 97, 129}, {999, 127, 193}, {513, 33, 255}, {1200, 256, 240}};
	struct executor *e = cuda_or_skip();

	for (int twice = 0; twice < 2; twice++) {
		const enum precision p = twice ? DOUBLE : SINGLE;
		for (int upper = 0; upper < 2; upper++)
			for (int aligned = 0; aligned < 2; aligned++)
				for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
					check(e, p, upper, aligned, shapes[i],
					        i % 3 == 0   ? 1
					        : i % 3 == 1 ? 0
					                     : 0.5);
	}
	executor_free(e);
	return finish();
}
