#!/bin/sh
# SPDX-License-Identifier: MIT
# The client library (docs/cusolver-client.md) with stand-ins for cuSOLVER, libfathom and the device, on the host: preloaded, and under
# cuSOLVER's name in a folder. Then the built libraries, where the CUDA Toolkit is.
. "$(dirname "$0")/../tap.sh"
cd "$root" || exit 1
make_scratch
unset FATHOM_CUSOLVER FATHOM_CUSOLVER_REAL LD_LIBRARY_PATH LD_PRELOAD

sources=factor/library/cusolver
flags="-std=c11 -D_GNU_SOURCE -O1 -g -fPIC -fvisibility=hidden -Wall -Wextra -Werror -I. $(pkg-config --cflags openblas 2>/dev/null)"
cpu=$(cc -dumpmachine | cut -d- -f1)
if ! cc -dM -E -include features.h -x c /dev/null 2>/dev/null | grep -q __GLIBC__; then
	skip_all 'the client library is for the GNU C library'
fi

# compile OBJECT SOURCE [FLAG...]
compile() {
	object=$1 source=$2
	shift 2
	# shellcheck disable=SC2086 # words
	cc $flags -DLIBFATHOM_SONAME='"libfathom.so.0.1"' "$@" -c "$source" -o "$scratch/$object.o"
}
# shared FILE SONAME FLAG...
shared() {
	file=$1 soname=$2
	shift 2
	mkdir -p "$(dirname "$scratch/$file")"
	cc -shared -Wl,-soname,"$soname" -Wl,--no-undefined -o "$scratch/$file" "$@"
}
build() {
	compile standin_cusolver tests/library/client_cusolver.c || return
	echo 'libcusolver.so.12 { global: cusolverDn*; local: *; };' >"$scratch/standin.map"
	shared real/libcusolver.so.12 libcusolver.so.12 "$scratch/standin_cusolver.o" -Wl,--version-script,"$scratch/standin.map" || return
	compile standin_libfathom tests/library/client_libfathom.c || return
	shared libfathom.so.0.1 libfathom.so.0.1 "$scratch/standin_libfathom.o" -llapacke -lopenblas || return
	compile device tests/library/client_device.c || return
	objects=$scratch/device.o
	for source in "$sources"/*.c; do
		name=$(basename "$source" .c)
		compile "$name" "$source" || return
		[ "$name" = trampoline ] || objects="$objects $scratch/$name.o"
	done
	# shellcheck disable=SC2086 # words
	{
		shared libfathom_cusolver.so libfathom_cusolver.so $objects -ldl -lpthread -Wl,-rpath,"\$ORIGIN" \
			-Wl,--version-script,"$sources/exports.map" || return
		cc $flags tests/library/client_program.c -o "$scratch/linked" "$scratch/real/libcusolver.so.12" -Wl,-rpath,"$scratch/real" \
			-rdynamic -lm -ldl -lpthread || return
		cc $flags -DBY_NAME tests/library/client_program.c -o "$scratch/by_name" -lm -ldl -lpthread -Wl,-rpath,"$scratch/real" || return
		cc $flags -DBY_NAME tests/library/client_program.c -o "$scratch/no_path" -lm -ldl -lpthread || return
		sh scripts/trampolines.sh "$cpu" "$scratch/real/libcusolver.so.12" $objects >"$scratch/jumps.s" || return
		sh scripts/trampolines.sh --map "$scratch/real/libcusolver.so.12" >"$scratch/names.map" || return
		cc -c "$scratch/jumps.s" -o "$scratch/jumps.o" || return
		shared folder/libcusolver.so.12 libcusolver.so.12 $objects "$scratch/trampoline.o" "$scratch/jumps.o" -ldl -lpthread \
			-Wl,-rpath,"\$ORIGIN/.." -Wl,--version-script,"$scratch/names.map" || return
	}
}
case $cpu in
x86_64 | aarch64) ;;
*) skip_all "there are no trampolines for $cpu" ;;
esac
build >"$scratch/built" 2>&1
result $? 'the stand-ins, the library and two clients compile'
head -n 20 "$scratch/built" | sed 's/^/# /' >&2
if [ ! -x "$scratch/by_name" ] || [ ! -f "$scratch/folder/libcusolver.so.12" ]; then
	echo "1..$number"
	exit 1
fi

preloaded() { # variables and a command
	env LD_PRELOAD="$scratch/libfathom_cusolver.so" "$@"
}
in_folder() {
	env LD_LIBRARY_PATH="$scratch/folder" "$@"
}
both() { # both ways: the library under cuSOLVER's name is preloaded, too
	env LD_PRELOAD="$scratch/folder/libcusolver.so.12" "$@"
}

# ---- what is answered, passed on, counted
for way in preloaded in_folder both; do
	client=$scratch/linked
	expect 0 'answered: 0 wrong' "$way: every call is answered, right, and counted" "$way" "$client" answered
	expect 0 'passed: 0 wrong' "$way: what libfathom does not do is passed on" "$way" "$client" passed
	expect 0 'off: 0 wrong' "$way: FATHOM_CUSOLVER=off passes all on" "$way" FATHOM_CUSOLVER=off "$client" off
	expect 0 'other: 0 wrong' "$way: other functions are cuSOLVER's" "$way" "$client" other
	expect 0 'threads: 0 wrong' "$way: eight threads" "$way" "$client" threads
done
for way in in_folder both; do
	client=$scratch/by_name
	expect 0 'answered: 0 wrong' "$way: a client that opens cuSOLVER by name" "$way" "$client" answered
	expect 0 'passed: 0 wrong' "$way: what it is not answered is passed on" "$way" "$client" passed
	expect 0 'other: 0 wrong' "$way: it finds cuSOLVER's other functions" "$way" "$client" other
done
expect 0 'answered: 0 wrong' 'a client that opens the file of cuSOLVER, then its name' \
	both CLIENT_OPENS="$scratch/real/libcusolver.so.12" "$scratch/by_name" answered
expect 0 'off: 0 wrong' 'no memory for a handle: all is passed on' preloaded STANDIN_NO_HANDLE=1 "$scratch/linked" off
expect 1 'there is no fathom_cusolver_answered' 'a preload does not reach a client that opens cuSOLVER by name' \
	preloaded "$scratch/by_name" answered

preloaded STANDIN_GONE=1 "$scratch/linked" answered >"$scratch/said" 2>&1
grep -q '^answered: 0 wrong' "$scratch/said" && ! grep -q 'is freed' "$scratch/said"
result $? 'after a reset of the device nothing of the old context is freed'

# ---- where cuSOLVER is
expect 0 'other: 0 wrong' 'FATHOM_CUSOLVER_REAL names it' \
	in_folder FATHOM_CUSOLVER_REAL="$scratch/real/libcusolver.so.12" "$scratch/by_name" other
expect 0 'other: 0 wrong' 'the next folder of the search has it' \
	env LD_LIBRARY_PATH="$scratch/folder:$scratch/real" "$scratch/no_path" other
if ! ldconfig -p 2>/dev/null | grep -q 'libcusolver\.so\.12'; then
	expect 1 'no libcusolver.so.12 was found to pass calls on to: FATHOM_CUSOLVER_REAL can name the file' 'where it is not, a sentence says so' \
		in_folder "$scratch/no_path" other
fi
expect 1 'FATHOM_CUSOLVER_REAL=/nowhere is not cuSOLVER' 'a name of nothing is said' \
	in_folder FATHOM_CUSOLVER_REAL=/nowhere "$scratch/by_name" other
expect 1 'is not cuSOLVER' 'the library itself is not cuSOLVER' \
	in_folder FATHOM_CUSOLVER_REAL="$scratch/libfathom_cusolver.so" "$scratch/by_name" other

# ---- what it says
verbose="preloaded FATHOM_CUSOLVER=verbose $scratch/linked"
# shellcheck disable=SC2086 # words
{
	expect 0 '^libfathom_cusolver: cusolverDnSgetrf 24 x 24, ld 29: answered by libfathom$' 'verbose: who answered' $verbose answered
	expect 0 'cusolverDnDormqr 24 x 3, k 24, side L, trans T, ld 29: answered' 'verbose: sizes and letters' $verbose answered
	expect 0 'cusolverDnXgetrf_bufferSize .* cuSOLVER wants 8 bytes, libfathom [0-9]*$' 'verbose: workspaces' $verbose answered
	expect 0 '^libfathom_cusolver: cusolverDnSgetrf: 2 answered by libfathom, 0 passed on$' 'verbose: counts at the end' $verbose answered
	expect 0 'all calls: [0-9]* answered by libfathom, 0 passed on$' 'and their sum' $verbose answered
	expect 0 'cusolverDnSgetrf .* passed on to cuSOLVER: a stream is under capture' 'verbose: the reason' $verbose passed
	expect 0 'cusolverDnSgetrf .* passed on to cuSOLVER: devIpiv is NULL' 'verbose: another reason' $verbose passed
	expect 0 'cusolverDnDorgqr .* passed on to cuSOLVER: the stand-in refuses' "verbose: libfathom's own" $verbose passed
	expect 0 'bytes, libfathom [0-9]*, which are not free: the call will be passed on' 'verbose: too little free memory' $verbose passed
	expect 0 'its workspace has 8 bytes and [0-9]* are needed' 'verbose: too little workspace' $verbose passed
}
expect 0 'passed on to cuSOLVER: no fathom handle: out of device memory' 'verbose: too little device memory' \
	preloaded FATHOM_CUSOLVER=verbose STANDIN_NO_HANDLE=1 "$scratch/linked" off
mv "$scratch/libfathom.so.0.1" "$scratch/away"
expect 0 'passed on to cuSOLVER: libfathom cannot be loaded' 'without libfathom all is passed on, with the reason' \
	preloaded FATHOM_CUSOLVER=verbose "$scratch/linked" off
mv "$scratch/away" "$scratch/libfathom.so.0.1"
expect 0 'FATHOM_CUSOLVER=loud is unknown and does nothing: on, off and verbose are possible' 'an unknown value is said' \
	preloaded FATHOM_CUSOLVER=loud "$scratch/linked" answered
preloaded FATHOM_CUSOLVER=loud "$scratch/linked" answered 2>&1 >/dev/null | grep -c loud | grep -qx 1
result $? 'once'
preloaded FATHOM_CUSOLVER=verbose true 2>"$scratch/said"
test ! -s "$scratch/said"
result $? 'a program without cuSOLVER hears nothing'
preloaded "$scratch/linked" answered 2>"$scratch/said" >/dev/null
test ! -s "$scratch/said"
result $? 'nothing is said without verbose'

# ---- the script for Python's clients
if command -v python3 >/dev/null; then
	expect 77 'there is no libfathom_cusolver.so in /nowhere' 'the script for PyTorch, CuPy and JAX needs the library' \
		python3 tests/library/cusolver_clients.py --library /nowhere
	expect 2 'unknown clients: julia' 'and knows three clients' python3 tests/library/cusolver_clients.py --clients julia
	expect 77 'needs PyTorch, a GPU and /nowhere/libfathom_cusolver.so' 'so does the script for tall QR' \
		python3 tests/library/cusolver_tall.py --library /nowhere
else
	report ok 'the script for PyTorch, CuPy and JAX # SKIP no python3'
fi

# ---- the built libraries
shared_library=${bin%/bin}/libfathom_cusolver.so
if [ ! -f "$shared_library" ]; then
	report ok 'the built libraries # SKIP built without the CUDA Toolkit'
	echo "1..$number"
	exit 0
fi
readelf -d "$shared_library" | grep NEEDED | grep -e libcu -e libfathom -e nvidia >"$scratch/lines"
test ! -s "$scratch/lines"
result $? 'nothing of CUDA is loaded with it'
nm -D --defined-only "$shared_library" | sed 's/.* //; s/@.*//' | grep -v -e '^cusolverDn' -e '^fathom_cusolver_' >"$scratch/lines"
test ! -s "$scratch/lines"
result $? "it exports cuSOLVER's names and its counters alone"
named=$(ls "${bin%/bin}"/fathom-cusolver/libcusolver.so.* 2>/dev/null)
cusolver=${CUDA_HOME:-/usr/local/cuda}/lib64/libcusolver.so
if [ -f "$named" ] && [ -f "$cusolver" ]; then
	nm -D --defined-only "$cusolver" | awk '$2 != "A" { print $3 }' | sort >"$scratch/real.names"
	nm -D --defined-only "$named" | awk '$2 != "A" { print $3 }' | sort >"$scratch/named.names"
	comm -23 "$scratch/real.names" "$scratch/named.names" >"$scratch/lines"
	test "$(wc -l <"$scratch/real.names")" -gt 500 && test ! -s "$scratch/lines"
	result $? "under cuSOLVER's name it has all of cuSOLVER's symbols, with their version"
	comm -13 "$scratch/real.names" "$scratch/named.names" | grep -v '^fathom_cusolver_[a-z]*@@FATHOM_CUSOLVER$' >"$scratch/lines"
	test ! -s "$scratch/lines"
	result $? 'and no other'
	test "$(readelf -d "$cusolver" | grep -o '\[libcusolver.*')" = "$(readelf -d "$named" | grep -o '\[libcusolver.*')"
	result $? 'and its soname'
	cat >"$scratch/version.c" <<-'C'
		#include <dlfcn.h>
		#include <stdio.h>
		int main(int count, char **words)
		{
			void *library = dlopen(words[count - 1], RTLD_NOW);
			int (*get)(int *) = library ? (int (*)(int *))dlsym(library, "cusolverGetVersion") : NULL;
			int version = 0;
			return !get || get(&version) != 0 || printf("version %d\n", version) < 0 || version < 11000;
		}
	C
	cc "$scratch/version.c" -o "$scratch/version" -ldl
	expect 0 "$("$scratch/version" "$cusolver")" 'it passes a call on to the CUDA Toolkit'"'"'s cuSOLVER' \
		env LD_LIBRARY_PATH="$(dirname "$named")" "$scratch/version" "$(basename "$named")"
else
	report ok "the library under cuSOLVER's name # SKIP not built, or no $cusolver"
fi
echo "1..$number"
