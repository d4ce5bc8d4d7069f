// blas.c is a cuBLASLt of the tests' own: matrices by columns, computed on the host when the
// stream runs, as kernels are. It counts what is alive, and refuses products on request.
#include "cuda.h"

#include <stdatomic.h>

enum { F32 = 0, F16 = 2, BF16 = 14 };

typedef struct { int type; int64_t rows, cols, ld; int count; int64_t stride; } layout;
typedef struct { int compute, scale, turn[2]; } desc;

typedef struct {
	desc d;
	layout a, b, c;
} product;

static command *(*add)(stream *);
static pthread_mutex_t *lock; // of the driver
static atomic_int live, calls, refuse;

EXPORT void fake_blas_configure(void *f, void *l) { add = (command *(*)(stream *))f, lock = l; }
EXPORT int fake_blas_live(void) { return live; }
EXPORT int fake_blas_calls(void) { return calls; }
EXPORT void fake_blas_refuse(int v) { refuse = v; }

EXPORT size_t cublasLtGetVersion(void) { return 120405; }
static int make(void **out, size_t bytes) { live++; *out = calloc(1, bytes); return 0; }
static int end(void *p) { live--; free(p); return 0; }

EXPORT int cublasLtCreate(void **h) { return make(h, 8); }
EXPORT int cublasLtDestroy(void *h) { return end(h); }
EXPORT int cublasLtMatmulDescCreate(desc **d, int compute, int scale) {
	make((void **)d, sizeof **d);
	(*d)->compute = compute;
	(*d)->scale = scale;
	return (compute == 68 || compute == 77) && scale == F32 ? 0 : 7;
}
EXPORT int cublasLtMatmulDescSetAttribute(desc *d, int attr, const int *v, size_t size) {
	if ((attr != 3 && attr != 4) || size != 4) return 7;
	d->turn[attr - 3] = *v;
	return 0;
}
EXPORT int cublasLtMatmulDescDestroy(void *d) { return end(d); }
EXPORT int cublasLtMatrixLayoutCreate(layout **l, int type, uint64_t rows, uint64_t cols, int64_t ld) {
	make((void **)l, sizeof **l);
	**l = (layout){type, (int64_t)rows, (int64_t)cols, ld, 1, 0};
	return ld >= (int64_t)rows ? 0 : 7;
}
EXPORT int cublasLtMatrixLayoutSetAttribute(layout *l, int attr, const void *v, size_t size) {
	if (attr == 5 && size == 4) l->count = *(const int *)v;
	else if (attr == 6 && size == 8) l->stride = *(const int64_t *)v;
	else return 7;
	return 0;
}
EXPORT int cublasLtMatrixLayoutDestroy(void *l) { return end(l); }
EXPORT int cublasLtMatmulPreferenceCreate(void **p) { return make(p, 8); }
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *p, int attr, const void *v, size_t size) {
	(void)p; (void)v;
	return attr == 1 && size == 8 ? 0 : 7;
}
EXPORT int cublasLtMatmulPreferenceDestroy(void *p) { return end(p); }

// fits checks the layouts against each other: [rows, cols] of the operand as it is multiplied.
static int fits(const desc *d, const layout *a, const layout *b, const layout *c) {
	int64_t m = d->turn[0] ? a->cols : a->rows, k = d->turn[0] ? a->rows : a->cols;
	int64_t k2 = d->turn[1] ? b->cols : b->rows, n = d->turn[1] ? b->rows : b->cols;
	return k == k2 && c->rows == m && c->cols == n && a->count == c->count && b->count == c->count;
}

typedef struct { uint64_t algo[8]; size_t workspace; int state; float waves; int reserved[4]; } result;

EXPORT int cublasLtMatmulAlgoGetHeuristic(void *h, desc *d, layout *a, layout *b, layout *c, layout *out, void *p, int most, result *r, int *found) {
	(void)h; (void)p;
	if (!fits(d, a, b, c) || c != out || most != 1) return 7;
	memset(r, 0, sizeof *r);
	*found = !refuse;
	r->algo[0] = 0xa1;
	r->workspace = 1 << 10;
	return 0;
}

static float get(const char *at, int type, int64_t i) {
	if (type == F32) return ((const float *)at)[i];
	if (type == F16) return (float)((const _Float16 *)at)[i];
	uint32_t bits = (uint32_t)((const uint16_t *)at)[i] << 16;
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

static void put(char *at, int type, int64_t i, float x) {
	if (type == F32) ((float *)at)[i] = x;
	else if (type == F16) ((_Float16 *)at)[i] = (_Float16)x;
	else {
		uint32_t bits;
		memcpy(&bits, &x, 4);
		((uint16_t *)at)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	}
}

static int run(void *code, int n, const address *args, const unsigned *grid, const unsigned *block) {
	(void)n; (void)grid; (void)block;
	product *p = code;
	size_t to = p->c.type == F32 ? 4 : 2, size = p->a.type == F32 ? 4 : 2;
	int64_t depth = p->d.turn[0] ? p->a.rows : p->a.cols;
	for (int64_t q = 0; q < p->c.count; q++) {
		char *c = (char *)args[0] + q * p->c.stride * (int64_t)to;
		const char *a = (const char *)args[1] + q * p->a.stride * (int64_t)size, *b = (const char *)args[2] + q * p->b.stride * (int64_t)size;
		for (int64_t j = 0; j < p->c.cols; j++)
			for (int64_t i = 0; i < p->c.rows; i++) {
				float sum = 0;
				for (int64_t k = 0; k < depth; k++)
					sum += get(a, p->a.type, p->d.turn[0] ? k + i * p->a.ld : i + k * p->a.ld) * get(b, p->b.type, p->d.turn[1] ? j + k * p->b.ld : k + j * p->b.ld);
				put(c, p->c.type, i + j * p->c.ld, sum);
			}
	}
	return 0;
}

EXPORT int cublasLtMatmul(void *h, desc *d, const float *alpha, address a, layout *la, address b, layout *lb, const float *beta,
	address c, layout *lc, address out, layout *lo, const uint64_t *algo, void *workspace, size_t bytes, stream *s) {
	(void)h;
	if (*alpha != 1 || *beta != 0 || c != out || lc != lo || algo[0] != 0xa1 || bytes != 1 << 10 || !workspace || !fits(d, la, lb, lc)) return 7;
	calls++;
	product *p = malloc(sizeof *p); // for the life of the process: recordings may hold it
	*p = (product){*d, *la, *lb, *lc};
	pthread_mutex_lock(lock);
	command *o = add(s);
	o->what = LAUNCH;
	o->f.run = run;
	o->f.code = p;
	o->f.params = 3;
	o->args[0] = out;
	o->args[1] = a;
	o->args[2] = b;
	pthread_mutex_unlock(lock);
	return 0;
}
