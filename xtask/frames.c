// Prints the frames of the thread in which a process gets SIGSEGV, and ends it. `gpu.sh` preloads it into programs under
// compute-sanitizer, so that a crash of the tool can be told from one of the program.
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

enum { FRAMES = 64 };

static void crashed(int signal) {
    void *frames[FRAMES];
    static const char line[] = "\ncrashed:\n";
    if (write(STDERR_FILENO, line, sizeof line - 1) > 0)
        backtrace_symbols_fd(frames, backtrace(frames, FRAMES), STDERR_FILENO);
    _exit(128 + signal);
}

__attribute__((constructor)) static void begin(void) {
    void *frame;
    backtrace(&frame, 1); // loads what it needs, which a handler may not
    struct sigaction action = {.sa_handler = crashed};
    sigaction(SIGSEGV, &action, 0);
}
