/* SPDX-License-Identifier: MIT */
/* A small synthetic profile whose sums can be done by hand. */
#pragma once

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

/* A row as a profile writes it: "gpu.gemm.s[m=64,n=64,k=64]". */
struct written_row {
	const char *name;
	double value;
};

static inline void add_written(struct profile *p, const char *name, double value, double half)
{
	struct parameter row = {0};
	struct arg args[PROFILE_ARGS];
	char text[128];

	snprintf(text, sizeof text, "%s", name);
	profile_parse_name(text, &row);
	for (size_t i = 0; i < row.arg_count; i++)
		args[i] = (struct arg){row.arg_name[i], row.arg[i]};
	add(p, row.name, "1", args, row.arg_count, value, half);
}

static inline void add_written_rows(
        struct profile *p, const struct written_row *row, size_t count, double half)
{
	for (size_t i = 0; i < count; i++)
		add_written(p, row[i].name, row[i].value, half);
}

/* A row without an interval; its name is a format. */
PRINTF_LIKE(3, 4)
static inline void add_row(struct profile *p, double value, const char *format, ...)
{
	char text[128];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	add_written(p, text, value, 0);
}

static inline void add_curve(struct profile *p, const char *name, const double *bytes, size_t count,
        double alpha, double beta, double half)
{
	for (size_t i = 0; i < count; i++)
		add(p, name, "s", &(struct arg){"bytes", bytes[i]}, 1,
		        alpha + (bytes[i] - bytes[0]) / beta, half);
}

/* `half` is the relative half-width of every interval. */
static inline void add_gpu(struct profile *p, double half)
{
	static const struct written_row rows[] = {{"gpu.launch.enqueue", 2e-6},
	        {"gpu.launch.dependent", 1e-6}, {"gpu.launch.sync", 8e-6},
	        {"gpu.event.record", 0.125e-6}, {"gpu.launch.enqueue_cooperative", 4e-6},
	        {"gpu.launch.cooperative", 3e-6}, {"gpu.launch.stream", 2.5e-6},
	        {"gpu.copy.enqueue", 3e-6}, {"gpu.cublas.level1", 2.5e-6},
	        {"gpu.cublas.level1_device", 1.5e-6}, {"gpu.cublas.swap", 2.25e-6},
	        {"gpu.cublas.swap_device", 1.25e-6}, {"gpu.cublas.level2", 2.75e-6},
	        {"gpu.cublas.level2_device", 1.75e-6}, {"gpu.cublas.iamax", 15e-6},
	        {"gpu.l2.latency", 0.25e-6}, {"gpu.copy.sync", 16e-6}, {"gpu.copy.beta", 1e12},
	        {"gpu.l2.copy", 2e12}, {"gpu.dram.copy", 1e12},
	        {"gpu.shared.update[threads=256]", 100e9}, {"link.d2h.pinned.alpha", 10e-6},
	        {"link.h2d.pinned.alpha", 10e-6}, {"link.d2h.pinned.beta", 50e9},
	        {"link.h2d.pinned.beta", 50e9}};
	static const struct written_row exact[] = {
	        {"gpu.l2.stated", 50e6}, {"gpu.sm.count", 100}, {"gpu.shared.per_block", 232448}};
	static const double blocks[] = {1, 8, 128}, words[] = {1, 32, 512};

	add_written_rows(p, rows, ARRAY_LEN(rows), half);
	add_written_rows(p, exact, ARRAY_LEN(exact), 0);
	add_curve(p, "gpu.copy.time", curve_bytes, ARRAY_LEN(curve_bytes), 1e-6, 1e12, half);
	add_curve(p, "gpu.read.time", curve_bytes, ARRAY_LEN(curve_bytes), 1e-6, 1e12, half);
	add_curve(p, "gpu.write.time", curve_bytes, ARRAY_LEN(curve_bytes), 1e-6, 1e12, half);
	for (size_t i = 0; i < ARRAY_LEN(surface_n); i++) {
		struct arg two[] = {{"m", 4}, {"n", surface_n[i] / 32}};
		add(p, "gpu.panel.step.s", "s", two, 2, 3e-6, half);
		add(p, "gpu.panel.step.d", "s", two, 2, 3e-6, half);
		add(p, "gpu.panel.pivot.s", "s", two, 2, 1.875e-6, half);
		add(p, "gpu.panel.pivot.d", "s", two, 2, 1.875e-6, half);
		add(p, "gpu.panel.twice.s", "s", &two[1], 1, 2.25e-6, half);
		add(p, "gpu.panel.twice.d", "s", &two[1], 1, 2.25e-6, half);
	}
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
	static const struct written_row rows[] = {{"gpu.barrier.block[threads=256]", 15e-9},
	        {"gpu.warp.shuffle.issue", 0.5e-9}, {"gpu.fma.fed.lane[width=16]", 0.25},
	        {"gpu.special.rsqrt.latency", 20e-9}, {"gpu.warp.shuffle.latency", 12e-9},
	        {"gpu.int.logic.latency", 2e-9}, {"gpu.reduce.max[threads=256]", 0.2e-6},
	        {"gpu.shared.latency", 10e-9}, {"gpu.sm.l2_read", 200e9},
	        /* 8 bytes of a copied word in 80 ps */
	        {"gpu.copy.stride[words=262144,stride=1]", 1e11},
	        {"gpu.copy.stride[words=262144,stride=512]", 1e11},
	        {"gpu.l2.read", 4e13}, /* as gemv from there */
	        {"gpu.concurrent.stream_wait_idle", 1.75e-6},
	        {"gpu.concurrent.dependent_idle", 1.5e-6}};

	add_surfaces(p, "s", half);
	add_surfaces(p, "d", half);
	add_written_rows(p, rows, ARRAY_LEN(rows), half);
	add_row(p, 64, "gpu.l2.sector");
}

static inline struct profile *synthetic(double half)
{
	struct profile *p = profile_new();

	add_gpu(p, half);
	add_host(p, half);
	return p;
}
