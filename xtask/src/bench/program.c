// The program that the benchmark runs as an agent, under peers, and by itself. Static, so that its own start is small.
// It reports moments as datagrams of the monotonic clock's nanoseconds and its pid.
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int report = -1;
static struct sockaddr_un address;

static void tell_at(uint64_t at) {
  uint64_t words[2] = {at, (uint64_t)getpid()};
  sendto(report, words, sizeof words, 0, (struct sockaddr *)&address, sizeof address);
}

static void wait_for_ever(void) {
  for (;;) pause();
}

// 78 bytes and a newline, as often as it takes; with colours each line begins and ends with an escape sequence.
static void flood(size_t bytes, int colours) {
  static char block[79 * 800];
  for (size_t i = 0; i < sizeof block; i++) block[i] = i % 79 == 78 ? '\n' : (char)('!' + (i * 7 + i / 79) % 90);
  for (size_t line = 0; colours && line < sizeof block; line += 79) {
    memcpy(block + line, "\033[31m", 5);
    block[line + 3] = (char)('1' + line / 79 % 6);
    memcpy(block + line + 75, "\033[m", 3);
  }
  for (size_t done = 0; done < bytes;) {
    size_t column = done % 79, some = sizeof block - column;
    ssize_t n = write(1, block + column, some < bytes - done ? some : bytes - done);
    if (n <= 0) _exit(1);
    done += (size_t)n;
  }
}

// Each delivered message is reported at the moment its line was read.
static void lines(void) {
  static char buffer[1 << 16];
  size_t used = 0;
  for (;;) {
    ssize_t n = read(0, buffer + used, sizeof buffer - 1 - used);
    uint64_t at = now();
    if (n <= 0) _exit(0);
    used += (size_t)n;
    char *line = buffer, *end;
    while ((end = memchr(line, '\n', used - (size_t)(line - buffer)))) {
      *end = 0;
      if (strstr(line, "\"agent/message.deliver\"")) tell_at(at);
      line = end + 1;
    }
    used -= (size_t)(line - buffer);
    memmove(buffer, line, used);
    if (used == sizeof buffer - 1) used = 0;
  }
}

int main(int argc, char **argv) {
  uint64_t begun = now();
  if (argc < 3) return 2;
  report = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, argv[2], sizeof address.sun_path - 1);
  if (!strcmp(argv[1], "first")) {
    tell_at(begun);
    wait_for_ever();
  }
  if (!strcmp(argv[1], "mark")) {
    write(1, "MARKER\r\n", 8);
    tell_at(begun);
    wait_for_ever();
  }
  if (!strcmp(argv[1], "lines")) {
    tell_at(begun);
    lines();
  }
  if (!strcmp(argv[1], "flood") && argc > 3) {
    size_t bytes = strtoull(argv[3], 0, 10);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    tell_at(begun);
    for (;;) {
      int which;
      sigwait(&set, &which);
      tell_at(now());
      flood(bytes, argc > 4);
      tell_at(now());
    }
  }
  return 2;
}
