/* mhd.c: loads libmicrohttpd. */
#include "serve/mhd.h"

#include "base/library.h"

mhd_functions mhd;

const char *mhd_load(void) {
#define MHD_NAME(name) "MHD_" #name,
    static const char *const files[] = {"libmicrohttpd.so.12", NULL}, *const functions[] = {
                                                                          MHD_FUNCTIONS(MHD_NAME)};
#undef MHD_NAME
    static const library libmicrohttpd = {
        .files = files,
        .functions = functions,
        .n = sizeof functions / sizeof *functions,
        .missing = "libmicrohttpd is not installed (Debian: apt-get install libmicrohttpd12)",
        .too_old = "this libmicrohttpd is too old",
    };
    return library_load(&libmicrohttpd, (void **)&mhd);
}
