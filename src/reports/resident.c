/* resident.c: tells three causes apart: files, memory that the allocator kept, and memory that did
 * not come from the allocator. */
#include "reports/resident.h"

#include <string.h>

/* A difference is reported if RSS is at least this many times the live memory, and at least this
 * many bytes. */
#define TIMES 3
#define LEAST 32e6

static double last_of(const gauge_list *gauges, const char *name) {
    for (size_t i = 0; i < gauges->count; i++)
        if (strcmp(gauges->items[i].name, name) == 0)
            return (double)gauge_last(&gauges->items[i])->bytes;
    return 0;
}

bool resident_explain(document *d, const gauge_list *gauges, const resident_live *live) {
    const double rss = last_of(gauges, "rss"), anonymous = last_of(gauges, "anonymous");
    if (rss < TIMES * live->end.high || rss < LEAST)
        return false;
    const figure_text all = figure_bytes(rss), own = figure_bytes(anonymous);
    document_note(d, "At the end, %s was in RAM (RSS), much more than was live.", all.text);
    if (anonymous == 0)
        return true;
    if (anonymous < rss / 2)
        document_note(d, "Most of it belongs to files, such as the program and its libraries; "
                         "processes share it.");
    else if (live->peak.value >= anonymous / 2)
        document_note(
            d,
            "Live memory fell from %s (at %s) to %s, but %s of memory from the system "
            "stayed: freed memory that the allocator keeps, or cannot return because of "
            "blocks in between, which `allotrace hotspots --measure survived` shows. What "
            "helps: a lower peak, fewer long-lived blocks among short-lived ones, "
            "malloc_trim, another allocator.",
            figure_bytes(live->peak.value).text, figure_duration(live->peak_time).text,
            figure_bytes(live->end.value).text, own.text);
    else
        document_note(d,
                      "At most %s was live at any time, so %s of it did not come from the "
                      "allocator: `allotrace run --mmap --rate 0.01` records what is mapped "
                      "directly.",
                      figure_bytes(live->peak.high).text,
                      figure_bytes(anonymous - live->peak.high).text);
    return true;
}
