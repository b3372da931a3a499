# shellcheck shell=bash disable=SC2154 # test-containers sets work, alone and static
#
# The checks of test-containers, which declares `say` and `fail`.

patience=240

# eventually WHAT COMMAND... repeats a command until it succeeds.
eventually() {
    local what=$1 late=$((SECONDS + patience))
    shift
    until "$@" >"$work/last" 2>&1; do
        [ "$SECONDS" -lt "$late" ] || fail "$what: not so after $patience s. At last:
$(cat "$work/last")"
        sleep 0.5
    done
}

show_state() {
    docker compose ps --all
    docker compose logs --tail 8 2>&1 | cut -c 1-300
}

# sql prints the rows of a query, without anything else.
sql() { docker compose exec -T postgres psql -U nextrun -XAtq -v ON_ERROR_STOP=1 -c "$1"; }

containers() { docker compose ps --quiet "$@"; }
inspect() { docker container inspect --format "$@"; }

remove_all() {
    docker ps --all --quiet --filter "name=$COMPOSE_PROJECT_NAME" 2>/dev/null | xargs -r docker rm --force >/dev/null 2>&1 || true
    [ ! -e "$work/copy/.env" ] || (cd "$work/copy" && docker compose down --volumes --timeout 1 >/dev/null 2>&1) || true
    docker volume rm "$alone" >/dev/null 2>&1 || true
    docker rmi nextrun:local "$static" "$alone" >/dev/null 2>&1 || true
}

# ---- docker-compose.yml

check_environment() {
    ! docker compose config --quiet 2>"$work/last" || fail "Compose accepts docker-compose.yml without a password"
    grep -q 'put NEXTRUN_DB_PASSWORD=... into the file .env' "$work/last" ||
        fail "Compose does not say how to set the password: $(cat "$work/last")"
}

# run_readme runs what the README says, but for the last command, which shows the logs until
# it is interrupted.
run_readme() {
    awk '/make test-containers does/ { here = 1 } /^```$/ { here = code = 0 } code { print } here && /^```sh$/ { code = 1 }' README.md >"$work/readme"
    head -n 3 "$work/readme" | grep -c '^echo\|^docker compose' | grep -qx 3 || fail "README.md has not the commands that were expected: $(cat "$work/readme")"
    say "run what README.md says: $(sed -n 2p "$work/readme")"
    touch "$work/compose.up"
    head -n 2 "$work/readme" >"$work/begin"
    bash -e "$work/begin" >"$work/up.log" 2>&1 || fail "a command of README.md fails; the build says:
$(tail -n 20 "$work/up.log")"
    sed -n 3p "$work/readme" >"$work/tasks"
    bash -e "$work/tasks" >"$work/last" 2>&1 || fail "README.md's insertion of tasks fails: $(cat "$work/last")"
    [ "$(grep -c '^INSERT 0 1$' "$work/last")" -eq 7 ] || fail "README.md's insertion of tasks does not insert seven: $(cat "$work/last")"
}

check_migrate() {
    local id
    id=$(containers --all migrate)
    [ "$(inspect '{{.State.Status}} {{.State.ExitCode}}' "$id")" = 'exited 0' ] ||
        fail "migrate has not ended with 0 but is $(inspect '{{.State.Status}} {{.State.ExitCode}}' "$id")"
}

check_services() {
    say "wait for the services to be healthy"
    eventually "a scheduler and two executors are healthy" are_healthy
}
are_healthy() { echo "$(healthy scheduler) $(healthy executor) $(healthy postgres)" | tee "$work/healthy" && grep -qx '1 2 1' "$work/healthy"; }
healthy() { containers "$1" | xargs -r docker inspect --format '{{.State.Health.Status}}' | grep -cx healthy || true; }

# check_isolation looks at a service from inside.
check_isolation() {
    local found wanted
    wanted='user 10001:10001
root ro
first process tini
CapPrm: 0000000000000000
CapBnd: 0000000000000000
NoNewPrivs: 1'
    found=$(docker compose exec -T executor sh -c '
        echo "user $(id -u):$(id -g)"
        while read -r _ at _ how _; do [ "$at" != / ] || echo "root ${how%%,*}"; done </proc/mounts
        touch /tmp/x /var/lib/nextrun/x || echo "/tmp or /var/lib/nextrun cannot be written"
        echo "first process $(cat /proc/1/comm)"
        grep -E "^(CapPrm|CapBnd|NoNewPrivs)" /proc/1/status | tr "\t" " "' 2>&1) || true
    [ "$found" = "$wanted" ] || fail "a service is not isolated as docker-compose.yml says. Wanted:
$wanted
found:
$found"
}

check_version() {
    local version
    version=$(docker compose exec -T scheduler nextrun version)
    [[ $version = "nextrun version $NEXTRUN_VERSION, "* ]] ||
        fail "the program in the image says '$version', although NEXTRUN_VERSION was $NEXTRUN_VERSION"
}

# check_context looks for what an image must not be built from: secrets, and what would compile
# everything again after an edit of a page.
check_context() {
    local unwanted
    touch .env.production
    printf 'FROM scratch\nCOPY . /\n' >"$work/Context"
    docker build --quiet --file "$work/Context" --tag "$alone" . >"$work/last" 2>&1 || fail "the context of builds cannot be copied: $(cat "$work/last")"
    docker create --name "$alone" "$alone" /none >/dev/null
    docker export "$alone" | tar -t >"$work/context.list"
    docker rm "$alone" >/dev/null && docker rmi "$alone" >/dev/null
    grep -q '^cmd/nextrun/main.go$' "$work/context.list" || fail "the context of builds has no cmd/nextrun/main.go: see .dockerignore"
    unwanted=$(grep -E '(^|/)\.env|_test\.go$|\.md$|\.yml$|^\.git/.|\.db$|^bin/' "$work/context.list" | head -n 5 || true)
    [ -z "$unwanted" ] || fail "images are built from files that .dockerignore should name: $unwanted"
}

check_demo() {
    say "wait for the demo's jobs"
    eventually "the demo's jobs succeed, and the one that is meant to fails" demo_runs
}
demo_runs() {
    local succeeded failed
    succeeded=$(sql "SELECT string_agg(DISTINCT tracker, ' ' ORDER BY tracker) FROM job WHERE state = 'success' AND tracker <> 'punctual'")
    failed=$(sql "SELECT string_agg(DISTINCT tracker, ' ') FROM job WHERE state = 'failed'")
    echo "succeeded: $succeeded; failed: $failed"
    timeout 5 bash -c "$(sed -n 4p "$work/readme")" >"$work/logs" 2>&1 || true # it follows
    grep -q executor "$work/logs" || { echo "README.md's last command shows no logs: $(cat "$work/logs")" && return 1; }
    [ "$succeeded; $failed" = 'clock disk-space greeting patient slow; broken' ]
}

# slow_runs prints a job that has begun just now, of the ten seconds that it takes.
slow_runs() {
    sql "SELECT jid FROM job WHERE state = 'running' AND tracker = 'slow'
        AND started > clock_timestamp() AT TIME ZONE 'UTC' - interval '3 s'" | grep .
}
check_down_and_up() {
    local job jobs tasks volumes
    eventually "a job of the task slow runs" slow_runs
    job=$(cat "$work/last")
    jobs=$(sql 'SELECT count(*) FROM job') tasks=$(sql 'SELECT md5(string_agg(id || timer, chr(10) ORDER BY id)) FROM periodic_task')
    volumes=$(docker volume ls --quiet | wc -l)
    say "docker compose down, and up"
    docker compose down >"$work/last" 2>&1 || fail "docker compose down fails: $(cat "$work/last")"
    [ -z "$(containers --all)" ] || fail "docker compose down leaves containers: $(docker compose ps --all)"
    docker compose up --detach >"$work/last" 2>&1 || fail "docker compose up fails after down: $(cat "$work/last")"
    check_migrate
    [ "$(docker volume ls --quiet | wc -l)" -eq "$volumes" ] || fail "docker compose down and up leave volumes behind: $(docker volume ls)"
    [ "$(sql "SELECT state, interrupts, retries FROM job WHERE jid = '$job'")" = 'success|0|0' ] ||
        fail "docker compose down has not let the running job $job finish: $(sql "SELECT * FROM job WHERE jid = '$job'")"
    [ "$(sql 'SELECT count(*) FROM job')" -ge "$jobs" ] || fail "docker compose down and up have lost jobs"
    [ "$(sql 'SELECT md5(string_agg(id || timer, chr(10) ORDER BY id)) FROM periodic_task')" = "$tasks" ] || fail "docker compose down and up have changed or lost tasks"
}
