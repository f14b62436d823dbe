/* SPDX-License-Identifier: MIT */
/* A small synthetic profile whose sums can be done by hand, written as rows. */
#pragma once

#include "lib/profile/profile_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows as a profile names them: "gpu.gemm.s[m=64,n=64,k=64]". "?" stands for s and d; an argument
 * may have several values: "m=1/8/128", or from 64 to 4096, each 4 times the one before:
 * "m=64:4096:4". The value is `each` times the arguments whose first letters are in `law` (each
 * letter once more is a further power, a capital is a square root) and `start` on top. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* lines leave out the last ones */
struct rows {
	const char *name;
	double each;
	const char *law;
	double start;
};

/* Rows of these names are timings; all others are hardware. */
static const struct {
	const char *prefix, *regime;
} timings[] = {{"host.getrf", "library"}, {"host.geqrf", "library"}, {"host.gemm", "library"},
        {"gpu.cublas", "library"}, {"gpu.gemm", "library"}, {"gpu.trsm", "library"},
        {"gpu.syrk", "library"}, {"gpu.gemv", "library"}, {"gpu.panel", "calibrated"}};

static inline double value_of(const struct rows *rows, const struct arg *args, size_t count)
{
	double value = rows->each;

	for (const char *letter = rows->law; letter && *letter; letter++)
		for (size_t i = 0; i < count; i++)
			if (*letter == args[i].name[0])
				value *= args[i].value;
			else if (*letter == args[i].name[0] - 'a' + 'A')
				value *= sqrt(args[i].value);
	return rows->start + value;
}

/* `half` is the relative half-width of the interval. */
static inline void add_one(struct profile *p, const struct rows *rows, char *text, double half)
{
	struct parameter row = {0};
	struct arg args[PROFILE_ARGS];

	profile_parse_name(text, &row);
	for (size_t i = 0; i < row.arg_count; i++)
		args[i] = (struct arg){row.arg_name[i], row.arg[i]};
	const double v = value_of(rows, args, row.arg_count);
	const char *unit = profile_unit_of(row.name);
	struct parameter_spec spec = {
	        .name = row.name, .unit = unit ? unit : "s", .method = "synthetic"};
	for (size_t i = 0; i < ARRAY_LEN(timings); i++)
		if (strncmp(row.name, timings[i].prefix, strlen(timings[i].prefix)) == 0)
			spec.regime = timings[i].regime;
	profile_add(p, &spec, args, row.arg_count,
	        (struct estimate){v, v * (1 - half), v * (1 + half), 30}, false);
}

/* Puts each of the first argument's several values in its place, and so on. */
static inline void add_several(
        struct profile *p, const struct rows *rows, const char *name, double half)
{
	char text[160], *next;
	const char *several = strpbrk(name, "?:/");

	if (!several) {
		snprintf(text, sizeof text, "%s", name);
		add_one(p, rows, text, half);
		return;
	}
	if (*several == '?') {
		for (const char *precision = "sd"; *precision; precision++) {
			snprintf(text, sizeof text, "%s", name);
			text[several - name] = *precision;
			add_several(p, rows, text, half);
		}
		return;
	}
	const char *from = several;
	while (from[-1] != '=')
		from--;
	const char *rest = from + strcspn(from, ",]");
	double value = strtod(from, &next), last = value, factor = 2;
	if (*next == ':') {
		last = strtod(next + 1, &next);
		factor = strtod(next + 1, &next);
	}
	while (true) {
		snprintf(text, sizeof text, "%.*s%.17g%s", (int)(from - name), name, value, rest);
		add_several(p, rows, text, half);
		if (*next == '/')
			value = last = strtod(next + 1, &next);
		else if ((value *= factor) > last * (1 + 1e-9))
			return;
	}
}

static inline void add_all(struct profile *p, const struct rows *rows, size_t count, double half)
{
	for (size_t i = 0; i < count; i++)
		add_several(p, &rows[i], rows[i].name, half);
}

#define ADD(p, half, ...)                                                                          \
	do {                                                                                       \
		static const struct rows added[] = {__VA_ARGS__};                                  \
		add_all(p, added, ARRAY_LEN(added), half);                                         \
	} while (0)

static inline void add_written(struct profile *p, const char *name, double value, double half)
{
	const struct rows row = {name, value, NULL, 0};

	add_all(p, &row, 1, half);
}

/* All traffic curves are lines through their rows: 1 us at 4 KiB and 1 TB/s from there on, so that
 * traffic(bytes) at a row is (bytes - 4096) / 1e12. */
static inline void add_gpu(struct profile *p, double half)
{
	ADD(p, half, {"gpu.launch.enqueue", 2e-6}, {"gpu.launch.dependent", 1e-6},
	        {"gpu.launch.sync", 8e-6}, {"gpu.event.record", 0.125e-6},
	        {"gpu.launch.enqueue_cooperative", 4e-6}, {"gpu.launch.cooperative", 3e-6},
	        {"gpu.launch.stream", 2.5e-6}, {"gpu.copy.enqueue", 3e-6},
	        {"gpu.cublas.level1", 2.5e-6}, {"gpu.cublas.level1_device", 1.5e-6},
	        {"gpu.cublas.swap", 2.25e-6}, {"gpu.cublas.swap_device", 1.25e-6},
	        {"gpu.cublas.level2", 2.75e-6}, {"gpu.cublas.level2_device", 1.75e-6},
	        {"gpu.cublas.iamax", 15e-6}, {"gpu.l2.latency", 0.25e-6}, {"gpu.copy.sync", 16e-6},
	        {"gpu.copy.beta", 1e12}, {"gpu.l2.copy", 2e12}, {"gpu.dram.copy", 1e12},
	        {"gpu.shared.update[threads=256]", 100e9}, {"link.d2h.pinned.alpha", 10e-6},
	        {"link.h2d.pinned.alpha", 10e-6}, {"link.d2h.pinned.beta", 50e9},
	        {"link.h2d.pinned.beta", 50e9},
	        {"gpu.copy.time[bytes=4096:4294967296:16]", 1e-12, "b", 1e-6 - 4096e-12},
	        {"gpu.read.time[bytes=4096:4294967296:16]", 1e-12, "b", 1e-6 - 4096e-12},
	        {"gpu.write.time[bytes=4096:4294967296:16]", 1e-12, "b", 1e-6 - 4096e-12},
	        {"gpu.panel.step.?[m=4,n=1:4:2]", 3e-6},
	        {"gpu.panel.pivot.?[m=4,n=1:4:2]", 1.875e-6},
	        {"gpu.panel.twice.?[n=1:4:2]", 2.25e-6},
	        {"gpu.barrier.grid[blocks=1/8/128,threads=256]", 1e-6},
	        {"gpu.exchange.grid[blocks=1/8/128,words=1/32/512]", 1.5e-6},
	        {"gpu.panel.column.?[blocks=1/8/128,n=1/32/512]", 1.75e-6},
	        {"link.d2h.pinned.time[bytes=4:67108864:16]", 1 / 50e9, "b", 10e-6 - 4 / 50e9},
	        {"link.h2d.pinned.time[bytes=4:67108864:16]", 1 / 50e9, "b", 12e-6 - 4 / 50e9});
	ADD(p, 0, {"gpu.l2.stated", 50e6}, {"gpu.sm.count", 100}, {"gpu.shared.per_block", 232448});
}

static inline void add_host(struct profile *p, double half)
{
	ADD(p, half, {"host.memory.read[threads=1,bytes=4096:4294967296:16]", 10e9},
	        {"host.memory.copy[threads=1,bytes=4096:4294967296:16]", 20e9},
	        {"host.memory.copy.peak", 40e9}, {"host.iamax.s[m=1/65536,n=1/128]", 1e-9, "m"},
	        {"host.scal.s[m=1/65536,n=1/128]", 1e-9, "m"},
	        {"host.swap.s[m=1/65536,n=1/128]", 1e-9, "n"},
	        {"host.ger.s[m=1/65536,n=1/128]", 1e-9, "mn"},
	        {"host.getrf.s[m=64:65536:4,n=32:128:2]", 1e-10, "mnn"},
	        {"host.getrf.d[m=64:65536:4,n=32:128:2]", 2e-10, "mnn"});
	ADD(p, 0, {"host.l2.size", 2e6});
}

/* What blocked factorizations need on top. Ten operations a picosecond, ten numbers from anywhere a
 * picosecond, and powers of the arguments, between whose rows interpolation is exact. */
static inline void add_blocks(struct profile *p, double half)
{
	ADD(p, half, {"gpu.trsm.?[m=32:8192:4,n=32:8192:4]", 1e-13, "mmn"},
	        {"gpu.syrk.?[n=32:8192:4,k=32:8192:4]", 1e-13, "nnk"},
	        {"gpu.gemm.?[m=32:8192:4,n=32:8192:4,k=32:512:4]", 2e-13, "mnk"},
	        {"gpu.gemm_tn.?[m=32:8192:4,n=32:8192:4,k=4096:65536:4]", 2e-13, "mnk"},
	        {"gpu.gemv.?.n[m=32:8192:4,n=32:8192:4,cold=0]", 1e-13, "mn"},
	        {"gpu.gemv.?.n[m=32:8192:4,n=32:8192:4,cold=1]", 2e-13, "mn"},
	        {"gpu.gemv.?.t[m=32:8192:4,n=32:8192:4,cold=0]", 1e-13, "mn"},
	        {"gpu.gemv.?.t[m=32:8192:4,n=32:8192:4,cold=1]", 2e-13, "mn"},
	        {"host.geqrf.?[m=32:8192:4,n=32:8192:4]", 1e-10, "mnn"},
	        {"host.gemm.?[n=32:8192:4]", 1e-11, "nnn"}, {"gpu.gemm.?.peak", 1e13},
	        {"gpu.sqrt.?.latency", 20e-9}, {"gpu.fma.?.latency", 2e-9},
	        {"gpu.fma.?.rate", 4e13}, {"gpu.divide.?.latency", 30e-9},
	        {"gpu.barrier.block[threads=256]", 15e-9}, {"gpu.warp.shuffle.issue", 0.5e-9},
	        {"gpu.fma.fed.lane[width=16]", 0.25}, {"gpu.special.rsqrt.latency", 20e-9},
	        {"gpu.warp.shuffle.latency", 12e-9}, {"gpu.int.logic.latency", 2e-9},
	        {"gpu.reduce.max[threads=256]", 0.2e-6}, {"gpu.shared.latency", 10e-9},
	        {"gpu.sm.l2_read", 200e9},
	        /* 8 bytes of a copied word in 80 ps */
	        {"gpu.copy.stride[words=262144,stride=1/512]", 1e11},
	        {"gpu.l2.read", 4e13}, /* as gemv from there */
	        {"gpu.concurrent.stream_wait_idle", 1.75e-6},
	        {"gpu.concurrent.dependent_idle", 1.5e-6});
	ADD(p, 0, {"gpu.l2.sector", 64});
}

static inline struct profile *synthetic(double half)
{
	struct profile *p = profile_new();

	add_gpu(p, half);
	add_host(p, half);
	return p;
}
