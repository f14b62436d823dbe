/* SPDX-License-Identifier: MIT */
#include "kernel_input.h"

#include "lib/base/msg.h"
#include "lib/base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a value is written. */
enum form {
	WHOLE,      /* a whole number */
	AMOUNT,     /* a number */
	BYTES,      /* a number, perhaps with a unit of bytes */
	TRAFFIC,    /* READ[:WRITTEN] */
	PATTERN,    /* NAME[:STEP] */
	ACCESSES,   /* COUNT[:WAYS] */
	ATOMICS,    /* COUNT[:STRIDE] */
	OPERATIONS, /* [PIPE:]FLOPS, several with commas */
	LINKS,      /* NAME:COUNT, several with commas */
	EXCHANGES   /* SCOPE:BYTESxCOUNT, several with commas */
};

#define AT(member) offsetof(struct kernel_work, member)
#define OPERATION(which) AT(operations) + (which) * sizeof(double)
#define LINK(which) AT(link) + (which) * sizeof(double)

/* A number in a list, by name. */
struct word {
	const char *name;
	size_t offset;
};

static const struct word scalar_pipes[] = {{"s", OPERATION(PIPE_FP32)}, {"d", OPERATION(PIPE_FP64)},
        {"h", OPERATION(PIPE_FP16)}, {"bf16", OPERATION(PIPE_BF16)}, {NULL, 0}},
                         tensor_pipes[] = {{"tf32", OPERATION(PIPE_TENSOR_TF32)},
                                 {"bf16", OPERATION(PIPE_TENSOR_BF16)},
                                 {"h", OPERATION(PIPE_TENSOR_FP16)},
                                 {"d", OPERATION(PIPE_TENSOR_FP64)},
                                 {"d16", OPERATION(PIPE_TENSOR_FP64_LARGE)},
                                 {"wgmma_tf32", OPERATION(PIPE_GROUP_TF32)},
                                 {"wgmma_bf16", OPERATION(PIPE_GROUP_BF16)}, {NULL, 0}},
                         waits[] = {{"block", LINK(LINK_BLOCK)},
                                 {"cluster", LINK(LINK_CLUSTER_BARRIER)},
                                 {"grid", LINK(LINK_GRID_BARRIER)}, {NULL, 0}},
                         chain[] = {{"dram", LINK(LINK_DRAM)}, {"l2", LINK(LINK_L2)},
                                 {"l1", LINK(LINK_L1)}, {"shared", LINK(LINK_SHARED)},
                                 {"atomic", LINK(LINK_ATOMIC)}, {"fma", LINK(LINK_FMA)},
                                 {"dfma", LINK(LINK_FMA_DOUBLE)}, {"special", LINK(LINK_SPECIAL)},
                                 {"shuffle", LINK(LINK_SHUFFLE)}, {"redux", LINK(LINK_REDUX)},
                                 {"ballot", LINK(LINK_BALLOT)}, {"reduce", LINK(LINK_REDUCE)},
                                 {"search", LINK(LINK_SEARCH)}, {NULL, 0}},
                         patterns[] = {{"contiguous", PATTERN_CONTIGUOUS},
                                 {"stride", PATTERN_STRIDE}, {"misaligned", PATTERN_MISALIGNED},
                                 {"random", PATTERN_RANDOM}, {"width", PATTERN_WIDTH}, {NULL, 0}},
                         scopes[] = {{"cluster", AT(exchange[SCOPE_CLUSTER])},
                                 {"grid", AT(exchange[SCOPE_GRID])}, {NULL, 0}};

static const double most_bytes = 1e18, most_operations = 1e24, most_links = 1e12;

static const struct key {
	const char *name;
	enum form form;
	size_t offset;
	const struct word *words;
	double low, high;
	const char *argument, *help;
} keys[KERNEL_KEYS] = {
        {"launches", WHOLE, AT(launches), NULL, 1, 1e9, "N", "launches of the work below (1)"},
        {"waits", WHOLE, AT(waits), NULL, 0, 1, "0|1", "1: the host waits for each launch"},
        {"blocks", WHOLE, AT(blocks), NULL, 1, 2147483647, "N", "blocks of a launch (needed)"},
        {"threads", WHOLE, AT(threads), NULL, 1, 1024, "N", "threads of a block (needed)"},
        {"registers", WHOLE, AT(registers), NULL, 0, 255, "N", "registers of a thread"},
        {"shared", BYTES, AT(shared), NULL, 0, 1e9, "BYTES", "shared memory of a block"},
        {"cluster", WHOLE, AT(cluster), NULL, 0, 64, "N", "blocks of a cluster"},
        {"dram", TRAFFIC, AT(dram), NULL, 0, most_bytes, "READ[:WRITTEN]",
                "bytes of DRAM a launch"},
        {"l2", TRAFFIC, AT(l2), NULL, 0, most_bytes, "READ[:WRITTEN]",
                "bytes of hits in L2 a launch"},
        {"working-set", BYTES, AT(working_set), NULL, 0, most_bytes, "BYTES",
                "what launches touch again: its bytes of DRAM are in L2 as far as they fit"},
        {"state", BYTES, AT(state), NULL, 0, most_bytes, "BYTES",
                "what a persistent kernel keeps on chip, and launches read and write each time"},
        {"in-flight", BYTES, AT(in_flight), NULL, 0, 65536, "BYTES",
                "that a thread has under way at once (64)"},
        {"apart", AMOUNT, AT(apart), NULL, 0, 1, "SHARE",
                "of DRAM's bytes that a block moves before or after it computes"},
        {"pattern", PATTERN, AT(pattern), patterns, 0, 1e9, "NAME[:STEP]",
                "of the bytes of DRAM: contiguous, stride:WORDS, misaligned:BYTES, "
                "random:BYTES, width:BYTES"},
        {"wavefronts", ACCESSES, AT(wavefronts), NULL, 0, most_operations, "N[:WAYS]",
                "warp-wide accesses to shared memory a launch, and their bank conflicts"},
        {"flops", OPERATIONS, AT(operations), scalar_pipes, 0, most_operations, "[s|d|h|bf16:]N",
                "flops a launch: two for each multiply-add, addition or product; several with "
                "commas"},
        {"tensor", OPERATIONS, AT(operations), tensor_pipes, 0, most_operations, "TYPE:N",
                "flops of tensor cores: tf32, bf16, h, d, d16, wgmma_tf32, wgmma_bf16"},
        {"special", AMOUNT, OPERATION(PIPE_SPECIAL), NULL, 0, most_operations, "N",
                "special functions of threads a launch"},
        {"integer", AMOUNT, OPERATION(PIPE_INTEGER), NULL, 0, most_operations, "N",
                "integer operations of threads a launch"},
        {"chains", WHOLE, AT(chains), NULL, 1, 64, "N", "independent instructions of a thread (4)"},
        {"atomics", ATOMICS, AT(atomics), NULL, 0, most_operations, "N[:STRIDE]",
                "of threads on global memory a launch; bytes from thread to thread, 0 is one "
                "address"},
        {"chain", LINKS, 0, chain, 0, most_links, "NAME:N,...",
                "what a block does one after the other (one load where it reads): dram, l2, l1, "
                "shared, atomic, fma, "
                "dfma, special, shuffle, reduce, search"},
        {"barriers", LINKS, 0, waits, 0, most_links, "SCOPE:N,...",
                "of a launch: block, cluster, grid"},
        {"exchange", EXCHANGES, 0, scopes, 0, most_links, "SCOPE:BYTESxN,...",
                "of a launch: bytes that every block gives the others, cluster or grid"},
};

void kernel_options(struct cli_option *option, struct kernel_texts *texts)
{
	for (size_t i = 0; i < KERNEL_KEYS; i++)
		option[i] = (struct cli_option){keys[i].name, 0, CLI_TEXT, &texts->text[i],
		        keys[i].argument, keys[i].help, 0, 0};
}

/* ---- values ---- */

static double *number_at(struct kernel_work *work, size_t offset)
{
	return (double *)(void *)((char *)work + offset);
}

/* A limit as the user would write it. */
static const char *limit_text(double limit, char text[32])
{
	snprintf(text, 32, limit < 1e15 ? "%.15g" : "%g", limit);
	return text;
}

/* unit: the one that the number may have, "" for none. */
static bool number(const struct key *key, const char *unit, const char *text, double *value,
        struct fault *fault)
{
	const char *given = "";
	char low[32], high[32];
	int64_t whole;

	if (cli_parse_int(text, &whole))
		*value = (double)whole;
	else if (!cli_parse_quantity(text, value, &given))
		return fault_set(fault,
		        "%s: '%s' is not a number with a known unit: give one such as %s",
		        key->name, text, unit[0] ? "64KiB" : "1000");
	if (given[0] && strcmp(given, unit) != 0)
		return fault_set(fault, "%s: '%s' is in %s: give %s", key->name, text, given,
		        unit[0] ? "bytes, as in 64KiB" : "a number without a unit");
	if (*value < key->low || *value > key->high)
		return fault_set(fault, "%s: %s is not between %s and %s", key->name, text,
		        limit_text(key->low, low), limit_text(key->high, high));
	if (key->form == WHOLE && floor(*value) != *value)
		return fault_set(fault, "%s: %s is not a whole number", key->name, text);
	return true;
}

static const struct word *find_word(const struct key *key, const char *name, struct fault *fault)
{
	const struct word *word = key->words;
	char known[128] = "";

	for (; word->name; word++) {
		if (strcmp(word->name, name) == 0)
			return word;
		const size_t used = strlen(known);
		snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", word->name);
	}
	fault_set(fault, "%s: '%s': %s are known", key->name, name, known);
	return NULL;
}

/* "first[:second]". */
static bool two_numbers(const struct key *key, char *text, double *out, struct fault *fault)
{
	char *second = strchr(text, ':');

	if (second)
		*second++ = '\0';
	return number(key, key->form == TRAFFIC ? "B" : "", text, &out[0], fault) &&
	       (!second || number(key, key->form == ACCESSES ? "" : "B", second, &out[1], fault));
}

static bool set_pattern(
        struct kernel_work *work, const struct key *key, char *text, struct fault *fault)
{
	char *step = strchr(text, ':');

	if (step)
		*step++ = '\0';
	const struct word *word = find_word(key, text, fault);
	if (!word)
		return false;
	work->pattern = (enum work_pattern)word->offset;
	if (work->pattern == PATTERN_CONTIGUOUS)
		return !step || fault_set(fault, "%s: contiguous has no step", key->name);
	if (!step)
		return fault_set(fault, "%s: %s needs its step, as in %s:8", key->name, text, text);
	return number(key, work->pattern == PATTERN_STRIDE ? "" : "B", step, &work->step, fault) &&
	       (work->step >= 1 || fault_set(fault, "%s: a step of %s is none", key->name, step));
}

/* An item "NAME:VALUE" of a list; of flops also "VALUE" alone, which is of the first word. seen: a
 * bit for each word of the items before. */
static bool set_item(struct kernel_work *work, const struct key *key, char *text, uint32_t *seen,
        struct fault *fault)
{
	char *value = strchr(text, ':');
	const struct word *word = key->words;

	if (!value && key->words != scalar_pipes)
		return fault_set(fault, "%s: '%s': write %s", key->name, text, key->argument);
	if (value) {
		*value++ = '\0';
		word = find_word(key, text, fault);
	}
	if (!word)
		return false;
	const uint32_t bit = UINT32_C(1) << (word - key->words);
	if (*seen & bit)
		return fault_set(
		        fault, "%s: %s stands twice: give their sum", key->name, word->name);
	*seen |= bit;
	double *const out = number_at(work, word->offset);
	if (key->form != EXCHANGES)
		return number(key, "", value ? value : text, out, fault);
	char *count = strchr(value, 'x');
	if (!count)
		return fault_set(fault, "%s: '%s': write BYTESxCOUNT, as in %s:128x64", key->name,
		        value, text);
	*count++ = '\0';
	return number(key, "B", value, &out[0], fault) && number(key, "", count, &out[1], fault);
}

static bool set_value(
        struct kernel_work *work, const struct key *key, char *text, struct fault *fault)
{
	char *rest = NULL;
	uint32_t seen = 0;

	switch (key->form) {
	case WHOLE:
	case AMOUNT:
		return number(key, "", text, number_at(work, key->offset), fault);
	case BYTES:
		return number(key, "B", text, number_at(work, key->offset), fault);
	case TRAFFIC:
	case ACCESSES:
	case ATOMICS:
		return two_numbers(key, text, number_at(work, key->offset), fault);
	case PATTERN:
		return set_pattern(work, key, text, fault);
	default:
		break;
	}
	if (!*text)
		return fault_set(fault, "%s: nothing given: write %s", key->name, key->argument);
	for (char *item = strtok_r(text, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
		if (!set_item(work, key, item, &seen, fault))
			return false;
	return true;
}

/* Sets one value. False with a fault that names the key. */
static bool set_key(
        struct kernel_work *work, const char *name, const char *value, struct fault *fault)
{
	char text[256];

	if (strlen(value) >= sizeof text)
		return fault_set(fault, "%s: a value of %zu letters", name, strlen(value));
	for (size_t i = 0; i < KERNEL_KEYS; i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		snprintf(text, sizeof text, "%s", value);
		return set_value(work, &keys[i], text, fault);
	}
	return fault_set(
	        fault, "unknown key '%s': the options of advise kernel are the keys", name);
}

bool kernel_set_texts(
        struct kernel_work *work, const struct kernel_texts *texts, struct fault *fault)
{
	for (size_t i = 0; i < KERNEL_KEYS; i++)
		if (texts->text[i] && !set_key(work, keys[i].name, texts->text[i], fault))
			return false;
	return true;
}

bool kernel_complete(struct kernel_work *work, struct fault *fault)
{
	double *const link = work->link;

	if (!(work->blocks > 0) || !(work->threads > 0))
		return fault_set(fault, "give the kernel's grid: --blocks N --threads N");
	if (work->cluster > 1 && fmod(work->blocks, work->cluster) != 0)
		return fault_set(fault,
		        "cluster: clusters of %.0f do not divide %.0f blocks: give a divisor",
		        work->cluster, work->blocks);
	if (link[LINK_DRAM] + link[LINK_L2] == 0) {
		link[LINK_DRAM] = work->dram.read > 0;
		link[LINK_L2] = work->l2.read > 0 && work->dram.read == 0;
	}
	return true;
}

bool kernel_fits(const struct kernel_work *work, int max_cluster, struct fault *fault)
{
	if (work->cluster <= max_cluster || work->cluster <= 1)
		return true;
	if (max_cluster <= 1)
		return fault_set(fault, "cluster: this GPU has no clusters: leave it out");
	return fault_set(fault, "cluster: %.0f blocks: this GPU has clusters of at most %d",
	        work->cluster, max_cluster);
}

/* ---- the file ---- */

/* Kernels that a file describes, one after the other. */
struct kernel_list {
	struct kernel_work *work;
	size_t count;
	uint32_t seen; /* keys of the last kernel, a bit each */
};

static bool begin_kernel(struct kernel_list *list, struct fault *fault)
{
	if (list->count == KERNELS_OF_A_FILE)
		return fault_set(fault, "more than %d kernels", KERNELS_OF_A_FILE);
	list->work[list->count++] = (struct kernel_work){.launches = 1};
	list->seen = 0;
	return true;
}

static bool read_value(
        struct kernel_list *list, const char *key, const char *value, struct fault *fault)
{
	if (strcmp(key, "kernel") == 0)
		return begin_kernel(list, fault);
	if (list->count == 0 && !begin_kernel(list, fault))
		return false;
	for (size_t i = 0; i < KERNEL_KEYS; i++) {
		const uint32_t bit = UINT32_C(1) << i;
		if (strcmp(keys[i].name, key) != 0)
			continue;
		if (list->seen & bit)
			return fault_set(fault, "%s stands twice", key);
		list->seen |= bit;
	}
	return set_key(&list->work[list->count - 1], key, value, fault);
}

static bool read_line(
        struct kernel_list *list, char *line, const char *path, int number, struct fault *fault)
{
	static const char blank[] = " \t\r\n=";
	struct fault inner;
	char *rest = NULL;

	line[strcspn(line, "#")] = '\0';
	const char *key = strtok_r(line, blank, &rest), *value = strtok_r(NULL, blank, &rest);
	if (!key)
		return true;
	if (!value || strtok_r(NULL, blank, &rest))
		return fault_set(fault, "%.200s:%d: a line is `key value`", path, number);
	return read_value(list, key, value, &inner) ||
	       fault_set(fault, "%.200s:%d: %.250s", path, number, inner.text);
}

/* The whole line; of text, and no longer than one that any key needs. */
static bool read_text(struct kernel_list *list, char *line, size_t length, const char *path,
        int number, struct fault *fault)
{
	enum { LONGEST = 4096 };

	if (length > LONGEST)
		return fault_set(fault, "%.200s:%d: a line of %zu letters", path, number, length);
	if (strlen(line) != length || !utf8_text(line))
		return fault_set(fault, "%.200s:%d: a byte that is no text", path, number);
	return read_line(list, line, path, number, fault);
}

size_t kernel_read_file(
        struct kernel_work work[KERNELS_OF_A_FILE], const char *path, struct fault *fault)
{
	struct kernel_list list = {work, 0, 0};
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	bool good = true;

	if (!file) {
		fault_set(fault, "%.200s: %s", path, strerror(errno));
		return 0;
	}
	errno = 0;
	for (int number = 1; good; number++) {
		const ssize_t length = getline(&line, &room, file);
		if (length < 0)
			break;
		good = read_text(&list, line, (size_t)length, path, number, fault);
	}
	if (good && !feof(file))
		good = fault_set(fault, "%.200s: %s", path, strerror(errno));
	if (good && list.count == 0)
		good = fault_set(fault, "%.200s describes no kernel", path);
	free(line);
	fclose(file);
	return good ? list.count : 0;
}
