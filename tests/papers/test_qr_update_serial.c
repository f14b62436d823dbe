/* SPDX-License-Identifier: MIT */
/* The changes of a QR factorization by qrupdate and by LAPACK on the host: residual, orthogonality,
 * right-hand sides, R against a fresh R, rows and columns at every end; refused calls. */
#include "tests/algorithms/update_fixture.h"

#include "factor/papers/qr_update_serial.h"

static enum serial_library library;

static int64_t work(
        struct executor *e, const struct qr_factors *f, enum qr_change change, int64_t p)
{
	return qr_serial_work(e, f, change, p, library);
}

static bool run(struct executor *e, struct qr_factors *f, enum qr_change change, int64_t k,
        int64_t p, struct matrix u, struct matrix v, struct matrix b, void *room, int *info)
{
	(void)v;
	return qr_serial_change(e, f, change, k, p, u, b, room, info, library);
}

static const struct update_calls calls = {work, run};

/* First, last, middle; one, all but one; square and tall; more than a block. */
static const struct {
	enum qr_change change;
	enum q_kept kept;
	struct shape shape;
} cases[] = {{QR_REMOVE_COLUMNS, Q_NONE, {2, 2, 0, 1}},
        {QR_REMOVE_COLUMNS, Q_NONE, {40, 40, 0, 39}},
        {QR_REMOVE_COLUMNS, Q_NONE, {150, 130, 129, 1}},
        {QR_REMOVE_COLUMNS, Q_NONE, {150, 130, 3, 70}}, {QR_ADD_ROWS, Q_NONE, {1, 1, 0, 1}},
        {QR_ADD_ROWS, Q_NONE, {40, 20, 7, 300}}, {QR_ADD_ROWS, Q_NONE, {150, 100, 150, 64}},
        {QR_ADD_COLUMNS, Q_FULL, {2, 1, 0, 1}}, {QR_ADD_COLUMNS, Q_FULL, {40, 20, 0, 20}},
        {QR_ADD_COLUMNS, Q_FULL, {150, 100, 100, 50}}, {QR_ADD_COLUMNS, Q_FULL, {150, 100, 37, 9}},
        {QR_REMOVE_ROWS, Q_FULL, {2, 1, 1, 1}}, {QR_REMOVE_ROWS, Q_FULL, {40, 20, 20, 20}},
        {QR_REMOVE_ROWS, Q_FULL, {150, 100, 149, 1}}, {QR_REMOVE_ROWS, Q_FULL, {150, 100, 10, 9}}};

static void test_changes(struct executor *e)
{
	char text[40];

	snprintf(text, sizeof text, ", %s", serial_library_name[library]);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_change(
		        e, &calls, cases[i].change, cases[i].kept, SINGLE, &cases[i].shape, text);
}

static void test_refused(struct executor *e)
{
	static const struct {
		enum qr_change change;
		enum q_kept kept;
		enum precision precision;
		const char *word;
	} refused[] = {{QR_ADD_COLUMNS, Q_NONE, SINGLE, "Q"},
	        {QR_REMOVE_ROWS, Q_THIN, SINGLE, "with all of Q"},
	        {QR_ADD_ROWS, Q_FULL, SINGLE, "without Q"},
	        {QR_MODIFY, Q_FULL, SINGLE, "has no modify"},
	        {QR_ADD_ROWS, Q_NONE, DOUBLE, "single precision"}};

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct matrix room = {NULL, 0, 20, 20, 20, refused[i].precision};
		struct qr_factors f = {
		        .m = 9, .n = 5, .kept = refused[i].kept, .q = room, .r = room};
		e->fault = (struct fault){.text = ""};
		ok(work(e, &f, refused[i].change, 1) == -1 &&
		                strstr(e->fault.text, refused[i].word),
		        "refused: %s", e->fault.text);
	}
}

int main(void)
{
	struct fault fault = {.text = ""};
	struct executor *e = executor_host_new(&fault);

	library = SERIAL_LAPACK;
	test_changes(e);
	test_refused(e);
	library = SERIAL_QRUPDATE;
	struct matrix room = {NULL, 0, 9, 9, 9, SINGLE};
	const struct qr_factors f = {.m = 9, .n = 5, .r = room};
	if (work(e, &f, QR_ADD_ROWS, 1) < 0)
		skip("changes by qrupdate", e->fault.text);
	else
		test_changes(e);
	executor_free(e);
	return finish();
}
