/* view_browser.h: opens a page in the user's browser. */
#ifndef CLI_VIEW_VIEW_BROWSER_H
#define CLI_VIEW_VIEW_BROWSER_H

/* Where there is a display and a program for it; otherwise nothing happens. Does not wait. */
void view_browser_open(const char *address);

#endif
