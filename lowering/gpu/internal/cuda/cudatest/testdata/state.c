// state.c: what is alive in the tests' CUDA driver, and what tests ask of it.
#include "cuda.h"

long fake_device_memory = 1 << 30, fake_used, fake_lose_in = -1, fake_lost, fake_lose_code = 719, fake_status_of_init, fake_refuse_ptx, fake_devices = 1, fake_faults, fake_slow;
pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

static thing *all;
static long counts[KINDS];
static char what[200];
static struct { const char *name; long n; } calls[64];
static __thread int depth; // contexts on this thread's stack

EXPORT long fake_count(int kind) {
	pthread_mutex_lock(&fake_lock);
	long n = counts[kind];
	pthread_mutex_unlock(&fake_lock);
	return n;
}
EXPORT const char *fake_fault_text(char *to) { return strcpy(to, what); }

EXPORT long fake_calls(const char *name) {
	long n = 0;
	pthread_mutex_lock(&fake_lock);
	for (int i = 0; i < 64 && calls[i].name; i++)
		if (strcmp(calls[i].name, name) == 0) n = calls[i].n;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

// fake_number returns the variable that tests read and write by name.
EXPORT long *fake_number(const char *name) {
	static const struct { const char *name; long *at; } names[] = {
		{"memory", &fake_device_memory}, {"used", &fake_used}, {"lose in", &fake_lose_in}, {"lose code", &fake_lose_code}, {"lost", &fake_lost},
		{"init", &fake_status_of_init}, {"refuse ptx", &fake_refuse_ptx}, {"devices", &fake_devices}, {"faults", &fake_faults},
		{"slow", &fake_slow},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i].name, name) == 0) return names[i].at;
	return NULL;
}
EXPORT void fake_set(const char *name, long v) {
	pthread_mutex_lock(&fake_lock);
	*fake_number(name) = v;
	pthread_mutex_unlock(&fake_lock);
}
EXPORT long fake_get(const char *name) {
	pthread_mutex_lock(&fake_lock);
	long v = *fake_number(name);
	pthread_mutex_unlock(&fake_lock);
	return v;
}

void fake_fault(const char *text) {
	if (fake_faults++ == 0) snprintf(what, sizeof what, "%s", text);
}

// The stack of contexts of a thread.
int fake_push(void) { depth++; return 0; }
int fake_pop(void) {
	if (depth == 0) { fake_fault("no context to pop"); return 201; }
	depth--;
	return 0;
}

int fake_begin(const char *name, int needs_context) {
	int i = 0;
	while (i < 63 && calls[i].name && strcmp(calls[i].name, name) != 0) i++;
	calls[i].name = name;
	calls[i].n++;
	if (!needs_context) return 0;
	if (depth == 0) {
		char text[100];
		snprintf(text, sizeof text, "%s without a context", name);
		fake_fault(text);
		return 201;
	}
	if (fake_lose_in >= 0 && fake_lose_in-- == 0) fake_lost = 1;
	return fake_lost ? (int)fake_lose_code : 0;
}

void *fake_make(int kind, size_t bytes) {
	thing *t = calloc(1, bytes);
	t->kind = kind;
	t->alive = 1;
	t->next = all;
	all = t;
	counts[kind]++;
	return t;
}

// fake_is reports whether p is alive; its memory is kept, so that what is dead is known.
int fake_is(void *p, int kind) {
	for (thing *t = all; t; t = t->next)
		if (t == p) {
			if (t->alive && t->kind == kind) return 1;
			break;
		}
	fake_fault("a handle that is not alive");
	return 0;
}

void fake_end(void *p) {
	thing *t = p;
	t->alive = 0;
	counts[t->kind]--;
}

// fake_forget_all ends what a lost context held.
void fake_forget_all(void) {
	for (thing *t = all; t; t = t->next)
		if (t->alive && t->kind != CONTEXT) fake_end(t);
	fake_used = 0;
}

memory *fake_find(address at, size_t bytes, int kind) {
	for (thing *t = all; t; t = t->next) {
		memory *m = (memory *)t;
		if (t->alive && t->kind == kind && at >= (address)m->at && at + bytes <= (address)m->at + m->bytes) return m;
	}
	return NULL;
}

static int inside(address p, address at, size_t bytes) { return p >= at && p < at + bytes; }

// fake_pending reports whether a command that has not run uses memory, or code where
// code is not NULL.
int fake_pending(address at, size_t bytes, void *code) {
	for (thing *t = all; t; t = t->next) {
		if (!t->alive || t->kind != STREAM) continue;
		commands *c = &((stream *)t)->c;
		for (int i = 0; i < c->n; i++) {
			command *o = &c->list[i];
			if (o->what == COPY && (inside((address)o->to, at, bytes) || inside((address)o->from, at, bytes))) return 1;
			if (o->what == LAUNCH && code && o->f.code == code) return 1;
			for (int k = 0; o->what == LAUNCH && k < o->f.params; k++)
				if (inside(o->args[k], at, bytes)) return 1;
		}
	}
	return 0;
}

// fake_add returns the next command of a stream, or of what captures it.
command *fake_add(stream *s) {
	commands *c = s->capture ? s->capture : &s->c;
	c->list = realloc(c->list, (c->n + 1) * sizeof *c->list);
	memset(&c->list[c->n], 0, sizeof *c->list);
	return &c->list[c->n++];
}

// fake_run runs a stream's commands until as many are done.
int fake_run(stream *s, long upto) {
	int n = 0, result = 0;
	for (; n < s->c.n && s->done < upto && result == 0; n++, s->done++) {
		command *o = &s->c.list[n];
		if (o->what == COPY) memcpy(o->to, o->from, o->bytes);
		if (o->what == LAUNCH && o->f.run(o->f.code, o->f.params, o->args, o->grid, o->block) != 0) {
			fake_fault("a kernel whose barrier not all threads reach");
			fake_lost = 1;
			result = (int)fake_lose_code;
		}
	}
	memmove(s->c.list, s->c.list + n, (s->c.n - n) * sizeof *s->c.list);
	s->c.n -= n;
	return result;
}
