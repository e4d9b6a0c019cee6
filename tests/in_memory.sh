#!/bin/sh
# Runs a command with pytest's temporary folders in memory: tests flush thousands of files, and none needs a real disk.
# The mount is in a namespace of its own and ends with the command. Without the right to have one, or without the
# memory, the folders stay on the disk.
set -eu
folder="${TMPDIR:-/tmp}/pytest-of-$(id -un)"
gigabytes=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || true)

if [ "${gigabytes:-0}" -ge 6 ] && mkdir -p -m 700 "$folder" &&
    unshare --mount mount -t tmpfs tmpfs "$folder" 2>/dev/null; then
    # shellcheck disable=SC2016  # expanded by the inner shell
    exec unshare --mount sh -c 'mount -t tmpfs -o mode=700 tmpfs "$0" && exec "$@"' "$folder" "$@"
fi
exec "$@"
