#!/bin/sh
# Fuzzes every reader: fuzz/run.sh [SECONDS [READER...]]. Findings are stored in fuzz/found.
# Works on stable Rust: coverage is an LLVM pass without nightly flags. The fuzzer needs a C++ compiler.
set -eu
cd "$(dirname "$0")"
seconds=${1:-30}
[ $# -gt 0 ] && shift
readers=${*:-$(ls corpus)}
target=$(rustc -vV | sed -n 's/^host: //p')
flags="-Cpasses=sancov-module -Ccodegen-units=16"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
	flags="$flags -Cllvm-args=-sanitizer-coverage-$option"
done
RUSTFLAGS="$flags" cargo build --release --quiet --target "$target"
mkdir -p found grown
failed=""
for reader in $readers; do
	mkdir -p "grown/$reader" "found/$reader"
	echo "$reader for $seconds s"
	# At most 25 seconds per file, because coverage is slow; the memory limit is a multiple of the one in readers.rs.
	if ! KERNSIFT_READER=$reader "target/$target/release/readers" "grown/$reader" "corpus/$reader" \
		-max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 -max_len=65536 \
		-artifact_prefix="found/$reader/" -print_final_stats=1 >"found/$reader.log" 2>&1; then
		failed="$failed $reader"
		grep -E "panicked|ERROR|SUMMARY|took" -A2 "found/$reader.log" | head -12
	fi
	grep -E "number_of_executed_units|new_units_added|peak_rss_mb" "found/$reader.log" || true
done
if [ -n "$failed" ]; then
	echo "failures in:$failed; the files are in fuzz/found"
	exit 1
fi
