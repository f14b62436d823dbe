/* SPDX-License-Identifier: MIT */
/* The processes that a probe program starts of itself: fresh ones, so that what differs from
 * process to process (addresses, clocks, neighbours) is in the interval. A child gets its order at
 * the end of its command line and hands each curve over in a memory file of its own. */
#ifndef FATHOM_PROBE_CHILD_H
#define FATHOM_PROBE_CHILD_H

#include "lib/base/base.h"
#include "lib/base/table.h"

enum { CHILD_MOST_PARTS = 64 };

struct child_part {
	char probe[32]; /* its name */
	size_t number;  /* of the whole program's probes, from 1 */
	int file;       /* empty until the part is begun, then a byte, at last the curve */
	int wanted;     /* a file with the points of a second visit, -1 for a whole sweep */
	double left;    /* seconds that the whole program still needs when the part is begun */
};

struct child_order {
	int process;
	size_t total;      /* probes of the whole program */
	double core_usual; /* adds a cycle of a core that earlier processes saw, or 0 */
	size_t count;      /* parts */
	struct child_part part[CHILD_MOST_PARTS];
};

/* Cuts the order off a child's command line, before the user's options are parsed. False in the
 * parent. */
bool child_take_order(int *argc, char **argv, struct child_order *order);

/* The child's side of a part: begun; done, with its curve. False when it cannot be handed over. */
bool child_begin(const struct child_part *part);
bool child_send(const struct child_part *part, const struct table *curve);

/* The points of a second visit; NULL for a whole sweep. */
struct table *child_wanted(const struct child_part *part);

/* The parent's side: opens a part's files (wanted may be NULL), whether it was begun, its curve
 * (NULL with a fault when it is none), and closes them. */
void child_open(struct child_part *part, const struct table *wanted);
bool child_begun(const struct child_part *part);
struct table *child_curve(const struct child_part *part, struct fault *fault);
void child_close(struct child_part *part);

/* Signals that would end the parent end the child first; the parent leaves, without writing, at
 * the next child_leave_if_stopped. */
void child_watch_signals(void);
void child_leave_if_stopped(void);

/* Starts a child with this order and waits for its end. Returns its status as waitpid gives it.
 * The child is the program `sibling` in our own folder where there is one, else this program again.
 */
int child_run(int argc, char **argv, const struct child_order *order, const char *sibling);

#endif
