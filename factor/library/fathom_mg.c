/* SPDX-License-Identifier: MIT */
/* Every call has two steps: all members reserve memory, then all members work. A member without
 * memory is thus found before others wait for it. */
#include "fathom_mg_group.h"

#include "lib/base/msg.h"

#include <stdlib.h>

static _Thread_local struct fault create_fault;

struct fault *mg_create_fault(void)
{
	return &create_fault;
}

/* ---- groups ---- */

struct fathom_mg *mg_group(struct mg_member *members, int count, bool (*enter)(struct mg_member *))
{
	struct fathom_mg *group = calloc(1, sizeof *group);

	if (!group)
		return NULL;
	for (int i = 0; i < count; i++) {
		members[i].row_major = members[i].e->row_major;
		members[i].grid = grid_of_row(members[i].comm);
	}
	*group = (struct fathom_mg){.count = count, .members = members, .enter = enter};
	return group;
}

const char *fathom_mg_error(const struct fathom_mg *group)
{
	return group ? group->fault.text : create_fault.text;
}

const char *fathom_mg_note(const struct fathom_mg *group)
{
	return group ? group->note : "";
}

/* ---- calls ---- */

static bool reserve(struct executor *e, void **data, int64_t *have, int64_t bytes)
{
	if (bytes <= *have)
		return true;
	if (*data)
		e->ops->release(e, *data);
	*data = NULL;
	*have = 0;
	if (!e->ops->alloc(e, bytes, data)) {
		e->fault.refused = false; /* missing memory is a failure, no wrong argument */
		return false;
	}
	*have = bytes;
	return true;
}

static bool reserve_work(struct mg_member *m, const struct mg_call *c)
{
	const int64_t bytes = c->bytes ? c->bytes(m, c) : 0;

	return bytes >= 0 && reserve(m->e, &m->work, &m->work_bytes, bytes);
}

/* Without memory for a copy of the columns, LU does without it. */
static bool reserve_all(struct mg_member *m, const struct mg_call *c)
{
	const int64_t integers = min_int64(c->desc->m, c->desc->n) + 1;
	bool ok;

	m->e->row_major = m->row_major;
	ok = reserve_work(m, c);
	if (!ok && m->row_major > 0) {
		m->e->row_major = 0;
		ok = reserve_work(m, c);
	}
	return ok &&
	       reserve(m->e, &m->integers, &m->integers_bytes, integers * (int64_t)sizeof(int));
}

static bool run_all(struct mg_member *m, const struct mg_call *c)
{
	return c->run(m, c) && grid_sync(&m->grid, m->e);
}

enum fathom_status mg_run(struct mg_call *c)
{
	struct fathom_mg *g = c->group;

	if (!g)
		return FATHOM_BAD_ARGUMENT;
	if (!mg_check_matrix(g, "A", c->desc, c->a) ||
	        (c->desc_right && !mg_check_matrix(g, "B", c->desc_right, c->right)) ||
	        (c->tau && !mg_check_tau(g, c->desc, c->tau)))
		return FATHOM_BAD_ARGUMENT;
	c->all_here = g->count == g->members[0].comm->ranks;
	if (!mg_all_members(g, c, reserve_all))
		return g->fault.refused ? FATHOM_BAD_ARGUMENT : FATHOM_FAILED;
	return mg_all_members(g, c, run_all) ? FATHOM_OK : FATHOM_FAILED;
}

/* ---- settings ---- */

enum fathom_status fathom_mg_set_math(struct fathom_mg *group, enum fathom_math math)
{
	static const enum math meant[] = {[FATHOM_MATH_FP32] = MATH_FP32,
	        [FATHOM_MATH_3XTF32] = MATH_3XTF32,
	        [FATHOM_MATH_3XFP16] = MATH_3XFP16};

	if (!group)
		return FATHOM_BAD_ARGUMENT;
	if ((int)math < 0 || (size_t)math >= ARRAY_LEN(meant)) {
		fault_set(&group->fault, "math %d: it is one of enum fathom_math", (int)math);
		return FATHOM_BAD_ARGUMENT;
	}
	for (int i = 0; i < group->count; i++)
		if (!math_possible(group->members[i].e, meant[math])) {
			fault_set(&group->fault, "these GPUs have no %s", math_name[meant[math]]);
			return FATHOM_NOT_POSSIBLE;
		}
	for (int i = 0; i < group->count; i++)
		group->members[i].e->math = meant[math];
	return FATHOM_OK;
}

enum fathom_status fathom_mg_set_timeout(struct fathom_mg *group, double seconds)
{
	if (!group)
		return FATHOM_BAD_ARGUMENT;
	if (!(seconds > 0)) {
		fault_set(&group->fault, "a timeout of %g s: it is above 0", seconds);
		return FATHOM_BAD_ARGUMENT;
	}
	for (int i = 0; i < group->count; i++)
		grid_set_seconds(&group->members[i].grid, seconds);
	return FATHOM_OK;
}

static bool open_grid(struct mg_member *m, const struct mg_call *c)
{
	m->has_made = grid_open(&m->made, m->comm, c->rows, c->columns, &m->e->fault);
	return m->has_made;
}

static bool take_grid(struct mg_member *m, const struct mg_call *c)
{
	(void)c;
	grid_free(&m->grid);
	m->grid = m->made;
	return true;
}

static bool drop_grid(struct mg_member *m, const struct mg_call *c)
{
	(void)c;
	if (m->has_made)
		grid_free(&m->made);
	return true;
}

enum fathom_status fathom_mg_set_grid(struct fathom_mg *group, int rows_asked, int columns_asked)
{
	const struct mg_call call = {.group = group, .rows = rows_asked, .columns = columns_asked};

	if (!group)
		return FATHOM_BAD_ARGUMENT;
	if (mg_all_members(group, &call, open_grid) && mg_all_members(group, &call, take_grid))
		return FATHOM_OK;
	const struct fault fault = group->fault;
	mg_all_members(group, &call, drop_grid); /* all keep the grid that they had */
	group->fault = fault;
	return fault.refused ? FATHOM_BAD_ARGUMENT : FATHOM_FAILED;
}

static bool close_member(struct mg_member *m, const struct mg_call *c)
{
	(void)c;
	if (m->work)
		m->e->ops->release(m->e, m->work);
	if (m->integers)
		m->e->ops->release(m->e, m->integers);
	grid_free(&m->grid);
	comm_free(m->comm);
	executor_free(m->e);
	return true;
}

void fathom_mg_destroy(struct fathom_mg *group)
{
	if (!group)
		return;
	mg_all_members(group, NULL, close_member);
	mg_end_threads(group);
	free(group->members);
	free(group);
}
