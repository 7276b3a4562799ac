/* view_downloads.h: the formats in which the page offers a trace for download. */
#ifndef CLI_VIEW_VIEW_DOWNLOADS_H
#define CLI_VIEW_VIEW_DOWNLOADS_H

#include "answers/download.h"

extern const download view_downloads[];

#endif
