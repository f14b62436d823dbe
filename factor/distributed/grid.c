/* SPDX-License-Identifier: MIT */
#include "grid.h"

#include "lib/base/msg.h"

struct grid grid_of_row(struct comm *comm)
{
	return (struct grid){comm, comm, NULL};
}

bool grid_open(struct grid *g, struct comm *comm, int rows, int columns, struct fault *fault)
{
	*g = grid_of_row(comm);
	if (rows < 1 || columns < 1 || (int64_t)rows * columns != comm->ranks)
		return fault_refuse(fault, "a grid of %d x %d is not one of %d ranks", rows,
		        columns, comm->ranks);
	if (rows == 1)
		return true;
	g->row = comm->ops->split(comm, comm->rank / columns * columns, 1, columns, fault);
	if (g->row)
		g->column = comm->ops->split(comm, comm->rank % columns, columns, rows, fault);
	if (g->column)
		return true;
	comm_free(g->row);
	*g = grid_of_row(comm);
	return false;
}

void grid_free(struct grid *g)
{
	if (g->column) {
		comm_free(g->column);
		comm_free(g->row);
	}
	*g = grid_of_row(g->all);
}

void grid_set_seconds(const struct grid *g, double seconds)
{
	g->all->seconds = g->row->seconds = seconds;
	if (g->column)
		g->column->seconds = seconds;
}

bool grid_sync(const struct grid *g, struct executor *e)
{
	return (!g->column || (comm_sync(g->column, e) && comm_sync(g->row, e))) &&
	       comm_sync(g->all, e);
}
