// cuda.h declares what CUDA C has of itself, for a compiler without NVIDIA's headers.
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
static __device__ inline float __double2float_rz(double x) { return __nvvm_d2f_rz(x); }
static __device__ inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }

static __device__ inline int __dp4a(int a, int b, int c) { int d; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); return d; }

// Functions of mathematics, as C++ overloads them; they stay calls.
#define FX_1(f) \
	extern "C" __device__ float f##f(float); \
	extern "C" __device__ double f(double); \
	static __device__ inline float f(float x) { return f##f(x); }
#define FX_2(f) \
	extern "C" __device__ float f##f(float, float); \
	extern "C" __device__ double f(double, double); \
	static __device__ inline float f(float x, float y) { return f##f(x, y); }
FX_1(exp) FX_1(exp2) FX_1(expm1) FX_1(log) FX_1(log2) FX_1(log10) FX_1(log1p)
FX_1(sin) FX_1(cos) FX_1(tan) FX_1(asin) FX_1(acos) FX_1(atan) FX_1(sinh) FX_1(cosh) FX_1(tanh) FX_1(asinh) FX_1(acosh) FX_1(atanh)
FX_1(erf) FX_1(erfc) FX_1(sqrt) FX_1(rsqrt) FX_1(cbrt) FX_1(floor) FX_1(ceil) FX_1(trunc) FX_1(rint) FX_1(round) FX_1(fabs)
FX_2(fmod) FX_2(pow) FX_2(atan2) FX_2(hypot) FX_2(copysign) FX_2(fmin) FX_2(fmax)
static __device__ inline float fmaf(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
static __device__ inline double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
static __device__ inline float fma(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
