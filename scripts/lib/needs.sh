# shellcheck shell=bash disable=SC2034 # who sources it uses column and install
#
# What working on nextrun needs, and how package managers name it. doctor, need, install-packages,
# with-needs and the gate take it from here.

# Columns: what, the target that needs it, what for, and the packages of Debian and Ubuntu, Fedora and RHEL,
# Arch, Alpine, openSUSE, Homebrew. The compiler comes first, since without it nothing can be tested at all.
needs_table='
cc|make test|SQLite is C|gcc libc6-dev|gcc|gcc|gcc musl-dev|gcc|gcc
go|make test|it is written in it|golang-go|golang|go|go|go|go
make|make test|it runs everything|make|make|make|make|make|make
git|make test|builds name their commit|git|git|git|git|git|git
postgres|make test|everything on PostgreSQL, version 13 or newer|postgresql|postgresql-server|postgresql|postgresql|postgresql-server|postgresql@17
psql|make test|backups of PostgreSQL, and what people type into psql|postgresql-client|postgresql|postgresql|postgresql-client|postgresql|postgresql@17
sqlite3|make test|backups of SQLite, and what people type into sqlite3|sqlite3|sqlite|sqlite|sqlite|sqlite3|sqlite
ps|make test|whether commands end with all their processes|procps|procps-ng|procps-ng|procps|procps|
npm|make test-queues|the workers of other queues|nodejs npm|nodejs npm|nodejs npm|nodejs npm|nodejs npm|node
chromium|make test-browser|the dashboard|chromium fonts-dejavu-core|chromium|chromium|chromium font-dejavu|chromium|--cask google-chrome
docker|make test-containers|the images|docker.io|docker|docker|docker|docker|--cask docker
mmdebstrap|make test-packages|a clean Debian|mmdebstrap|mmdebstrap|mmdebstrap|mmdebstrap|mmdebstrap|
systemd-nspawn|make test-packages|a clean Debian that boots|systemd-container|systemd-container|systemd||systemd-container|
rpm|make test-packages|the .rpm|rpm|rpm-build|rpm-tools|rpm|rpm|rpm
systemd-analyze|make test-packages|the units|systemd|systemd|systemd||systemd|
promtool|make test-alerts|the alerts|prometheus|golang-github-prometheus|prometheus|prometheus|golang-github-prometheus-prometheus|prometheus
shellcheck|make lint|the scripts|shellcheck|ShellCheck|shellcheck|shellcheck|ShellCheck|shellcheck'

needs_managers=(apt-get dnf pacman apk zypper brew)
needs_commands=('apt-get install' 'dnf install' 'pacman -S' 'apk add' 'zypper install' 'brew install')

has() { command -v "$1" >/dev/null 2>&1; }

# needs_manager sets the column of this machine's package manager, and how it installs.
needs_manager() {
    local i
    column=3 install='install, by your package manager:'
    for i in "${!needs_managers[@]}"; do
        has "${needs_managers[i]}" || continue
        column=$((i + 3)) install=${needs_commands[i]}
        return
    done
}

# needs_column WHAT N prints a column of the table, from 0.
needs_column() {
    local line fields
    while IFS= read -r line; do
        IFS='|' read -r -a fields <<<"$line"
        [ "${fields[0]:-}" = "$1" ] || continue
        echo "${fields[$2]:-}"
        return
    done <<<"$needs_table"
}

# needs_of TARGET prints what a target needs; all that the table has, for an empty one.
needs_of() {
    local what target
    while IFS='|' read -r what target _; do
        if [ -n "$what" ] && [[ $target = "${1:-$target}" ]]; then echo "$what"; fi
    done <<<"$needs_table"
}

# needs_has WHAT tells whether this machine has it.
needs_has() {
    local name
    case $1 in
    cc) needs_compiles >/dev/null 2>&1 ;;
    postgres) [ -n "${NEXTRUN_TEST_POSTGRES:-}" ] || needs_server || docker info >/dev/null 2>&1 ;;
    psql) has psql && has pg_dump && has pg_restore ;;
    chromium)
        for name in headless_shell headless-shell chromium chromium-browser google-chrome; do # as the tests find it
            ! has "$name" || return 0
        done
        [ -d "/Applications/Google Chrome.app" ]
        ;;
    *) has "$1" ;;
    esac
}

# needs_advice WHAT... says what is missing, what for, and how to get it.
needs_advice() {
    local what packages=()
    needs_manager
    for what; do
        echo "  no $what ($(needs_column "$what" 1): $(needs_column "$what" 2))"
        packages+=("$(needs_column "$what" "$column")")
    done
    echo "  to get that: $install ${packages[*]}"
    echo "  as root on Debian, the scripts do it; docker will do for postgres"
}

# needs_compiles tells whether the compiler that cgo would use makes a program; one without the headers
# of the C library does not.
needs_compiles() (
    cc=${CC:-$(go env CC)} out=$(mktemp) || exit 1
    trap 'rm -f "$out"' EXIT
    # CC may hold options, hence without quotes.
    # shellcheck disable=SC2086
    printf '#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n' | ${cc:-cc} -x c -o "$out" -
)

# needs_server tells whether a server of PostgreSQL can be started here. Its subshell keeps what it
# finds to itself. The caller has set here to the directory of the scripts.
needs_server() (
    # shellcheck source=scripts/lib/cluster.sh disable=SC2154
    source "$here/lib/cluster.sh" && cluster_find 2>/dev/null
)
