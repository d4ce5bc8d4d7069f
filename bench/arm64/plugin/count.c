// A plugin of QEMU's emulators that counts how often each block of instructions runs. The
// program under test starts a section by closing a file descriptor that cannot exist: -7000-k
// starts section k, and ends the one before. Counters of a section go to the file that the
// argument out names: a line "section K", then a line for each block that ran, with its
// count, its address and its instructions in hexadecimal.
//
// It declares what it uses of the interface, version 1 of QEMU 6.0 and newer, whose functions
// the emulator exports:
// https://www.qemu.org/docs/master/devel/tcg-plugins.html

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct tb;
struct insn;

extern size_t qemu_plugin_tb_n_insns(const struct tb *);
extern uint64_t qemu_plugin_tb_vaddr(const struct tb *);
extern struct insn *qemu_plugin_tb_get_insn(const struct tb *, size_t);
extern const void *qemu_plugin_insn_data(const struct insn *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct tb *));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct tb *, int op, void *, uint64_t);
extern void qemu_plugin_register_vcpu_syscall_cb(plugin_id, void (*)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t,
                                                                     uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { ADD_U64 = 0, CLOSE = 57, FIRST = -7000, SECTIONS = 1000 };

struct block {
  struct block *next;
  uint64_t count, address, n;
  uint32_t words[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static FILE *out;
static int section = -1;

static void translated(plugin_id id, struct tb *t) {
  size_t n = qemu_plugin_tb_n_insns(t);
  struct block *b = calloc(1, sizeof *b + n * sizeof *b->words);
  if (!b) {
    perror("count");
    abort();
  }
  b->address = qemu_plugin_tb_vaddr(t);
  b->n = n;
  for (size_t i = 0; i < n; i++) memcpy(&b->words[i], qemu_plugin_insn_data(qemu_plugin_tb_get_insn(t, i)), sizeof *b->words);
  pthread_mutex_lock(&lock);
  b->next = blocks;
  blocks = b;
  pthread_mutex_unlock(&lock);
  qemu_plugin_register_vcpu_tb_exec_inline(t, ADD_U64, &b->count, 1);
}

// finish writes the counters of the section that runs, if one does, and sets all to 0.
static void finish(void) {
  if (section >= 0) fprintf(out, "section %d\n", section);
  for (struct block *b = blocks; b; b = b->next) {
    if (section >= 0 && b->count) {
      fprintf(out, "%llu %llx", (unsigned long long)b->count, (unsigned long long)b->address);
      for (uint64_t i = 0; i < b->n; i++) fprintf(out, " %08x", b->words[i]);
      fputc('\n', out);
    }
    b->count = 0;
  }
}

static void call(plugin_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                 uint64_t a7, uint64_t a8) {
  int64_t k = FIRST - (int64_t)(int32_t)a1;
  if (number != CLOSE || k < 0 || k >= SECTIONS) return;
  pthread_mutex_lock(&lock);
  finish();
  section = (int)k;
  pthread_mutex_unlock(&lock);
}

static void ended(plugin_id id, void *unused) {
  pthread_mutex_lock(&lock);
  finish();
  if (fclose(out)) perror("count");
  pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  for (int i = 0; i < argc; i++)
    if (!strncmp(argv[i], "out=", 4)) out = fopen(argv[i] + 4, "w");
  if (!out) {
    fprintf(stderr, "count: want an argument out=FILE that can be written\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, call);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
