// cuda.h is what the parts of the tests' CUDA driver share. The driver computes on the
// host, as late as the real one may: commands of a stream run when somebody waits for
// them, so that memory which is used again too early gives wrong results. It checks that
// a context is current, that handles are alive and that nothing is freed in use, counts
// what is alive, and loses its device on request.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t address;

// Kinds of things that can be alive.
enum { MEMORY, PINNED, MODULE, STREAM, EVENT, GRAPH, EXEC, CONTEXT, KINDS };

typedef struct thing {
	int kind;
	int alive;
	struct thing *next;
} thing;

typedef struct function {
	char name[80];
	int params;
	void *code;
	int (*run)(void *, int, const address *, const unsigned *, const unsigned *);
} function;

typedef struct {
	thing t;
	char *at;
	size_t bytes;
} memory; // of the device, or pinned

typedef struct {
	thing t;
	int n;
	function *list; // where it is it stays: handles point into it
} module;

enum { LAUNCH, COPY };

typedef struct {
	int what;
	function f;
	address args[64];
	unsigned grid[3], block[3];
	char *to;
	const char *from;
	size_t bytes;
} command;

typedef struct {
	thing t;
	command *list;
	int n;
} commands;

typedef struct stream {
	commands c; // not run yet
	long done;  // commands run
	commands *capture;
} stream;

typedef struct {
	thing t;
	stream *on;
	long after; // commands of the stream that come before it
} event;

extern long fake_device_memory, fake_used, fake_lose_in, fake_lost, fake_lose_code, fake_status_of_init, fake_refuse_ptx, fake_devices, fake_faults, fake_slow;
extern pthread_mutex_t fake_lock;

void *fake_make(int kind, size_t bytes);
int fake_is(void *p, int kind);
void fake_end(void *p);
void fake_fault(const char *what);
memory *fake_find(address at, size_t bytes, int kind);
int fake_run(stream *s, long upto);
command *fake_add(stream *s);
int fake_pending(address at, size_t bytes, void *code);
int fake_begin(const char *name, int needs_context);
void fake_forget_all(void);

#define EXPORT __attribute__((visibility("default")))

// CALL begins a function of the driver: it counts the call, and returns what a device
// that is lost, or a missing context, returns.
#define CALL(needs_context) \
	pthread_mutex_lock(&fake_lock); \
	int result = fake_begin(__func__, needs_context); \
	if (result) goto end

#define DONE \
	end: \
	pthread_mutex_unlock(&fake_lock); \
	return result
