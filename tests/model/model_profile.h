/* SPDX-License-Identifier: MIT */
/* A small synthetic profile whose sums can be done by hand. */
#ifndef FATHOM_TESTS_MODEL_PROFILE_H
#define FATHOM_TESTS_MODEL_PROFILE_H

#include "lib/profile/profile_row.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* All traffic curves are lines through their rows: 1 us at 4 KiB and 1 TB/s from there on, so that
 * traffic(bytes) at a row is (bytes - 4096) / 1e12. */
static const double curve_bytes[] = {4096, 65536, 1048576, 16777216, 268435456, 4294967296};
static const double link_bytes[] = {4, 64, 1024, 16384, 262144, 4194304, 67108864};
static const double surface_m[] = {64, 256, 1024, 4096, 16384, 65536};
static const double surface_n[] = {32, 64, 128};

static const char *const surfaces[] = {"host.getrf", "host.geqrf", "host.gemm", "gpu.panel",
        "gpu.gemm", "gpu.trsm", "gpu.syrk", "gpu.gemv"};

static inline void add(struct profile *p, const char *name, const char *unit,
        const struct arg *args, size_t count, double value, double half)
{
	struct parameter_spec spec = {.name = name, .unit = unit, .method = "synthetic"};
	struct estimate estimate = {value, value * (1 - half), value * (1 + half), 30};

	for (size_t i = 0; i < ARRAY_LEN(surfaces); i++)
		if (strncmp(name, surfaces[i], strlen(surfaces[i])) == 0)
			spec.regime = "surface";
	profile_add(p, &spec, args, count, estimate, false);
}

/* A row of seconds as a profile writes it: "gpu.gemm.s[m=64,n=64,k=64]". */
PRINTF_LIKE(3, 4)
static inline void add_row(struct profile *p, double seconds, const char *format, ...)
{
	struct parameter row = {0};
	struct arg args[PROFILE_ARGS];
	char text[128];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	profile_parse_name(text, &row);
	for (size_t i = 0; i < row.arg_count; i++)
		args[i] = (struct arg){row.arg_name[i], row.arg[i]};
	add(p, row.name, "s", args, row.arg_count, seconds, 0);
}

static inline void add_curve(struct profile *p, const char *name, const double *bytes, size_t count,
        double alpha, double beta, double half)
{
	for (size_t i = 0; i < count; i++)
		add(p, name, "s", &(struct arg){"bytes", bytes[i]}, 1,
		        alpha + (bytes[i] - bytes[0]) / beta, half);
}

/* Constants in microseconds; `half` is the relative half-width of every interval. */
static inline void add_gpu(struct profile *p, double half)
{
	static const struct {
		const char *name;
		double us;
	} scalars[] = {{"gpu.launch.enqueue", 2}, {"gpu.launch.dependent", 1},
	        {"gpu.launch.sync", 8}, {"gpu.event.record", 0.125},
	        {"gpu.launch.enqueue_cooperative", 4}, {"gpu.launch.cooperative", 3},
	        {"gpu.launch.stream", 2.5}, {"gpu.copy.enqueue", 3}, {"gpu.cublas.level1", 2.5},
	        {"gpu.cublas.level1_device", 1.5}, {"gpu.cublas.swap", 2.25},
	        {"gpu.cublas.swap_device", 1.25}, {"gpu.cublas.level2", 2.75},
	        {"gpu.cublas.level2_device", 1.75}, {"gpu.cublas.iamax", 15},
	        {"gpu.l2.latency", 0.25}, {"gpu.copy.sync", 16}};
	static const double blocks[] = {1, 8, 128}, words[] = {1, 32, 512};

	for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
		add(p, scalars[i].name, "s", NULL, 0, scalars[i].us * 1e-6, half);
	add_curve(p, "gpu.copy.time", curve_bytes, ARRAY_LEN(curve_bytes), 1e-6, 1e12, half);
	add_curve(p, "gpu.read.time", curve_bytes, ARRAY_LEN(curve_bytes), 1e-6, 1e12, half);
	add_curve(p, "gpu.write.time", curve_bytes, ARRAY_LEN(curve_bytes), 1e-6, 1e12, half);
	add(p, "gpu.copy.beta", "B/s", NULL, 0, 1e12, half);
	add(p, "gpu.l2.copy", "B/s", NULL, 0, 2e12, half);
	add(p, "gpu.dram.copy", "B/s", NULL, 0, 1e12, half);
	add(p, "gpu.l2.stated", "B", NULL, 0, 50e6, 0);
	add(p, "gpu.sm.count", "count", NULL, 0, 100, 0);
	add(p, "gpu.shared.per_block", "B", NULL, 0, 232448, 0);
	for (size_t i = 0; i < ARRAY_LEN(surface_n); i++) {
		struct arg two[] = {{"m", 4}, {"n", surface_n[i] / 32}};
		add(p, "gpu.panel.step.s", "s", two, 2, 3e-6, half);
		add(p, "gpu.panel.step.d", "s", two, 2, 3e-6, half);
		add(p, "gpu.panel.pivot.s", "s", two, 2, 1.875e-6, half);
		add(p, "gpu.panel.pivot.d", "s", two, 2, 1.875e-6, half);
		add(p, "gpu.panel.twice.s", "s", &two[1], 1, 2.25e-6, half);
		add(p, "gpu.panel.twice.d", "s", &two[1], 1, 2.25e-6, half);
	}
	add(p, "gpu.shared.update", "B/s", &(struct arg){"threads", 256}, 1, 100e9, half);
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		struct arg args[] = {{"blocks", blocks[i]}, {"threads", 256}};
		add(p, "gpu.barrier.grid", "s", args, 2, 1e-6, half);
		for (size_t k = 0; k < ARRAY_LEN(words); k++) {
			struct arg both[] = {{"blocks", blocks[i]}, {"words", words[k]}};
			struct arg column[] = {{"blocks", blocks[i]}, {"n", words[k]}};
			add(p, "gpu.exchange.grid", "s", both, 2, 1.5e-6, half);
			add(p, "gpu.panel.column.s", "s", column, 2, 1.75e-6, half);
			add(p, "gpu.panel.column.d", "s", column, 2, 1.75e-6, half);
		}
	}
	add_curve(p, "link.d2h.pinned.time", link_bytes, ARRAY_LEN(link_bytes), 10e-6, 50e9, half);
	add_curve(p, "link.h2d.pinned.time", link_bytes, ARRAY_LEN(link_bytes), 12e-6, 50e9, half);
	for (int out = 0; out < 2; out++) {
		add(p, out ? "link.d2h.pinned.alpha" : "link.h2d.pinned.alpha", "s", NULL, 0, 10e-6,
		        half);
		add(p, out ? "link.d2h.pinned.beta" : "link.h2d.pinned.beta", "B/s", NULL, 0, 50e9,
		        half);
	}
}

static inline void add_host(struct profile *p, double half)
{
	for (size_t i = 0; i < ARRAY_LEN(curve_bytes); i++) {
		struct arg args[] = {{"threads", 1}, {"bytes", curve_bytes[i]}};
		add(p, "host.memory.read", "B/s", args, 2, 10e9, half);
		add(p, "host.memory.copy", "B/s", args, 2, 20e9, half);
	}
	add(p, "host.memory.copy.peak", "B/s", NULL, 0, 40e9, half);
	add(p, "host.l2.size", "B", NULL, 0, 2e6, 0);
	/* a nanosecond an element */
	for (int i = 0; i < 4; i++) {
		struct arg args[] = {{"m", i % 2 ? 65536 : 1}, {"n", i / 2 ? 128 : 1}};
		add(p, "host.iamax.s", "s", args, 2, args[0].value * 1e-9, half);
		add(p, "host.scal.s", "s", args, 2, args[0].value * 1e-9, half);
		add(p, "host.swap.s", "s", args, 2, args[1].value * 1e-9, half);
		add(p, "host.ger.s", "s", args, 2, args[0].value * args[1].value * 1e-9, half);
	}
	for (size_t i = 0; i < ARRAY_LEN(surface_m); i++)
		for (size_t k = 0; k < ARRAY_LEN(surface_n); k++) {
			double m = surface_m[i], n = surface_n[k];
			struct arg args[] = {{"m", m}, {"n", n}};
			add(p, "host.getrf.s", "s", args, 2, m * n * n / 1e10, half);
			add(p, "host.getrf.d", "s", args, 2, m * n * n / 5e9, half);
		}
}

/* What blocked factorizations need on top. Ten operations a picosecond, ten numbers from anywhere a
 * picosecond, and powers of the arguments, between whose rows interpolation is exact. */
static inline void add_surfaces(struct profile *p, const char *precision, double half)
{
	static const double sides[] = {32, 128, 512, 2048, 8192}, inner[] = {32, 128, 512};
	char name[64];

	for (size_t i = 0; i < ARRAY_LEN(sides); i++)
		for (size_t j = 0; j < ARRAY_LEN(sides); j++) {
			double m = sides[i], n = sides[j];
			struct arg mn[] = {{"m", m}, {"n", n}, {"k", 0}},
			           nk[] = {{"n", m}, {"k", n}};
			snprintf(name, sizeof name, "gpu.trsm.%s", precision);
			add(p, name, "s", mn, 2, m * m * n / 1e13, half);
			snprintf(name, sizeof name, "gpu.syrk.%s", precision);
			add(p, name, "s", nk, 2, m * m * n / 1e13, half);
			for (size_t k = 0; k < ARRAY_LEN(inner); k++) {
				mn[2].value = inner[k];
				snprintf(name, sizeof name, "gpu.gemm.%s", precision);
				add(p, name, "s", mn, 3, 2 * m * n * inner[k] / 1e13, half);
				mn[2].value = 128 * inner[k];
				snprintf(name, sizeof name, "gpu.gemm_tn.%s", precision);
				add(p, name, "s", mn, 3, 256 * m * n * inner[k] / 1e13, half);
			}
			for (int cold = 0; cold < 2; cold++)
				for (int t = 0; t < 2; t++) {
					struct arg args[] = {{"m", m}, {"n", n}, {"cold", cold}};
					snprintf(name, sizeof name, "gpu.gemv.%s.%s", precision,
					        t ? "t" : "n");
					add(p, name, "s", args, 3, (1 + cold) * m * n / 1e13, half);
				}
			snprintf(name, sizeof name, "host.geqrf.%s", precision);
			add(p, name, "s", mn, 2, m * n * n / 1e10, half);
		}
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		snprintf(name, sizeof name, "host.gemm.%s", precision);
		add(p, name, "s", &(struct arg){"n", sides[i]}, 1, pow(sides[i], 3) / 1e11, half);
	}
	snprintf(name, sizeof name, "gpu.gemm.%s.peak", precision);
	add(p, name, "flop/s", NULL, 0, 1e13, half);
	snprintf(name, sizeof name, "gpu.sqrt.%s.latency", precision);
	add(p, name, "s", NULL, 0, 20e-9, half);
	snprintf(name, sizeof name, "gpu.fma.%s.latency", precision);
	add(p, name, "s", NULL, 0, 2e-9, half);
	snprintf(name, sizeof name, "gpu.fma.%s.rate", precision);
	add(p, name, "flop/s", NULL, 0, 4e13, half);
	snprintf(name, sizeof name, "gpu.divide.%s.latency", precision);
	add(p, name, "s", NULL, 0, 30e-9, half);
}

static inline void add_blocks(struct profile *p, double half)
{
	add_surfaces(p, "s", half);
	add_surfaces(p, "d", half);
	add(p, "gpu.barrier.block", "s", &(struct arg){"threads", 256}, 1, 15e-9, half);
	add(p, "gpu.warp.shuffle.issue", "s", NULL, 0, 0.5e-9, half);
	add(p, "gpu.fma.fed.lane", "ratio", &(struct arg){"width", 16}, 1, 0.25, half);
	add(p, "gpu.special.rsqrt.latency", "s", NULL, 0, 20e-9, half);
	add(p, "gpu.warp.shuffle.latency", "s", NULL, 0, 12e-9, half);
	add(p, "gpu.int.logic.latency", "s", NULL, 0, 2e-9, half);
	add(p, "gpu.reduce.max", "s", &(struct arg){"threads", 256}, 1, 0.2e-6, half);
	add(p, "gpu.shared.latency", "s", NULL, 0, 10e-9, half);
	add(p, "gpu.sm.l2_read", "B/s", NULL, 0, 200e9, half);
	for (int i = 0; i < 2; i++) { /* 8 bytes of a copied word in 80 ps */
		struct arg args[] = {{"words", 262144}, {"stride", i ? 512 : 1}};
		add(p, "gpu.copy.stride", "B/s", args, 2, 1e11, half);
	}
	add(p, "gpu.l2.read", "B/s", NULL, 0, 4e13, half); /* as gemv from there */
	add(p, "gpu.l2.sector", "B", NULL, 0, 64, 0);
	add(p, "gpu.concurrent.stream_wait_idle", "s", NULL, 0, 1.75e-6, half);
	add(p, "gpu.concurrent.dependent_idle", "s", NULL, 0, 1.5e-6, half);
}

static inline struct profile *synthetic(double half)
{
	struct profile *p = profile_new();

	add_gpu(p, half);
	add_host(p, half);
	return p;
}

#endif
