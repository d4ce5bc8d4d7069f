// cuda.h has what CUDA C has of itself, for a compiler without NVIDIA's headers and library.
// common.h, float32.h and float64.h, which follow it, are functions of mathematics.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct fx_thread_x { __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_tid_x(); } };
struct fx_thread_y { __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_tid_y(); } };
struct fx_thread_z { __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_tid_z(); } };
struct fx_block_x { __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ctaid_x(); } };
struct fx_block_y { __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ctaid_y(); } };
struct fx_block_z { __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ctaid_z(); } };
struct { fx_thread_x x; fx_thread_y y; fx_thread_z z; } static const __device__ threadIdx = {};
struct { fx_block_x x; fx_block_y y; fx_block_z z; } static const __device__ blockIdx = {};

static __device__ inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
static __device__ inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static __device__ inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
static __device__ inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
static __device__ inline float __double2float_rz(double x) { return __nvvm_d2f_rz(x); }
static __device__ inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }

static __device__ inline int __dp4a(int a, int b, int c) { int d; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }

// What an instruction does, or a few.
static __device__ inline float fmaf(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
static __device__ inline float fma(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
static __device__ inline double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
static __device__ inline float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
static __device__ inline double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
#define FX_WORD(f, narrow) \
	static __device__ inline float f(float x) { return __builtin_##narrow(x); } \
	static __device__ inline double f(double x) { return __builtin_##f(x); }
FX_WORD(floor, floorf) FX_WORD(ceil, ceilf) FX_WORD(trunc, truncf) FX_WORD(rint, rintf) FX_WORD(fabs, fabsf) FX_WORD(round, roundf)
#undef FX_WORD
static __device__ inline float copysign(float x, float y) { return __uint_as_float((__float_as_uint(x) & 0x7fffffff) | (__float_as_uint(y) & 0x80000000)); }
static __device__ inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
#define FX_PAIR(f, s) \
	static __device__ inline float f(float x, float y) { return x != x ? y : y != y ? x : x s y ? x : y; } \
	static __device__ inline double f(double x, double y) { return x != x ? y : y != y ? x : x s y ? x : y; }
FX_PAIR(fmin, <) FX_PAIR(fmax, >)
#undef FX_PAIR
