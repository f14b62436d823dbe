/* SPDX-License-Identifier: MIT */
/* A call of cuSOLVER in libfathom's terms. */
#pragma once

#include "cusolver_calls.h"
#include "report.h"

#include "lib/base/precision.h"

enum operation { GETRF, GETRS, GEQRF, ORGQR, ORMQR, POTRF, POTRS };

struct request {
	enum client_call call;
	enum operation operation;
	enum precision precision; /* 0: not a real type, or unlike types */
	cusolverDnHandle_t handle;
	char side, trans, uplo; /* LAPACK's letters; 0: an unknown value */
	int64_t m, n, k;        /* of getrs and potrs: of B */
	void *a;                /* what the call overwrites: A, B of solves, C of ormqr */
	int64_t lda;
	const void *factors; /* what it only reads: factors, reflectors */
	int64_t ldf;
	void *tau_out;   /* of geqrf */
	const void *tau; /* of orgqr and ormqr */
	void *pivots_out;
	const void *pivots;
	bool wide; /* pivots of 64 bits */
	void *work;
	int64_t work_bytes; /* -1: the call does not say it */
	int *info;
	cusolverStatus_t status; /* of an answered call */
};

/* The bytes of a workspace that does for the call, whoever answers it; own: those that cuSOLVER
 * wants. They are cuSOLVER's alone where libfathom does not answer such calls, or wants more than
 * is free: a client must not run out of memory for it. */
int64_t request_bytes(const struct request *, int64_t own);

/* True: libfathom has answered the call, with this status. False: nothing has happened, and the
 * call has to be passed on. */
bool request_answer(struct request *);

/* cuSOLVER's words for LAPACK's letters. */
char letter_of_trans(cublasOperation_t trans);
char letter_of_uplo(cublasFillMode_t uplo);
char letter_of_side(cublasSideMode_t side);
