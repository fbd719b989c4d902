#!/bin/sh
# The build cost of each solver: packages, elapsed and processor seconds of a clean build of an empty program.
# HiGHS needs cmake, a C++ compiler and libclang.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "| crate | packages | elapsed | processor time |"
echo "|---|---|---|---|"
for crate in microlp clarabel highs; do
    cargo new --quiet --vcs none "with_$crate"
    cd "with_$crate"
    cargo add --quiet "$crate"
    cargo fetch --quiet
    packages=$(cargo tree --edges normal,build --prefix none | sed 's/ (\*)//' | grep -v '^\[' | sort -u | grep -c .)
    bash -c 'TIMEFORMAT="%R %U %S"; time cargo build --release --quiet --target-dir target' 2> ../seconds
    # Minus the empty program.
    awk -v crate="$crate" -v packages="$((packages - 1))" \
        '{ printf "| %s | %d | %.0f s | %.0f s |\n", crate, packages, $1, $2 + $3 }' ../seconds
    cd ..
done
