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
abi=$(sh "$root/scripts/version.sh" --abi)
nm -D --defined-only "$shared" | grep -v ' A ' >"$scratch/symbols"
sed 's/.* //; s/@.*//' "$scratch/symbols" | sort -u >"$scratch/shared"
nm -g --defined-only "$static" | sed -n 's/^[0-9a-f]* [A-Z] //p' | sort -u >"$scratch/static"
succeeds 'the headers declare functions' grep -q fathom_dgetrs "$scratch/declared"
comm -3 "$scratch/declared" "$scratch/shared" >"$scratch/lines"
is_empty 'libfathom.so exports what the headers declare, no more'
grep -v "@LIBFATHOM_$abi\$" "$scratch/symbols" >"$scratch/lines"
is_empty 'each with the version of the interface'
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
# One program stands for all: with the GPU's code in them they fill gigabytes. The tree is moved, as a package may be.
place=lib/$(cc -print-multiarch 2>/dev/null)
place=${place%/}
install_to() { # prefix
	env DESTDIR='' LIBRARY="${bin%/bin}" LIBDIR="$1/$place" sh "$root/scripts/install.sh" "$1" "$bin/machine"
}
succeeds 'install' install_to "$scratch/first"
prefix="$scratch/some where"
mv "$scratch/first" "$prefix"
lib=$prefix/$place
if command -v cmake >/dev/null; then
	mkdir "$scratch/cmake"
	cp "$scratch/user.c" "$scratch/cmake"
	cp "$scratch/user.c" "$scratch/cmake/user.cc"
	cat >"$scratch/cmake/CMakeLists.txt" <<-'CMAKE'
		cmake_minimum_required(VERSION 3.13)
		project(user LANGUAGES C CXX)
		find_package(fathom ${WANTED} CONFIG REQUIRED)
		add_executable(user user.c)
		add_executable(user_cxx user.cc)
		target_link_libraries(user fathom::fathom)
		target_link_libraries(user_cxx fathom::fathom)
	CMAKE
	finds() { # release asked for
		cmake -S "$scratch/cmake" -B "$scratch/cmake/build" -DWANTED="$1" -DCMAKE_PREFIX_PATH="$prefix"
	}
	succeeds 'CMake finds the package in the moved tree' finds ''
	succeeds 'and builds C and C++ with it' cmake --build "$scratch/cmake/build"
	succeeds 'which runs' "$scratch/cmake/build/user"
	succeeds 'in both languages' "$scratch/cmake/build/user_cxx"
	succeeds 'this release is found by its number' finds "$(sh "$root/scripts/version.sh" --release)"
	! finds "9$abi" >"$scratch/said" 2>&1 && grep -q 'not accepted' "$scratch/said"
	result $? 'a later one is not'
else
	report ok 'CMake finds the package # SKIP no cmake'
fi
if command -v pkg-config >/dev/null; then
	export PKG_CONFIG_PATH="$lib/pkgconfig"
	build_user() { # pkg-config's options
		eval "set -- $(pkg-config "$@" --cflags --libs fathom)"
		cc -o "$scratch/user" "$scratch/user.c" -Wl,-rpath,"$lib" "$@"
	}
	succeeds 'a program links with the installed libfathom.so' build_user
	succeeds 'and runs' "$scratch/user"
	ldd "$scratch/user" | grep -q "libfathom.so.$abi => $lib/"
	result $? 'it asks for the version that it was linked with'
	rm -f "$lib/libfathom.so"
	succeeds 'and with the installed libfathom.a' build_user --static
	succeeds 'and runs' "$scratch/user"
else
	report ok 'linking with an installed copy # SKIP no pkg-config'
fi
env DESTDIR='' LIBDIR="$lib" sh "$root/scripts/install.sh" --remove "$prefix" >/dev/null
find "$prefix" ! -type d >"$scratch/lines"
is_empty 'uninstall leaves nothing'
echo "1..$number"
