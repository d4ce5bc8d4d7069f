// host.h makes CUDA C source C++ for the processor: the compiler of the tests
// (nvrtc.c) includes it before the source of kernels. The threads of a block are
// coroutines that take turns at barriers; blocks run one after another, so that memory
// of a block is memory of the library.
#ifndef __CUDA_ARCH__
#undef _FORTIFY_SOURCE // which takes a jump to another stack for a mistake
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static
#define __forceinline__ inline
#define __launch_bounds__(...)

struct fx_dim3 { unsigned x, y, z; };
static fx_dim3 threadIdx, blockIdx, blockDim, gridDim;

using std::exp; using std::log; using std::fmod; using std::floor; using std::ceil; using std::trunc; using std::rint;
using std::copysign; using std::fma; using std::sqrt; using std::sin; using std::cos; using std::tan; using std::tanh;
using std::erf; using std::pow; using std::fabs; using std::isnan; using std::isinf; using std::expm1; using std::log1p;
using std::exp2; using std::log2; using std::log10; using std::asin; using std::acos; using std::atan; using std::atan2;
using std::sinh; using std::cosh; using std::asinh; using std::acosh; using std::atanh; using std::cbrt; using std::hypot;
using std::round; using std::fmin; using std::fmax;

template <class To, class From> static inline To fx_bits(From f) { To t; static_assert(sizeof t == sizeof f); memcpy(&t, &f, sizeof t); return t; }
static inline float __uint_as_float(unsigned x) { return fx_bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return fx_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return fx_bits<float>(x); }
static inline int __float_as_int(float x) { return fx_bits<int>(x); }
static inline double __longlong_as_double(long long x) { return fx_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return fx_bits<long long>(x); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline int __dp4a(int a, int b, int c) {
	for (int i = 0; i < 32; i += 8) c = (int)((unsigned)c + (unsigned)((int8_t)(a >> i) * (int8_t)(b >> i)));
	return c;
}
static inline float __double2float_rz(double x) {
	float f = (float)x;
	if (std::isinf(f) && !std::isinf(x)) return x > 0 ? 3.402823466e+38f : -3.402823466e+38f;
	return std::fabs((double)f) > std::fabs(x) ? std::nextafterf(f, 0.0f) : f;
}

// The threads of a block. Only their first turn changes the context, which is a call of the system.
enum { fx_stack = 64 << 10, fx_most = 1024 };
struct fx_thread { ucontext_t first; jmp_buf at; char *stack; bool begun, done, waits; };
static fx_thread fx_threads[fx_most];
static jmp_buf fx_scheduler;
static int fx_now;
static void (*fx_body)();

static void fx_start() {
	fx_body();
	fx_threads[fx_now].done = true;
	_longjmp(fx_scheduler, 1);
}

static inline void __syncthreads() {
	fx_thread &t = fx_threads[fx_now];
	t.waits = true;
	if (!_setjmp(t.at)) _longjmp(fx_scheduler, 1);
}

// fx_turn runs a thread up to its next barrier or its end.
static __attribute__((noinline)) void fx_turn(fx_thread &t) {
	t.waits = false;
	if (_setjmp(fx_scheduler)) return;
	if (t.begun) _longjmp(t.at, 1);
	t.begun = true;
	setcontext(&t.first);
}

static inline void fx_place(int i) {
	fx_now = i;
	threadIdx.x = i % blockDim.x;
	threadIdx.y = i / blockDim.x % blockDim.y;
	threadIdx.z = i / blockDim.x / blockDim.y;
}

// fx_block runs a block: every thread up to its next barrier, until all are done. It
// returns false where some wait at a barrier that others never reach.
static bool fx_block(int n) {
	for (int i = 0; i < n; i++) {
		fx_thread &t = fx_threads[i];
		if (!t.stack) t.stack = (char *)malloc(fx_stack);
		t.begun = t.done = false;
		getcontext(&t.first);
		t.first.uc_stack.ss_sp = t.stack;
		t.first.uc_stack.ss_size = fx_stack;
		t.first.uc_link = nullptr;
		makecontext(&t.first, fx_start, 0);
	}
	for (;;) {
		int done = 0, waits = 0;
		for (int i = 0; i < n; i++) {
			fx_thread &t = fx_threads[i];
			if (!t.done) {
				fx_place(i);
				fx_turn(t);
			}
			done += t.done;
			waits += !t.done && t.waits;
		}
		if (done == n) return true;
		if (done > 0 && waits > 0) return false;
	}
}

// The instructions of tensor cores, by the layout of fragments that the PTX ISA gives for
// mma.m16n8k16 of 16 bits, mma.m16n8k8 of tf32 and mma.m16n8k32 of bytes, and for ldmatrix. The
// threads of a warp show each other their fragments between barriers of the block: all of its threads
// must get to the same instruction.
#define FX_TENSOR
static unsigned fx_shown_a[fx_most][4], fx_shown_b[fx_most][2];
static inline float fx_f16(unsigned h) {
	int e = h >> 10 & 31;
	float m = h & 1023, x = e == 31 ? (m ? NAN : INFINITY) : e ? std::ldexp(m + 1024, e - 25) : std::ldexp(m, -24);
	return h & 0x8000 ? -x : x;
}
static inline float fx_bf16(unsigned h) { return __uint_as_float(h << 16); }
static inline float fx_f19(unsigned x) { return __uint_as_float(x & ~0x1fffu); } // the low bits are not read
template <int Bits> static void fx_mma(float *c, const unsigned *a, const unsigned *b, float (*number)(unsigned)) {
	const int lane = fx_now % 32, warp = fx_now - lane, most = 32 / Bits;
	memcpy(fx_shown_a[fx_now], a, sizeof fx_shown_a[0]);
	memcpy(fx_shown_b[fx_now], b, sizeof fx_shown_b[0]);
	__syncthreads();
	for (int i = 0; i < 4; i++) {
		int row = lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
		for (int k = 0; k < 8 * most; k++) {
			int pair = k / most, half = k % most * 16;
			// Registers of a: rows below 8 first, then the others; then the later half of k.
			unsigned x = fx_shown_a[warp + row % 8 * 4 + pair % 4][row / 8 + pair / 4 * 2];
			unsigned y = fx_shown_b[warp + column * 4 + pair % 4][pair / 4];
			if (most == 2) x = x >> half & 0xffff, y = y >> half & 0xffff;
			c[i] += number(x) * number(y);
		}
	}
	__syncthreads();
}
// Bytes, element by element as the ISA counts them: i of the registers of a thread, lowest byte first.
// The first thread of a warp puts its matrices together.
static int8_t fx_left[fx_most / 32][16][32], fx_right[fx_most / 32][32][8];
static inline void fx_mma_s8(int *c, const unsigned *a, const unsigned *b) {
	const int warp = fx_now / 32, group = fx_now % 32 >> 2, in_group = fx_now % 4;
	memcpy(fx_shown_a[fx_now], a, sizeof fx_shown_a[0]);
	memcpy(fx_shown_b[fx_now], b, sizeof fx_shown_b[0]);
	__syncthreads();
	for (int lane = 0; fx_now % 32 == 0 && lane < 32; lane++) {
		int group = lane >> 2, in_group = lane % 4;
		for (int i = 0; i < 16; i++) {
			int row = i < 4 || (8 <= i && i < 12) ? group : group + 8;
			int column = in_group * 4 + (i & 3) + (i >= 8 ? 16 : 0);
			fx_left[warp][row][column] = (int8_t)(fx_shown_a[fx_now + lane][i / 4] >> i % 4 * 8);
		}
		for (int i = 0; i < 8; i++)
			fx_right[warp][in_group * 4 + (i & 3) + (i >= 4 ? 16 : 0)][group] = (int8_t)(fx_shown_b[fx_now + lane][i / 4] >> i % 4 * 8);
	}
	__syncthreads();
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 32; k++)
			c[i] = (int)((unsigned)c[i] + (unsigned)(fx_left[warp][i < 2 ? group : group + 8][k] * fx_right[warp][k][in_group * 2 + (i & 1)]));
}
static const void *fx_shown_p[fx_most];
static inline void fx_matrices(unsigned *r, const void *p) {
	const int lane = fx_now % 32, warp = fx_now - lane;
	if ((uintptr_t)p % 16 != 0) abort();
	fx_shown_p[fx_now] = p;
	__syncthreads();
	for (int i = 0; i < 4; i++) r[i] = ((const unsigned *)fx_shown_p[warp + i * 8 + lane / 4])[lane % 4];
	__syncthreads();
}
static inline void fx_mma_f16(float *c, const unsigned *a, const unsigned *b) { fx_mma<16>(c, a, b, fx_f16); }
static inline void fx_mma_bf16(float *c, const unsigned *a, const unsigned *b) { fx_mma<16>(c, a, b, fx_bf16); }
static inline void fx_mma_tf32(float *c, const unsigned *a, const unsigned *b) { fx_mma<32>(c, a, b, fx_f19); }

// fx_run runs a kernel of n parameters, which are integers or pointers, over a grid.
typedef unsigned long long fx_arg;
static fx_arg fx_args[64];
static void *fx_function;
template <int... I> struct fx_list {};
template <int N, int... I> struct fx_upto : fx_upto<N - 1, N - 1, I...> {};
template <int... I> struct fx_upto<0, I...> { typedef fx_list<I...> type; };
template <int I> using fx_word = fx_arg;
template <int... I> static void fx_apply(fx_list<I...>) { ((void (*)(fx_word<I>...))fx_function)(fx_args[I]...); }
template <int N> static void fx_with() { fx_apply(typename fx_upto<N>::type()); }
#define FX_WITH(n) fx_with<n>, fx_with<n + 1>, fx_with<n + 2>, fx_with<n + 3>, fx_with<n + 4>, fx_with<n + 5>, fx_with<n + 6>, fx_with<n + 7>
static void (*const fx_call[])() = {
	FX_WITH(0), FX_WITH(8), FX_WITH(16), FX_WITH(24), FX_WITH(32), FX_WITH(40), FX_WITH(48), FX_WITH(56),
};

extern "C" __attribute__((visibility("default"))) int fx_run(void *function, int n, const fx_arg *args, const unsigned *grid, const unsigned *block) {
	unsigned threads = block[0] * block[1] * block[2];
	if (n > 63 || threads > fx_most) return 1;
	memcpy(fx_args, args, n * sizeof *args);
	fx_function = function;
	fx_body = fx_call[n];
	gridDim = {grid[0], grid[1], grid[2]};
	blockDim = {block[0], block[1], block[2]};
	for (unsigned z = 0; z < grid[2]; z++)
		for (unsigned y = 0; y < grid[1]; y++)
			for (unsigned x = 0; x < grid[0]; x++) {
				blockIdx = {x, y, z};
				if (!fx_block(threads)) return 2;
			}
	return 0;
}
#endif
