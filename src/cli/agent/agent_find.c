/* agent_find.c: a look at /proc. What may not be seen of a process, it cannot be found by. */
#include "cli/agent/agent_find.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/path.h"

enum { TEXT_MAX = 8192 };

/* The beginning of a file in the process's folder; its size, 0 if there is nothing. */
static size_t read_about(pid_t pid, const char *name, char text[TEXT_MAX]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    size_t size = 0;
    while (fd >= 0 && size < TEXT_MAX - 1 && (n = read(fd, text + size, TEXT_MAX - 1 - size)) > 0)
        size += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[size] = '\0';
    return size;
}

uint64_t agent_find_start(pid_t pid) {
    enum { FIELDS_BETWEEN = 20 }; /* from the name, in parentheses, to starttime */
    char text[TEXT_MAX];
    char *at = read_about(pid, "stat", text) > 0 ? strrchr(text, ')') : NULL;
    for (int i = 0; at && i < FIELDS_BETWEEN; i++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static bool effective_user(pid_t pid, uid_t *uid) {
    char text[TEXT_MAX];
    unsigned long real, effective;
    const char *line = read_about(pid, "status", text) > 0 ? strstr(text, "\nUid:") : NULL;
    if (!line || sscanf(line, "\nUid: %lu %lu", &real, &effective) != 2)
        return false;
    *uid = (uid_t)effective;
    return true;
}

static bool fits(const char *pattern, const char *text) {
    return fnmatch(pattern, text, 0) == 0;
}

static bool is_user(const char *pattern, uid_t uid) {
    char number[32];
    snprintf(number, sizeof number, "%lu", (unsigned long)uid);
    const struct passwd *user = getpwuid(uid);
    return fits(pattern, number) || (user && fits(pattern, user->pw_name));
}

/* Words are separated by zeros: makes them blanks, and gives the size. */
static size_t join_words(char *text, size_t size) {
    while (size > 0 && text[size - 1] == '\0')
        size--;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    return size;
}

static bool is_in_container(const char *pattern, pid_t pid) {
    char text[TEXT_MAX], *rest = NULL;
    read_about(pid, "cgroup", text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (fits(pattern, line))
            return true;
    return false;
}

/* What is looked at for all rules. */
typedef struct seen {
    pid_t pid;
    uid_t uid;
    char program[PATH_MAX], called[TEXT_MAX], words[TEXT_MAX];
    char shown[TEXT_MAX]; /* by ps and top */
} seen;

/* Of its names, the one that a rule means; NULL: none. Servers write a title over the words by
 * which they were called, and a distribution's program may be a link to another one. */
static const char *fitting_name(const agent_rule *rule, const seen *s) {
    const char *const names[] = {path_base(s->program), path_base(s->called), s->shown};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!rule->command || fits(rule->command, names[i]))
            return names[i];
    return NULL;
}

static bool is_meant(const agent_rule *rule, const seen *s) {
    return fitting_name(rule, s) && (!rule->arguments || fits(rule->arguments, s->words)) &&
           (!rule->user || is_user(rule->user, s->uid)) &&
           (!rule->container || is_in_container(rule->container, s->pid));
}

static bool is_ours(const char *exe) {
    struct stat own, its;
    return stat("/proc/self/exe", &own) == 0 && stat(exe, &its) == 0 && own.st_dev == its.st_dev &&
           own.st_ino == its.st_ino;
}

/* False: it runs no program, as the kernel's own, or may not be looked at, or is one of ours. */
static bool see(pid_t pid, seen *s) {
    char exe[64];
    s->pid = pid;
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)pid);
    const ssize_t n = readlink(exe, s->program, sizeof s->program - 1);
    if (n <= 0 || is_ours(exe) || !effective_user(pid, &s->uid))
        return false;
    s->program[n] = '\0';
    const size_t size = read_about(pid, "cmdline", s->words);
    snprintf(s->called, sizeof s->called, "%s", s->words);
    s->words[join_words(s->words, size)] = '\0';
    read_about(pid, "comm", s->shown);
    s->shown[strcspn(s->shown, "\n")] = '\0';
    return true;
}

static bool look_at(const agent_config *c, pid_t pid, found_processes *found) {
    static seen s;
    if (!see(pid, &s))
        return true;
    for (size_t i = 0; i < c->rules.count; i++) {
        if (!is_meant(&c->rules.items[i], &s))
            continue;
        found_process p = {
            .pid = pid, .start = agent_find_start(pid), .uid = s.uid, .rule = &c->rules.items[i]};
        snprintf(p.program, sizeof p.program, "%.*s", NAME_MAX, fitting_name(p.rule, &s));
        return p.start == 0 || vec_push(found, p);
    }
    return true;
}

bool agent_find(const agent_config *c, found_processes *found) {
    DIR *d = opendir("/proc");
    bool ok = d;
    vec_clear(found);
    for (struct dirent *e; ok && (e = readdir(d));) {
        uint64_t pid;
        if (isdigit((unsigned char)e->d_name[0]) &&
            number_parse_whole(e->d_name, &pid) == NUMBER_WHOLE && pid <= INT_MAX)
            ok = look_at(c, (pid_t)pid, found);
    }
    if (d)
        closedir(d);
    return ok;
}
