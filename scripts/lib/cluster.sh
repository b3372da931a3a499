# shellcheck shell=bash
# shellcheck disable=SC2034 # with-postgres uses url and problem
# shellcheck disable=SC2016 # other shells expand what is in single quotes
#
# A PostgreSQL cluster of its own, made of the server programs found on this
# machine, in a temporary directory, on 127.0.0.1 and a port that was free.
# Part of with-postgres, which declares `url` and `problem`.

cluster_bin=  # where initdb, pg_ctl and postgres are
cluster_user= # whom the server runs as, when we are root
cluster_su=   # how to become that user
cluster_dir=

cluster_candidates() {
    local program
    if [ -n "${NEXTRUN_TEST_POSTGRES_BIN:-}" ]; then
        printf '%s\n' "$NEXTRUN_TEST_POSTGRES_BIN"
        return
    fi
    program=$(command -v postgres) && dirname "$program"
    pg_config --bindir 2>/dev/null
    # Debian and Ubuntu, SUSE, RPMs of postgresql.org, built from source, Homebrew, Postgres.app
    printf '%s\n' /usr/lib/postgresql/*/bin /usr/lib/postgresql*/bin /usr/pgsql-*/bin /usr/local/pgsql/bin \
        {/opt/homebrew,/usr/local,/home/linuxbrew/.linuxbrew}/opt/postgresql@*/bin \
        /Applications/Postgres.app/Contents/Versions/*/bin
}

# cluster_find looks for the newest server programs that the server's user can run.
cluster_find() {
    local dir version best=0
    cluster_choose_user || return 1
    while IFS= read -r dir; do
        if ! [ -x "$dir/initdb" ] || ! [ -x "$dir/pg_ctl" ]; then continue; fi
        # "postgres (PostgreSQL) 17.2 (Debian ...)" becomes 17002
        version=$(cluster_as_user "$dir/postgres" --version 2>/dev/null |
            sed -nE 's/^[^0-9]*([0-9]+)(\.([0-9]+))?.*/\1 \3/p' | awk '{ print $1 * 1000 + $2 }')
        [ "${version:-0}" -ge 13000 ] || continue
        [ "$version" -gt "$best" ] || continue
        best=$version
        cluster_bin=$dir
    done < <(cluster_candidates)
    [ "$best" -gt 0 ]
}

# cluster_choose_user finds an account for the server, which refuses to run as root.
cluster_choose_user() {
    [ "$(id -u)" -eq 0 ] || return 0
    for cluster_user in postgres nobody; do
        id "$cluster_user" >/dev/null 2>&1 || continue
        for cluster_su in setpriv su; do
            [ "$(cluster_as_user id -u 2>/dev/null)" != "$(id -u "$cluster_user" 2>/dev/null)" ] || return 0
        done
    done
    return 1
}

# cluster_as_user runs a command as the server's user, in a directory that
# everybody can enter, without our connection settings.
cluster_as_user() (
    cd / || exit 1
    unset PGDATA PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGOPTIONS PGSERVICE
    export LC_ALL=C
    case ${cluster_user:+$cluster_su} in
    '') exec "$@" ;;
    setpriv) exec setpriv --reuid="$cluster_user" --regid="$(id -g "$cluster_user")" --clear-groups -- "$@" ;;
    su) exec su -s /bin/sh -c 'exec "$0" "$@"' -- "$cluster_user" "$@" ;;
    esac
)

# cluster_make_dir makes a directory that the server's user can reach: TMPDIR
# may lie below a home that is closed to it.
cluster_make_dir() {
    local base
    for base in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
        cluster_dir=$(mktemp -d "${base%/}/nextrun-postgres.XXXXXXXX" 2>/dev/null) || continue
        [ -z "$cluster_user" ] || chown "$cluster_user" "$cluster_dir"
        cluster_as_user sh -c 'cd "$0" && : > log' "$cluster_dir" 2>/dev/null && return
        rm -rf "$cluster_dir"
    done
    cluster_dir=
    return 1
}

# cluster_settings has an odd zone, so that a test notices when a local time is taken for UTC.
# Without fsync a crash of the machine loses the cluster, a stop does not: synchronous_commit stays on.
cluster_settings() {
    printf '%s\n' 'max_connections = 300' "timezone = '<+0545>-05:45'"
    if [ "${NEXTRUN_TEST_POSTGRES_DURABLE:-}" = 1 ]; then
        printf '%s\n' 'track_commit_timestamp = on' 'shared_buffers = 256MB'
    else # TMPDIR may be in memory; tests have little to compile for
        printf '%s\n' 'fsync = off' 'full_page_writes = off' 'jit = off' 'max_wal_size = 256MB' 'shared_buffers = 64MB'
    fi
}

# cluster_password makes one. The gate looks for the word in what the tests write.
cluster_password() { echo "planted-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"; }

cluster_create() {
    local password port attempt
    cluster_make_dir || {
        problem="no temporary directory that user ${cluster_user:-$(id -un)} can write; set TMPDIR to one"
        return 1
    }
    password=$(cluster_password)
    printf '%s\n' "$password" | cluster_as_user sh -c 'umask 077 && cat > "$0"' "$cluster_dir/password"
    cluster_as_user "$cluster_bin/initdb" --no-sync --username=postgres --auth=password \
        --pwfile="$cluster_dir/password" --encoding=UTF8 --locale=C -D "$cluster_dir/data" \
        >>"$cluster_dir/log" 2>&1 </dev/null || {
        cluster_fail initdb
        return 1
    }
    { printf '%s\n' "listen_addresses = '127.0.0.1'" "unix_socket_directories = ''" && cluster_settings; } | cluster_append
    # Below the ports that systems hand out by themselves. That it is free is
    # known only once the server listens on it.
    for attempt in {1..20}; do
        port=$((20000 + RANDOM % 12000))
        echo "port = $port" | cluster_append
        url="postgres://postgres:$password@127.0.0.1:$port/postgres?sslmode=disable"
        cluster_start && return
        grep -q 'could not bind' "$cluster_dir/log" || break
        [ "$attempt" -eq 20 ] || : >"$cluster_dir/log"
    done
    cluster_fail pg_ctl
    return 1
}

cluster_append() { cluster_as_user sh -c 'cat >> "$0"' "$cluster_dir/data/postgresql.conf"; }

cluster_fail() {
    problem="$cluster_bin/$1 failed${cluster_user:+ as user $cluster_user}, its log ends with:
$(tail -n 30 "$cluster_dir/log")"
}

cluster_ctl() {
    local log=$cluster_dir/log
    cluster_as_user "$cluster_bin/pg_ctl" --silent --wait -D "$cluster_dir/data" -l "$log" "$@" \
        >>"$cluster_dir/log" 2>&1 </dev/null && return
    problem="pg_ctl $1: $(tail -n 1 "$log")"
    return 1
}

cluster_start() { cluster_ctl start -t 60; }
cluster_stop() { cluster_ctl stop -m immediate; }

cluster_remove() {
    [ -n "$cluster_dir" ] || return 0
    [ ! -e "$cluster_dir/data/postmaster.pid" ] || cluster_stop
    rm -rf "$cluster_dir"
}
