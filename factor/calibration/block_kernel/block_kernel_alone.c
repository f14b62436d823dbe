/* SPDX-License-Identifier: MIT */
/* Panels called alone: what the host sees of one call behind other work, less the time of the same
 * call in a row. Before every call other kernels have just written the panel, and the device is
 * idle: the panel's kernel is not at work, and its code is not at hand. Start, notice and all that
 * a first call takes are in the difference; the panel itself is not. The host's clock times each
 * call, so the thread takes a quiet core. */
#include "block_kernel_internal.h"

#include "factor/kernels/lu/panel_kernels.h"
#include "factor/kernels/qr/panel_geqrf.h"
#include "lib/probe/probe_noise.h"

#include <stdlib.h>
#include <string.h>

struct alone {
	struct call *call;
	void (*fill)(const struct call *); /* the other work */
	void (*put)(void *call);
	double in_row; /* seconds of a call */
};

static void fill_new(const struct alone *a)
{
	a->fill(a->call);
	a->call->turn = 0;
	GPU(cudaStreamSynchronize(a->call->bench->rate.stream));
}

static void refresh(void *context)
{
	fill_new(context);
}

static void put(void *context)
{
	const struct alone *a = context;
	a->put(a->call);
}

static bool sample_alone(void *context, struct sample *sample)
{
	const struct alone *a = context;
	fill_new(a);
	const double start = clock_now();
	a->put(a->call);
	GPU(cudaStreamSynchronize(a->call->bench->rate.stream));
	*sample = (struct sample){.seconds = clock_now() - start - a->in_row, .agreed = true};
	return true;
}

static void measure_one(struct alone *a, const char *kind, const struct arg *args, size_t count)
{
	static const struct sample_plan plan = {
	        .max_seconds = 8e-3, .min_samples = 15, .max_samples = 41, .target = 0.01};
	struct blas_rate *rate = &a->call->bench->rate;
	struct measurement measurement;

	if (!blas_rate_wants(rate, kind, a->call->precision, args, count))
		return;
	fill_new(a);
	rate->refresh = refresh;
	a->in_row = blas_rate_in_row(rate, put, a);
	rate->refresh = NULL;
	char *series = xasprintf("%s_%c", kind, a->call->precision);
	if (!probe_noise_sample(rate->run, sample_alone, a, &plan, 0, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	probe_record(rate->run, series, args, count, &measurement);
	free(series);
}

static bool reflects(enum precision precision, int64_t m, int64_t n)
{
	return panel_geqrf_reflects(precision, m, n, false);
}

/* The kernels for 32, 64 and 128 columns, on few rows and on many. */
static void measure_panels(struct call *c, const char *kind, void (*fill)(const struct call *),
        void (*put_panel)(void *), bool (*fits)(enum precision, int64_t, int64_t))
{
	struct alone a = {c, fill, put_panel, 0};

	for (c->m = 512; c->m <= 32768; c->m *= 4)
		for (c->n = 32; c->n <= 128; c->n *= block_kernel_wider(c)) {
			const struct arg args[] = {{"m", (double)c->m}, {"n", (double)c->n}};
			if (fits(c->precision, c->m, c->n))
				measure_one(&a, kind, args, ARRAY_LEN(args));
		}
}

/* More columns than 128 take further kernels. */
static void measure_potrf(struct call *c)
{
	static const int64_t columns[] = {32, 64, 128, 136, 256, BLOCK_POTRF_MAX};
	struct alone a = {c, block_kernel_fill_identity, block_kernel_potrf, 0};

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		c->m = c->n = columns[i];
		measure_one(&a, "alone_potrf", &(struct arg){"n", (double)c->n}, 1);
	}
}

/* A block that is not positive definite, or blocks that gave up waiting, would end calls early. */
static void check(const struct bench *b)
{
	int info;
	GPU(cudaMemcpy(&info, b->info, sizeof info, cudaMemcpyDeviceToHost));
	if (info != 0)
		msg_die(EXIT_MEASURE_FAILED, "a panel called alone failed: info %d", info);
}

bool block_kernel_is_alone(const char *series)
{
	return strncmp(series, "alone_", strlen("alone_")) == 0;
}

void block_kernel_alone(struct bench *bench)
{
	struct blas_rate *rate = &bench->rate;

	probe_noise_take(rate->run, &rate->gpu);
	for (int twice = 0; twice < 2; twice++) {
		struct call c = {.bench = bench, .precision = twice ? DOUBLE : SINGLE};
		measure_potrf(&c);
		measure_panels(&c, "alone_reflectors", block_kernel_fill_panel,
		        block_kernel_reflectors, reflects);
		measure_panels(&c, "alone_cluster", block_kernel_fill_panels, block_kernel_cluster,
		        panel_cluster_fits);
		measure_panels(&c, "alone_grid", block_kernel_fill_panels, block_kernel_grid,
		        panel_grid_fits);
		check(bench);
	}
	probe_noise_leave(rate->run);
}
