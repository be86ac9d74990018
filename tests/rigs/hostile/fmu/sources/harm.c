/* One function for each harm; the table at the end has their names. */

#include "harm.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct fmu_base *who;

/* ---- Crashes ---- */

static volatile int zero, one = 1;
static void null_write(void) { *(volatile int *)(intptr_t)zero = 1; }
static void null_call(void) { ((void (*)(void))(intptr_t)zero)(); }
static void wild_write(void) { *(volatile int *)(intptr_t)0x123456789000 = 1; }
static void odd_write(void) { *(volatile char *)(uintptr_t)0xffff800000000000u = 1; }
static void read_only_write(void) { *(volatile char *)"text" = 'T'; }
static void division(void) { zero = one / zero; }
static void trap(void) { __builtin_trap(); }
static void aborts(void) { abort(); }

static void past_the_file(void)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/hostile-XXXXXX", folder ? folder : ".");
    int fd = mkstemp(name);
    unlink(name);
    volatile char *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mapped[0] = 1; /* SIGBUS */
}

static unsigned deep(unsigned n)
{
    volatile char frame[4096];
    frame[n % sizeof frame] = (char)n;
    return deep(n + 1) + (unsigned char)frame[0];
}
static void stack_overflow(void) { zero = (int)deep(0); }

static void double_free(void)
{
    void *volatile block = malloc(2000);
    free(block);
    free(block);
    abort(); /* an allocator that does not mind */
}

static void heap_smash(void)
{
    char *volatile block = malloc(40);
    memset(block, 0xff, 4000);
    free(block);
    free(malloc(5000));
    abort();
}

static void own_memory(void)
{
    memset(who ? (void *)who : &who, 0xff, sizeof(struct fmu_base));
}

/* ---- Ends ---- */

static void exit_0(void) { exit(0); }
static void exit_2(void) { exit(2); }
static void quick_exit_0(void) { quick_exit(0); }
static void exit_at_once(void) { _exit(0); }
static void thread_exit(void) { pthread_exit(NULL); }

/* ---- Hangs ---- */

static void spin(void) { for (volatile unsigned n = 0;; n++) {} }
static void sleep_on(void) { for (;;) pause(); }
static void lock_twice(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

/* ---- Signals ---- */

static void raise_stop(void) { raise(SIGSTOP); }
static void raise_term(void) { raise(SIGTERM); }
static void raise_int(void) { raise(SIGINT); }
static void raise_kill(void) { raise(SIGKILL); }
static void raise_pipe(void) { raise(SIGPIPE); }
static void raise_quit(void) { raise(SIGQUIT); }
static void raise_usr1(void) { raise(SIGUSR1); }
static void parent_term(void) { kill(getppid(), SIGTERM); }
static void parent_int(void) { kill(getppid(), SIGINT); }
static void alarm_rings(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    usleep(20000);
}
static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}
static void ignore_signals(void)
{
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
}
static void ignore_then_crash(void)
{
    ignore_signals();
    null_write();
}

/* ---- Processes and files ---- */

static void closes_files(void) { for (int fd = 0; fd < 256; fd++) close(fd); }
static void closes_output(void) { close(1), close(2); }
static void changes_folder(void)
{
    if (chdir("/") != 0) abort();
}
static void no_more_files(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
}
static void no_more_memory(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_AS, &none);
    setrlimit(RLIMIT_DATA, &none);
}
static void no_file_size(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
}
static void strict_umask(void) { umask(0777); }
static void child_that_ends(void)
{
    if (fork() == 0) _exit(0);
}
static void child_that_stays(void)
{
    if (fork() == 0)
        for (;;) pause();
}
static void child_that_spins(void)
{
    if (fork() == 0) spin();
}
static void daemon_that_stays(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;) pause();
        _exit(0);
    }
}
static void prints_much(void)
{
    for (int line = 0; line < 20000; line++) printf("%d: the quick brown fox jumps over the lazy dog\n", line);
    fflush(stdout);
}
static void prints_bytes(void)
{
    for (int byte = 0; byte < 65536; byte++) putchar(byte);
    fflush(stdout);
}

/* ---- Memory and scheduling ---- */

static void unlocks_memory(void) { munlockall(); }
static void ordinary_thread(void)
{
    struct sched_param none = {0};
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
}
static void urgent_thread(void)
{
    struct sched_param most = {.sched_priority = 99};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &most);
}
static void other_core(void)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    pthread_setaffinity_np(pthread_self(), sizeof first, &first);
}
static void renames_thread(void) { prctl(PR_SET_NAME, "\x1b[31mred\r\n", 0, 0, 0); }
static void not_dumpable(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/* ---- Callbacks ---- */

static void log_text(const char *category, const char *text)
{
    if (who) who->log_message(who->environment, fmi3OK, category, text);
}
static void log_null(void) { log_text(NULL, NULL); }
static void log_format(void) { log_text("logEvents", "%n%s%s%s%s%1000000d"); }
static void log_odd(void) { log_text("no such category", "\x1b]0;title\x07 \xff\xfe \xc2\x9b" "31m \r\n second line"); }
static void log_long(void)
{
    char *text = malloc(8000001);
    memset(text, 'x', 8000000);
    text[8000000] = 0;
    log_text("logEvents", text);
    free(text);
}
static void log_flood(void)
{
    for (int n = 0; n < 5000; n++) log_text("logEvents", "again");
}
static void locks(void)
{
    if (who) who->lock_preemption();
}
static void unlocks(void)
{
    if (who) who->unlock_preemption(), who->unlock_preemption();
}
static void updates(void)
{
    if (who) who->clock_update(who->environment);
}
static void updates_nowhere(void)
{
    if (who) who->clock_update(NULL);
}
static void logs_nowhere(void)
{
    if (who) who->log_message((void *)16, fmi3OK, "logEvents", "to nobody");
}

static const struct {
    const char *name;
    void (*act)(void);
    int status;
} harms[] = {
#define HARM(name) {#name, name, 0}
    HARM(null_write), HARM(null_call), HARM(wild_write), HARM(odd_write), HARM(read_only_write), HARM(division), HARM(trap),
    HARM(aborts), HARM(past_the_file), HARM(stack_overflow), HARM(double_free), HARM(heap_smash), HARM(own_memory),
    HARM(exit_0), HARM(exit_2), HARM(quick_exit_0), HARM(exit_at_once), HARM(thread_exit),
    HARM(spin), HARM(sleep_on), HARM(lock_twice),
    HARM(raise_stop), HARM(raise_term), HARM(raise_int), HARM(raise_kill), HARM(raise_pipe), HARM(raise_quit),
    HARM(raise_usr1), HARM(parent_term), HARM(parent_int), HARM(alarm_rings), HARM(block_signals), HARM(ignore_signals),
    HARM(ignore_then_crash),
    HARM(closes_files), HARM(closes_output), HARM(changes_folder), HARM(no_more_files), HARM(no_more_memory),
    HARM(no_file_size), HARM(strict_umask), HARM(child_that_ends), HARM(child_that_stays), HARM(child_that_spins),
    HARM(daemon_that_stays), HARM(prints_much), HARM(prints_bytes),
    HARM(unlocks_memory), HARM(ordinary_thread), HARM(urgent_thread), HARM(other_core), HARM(renames_thread),
    HARM(not_dumpable),
    HARM(log_null), HARM(log_format), HARM(log_odd), HARM(log_long), HARM(log_flood), HARM(locks), HARM(unlocks),
    HARM(updates), HARM(updates_nowhere), HARM(logs_nowhere),
    {"warning", NULL, fmi3Warning}, {"discard", NULL, fmi3Discard}, {"error", NULL, fmi3Error}, {"fatal", NULL, fmi3Fatal},
    {"unknown_status", NULL, 99}, {"negative_status", NULL, -1},
};

fmi3Status harm_do(const char *name, struct fmu_base *base)
{
    who = base;
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++)
        if (strcmp(harms[i].name, name) == 0) {
            if (harms[i].act) harms[i].act();
            return (fmi3Status)harms[i].status;
        }
    abort(); /* a test that asks for something unknown */
}
