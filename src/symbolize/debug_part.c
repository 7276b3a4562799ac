/* debug_part.c: .debug_aranges tells which units are needed, and .debug_abbrev that nothing in them
 * refers to other units. Handles the files that are usual on this machine: 64 bits and native byte
 * order. All others are left to libdw. */
#include "symbolize/debug_part.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "platform/dwarf_reader.h"

#ifndef ELFCOMPRESS_ZSTD /* glibc before 2.37 */
#define ELFCOMPRESS_ZSTD 2
#endif

/* A section of the file. */
typedef struct section {
    const uint8_t *bytes; /* as stored, after the header if compressed; NULL: no such section */
    size_t size;          /* of `bytes` */
    size_t plain;         /* size after decompression, bytes */
    unsigned packed;      /* compression, ELFCOMPRESS_…; 0: none */
} section;

/* .debug_info comes last, so that its end can be omitted. .debug_aranges is only read here. */
#define SECTIONS(X)                                                                                \
    X(ABBREV, ".debug_abbrev")                                                                     \
    X(LINE, ".debug_line")                                                                         \
    X(STR, ".debug_str")                                                                           \
    X(LINE_STR, ".debug_line_str")                                                                 \
    X(RANGES, ".debug_ranges")                                                                     \
    X(RNGLISTS, ".debug_rnglists")                                                                 \
    X(ADDR, ".debug_addr")                                                                         \
    X(STR_OFFSETS, ".debug_str_offsets")                                                           \
    X(TYPES, ".debug_types")                                                                       \
    X(INFO, ".debug_info")                                                                         \
    X(ARANGES, ".debug_aranges")

enum {
#define SECTION_NUMBER(number, name) SECTION_##number,
    SECTIONS(SECTION_NUMBER) N_SECTIONS,
    N_KEPT = SECTION_ARANGES
};

static const char *const section_names[] = {
#define SECTION_NAME(number, name) name,
    SECTIONS(SECTION_NAME)};

/* ---- reading ----------------------------------------------------------------------------- */

static uint32_t get_u32(const uint8_t *p) {
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static uint64_t get_u64(const uint8_t *p) {
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* Returns the number of a section, or N_SECTIONS for others. These may be sections that libdw could
 * read as well, but their content (variables, macros and so on) is never requested. */
static unsigned section_number(const char *name) {
    unsigned i = 0;
    while (i < N_SECTIONS && strcmp(section_names[i], name) != 0)
        i++;
    return i;
}

/* Whether such a section means that the entries are incomplete without other data. */
static bool is_unusual(const char *name) {
    static const char *const names[] = {".gnu_debugaltlink", ".debug_sup", ".debug_info.dwo",
                                        ".debug_cu_index", ".debug_tu_index"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The size of zlib's header, and the most that a byte can expand to: with zstd, four bytes can
 * repeat one byte 128 Ki times. */
enum { ZLIB_HEADER = 2, DEFLATE_MOST = 1032, ZSTD_MOST = 1 << 15 };

static bool section_read(section *s, Elf_Scn *scn, const GElf_Shdr *header) {
    const Elf_Data *data = elf_rawdata(scn, NULL);
    Elf64_Chdr packed;
    if (s->bytes || !data || !data->d_buf)
        return false;
    *s = (section){.bytes = data->d_buf, .size = data->d_size, .plain = data->d_size};
    if (!(header->sh_flags & SHF_COMPRESSED))
        return true;
    if (s->size < sizeof packed + ZLIB_HEADER)
        return false;
    memcpy(&packed, s->bytes, sizeof packed);
    const size_t before = sizeof packed + (packed.ch_type == ELFCOMPRESS_ZLIB ? ZLIB_HEADER : 0);
    s->bytes += before;
    s->size -= before;
    s->plain = packed.ch_size;
    s->packed = packed.ch_type;
    return (s->packed == ELFCOMPRESS_ZLIB && s->plain / DEFLATE_MOST <= s->size) ||
           (s->packed == ELFCOMPRESS_ZSTD && s->plain / ZSTD_MOST <= s->size);
}

static bool sections_read(section sections[N_SECTIONS], Elf *elf) {
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
        const char *name =
            gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || is_unusual(name))
            return false;
        unsigned i = section_number(name);
        if (i < N_SECTIONS && !section_read(&sections[i], scn, &header))
            return false;
    }
    return sections[SECTION_INFO].bytes && sections[SECTION_ABBREV].bytes;
}

/* Whether a section that libdw should have decompressed in place is unchanged, which means that
 * libdw failed. Old sections are marked as compressed by their name and first bytes. */
static bool is_left_packed(Elf_Scn *scn, const GElf_Shdr *header, const char *name) {
    char modern[32];
    const Elf_Data *data;
    if (strncmp(name, ".zdebug_", 8) != 0)
        return header->sh_flags & SHF_COMPRESSED && section_number(name) < N_KEPT;
    snprintf(modern, sizeof modern, ".%s", name + 2);
    data = section_number(modern) < N_KEPT ? elf_rawdata(scn, NULL) : NULL;
    return data && data->d_size >= 4 && memcmp(data->d_buf, "ZLIB", 4) == 0;
}

bool debug_part_lost(const elf_file *file) {
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(file->elf, &names) != 0)
        return true;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn));) {
        const char *name =
            gelf_getshdr(scn, &header) ? elf_strptr(file->elf, names, header.sh_name) : NULL;
        if (name && is_left_packed(scn, &header, name))
            return true;
    }
    return false;
}

/* Older versions of libdw cannot read these sections. */
static bool any_zstd(const section sections[N_SECTIONS]) {
    for (size_t i = 0; i < N_SECTIONS; i++)
        if (sections[i].packed == ELFCOMPRESS_ZSTD)
            return true;
    return false;
}

static bool is_native(Elf *elf) {
    const char *ident = elf_getident(elf, NULL);
    return ident && ident[EI_CLASS] == ELFCLASS64 &&
           ident[EI_DATA] ==
               (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

/* ---- decompression ----------------------------------------------------------------------- */

/* A section being decompressed to `to`. */
typedef struct inflation {
    z_stream z;
    const section *section;
    uint8_t *to;
    size_t done; /* bytes decompressed so far */
} inflation;

static bool inflation_begin(inflation *f, const section *s, uint8_t *to) {
    *f = (inflation){.section = s, .to = to};
    if (!s->packed || s->size > UINT32_MAX || s->plain > UINT32_MAX)
        return !s->packed;
    f->z.next_in = (Bytef *)s->bytes;
    f->z.avail_in = (uInt)s->size;
    return inflateInit2(&f->z, -MAX_WBITS) == Z_OK; /* raw, to save the pass for the checksum */
}

static bool inflation_reach(inflation *f, size_t end) {
    const section *s = f->section;
    if (end > s->plain)
        return false;
    if (!s->packed && end > f->done)
        memcpy(f->to + f->done, s->bytes + f->done, end - f->done);
    if (s->packed && end > f->done) {
        f->z.next_out = f->to + f->done;
        f->z.avail_out = (uInt)(end - f->done);
        const int result = inflate(&f->z, Z_SYNC_FLUSH);
        if ((result != Z_OK && result != Z_STREAM_END) || f->z.avail_out)
            return false;
    }
    f->done = end > f->done ? end : f->done;
    return true;
}

static void inflation_end(inflation *f) {
    if (f->section->packed)
        inflateEnd(&f->z);
}

static bool section_inflate(const section *s, uint8_t *to) {
    inflation f;
    if (s->packed == ELFCOMPRESS_ZSTD)
        return ZSTD_decompress(to, s->plain, s->bytes, s->size) == s->plain;
    if (!inflation_begin(&f, s, to))
        return false;
    const bool whole = inflation_reach(&f, s->plain);
    inflation_end(&f);
    return whole;
}

/* ---- which units ------------------------------------------------------------------------- */

/* The addresses to look up, and the results. */
typedef struct search {
    const uint64_t *addresses; /* in ascending order */
    size_t n;
    uint8_t *seen; /* for each address, whether a unit contains it */
    uint64_t last; /* start of the last of these units */
} search;

static void search_range(search *s, uint64_t low, uint64_t size, uint64_t unit) {
    size_t from = 0, to = s->n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (s->addresses[middle] < low)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < s->n && s->addresses[from] - low < size; from++) {
        s->seen[from] = 1;
        s->last = unit > s->last ? unit : s->last;
    }
}

/* The layout of a set: length u32, version u16, unit u32, sizes of an address and of a segment u8,
 * and after padding, pairs of u64. */
enum { SET_LENGTH = 4, SET_UNIT = 6, SET_SIZES = 10, SET_PAIRS = 16, PAIR = 16 };

static bool search_set(search *s, const uint8_t *set, size_t size) {
    if (size < SET_PAIRS || set[SET_SIZES] != sizeof(uint64_t) || set[SET_SIZES + 1] != 0)
        return false;
    for (size_t at = SET_PAIRS; at + PAIR <= size; at += PAIR)
        search_range(s, get_u64(set + at), get_u64(set + at + PAIR / 2), get_u32(set + SET_UNIT));
    return true;
}

static bool search_sets(search *s, const uint8_t *bytes, size_t size) {
    while (size > SET_LENGTH) {
        const size_t length = get_u32(bytes);
        if (length > size - SET_LENGTH || !search_set(s, bytes, SET_LENGTH + length))
            return false;
        bytes += SET_LENGTH + length;
        size -= SET_LENGTH + length;
    }
    return !memchr(s->seen, 0, s->n);
}

/* Finds the last unit needed. Returns false if no unit is given for some address. */
static bool find_last_unit(search *s, const section *aranges) {
    uint8_t *bytes = aranges->bytes ? malloc(aranges->plain) : NULL;
    s->seen = calloc(s->n, 1);
    const bool found = bytes && s->seen && section_inflate(aranges, bytes) &&
                       search_sets(s, bytes, aranges->plain);
    free(s->seen);
    free(bytes);
    return found;
}

/* Decompresses the entries up to the end of the unit at `last`. Returns their size, or 0 if that is
 * impossible. */
static size_t inflate_units(const section *info, uint8_t *to, uint64_t last) {
    inflation f;
    size_t end = 0;
    if (!inflation_begin(&f, info, to))
        return 0;
    if (last < info->plain && inflation_reach(&f, last + SET_LENGTH))
        end = last + SET_LENGTH + get_u32(to + last);
    const bool whole = end && inflation_reach(&f, end);
    inflation_end(&f);
    return whole ? end : 0;
}

/* ---- references -------------------------------------------------------------------------- */

/* Reads the attributes of an abbreviation. Returns whether one may refer to another unit. */
static bool abbreviation_refers(struct dwarf_reader *r) {
    bool refers = false;
    dwarf_uleb(r); /* tag */
    dwarf_u8(r);   /* whether it has children */
    for (uint64_t form = 1; form && dwarf_more(r);) {
        dwarf_uleb(r);
        form = dwarf_uleb(r);
        if (form == DW_FORM_implicit_const)
            dwarf_uleb(r);
        refers |= form == DW_FORM_ref_addr || form == DW_FORM_ref_sig8 ||
                  form == DW_FORM_indirect || form == DW_FORM_GNU_ref_alt ||
                  form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
    }
    return refers;
}

static bool units_are_apart(const uint8_t *abbreviations, size_t size) {
    struct dwarf_reader r = {.at = abbreviations, .end = abbreviations + size};
    while (dwarf_more(&r))
        if (dwarf_uleb(&r) != 0 && abbreviation_refers(&r)) /* 0 ends the abbreviations of a unit */
            return false;
    return true;
}

/* ---- assembling the file ----------------------------------------------------------------- */

/* The start of the file: its headers and the names of sections. */
typedef struct front {
    Elf64_Ehdr elf;
    Elf64_Shdr sections[1 + N_KEPT + 1]; /* the null section, the kept ones, the names */
    char names[256];
} front;

static void front_begin(front *f, Elf *elf) {
    GElf_Ehdr original;
    *f = (front){0};
    memcpy(f->elf.e_ident, elf_getident(elf, NULL), EI_NIDENT);
    f->elf.e_type = gelf_getehdr(elf, &original) ? original.e_type : ET_DYN;
    f->elf.e_machine = original.e_machine;
    f->elf.e_version = EV_CURRENT;
    f->elf.e_shoff = offsetof(front, sections);
    f->elf.e_ehsize = sizeof f->elf;
    f->elf.e_shentsize = sizeof *f->sections;
    f->elf.e_shnum = sizeof f->sections / sizeof *f->sections;
    f->elf.e_shstrndx = f->elf.e_shnum - 1;
}

/* Adds a section's name. Returns its offset. */
static Elf64_Word front_name(front *f, const char *name) {
    const size_t at = f->sections[f->elf.e_shstrndx].sh_size;
    memcpy(f->names + at, name, strlen(name) + 1);
    f->sections[f->elf.e_shstrndx].sh_size = at + strlen(name) + 1;
    return (Elf64_Word)at;
}

static void front_add(front *f, size_t number, const char *name, size_t offset, size_t size) {
    f->sections[1 + number] = (Elf64_Shdr){.sh_name = front_name(f, name),
                                           .sh_type = SHT_PROGBITS,
                                           .sh_offset = offset,
                                           .sh_size = size,
                                           .sh_addralign = 1};
}

static void front_end(front *f) {
    Elf64_Shdr *names = &f->sections[f->elf.e_shstrndx];
    names->sh_name = front_name(f, ".shstrtab");
    names->sh_type = SHT_STRTAB;
    names->sh_offset = offsetof(front, names);
    names->sh_addralign = 1;
}

#define ALL_UNITS UINT64_MAX

/* Decompresses everything into `bytes`, which has room for it. Returns the size of the file, or
 * 0. */
static size_t fill(uint8_t *bytes, Elf *elf, const section sections[N_SECTIONS], uint64_t last) {
    front f;
    size_t at = sizeof f, size;
    front_begin(&f, elf);
    front_name(&f, "");
    for (size_t i = 0; i < N_KEPT; i++, at += size) {
        const section *s = &sections[i];
        size = s->plain;
        if (!s->bytes)
            continue;
        if (i == SECTION_INFO && last != ALL_UNITS ? !(size = inflate_units(s, bytes + at, last))
                                                   : !section_inflate(s, bytes + at))
            return 0;
        if (i == SECTION_ABBREV && last != ALL_UNITS && !units_are_apart(bytes + at, size))
            return 0;
        front_add(&f, i, section_names[i], at, size);
    }
    front_end(&f);
    memcpy(bytes, &f, sizeof f);
    return at;
}

bool debug_part_make(debug_part *part, const elf_file *file, const uint64_t *addresses, size_t n) {
    section sections[N_SECTIONS] = {0};
    search s = {.addresses = addresses, .n = n};
    size_t most = sizeof(front);
    *part = DEBUG_PART_NONE;
    if (!is_native(file->elf) || !sections_read(sections, file->elf) || n == 0)
        return false;
    if (any_zstd(sections))
        s.last = ALL_UNITS;
    /* Used by .dwo files. */
    else if (!sections[SECTION_INFO].packed || sections[SECTION_ADDR].bytes ||
             !find_last_unit(&s, &sections[SECTION_ARANGES]))
        return false;
    for (size_t i = 0; i < N_KEPT; i++)
        most += sections[i].plain;
    part->bytes = malloc(most);
    const size_t size = part->bytes ? fill(part->bytes, file->elf, sections, s.last) : 0;
    part->elf = size ? elf_memory((char *)part->bytes, size) : NULL;
    if (!part->elf)
        debug_part_free(part);
    return part->elf != NULL;
}

void debug_part_free(debug_part *part) {
    if (part->elf)
        elf_end(part->elf);
    free(part->bytes);
    *part = DEBUG_PART_NONE;
}
