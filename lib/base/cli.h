/* SPDX-License-Identifier: MIT */
/* The command line of every program: GNU long options from one table, --help with defaults, and the
 * options all programs share (--device --output --quick --json --seed --verbose --help --version).
 */
#ifndef FATHOM_CLI_H
#define FATHOM_CLI_H

#include "base.h"

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
	bool quick;
	bool json;
	int64_t seed;
	bool verbose;
};

struct cli_program {
	const char *name;     /* "fathom-launch" */
	const char *summary;  /* one sentence: the question answered */
	const char *operands; /* usage text of the operands, or NULL when none are accepted */
	const char *details;  /* more text for --help, or NULL */
	const struct cli_option *options;
	size_t option_count;
};

/* Parses argv into the tables' targets; prints help or version to stdout and exits 0 when asked; on
 * a bad option or value prints one sentence with the nearest known option and exits 2. Options and
 * operands may mix. Calls msg_start. Reopens standard streams that are closed, and has the program
 * exit 1 when what it prints could not be written. Returns the operands in *operands
 * (NULL-terminated, owned by the parser; operands may be NULL); any operand is an error when
 * program->operands is NULL. common starts from defaults set here: device "0", seed 1, flags off.
 * Only common->output is the caller's to choose before the call (readers: machine_data_folder());
 * NULL becomes "data/local", where probes write: so start from `struct cli_common common = {0}`. */
void cli_parse(int argc, char **argv, const struct cli_program *program, struct cli_common *common,
        char ***operands);

/* "fathom 0.1.0 (abc1234)" built in by the Makefile: version and commit, "+dirty" when so. */
const char *cli_version(void);

/* Parses a number with a suffix as CLI_INT does. False when it is not one or does not fit. */
bool cli_parse_int(const char *text, int64_t *value);

/* Parses a value with a unit, as `--set gpu.launch.enqueue=1.0us` uses: s ms us ns, B kB MB GB KiB
 * MiB GiB, B/s GB/s TB/s, Hz MHz GHz, flop/s Gflop/s Tflop/s, or none; the result is in SI base
 * units. */
bool cli_parse_quantity(const char *text, double *value);

/* Prints seconds, bytes/s, ... in a readable scaled unit ("3.21 us"); unit is the SI base unit.
 * Writes at most size bytes and returns text. */
char *cli_format_quantity(char *text, size_t size, double value, const char *unit);

#endif
