/* SPDX-License-Identifier: MIT */
/* The paper's changes of a QR factorization, on the host executor and on the GPU, for several
 * widths of blocks and the candidates beside them: residual, orthogonality, right-hand sides, R
 * against a fresh one, rows and columns at every end, sequences, what is refused. */
#include "update_scene.h"

#include "../factor/qr_update_paper.h"

static struct qr_paper how;

static int64_t work(
        struct executor *e, const struct qr_factors *f, enum qr_change change, int64_t p)
{
	return qr_paper_work(e, f, change, p, &how);
}

static bool do_remove_columns(
        struct executor *e, struct qr_factors *f, int64_t k, int64_t p, void *room)
{
	return qr_paper_remove_columns(e, f, k, p, room, &how);
}

static bool do_add_rows(struct executor *e, struct qr_factors *f, int64_t k, struct matrix u,
        struct matrix b, void *room)
{
	return qr_paper_add_rows(e, f, k, u, b, room, &how);
}

static bool do_add_columns(struct executor *e, struct qr_factors *f, int64_t k, struct matrix u,
        struct matrix b, void *room, int *info)
{
	return qr_paper_add_columns(e, f, k, u, b, room, info, &how);
}

static bool do_remove_rows(struct executor *e, struct qr_factors *f, int64_t k, int64_t p,
        struct matrix u, struct matrix b, void *room, int *info)
{
	return qr_paper_remove_rows(e, f, k, p, u, b, room, info, &how);
}

static const struct update_calls calls = {.work = work,
        .remove_columns = do_remove_columns,
        .add_columns = do_add_columns,
        .add_rows = do_add_rows,
        .remove_rows = do_remove_rows};

/* ---- one change ---- */

struct shape {
	int64_t m, n, k, p;
};

static void check_change(struct executor *e, enum qr_change what, enum q_kept kept,
        enum precision precision, const struct shape *c)
{
	struct scene s =
	        scene_new(e, &calls, precision, kept, c->m, c->n, c->m + c->p, c->n + c->p, 3);
	struct outcome out = change(&s, what, c->k, c->p);
	struct measures found = {.residual = NAN};

	if (out.ran)
		found = measure(&s);
	bool intact = scene_close(&s);
	ok(out.ran && intact && out.info == 0 && good(&found, 30),
	        "%s %c, Q %s, blocks of %" PRId64 "%s: %" PRId64 " at %" PRId64 " of %" PRId64
	        " x %" PRId64 ": residual %.2g, orthogonality %.2g, sides %.2g, R %.2g",
	        qr_change_name[what], precision, q_kept_name[kept], how.nb,
	        how.whole ? ", whole" : "", c->p, c->k, c->m, c->n, found.residual,
	        found.orthogonality, found.sides, found.fresh);
	if (!found.zeros || out.info || !intact)
		diag("zeros below %d, info %d, margins %d", found.zeros, out.info, intact);
}

/* First, last, in the middle; one, all but one; square and tall; a block, its neighbours, several.
 */
static const struct shape columns_removed[] = {{2, 2, 0, 1}, {5, 3, 1, 1}, {40, 40, 0, 39},
        {150, 130, 0, 1}, {150, 130, 129, 1}, {150, 130, 3, 70}, {200, 193, 0, 65},
        {300, 201, 100, 7}};
static const struct shape columns_added[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 0, 20},
        {40, 1, 0, 30}, {150, 100, 0, 1}, {150, 100, 100, 50}, {150, 100, 37, 9},
        {300, 129, 65, 150}};
static const struct shape rows_removed[] = {{2, 1, 0, 1}, {2, 1, 1, 1}, {40, 20, 20, 20},
        {40, 20, 13, 7}, {150, 100, 0, 1}, {150, 100, 149, 1}, {150, 100, 10, 9},
        {300, 129, 65, 130}};
static const struct shape rows_added[] = {{1, 1, 0, 1}, {3, 3, 3, 5}, {40, 20, 7, 300},
        {150, 100, 0, 1}, {150, 100, 150, 64}, {300, 129, 50, 33}};

static const struct {
	const struct shape *shapes;
	size_t count;
} changes[QR_MODIFY] = {[QR_REMOVE_COLUMNS] = {columns_removed, ARRAY_LEN(columns_removed)},
        [QR_ADD_COLUMNS] = {columns_added, ARRAY_LEN(columns_added)},
        [QR_ADD_ROWS] = {rows_added, ARRAY_LEN(rows_added)},
        [QR_REMOVE_ROWS] = {rows_removed, ARRAY_LEN(rows_removed)}};

static bool rotates(enum qr_change what)
{
	return what == QR_ADD_COLUMNS || what == QR_REMOVE_ROWS;
}

static void test_changes(struct executor *e)
{
	for (int what = 0; what < QR_MODIFY; what++)
		for (int kept = rotates((enum qr_change)what) ? Q_FULL : Q_NONE; kept <= Q_FULL;
		        kept++)
			for (size_t i = 0; i < changes[what].count; i++) {
				check_change(e, (enum qr_change)what, (enum q_kept)kept, SINGLE,
				        &changes[what].shapes[i]);
				check_change(e, (enum qr_change)what, (enum q_kept)kept, DOUBLE,
				        &changes[what].shapes[i]);
			}
}

static void test(struct executor *e)
{
	static const int64_t widths[] = {0, 1, 32, 1000};

	for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
		how = (struct qr_paper){.nb = widths[w]};
		test_changes(e);
	}
	how = (struct qr_paper){.whole = true};
	test_changes(e);
}

int main(void)
{
	return test_on_executors(test);
}
