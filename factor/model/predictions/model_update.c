/* SPDX-License-Identifier: MIT */
#include "model_update.h"

#include "lib/base/msg.h"
#include "factor/algorithms/schedule.h"
#include "factor/algorithms/host_transfer.h"
#include "model_question.h"

struct matrix model_shape_of(int64_t m, int64_t n, enum precision precision)
{
	return (struct matrix){NULL, 0, m, n, max_int64(m, 1), precision};
}

/* ---- the change ---- */

struct qr_factors model_update_factors(const struct update_question *q)
{
	struct qr_factors f = {.m = q->m, .n = q->n, .kept = q->kept};
	struct qr_room room = qr_update_room(&f, q->change, q->p);

	f.q = model_shape_of(room.q_rows, room.q_columns, q->precision);
	f.r = model_shape_of(room.r_rows, room.r_columns, q->precision);
	f.d = model_shape_of(room.d_rows, q->sides, q->precision);
	return f;
}

static struct update_given given_of(const struct update_question *q)
{
	struct matrix any = model_shape_of(0, 0, q->precision);
	struct update_given given = update_given_view(q, any, any);

	return (struct update_given){model_shape_of(given.u.m, given.u.n, q->precision),
	        model_shape_of(given.b.m, given.b.n, q->precision)};
}

static bool change(struct executor *e, const struct update_question *q, struct qr_factors *f)
{
	const struct update_given given = given_of(q);

	return qr_update(e, f, q->change, q->k, q->p, given.u,
	        model_shape_of(q->n, q->p, q->precision), given.b, NULL, NULL);
}

static bool solve(struct executor *e, const struct qr_factors *f)
{
	return f->d.n == 0 || qr_solve(e, f, model_shape_of(f->n, f->d.n, f->r.precision));
}

static bool run_update(struct executor *e, const void *context)
{
	const struct update_question *q = context;
	struct qr_factors f = model_update_factors(q);

	return (!q->from_host || update_to_device(e, q, &f, &f, given_of(q), given_of(q))) &&
	       change(e, q, &f) && solve(e, &f);
}

/* ---- a new factorization ---- */

static bool run_refactor(struct executor *e, const void *context)
{
	const struct update_question *q = context;
	struct qr_factors f = model_update_factors(q);

	update_shape_after(q, &f.m, &f.n);
	struct matrix a = model_shape_of(f.m, f.n, q->precision);
	struct matrix b = model_shape_of(f.m, q->sides, q->precision);

	return (!q->from_host || (matrix_to_device(e, WHOLE, 1, a, a) &&
	                                 matrix_to_device(e, WHOLE, 1, b, b))) &&
	       qr_refactor(e, &f, a, b, NULL) && solve(e, &f);
}

/* ---- both ---- */

struct executor *model_update_executor(const struct profile *profile, enum model_target target,
        const struct update_question *asked)
{
	const struct qr_factors f = model_update_factors(asked);

	return prediction_executor(profile, target, 2,
	        (f.r.m * f.r.n + f.q.m * f.q.n) * precision_bytes(asked->precision));
}

static bool predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, bool (*run)(struct executor *, const void *),
        struct prediction *out)
{
	struct executor *e = model_update_executor(profile, target, asked);

	return prediction_make(&(struct asking){{e, run, asked}, 2, false, false, 1, NULL, NULL,
	                               ", which the cost needs"},
	        out);
}

bool model_update_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out)
{
	return predict(profile, target, asked, run_update, out);
}

bool model_refactor_predict(const struct profile *profile, enum model_target target,
        const struct update_question *asked, struct prediction *out)
{
	return predict(profile, target, asked, run_refactor, out);
}
