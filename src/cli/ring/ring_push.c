/* ring_push.c: a message contains a process id and the index of a place in the run's shared memory,
 * and carries the spool's file descriptor. A place is free again when both the keeper and the
 * pusher have released it. */
#include "cli/ring/ring_push.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/ring/keeper_spool.h"

enum { RECEIVER, SENDER }; /* indices of plan->push_ends */
enum { FREE = 0, KEPT = 1, PUSHED = 2 };

typedef struct offer {
    uint64_t pid, place;
} offer;

/* Room for a file descriptor in a message's control data. */
typedef union beside {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
} beside;

bool ring_push_begin(ring_plan *plan) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, plan->push_ends) == 0;
}

static void close_end(ring_plan *plan, int end) {
    if (plan->push_ends[end])
        close(plan->push_ends[end]);
    plan->push_ends[end] = 0;
}

void ring_push_be_sender(ring_plan *plan) {
    close_end(plan, RECEIVER);
}

void ring_push_end(ring_plan *plan) {
    close_end(plan, RECEIVER);
    close_end(plan, SENDER);
}

bool ring_push_is_on(const ring_plan *plan) {
    struct pollfd end = {.fd = plan->push_ends[SENDER], .events = 0};
    return end.fd && poll(&end, 1, 0) == 0;
}

bool ring_push_is_tight(const ring_plan *plan) {
    return plan->run && atomic_load(&plan->run->spooled) > plan->max_size / 4;
}

/* ---- keepers ------------------------------------------------------------------------------- */

static ring_pushed *free_place(ring_run *run) {
    for (size_t i = 0; i < RING_RUN_PUSHED; i++) {
        unsigned none = FREE;
        if (atomic_compare_exchange_strong(&run->pushed[i].holders, &none, KEPT))
            return &run->pushed[i];
    }
    return NULL;
}

static bool send_file(int to, const offer *what, int fd) {
    beside b = {.room = {0}};
    struct iovec bytes = {.iov_base = (void *)what, .iov_len = sizeof *what};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &b, .msg_controllen = sizeof b};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *what;
}

/* Sends a newly opened descriptor. A duplicate would share the keeper's lock (flock), which must be
 * the keeper's alone. */
static bool send_again(const ring_plan *plan, const offer *what, int fd) {
    file_path path;
    const int again = open(file_path_of(fd, path), O_RDONLY | O_CLOEXEC);
    const bool sent = again >= 0 && send_file(plan->push_ends[SENDER], what, again);
    file_close(again);
    return sent;
}

ring_pushed *ring_push_offer(const ring_plan *plan, int fd, pid_t pid) {
    ring_pushed *p = ring_push_is_on(plan) ? free_place(plan->run) : NULL;
    if (!p)
        return NULL;
    atomic_store(&p->over, 0);
    atomic_store(&p->left, 0);
    atomic_store(&p->position.inode, 0);
    atomic_store(&p->position.offset, 0);
    atomic_store(&p->position.overrun, 0);
    atomic_store(&p->holders, KEPT | PUSHED);
    const offer what = {.pid = (uint64_t)pid, .place = (uint64_t)(p - plan->run->pushed)};
    if (send_again(plan, &what, fd))
        return p;
    atomic_store(&p->holders, FREE);
    return NULL;
}

/* Releases a place. Returns false if the other side has released it before, so that it is free now;
 * then `left` is the number of bytes counted as spooled. */
static bool let_go(ring_pushed *p, unsigned whose, uint64_t *left) {
    unsigned both = KEPT | PUSHED;
    *left = atomic_load(&p->left);
    if (atomic_compare_exchange_strong(&p->holders, &both, both & ~whose))
        return true;
    *left = atomic_load(&p->left);
    atomic_store(&p->holders, FREE);
    return false;
}

/* What the pusher has not read yet counts as spooled until it releases the place. */
void ring_push_done(const ring_plan *plan, ring_pushed *p, int fd, uint64_t size) {
    const bool wanted = atomic_load(&p->position.offset) != UINT64_MAX && ring_push_is_on(plan);
    const off_t all = wanted && ring_push_is_tight(plan) ? lseek(fd, 0, SEEK_END) : 0;
    if (all > 0 && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, all) == 0) {
        atomic_store(&p->position.overrun, 1);
        size = 0;
    }
    uint64_t left = wanted ? size : 0;
    atomic_store(&p->left, left);
    atomic_fetch_add(&plan->run->spooled, left);
    atomic_store(&p->over, 1);
    if (!let_go(p, KEPT, &left))
        atomic_fetch_sub(&plan->run->spooled, left);
}

/* ---- the pusher ---------------------------------------------------------------------------- */

static ring_pushed *place_of(const ring_plan *plan, const family_trace *t) {
    return &plan->run->pushed[t->number];
}

static int take_file(struct msghdr *message) {
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    int fd = -1;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

/* A message without a descriptor, since too many files are open, yields fd -1, and the trace is
 * missed. */
static bool next(void *context, family_trace *t) {
    ring_plan *plan = context;
    offer got;
    beside b;
    struct iovec bytes = {.iov_base = &got, .iov_len = sizeof got};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &b, .msg_controllen = sizeof b};
    if (recvmsg(plan->push_ends[RECEIVER], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) !=
            (ssize_t)sizeof got ||
        got.place >= RING_RUN_PUSHED)
        return false;
    *t = (family_trace){.fd = take_file(&message),
                        .pid = got.pid,
                        .number = got.place,
                        .position = &plan->run->pushed[got.place].position};
    return true;
}

/* If the keeper was killed, the spool is complete when the recorder has released its lock. */
static bool is_over(void *context, const family_trace *t) {
    if (atomic_load(&place_of(context, t)->over))
        return true;
    if (flock(t->fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    flock(t->fd, LOCK_UN);
    return !file_is_locked(t->fd);
}

static void end_trace(void *context, const family_trace *t) {
    const ring_plan *plan = context;
    ring_pushed *p = place_of(plan, t);
    uint64_t left;
    atomic_store(&p->position.offset, UINT64_MAX);
    if (!let_go(p, PUSHED, &left))
        atomic_fetch_sub(&plan->run->spooled, left);
}

static uint64_t n_missed(void *context) {
    const ring_plan *plan = context;
    return atomic_load(&plan->run->n_unpushed);
}

family_source ring_push_source(ring_plan *plan) {
    return (family_source){
        .next = next, .is_over = is_over, .end = end_trace, .n_missed = n_missed, .context = plan};
}
