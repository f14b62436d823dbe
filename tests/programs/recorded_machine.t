#!/bin/sh
# SPDX-License-Identifier: MIT
# Questions about GPUs on a machine whose own profile has no GPU: the recorded machine answers, and the answer says so.

. "$(dirname "$0")/../tap.sh"

needs advise trace predict
make_scratch
bin=$(cd "$bin" && pwd)
. "$root/tests/fixture.sh"
mkdir -p "$scratch/home/data/local"
fixture_profile host >"$scratch/home/data/local/profile.tsv"
ln -s "$recorded" "$scratch/home/data/"
cd "$scratch/home" || exit 1
FATHOM_HOME=$scratch/home
export FATHOM_HOME
unset FATHOM_DATA MACHINE
said='warning: the profile in .*data/local has no GPU: the answer is for the recorded machine in .*data/'${recorded##*/}
what_if='--set gpu.launch.enqueue=1.0us'

# answers PROGRAM ARGUMENT...: the warning, once, on stderr; the answer itself says "recorded"
answers() {
	expect 0 "$said" "$*" "$bin/$@"
	"$bin/$@" 2>&1 >/dev/null </dev/null | grep -c "$said" >"$scratch/times"
	expect 0 '^1$' "$1 says so in one line" cat "$scratch/times"
}

# shellcheck disable=SC2086 # lists of options
{
	answers advise panel --m 8192 --nb 64 $what_if
	answers advise panel --m 8192 --nb 64 --from device
	answers advise update --m 2000 --n 1000 --p 16 --change add_rows $what_if
	answers trace getrf --n 500 --simulate --svg lu.svg
	expect 0 '^</svg>$' "the drawing" cat lu.svg
	expect 0 "^data: .*${recorded##*/} (recorded" "the answer names the machine" "$bin/advise" panel --m 8192 --nb 64 $what_if
	for program in "advise panel --m 8192 --nb 64 $what_if" "trace getrf --n 500 --simulate"; do
		expect 0 "\"recorded_machine\": \".*data/${recorded##*/}\"" "$program --json" "$bin/"$program --json
	done
	expect 0 '^data: .*local (measured here)' "a question that the CPU can answer stays here" "$bin/advise" panel \
		--m 3000 --nb 48
	expect 1 'no GPU: ask --from host' "a folder that is given is not replaced" "$bin/advise" panel --m 3000 --nb 48 \
		--output data/local --from device
	expect 1 'no gpu.sm.count' "nor by trace" "$bin/trace" getrf --n 500 --simulate --output data/local
	expect 2 'no such parameter' "nor by predict" "$bin/predict" --quick --output data/local $what_if
}
echo "1..$number"
