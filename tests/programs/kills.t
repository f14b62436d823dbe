#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGKILL to quick runs of probe and validate on the host, at moments uniform over the run: no torn file, recorded data untouched,
# and the next run goes on to its end and removes what was left. FATHOM_KILLS: kills in all (8; make kills: 200).
. "$(dirname "$0")/../tap.sh"
. "$root/tests/fixture.sh"
export CUDA_VISIBLE_DEVICES=
unset MACHINE FATHOM_DATA
needs machine probe fit predict measure validate host_parallel host_memory
command -v perl >/dev/null || skip_all 'no perl here'
make_scratch
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
FATHOM_HOME=$root
TMPDIR=$scratch/tmp
export FATHOM_HOME TMPDIR
mkdir "$TMPDIR"
kills=${FATHOM_KILLS:-8}
data=$scratch/data

probe() {
	sh "$root/scripts/probe.sh" "$bin" "$data" 0 '' 'host_parallel host_memory' '' --quick --seconds 0.01 --processes 2 --output "$data"
}
predict() { "$bin/predict" --quick --seed 7 --output "$data"; }
validate() { # goes on with a few predictions
	sh "$root/scripts/validate.sh" "$scratch/bin" "$data" 0 7 drawn quick ''
}

# A busy host would have its disturbed cases measured again for minutes.
mkdir "$scratch/bin"
ln -s "$bin"/* "$scratch/bin"
rm "$scratch/bin/measure"
printf '#!/bin/sh\nexec "%s/measure" "$@" --budget 2\n' "$bin" >"$scratch/bin/measure"
chmod +x "$scratch/bin/measure"

# What each run begins with: nothing; a profile of a made-up host; that with a few predictions, as an interrupted run leaves them.
mkdir -p "$scratch/probe" "$scratch/predict"
fixture_profile host >"$scratch/predict/profile.tsv"
data=$scratch/all
cp -R "$scratch/predict" "$data"
predict >/dev/null || exit 1
mkdir "$scratch/validate"
cp "$data/profile.tsv" "$scratch/validate"
awk '/^#/ || /^operation/ || (/^panel_getrf.*\t750\t/ && n++ < 4)' "$data/predictions.tsv" >"$scratch/validate/predictions.tsv"
data=$scratch/data
cp -R "$scratch/validate" "$data"
{
	echo "quick $("$bin/machine" --version)"
	cksum "$data/profile.tsv" "$data/predictions.tsv"
} >"$scratch/validate/validate.unfinished"

seconds() { perl -MTime::HiRes=time -e 'printf "%.3f\n", time'; }

cat >"$scratch/ended.pl" <<'P'
# ended.pl SECONDS COMMAND...: its status; SIGKILL to its group after the seconds
use Time::HiRes qw(sleep);
my $seconds = shift;
my $child = fork;
if (!$child) { setpgrp; open STDOUT, ">", "/dev/null"; open STDERR, ">&STDOUT"; exec @ARGV; exit 127 }
sleep $seconds;
kill "KILL", -$child;
waitpid $child, 0;
exit($? & 127 ? 137 : $? >> 8);
P
cat >"$scratch/one" <<S
bin="$bin" root="$root" data="$data" scratch="$scratch"
$(sed -n '/^probe() {/,/^}/p; /^predict() {/p; /^validate() {/,/^}/p' "$0")
"\$1"
S

# Files of the folder that are torn: a table whose last line has no end or whose rows have not as many cells as its head.
torn() {
	for file in "$data"/*.tsv; do
		[ -e "$file" ] || continue
		awk -F '\t' '/^#/ && !cells { next } !cells { cells = NF } NF != cells { bad = 1 } END { exit bad || !cells }' "$file" &&
			[ -z "$(tail -c 1 "$file")" ] || echo "${file##*/}"
	done
	[ ! -e "$data/topology.xml" ] || tail -n 1 "$data/topology.xml" | grep -q '</topology>' || echo topology.xml
}
before=$(find "$root/data" -type f -exec cksum {} + | sort | cksum)

killed=0 torn='' stuck='' left=''
each=$(((kills + 3) / 4))
for name in probe predict validate validate; do
	rm -rf "$data"
	cp -R "$scratch/$name" "$data"
	from=$(seconds)
	sh "$scratch/one" "$name" >"$scratch/said" 2>&1 </dev/null
	status=$?
	whole=$(echo "$(seconds) $from" | awk '{ print $1 - $2 }')
	[ $status -eq 0 ] || { report 'not ok' "$name alone: exit status $status: $(tail -n 1 "$scratch/said")" && continue; }
	i=0
	while [ $i -lt $each ]; do
		moment=$(echo "$whole $i $each" | awk '{ print $1 * ($2 + 0.5) / $3 }')
		for try in 1 2 3 4 5; do # on a busy host one run is much longer than another
			rm -rf "$data"
			cp -R "$scratch/$name" "$data"
			perl "$scratch/ended.pl" "$moment" sh "$scratch/one" "$name"
			if [ $? -eq 137 ]; then
				killed=$((killed + 1))
				break
			fi
			moment=$(echo "$moment $try" | awk '{ print 0.7 * $1 }')
		done
		torn="$torn$(torn | tr '\n' ' ')"
		i=$((i + 1))
		[ $((i % 5)) -eq 0 ] || [ $i -eq "$each" ] || continue
		sh "$scratch/one" "$name" >"$scratch/said" 2>&1 </dev/null || stuck="$stuck$name after $i: $(tail -n 1 "$scratch/said") "
		left="$left$(find "$data" "$TMPDIR" -name '*.new' -o -name '*.unfinished' -o -path "$TMPDIR/*" | tr '\n' ' ')"
	done
	echo "# $name: a run of $whole s, $each kills" >&2
done
[ -z "$torn" ]
result $? "no file is torn after $killed kills: $torn"
[ -z "$stuck" ]
result $? "the next run goes on to its end: $stuck"
[ -z "$left" ]
result $? "and leaves no temporary file: $left"
[ "$before" = "$(find "$root/data" -type f -exec cksum {} + | sort | cksum)" ]
result $? 'recorded data is untouched'
[ $killed -eq $((4 * each)) ]
result $? "$killed of $((4 * each)) runs were ended before their end"
echo "1..$number"
