#!/bin/sh
# Runs after the package was removed, and on Debian again when it is purged. A SQLite
# database goes with the purge; rpm has none, and leaves it.
set -e

if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi

if [ "$1" = purge ]; then
    # systemd keeps the directory of a dynamic user in private and links to it.
    rm -rf /var/lib/private/nextrun /var/lib/nextrun
fi
