/* SPDX-License-Identifier: MIT */
#include "kernel_counters.h"

#include "counter_conclusions.h"
#include "lib/base/msg.h"
#include "lib/base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, WARP = 32, MOST_FIELDS = 4096, MOST_KERNELS = 64, LINE = 1 << 20 };

/* What a counter is added to. */
#define AT(member) offsetof(struct counted, member)
#define OPERATION(pipe) AT(work.operations) + (pipe) * sizeof(double)

struct counted {
	struct kernel_work work;
	double l2_read, l2_written; /* all that L2 was asked for by the multiprocessors */
	double l1_read; /* what arrived in them: requests of several for one line reach L2 as one */
	double seconds, clock;
};

/* Counters of one group that stand for the same thing: the first that the file has counts. Group 0:
 * each counts. An addition or product alone takes as long as a multiply-add, two flops. */
static const struct counter {
	const char *name, *what;
	size_t offset;
	double factor;
	int group;
	bool needed;
} counters[] = {
        {"launch__grid_size", "blocks", AT(work.blocks), 1, 0, true},
        {"launch__block_size", "threads", AT(work.threads), 1, 0, true},
        {"launch__registers_per_thread", "registers", AT(work.registers), 1, 0, true},
        {"launch__shared_mem_per_block_static", "shared memory", AT(work.shared), 1, 0, false},
        {"launch__shared_mem_per_block_dynamic", "shared memory", AT(work.shared), 1, 0, false},
        {"launch__cluster_size", "clusters", AT(work.cluster), 1, 0, false},
        {"dram__bytes_read.sum", "DRAM read", AT(work.dram.read), 1, 1, true},
        {"dram__bytes_op_read.sum", "DRAM read", AT(work.dram.read), 1, 1, false},
        {"dram__bytes_write.sum", "DRAM written", AT(work.dram.written), 1, 2, true},
        {"dram__bytes_op_write.sum", "DRAM written", AT(work.dram.written), 1, 2, false},
        {"lts__t_sectors_srcunit_tex_op_read.sum", "L2 read", AT(l2_read), SECTOR, 3, false},
        {"lts__t_sectors_op_read.sum", "L2 read", AT(l2_read), SECTOR, 3, false},
        {"lts__t_bytes.sum", "L2 read", AT(l2_read), 1, 3, false},
        {"lts__t_sectors_srcunit_tex_op_write.sum", "L2 written", AT(l2_written), SECTOR, 4, false},
        {"lts__t_sectors_op_write.sum", "L2 written", AT(l2_written), SECTOR, 4, false},
        {"l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld.sum", NULL, AT(l1_read), SECTOR, 0, false},
        {"l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", NULL, AT(l1_read), SECTOR, 0,
                false},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "shared accesses", AT(work.wavefronts),
                1, 0, false},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "fp32", OPERATION(PIPE_FP32), 2, 0,
                false},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "fp32", OPERATION(PIPE_FP32), 2, 0,
                false},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "fp32", OPERATION(PIPE_FP32), 2, 0,
                false},
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "fp64", OPERATION(PIPE_FP64), 2, 0,
                false},
        {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "fp64", OPERATION(PIPE_FP64), 2, 0,
                false},
        {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "fp64", OPERATION(PIPE_FP64), 2, 0,
                false},
        {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "integers",
                OPERATION(PIPE_INTEGER), 1, 0, false},
        {"smsp__inst_executed.sum", "instructions", AT(work.instructions), 1, 0, false},
        {"smsp__inst_executed_pipe_xu.sum", "special functions", OPERATION(PIPE_SPECIAL), WARP, 0,
                false},
        {"smsp__inst_executed_op_global_atom.sum", "atomics", AT(work.atomics), WARP, 0, false},
        {"smsp__inst_executed_op_global_red.sum", "atomics", AT(work.atomics), WARP, 0, false},
        {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", "tensor tf32", OPERATION(PIPE_TENSOR_TF32), 1,
                0, false},
        {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", "tensor bf16", OPERATION(PIPE_TENSOR_BF16), 1,
                0, false},
        {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "tensor fp16", OPERATION(PIPE_TENSOR_FP16), 1,
                0, false},
        {"sm__ops_path_tensor_src_fp16_dst_fp16.sum", "tensor fp16", OPERATION(PIPE_TENSOR_FP16), 1,
                0, false},
        {"sm__ops_path_tensor_src_fp64.sum", "tensor fp64", OPERATION(PIPE_TENSOR_FP64_LARGE), 1, 0,
                false},
        {"gpu__time_duration.sum", "duration", AT(seconds), 1, 0, false},
        {"sm__cycles_elapsed.avg.per_second", "clock", AT(clock), 1, 0, false},
};

/* Units that are not 1. Both spellings of seconds occur, by version. */
static const struct unit {
	const char *name;
	double factor;
} units[] = {{"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9}, {"Tbyte", 1e12}, {"nsecond", 1e-9},
        {"ns", 1e-9}, {"usecond", 1e-6}, {"us", 1e-6}, {"msecond", 1e-3}, {"ms", 1e-3},
        {"Khz", 1e3}, {"Mhz", 1e6}, {"Ghz", 1e9}, {"cycle/nsecond", 1e9}, {"cycle/ns", 1e9},
        {"cycle/usecond", 1e6}, {"cycle/us", 1e6}, {"Kbyte/block", 1e3}, {"Mbyte/block", 1e6},
        {"byte", 1}, {"byte/block", 1}, {"second", 1}, {"s", 1}, {"hz", 1}, {"cycle/second", 1},
        {"cycle/s", 1}, {"inst", 1}, {"sector", 1}, {"block", 1}, {"thread", 1},
        {"register/thread", 1}, {"", 1}};

static bool unit_factor(const char *unit, double *factor)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(unit, units[i].name) == 0) {
			*factor = units[i].factor;
			return true;
		}
	return false;
}

/* ---- lines ---- */

/* Cuts a line of fields, quoted or not, in place. Returns their number, or 0 where a quote does not
 * end. */
static size_t cut(char *line, char **field)
{
	size_t count = 0;

	line[strcspn(line, "\r\n")] = '\0';
	for (char *read = line; count < MOST_FIELDS;) {
		char *write = read;
		const bool quoted = *read == '"';
		field[count++] = write;
		read += quoted;
		for (; *read && (quoted || *read != ','); *write++ = *read++)
			if (quoted && *read == '"' && *++read != '"')
				break;
		if (quoted && !*read && read[-1] != '"')
			return 0;
		const char end = *read;
		*write = '\0';
		if (end != ',')
			return end ? 0 : count;
		read++;
	}
	return 0;
}

/* "1,234.5"; an empty field is not measured. */
static bool parse(const char *text, double *value)
{
	char plain[64], *end;
	size_t length = 0;

	for (; *text && length < sizeof plain - 1; text++)
		if (*text != ',')
			plain[length++] = *text;
	plain[length] = '\0';
	*value = strtod(plain, &end);
	return end != plain && !*end && isfinite(*value) && *value >= 0;
}

/* The launches of one kernel with one grid. */
struct kernel {
	char name[96];
	struct counted sum; /* of all launches */
	double launches;
};

/* The file while it is read. */
struct reading {
	struct kernel kernel[MOST_KERNELS];
	size_t kernels;
	const char *path;
	int line;
	size_t fields;
	int column[ARRAY_LEN(counters)]; /* -1: not in the file, or another of its group counts */
	double factor[ARRAY_LEN(counters)];
	int name, capability, l2; /* columns */
	double l2_size;           /* bytes; 0: the file does not tell */
	char id[32];              /* of the launch in the last row */
};

static int find(char **field, size_t fields, const char *name)
{
	for (size_t i = 0; i < fields; i++)
		if (strcmp(field[i], name) == 0)
			return (int)i;
	return -1;
}

static bool read_head(
        struct reading *r, char **field, struct kernel_counters *out, struct fault *fault)
{
	int group = 0;

	for (size_t c = 0; c < ARRAY_LEN(counters); c++) {
		const bool done = counters[c].group && counters[c].group == group;
		r->column[c] = done ? -1 : find(field, r->fields, counters[c].name);
		if (r->column[c] >= 0)
			group = counters[c].group;
	}
	for (size_t c = 0; c < ARRAY_LEN(counters); c++) {
		bool has = false;
		for (size_t o = 0; o < ARRAY_LEN(counters); o++)
			has |= r->column[o] >= 0 && counters[o].offset == counters[c].offset;
		if (!has && counters[c].needed)
			return fault_set(fault,
			        "%.200s has no column %s: write it by `ncu --csv --page raw` of a "
			        "profile with --set full",
			        r->path, counters[c].name);
		const size_t used = strlen(out->lacking);
		if (!has && counters[c].what && !strstr(out->lacking, counters[c].what))
			snprintf(out->lacking + used, sizeof out->lacking - used, "%s%s",
			        used ? ", " : "", counters[c].what);
	}
	r->name = find(field, r->fields, "Kernel Name");
	r->capability = find(field, r->fields, "CC");
	r->l2 = find(field, r->fields, "device__attribute_l2_cache_size");
	return true;
}

static bool read_units(struct reading *r, char **field, struct fault *fault)
{
	for (size_t c = 0; c < ARRAY_LEN(counters); c++)
		if (r->column[c] >= 0 && !unit_factor(field[r->column[c]], &r->factor[c]))
			return fault_set(fault, "%.200s:%d: unknown unit '%.40s' of %s", r->path,
			        r->line, field[r->column[c]], counters[c].name);
	return true;
}

static double *number_at(struct counted *k, size_t offset)
{
	return (double *)(void *)((char *)k + offset);
}

/* Whether no counter before it is of the same amount. */
static bool first_of(size_t counter)
{
	for (size_t c = 0; c < counter; c++)
		if (counters[c].offset == counters[counter].offset)
			return false;
	return true;
}

/* The mean launch of a kernel. What reached DRAM also went through L2: the rest are hits. */
static struct kernel_work finish(const struct kernel *kernel, bool conclude, double l2_size)
{
	struct counted k = kernel->sum;

	for (size_t c = 0; c < ARRAY_LEN(counters); c++)
		if (first_of(c))
			*number_at(&k, counters[c].offset) /= kernel->launches;
	k.work.launches = kernel->launches;
	if (conclude)
		counter_conclusions(&k.work, (struct work_bytes){k.l2_read, k.l2_written}, l2_size);
	k.work.l2.read = fmax(0, k.l2_read - k.work.dram.read);
	k.work.l2.written = fmax(0, k.l2_written - k.work.dram.written);
	k.work.atomic_stride = 4;
	if (k.work.cluster <= 1)
		k.work.cluster = 0;
	return k.work;
}

/* Adds a launch to its kernel's. */
static bool add_launch(struct reading *r, const char *name, struct counted k, struct fault *fault)
{
	const struct kernel_work *w = &k.work;
	size_t i = 0;

	for (; i < r->kernels; i++) {
		const struct kernel *other = &r->kernel[i];
		const struct kernel_work *sum = &other->sum.work;
		if (strncmp(other->name, name, sizeof other->name - 1) == 0 &&
		        sum->blocks == w->blocks * other->launches &&
		        sum->threads == w->threads * other->launches &&
		        sum->shared == w->shared * other->launches)
			break;
	}
	if (i == MOST_KERNELS)
		return fault_set(fault, "%.200s has more than %d kernels and grids: profile fewer",
		        r->path, MOST_KERNELS);
	struct kernel *kernel = &r->kernel[i];
	if (i == r->kernels) {
		r->kernels++;
		snprintf(kernel->name, sizeof kernel->name, "%s", name);
	}
	for (size_t c = 0; c < ARRAY_LEN(counters); c++)
		if (first_of(c))
			*number_at(&kernel->sum, counters[c].offset) +=
			        *number_at(&k, counters[c].offset);
	kernel->launches++;
	return true;
}

static bool read_row(
        struct reading *r, char **field, struct kernel_counters *out, struct fault *fault)
{
	struct counted k = {0};

	for (size_t c = 0; c < ARRAY_LEN(counters); c++) {
		double value;
		if (r->column[c] < 0)
			continue;
		const char *text = field[r->column[c]];
		if ((!*text || strcmp(text, "n/a") == 0) && !counters[c].needed)
			continue;
		if (!parse(text, &value))
			return fault_set(fault, "%.200s:%d: %s is '%.40s', not a number >= 0",
			        r->path, r->line, counters[c].name, text);
		*number_at(&k, counters[c].offset) += value * r->factor[c] * counters[c].factor;
	}
	if (k.work.blocks < 1 || k.work.threads < 1 || k.work.threads > 1024)
		return fault_set(fault, "%.200s:%d: a grid of %g blocks of %g threads", r->path,
		        r->line, k.work.blocks, k.work.threads);
	if (r->capability >= 0 && r->kernels == 0)
		snprintf(out->machine, sizeof out->machine, "compute capability %.20s",
		        field[r->capability]);
	if (r->l2 >= 0 && !parse(field[r->l2], &r->l2_size))
		r->l2_size = 0;
	out->measured += k.seconds > 0 ? k.seconds : NAN;
	out->asked.read += k.l1_read > 0 ? k.l1_read : k.l2_read;
	out->asked.written += k.l2_written;
	return add_launch(r, r->name >= 0 ? field[r->name] : "", k, fault);
}

/* What is wrong with a line as text, or NULL. */
static const char *wrong_text(const char *line, bool last)
{
	if (strchr(line, '\n'))
		return utf8_text(line) ? NULL : "a byte that is no text";
	return last ? "the last line has no end: the file is truncated"
	            : "a line too long, or a byte that is no text";
}

/* Lines before the head are ncu's messages; after it come the units, and a row a launch. */
static bool read_lines(FILE *file, struct reading *r, char *line, char **field,
        struct kernel_counters *out, struct fault *fault)
{
	enum { HEAD, UNITS, ROWS } next = HEAD;

	while (r->line++, fgets(line, LINE, file)) {
		const char *wrong = wrong_text(line, feof(file));
		if (wrong)
			return fault_set(fault, "%.200s:%d: %s", r->path, r->line, wrong);
		if (next == HEAD && strncmp(line, "\"ID\"", 4) != 0 && strncmp(line, "ID,", 3) != 0)
			continue;
		if (!line[strspn(line, "\r\n")] || strncmp(line, "==", 2) == 0)
			continue;
		const size_t fields = cut(line, field);
		if (next == HEAD)
			r->fields = fields;
		if (fields == 0 || fields != r->fields)
			return fault_set(fault, "%.200s:%d: %zu fields below a head of %zu",
			        r->path, r->line, fields, r->fields);
		if (next == HEAD && !read_head(r, field, out, fault))
			return false;
		if (next == UNITS && !read_units(r, field, fault))
			return false;
		if (next == ROWS && strcmp(field[0], r->id) == 0)
			return fault_set(fault, "%.200s:%d: the launch %.20s stands twice", r->path,
			        r->line, r->id);
		if (next == ROWS && !read_row(r, field, out, fault))
			return false;
		if (next == ROWS)
			snprintf(r->id, sizeof r->id, "%s", field[0]);
		next = next == HEAD ? UNITS : ROWS;
	}
	if (ferror(file))
		return fault_set(fault, "%.200s: %s", r->path, strerror(errno));
	return r->kernels > 0 ||
	       fault_set(
	               fault, "%.200s has no launch: write it by `ncu --csv --page raw`", r->path);
}

bool kernel_counters_read(
        const char *path, bool conclude, struct kernel_counters *out, struct fault *fault)
{
	struct reading *reading = xcalloc(1, sizeof *reading);
	FILE *file = fopen(path, "r");

	*out = (struct kernel_counters){.work = NULL};
	reading->path = path;
	if (!file) {
		free(reading);
		return fault_set(fault, "%.200s: %s", path, strerror(errno));
	}
	char *line = xmalloc(LINE), **field = xmalloc(MOST_FIELDS * sizeof *field);
	const bool good = read_lines(file, reading, line, field, out, fault);
	free(line);
	free(field);
	fclose(file);
	if (good) {
		out->count = reading->kernels;
		out->work = xmalloc(out->count * sizeof *out->work);
		for (size_t i = 0; i < out->count; i++)
			out->work[i] = finish(&reading->kernel[i], conclude, reading->l2_size);
		out->clock = reading->kernel[0].sum.clock / reading->kernel[0].launches;
		snprintf(out->name, sizeof out->name, "%s", reading->kernel[0].name);
	}
	free(reading);
	return good;
}
