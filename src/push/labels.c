/* labels.c: later sources override earlier ones: the system, then OTEL_RESOURCE_ATTRIBUTES, then
 * the user's labels. A container is identified by its control group, a pod by variables from its
 * manifest. */
#include "push/labels.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/proc.h"
#include "base/text.h"

#define SERVICE "service.name"

enum { TEXT_MAX = 4096 };

static label *find(const labels *l, const char *key) {
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->items[i].key, key) == 0)
            return &l->items[i];
    return NULL;
}

bool labels_set(labels *l, const char *key, const char *value) {
    label *known = find(l, key), new = {.value = strdup(value)};
    if (!new.value)
        return false;
    if (known) {
        free(known->value);
        known->value = new.value;
        return true;
    }
    new.key = strdup(key);
    if (new.key && vec_push(l, new))
        return true;
    free(new.key);
    free(new.value);
    return false;
}

bool labels_set_pair(labels *l, const char *pair) {
    static const char *const short_names[][2] = {{"service", SERVICE},
                                                 {"version", "service.version"}};
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair) {
        errno = EINVAL;
        return false;
    }
    char *key = strndup(pair, (size_t)(equals - pair));
    const char *name = key;
    for (size_t i = 0; key && i < sizeof short_names / sizeof *short_names; i++)
        if (strcmp(key, short_names[i][0]) == 0)
            name = short_names[i][1];
    const bool ok = key && labels_set(l, name, equals + 1);
    free(key);
    return ok;
}

const char *labels_get(const labels *l, const char *key) {
    const label *known = find(l, key);
    return known ? known->value : NULL;
}

void labels_free(labels *l) {
    for (size_t i = 0; i < l->count; i++) {
        free(l->items[i].key);
        free(l->items[i].value);
    }
    vec_free(l);
}

/* ---- labels from the environment --------------------------------------------------------- */

/* Sets the labels of KEY=VALUE,KEY=VALUE…, with blanks around the pairs. Skips items that are no
 * pair. */
static bool set_listed(labels *l, const char *list) {
    char *text = strdup(list), *rest = NULL;
    bool ok = text;
    for (char *pair = ok ? strtok_r(text, ",", &rest) : NULL; ok && pair;
         pair = strtok_r(NULL, ",", &rest)) {
        pair += strspn(pair, " \t");
        text_decode_percent(pair);
        ok = labels_set_pair(l, pair) || errno == EINVAL;
    }
    free(text);
    return ok;
}

static bool set_if(labels *l, const char *key, const char *value) {
    return !value || !*value || labels_set(l, key, value);
}

/* Returns the first line of a file; empty if it cannot be read. */
static const char *read_line(const char *path, char text[TEXT_MAX]) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, TEXT_MAX - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* ---- labels from the system -------------------------------------------------------------- */

/* Finds the container's id: 64 hexadecimal digits in the path of the control group. */
static bool set_container(labels *l, uint64_t pid, bool ours) {
    enum { DIGITS = 64 };
    char text[TEXT_MAX];
    if (proc_read(pid, "cgroup", text, sizeof text) == 0 && ours)
        proc_read((uint64_t)getpid(), "cgroup", text, sizeof text);
    for (char *at = text; *at; at++) {
        size_t digits = 0;
        while (isxdigit((unsigned char)at[digits]))
            digits++;
        if (digits == DIGITS) {
            at[DIGITS] = '\0';
            return labels_set(l, "container.id", at);
        }
        at += digits ? digits - 1 : 0;
    }
    return true;
}

/* Finds the pod's names in variables that its manifest sets from the downward API. Without these,
 * the host name is the pod's name. */
static bool set_kubernetes(labels *l) {
    char text[TEXT_MAX], host[256] = "";
    const char *pod = getenv("POD_NAME"), *space = getenv("POD_NAMESPACE");
    if (!getenv("KUBERNETES_SERVICE_HOST"))
        return true;
    if (!pod && gethostname(host, sizeof host - 1) == 0)
        pod = host;
    if (!space)
        space = read_line("/var/run/secrets/kubernetes.io/serviceaccount/namespace", text);
    return set_if(l, "k8s.pod.name", pod) && set_if(l, "k8s.namespace.name", space) &&
           set_if(l, "k8s.node.name", getenv("NODE_NAME"));
}

bool labels_gather(labels *l, const char *program, uint64_t pid, const char *host, bool ours) {
    char number[32];
    const char *name = path_base(program);
    const char *listed = getenv("OTEL_RESOURCE_ATTRIBUTES");
    snprintf(number, sizeof number, "%" PRIu64, pid);
    return labels_set(l, SERVICE, *name ? name : "unknown_service") &&
           labels_set(l, "process.executable.name", name) && labels_set(l, "process.pid", number) &&
           set_if(l, "host.name", host) && set_container(l, pid, ours) && set_kubernetes(l) &&
           (!listed || set_listed(l, listed)) && set_if(l, SERVICE, getenv("OTEL_SERVICE_NAME"));
}
