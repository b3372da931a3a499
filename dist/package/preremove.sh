#!/bin/sh
# Runs before the package is removed: $1 is "remove" on Debian, 0 with rpm.
set -e

case $1 in
remove | 0)
    command -v systemctl >/dev/null || exit 0
    services="nextrun-serve nextrun-scheduler nextrun-executor nextrun-relay nextrun-dashboard"
    # shellcheck disable=SC2086 # a list
    systemctl --no-reload disable $services 2>/dev/null || true
    if [ -d /run/systemd/system ]; then
        # shellcheck disable=SC2086 # a list
        systemctl stop $services nextrun-migrate || true
    fi
    ;;
esac
