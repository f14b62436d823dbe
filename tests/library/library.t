#!/bin/sh
# SPDX-License-Identifier: MIT
# libfathom for its users: the header alone, the symbols, the libraries that it needs, linking with an
# installed copy.

. "$(dirname "$0")/../tap.sh"

header=$root/factor/library/fathom.h
header_mg=$root/factor/library/fathom_mg.h
shared=${bin%/bin}/libfathom.so
static=${bin%/bin}/libfathom.a
make_scratch

# succeeds WHAT COMMAND...
succeeds() {
	what=$1
	shift
	if "$@" >"$scratch/said" 2>&1 </dev/null; then
		report ok "$what"
	else
		report "not ok" "$what"
		echo "# $(head -n 4 "$scratch/said")" >&2
	fi
}

# is_empty WHAT: no lines in $scratch/lines
is_empty() {
	succeeds "$1" test ! -s "$scratch/lines"
	[ ! -s "$scratch/lines" ] || echo "# $(head -n 4 "$scratch/lines")" >&2
}

# ---- the header

# in_c FILE, in_cxx FILE: a header alone
in_c() {
	succeeds "${1##*/} alone is C11" cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$1"
}
in_cxx() {
	succeeds "${1##*/} alone is C++" c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$1"
}
in_c "$header"
in_c "$header_mg"
if command -v c++ >/dev/null; then
	in_cxx "$header"
	in_cxx "$header_mg"
else
	report ok 'the headers alone are C++ # SKIP no C++ compiler'
fi
if [ ! -f "$shared" ]; then
	report ok 'the library # SKIP built without the CUDA Toolkit'
	echo "1..$number"
	exit 0
fi

# ---- the symbols

sed -n 's/.*\(fathom_[a-z_]*\)(.*/\1/p' "$header" "$header_mg" | sort -u >"$scratch/declared"
nm -D --defined-only "$shared" | sed 's/.* //; s/@.*//' | sort -u >"$scratch/shared"
nm -g --defined-only "$static" | sed -n 's/^[0-9a-f]* [A-Z] //p' | sort -u >"$scratch/static"
succeeds 'the headers declare functions' grep -q fathom_dgetrs "$scratch/declared"
comm -3 "$scratch/declared" "$scratch/shared" >"$scratch/lines"
is_empty 'libfathom.so exports what the headers declare, no more'
comm -3 "$scratch/declared" "$scratch/static" >"$scratch/lines"
is_empty 'so does libfathom.a'
{
	nm -D "$shared"
	nm "$static"
	readelf -d "$shared"
} 2>&1 | grep -i cusolver >"$scratch/lines"
is_empty 'no cuSOLVER in either'

# ---- the examples

# solves EXAMPLE PATTERN
solves() {
	"${bin%/bin}/examples/$1" >"$scratch/example" 2>&1
	if [ $? -eq 77 ]; then
		report ok "the example $1 # SKIP $(head -n 1 "$scratch/example")"
	else
		expect 0 "$2" "the example $1 solves its system" cat "$scratch/example"
	fi
}

solves lu '^info 0, x from 1\.000 to 1\.000$'
solves several_gpus '^info 0, x from 1\.000 to 1\.000, [0-9]* GPUs$'
solves graph '^x from 1\.000 to 1\.000, [0-9.]* ms by calls, [0-9.]* ms as a graph$'

# ---- an installed copy

cat >"$scratch/user.c" <<'C'
#include <fathom.h>
#include <stdio.h>

int main(void)
{
	struct fathom *handle;
	enum fathom_status status = fathom_create(&handle);

	puts(status == FATHOM_OK ? fathom_error(handle) : fathom_error(NULL));
	fathom_destroy(handle);
	return status != FATHOM_OK && status != FATHOM_NOT_POSSIBLE;
}
C
prefix=$scratch/usr
# One program stands for all: with the GPU's code in them they fill gigabytes.
succeeds 'install' env DESTDIR='' LIBRARY="${bin%/bin}" sh "$root/scripts/install.sh" "$prefix" "$bin/machine"
if ! command -v pkg-config >/dev/null; then
	report ok 'linking with an installed copy # SKIP no pkg-config'
	echo "1..$number"
	exit 0
fi
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046 # lists of options
succeeds 'a program links with the installed libfathom.so' cc -o "$scratch/user" "$scratch/user.c" \
	-Wl,-rpath,"$prefix/lib" $(pkg-config --cflags --libs fathom)
succeeds 'and runs' "$scratch/user"
release=$(sed -n 's/^release=//p' "$root/scripts/version.sh")
ldd "$scratch/user" | grep -q "libfathom.so.${release%.*} => $prefix/lib/"
result $? 'it asks for the version that it was linked with'
rm -f "$prefix/lib/libfathom.so"
# shellcheck disable=SC2046
succeeds 'and with the installed libfathom.a' cc -o "$scratch/user" "$scratch/user.c" \
	$(pkg-config --static --cflags --libs fathom)
succeeds 'and runs' "$scratch/user"
sh "$root/scripts/install.sh" --remove "$prefix" >/dev/null
find "$prefix" ! -type d >"$scratch/lines"
is_empty 'uninstall leaves nothing'
echo "1..$number"
