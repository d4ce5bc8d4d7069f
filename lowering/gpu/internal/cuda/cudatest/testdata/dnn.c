// dnn.c is a cuDNN of the tests' own, for convolutions of two dimensions: computed on the host
// when the stream runs, as kernels are.
#include "cuda.h"

#include <stdatomic.h>

enum { F32 = 0, F16 = 2, BF16 = 9 };

typedef struct { int type, n, c, h, w; } tensor;
typedef struct { int type, k, c, h, w; } filter;
typedef struct { int stride[2], dilation[2], groups, math; } conv;
typedef struct { stream *s; } handle;
typedef struct { tensor x, y; filter w; conv c; } convolution;

static command *(*add)(stream *);
static pthread_mutex_t *lock; // of the driver
static atomic_int live, calls, refuse;

EXPORT void fake_dnn_configure(void *f, void *l) { add = (command *(*)(stream *))f, lock = l; }
EXPORT int fake_dnn_live(void) { return live; }
EXPORT int fake_dnn_calls(void) { return calls; }
EXPORT void fake_dnn_refuse(int v) { refuse = v; }

static int make(void **out, size_t bytes) { live++; *out = calloc(1, bytes); return 0; }
static int end(void *p) { live--; free(p); return 0; }

EXPORT size_t cudnnGetVersion(void) { return 90203; }
EXPORT int cudnnCreate(void **h) { return make(h, sizeof(handle)); }
EXPORT int cudnnDestroy(void *h) { return end(h); }
EXPORT int cudnnSetStream(handle *h, stream *s) { h->s = s; return 0; }
EXPORT int cudnnCreateTensorDescriptor(void **t) { return make(t, sizeof(tensor)); }
EXPORT int cudnnSetTensor4dDescriptor(tensor *t, int format, int type, int n, int c, int h, int w) {
	*t = (tensor){type, n, c, h, w};
	return format == 0 ? 0 : 2000;
}
EXPORT int cudnnDestroyTensorDescriptor(void *t) { return end(t); }
EXPORT int cudnnCreateFilterDescriptor(void **f) { return make(f, sizeof(filter)); }
EXPORT int cudnnSetFilter4dDescriptor(filter *f, int type, int format, int k, int c, int h, int w) {
	*f = (filter){type, k, c, h, w};
	return format == 0 ? 0 : 2000;
}
EXPORT int cudnnDestroyFilterDescriptor(void *f) { return end(f); }
EXPORT int cudnnCreateConvolutionDescriptor(void **c) { return make(c, sizeof(conv)); }
EXPORT int cudnnSetConvolution2dDescriptor(conv *c, int ph, int pw, int sh, int sw, int dh, int dw, int mode, int compute) {
	*c = (conv){{sh, sw}, {dh, dw}, 1, 0};
	return ph == 0 && pw == 0 && mode == 1 && compute == F32 ? 0 : 2000;
}
EXPORT int cudnnSetConvolutionGroupCount(conv *c, int groups) { c->groups = groups; return 0; }
EXPORT int cudnnSetConvolutionMathType(conv *c, int math) { c->math = math; return 0; }
EXPORT int cudnnDestroyConvolutionDescriptor(void *c) { return end(c); }

typedef struct { int algo, status; float time; size_t memory; int determinism, math, reserved[3]; } perf;

static int fits(const tensor *x, const filter *w, const conv *c, const tensor *y) {
	int math = x->type == F32 ? 3 : 1;
	return x->type == w->type && y->type == x->type && c->math == math && x->n == y->n && w->k == y->c && w->c * c->groups == x->c &&
		y->h == (x->h - (w->h - 1) * c->dilation[0] - 1) / c->stride[0] + 1 && y->w == (x->w - (w->w - 1) * c->dilation[1] - 1) / c->stride[1] + 1;
}

EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(handle *h, tensor *x, filter *w, conv *c, tensor *y, int most, int *found, perf *out) {
	(void)h;
	if (!fits(x, w, c, y)) return 2000;
	*found = 0;
	if (refuse) return 0;
	memset(out, 0, 3 * sizeof *out);
	out[0].algo = 6; // which needs more memory than there is
	out[0].memory = (size_t)1 << 40;
	out[1].algo = 1;
	out[1].status = 3000;
	out[2].algo = 2;
	out[2].memory = 1 << 12;
	for (int i = 0; i < 3; i++) out[i].math = c->math;
	*found = most < 3 ? most : 3;
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
	uint32_t bits;
	memcpy(&bits, &x, 4);
	if (type == F32) ((float *)at)[i] = x;
	else if (type == F16) ((_Float16 *)at)[i] = (_Float16)x;
	else ((uint16_t *)at)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static int run(void *code, int n, const address *args, const unsigned *grid, const unsigned *block) {
	(void)n; (void)grid; (void)block;
	convolution *p = code;
	const char *x = (const char *)args[1], *w = (const char *)args[2];
	int per = p->y.c / p->c.groups; // results of a group
	int64_t at = 0;
	for (int i = 0; i < p->y.n; i++)
		for (int k = 0; k < p->y.c; k++)
			for (int r = 0; r < p->y.h; r++)
				for (int s = 0; s < p->y.w; s++) {
					float sum = 0;
					for (int c = 0; c < p->w.c; c++)
						for (int a = 0; a < p->w.h; a++)
							for (int b = 0; b < p->w.w; b++)
								sum += get(x, p->x.type, ((int64_t)(i * p->x.c + k / per * p->w.c + c) * p->x.h + r * p->c.stride[0] + a * p->c.dilation[0]) * p->x.w + s * p->c.stride[1] + b * p->c.dilation[1]) *
									get(w, p->w.type, ((int64_t)(k * p->w.c + c) * p->w.h + a) * p->w.w + b);
					put((char *)args[0], p->y.type, at++, sum);
				}
	return 0;
}

EXPORT int cudnnConvolutionForward(handle *h, const float *alpha, tensor *x, address xa, filter *w, address wa, conv *c, int algo,
	void *workspace, size_t bytes, const float *beta, tensor *y, address ya) {
	if (*alpha != 1 || *beta != 0 || algo != 2 || bytes != 1 << 12 || !workspace || !h->s || !fits(x, w, c, y)) return 2000;
	calls++;
	convolution *p = malloc(sizeof *p); // for the life of the process: recordings may hold it
	*p = (convolution){*x, *y, *w, *c};
	pthread_mutex_lock(lock);
	command *o = add(h->s);
	o->what = LAUNCH;
	o->f.run = run;
	o->f.code = p;
	o->f.params = 3;
	o->args[0] = ya;
	o->args[1] = xa;
	o->args[2] = wa;
	pthread_mutex_unlock(lock);
	return 0;
}
