/* SPDX-License-Identifier: MIT */
/* The calls of fathom_mg.h in one precision. Included once with REAL float and once with REAL
 * double; PRECISION says the same and NAME(x) gives the name. */

#define CALL(...)                                                                                  \
	(&(struct mg_call){.group = group,                                                         \
	        .precision = PRECISION,                                                            \
	        .desc = desc,                                                                      \
	        .a = (void *const *)a,                                                             \
	        __VA_ARGS__})

enum fathom_status NAME(scatter)(struct fathom_mg *group, const REAL *host, int64_t ldh,
        const struct fathom_mg_matrix *desc, REAL *const a[])
{
	return call_copy(CALL(.host = (void *)(uintptr_t)host, .ld_host = ldh, .run = run_scatter));
}

enum fathom_status NAME(gather)(struct fathom_mg *group, const struct fathom_mg_matrix *desc,
        REAL *const a[], REAL *host, int64_t ldh)
{
	return call_copy(CALL(.host = host, .ld_host = ldh, .run = run_gather));
}

enum fathom_status NAME(getrf)(struct fathom_mg *group, const struct fathom_mg_matrix *desc,
        REAL *const a[], int *ipiv, int *info)
{
	if (!mg_given(group, "ipiv", ipiv) || !mg_given(group, "info", info))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(CALL(.ipiv = ipiv, .info = info, .bytes = lu_bytes, .run = run_lu));
}

enum fathom_status NAME(getrs)(struct fathom_mg *group, char trans,
        const struct fathom_mg_matrix *desc, REAL *const a[], const int *ipiv,
        const struct fathom_mg_matrix *descb, REAL *const b[])
{
	enum trans meant;

	if (!mg_trans(group, trans, &meant) || !mg_given(group, "ipiv", ipiv) ||
	        !mg_given(group, "B's descriptor", descb))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(CALL(.trans = meant, .ipiv = (int *)(uintptr_t)ipiv, .desc_right = descb,
	        .right = (void *const *)b, .bytes = lu_solve_bytes, .run = run_lu_solve));
}

enum fathom_status NAME(potrf)(struct fathom_mg *group, char uplo,
        const struct fathom_mg_matrix *desc, REAL *const a[], int *info)
{
	if (!mg_letter(group, "uplo", uplo, 'L') || !mg_given(group, "info", info))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(CALL(.info = info, .bytes = cholesky_bytes, .run = run_cholesky));
}

enum fathom_status NAME(potrs)(struct fathom_mg *group, char uplo,
        const struct fathom_mg_matrix *desc, REAL *const a[], const struct fathom_mg_matrix *descb,
        REAL *const b[])
{
	if (!mg_letter(group, "uplo", uplo, 'L') || !mg_given(group, "B's descriptor", descb))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(CALL(.desc_right = descb, .right = (void *const *)b,
	        .bytes = cholesky_solve_bytes, .run = run_cholesky_solve));
}

enum fathom_status NAME(geqrf)(struct fathom_mg *group, const struct fathom_mg_matrix *desc,
        REAL *const a[], REAL *const tau[])
{
	if (!mg_given(group, "tau", tau))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(CALL(.tau = (void *const *)tau, .bytes = qr_bytes, .run = run_qr));
}

enum fathom_status NAME(ormqr)(struct fathom_mg *group, char side, char trans,
        const struct fathom_mg_matrix *desc, REAL *const a[], REAL *const tau[],
        const struct fathom_mg_matrix *descc, REAL *const c[])
{
	enum trans meant;

	if (!mg_letter(group, "side", side, 'L') || !mg_trans(group, trans, &meant) ||
	        !mg_given(group, "tau", tau) || !mg_given(group, "C's descriptor", descc))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(CALL(.trans = meant, .tau = (void *const *)tau, .desc_right = descc,
	        .right = (void *const *)c, .bytes = apply_bytes, .run = run_apply));
}

enum fathom_status NAME(gels)(struct fathom_mg *group, char trans,
        const struct fathom_mg_matrix *desc, REAL *const a[], const struct fathom_mg_matrix *descb,
        REAL *const b[])
{
	if (!mg_letter(group, "trans", trans, 'N') || !mg_given(group, "B's descriptor", descb))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(CALL(.desc_right = descb, .right = (void *const *)b,
	        .bytes = least_squares_bytes, .run = run_least_squares));
}

#undef CALL
