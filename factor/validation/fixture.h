/* SPDX-License-Identifier: MIT */
/* What timed problems share: memory of a fixture, test data, single elements and lines. */
#pragma once

#include "check.h"
#include "timing.h"

/* Executor memory of a fixture. False with the executor's fault. */
bool fixture_alloc(struct timing_fixture *fixture, int64_t bytes, void **data);

/* *a becomes a dense m x n matrix with leading dimension ld in such memory. */
bool fixture_matrix(struct timing_fixture *fixture, struct matrix *a, int64_t m, int64_t n,
        int64_t ld, enum precision precision);

/* Releases all of a fixture's memory. */
void fixture_close(struct timing_fixture *fixture);

/* Fills a with `made` random columns, repeated over all its columns. */
bool fixture_fill(struct executor *e, struct matrix a, int64_t made, uint64_t seed);

/* A row or column as doubles, to x. */
bool fixture_line(struct executor *e, struct matrix line, double *x);

/* A number in 0 .. below - 1; advances the state. */
int64_t fixture_random(uint64_t *state, int64_t below);

/* x^T y on the host. */
double fixture_dot(const double *x, const double *y, int64_t m);

/* The residual of a candidate; false with its fault when not below LAPACK's threshold. */
bool fixture_residual(struct candidate *candidate, double residual);

/* Times the candidates if the fixture is open (else lifts the executor's fault), then releases the
 * fixture's memory. */
bool fixture_time(struct timing_fixture *fixture, bool open, struct candidate *candidate,
        size_t count, struct fault *fault);
