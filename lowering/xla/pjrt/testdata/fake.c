// A PJRT plugin for tests: devices in host memory, two or FAKE_DEVICES, a "compiler" that looks for a few
// words in the text of a program, and controls that tests call. A program of many partitions computes with
// the part of each, nothing is exchanged. Its structs are written
// down here again, apart from those of package pjrt, so that a slip in one of the two is
// noticed. Build with -shared -fPIC -pthread; FAKE_MINOR and so on make broken variants.
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAKE_MAJOR
#define FAKE_MAJOR 0
#endif
#ifndef FAKE_MINOR
#define FAKE_MINOR 104
#endif
#ifndef FAKE_DEVICES
#define FAKE_DEVICES 2
#endif

#define HEAD size_t size; void *ext
#define UPTO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

enum { INVALID = 3, UNIMPLEMENTED = 12 };
enum { ERRORS, EVENTS, CLIENTS, BUFFERS, LOADED, EXECUTABLES, KINDS };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int64_t alive[KINDS];
static bool held;

typedef struct { int code; char text[512]; } Error;

static void count(int kind, int by) {
  pthread_mutex_lock(&mu);
  alive[kind] += by;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mu);
}

static Error *fail(int code, const char *text) {
  Error *e = calloc(1, sizeof *e);
  e->code = code;
  snprintf(e->text, sizeof e->text, "%s", text);
  count(ERRORS, 1);
  return e;
}

// ---- controls, which tests call ----

static char next_func[64], next_text[256], event_text[256], seen_program[1 << 16], seen_options[4096], seen_keep[256];
static int next_code;
static size_t seen_options_size;

void FakeLive(int64_t *out) {
  pthread_mutex_lock(&mu);
  memcpy(out, alive, sizeof alive);
  pthread_mutex_unlock(&mu);
}

// Events do not get ready while they are held.
void FakeHold(int64_t on) {
  pthread_mutex_lock(&mu);
  held = on;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mu);
}

// The next call of a function fails.
void FakeFail(const char *func, int64_t code, const char *text) {
  pthread_mutex_lock(&mu);
  snprintf(next_func, sizeof next_func, "%s", func);
  snprintf(next_text, sizeof next_text, "%s", text);
  next_code = (int)code;
  pthread_mutex_unlock(&mu);
}

// The next event ends with an error.
void FakeFailEvent(const char *text) {
  pthread_mutex_lock(&mu);
  snprintf(event_text, sizeof event_text, "%s", text);
  pthread_mutex_unlock(&mu);
}

// What was seen last, which is to be asked for when nothing else runs.
const char *FakeProgram(void) { return seen_program; }
const char *FakeOptions(int64_t *size) { *size = seen_options_size; return seen_options; }
const char *FakeKept(void) { return seen_keep; }

// What the last run was given: of each device, in their order, each argument.
enum { GIVEN = 16 };
static struct { size_t rank, bytes; int64_t dims[8]; char data[1024]; } given[FAKE_DEVICES][GIVEN];

// FakeGiven copies the elements of an argument of the last run and its dimensions, and returns how many
// of the latter there are, -1 where there was no such argument.
int64_t FakeGiven(int64_t device, int64_t arg, int64_t *dims, char *data) {
  int64_t rank = -1;
  pthread_mutex_lock(&mu);
  if (given[device][arg].bytes) {
    memcpy(dims, given[device][arg].dims, sizeof given[device][arg].dims);
    memcpy(data, given[device][arg].data, given[device][arg].bytes);
    rank = given[device][arg].rank;
  }
  pthread_mutex_unlock(&mu);
  return rank;
}

// FAKE_GROWN is how many bytes of later versions each struct of arguments has.
#ifndef FAKE_GROWN
#define FAKE_GROWN 0
#endif

static Error *begin(const char *func, size_t got, size_t want) {
  want += FAKE_GROWN;
  if (got < want) {
    char text[128];
    snprintf(text, sizeof text, "Unexpected size of the arguments of %s: expected %zu, got %zu", func, want, got);
    return fail(INVALID, text);
  }
  char text[sizeof next_text];
  pthread_mutex_lock(&mu);
  bool fails = next_func[0] && !strcmp(next_func, func);
  int code = next_code;
  memcpy(text, next_text, sizeof text);
  if (fails) next_func[0] = 0;
  pthread_mutex_unlock(&mu);
  return fails ? fail(code, text) : NULL;
}
#define BEGIN(func, type, last) { Error *e = begin(func, a->size, UPTO(type, last)); if (e) return e; }

// ---- errors, plugin ----

typedef struct { HEAD; Error *error; } ErrorArgs;
typedef struct { HEAD; Error *error; const char *text; size_t n; } MessageArgs;
typedef struct { HEAD; Error *error; int code; } CodeArgs;

static void error_destroy(ErrorArgs *a) { if (a->error) { free(a->error); count(ERRORS, -1); } }
static void error_message(MessageArgs *a) { a->text = a->error->text; a->n = strlen(a->error->text); }
static Error *error_code(CodeArgs *a) { a->code = a->error->code; return NULL; }

typedef struct { HEAD; const char *name; size_t name_size; int type; union { const char *s; int64_t i; const int64_t *l; float f; bool b; }; size_t n; } Named;
typedef struct { HEAD; } InitArgs;
typedef struct { HEAD; const Named *list; size_t n; } AttributesArgs;

static const int64_t version[3] = {1, 9, 3};
static const Named attributes[] = {
  {sizeof(Named), NULL, "stablehlo_current_version", 25, 2, {.l = version}, 3},
  {sizeof(Named), NULL, "xla_version", 11, 1, {.i = 2}, 1},
  {sizeof(Named), NULL, "maker", 5, 0, {.s = "gofx tests"}, 10},
  {sizeof(Named), NULL, "share", 5, 3, {.f = 0.5f}, 1},
  {sizeof(Named), NULL, "fake", 4, 4, {.b = true}, 1},
};

static Error *initialize(InitArgs *a) {
  BEGIN("PJRT_Plugin_Initialize", InitArgs, ext)
#ifdef FAKE_NO_START
  return fail(14, "no driver");
#endif
  return NULL;
}
static Error *plugin_attributes(AttributesArgs *a) { BEGIN("PJRT_Plugin_Attributes", AttributesArgs, n) a->list = attributes; a->n = 5; return NULL; }

// ---- buffers' memory, and events: a thread does the copying and makes each ready ----

typedef struct { void *device; int type, refs; size_t rank; int64_t dims[8]; size_t bytes; char *data; } Buffer;
typedef struct { bool ready; int refs; char text[256]; void *dst; const void *src; size_t n; Buffer *buffer; } Event;

static void buffer_drop(Buffer *b) { if (--b->refs == 0) { free(b->data); free(b); } } // with mu

typedef struct { HEAD; Event *event; } EventArgs;
typedef struct { HEAD; Event *event; bool ready; } ReadyArgs;

static void event_drop(Event *e) { // with mu
  if (--e->refs == 0) { free(e); alive[EVENTS]--; pthread_cond_broadcast(&changed); }
}

static void *event_thread(void *p) {
  Event *e = p;
  pthread_mutex_lock(&mu);
  while (held) pthread_cond_wait(&changed, &mu);
  if (e->buffer) { memcpy(e->dst, e->src, e->n); buffer_drop(e->buffer); }
  e->ready = true;
  pthread_cond_broadcast(&changed);
  event_drop(e);
  pthread_mutex_unlock(&mu);
  return NULL;
}

// event_new makes an event that gets ready when n bytes of a buffer are copied.
static Event *event_new(Buffer *b, void *dst, const void *src, size_t n) {
  Event *e = calloc(1, sizeof *e);
  e->refs = 2;
  e->buffer = b; e->dst = dst; e->src = src; e->n = n;
  pthread_mutex_lock(&mu);
  if (b) b->refs++;
  memcpy(e->text, event_text, sizeof e->text);
  event_text[0] = 0;
  pthread_mutex_unlock(&mu);
  count(EVENTS, 1);
  pthread_t t;
  if (pthread_create(&t, NULL, event_thread, e)) { // else the event would never be ready
    perror("pthread_create");
    abort();
  }
  pthread_detach(t);
  return e;
}

static Error *event_destroy(EventArgs *a) {
  BEGIN("PJRT_Event_Destroy", EventArgs, event)
  pthread_mutex_lock(&mu);
  if (a->event) event_drop(a->event);
  pthread_mutex_unlock(&mu);
  return NULL;
}
static Error *event_ready(ReadyArgs *a) {
  BEGIN("PJRT_Event_IsReady", ReadyArgs, ready)
  pthread_mutex_lock(&mu);
  a->ready = a->event->ready;
  pthread_mutex_unlock(&mu);
  return NULL;
}
static Error *event_await(EventArgs *a) {
  BEGIN("PJRT_Event_Await", EventArgs, event)
  pthread_mutex_lock(&mu);
  while (!a->event->ready) pthread_cond_wait(&changed, &mu);
  pthread_mutex_unlock(&mu);
  return a->event->text[0] ? fail(13, a->event->text) : NULL;
}

// ---- client and devices ----

typedef struct { int id; } Memory;
typedef struct { int id; Memory *memories[2]; char text[32]; } Device; // its own description
static Memory memories[FAKE_DEVICES];
static Device devices[FAKE_DEVICES];
static Device *device_list[FAKE_DEVICES];

static void devices_make(void) {
  for (int i = 0; i < FAKE_DEVICES; i++) {
    memories[i].id = i;
    device_list[i] = &devices[i];
    devices[i].id = 10 + i;
    devices[i].memories[0] = &memories[i]; devices[i].memories[1] = &memories[(i + 1) % FAKE_DEVICES];
    snprintf(devices[i].text, sizeof devices[i].text, "FakeDevice(id=%d)", 10 + i);
  }
}
typedef struct { char platform[64]; } Client;

typedef struct { HEAD; const Named *options; size_t n; void *get, *get_arg, *put, *put_arg; Client *client; void *try_get, *try_arg; } CreateArgs;
typedef struct { HEAD; Client *client; } ClientArgs;
typedef struct { HEAD; void *object; const char *text; size_t n; } TextArgs;
typedef struct { HEAD; void *object; void *list; size_t n; } ListArgs;
typedef struct { HEAD; void *object; int n; } IntArgs;
typedef struct { HEAD; void *object; bool is; } BoolArgs;
typedef struct { HEAD; void *object; void *out; } OutArgs;
typedef struct { HEAD; void *object; size_t n; const Named *list; } DescriptionArgs;

static Error *client_create(CreateArgs *a) {
  BEGIN("PJRT_Client_Create", CreateArgs, try_arg)
  Client *c = calloc(1, sizeof *c);
  strcpy(c->platform, "fake");
  for (size_t i = 0; i < a->n; i++) { // options are told back in the platform's name
    const Named *o = &a->options[i];
    char *at = c->platform + strlen(c->platform);
    size_t room = sizeof c->platform - strlen(c->platform);
    snprintf(at, room, " %.*s=", (int)o->name_size, o->name);
    at = c->platform + strlen(c->platform); room = sizeof c->platform - strlen(c->platform);
    if (o->type == 0) snprintf(at, room, "%.*s", (int)o->n, o->s);
    if (o->type == 1) snprintf(at, room, "%lld", (long long)o->i);
    if (o->type == 2) snprintf(at, room, "%lld/%zu", (long long)o->l[o->n - 1], o->n);
    if (o->type == 3) snprintf(at, room, "%g", o->f);
    if (o->type == 4) snprintf(at, room, "%s", o->b ? "yes" : "no");
  }
  a->client = c;
  count(CLIENTS, 1);
  return NULL;
}
static Error *client_destroy(ClientArgs *a) {
  BEGIN("PJRT_Client_Destroy", ClientArgs, client)
  pthread_mutex_lock(&mu);
  bool early = alive[CLIENTS] == 1 && (alive[BUFFERS] || alive[LOADED] || alive[EXECUTABLES]);
  pthread_mutex_unlock(&mu);
  if (early) return fail(9, "client is destroyed before what it made");
  free(a->client);
  count(CLIENTS, -1);
  return NULL;
}
static Error *client_platform(TextArgs *a) {
  BEGIN("PJRT_Client_PlatformName", TextArgs, n)
  a->text = ((Client *)a->object)->platform; a->n = strlen(a->text);
  return NULL;
}
static Error *client_version(TextArgs *a) {
  BEGIN("PJRT_Client_PlatformVersion", TextArgs, n)
  a->text = "fake 1.0, not terminated"; a->n = 8; return NULL;
}
static Error *client_devices(ListArgs *a) { BEGIN("PJRT_Client_Devices", ListArgs, n) a->list = device_list; a->n = FAKE_DEVICES; return NULL; }
static Error *device_description(OutArgs *a) { BEGIN("PJRT_Device_GetDescription", OutArgs, out) a->out = a->object; return NULL; }
static Error *device_addressable(BoolArgs *a) {
  BEGIN("PJRT_Device_IsAddressable", BoolArgs, is)
#ifdef FAKE_FOREIGN // the last devices are of another process
  a->is = ((Device *)a->object)->id < 10 + FAKE_DEVICES - FAKE_FOREIGN;
#else
  a->is = true;
#endif
  return NULL;
}
static Error *device_memories(ListArgs *a) {
  BEGIN("PJRT_Device_AddressableMemories", ListArgs, n)
  a->list = ((Device *)a->object)->memories; a->n = 2; return NULL;
}
static Error *description_id(IntArgs *a) { BEGIN("PJRT_DeviceDescription_Id", IntArgs, n) a->n = ((Device *)a->object)->id; return NULL; }
static Error *description_process(IntArgs *a) { BEGIN("PJRT_DeviceDescription_ProcessIndex", IntArgs, n) a->n = 0; return NULL; }
static Error *description_attributes(DescriptionArgs *a) {
  BEGIN("PJRT_DeviceDescription_Attributes", DescriptionArgs, list)
  a->list = attributes + 1; a->n = 1; return NULL;
}
static Error *description_kind(TextArgs *a) { BEGIN("PJRT_DeviceDescription_Kind", TextArgs, n) a->text = "Fake T1"; a->n = 7; return NULL; }
static Error *description_string(TextArgs *a) {
  BEGIN("PJRT_DeviceDescription_ToString", TextArgs, n)
  a->text = ((Device *)a->object)->text; a->n = strlen(a->text);
  return NULL;
}
static Error *memory_id(IntArgs *a) { BEGIN("PJRT_Memory_Id", IntArgs, n) a->n = ((Memory *)a->object)->id; return NULL; }
static Error *memory_kind(TextArgs *a) { BEGIN("PJRT_Memory_Kind", TextArgs, n) a->text = "device"; a->n = 6; return NULL; }

typedef struct { HEAD; void *device; int64_t in_use; struct { int64_t n; bool is; } more[9]; } StatsArgs;
static Error *memory_stats(StatsArgs *a) {
  BEGIN("PJRT_Device_MemoryStats", StatsArgs, more[8].is)
  a->in_use = 100;
  a->more[0].n = 200; a->more[0].is = true; // peak
  a->more[3].n = 999; a->more[3].is = false; // limit: not set
  return NULL;
}

// ---- buffers ----

typedef struct { HEAD; Client *client; const void *data; int type; const int64_t *dims; size_t rank; const int64_t *strides; size_t num_strides;
  int semantics; Device *device; void *memory; void *layout; Event *done; Buffer *buffer; } HostArgs;
typedef struct { HEAD; Buffer *buffer; } BufferArgs;
typedef struct { HEAD; const int64_t *minor; size_t n; const int64_t *tile_dims; const size_t *tile_sizes; size_t tiles; } Tiled;
typedef struct { HEAD; Tiled tiled; int type; } Layout;
typedef struct { HEAD; Buffer *buffer; Layout *layout; void *dst; size_t n; Event *event; } ToHostArgs;

static size_t width(int type) {
  static const unsigned char w[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};
  return type > 0 && type < 16 ? w[type] : 1;
}

static Buffer *buffer_new(Device *d, int type, const int64_t *dims, size_t rank) {
  Buffer *b = calloc(1, sizeof *b);
  b->device = d; b->refs = 1; b->type = type; b->rank = rank; b->bytes = width(type);
  for (size_t i = 0; i < rank; i++) { b->dims[i] = dims[i]; b->bytes *= dims[i]; }
  b->data = malloc(b->bytes + 1);
  count(BUFFERS, 1);
  return b;
}

static Error *from_host(HostArgs *a) {
  BEGIN("PJRT_Client_BufferFromHostBuffer", HostArgs, buffer)
  if (a->rank > 8 || a->num_strides || a->semantics != 1 || a->memory || a->layout) return fail(UNIMPLEMENTED, "such a buffer");
  a->buffer = buffer_new(a->device, a->type, a->dims, a->rank);
  a->done = event_new(a->buffer, a->buffer->data, a->data, a->buffer->bytes);
  return NULL;
}
static Error *buffer_destroy(BufferArgs *a) {
  BEGIN("PJRT_Buffer_Destroy", BufferArgs, buffer)
  pthread_mutex_lock(&mu);
  buffer_drop(a->buffer);
  pthread_mutex_unlock(&mu);
  count(BUFFERS, -1);
  return NULL;
}
static Error *buffer_type(IntArgs *a) { BEGIN("PJRT_Buffer_ElementType", IntArgs, n) a->n = ((Buffer *)a->object)->type; return NULL; }
static Error *buffer_dims(ListArgs *a) {
  BEGIN("PJRT_Buffer_Dimensions", ListArgs, n)
  a->list = ((Buffer *)a->object)->dims; a->n = ((Buffer *)a->object)->rank;
  return NULL;
}
static Error *to_host(ToHostArgs *a) {
  BEGIN("PJRT_Buffer_ToHostBuffer", ToHostArgs, event)
  Layout *l = a->layout;
  if (!l || l->size < UPTO(Layout, type) || l->type || l->tiled.size < sizeof l->tiled || l->tiled.n != a->buffer->rank || l->tiled.tiles) return fail(INVALID, "host layout");
  for (size_t i = 0; i < l->tiled.n; i++) if (l->tiled.minor[i] != (int64_t)(l->tiled.n - 1 - i)) return fail(INVALID, "host layout is not row-major");
  if (a->n < a->buffer->bytes) return fail(INVALID, "host buffer is too small");
  a->event = event_new(a->buffer, a->dst, a->buffer->data, a->buffer->bytes);
  return NULL;
}

// ---- programs ----

typedef struct { int refs; size_t outputs; int types[16]; size_t ranks[16]; int64_t dims[64]; char kind[16]; bool donor; size_t params, devices; Device *on[FAKE_DEVICES]; } Program;
typedef struct { HEAD; char *code; size_t n; const char *format; size_t format_size; } Source;
typedef struct { HEAD; Client *client; const Source *source; const char *options; size_t options_size; Program *out; } CompileArgs;
typedef struct { HEAD; Program *program; } ProgramArgs;

static int type_of(const char *s) {
  static const char *names[] = {"", "i1>", "i8>", "i16>", "i32>", "i64>", "ui8>", "ui16>", "ui32>", "ui64>", "f16>", "f32>", "f64>", "bf16>", "complex<f32>>"};
  for (int i = 1; i < 15; i++) if (!strncmp(s, names[i], strlen(names[i]))) return i;
  return 0;
}

// results reads the types behind the first "->" of the text. Those of a program of many partitions
// are what one has: behind each is its sharding, with a number of parts for each dimension.
static bool results(Program *p, const char *text) {
  const char *s = strstr(text, "->");
  size_t at = 0;
  if (!s) return false;
  for (const char *m = strstr(text, "%arg"); m && m < s; m = strstr(m + 1, "%arg")) p->params++;
  for (s += 2 + strspn(s + 2, " ("); !strncmp(s, "tensor<", 7) && p->outputs < 16;) {
    size_t rank = 0;
    s += 7;
    for (;; rank++) {
      char *x;
      int64_t d = strtoll(s, &x, 10);
      if (x == s || *x != 'x') break;
      p->dims[at + rank] = d; s = x + 1;
    }
    if (!(p->types[p->outputs] = type_of(s))) return false;
    s = strchr(s, '>') + 1;
    while (*s == '>') s++; // complex<f32>>
    if (!strncmp(s, " {mhlo.sharding", 15)) {
      const char *end = strstr(s, "\"}"), *grid = strstr(s, "devices=[");
      if (grid && grid < end) for (size_t i = 0; i < rank; i++) p->dims[at + i] /= strtoll(i ? grid + 1 : grid + 9, (char **)&grid, 10);
      s = end + 2;
    }
    p->ranks[p->outputs++] = rank;
    at += rank;
    s += strspn(s, ", ");
  }
  return true;
}

// number finds field `field` of a message, 0 where there is none; sub is set for messages.
static uint64_t number(const unsigned char *m, size_t n, unsigned field, const unsigned char **sub) {
  for (size_t i = 0; i < n;) {
    uint64_t v[2] = {0, 0};
    for (int k = 0; k < 2; k++) { int s = 0; do v[k] |= (uint64_t)(m[i] & 127) << s, s += 7; while (m[i++] & 128); }
    bool bytes = (v[0] & 7) == 2;
    if (v[0] >> 3 == field) { if (sub) *sub = m + i; return v[1]; }
    if (bytes) i += v[1];
  }
  return 0;
}

// compile_text makes a program of its text, which ends with a 0.
static Error *compile_text(CompileArgs *a, const char *code) {
  Program *p = calloc(1, sizeof *p);
  static const char *kinds[] = {"identity", "subtract", "add", "wide"};
  for (int i = 0; i < 4; i++) if (!p->kind[0] && strstr(code, kinds[i])) strcpy(p->kind, kinds[i]);
  if (!p->kind[0] || !results(p, code)) { free(p); return fail(INVALID, "syntax error: \xff expected a module"); }
  const unsigned char *build = NULL, *assign = NULL, *computation = NULL, *ids = NULL;
  size_t build_size = number((const unsigned char *)a->options, a->options_size, 3, &build);
  size_t partitions = number(build, build_size, 5, NULL);
  p->devices = number(build, build_size, 4, NULL) * partitions;
  const char *told = strstr(code, "mhlo.num_partitions = ");
  if (told && strtoull(told + 22, NULL, 10) != partitions) { free(p); return fail(INVALID, "other partitions than the program has"); }
  if (partitions > 1 && number(build, build_size, 6, NULL) != 1) { free(p); return fail(INVALID, "partitions without use_spmd_partitioning"); }
  if (p->devices < 1 || p->devices > FAKE_DEVICES) { free(p); return fail(INVALID, "number of devices"); }
  size_t assign_size = number(build, build_size, 9, &assign);
  for (size_t i = 0; i < p->devices; i++) p->on[i] = &devices[i];
  if (assign_size) { // each computation is a partition, with the devices of its replicas
    const unsigned char *end = assign + assign_size;
    for (size_t k = 0; k < p->devices && assign < end;) {
      size_t size = number(assign, end - assign, 3, &computation), n = number(computation, size, 1, &ids);
      for (size_t i = 0; i < n && k < p->devices; i++) p->on[k++] = &devices[ids[i] - 10];
      assign = computation + size;
    }
  }
#ifdef FAKE_REVERSED // devices are listed in another order than that of the partitions
  for (size_t i = 0; i < p->devices / 2; i++) { Device *d = p->on[i]; p->on[i] = p->on[p->devices - 1 - i]; p->on[p->devices - 1 - i] = d; }
#endif
  p->refs = 1;
  p->donor = strstr(code, "jax.buffer_donor") != NULL || strstr(code, "tf.aliasing_output") != NULL;
  a->out = p;
  count(LOADED, 1);
  return NULL;
}

static Error *compile(CompileArgs *a) {
  BEGIN("PJRT_Client_Compile", CompileArgs, out)
  if (a->source->size < UPTO(Source, format_size) || a->source->format_size != 4 || memcmp(a->source->format, "mlir", 4)) return fail(INVALID, "unknown format");
  pthread_mutex_lock(&mu);
  snprintf(seen_program, sizeof seen_program, "%.*s", (int)a->source->n, a->source->code);
  seen_options_size = a->options_size < sizeof seen_options ? a->options_size : sizeof seen_options;
  memcpy(seen_options, a->options, seen_options_size);
  pthread_mutex_unlock(&mu);
  char *code = strndup(a->source->code, a->source->n); // others may compile meanwhile: what was seen last can be theirs
  Error *e = compile_text(a, code);
  free(code);
  return e;
}

// A serialized program is the struct itself behind a word that tells it apart.
typedef struct { HEAD; Program *program; const char *data; size_t n; char *serialized; void (*deleter)(char *); } SerializeArgs;
typedef struct { HEAD; Client *client; const char *data; size_t n; Program *out; } DeserializeArgs;
enum { SERIALIZED = 4 + sizeof(Program) };
static void serialized_free(char *s) { free(s); count(ERRORS, -1); }
static Error *serialize(SerializeArgs *a) {
  BEGIN("PJRT_Executable_Serialize", SerializeArgs, deleter)
  a->serialized = malloc(SERIALIZED);
  memcpy(a->serialized, "fake", 4);
  Program p = *a->program;
  for (size_t i = 0; i < p.devices; i++) p.on[i] = (Device *)(p.on[i] - devices); // numbers
  memcpy(a->serialized + 4, &p, sizeof p);
  a->data = a->serialized; a->n = SERIALIZED; a->deleter = serialized_free;
  count(ERRORS, 1); // until it is freed
  return NULL;
}
static Error *deserialize(DeserializeArgs *a) {
  BEGIN("PJRT_Executable_DeserializeAndLoad", DeserializeArgs, out)
  if (a->n != SERIALIZED || memcmp(a->data, "fake", 4)) return fail(INVALID, "it is no serialized program");
  a->out = malloc(sizeof(Program));
  memcpy(a->out, a->data + 4, sizeof(Program));
  a->out->refs = 1;
  for (size_t i = 0; i < a->out->devices; i++) a->out->on[i] = &devices[(size_t)a->out->on[i]];
  count(LOADED, 1);
  return NULL;
}
static void program_drop(Program *p) { pthread_mutex_lock(&mu); if (--p->refs == 0) free(p); pthread_mutex_unlock(&mu); }
static Error *loaded_destroy(ProgramArgs *a) { BEGIN("PJRT_LoadedExecutable_Destroy", ProgramArgs, program) program_drop(a->program); count(LOADED, -1); return NULL; }
static Error *executable_destroy(ProgramArgs *a) { BEGIN("PJRT_Executable_Destroy", ProgramArgs, program) program_drop(a->program); count(EXECUTABLES, -1); return NULL; }
static Error *get_executable(OutArgs *a) {
  BEGIN("PJRT_LoadedExecutable_GetExecutable", OutArgs, out)
  pthread_mutex_lock(&mu);
  ((Program *)a->object)->refs++;
  pthread_mutex_unlock(&mu);
  a->out = a->object;
  count(EXECUTABLES, 1);
  return NULL;
}
static Error *loaded_devices(ListArgs *a) {
  BEGIN("PJRT_LoadedExecutable_AddressableDevices", ListArgs, n)
  a->list = ((Program *)a->object)->on; a->n = ((Program *)a->object)->devices;
  return NULL;
}
static Error *executable_name(TextArgs *a) { BEGIN("PJRT_Executable_Name", TextArgs, n) a->text = ((Program *)a->object)->kind; a->n = strlen(a->text); return NULL; }
static Error *num_outputs(OutArgs *a) { BEGIN("PJRT_Executable_NumOutputs", OutArgs, out) a->out = (void *)((Program *)a->object)->outputs; return NULL; }
static Error *output_types(ListArgs *a) {
  BEGIN("PJRT_Executable_OutputElementTypes", ListArgs, n)
  a->list = ((Program *)a->object)->types; a->n = ((Program *)a->object)->outputs;
  return NULL;
}
typedef struct { HEAD; Program *program; size_t n; const int64_t *dims; const size_t *ranks; } DimsArgs;
static Error *output_dims(DimsArgs *a) {
  BEGIN("PJRT_Executable_OutputDimensions", DimsArgs, ranks)
  a->n = a->program->outputs; a->dims = a->program->dims; a->ranks = a->program->ranks;
  return NULL;
}

typedef struct { HEAD; void **send, **receive; size_t sends, receives; int launch; const int64_t *keep; size_t num_keep; void *context; const char *location;
  size_t tasks; int *task_ids; int64_t *incarnations; void *slices; } ExecuteOptions;
typedef struct { HEAD; Program *program; ExecuteOptions *options; Buffer ***args; size_t devices, n; Buffer ***out; Event **events; Device *device; } ExecuteArgs;

static Error *execute(ExecuteArgs *a) {
  BEGIN("PJRT_LoadedExecutable_Execute", ExecuteArgs, device)
  Program *p = a->program;
  if (a->options->size < sizeof *a->options + FAKE_GROWN || a->options->sends || a->options->context || a->options->slices) return fail(INVALID, "options of the run");
  if (a->devices != p->devices || a->device) return fail(INVALID, "devices of the run");
  bool add = !strcmp(p->kind, "add"), subtract = !strcmp(p->kind, "subtract");
  size_t need = add || subtract ? 2 : p->outputs;
  if (!strcmp(p->kind, "wide")) need = 0;
  char text[128];
  if (p->params) need = p->params;
  snprintf(text, sizeof text, "Execution supplied %zu buffers but compiled program expected %zu buffers", a->n, need);
  if (a->n != need) return fail(INVALID, text);
  pthread_mutex_lock(&mu);
  seen_keep[0] = 0;
  for (size_t i = 0; i < a->options->num_keep; i++) snprintf(seen_keep + strlen(seen_keep), sizeof seen_keep - strlen(seen_keep), "%lld ", (long long)a->options->keep[i]);
  memset(given, 0, sizeof given);
  pthread_mutex_unlock(&mu);
  for (size_t d = 0; d < a->devices; d++) {
    for (size_t i = 0; i < a->n; i++) {
      Buffer *b = a->args[d][i];
      if (b->device != p->on[d]) return fail(INVALID, "a buffer is on another device than the run");
      if (i >= GIVEN || b->bytes > sizeof given[d][i].data) continue;
      size_t place = p->on[d] - devices;
      pthread_mutex_lock(&mu);
      given[place][i].rank = b->rank; given[place][i].bytes = b->bytes;
      memcpy(given[place][i].dims, b->dims, sizeof b->dims);
      memcpy(given[place][i].data, b->data, b->bytes);
      pthread_mutex_unlock(&mu);
    }
    const int64_t *dims = p->dims;
    for (size_t o = 0; o < p->outputs; o++) {
      Buffer *b = buffer_new(p->on[d], p->types[o], dims, p->ranks[o]);
      dims += p->ranks[o];
      Buffer **in = a->args[d];
      if (need == 0) memset(b->data, 1, b->bytes);
      else if (!add && !subtract) memcpy(b->data, in[o]->data, b->bytes);
      else for (size_t i = 0; i < b->bytes / 4; i++) {
        Buffer *second = in[need > 1 && in[1]->type == in[0]->type]; // of one argument, or of one and a size, it is the same
        float x = ((float *)in[0]->data)[i], y = ((float *)second->data)[i % (second->bytes / 4)];
        ((float *)b->data)[i] = add ? x + y : x - y;
      }
      a->out[d][o] = b;
    }
    for (size_t i = 0, k = 0; p->donor && i < a->n; i++) { // what may be donated is
      if (k < a->options->num_keep && a->options->keep[k] == (int64_t)i) k++;
      else memset(a->args[d][i]->data, 0xff, a->args[d][i]->bytes);
    }
    if (a->events) a->events[d] = event_new(NULL, NULL, NULL, 0);
  }
  return NULL;
}

// ---- the table ----

typedef struct { HEAD; struct { HEAD; int major, minor; } version; void *f[140]; } Api;

#ifndef FAKE_NO_EXPORT
const Api *GetPjrtApi(void) {
#ifdef FAKE_NO_TABLE
  return NULL;
#endif
  static Api api;
  devices_make();
  api.size = offsetof(Api, f) + 100 * sizeof(void *);
#ifdef FAKE_SHORT // a table that ends before the types of outputs
  api.size = offsetof(Api, f) + 80 * sizeof(void *);
#endif
  api.version.size = sizeof api.version;
  api.version.major = FAKE_MAJOR;
  api.version.minor = FAKE_MINOR;
  void **f = api.f;
  f[0] = error_destroy; f[1] = error_message; f[2] = error_code; f[3] = initialize; f[4] = plugin_attributes;
  f[5] = event_destroy; f[6] = event_ready; f[8] = event_await;
  f[10] = client_create; f[11] = client_destroy; f[12] = client_platform; f[14] = client_version; f[15] = client_devices;
  f[20] = compile; f[22] = from_host;
  f[23] = description_id; f[24] = description_process; f[25] = description_attributes; f[26] = description_kind; f[28] = description_string;
  f[29] = device_description; f[30] = device_addressable; f[32] = device_memories; f[34] = memory_stats; f[35] = memory_id; f[36] = memory_kind;
  f[40] = executable_destroy; f[41] = executable_name; f[44] = num_outputs; f[49] = serialize;
  f[50] = loaded_destroy; f[51] = get_executable; f[52] = loaded_devices; f[55] = execute; f[56] = deserialize;
  f[58] = buffer_destroy; f[59] = buffer_type; f[60] = buffer_dims; f[70] = to_host;
  f[90] = output_types; f[91] = output_dims;
  return &api;
}
#endif
