/* mhd.h: the functions of libmicrohttpd, which mhd_load looks up. With them come ten libraries for
 * TLS, which we do not speak. */
#ifndef SERVE_MHD_H
#define SERVE_MHD_H

#include <microhttpd.h>

#define MHD_FUNCTIONS(X)                                                                           \
    X(add_response_header)                                                                         \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(destroy_response)                                                                            \
    X(get_connection_info)                                                                         \
    X(get_connection_values_n)                                                                     \
    X(get_daemon_info)                                                                             \
    X(lookup_connection_value)                                                                     \
    X(queue_response)                                                                              \
    X(resume_connection)                                                                           \
    X(run)                                                                                         \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(suspend_connection)

typedef struct mhd_functions {
#define MHD_POINTER(name) __typeof__(&MHD_##name) name;
    MHD_FUNCTIONS(MHD_POINTER)
#undef MHD_POINTER
} mhd_functions;

/* NULL before mhd_load. */
extern mhd_functions mhd;

/* Loads the library, before a server is started. Returns NULL, or one line for users. */
const char *mhd_load(void);

#endif
