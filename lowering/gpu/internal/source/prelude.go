package source

// Prelude is the beginning of every program. It gives the words of kernels their meaning:
//
//	KERNEL(x,y,z)   a kernel whose groups have x·y·z work-items
//	GLOBAL, LOCAL   memory of the device, of a group
//	BARRIER         what work-items of the group wrote to LOCAL memory is seen by all
//	GROUP0, LANE0   number of the group in the grid, of the work-item in the group
//	I64, U64        literals of 64 bits
//	AS_*            the same bits as another type
//	NONE            what no score is below, -Inf
//	DP4A            c and the products of the four signed bytes of two words
//	vec4 .. vec16   floats that one instruction computes with
//	VWIDEN          such a vector of bytes; VLOW, VHIGH of the lower or upper halves of their bits
//
// and has the conversions whose results array.Cast defines. Nothing is contracted. tanh is one
// where it rounds to one: some libraries miss it by a last bit, which 1 - tanh(x) makes much of.
// erf has no branch, so that work-items and loops become lanes: below 1 it is x plus x times a polynomial of
// x², and 1 - exp(-q) with a polynomial of |x| from there on, both fitted by least squares
// (within 1.2 units of the last place).
const Prelude = preludeOpenCL + preludeHalf + preludeCommon + preludeWords

const preludeOpenCL = `#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define FX_F64
#endif
#define KERNEL(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z)))
#define GLOBAL __global
#define LOCAL __local
#define RESTRICT restrict
#define DEVICE static inline
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define GROUP0 ((int)get_group_id(0))
#define GROUP1 ((int)get_group_id(1))
#define GROUP2 ((int)get_group_id(2))
#define LANE0 ((int)get_local_id(0))
#define LANE1 ((int)get_local_id(1))
typedef char schar;
typedef long i64;
typedef ulong u64;
#define I64(x) (x##L)
#define U64(x) (x##UL)
#define AS_F32(x) as_float((uint)(x))
#define AS_U32(x) as_uint((float)(x))
#define AS_F64(x) as_double((u64)(x))
#define F2D_RZ(x) convert_double_rtz(x)
#define D2F_RZ(x) convert_float_rtz(x)
#define MULHI_U64(a, b) mul_hi((u64)(a), (u64)(b))
#define FMA(a, b, c) fma(a, b, c)
typedef float4 vec4;
typedef float8 vec8;
typedef float16 vec16;
#define VLOAD4(p) vload4(0, p)
#define VLOAD8(p) vload8(0, p)
#define VLOAD16(p) vload16(0, p)
#define VSTORE4(p, v) vstore4(v, 0, p)
#define VSTORE8(p, v) vstore8(v, 0, p)
#define VSTORE16(p, v) vstore16(v, 0, p)
#define VSPLAT4(x) ((float4)(x))
#define VSPLAT8(x) ((float8)(x))
#define VSPLAT16(x) ((float16)(x))
#define VWIDEN4(p) convert_float4(vload4(0, p))
#define VWIDEN8(p) convert_float8(vload8(0, p))
#define VWIDEN16(p) convert_float16(vload16(0, p))
#define VLOW4(p) convert_float4(vload4(0, p) & (uchar)15)
#define VLOW8(p) convert_float8(vload8(0, p) & (uchar)15)
#define VLOW16(p) convert_float16(vload16(0, p) & (uchar)15)
#define VHIGH4(p) convert_float4(vload4(0, p) >> (uchar)4)
#define VHIGH8(p) convert_float8(vload8(0, p) >> (uchar)4)
#define VHIGH16(p) convert_float16(vload16(0, p) >> (uchar)4)
#define VFMA(a, b, c) fma(a, b, c)
#define VMAX(a, b) fmax(a, b)
#define VEXP(a) exp(a)
#else
#define FX_F64
#define KERNEL(x, y, z) extern "C" __global__ __launch_bounds__((x) * (y) * (z))
#define GLOBAL
#define LOCAL __shared__
#define RESTRICT __restrict__
#define DEVICE static __device__ __forceinline__
#define BARRIER __syncthreads()
#define GROUP0 ((int)blockIdx.x)
#define GROUP1 ((int)blockIdx.y)
#define GROUP2 ((int)blockIdx.z)
#define LANE0 ((int)threadIdx.x)
#define LANE1 ((int)threadIdx.y)
typedef signed char schar;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef long long i64;
typedef unsigned long long u64;
#define I64(x) (x##LL)
#define U64(x) (x##ULL)
#define AS_F32(x) __uint_as_float((uint)(x))
#define AS_U32(x) __float_as_uint((float)(x))
#define AS_F64(x) __longlong_as_double((i64)(x))
#define D2F_RZ(x) __double2float_rz(x)
#define MULHI_U64(a, b) __umul64hi((u64)(a), (u64)(b))
#define FMA(a, b, c) fma(a, b, c)
#define FX_VEC(n) \
struct vec##n { float s[n]; }; \
DEVICE vec##n VLOAD##n(const float *p) { vec##n v; for (int i = 0; i < n; i++) v.s[i] = p[i]; return v; } \
DEVICE void VSTORE##n(float *p, vec##n v) { for (int i = 0; i < n; i++) p[i] = v.s[i]; } \
DEVICE vec##n VSPLAT##n(float x) { vec##n v; for (int i = 0; i < n; i++) v.s[i] = x; return v; } \
DEVICE vec##n VFMA(vec##n a, vec##n b, vec##n c) { for (int i = 0; i < n; i++) c.s[i] = fmaf(a.s[i], b.s[i], c.s[i]); return c; } \
DEVICE vec##n VMAX(vec##n a, vec##n b) { for (int i = 0; i < n; i++) a.s[i] = fmax(a.s[i], b.s[i]); return a; } \
DEVICE vec##n VEXP(vec##n a) { for (int i = 0; i < n; i++) a.s[i] = exp(a.s[i]); return a; } \
DEVICE vec##n VWIDEN##n(const schar *p) { vec##n v; for (int i = 0; i < n; i++) v.s[i] = p[i]; return v; } \
DEVICE vec##n VWIDEN##n(const uchar *p) { vec##n v; for (int i = 0; i < n; i++) v.s[i] = p[i]; return v; } \
DEVICE vec##n VLOW##n(const uchar *p) { vec##n v; for (int i = 0; i < n; i++) v.s[i] = p[i] & 15; return v; } \
DEVICE vec##n VHIGH##n(const uchar *p) { vec##n v; for (int i = 0; i < n; i++) v.s[i] = p[i] >> 4; return v; } \
DEVICE vec##n operator-(vec##n a, vec##n b) { for (int i = 0; i < n; i++) a.s[i] -= b.s[i]; return a; } \
DEVICE vec##n operator+(vec##n a, vec##n b) { for (int i = 0; i < n; i++) a.s[i] += b.s[i]; return a; } \
DEVICE vec##n operator*(vec##n a, vec##n b) { for (int i = 0; i < n; i++) a.s[i] *= b.s[i]; return a; }
FX_VEC(4)
FX_VEC(8)
FX_VEC(16)
#endif
`

// preludeHalf has the conversions of floats of 16 bits. Where the processor has an instruction for one, that
// is all: written out, with branches, a conversion makes a kernel that stores many results too long to compile
// in seconds. Instructions make one NaN of all; the functions keep their bits.
const preludeHalf = `
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
DEVICE float h2f(ushort h) {
	float f;
	asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
	return f;
}
DEVICE ushort f2h(float f) {
	ushort h;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
}
#else
DEVICE float h2f(ushort h) {
	uint sign = (uint)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
	uint normal = (e + 112) << 23 | m << 13;
	uint special = 0x7f800000u | m << 13;
	uint small = AS_U32((float)m * 5.9604644775390625e-08f);
	return AS_F32(sign | (e == 0 ? small : e == 31 ? special : normal));
}
DEVICE ushort f2h(float f) {
	uint b = AS_U32(f), sign = b >> 16 & 0x8000, a = b & 0x7fffffff;
	if (a > 0x7f800000u) return (ushort)(sign | 0x7e00 | (a >> 13 & 0x3ff));
	if (a >= 0x477ff000u) return (ushort)(sign | 0x7c00);
	if (a >= 0x38800000u) { a += 0xfff + (a >> 13 & 1); return (ushort)(sign | (a - 0x38000000u) >> 13); }
	if (a < 0x33000000u) return (ushort)sign;
	uint shift = 126 - (a >> 23), m = (a & 0x7fffff) | 0x800000;
	uint q = m >> shift, rest = m & ((1u << shift) - 1), half_ = 1u << (shift - 1);
	if (rest > half_ || (rest == half_ && (q & 1))) q++;
	return (ushort)(sign | q);
}
#endif
DEVICE float b2f(ushort h) { return AS_F32((uint)h << 16); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
DEVICE ushort f2b(float f) {
	ushort h;
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
}
#else
DEVICE ushort f2b(float f) {
	uint b = AS_U32(f);
	if ((b & 0x7fffffff) > 0x7f800000u) return (ushort)(b >> 16 | 0x40);
	return (ushort)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}
#endif
`

const preludeCommon = `
#define NONE AS_F32(0xff800000u)
DEVICE float fx_min(float a, float b) { return a != a ? a : b != b ? b : a < b ? a : b < a ? b : AS_F32(AS_U32(a) | AS_U32(b)); }
DEVICE float fx_max(float a, float b) { return a != a ? a : b != b ? b : a > b ? a : b > a ? b : AS_F32(AS_U32(a) & AS_U32(b)); }
DEVICE float fx_mod(float a, float b) { float r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
DEVICE float fx_floordiv(float a, float b) {
	if (b == 0) return a / b;
	float r = fmod(a, b), q = (a - r) / b;
	if (r != 0 && (r < 0) != (b < 0)) q -= 1;
	if (q == 0) return copysign(0.0f, a / b);
	float f = floor(q);
	return q - f > 0.5f ? f + 1 : f;
}
DEVICE i64 fx_div(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? (i64)(0 - (u64)a) : a / b; }
DEVICE i64 fx_rem(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
DEVICE i64 fx_idiv(i64 a, i64 b) { i64 q = fx_div(a, b); return b != 0 && (a < 0) != (b < 0) && (i64)((u64)q * (u64)b) != a ? q - 1 : q; }
DEVICE i64 fx_imod(i64 a, i64 b) { i64 r = fx_rem(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
DEVICE u64 fx_udiv(u64 a, u64 b) { return b == 0 ? 0 : a / b; }
DEVICE u64 fx_urem(u64 a, u64 b) { return b == 0 ? 0 : a % b; }
DEVICE i64 fx_shl(i64 a, i64 b) { return (u64)b > 63 ? 0 : (i64)((u64)a << b); }
DEVICE i64 fx_shr(i64 a, i64 b) { return (u64)b > 63 ? (a < 0 ? -1 : 0) : a >> b; }
DEVICE u64 fx_ushr(u64 a, u64 b) { return b > 63 ? 0 : a >> b; }
DEVICE i64 fx_ipow(i64 a, i64 b, int is_unsigned) {
	if (b < 0 && !is_unsigned) return a == 1 ? 1 : a == -1 ? ((b & 1) ? -1 : 1) : 0;
	u64 r = 1, x = (u64)a;
	for (u64 n = (u64)b; n != 0; n >>= 1) { if (n & 1) r *= x; x *= x; }
	return (i64)r;
}
DEVICE i64 fx_f2i(float x) { return x >= 9223372036854775808.0f ? I64(9223372036854775807) : x > -9223372036854775808.0f ? (i64)x : x < 0 ? -I64(9223372036854775807) - 1 : 0; }
DEVICE float fx_i2odd(u64 m, int negative) {
	int e = 127;
	for (int s = 32; s > 0; s >>= 1) if (m >> (23 + s)) { m = m >> s | (u64)(m << (64 - s) != 0); e += s; }
	float f = (float)(uint)m * AS_F32((uint)e << 23);
	return negative ? -f : f;
}
DEVICE int fx_f2w(float x) { return x >= 2147483648.0f ? 2147483647 : x > -2147483648.0f ? (int)x : x < 0 ? -2147483647 - 1 : 0; }
DEVICE int fx_clampw(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }
DEVICE u64 fx_f2u(float x) { return x >= 18446744073709551616.0f ? ~U64(0) : x > 0 ? (u64)x : 0; }
DEVICE i64 fx_clamp(i64 x, i64 lo, i64 hi) { return x < lo ? lo : x > hi ? hi : x; }
DEVICE float fx_tanh(float x) { return fabs(x) > 9.02f ? copysign(1.0f, x) : tanh(x); }
DEVICE float fx_erf(float x) {
	float t = fabs(x), s = x * x, u = (t > 4.0f ? 4.0f : t) - 2.0f;
	float p = FMA(7.88249711e-05f, s, -0.000801885499f);
	p = FMA(p, s, 0.00518931194f); p = FMA(p, s, -0.0268543288f); p = FMA(p, s, 0.112835975f);
	p = FMA(p, s, -0.376126269f); p = FMA(p, s, 0.128379166f);
	float q = FMA(-0.000186546392f, u, 0.000710339148f);
	q = FMA(q, u, -0.00354533948f); q = FMA(q, u, 0.0164873649f); q = FMA(q, u, 0.923753519f);
	q = FMA(q, u, 4.41815947f); q = FMA(q, u, 5.36494106f);
	return t < 1.0f ? FMA(x, p, x) : copysign(1.0f - exp(-q), x);
}
DEVICE float fx_sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
#ifdef FX_F64
DEVICE double fx_dmin(double a, double b) { return a != a ? a : b != b ? b : a < b ? a : b < a ? b : (a != 0 ? a : copysign(1.0, a) < 0 ? a : b); }
DEVICE double fx_dmax(double a, double b) { return a != a ? a : b != b ? b : a > b ? a : b > a ? b : (a != 0 ? a : copysign(1.0, a) < 0 ? b : a); }
DEVICE double fx_dmod(double a, double b) { double r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
DEVICE double fx_dfloordiv(double a, double b) {
	if (b == 0) return a / b;
	double r = fmod(a, b), q = (a - r) / b;
	if (r != 0 && (r < 0) != (b < 0)) q -= 1;
	if (q == 0) return copysign(0.0, a / b);
	double f = floor(q);
	return q - f > 0.5 ? f + 1 : f;
}
DEVICE i64 fx_d2i(double x) { return x >= 9223372036854775808.0 ? I64(9223372036854775807) : x > -9223372036854775808.0 ? (i64)x : x < 0 ? -I64(9223372036854775807) - 1 : 0; }
DEVICE u64 fx_d2u(double x) { return x >= 18446744073709551616.0 ? ~U64(0) : x > 0 ? (u64)x : 0; }
DEVICE float fx_odd(double x) {
	float f = D2F_RZ(x);
	return (double)f == x || x != x ? f : AS_F32(AS_U32(f) | 1);
}
DEVICE double fx_dtanh(double x) { return fabs(x) > 19.07 ? copysign(1.0, x) : tanh(x); }
DEVICE double fx_dsigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
#endif
`
