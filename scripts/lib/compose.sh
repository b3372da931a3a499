# shellcheck shell=bash disable=SC2034,SC2154 # with-postgres uses url and problem, and sets here
#
# PostgreSQL in a container: service test-postgres of docker-compose.yml, under
# a project name of its own so that several can run at once.
# Part of with-postgres, which declares `here`, `url` and `problem`.

compose_answers() {
    docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1
}

# compose runs docker compose quietly; a failure leaves its output in problem.
compose() {
    local output
    output=$(docker compose --project-name "nextrun-test-$$" --file "$here/../docker-compose.yml" \
        --profile test "$@" 2>&1 </dev/null) && return
    problem="docker compose $1: $output"
    return 1
}

compose_create() {
    NEXTRUN_DB_PASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    export NEXTRUN_DB_PASSWORD NEXTRUN_TEST_PORT
    [ "${NEXTRUN_TEST_POSTGRES_DURABLE:-}" = 1 ] || export NEXTRUN_TEST_FSYNC=off
    # We choose the port, because one that docker chose would change with a restart.
    for _ in {1..20}; do
        NEXTRUN_TEST_PORT=$((20000 + RANDOM % 12000))
        url="postgres://postgres:$NEXTRUN_DB_PASSWORD@127.0.0.1:$NEXTRUN_TEST_PORT/postgres?sslmode=disable"
        compose_start && return
        case $problem in
        *'already allocated'* | *'already in use'*) ;;
        *) break ;;
        esac
    done
    return 1
}

compose_start() { compose up --detach --wait test-postgres; }
compose_stop() {
    # kill succeeds on a server that does not run; an order to stop must not.
    if [ -z "$(docker compose --project-name "nextrun-test-$$" --file "$here/../docker-compose.yml" \
        --profile test ps --quiet --status running test-postgres 2>/dev/null)" ]; then
        problem="the server is not running"
        return 1
    fi
    compose kill test-postgres
}
compose_remove() { compose down --volumes --timeout 0; }
