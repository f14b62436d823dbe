/* SPDX-License-Identifier: MIT */
/* Matrices of a group: which rank has what, and checks of a call's arguments. */
#include "fathom_mg_group.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <string.h>

static int ranks(const struct fathom_mg *g)
{
	return g->members[0].comm->ranks;
}

static int rows(const struct fathom_mg *g)
{
	return grid_rows(&g->members[0].grid);
}

static int columns(const struct fathom_mg *g)
{
	return grid_columns(&g->members[0].grid);
}

static struct block_cyclic layout_of(const struct fathom_mg_matrix *d)
{
	return (struct block_cyclic){d->m, d->n, d->nb, d->csrc, d->rsrc, d->mb};
}

/* The rows of a rank. */
static int64_t rows_of(const struct fathom_mg *g, const struct fathom_mg_matrix *d, int rank)
{
	const struct block_cyclic layout = layout_of(d);

	return block_cyclic_rows_before(&layout, rank / columns(g), rows(g), d->m);
}

static int64_t columns_of(const struct fathom_mg *g, const struct fathom_mg_matrix *d, int rank)
{
	const struct block_cyclic layout = layout_of(d);

	return block_cyclic_columns_before(&layout, rank % columns(g), columns(g), d->n);
}

/* But for lld, which a rank's rows bound. */
static bool possible(const struct fathom_mg *g, const struct fathom_mg_matrix *d)
{
	return g && d && d->m >= 0 && d->n >= 0 && d->m <= INT32_MAX && d->n <= INT32_MAX &&
	       d->nb >= 1 && d->nb <= INT32_MAX && d->csrc >= 0 && d->csrc < columns(g) &&
	       (rows(g) == 1 ||
	               (d->mb >= 1 && d->mb <= INT32_MAX && d->rsrc >= 0 && d->rsrc < rows(g)));
}

/* Looks at all ranks, so that each of them refuses the same. */
static bool has_room(const struct fathom_mg *g, const struct fathom_mg_matrix *d)
{
	bool good = d->lld >= 1 && d->lld <= INT32_MAX;

	for (int rank = 0; rank < ranks(g); rank += columns(g))
		good = good && d->lld >= rows_of(g, d, rank);
	return good;
}

int64_t fathom_mg_columns(const struct fathom_mg *group, const struct fathom_mg_matrix *a, int rank)
{
	return !possible(group, a) || rank < 0 || rank >= ranks(group) ? -1
	                                                               : columns_of(group, a, rank);
}

int64_t fathom_mg_rows(const struct fathom_mg *group, const struct fathom_mg_matrix *a, int rank)
{
	return !possible(group, a) || rank < 0 || rank >= ranks(group) ? -1
	                                                               : rows_of(group, a, rank);
}

int fathom_mg_rank(
        const struct fathom_mg *group, const struct fathom_mg_matrix *a, int64_t i, int64_t j)
{
	if (!possible(group, a) || i < 0 || i >= a->m || j < 0 || j >= a->n)
		return -1;
	const struct block_cyclic layout = layout_of(a);
	return block_cyclic_row(&layout, rows(group), i) * columns(group) +
	       block_cyclic_column(&layout, columns(group), j);
}

int64_t fathom_mg_place(
        const struct fathom_mg *group, const struct fathom_mg_matrix *a, int64_t i, int64_t j)
{
	const int rank = fathom_mg_rank(group, a, i, j);

	if (rank < 0 || !has_room(group, a))
		return -1;
	const struct block_cyclic layout = layout_of(a);
	return block_cyclic_rows_before(&layout, rank / columns(group), rows(group), i) +
	       block_cyclic_columns_before(&layout, rank % columns(group), columns(group), j) *
	               a->lld;
}

/* The member's part; data: one pointer a member. */
static struct distributed part(const struct mg_member *m, const struct mg_call *c,
        const struct fathom_mg_matrix *d, void *const *data)
{
	const int rank = m->comm->rank;

	return (struct distributed){m->grid, layout_of(d),
	        {data[m - c->group->members], 0, rows_of(c->group, d, rank),
	                columns_of(c->group, d, rank), d->lld, c->precision}};
}

struct distributed mg_matrix(const struct mg_member *m, const struct mg_call *c)
{
	return part(m, c, c->desc, c->a);
}

struct distributed mg_right(const struct mg_member *m, const struct mg_call *c)
{
	return part(m, c, c->desc_right, c->right);
}

struct matrix mg_tau(const struct mg_member *m, const struct mg_call *c)
{
	const int64_t own = columns_of(c->group, c->desc, m->comm->rank);

	return (struct matrix){
	        c->tau[m - c->group->members], 0, own, 1, max_int64(own, 1), c->precision};
}

struct pivots mg_pivots(const struct mg_member *m, const struct mg_call *c)
{
	return (struct pivots){m->integers, min_int64(c->desc->m, c->desc->n)};
}

/* ---- checks ---- */

bool mg_check_matrix(
        struct fathom_mg *g, const char *name, const struct fathom_mg_matrix *d, void *const *data)
{
	if (!d)
		return fault_set(&g->fault, "%s has no descriptor", name);
	if (!possible(g, d) || !has_room(g, d))
		return fault_set(&g->fault,
		        "%s of %" PRId64 " x %" PRId64 ", nb %" PRId64 ", csrc %d, lld %" PRId64
		        ", mb %" PRId64
		        ", rsrc %d: sizes start at 0, nb at 1; csrc is a process column; lld is at "
		        "least each rank's rows and 1; in a grid of several process rows mb starts "
		        "at 1, rsrc is one of them; none exceeds 32-bit integers",
		        name, d->m, d->n, d->nb, d->csrc, d->lld, d->mb, d->rsrc);
	for (int i = 0; i < g->count; i++) {
		const int rank = g->members[i].comm->rank;
		if (!data || (!data[i] && rows_of(g, d, rank) > 0 && columns_of(g, d, rank) > 0))
			return fault_set(&g->fault, "%s of rank %d is NULL", name, rank);
	}
	return true;
}

bool mg_check_tau(struct fathom_mg *g, const struct fathom_mg_matrix *d, void *const *tau)
{
	for (int i = 0; i < g->count; i++) {
		const int rank = g->members[i].comm->rank;
		if (!tau[i] && columns_of(g, d, rank) > 0)
			return fault_set(&g->fault, "tau of rank %d is NULL", rank);
	}
	return true;
}

bool mg_given(struct fathom_mg *g, const char *name, const void *data)
{
	return data || (g && fault_set(&g->fault, "%s is NULL", name));
}

/* One of two letters, in either case. */
bool mg_letter(struct fathom_mg *g, const char *name, char letter, char only)
{
	return letter == only || letter == only - 'A' + 'a' ||
	       (g && fault_set(&g->fault, "%s '%.1s': only %c is possible over several GPUs", name,
	                     &letter, only));
}

bool mg_trans(struct fathom_mg *g, char letter, enum trans *trans)
{
	*trans = letter == 'N' || letter == 'n' ? PLAIN : TRANSPOSED;
	return (letter && strchr("NnTtCc", letter)) ||
	       (g && fault_set(&g->fault, "trans '%.1s': N, T and C are possible", &letter));
}
