# shellcheck shell=bash
# shellcheck disable=SC2034 # doctor uses commands
#
# What working on nextrun needs, and how package managers name it. doctor, install-packages,
# with-needs and the gate take it from here.

# What `make test` needs, besides Go, make and git, which it cannot begin without. The
# compiler comes first, since without it nothing can be tested at all.
needs_test='cc postgres psql sqlite3 ps'

# Columns: what, Debian and Ubuntu, Fedora and RHEL, Arch, Alpine, openSUSE, Homebrew.
needs_packages='
go|golang-go|golang|go|go|go|go
cc|gcc libc6-dev|gcc|gcc|gcc musl-dev|gcc|gcc
make|make|make|make|make|make|make
git|git|git|git|git|git|git
postgres|postgresql|postgresql-server|postgresql|postgresql|postgresql-server|postgresql@17
psql|postgresql-client|postgresql|postgresql|postgresql-client|postgresql|postgresql@17
sqlite3|sqlite3|sqlite|sqlite|sqlite|sqlite3|sqlite
ps|procps|procps-ng|procps-ng|procps|procps|
node|nodejs npm|nodejs npm|nodejs npm|nodejs npm|nodejs npm|node
chromium|chromium fonts-dejavu-core|chromium|chromium|chromium font-dejavu|chromium|--cask google-chrome
docker|docker.io|docker|docker|docker|docker|--cask docker
mmdebstrap|mmdebstrap|mmdebstrap|mmdebstrap|mmdebstrap|mmdebstrap|
nspawn|systemd-container|systemd-container|systemd||systemd-container|
rpm|rpm|rpm-build|rpm-tools|rpm|rpm|rpm
systemd|systemd|systemd|systemd||systemd|
promtool|prometheus|golang-github-prometheus|prometheus|prometheus|golang-github-prometheus-prometheus|prometheus
shellcheck|shellcheck|ShellCheck|shellcheck|shellcheck|ShellCheck|shellcheck'

needs_managers=(apt-get dnf pacman apk zypper brew)
needs_commands=('apt-get install' 'dnf install' 'pacman -S' 'apk add' 'zypper install' 'brew install')

has() { command -v "$1" >/dev/null 2>&1; }

# needs_manager sets the column of this machine's package manager, and how it installs.
needs_manager() {
    local i
    column=0 install='install, by your package manager:'
    for i in "${!needs_managers[@]}"; do
        has "${needs_managers[i]}" || continue
        column=$((i + 1)) install=${needs_commands[i]}
        return
    done
}

# needs_package WHAT COLUMN prints how that package manager names WHAT.
needs_package() {
    local line fields
    while IFS= read -r line; do
        IFS='|' read -r -a fields <<<"$line"
        [ "${fields[0]:-}" = "$1" ] || continue
        echo "${fields[$2]:-}"
        return
    done <<<"$needs_packages"
}

# needs_has WHAT tells whether this machine has what `make test` calls WHAT. The caller has
# set here to the directory of the scripts.
needs_has() {
    # shellcheck disable=SC2154
    case $1 in
    cc) NEXTRUN_INSTALL=0 "$here/need-cc" >/dev/null 2>&1 ;;
    postgres) [ -n "${NEXTRUN_TEST_POSTGRES:-}" ] || needs_server ;;
    psql) has psql && has pg_dump && has pg_restore ;;
    *) has "$1" ;;
    esac
}

# needs_server tells whether a server of PostgreSQL can be started here. Its subshell keeps what it
# finds to itself.
needs_server() (
    # shellcheck source=scripts/lib/cluster.sh
    source "$here/lib/cluster.sh" && cluster_find && return
    # shellcheck source=scripts/lib/compose.sh
    source "$here/lib/compose.sh" && compose_answers
)

# needs_in_container tells whether this is a container, in which root may install what
# it needs: nobody else works there.
needs_in_container() {
    [ -e /.dockerenv ] || [ -e /run/.containerenv ] || [ -e /run/systemd/container ] || [ -n "${container:-}${KUBERNETES_SERVICE_HOST:-}" ]
}
