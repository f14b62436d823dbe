/* SPDX-License-Identifier: MIT */
/* The functions of the profile that a prediction reads thousands of times, each from a dense table
 * (lib/profile/profile_grid.h) that is built at its first reading. */
#include "cost.h"

#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"

#include <math.h>
#include <string.h>

static void read_once(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t args)
{
	struct arg first[GRID_ARGS];

	for (size_t k = 0; k < args; k++)
		first[k] = (struct arg){arg[k], at[k]};
	model_value(&reader->model, name, first, args);
}

/* The first row is read the ordinary way, too, which notes the parameter as used or missing. */
static void build(struct cost_reader *reader, struct profile_grid *grid, const char *name,
        const char *const *arg, const double *at, size_t args)
{
	profile_grid_build(grid, reader->model.profile, reader->model.scale,
	        reader->hardware != NULL, name, arg, args);
	if (grid->inverse)
		reader->work[grid - reader->surface] = reader->hardware->find(name);
	read_once(reader, name, arg, grid->args ? grid->first : at, args);
}

static const struct profile_grid *surface_of(struct cost_reader *reader, const char *name,
        const char *const *arg, const double *at, size_t args)
{
	unsigned char *last = &reader->last[cost_name_hash(name) >> 32 & (COST_NAMES - 1)];
	size_t unused = reader->surfaces;

	if (*last < reader->surfaces && reader->surface[*last].name == name)
		return &reader->surface[*last];
	for (size_t i = reader->surfaces; i-- > 0;) {
		struct profile_grid *s = &reader->surface[i];
		if (!s->name)
			unused = i;
		if (!s->name || (s->name != name && strcmp(s->name, name) != 0))
			continue;
		*last = (unsigned char)i;
		return s;
	}
	if (unused == COST_SURFACES)
		msg_die(EXIT_MEASURE_FAILED,
		        "bug: one prediction reads more than %d functions of the profile",
		        COST_SURFACES);
	if (unused == reader->surfaces)
		reader->surfaces++;
	*last = (unsigned char)unused;
	build(reader, &reader->surface[unused], name, arg, at, args);
	return &reader->surface[unused];
}

void cost_hardware_change(
        struct cost_hardware *hardware, const struct profile *profile, const char *name)
{
	hardware->change(hardware, profile, name);
	if (!profile_word_in(name, hardware->model->used, hardware->model->used_count))
		return;
	for (size_t i = 0; i < COST_BODIES; i++)
		hardware->body[i].name = NULL;
}

/* The law's seconds at a point of the surface. work: what find says of it, NULL: to be asked. */
static double body_seconds(struct cost_reader *reader, const void *work, const char *name,
        const char *const *arg, const double *at, size_t count)
{
	struct cost_hardware *hardware = reader->hardware;
	struct cost_body new = {.name = name};
	uint64_t hash = cost_name_hash(name), bits[COST_ARGS];

	memcpy(new.at, at, count * sizeof *at);
	memcpy(bits, new.at, sizeof bits);
	for (size_t k = 0; k < count; k++)
		hash = cost_hash(hash, bits[k]);
	struct cost_body *body = &hardware->body[hash % COST_BODIES];
	if (body->name == name && memcmp(body->at, new.at, sizeof new.at) == 0)
		return body->seconds;
	new.seconds = hardware->seconds(
	        hardware, work ? work : hardware->find(name), name, arg, at, count);
	*body = new;
	return new.seconds;
}

static const void *work_of(const struct cost_reader *reader, const struct profile_grid *s)
{
	return reader->work[s - reader->surface];
}

double cost_surface(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count)
{
	return cost_surface_with(reader, name, arg, at, count, count);
}

double cost_surface_with(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t known)
{
	const struct profile_grid *s = surface_of(reader, name, arg, at, count);

	if (s->args == 0 && isnan(s->value[0])) /* what is missing is noted each time */
		read_once(reader, name, arg, at, count);
	const double value = profile_grid_read(s, at, &reader->model.extrapolated);
	if (!s->inverse)
		return value;
	return s->start + value * body_seconds(reader, work_of(reader, s), name, arg, at, known);
}

double cost_surface_width(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, double columns)
{
	enum { NARROWEST = 32, WIDTH = 1 };
	const struct profile_grid *s = surface_of(reader, name, arg, at, count);
	double whole[GRID_ARGS];

	if (s->args == 0)
		return cost_surface(reader, name, arg, at, count);
	memcpy(whole, at, count * sizeof *at);
	const double first = profile_grid_argument(s, WIDTH, 0),
	             last = profile_grid_argument(s, WIDTH, s->count[WIDTH] - 1);
	if (at[WIDTH] < first)
		whole[WIDTH] = first;
	else if (at[WIDTH] > NARROWEST && columns < last + 1)
		whole[WIDTH] = columns;
	const double value = profile_grid_read(s, whole, &reader->model.extrapolated),
	             start = cost_scalar(reader, "gpu.launch.dependent");
	return s->inverse ? s->start + value * body_seconds(reader, work_of(reader, s), name, arg,
	                                               at, count)
	                  : start + fmax(0, value - start) * at[WIDTH] / whole[WIDTH];
}

double cost_surface_near(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *near, const double *at, size_t count, size_t known)
{
	const struct profile_grid *s = surface_of(reader, name, arg, near, count);
	const double value = profile_grid_read(s, near, &reader->model.extrapolated);

	return s->inverse ? s->start + value * body_seconds(reader, work_of(reader, s), name, arg,
	                                               at, known)
	                  : value;
}

double cost_work_ratio(struct cost_reader *reader, const char *name, const char *other,
        const char *const *arg, const double *at, size_t count)
{
	return cost_by_work(reader, other, arg, at, count)
	               ? body_seconds(reader, NULL, name, arg, at, count) /
	                         body_seconds(reader, NULL, other, arg, at, count)
	               : 1;
}

double cost_of_work(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count)
{
	return reader->hardware ? body_seconds(reader, NULL, name, arg, at, count) : NAN;
}

bool cost_by_work(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count)
{
	return surface_of(reader, name, arg, at, count)->inverse;
}

double cost_along(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, cost_course course, const void *self)
{
	const struct profile_grid *s = surface_of(reader, name, arg, at, count);
	const bool linear = s->scale == PROFILE_LINEAR;
	double row[GRID_ARGS] = {0}, between = 0;

	if (s->args == 0 || s->inverse) /* the hardware law knows the course */
		return 1;
	for (size_t which = 0; which < (size_t)1 << s->args; which++) {
		const double part = profile_grid_corner(s, at, which, row),
		             here = course(row, self);
		between += part * (linear ? here : log(here));
	}
	return course(at, self) / (linear ? between : exp(between));
}

double cost_surface_begin(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which)
{
	const struct profile_grid *s = surface_of(reader, name, arg, at, count);

	return s->args == 0 ? 0 : profile_grid_argument(s, which, 0);
}

double cost_surface_end(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which)
{
	const struct profile_grid *s = surface_of(reader, name, arg, at, count);

	return s->args == 0 ? INFINITY : profile_grid_argument(s, which, s->count[which] - 1);
}

void cost_surface_rows(struct cost_reader *reader, const char *name, const char *const *arg,
        const double *at, size_t count, size_t which, double rows[2])
{
	const struct profile_grid *s = surface_of(reader, name, arg, at, count);
	size_t i = 0;

	rows[0] = rows[1] = at[which];
	while (s->args > 0 && i < s->count[which] &&
	        profile_grid_argument(s, which, i) <= at[which])
		i++;
	if (i == 0 || i >= s->count[which])
		return;
	rows[0] = profile_grid_argument(s, which, i - 1);
	rows[1] = profile_grid_argument(s, which, i);
}

double cost_surface1(struct cost_reader *reader, const char *name, const char *arg, double at)
{
	return cost_surface(reader, name, &arg, &at, 1);
}

double cost_surface2(struct cost_reader *reader, const char *name, const char *arg1, double at1,
        const char *arg2, double at2)
{
	return cost_surface(
	        reader, name, (const char *const[]){arg1, arg2}, (const double[]){at1, at2}, 2);
}

double cost_traffic(struct cost_reader *reader, const char *curve, double bytes)
{
	return cost_surface1(reader, curve, "bytes", bytes) -
	       cost_surface1(reader, curve, "bytes", 0);
}
