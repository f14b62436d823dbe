/* SPDX-License-Identifier: MIT */
/* Child processes of a probe program. Fresh processes put differences between processes (addresses,
 * clocks, neighbours) into the interval. A child gets its order at the end of its command line, and
 * hands each curve over in a memory file. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/table.h"

enum { CHILD_MOST_PARTS = 64 };

/* One probe of a child. */
struct child_part {
	char probe[32]; /* its name */
	size_t number;  /* among all probes of the program, from 1 */
	int file;       /* empty before the part begins, then a byte, at the end the curve */
	int wanted;     /* a file with the points to measure again; -1: a whole sweep */
	double left;    /* seconds that the program still needs when the part begins */
};

struct child_order {
	int process;
	size_t total;      /* probes of the program */
	double core_usual; /* adds a cycle of a core that earlier processes saw, or 0 */
	size_t count;      /* parts */
	struct child_part part[CHILD_MOST_PARTS];
};

/* Removes the order from a child's command line, before options are parsed. False in the parent. */
bool child_take_order(int *argc, char **argv, struct child_order *order);

/* In the child: the part begins; its curve is done. False when the parent cannot be reached. */
bool child_begin(const struct child_part *part);
bool child_send(const struct child_part *part, const struct table *curve);

/* In the child: the points to measure again; NULL for a whole sweep. */
struct table *child_wanted(const struct child_part *part);

/* In the parent: opens a part's files (wanted may be NULL); whether the part began; its curve, NULL
 * with a fault when there is none; closes the files. */
void child_open(struct child_part *part, const struct table *wanted);
bool child_begun(const struct child_part *part);
struct table *child_curve(const struct child_part *part, struct fault *fault);
void child_close(struct child_part *part);

/* Signals that end the parent end the child first. The parent exits at the next
 * child_leave_if_stopped and writes nothing more. */
void child_watch_signals(void);
void child_leave_if_stopped(void);

/* Starts a child and waits for its end. Returns its status as waitpid does. The child runs the
 * program `sibling` of our folder if there is one, else this program. */
int child_run(int argc, char **argv, const struct child_order *order, const char *sibling);
