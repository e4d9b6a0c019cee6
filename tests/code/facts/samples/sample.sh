#!/usr/bin/env bash
# Keeps things.
set -euo pipefail

source ./helper.sh
. /etc/profile

LIMIT=10
readonly NAME="store"
declare -A items=([a]=1)
export PATH_TO="/tmp"

read_item() {
    local name="$1" other
    local -r fixed=2
    for key in "${!items[@]}"; do
        if [[ "$key" == "$name" ]]; then
            echo "found ${key} in $(pwd)"
        fi
    done
    return 0
}

function write_item {
    local value=$1
    items[$value]=1
    cat <<TEXT
some $value text
TEXT
}

function both() {
    inner() { echo 'inner text'; }
    inner
}

main() {
    read_item "$@"
    write_item "x"
    case "$1" in
        start) both ;;
    esac
}

alias ll='ls -l'
main "$@"
