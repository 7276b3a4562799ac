/* view_downloads.h: the formats in which the page and its server give a trace away. */
#ifndef CLI_VIEW_VIEW_DOWNLOADS_H
#define CLI_VIEW_VIEW_DOWNLOADS_H

#include "serve/download.h"

extern const download view_downloads[];

#endif
