# SPDX-License-Identifier: MIT
# A program's JSON with one row of each shape: rows with the same keys, types and, where docs/json.schema.json ($schema[0]) lists values,
# the same values are equally right.
$schema[0]["$defs"][.meta.kind].properties as $listed |
.rows |= (reduce .[] as $row ({};
	.[$row | to_entries | map(.key, if $listed[.key].enum then .value elif .value == (.value | floor)? then "integer" else .value | type end) | tojson] //= $row) |
	[.[]])
