/* imports_stubs.h: constants that imports.c and imports_stubs.S share. Sizes and offsets are in
 * bytes. */
#ifndef RECORD_IMPORTS_STUBS_H
#define RECORD_IMPORTS_STUBS_H

#define IMPORTS_STUBS     256
#define IMPORTS_STUB_SIZE 16
#define IMPORTS_CALL_SIZE 32 /* size of struct allocator_call; below, the offset of its hook */
#define IMPORTS_CALL_HOOK 8

#endif
