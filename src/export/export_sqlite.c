/* export_sqlite.c: a profile as an SQLite database, to be queried with SQL. Everything is written
 * in one transaction, and indices are created after the rows. The size of the file is estimated. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "export/exports.h"
#include "paths/path_tree.h"
#include "profile/spans.h"
#include "query/cost.h"
#include "query/estimate.h"

/* No protection against crashes is needed: the file is moved into place when it is complete. */
static const char schema[] =
    "PRAGMA journal_mode = OFF;"
    "PRAGMA synchronous = OFF;"
    "BEGIN;"
    "CREATE TABLE trace ("
    "  executable TEXT, host TEXT, pid INTEGER, context TEXT, runtime TEXT,"
    "  start INTEGER,"    /* microseconds since the epoch */
    "  duration INTEGER," /* microseconds */
    "  word_size INTEGER, rate REAL, bytes_per_sample REAL,"
    "  ends_early INTEGER, reason TEXT);" /* microseconds, and the reason; NULL: complete */
    "CREATE TABLE frames (id INTEGER PRIMARY KEY, function TEXT, file TEXT, line INTEGER);"
    /* The stack of a block is the path from the row it names to the row without parent. */
    "CREATE TABLE stacks (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES stacks,"
    "  frame INTEGER REFERENCES frames, depth INTEGER);"
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY,"
    "  born INTEGER, promoted INTEGER, died INTEGER," /* microseconds since the start */
    "  size INTEGER,"                                 /* bytes, header excluded */
    "  samples INTEGER,"
    "  bytes REAL, objects REAL," /* estimates that it stands for */
    "  source TEXT, domain INTEGER, type TEXT,"
    "  site INTEGER REFERENCES frames, caller INTEGER REFERENCES frames,"
    "  stack INTEGER REFERENCES stacks,"
    /* The block's rank among all births, and the number of births before its death. */
    "  birth INTEGER, births_before_death INTEGER,"
    "  thread TEXT, scope TEXT,"      /* names; NULL: none */
    "  trace_id TEXT, span_id TEXT);" /* of distributed tracing; NULL: none */
    /* The moment shown by the view `live`: just after a birth, or the end of a microsecond. */
    "CREATE TABLE moment (time INTEGER, birth INTEGER);";

static const char views[] =
    "CREATE INDEX blocks_site ON blocks (site);"
    "CREATE INDEX blocks_stack ON blocks (stack);"
    "CREATE VIEW hotspots AS"
    "  SELECT f.function, f.file, f.line, sum(b.bytes) AS bytes, sum(b.samples) AS samples,"
    "    sum(b.objects) AS objects,"
    "    100.0 * sum(b.samples) / (SELECT sum(samples) FROM blocks) AS percent"
    "  FROM blocks b LEFT JOIN frames f ON f.id = b.site"
    "  GROUP BY b.site ORDER BY sum(b.samples) DESC, f.file, f.line;"
    "CREATE VIEW callers AS"
    "  SELECT s.function AS site, s.file AS site_file, s.line AS site_line,"
    "    c.function AS caller, c.file AS caller_file, c.line AS caller_line,"
    "    sum(b.bytes) AS bytes, sum(b.samples) AS samples, sum(b.objects) AS objects"
    "  FROM blocks b LEFT JOIN frames s ON s.id = b.site LEFT JOIN frames c ON c.id = b.caller"
    "  GROUP BY b.site, b.caller ORDER BY sum(b.samples) DESC, s.file, s.line, c.file, c.line;"
    "CREATE VIEW types AS"
    "  SELECT type, sum(bytes) AS bytes, sum(samples) AS samples, sum(objects) AS objects"
    "  FROM blocks GROUP BY type ORDER BY sum(samples) DESC, type;"
    "CREATE TRIGGER moment_at AFTER UPDATE OF time ON moment"
    "  BEGIN UPDATE moment SET birth = NULL; END;"
    "CREATE VIEW live AS"
    "  SELECT b.* FROM blocks b, moment m"
    "  WHERE CASE WHEN m.birth IS NULL"
    "    THEN b.born <= m.time AND (b.died IS NULL OR b.died > m.time)"
    "    ELSE b.birth <= m.birth AND"
    "      (b.births_before_death IS NULL OR b.births_before_death > m.birth) END;"
    "CREATE VIEW live_hotspots AS"
    "  SELECT f.function, f.file, f.line, sum(b.bytes) AS bytes, sum(b.samples) AS samples,"
    "    sum(b.objects) AS objects"
    "  FROM live b LEFT JOIN frames f ON f.id = b.site"
    "  GROUP BY b.site ORDER BY sum(b.samples) DESC, f.file, f.line;"
    "CREATE VIEW timeline AS"
    "  SELECT time, sum(sum(change)) OVER (ORDER BY time) AS bytes, max(live) AS most FROM"
    "    (SELECT time, change, sum(change) OVER (ORDER BY birth, is_birth, time"
    "       ROWS UNBOUNDED PRECEDING) AS live FROM"
    "      (SELECT born AS time, birth, 1 AS is_birth, bytes AS change FROM blocks"
    "       UNION ALL SELECT died, births_before_death, 0, -bytes FROM blocks"
    "       WHERE died IS NOT NULL))"
    "  GROUP BY time;"
    "CREATE VIEW survivors AS SELECT * FROM blocks WHERE died IS NULL;"
    "COMMIT;";

typedef struct database {
    sqlite3 *db;
    const profile *profile;
    const lens *lens;
    path_tree *stacks;
    const output_watch *watch;
    uint64_t n_blocks; /* number of blocks to write */
    bool no_memory, unwanted;
} database;

/* ---- statements -------------------------------------------------------------------------- */

static bool run(database *d, const char *sql) {
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3_stmt *prepare(database *d, const char *sql) {
    sqlite3_stmt *s = NULL;
    return sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) == SQLITE_OK ? s : NULL;
}

/* Executes a statement whose parameters are bound. Parameters stay bound for the next row. */
static bool step(sqlite3_stmt *s) {
    const bool ok = sqlite3_step(s) == SQLITE_DONE;
    sqlite3_reset(s);
    return ok;
}

static void bind_text(sqlite3_stmt *s, int at, const char *text) {
    if (text)
        sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

/* Binds a name from the program as valid UTF-8, since clients may refuse a column that is not. */
static void bind_name(sqlite3_stmt *s, int at, const char *name) {
    output text;
    if (!name) {
        sqlite3_bind_null(s, at);
        return;
    }
    output_start(&text, OUTPUT_MEMORY);
    output_utf8(&text, name);
    sqlite3_bind_text(s, at, text.buffer, text.error ? 0 : (int)text.used, SQLITE_TRANSIENT);
    output_finish(&text);
}

static void bind_number(sqlite3_stmt *s, int at, uint64_t value) {
    sqlite3_bind_int64(s, at, (sqlite3_int64)value);
}

static void bind_unless(sqlite3_stmt *s, int at, uint64_t value, uint64_t none) {
    if (value == none)
        sqlite3_bind_null(s, at);
    else
        bind_number(s, at, value);
}

/* ---- tables ------------------------------------------------------------------------------ */

static bool put_trace(database *d) {
    const profile *p = d->profile;
    sqlite3_stmt *s = prepare(d, "INSERT INTO trace VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    if (!s)
        return false;
    bind_name(s, 1, p->info.executable_name);
    bind_text(s, 2, p->info.host_name);
    bind_number(s, 3, p->info.pid);
    bind_text(s, 4, p->info.context);
    bind_text(s, 5, p->info.runtime_params);
    bind_number(s, 6, p->info.start_time);
    bind_number(s, 7, p->duration);
    bind_number(s, 8, p->info.word_size);
    sqlite3_bind_double(s, 9, p->info.sample_rate);
    sqlite3_bind_double(s, 10, profile_bytes_per_sample(p));
    if (profile_ends_early(p)) {
        bind_number(s, 11, p->end.time);
        bind_text(s, 12, p->end.reason);
    }
    const bool ok = step(s);
    sqlite3_finalize(s);
    return ok;
}

static bool put_frames(database *d) {
    sqlite3_stmt *s = prepare(d, "INSERT INTO frames VALUES (?,?,?,?)");
    bool ok = s;
    for (uint32_t i = 0; ok && i < d->stacks->places->locations.count; i++) {
        const profile_location *l = path_tree_location(d->stacks, i);
        bind_number(s, 1, i);
        bind_name(s, 2, l->function);
        bind_name(s, 3, *l->file ? l->file : NULL);
        bind_unless(s, 4, l->line, 0);
        ok = step(s);
    }
    sqlite3_finalize(s);
    return ok;
}

/* Row 0 is the stack without frames. */
static bool put_stacks(database *d) {
    const path_tree *all = d->stacks;
    sqlite3_stmt *s = prepare(d, "INSERT INTO stacks VALUES (?,?,?,?)");
    uint32_t *depths = calloc(all->n, sizeof *depths);
    d->no_memory |= !depths;
    bool ok = s && depths;
    for (size_t i = 0; ok && i < all->n; i++) {
        const path_node *n = &all->nodes[i];
        depths[i] = i == PATH_ROOT ? 0 : depths[n->parent] + 1;
        bind_number(s, 1, i);
        bind_unless(s, 2, i == PATH_ROOT ? UINT64_MAX : n->parent, UINT64_MAX);
        bind_unless(s, 3, i == PATH_ROOT ? UINT64_MAX : n->place, UINT64_MAX);
        bind_number(s, 4, depths[i]);
        ok = step(s);
    }
    free(depths);
    sqlite3_finalize(s);
    return ok;
}

static void bind_place(const database *d, sqlite3_stmt *s, int at, lens_cursor c) {
    if (c.location == LENS_NOWHERE)
        sqlite3_bind_null(s, at);
    else
        bind_number(s, at, d->stacks->places->of_location[c.location]);
}

static bool put_block(const database *d, sqlite3_stmt *s, size_t row,
                      span_cursor spans[SPAN_N_KINDS]) {
    static const char *const sources[] = {
        [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};
    const profile *p = d->profile;
    const block_table *b = &p->table;
    const uint64_t length = blocks_length(b, row), samples = blocks_samples(b, row);
    uint32_t wrapper;
    const lens_cursor site =
        lens_site(d->lens, b->node[row], b->source[row] == MEMTRACE_EXTERNAL, &wrapper);
    bind_number(s, 1, row);
    bind_number(s, 2, blocks_born(b, row));
    bind_unless(s, 3, blocks_promoted(b, row), BLOCKS_NEVER);
    bind_unless(s, 4, blocks_died(b, row), BLOCKS_NEVER);
    bind_number(s, 5, length * (p->info.word_size / 8));
    bind_number(s, 6, samples);
    sqlite3_bind_double(s, 7, cost_bytes(p, samples));
    sqlite3_bind_double(s, 8, 1 / estimate_inclusion(length + 1, p->info.sample_rate));
    bind_text(s, 9, sources[b->source[row]]);
    bind_number(s, 10, b->domain[row]);
    bind_text(s, 11, profile_type(p, b->node[row]));
    bind_place(d, s, 12, site);
    bind_place(d, s, 13, lens_outward(d->lens, site));
    bind_number(s, 14, path_tree_end(d->stacks, b->node[row]));
    bind_number(s, 15, blocks_place(b, row));
    bind_unless(s, 16, b->after[row], BLOCKS_NOWHERE);
    bind_text(s, 17, spans_text(b, SPAN_THREAD, row, &spans[SPAN_THREAD]));
    bind_text(s, 18, spans_text(b, SPAN_SCOPE, row, &spans[SPAN_SCOPE]));
    bind_text(s, 19, spans_text(b, SPAN_TRACE_ID, row, &spans[SPAN_TRACE_ID]));
    bind_text(s, 20, spans_text(b, SPAN_SPAN_ID, row, &spans[SPAN_SPAN_ID]));
    return step(s);
}

/* A row and its entries in both indices take 75 to 95 bytes, in databases with millions of rows. */
enum { BLOCK_SIZE = 86, TELL_BLOCKS = 1 << 14 };

/* Estimates the size of the file; each table has pages of its own. */
static uint64_t guess_size(const database *d) {
    enum { EMPTY = 1 << 16, STACK_SIZE = 20 };
    return EMPTY + d->n_blocks * BLOCK_SIZE + d->stacks->n * STACK_SIZE;
}

static bool is_wanted(database *d, const uint8_t *kept) {
    const output_watch *w = d->watch;
    for (size_t i = 0; i < d->profile->table.count; i++)
        d->n_blocks += !kept || kept[i];
    d->unwanted = w && w->expect && !w->expect(w->context, guess_size(d));
    return !d->unwanted;
}

static bool tell(database *d, uint64_t written) {
    const output_watch *w = d->watch;
    if (written % TELL_BLOCKS == 0 && w && w->go_on)
        d->unwanted = !w->go_on(w->context, written * BLOCK_SIZE);
    return !d->unwanted;
}

static bool put_blocks(database *d, const uint8_t *kept) {
    sqlite3_stmt *s =
        prepare(d, "INSERT INTO blocks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    bool ok = s;
    uint64_t written = 0;
    span_cursor spans[SPAN_N_KINDS] = {{0}};
    for (size_t i = 0; ok && i < d->profile->table.count; i++)
        if (!kept || kept[i])
            ok = put_block(d, s, i, spans) && tell(d, ++written);
    sqlite3_finalize(s);
    return ok;
}

/* Creates the views, together with the indices, which take long. */
static bool put_views(database *d) {
    if (d->watch && d->watch->doing)
        d->watch->doing(d->watch->context, "sorting by site and stack");
    return run(d, views);
}

/* The moment is the peak until it is updated. */
static bool put_moment(database *d) {
    blocks_most most;
    d->no_memory |= !blocks_peak(&d->profile->table, &most);
    sqlite3_stmt *s = d->no_memory ? NULL : prepare(d, "INSERT INTO moment VALUES (?, ?)");
    if (s) {
        bind_number(s, 1, most.at.time);
        bind_unless(s, 2, most.at.place, BLOCKS_NOWHERE);
    }
    const bool ok = s && step(s);
    sqlite3_finalize(s);
    return ok;
}

/* ---- the file ---------------------------------------------------------------------------- */

static bool look_up(database *d) {
    d->stacks = path_tree_see(d->lens, PLACE_BY_LINE);
    d->no_memory = !d->stacks;
    return !d->no_memory;
}

static bool fill(database *d, const uint8_t *kept) {
    return look_up(d) && is_wanted(d, kept) && run(d, schema) && put_trace(d) && put_frames(d) &&
           put_stacks(d) && put_blocks(d, kept) && put_moment(d) && put_views(d);
}

bool export_sqlite(output *o, export_subject *s) {
    database d = {.profile = s->lens->profile, .lens = s->lens, .watch = o->watch};
    bool ok = sqlite3_open_v2(s->path, &d.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
                  SQLITE_OK &&
              fill(&d, s->kept);
    s->is_unwanted = d.unwanted;
    if (!ok && !d.no_memory)
        snprintf(s->reason, sizeof s->reason, "%s", sqlite3_errmsg(d.db));
    if (sqlite3_close(d.db) != SQLITE_OK && ok) {
        snprintf(s->reason, sizeof s->reason, "cannot close the database");
        ok = false;
    }
    path_tree_free(d.stacks);
    return ok;
}
