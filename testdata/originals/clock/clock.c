// Loaded into cron or into PostgreSQL by LD_PRELOAD, this gives the scheduler a clock of
// its own: it runs through the periods of NEXTRUN_CLOCK as fast as the scheduler works,
// since to wait moves the clock and takes no time. Nothing else of the program changes.
//
//   NEXTRUN_CLOCK       FROM-TO,FROM-TO,... in seconds since 1970
//   NEXTRUN_CLOCK_LOG   cron: file for a line "TIME<tab>MESSAGE" of each message to syslog
//                       pg_cron: file that is written to at the end
//   NEXTRUN_CLOCK_ROOT  cron: directory in front of the paths of its files
//   NEXTRUN_CLOCK_TITLE pg_cron: only the process whose title has this text gets the clock

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define SECOND 1000000LL

static long long now, until; // microseconds
static const char *periods;  // those to come
static int ended;

static void say(const char *text) {
    int fd = REAL(open)(getenv("NEXTRUN_CLOCK_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0644);
    dprintf(fd, "%lld\t%s\n", now / SECOND, text);
    close(fd);
}

// next_period begins the next period, or ends the clock.
static void next_period(void) {
    char *end;
    if (!periods) periods = getenv("NEXTRUN_CLOCK");
    if (!*periods) {
        ended = 1;
        return;
    }
    now = strtoll(periods, &end, 10) * SECOND;
    until = strtoll(end + 1, &end, 10) * SECOND;
    periods = *end ? end + 1 : end;
}

static void move(long long by) {
    now += by;
    if (now >= until) next_period();
}

// --- which process has the clock

static int mine(void) {
    static pid_t asked;
    static int answer, tries;
    const char *title = getenv("NEXTRUN_CLOCK_TITLE");
    if (!title) {
        if (!periods) next_period();
        return 1;
    }
    if (asked != getpid()) asked = getpid(), answer = 0, tries = 100;
    if (!answer && tries > 0) {
        char text[256] = "";
        int fd = REAL(open)("/proc/self/cmdline", O_RDONLY);
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        tries--;
        for (ssize_t i = 0; i < n; i++)
            if (!text[i]) text[i] = ' ';
        if (strstr(text, title)) answer = 1, next_period();
    }
    return answer;
}

// --- asking for the time

time_t time(time_t *at) {
    time_t value = mine() ? (time_t)(now / SECOND) : REAL(time)(NULL);
    if (at) *at = value;
    return value;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    if (!mine()) return REAL(gettimeofday)(at, zone);
    at->tv_sec = now / SECOND, at->tv_usec = now % SECOND;
    return 0;
}

// --- waiting

// cron's jobs end before its clock moves on.
unsigned sleep(unsigned seconds) {
    if (!mine()) return REAL(sleep)(seconds);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {}
    move(seconds * SECOND);
    if (ended) _exit(0);
    return 0;
}

// waited is how long PostgreSQL really waits: a second or more becomes the rest of a minute.
static int waited(int milliseconds) {
    if (ended) {
        static int said;
        if (!said++) say("end");
        return milliseconds;
    }
    move(milliseconds < 999 ? milliseconds * 1000LL : 60 * SECOND - now % (60 * SECOND));
    return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout) {
    int n = 0;
    if (timeout <= 0 || !mine() || (n = REAL(epoll_wait)(fd, events, max, 0)) != 0)
        return n ? n : REAL(epoll_wait)(fd, events, max, timeout);
    return (timeout = waited(timeout)) ? REAL(epoll_wait)(fd, events, max, timeout) : 0;
}

int poll(struct pollfd *fds, nfds_t many, int timeout) {
    int n = 0;
    if (timeout <= 0 || !mine() || (n = REAL(poll)(fds, many, 0)) != 0)
        return n ? n : REAL(poll)(fds, many, timeout);
    return (timeout = waited(timeout)) ? REAL(poll)(fds, many, timeout) : 0;
}

// --- cron's files: in another place, and root's

static const char *placed(const char *path) {
    static char other[4096];
    const char *root = getenv("NEXTRUN_CLOCK_ROOT");
    static const char *const prefixes[] = {"/etc/cron", "/var/spool/cron", "/var/run/cron", "/run/cron"};
    for (size_t i = 0; root && i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0) {
            snprintf(other, sizeof other, "%s%s", root, path);
            return other;
        }
    return path;
}

static int owned(int result, struct stat *about) {
    if (result == 0 && getenv("NEXTRUN_CLOCK_ROOT")) about->st_uid = 0;
    return result;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return REAL(open)(placed(path), flags, mode);
}
FILE *fopen(const char *restrict path, const char *restrict mode) { return REAL(fopen)(placed(path), mode); }
DIR *opendir(const char *path) { return REAL(opendir)(placed(path)); }
int access(const char *path, int mode) { return REAL(access)(placed(path), mode); }
int chdir(const char *path) { return REAL(chdir)(placed(path)); }
int chown(const char *path, uid_t uid, gid_t gid) { return getenv("NEXTRUN_CLOCK_ROOT") ? 0 : REAL(chown)(path, uid, gid); }
int stat(const char *restrict path, struct stat *restrict about) { return owned(REAL(stat)(placed(path), about), about); }
int lstat(const char *restrict path, struct stat *restrict about) { return owned(REAL(lstat)(placed(path), about), about); }
int fstat(int fd, struct stat *about) { return owned(REAL(fstat)(fd, about), about); }

// --- cron's messages: one for each command, which does not run

void __syslog_chk(int priority, int flag, const char *format, ...) {
    (void)priority, (void)flag;
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    say(text);
    if (strstr(text, " CMD (")) _exit(0);
}

int pam_start(const char *service, const char *user, const void *conversation, void **handle) {
    static int any;
    (void)service, (void)user, (void)conversation;
    *handle = &any;
    return 0;
}
int pam_set_item(void *handle, int type, const void *item) { return (void)handle, (void)type, (void)item, 0; }
int pam_acct_mgmt(void *handle, int flags) { return (void)handle, (void)flags, 0; }
int pam_setcred(void *handle, int flags) { return (void)handle, (void)flags, 0; }
int pam_open_session(void *handle, int flags) { return (void)handle, (void)flags, 0; }
int pam_close_session(void *handle, int flags) { return (void)handle, (void)flags, 0; }
int pam_end(void *handle, int status) { return (void)handle, (void)status, 0; }
char **pam_getenvlist(void *handle) { return (void)handle, calloc(1, sizeof(char *)); }
