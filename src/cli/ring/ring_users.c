/* ring_users.c: reads the user of a process from its status, since the owner of its files in /proc
 * may be root. */
#include "cli/ring/ring_users.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process.h"
#include "base/shell.h"
#include "cli/message.h"

/* Returns whether a user may write to the folder. Supplementary groups are not checked: a folder
 * that its group may write to was set up that way on purpose. */
static bool may_write(const struct stat *folder, long user) {
    return user <= 0 || folder->st_mode & (S_IWOTH | S_IWGRP) || (long)folder->st_uid == user;
}

static bool check_process(const char *folder, const struct stat *about, pid_t pid) {
    const long uid = process_status(pid, "Uid", -1);
    if (may_write(about, uid))
        return false;
    const struct passwd *user = getpwuid((uid_t)uid);
    char number[32], *word = shell_word(folder);
    snprintf(number, sizeof number, "user %ld", uid);
    message_warning("process %d runs as %s, who may not write to %s, so it may not be recorded; "
                    "restart it after: chmod 1777 %s",
                    (int)pid, user ? user->pw_name : number, folder, word ? word : folder);
    free(word);
    return true;
}

bool ring_users_check(const char *folder, pid_t program) {
    struct stat about;
    char path[64];
    int child;
    if (geteuid() != 0 || stat(folder, &about) != 0)
        return false;
    bool said = check_process(folder, &about, program);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)program, (int)program);
    FILE *children = said ? NULL : fopen(path, "re");
    while (!said && children && fscanf(children, "%d", &child) == 1)
        said = check_process(folder, &about, child);
    if (children)
        fclose(children);
    return said;
}
