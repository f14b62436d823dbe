/* SPDX-License-Identifier: MIT */
#include "curve_link.h"

#include "lib/base/msg.h"
#include "lib/stats/estimate.h"

#include <stdlib.h>

static size_t key_count(const struct curve_link *link)
{
	size_t n = 0;

	while (n < LINK_KEYS && link->key[n])
		n++;
	return n;
}

/* The line through the n points of one combination of keys. */
static void add_line(const struct table *curve, struct profile *profile,
        const struct curve_link *link, const struct curve_link_bounds *bounds,
        const struct point *points, size_t n)
{
	const struct curve_line line = curve_fit_line(curve, points, n, NULL);
	char *method = xasprintf("%s; alpha + bytes/beta, %s", link->what, line.residuals);
	struct arg key[LINK_KEYS];

	for (size_t k = 0; k < key_count(link); k++)
		key[k] = (struct arg){link->key[k], curve_arg(curve, points, link->key[k])};
	const double share = link->share ? link->share(key[0].value) : 1;
	const struct {
		bool wanted;
		const char *suffix, *unit;
		double low, high;
		struct estimate value;
	} rows[] = {{link->alpha, "alpha", "s", bounds->least_seconds, bounds->most_alpha,
	                    line.fit.alpha},
	        {link->beta, "beta", "B/s", bounds->least_rate, bounds->most_rate,
	                estimate_times(line.fit.beta, share)}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *name = xasprintf("%s.%s", link->name, rows[i].suffix);
		const struct parameter_spec spec = {
		        name, rows[i].unit, method, NULL, rows[i].low, rows[i].high};
		if (rows[i].wanted)
			profile_add(profile, &spec, key, key_count(link), rows[i].value, line.busy);
		free(name);
	}
	free(method);
}

static bool same_keys(const struct table *curve, const struct curve_link *link,
        const struct point *a, const struct point *b)
{
	for (size_t k = 0; k < key_count(link); k++)
		if (!(curve_arg(curve, a, link->key[k]) == curve_arg(curve, b, link->key[k])))
			return false;
	return true;
}

/* Each combination of keys once, in the order of their first points. */
static void add_lines(const struct table *curve, struct profile *profile,
        const struct curve_link *link, const struct curve_link_bounds *bounds)
{
	struct point *points;
	const size_t n = curve_points(curve, link->series, &points);
	struct point *own = xcalloc(n + 1, sizeof *own);

	if (n == 0 && key_count(link) == 0)
		add_line(curve, profile, link, bounds, points, 0);
	for (size_t i = 0; i < n; i++) {
		size_t first = 0, count = 0;
		while (first < i && !same_keys(curve, link, &points[first], &points[i]))
			first++;
		if (first < i)
			continue;
		for (size_t j = i; j < n; j++)
			if (same_keys(curve, link, &points[j], &points[i]))
				own[count++] = points[j];
		add_line(curve, profile, link, bounds, own, count);
	}
	free(own);
	free(points);
}

void curve_fit_link(const struct table *curve, struct profile *profile,
        const struct curve_link *link, const struct curve_link_bounds *bounds)
{
	char *name = xasprintf("%s.time", link->name);
	char *method = xasprintf("%s; host clock, call to completion", link->what);
	const struct curve_rows times = {link->series,
	        {name, "s", method, NULL, bounds->least_seconds, bounds->most_seconds},
	        .column = {"bytes"}};

	if (link->beta)
		add_lines(curve, profile, link, bounds);
	if (link->times)
		curve_fit_rows(curve, profile, &times, 1, true);
	free(method);
	free(name);
}
