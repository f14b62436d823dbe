/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "../../lib/msg.h"
#include "products.h"

#include <inttypes.h>

bool measure_product(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct contender contender[MEASURE_CONTENDERS];
	struct product product[MEASURE_CONTENDERS] = {0};
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		product[i] = product_of(&row[i]);
	measure->plan.seed += 1000;
	if (!timing_products(executor, product, &measure->plan, contender, count, &fault)) {
		if (!*measure->plan.stop)
			msg_warn("%s %" PRId64 " x %" PRId64 " on %s: %s", row->operation, row->m,
			        row->n, row->executor, fault.text);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		measure_add(measure, &row[i], &contender[i], out);
	return true;
}
