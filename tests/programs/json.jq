# SPDX-License-Identifier: MIT
# What in a program's JSON differs from docs/json.schema.json ($schema[0]), one line each: the parts of JSON Schema that the file uses.
def types: if type == "number" then ["number"] + (if floor == . then ["integer"] else [] end) else [type] end;
def fits($s; $defs):
	. as $value |
	if $s["$ref"] then fits($defs[$s["$ref"] | ltrimstr("#/$defs/")]; $defs)
	elif $s.enum then any($s.enum[]; . == $value)
	elif $s.type then ([$s.type] | flatten) as $may | any(types[]; . as $t | any($may[]; . == $t))
	else true end;
def wrong($s; $defs; $where):
	. as $object |
	(($s.required // [])[] | select(. as $key | $object | has($key) | not) | "\($where): \(.) is missing"),
	(to_entries[] | .key as $key | ($s.properties[$key] // $s.additionalProperties) as $of |
		if $of == false or $of == null then "\($where): \(.key) is not in the schema"
		elif .value | fits($of; $defs) | not then "\($where): \(.key) is \(.value | tojson)" else empty end);
$schema[0] as $s | $s["$defs"] as $defs | .meta.kind as $kind |
wrong($s.properties | {required: $s.required, properties: {meta: {type: "object"}, rows: {type: "array"}}, additionalProperties: false}; $defs; "top"),
(.meta | wrong($s.properties.meta; $defs; "meta")),
(if $kind != $want then "kind \($kind), not \($want)" else empty end),
(if .rows | length == 0 then "no row" else empty end),
(.rows | to_entries[] | .key as $row | .value | wrong($defs[$kind]; $defs; "row \($row)"))
