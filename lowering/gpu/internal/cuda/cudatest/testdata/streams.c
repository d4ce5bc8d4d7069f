// streams.c: streams, events and graphs of the tests' CUDA driver.
#include "cuda.h"

#include <limits.h>
#include <unistd.h>

EXPORT int cuStreamCreate(stream **out, unsigned flags) {
	CALL(1);
	if (flags != 1) fake_fault("a stream that waits for the default stream");
	*out = fake_make(STREAM, sizeof **out);
	DONE;
}

EXPORT int cuStreamSynchronize(stream *s) {
	if (fake_slow) usleep(fake_slow); // as where the system lets the thread wait before it gets here
	CALL(1);
	if (!fake_is(s, STREAM)) result = 400;
	else if (s->capture) result = 900;
	else result = fake_run(s, LONG_MAX);
	DONE;
}

EXPORT int cuStreamDestroy_v2(stream *s) {
	CALL(1);
	if (!fake_is(s, STREAM)) { result = 400; goto end; }
	if (s->c.n) fake_fault("a stream is destroyed before its commands are done");
	free(s->c.list);
	s->c.list = NULL;
	fake_end(s);
	DONE;
}

EXPORT int cuEventCreate(event **out, unsigned flags) {
	CALL(1);
	if (!(flags & 2)) fake_fault("an event that takes times");
	*out = fake_make(EVENT, sizeof **out);
	DONE;
}

EXPORT int cuEventDestroy_v2(event *e) {
	CALL(1);
	if (fake_is(e, EVENT)) fake_end(e);
	else result = 400;
	DONE;
}

EXPORT int cuEventRecord(event *e, stream *s) {
	CALL(1);
	if (!fake_is(e, EVENT) || !fake_is(s, STREAM)) { result = 400; goto end; }
	if (s->capture) { result = 900; goto end; }
	e->on = s;
	e->after = s->done + s->c.n;
	DONE;
}

EXPORT int cuEventSynchronize(event *e) {
	CALL(1);
	if (!fake_is(e, EVENT)) result = 400;
	else if (e->on) result = fake_run(e->on, e->after);
	DONE;
}

EXPORT int cuStreamBeginCapture_v2(stream *s, int mode) {
	CALL(1);
	if (!fake_is(s, STREAM)) { result = 400; goto end; }
	if (s->capture || mode != 2) { result = 401; goto end; }
	s->capture = fake_make(GRAPH, sizeof *s->capture);
	DONE;
}

EXPORT int cuStreamEndCapture(stream *s, commands **out) {
	CALL(1);
	if (!fake_is(s, STREAM)) { result = 400; goto end; }
	if (!s->capture) { result = 401; goto end; }
	*out = s->capture;
	s->capture = NULL;
	DONE;
}

EXPORT int cuGraphInstantiateWithFlags(commands **out, commands *g, unsigned long long flags) {
	(void)flags;
	CALL(1);
	if (!fake_is(g, GRAPH)) { result = 400; goto end; }
	commands *x = fake_make(EXEC, sizeof *x);
	x->n = g->n;
	x->list = malloc(g->n * sizeof *g->list + 1);
	memcpy(x->list, g->list, g->n * sizeof *g->list);
	*out = x;
	DONE;
}

EXPORT int cuGraphLaunch(commands *x, stream *s) {
	CALL(1);
	if (!fake_is(x, EXEC) || !fake_is(s, STREAM)) { result = 400; goto end; }
	for (int i = 0; i < x->n; i++) {
		command o = x->list[i];
		*fake_add(s) = o;
	}
	DONE;
}

static int destroy(commands *c, int kind) {
	if (!fake_is(c, kind)) return 400;
	free(c->list);
	c->list = NULL;
	fake_end(c);
	return 0;
}

EXPORT int cuGraphDestroy(commands *g) {
	CALL(1);
	result = destroy(g, GRAPH);
	DONE;
}

EXPORT int cuGraphExecDestroy(commands *x) {
	CALL(1);
	result = destroy(x, EXEC);
	DONE;
}
