/* SPDX-License-Identifier: MIT */
#include "request.h"

#include "clients.h"
#include "device.h"

#include <inttypes.h>
#include <stdio.h>

/* fathom's workspaces begin at multiples of that; cuSOLVER's clients promise nothing. */
enum { ALIGNMENT = 256, SHAPE_BYTES = 160, LITTLE = 1 << 26 };

/* libfathom's function of the request's precision. */
#define FATHOM(c, r, name, ...)                                                                    \
	((r)->precision == SINGLE ? (c)->libfathom->s##name((c)->fathom, __VA_ARGS__)              \
	                          : (c)->libfathom->d##name((c)->fathom, __VA_ARGS__))

/* ---- words ---- */

char letter_of_trans(cublasOperation_t trans)
{
	switch (trans) {
	case CUBLAS_OP_N:
		return 'N';
	case CUBLAS_OP_T:
		return 'T';
	case CUBLAS_OP_C:
		return 'C';
	default:
		return 0;
	}
}

char letter_of_uplo(cublasFillMode_t uplo)
{
	return uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 0;
}

char letter_of_side(cublasSideMode_t side)
{
	return side == CUBLAS_SIDE_LEFT ? 'L' : side == CUBLAS_SIDE_RIGHT ? 'R' : 0;
}

static void describe(const struct request *r, char shape[SHAPE_BYTES])
{
	int length = snprintf(shape, SHAPE_BYTES, "%" PRId64 " x %" PRId64, r->m, r->n);

	if (r->operation == ORGQR || r->operation == ORMQR)
		length += snprintf(
		        shape + length, SHAPE_BYTES - (size_t)length, ", k %" PRId64, r->k);
	const struct {
		const char *name;
		char letter;
	} letters[] = {{"side", r->side}, {"trans", r->trans}, {"uplo", r->uplo}};
	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (letters[i].letter)
			length += snprintf(shape + length, SHAPE_BYTES - (size_t)length, ", %s %c",
			        letters[i].name, letters[i].letter);
	snprintf(shape + length, SHAPE_BYTES - (size_t)length, ", ld %" PRId64, r->lda);
}

/* ---- which requests libfathom answers ---- */

static bool solves(const struct request *r)
{
	return r->operation == GETRS || r->operation == POTRS;
}

/* Why not; NULL: it does. libfathom itself refuses sizes and leading dimensions that are wrong. */
static const char *refusal_of_kind(const struct request *r)
{
	if (!r->precision)
		return "its types are not all float or all double";
	if (r->m < 1 || r->n < 1)
		return "the matrix is empty";
	if (r->operation == ORMQR && (!r->side || (r->trans != 'N' && r->trans != 'T')))
		return "side or trans is not one of cuSOLVER's for real matrices";
	if (r->operation == GETRS && !r->trans)
		return "trans is unknown";
	if ((r->operation == POTRF || r->operation == POTRS) && !r->uplo)
		return "uplo is unknown";
	return NULL;
}

static const char *refusal_of_call(const struct request *r)
{
	if (!r->info)
		return "devInfo is NULL";
	if (r->operation == GETRF && !r->pivots_out)
		return "devIpiv is NULL: LU without pivoting";
	if (r->operation == GETRS && !r->pivots)
		return "devIpiv is NULL: factors without pivoting";
	if (!solves(r) && r->work_bytes < 0)
		return "no bufferSize for these sizes is known";
	return refusal_of_kind(r);
}

/* ---- the workspace ---- */

static int64_t aligned(int64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Before libfathom's own workspace: pivots of 32 bits. */
static int64_t pivot_bytes(const struct request *r)
{
	return r->operation == GETRF && r->wide
	               ? aligned(min_int64(r->m, r->n) * (int64_t)sizeof(int))
	               : 0;
}

static int64_t inner_bytes(const struct client *c, const struct request *r)
{
	switch (r->operation) {
	case GETRF:
		return FATHOM(c, r, getrf_work, r->m, r->n, r->lda);
	case GEQRF:
		return FATHOM(c, r, geqrf_work, r->m, r->n, r->lda);
	case ORGQR:
		return FATHOM(c, r, orgqr_work, r->m, r->n, r->k, r->lda);
	case ORMQR:
		return FATHOM(
		        c, r, ormqr_work, r->side, r->trans, r->m, r->n, r->k, r->ldf, r->lda);
	case POTRF:
		return FATHOM(c, r, potrf_work, r->uplo, r->n, r->lda);
	case GETRS:
	case POTRS:
		break;
	}
	return 0;
}

/* -1: libfathom refuses. The client's workspace may begin anywhere: the alignment is added. */
static int64_t needed_bytes(const struct client *c, const struct request *r)
{
	int64_t inner = inner_bytes(c, r), all = inner + pivot_bytes(r);

	return inner < 0 ? -1 : all > 0 ? all + ALIGNMENT - 1 : 0;
}

/* A question about free memory takes time, and is not put for little. */
static bool has_room(int64_t bytes)
{
	return bytes < LITTLE || bytes <= device_free_bytes();
}

int64_t request_bytes(const struct request *r, int64_t own)
{
	char why[REASON_BYTES], shape[SHAPE_BYTES];
	struct client c;

	if (client_mode() == MODE_OFF || refusal_of_kind(r) ||
	        !client_enter(r->handle, FOR_QUERY, &c, why))
		return own;
	int64_t bytes = needed_bytes(&c, r);
	client_leave(&c);
	describe(r, shape);
	const bool room = bytes <= own || has_room(bytes);
	say_verbose("%s_bufferSize %s: cuSOLVER wants %" PRId64 " bytes, libfathom %" PRId64 "%s",
	        call_name(r->call), shape, own, max_int64(bytes, 0),
	        room ? "" : ", which are not free: the call will be passed on");
	return room ? max_int64(bytes, own) : own;
}

/* ---- the call ---- */

struct spaces {
	int *pivots;
	void *inner;
	int64_t inner_bytes;
};

/* A call that needs no workspace may come with one that ends before its first aligned byte. It
 * counts as none. */
static struct spaces split(const struct request *r)
{
	uintptr_t begin = (uintptr_t)r->work, first = (uintptr_t)aligned((int64_t)begin);
	int64_t before = (int64_t)(first - begin) + pivot_bytes(r);
	const bool none = r->work_bytes <= before;

	return (struct spaces){r->wide ? (int *)first : r->pivots_out,
	        none ? NULL : (void *)(first + (uintptr_t)pivot_bytes(r)),
	        none ? 0 : r->work_bytes - before};
}

static enum fathom_status factorize_lu(struct client *c, const struct request *r)
{
	struct spaces s = split(r);
	enum fathom_status status = FATHOM(
	        c, r, getrf, r->m, r->n, r->a, r->lda, s.pivots, s.inner, s.inner_bytes, r->info);

	if (status == FATHOM_OK && r->wide &&
	        !device_widen(s.pivots, min_int64(r->m, r->n), r->pivots_out, c->stream))
		return FATHOM_FAILED;
	return status;
}

static enum fathom_status solve_lu(
        struct client *c, const struct request *r, char why[REASON_BYTES])
{
	const int *pivots = r->pivots;

	if (r->wide) {
		int *narrow = client_pivots(c, r->m);
		if (!narrow || !device_narrow(r->pivots, r->m, narrow, c->stream)) {
			snprintf(why, REASON_BYTES, "no device memory for pivots");
			return FATHOM_NOT_POSSIBLE;
		}
		pivots = narrow;
	}
	return FATHOM(c, r, getrs, r->trans, r->m, r->n, r->factors, r->ldf, pivots, r->a, r->lda);
}

static enum fathom_status run(struct client *c, const struct request *r, char why[REASON_BYTES])
{
	struct spaces s = split(r);

	switch (r->operation) {
	case GETRF:
		return factorize_lu(c, r);
	case GETRS:
		return solve_lu(c, r, why);
	case GEQRF:
		return FATHOM(
		        c, r, geqrf, r->m, r->n, r->a, r->lda, r->tau_out, s.inner, s.inner_bytes);
	case ORGQR:
		return FATHOM(c, r, orgqr, r->m, r->n, r->k, r->a, r->lda, r->tau, s.inner,
		        s.inner_bytes);
	case ORMQR:
		return FATHOM(c, r, ormqr, r->side, r->trans, r->m, r->n, r->k, r->factors, r->ldf,
		        r->tau, r->a, r->lda, s.inner, s.inner_bytes);
	case POTRF:
		return FATHOM(
		        c, r, potrf, r->uplo, r->n, r->a, r->lda, s.inner, s.inner_bytes, r->info);
	case POTRS:
		return FATHOM(c, r, potrs, r->uplo, r->m, r->n, r->factors, r->ldf, r->a, r->lda);
	}
	return FATHOM_BAD_ARGUMENT;
}

/* libfathom has info for LU and Cholesky alone; other calls of cuSOLVER report that their arguments
 * were right. */
static bool has_info(const struct request *r)
{
	return r->operation == GETRF || r->operation == POTRF;
}

static enum fathom_status attempt(struct client *c, const struct request *r, char why[REASON_BYTES])
{
	int64_t needed = needed_bytes(c, r);

	if (needed > 0 && (r->work_bytes < needed || !r->work)) {
		snprintf(why, REASON_BYTES,
		        "its workspace has %" PRId64 " bytes and %" PRId64 " are needed",
		        r->work ? r->work_bytes : 0, needed);
		return FATHOM_NOT_POSSIBLE;
	}
	enum fathom_status status = needed < 0 ? FATHOM_BAD_ARGUMENT : run(c, r, why);
	if (status != FATHOM_OK && !*why)
		snprintf(why, REASON_BYTES, "%s", c->libfathom->error(c->fathom));
	if (status == FATHOM_OK && !has_info(r) && !device_zero(r->info, c->stream)) {
		snprintf(why, REASON_BYTES, "CUDA cannot set devInfo");
		return FATHOM_FAILED;
	}
	return status;
}

bool request_answer(struct request *r)
{
	enum fathom_status status = FATHOM_NOT_POSSIBLE;
	char why[REASON_BYTES] = "", shape[SHAPE_BYTES];
	const char *refusal =
	        client_mode() == MODE_OFF ? "FATHOM_CUSOLVER=off" : refusal_of_call(r);
	struct client c;

	describe(r, shape);
	if (refusal) {
		report_passed(r->call, shape, refusal);
		return false;
	}
	if (client_enter(r->handle, FOR_CALL, &c, why)) {
		status = attempt(&c, r, why);
		client_leave(&c);
	}
	if (status == FATHOM_OK || status == FATHOM_FAILED) {
		r->status = status == FATHOM_OK ? CUSOLVER_STATUS_SUCCESS
		                                : CUSOLVER_STATUS_EXECUTION_FAILED;
		report_answered(r->call, shape);
		if (status == FATHOM_FAILED)
			say("%s %s failed: %s", call_name(r->call), shape, why);
		return true;
	}
	report_passed(r->call, shape, why);
	return false;
}
