#!/bin/sh
# Runs after the package was installed or updated. $1 is "configure" on Debian,
# with the version before as $2; with rpm it is the number of versions now there.
set -e

if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi

case $1:$2 in
configure:?* | [2-9]:*)
    # Not restarted here: tables come before programs, and a backup before both.
    echo "nextrun: running services continue with the version before. To update them:"
    echo "nextrun:   systemctl start nextrun-migrate && systemctl try-restart 'nextrun-*.service'"
    ;;
esac
