/* imports_stubs.h: what imports.c and imports_stubs.S agree on; sizes and offsets in bytes. */
#ifndef RECORD_IMPORTS_STUBS_H
#define RECORD_IMPORTS_STUBS_H

#define IMPORTS_STUBS     256
#define IMPORTS_STUB_SIZE 16
#define IMPORTS_CALL_SIZE 32 /* struct allocator_call, and where it has its hook */
#define IMPORTS_CALL_HOOK 8

#endif
