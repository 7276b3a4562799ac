/* Says the number of each signal it gets, a line each. With an argument it leaves its process
 * group. The last signal ends it. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void hear(int sig) {
    char text[16];
    int n = snprintf(text, sizeof text, "%d\n", sig);
    if (write(STDOUT_FILENO, text, (size_t)n) != n)
        _exit(1);
}

int main(int argc, char **argv) {
    static const int heard[] = {SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGCONT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        sigaction(heard[i], &(struct sigaction){.sa_handler = hear, .sa_mask = all}, NULL);
    sigaction(SIGRTMIN, &(struct sigaction){.sa_handler = hear, .sa_mask = all}, NULL);
    if (argc > 1 && argv[1][0] == 'g')
        setpgid(0, 0);
    hear(0);
    for (;;)
        pause();
}
