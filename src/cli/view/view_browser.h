/* view_browser.h: opens a page in the user's browser. */
#ifndef CLI_VIEW_VIEW_BROWSER_H
#define CLI_VIEW_VIEW_BROWSER_H

/* Does nothing if there is no display, or no program that opens pages. Does not wait for the
 * browser. */
void view_browser_open(const char *address);

#endif
