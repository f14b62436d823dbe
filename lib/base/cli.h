/* SPDX-License-Identifier: MIT */
/* The command line of every program: GNU long options from one table, --help with defaults, and the
 * options all programs share (--device --sms --output --quick --json --seed --verbose --help
 * --version).
 */
#pragma once

#include "base.h"
#include "table.h"

enum cli_type {
	CLI_FLAG, /* bool *; no argument; sets true */
	CLI_INT,  /* int64_t *; decimal, with optional k/m/g (10^3) or K/M/G, Ki/Mi/Gi (2^10) suffix
	           */
	CLI_REAL, /* double * */
	CLI_TEXT, /* const char ** */
	CLI_LIST  /* struct cli_list *; repeatable text option */
};

struct cli_list {
	const char *item[64];
	size_t count;
};

struct cli_option {
	const char *name; /* long name without the dashes */
	char letter;      /* short letter, or 0 */
	enum cli_type type;
	void *target; /* holds the default when cli_parse is called; --help prints it */
	const char *
	        argument; /* what the argument is called in --help ("N", "FILE"); NULL for a flag */
	const char *help;
	double low, high; /* accepted range of CLI_INT and CLI_REAL when low < high */
};

struct cli_common {
	const char *device; /* CUDA device number, UUID or PCI address, as gpu_open takes it */
	const char *output; /* folder that data files are read from and written to */
	int64_t sms; /* multiprocessors of the GPU to use; 0: all. cli_parse sets FATHOM_SMS */
	bool quick;
	bool json;
	int64_t seed;
	bool verbose;
};

struct cli_program {
	const char *name;     /* "fathom-launch" */
	const char *summary;  /* one sentence: the question answered */
	const char *examples; /* whole commands, a line each, or NULL */
	const char *operands; /* usage text of the operands, or NULL when none are accepted */
	const char *details;  /* more text for --help, a paragraph a line, or NULL */
	const struct cli_option *options;
	size_t option_count;
	/* Where the first operand is the topic, --help explains only the options from topic_first
	 * on, which it leaves out elsewhere. NULL: none. */
	const char *topic;
	size_t topic_first;
};

/* Parses argv into the targets of the options; options and operands may mix. Prints help or version
 * and exits 0 when asked. A bad option or value ends the program with exit code 2 and one sentence.
 * Calls msg_start. Reopens closed standard streams, and makes the program exit 1 when its output
 * could not be written. *operands receives the operands (NULL-terminated, owned by the parser);
 * they are an error when program->operands is NULL. Sets the defaults of common, but for
 * common->output and common->seed, which the caller may set before (machine_data_folder()); NULL
 * becomes "data/local", 0 becomes 1. Start from `struct cli_common common = {0}`. */
void cli_parse(int argc, char **argv, const struct cli_program *program, struct cli_common *common,
        char ***operands);

/* Whether an option was given to cli_parse, by its long name. */
bool cli_given(const char *option);

/* The questions of a program (bits) that an option belongs to, and in words. */
struct cli_use {
	const char *option;
	unsigned questions;
	const char *what;
};

/* Ends the program where an option was given that does not belong to the question, one bit with the
 * name "advise getrf". */
void cli_check_uses(
        const struct cli_use *use, size_t count, unsigned question, const char *question_name);

/* Ends a program that measures nothing where --sms was given; what_ifs: it has --set. */
void cli_refuse_sms(bool what_ifs);

/* What --json prints: the table, as docs/json.md says. Its metadata gets what kind of rows it has,
 * and program and fathom's version when it lacks them. */
void cli_write_json(struct table *table, const char *kind);

/* "fathom 0.1.0 (abc1234)" built in by the Makefile: version and commit, "+dirty" with uncommitted
 * changes. */
const char *cli_version(void);

/* The model's version: the beginning of a checksum of the sources that predictions, and the code
 * that is predicted, are made from. */
const char *cli_model(void);

/* Parses a number with a suffix as CLI_INT does. False when text is no such number or does not fit.
 */
bool cli_parse_int(const char *text, int64_t *value);

/* Parses a value with a unit, as `--set gpu.launch.enqueue=1.0us` uses: s ms us ns, B kB MB GB KiB
 * MiB GiB, B/s GB/s TB/s, Hz MHz GHz, flop/s Gflop/s Tflop/s, W, or none; the result is in SI base
 * units. *unit becomes the base unit, "" where none is written. */
bool cli_parse_quantity(const char *text, double *value, const char **unit);

/* Formats seconds, bytes/s, ... in a scaled unit ("3.21 us"); unit is the SI base unit.
 * Writes at most size bytes and returns text. */
char *cli_format_quantity(char *text, size_t size, double value, const char *unit);
