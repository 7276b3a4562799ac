/* agent_find.c: scans /proc. Attributes of a process that we may not read match no pattern. */
#include "cli/agent/agent_find.h"

#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/path.h"
#include "base/proc.h"

enum { TEXT_MAX = 8192 };

/* One that has ended, and for which its parent has not waited yet, has no program any more. */
uint64_t agent_find_start(pid_t pid) {
    char program[PATH_MAX];
    return proc_link((uint64_t)pid, "exe", program, sizeof program)
               ? proc_stat((uint64_t)pid, PROC_STARTTIME)
               : 0;
}

static bool effective_user(pid_t pid, uid_t *uid) {
    char text[TEXT_MAX];
    unsigned long real, effective;
    const char *line =
        proc_read((uint64_t)pid, "status", text, TEXT_MAX) > 0 ? strstr(text, "\nUid:") : NULL;
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

/* Replaces the zeros between the words by blanks. Returns the length. */
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
    proc_read((uint64_t)pid, "cgroup", text, TEXT_MAX);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (fits(pattern, line))
            return true;
    return false;
}

/* Attributes of a process that are read once for all rules. */
typedef struct seen {
    pid_t pid;
    uid_t uid;
    char program[PATH_MAX], called[TEXT_MAX], words[TEXT_MAX];
    char shown[TEXT_MAX]; /* the name shown by ps and top */
} seen;

/* Returns the process's name that a rule matches; NULL: none. Several names are tried, since
 * servers overwrite their command line with a title, and a distribution's program may be a link to
 * another one. */
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

/* Reads the attributes of a process. Returns false if it runs no program, as kernel threads do,
 * cannot be read, or runs allotrace. */
static bool see(pid_t pid, seen *s) {
    char exe[64];
    s->pid = pid;
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)pid);
    if (!proc_link((uint64_t)pid, "exe", s->program, sizeof s->program) ||
        file_is_same("/proc/self/exe", exe) || !effective_user(pid, &s->uid))
        return false;
    const size_t size = proc_read((uint64_t)pid, "cmdline", s->words, TEXT_MAX);
    snprintf(s->called, sizeof s->called, "%s", s->words);
    s->words[join_words(s->words, size)] = '\0';
    proc_read((uint64_t)pid, "comm", s->shown, TEXT_MAX);
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
