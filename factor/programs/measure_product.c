/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/products.h"

#include <inttypes.h>

bool measure_product(struct measure *measure, struct executor *executor, struct result *row,
        size_t count, struct results *out)
{
	struct candidate candidate[MEASURE_CANDIDATES];
	struct product product[MEASURE_CANDIDATES] = {0};
	struct fault fault = {""};

	for (size_t i = 0; i < count; i++)
		product[i] = product_of(&row[i]);
	measure->plan.seed += 1000;
	bool timed = timing_products(executor, product, &measure->plan, candidate, count, &fault);
	return measure_add_all(measure, row, candidate, count, timed, &fault, out);
}
