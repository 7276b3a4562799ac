/* pages_seen.c: asks the kernel about a page that is not remembered yet, in one system call. The
 * page replaces the oldest one remembered. */
#include "platform/pages_seen.h"

#include "platform/maps.h"

__attribute__((cold)) bool pages_seen_ask(struct pages_seen *s, uintptr_t page) {
    enum { PAGE_LOG2 = 12 };
    if (page == 0 || page > UINTPTR_MAX >> PAGE_LOG2 || !maps_readable(page << PAGE_LOG2))
        return false;
    s->pages[s->next % PAGES_SEEN] = page;
    s->next++;
    return true;
}
