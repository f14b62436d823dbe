/* SPDX-License-Identifier: MIT */
/* The calls of gramschmidt and orthogonalize, of both precisions. */
#include "fathom_handle.h"

#include "factor/algorithms/gram_schmidt.h"

#include <inttypes.h>

/* How columns are orthogonalized: all in one call, or in addition to a basis. */
struct gram_call {
	const char *form; /* NULL: orthogonalize */
	struct matrix a, r;
	int64_t basis;
};

static bool call_form_letter(struct fathom *h, char letter, const char **form)
{
	static const struct {
		char letter, lower;
		const char *form;
	} known[] = {{'M', 'm', "fused"}, {'B', 'b', "block"}, {'R', 'r', "twice"}};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (letter == known[i].letter || letter == known[i].lower) {
			*form = known[i].form;
			return true;
		}
	return call_refuse(h, "form '%.1s': M, B and R are possible", &letter);
}

static int64_t gram_set_up(struct fathom *h, const struct gram_call *c)
{
	if (!call_shape(h, "A", c->a) || !call_shape(h, "R", c->r) || !call_enter(h))
		return -1;
	int64_t bytes = c->form ? gram_schmidt_work(h->e, c->form, GRAM_SCHMIDT_BLOCK, c->a)
	                        : orthogonalize_work(h->e, GRAM_SCHMIDT_BLOCK, c->a, c->basis);
	call_leave(h);
	return bytes;
}

static enum fathom_status gram_run(
        struct fathom *h, const struct gram_call *c, void *work, int64_t work_bytes, int *info)
{
	enum fathom_status status;

	if (!call_work(h, work, work_bytes, gram_set_up(h, c)) ||
	        !call_matrix_given(h, "A", c->a) || !call_matrix_given(h, "R", c->r) ||
	        !call_given(h, "info", info, 1))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(
	        h, c->form ? gram_schmidt(h->e, c->form, GRAM_SCHMIDT_BLOCK, c->a, c->r, work, info)
	                   : orthogonalize(
	                             h->e, GRAM_SCHMIDT_BLOCK, c->a, c->basis, c->r, work, info));
}

int64_t call_gram_schmidt_work(struct fathom *h, char form, struct matrix a, struct matrix r)
{
	struct gram_call c = {.a = a, .r = r};

	return h && call_form_letter(h, form, &c.form) ? gram_set_up(h, &c) : -1;
}

enum fathom_status call_gram_schmidt(struct fathom *h, char form, struct matrix a, struct matrix r,
        void *work, int64_t work_bytes, int *info)
{
	struct gram_call c = {.a = a, .r = r};

	return h && call_form_letter(h, form, &c.form) ? gram_run(h, &c, work, work_bytes, info)
	                                               : FATHOM_BAD_ARGUMENT;
}

/* Of n new columns a and r (n x n) the whole matrices. */
static bool call_basis(
        struct fathom *h, struct gram_call *c, int64_t basis, struct matrix a, struct matrix r)
{
	if (basis < 0 || basis > INT32_MAX || a.n < 0 || a.n > INT32_MAX)
		return call_refuse(
		        h, "%" PRId64 " columns added to %" PRId64 ": not possible", a.n, basis);
	a.n += basis;
	r.m += basis;
	*c = (struct gram_call){.a = a, .r = r, .basis = basis};
	return true;
}

int64_t call_orthogonalize_work(struct fathom *h, int64_t basis, struct matrix a, struct matrix r)
{
	struct gram_call c;

	return h && call_basis(h, &c, basis, a, r) ? gram_set_up(h, &c) : -1;
}

enum fathom_status call_orthogonalize(struct fathom *h, int64_t basis, struct matrix a,
        struct matrix r, void *work, int64_t work_bytes, int *info)
{
	struct gram_call c;

	return h && call_basis(h, &c, basis, a, r) ? gram_run(h, &c, work, work_bytes, info)
	                                           : FATHOM_BAD_ARGUMENT;
}
