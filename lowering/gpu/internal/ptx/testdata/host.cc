// host.cc has the functions of common.h, float32.h and float64.h for the processor, over many arguments.
#include <cstring>
#define FXM static inline
#define FXM_TABLE static const
template <class To, class From> static inline To bits(From f) { To t; memcpy(&t, &f, sizeof t); return t; }
static inline float __uint_as_float(unsigned x) { return bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return bits<unsigned>(x); }
static inline double __longlong_as_double(long long x) { return bits<double>(x); }
static inline long long __double_as_longlong(double x) { return bits<long long>(x); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
#include "common.h"
#include "float32.h"
#include "float64.h"
#include "names.h"

#define ONE(f, type, name) extern "C" void name(const type *x, const type *, type *out, long n) { for (long i = 0; i < n; i++) out[i] = fxm_##f(x[i]); }
#define TWO(f, type, name) extern "C" void name(const type *x, const type *y, type *out, long n) { for (long i = 0; i < n; i++) out[i] = fxm_##f(x[i], y[i]); }
#define BOTH(each, f) each(f, float, f32_##f) each(f, double, f64_##f)
BOTH(ONE, exp) BOTH(ONE, expm1) BOTH(ONE, log) BOTH(ONE, log2) BOTH(ONE, log1p) BOTH(ONE, sin) BOTH(ONE, cos) BOTH(ONE, tan) BOTH(ONE, atan) BOTH(ONE, tanh)
BOTH(TWO, pow) BOTH(TWO, fmod)
ONE(erf, double, f64_erf)
