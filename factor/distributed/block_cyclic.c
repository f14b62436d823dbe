/* SPDX-License-Identifier: MIT */
#include "block_cyclic.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

bool distributed_check(struct executor *e, const struct distributed *a)
{
	const struct block_cyclic *d = &a->layout;
	const int rows = grid_rows(&a->grid), columns = grid_columns(&a->grid);

	if (d->m < 0 || d->n < 0 || d->nb < 1 || (rows > 1 && d->mb < 1))
		return fault_refuse(&e->fault,
		        "a matrix of %" PRId64 " x %" PRId64 " in blocks of %" PRId64 " columns",
		        d->m, d->n, d->nb);
	if (d->first < 0 || d->first >= columns)
		return fault_refuse(&e->fault, "first block on rank %d of %d", d->first, columns);
	if (rows > 1 && (d->first_row < 0 || d->first_row >= rows))
		return fault_refuse(
		        &e->fault, "first block on process row %d of %d", d->first_row, rows);
	int64_t m = distributed_rows_before(a, d->m), n = distributed_columns_before(a, d->n);
	if (a->local.m != m || a->local.n != n)
		return fault_refuse(&e->fault,
		        "rank %d has %" PRId64 " x %" PRId64 ": its part is %" PRId64 " x %" PRId64,
		        a->grid.all->rank, a->local.m, a->local.n, m, n);
	if (a->local.ld < max_int64(m, 1))
		return fault_refuse(&e->fault,
		        "leading dimension %" PRId64 " is smaller than the %" PRId64 " rows",
		        a->local.ld, m);
	return true;
}

static void put(void *column, int64_t i, enum precision precision, double value)
{
	if (precision == SINGLE)
		((float *)column)[i] = (float)value;
	else
		((double *)column)[i] = value;
}

bool distributed_fill(struct executor *e, const struct distributed *a,
        double (*element)(void *context, int64_t i, int64_t j), void *context)
{
	const struct block_cyclic *d = &a->layout;
	bool ok = distributed_check(e, a);
	void *column = xmalloc((size_t)(max_int64(d->m, 1) * precision_bytes(a->local.precision)));

	for (int64_t j = 0; ok && a->local.m > 0 && j < d->n; j++) {
		int64_t own = 0;
		if (!distributed_owns(a, j))
			continue;
		for (int64_t i = 0; i < d->m; i++)
			if (distributed_owns_row(a, i))
				put(column, own++, a->local.precision, element(context, i, j));
		ok = e->ops->upload(e, column, own, distributed_columns(a, 0, j, 1));
	}
	free(column);
	return ok;
}

/* ---- the whole matrix in host memory ---- */

/* Between a process row's rows of some columns and these columns of the whole. */
static bool copy_rows(struct executor *e, const struct distributed *a, int row, bool to_host,
        struct matrix part, struct matrix host)
{
	const struct block_cyclic *d = &a->layout;
	const int rows = grid_rows(&a->grid);
	const int64_t mb = rows == 1 ? d->m : d->mb;
	const int64_t turn = rows == 1 ? 0 : (row - d->first_row + rows) % rows;
	bool ok = true;

	for (int64_t i = turn * mb, at = 0; ok && i < d->m; i += rows * mb, at += mb) {
		struct matrix block = matrix_view(part, at, 0, min_int64(mb, d->m - i), part.n);
		void *whole = matrix_address(matrix_view(host, i, 0, block.m, block.n));
		ok = to_host ? e->ops->download(e, block, whole, host.ld)
		             : e->ops->upload(e, whole, host.ld, block);
	}
	return ok;
}

static struct matrix whole_of(const struct distributed *a, const void *host, int64_t ld)
{
	return (struct matrix){
	        (void *)(uintptr_t)host, 0, a->layout.m, a->layout.n, ld, a->local.precision};
}

bool distributed_copy(
        struct executor *e, const struct distributed *a, bool to_host, void *host, int64_t ld)
{
	const struct block_cyclic *d = &a->layout;
	const struct matrix whole = whole_of(a, host, ld);
	bool ok = true;

	for (int64_t j = 0; ok && a->local.m > 0 && j < d->n; j += d->nb) {
		struct matrix own = distributed_columns(a, 0, j, min_int64(d->nb, d->n - j));
		ok = own.n == 0 || copy_rows(e, a, grid_my_row(&a->grid), to_host, own,
		                           matrix_view(whole, 0, j, d->m, own.n));
	}
	return ok;
}

/* ---- columns of blocks one by one, through room for one in the memory of every rank ---- */

struct passage {
	struct executor *e;
	const struct distributed *a;
	int root;
	bool scatters;
	struct matrix host;  /* the whole matrix, on root */
	struct matrix *part; /* in the room: of every process row */
	struct comm_piece *pieces;
};

/* The process rows' parts of n columns from column j on. */
static void divide(const struct passage *p, struct matrix room, int64_t j)
{
	const struct distributed *a = p->a;
	const int rows = grid_rows(&a->grid), columns = grid_columns(&a->grid);
	const int owner = block_cyclic_column(&a->layout, columns, j);

	for (int row = 0; row < rows; row++) {
		const int64_t m = block_cyclic_rows_before(&a->layout, row, rows, a->layout.m);
		p->part[row] = (struct matrix){
		        room.data, room.offset, m, room.n, max_int64(m, 1), room.precision};
		p->pieces[row] = (struct comm_piece){matrix_address(p->part[row]),
		        m * room.n * precision_bytes(room.precision),
		        p->scatters ? p->root : row * columns + owner};
		room.offset += m * room.n;
	}
}

static bool pass_block(const struct passage *p, struct matrix room, int64_t j)
{
	const struct distributed *a = p->a;
	const int rows = grid_rows(&a->grid);
	const struct matrix mine = distributed_columns(a, 0, j, room.n);
	const struct matrix own = p->part[grid_my_row(&a->grid)];
	const struct matrix host = matrix_view(p->host, 0, j, room.m, room.n);
	const bool at_root = a->grid.all->rank == p->root;
	bool ok = true;

	for (int row = 0; ok && p->scatters && at_root && row < rows; row++)
		ok = copy_rows(p->e, a, row, false, p->part[row], host);
	if (!p->scatters && mine.n > 0)
		ok = p->e->ops->duplicate(p->e, mine, own);
	ok = ok && comm_exchange(a->grid.all, p->e, p->pieces, rows, "columns", j) &&
	     grid_sync(&a->grid, p->e);
	if (ok && p->scatters && mine.n > 0)
		ok = p->e->ops->duplicate(p->e, own, mine);
	for (int row = 0; ok && !p->scatters && at_root && row < rows; row++)
		ok = copy_rows(p->e, a, row, true, p->part[row], host);
	return ok;
}

static bool pass(struct passage p)
{
	const struct block_cyclic *d = &p.a->layout;
	const size_t rows = (size_t)grid_rows(&p.a->grid);
	struct matrix room = {NULL, 0, d->m, 0, max_int64(d->m, 1), p.a->local.precision};
	bool ok = distributed_check(p.e, p.a) &&
	          p.e->ops->alloc(p.e,
	                  d->m * min_int64(d->nb, d->n) * precision_bytes(room.precision),
	                  &room.data);

	p.part = xcalloc(rows, sizeof *p.part);
	p.pieces = xcalloc(rows, sizeof *p.pieces);
	p.e->queue = QUEUE_MAIN;
	for (int64_t j = 0; ok && d->m > 0 && j < d->n; j += d->nb) {
		room.n = min_int64(d->nb, d->n - j);
		divide(&p, room, j);
		ok = pass_block(&p, room, j);
	}
	free(p.part);
	free(p.pieces);
	if (room.data)
		p.e->ops->release(p.e, room.data);
	return ok;
}

bool distributed_scatter(
        struct executor *e, const struct distributed *a, int root, const void *host, int64_t ld)
{
	return pass((struct passage){
	        .e = e, .a = a, .root = root, .scatters = true, .host = whole_of(a, host, ld)});
}

bool distributed_gather(
        struct executor *e, const struct distributed *a, int root, void *host, int64_t ld)
{
	return pass((struct passage){.e = e, .a = a, .root = root, .host = whole_of(a, host, ld)});
}
