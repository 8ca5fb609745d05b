// What the measured commands do, as small as it can be. ../tool.go is the same for
// machines without a C compiler.
//   stamp FILE [CODE]          append CLOCK_MONOTONIC ns as 20 digits, exit CODE
//   stampexit FILE MS [CODE]   sleep first
//   park FILE                  write "PID PPID", then wait to be killed
//   spawn                      print the ns that a spawn of /bin/true takes, start to end
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long mono(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int append(const char *path, const char *line) {
	int f = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
	int n = strlen(line);
	return f >= 0 && write(f, line, n) == n ? 0 : 125;
}

static int stamp(const char *path, int code) {
	char line[32];
	sprintf(line, "%020lld\n", mono());
	return append(path, line) ? 125 : code;
}

static int park(const char *path) {
	char line[64];
	sprintf(line, "%d %d\n", getpid(), getppid());
	if (append(path, line))
		return 125;
	for (;;)
		pause();
}

static int spawn(void) {
	char *argv[] = {"/bin/true", 0};
	pid_t pid;
	long long from = mono();
	if (posix_spawn(&pid, argv[0], 0, 0, argv, environ) || waitpid(pid, 0, 0) != pid)
		return 125;
	printf("%lld\n", mono() - from);
	return 0;
}

int main(int argc, char **argv) {
	if (argc == 2 && !strcmp(argv[1], "spawn"))
		return spawn();
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "stamp"))
		_exit(stamp(argv[2], argc > 3 ? atoi(argv[3]) : 0));
	if (!strcmp(argv[1], "park"))
		return park(argv[2]);
	if (argc < 4 || strcmp(argv[1], "stampexit"))
		return 2;
	usleep(atoi(argv[3]) * 1000);
	_exit(stamp(argv[2], argc > 4 ? atoi(argv[4]) : 0));
}
