// common.h has what functions of mathematics share for floats of 32 and of 64 bits: F is fxm_f32 of
// float32.h or fxm_f64 of float64.h, which have the constants and polynomials. Each polynomial
// is fitted by least squares at the nodes of Chebyshev, weighted by what an error does to the
// result, and its coefficients are rounded from the lowest on, each before the others are fitted
// again. Numbers in several parts (ln 2, pi/2, 1/3) are their expansions. How far each function
// is from the truth stands in docs/devices.md.
//
// FXM begins a function. A host defines it otherwise, to test them there.
#ifndef FXM
#define FXM static __device__ inline
#define FXM_TABLE static const __device__
#endif

FXM float fxm_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
FXM double fxm_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
FXM float fxm_rint(float x) { return __builtin_rintf(x); }
FXM double fxm_rint(double x) { return __builtin_rint(x); }
FXM float fxm_trunc(float x) { return __builtin_truncf(x); }
FXM double fxm_trunc(double x) { return __builtin_trunc(x); }
FXM unsigned fxm_bits(float x) { return __float_as_uint(x); }
FXM unsigned long long fxm_bits(double x) { return (unsigned long long)__double_as_longlong(x); }
FXM float fxm_number(unsigned u) { return __uint_as_float(u); }
FXM double fxm_number(unsigned long long u) { return __longlong_as_double((long long)u); }

// fxm_poly is c0 + x c1 + x² c2 ..., by Horner's rule.
template <class T> FXM T fxm_poly(T, T c) { return c; }
template <class T, class... C> FXM T fxm_poly(T x, T c, C... more) { return fxm_fma(x, fxm_poly(x, more...), c); }

// fxm_format has what follows from how many bits of a number of type T are its digits.
template <class T_, class U_, class I_, int digits_> struct fxm_format {
	typedef T_ T;
	typedef U_ U;
	typedef I_ I;
	static constexpr int digits = digits_, stored = digits - 1, bias = (1 << (8 * sizeof(T) - digits - 1)) - 1;
	static constexpr U one = (U)1 << stored, sign = (U)1 << (8 * sizeof(T) - 1); // the first digit, the sign
	FXM T two(int n) { return fxm_number((U)(n + bias) << stored); }            // 2^n of a normal result
	FXM T infinity() { return two(bias + 1); }
	FXM T nan() { return fxm_number((U)(4 * bias + 3) << (stored - 1)); }
	FXM T abs(T x) { return fxm_number(fxm_bits(x) & ~sign); }
	FXM T with(T x, T of) { return fxm_number(fxm_bits(x) | (fxm_bits(of) & sign)); } // the sign of another
};

// fxm_scaled is exp(x + low): x less the nearest multiple of ln 2, which is exact by its first
// part; what r and 1 + r round off is added last. Two factors make the power of two, so that what
// is subnormal rounds once.
template <class F> FXM typename F::T fxm_scaled(typename F::T x, typename F::T low) {
	typedef typename F::T T;
	x = x > F::large ? F::large : x < F::small ? F::small : x;
	T n = fxm_rint(x * F::log2e);
	T h = fxm_fma(n, -F::ln2, x), l = fxm_fma(n, -F::ln2low, low);
	T r = h + l, e = 1 + r, rest = ((1 - e) + r) + (F::bend(r) + ((h - r) + l));
	int k = (int)n, half = k >> 1;
	return (e + rest) * F::two(half) * F::two(k - half);
}

template <class F> FXM typename F::T fxm_exp(typename F::T x) { return fxm_scaled<F>(x, 0); }

// fxm_expm1 is 2^n (exp(r) - 1) + (2^n - 1), halved where 2^n overflows. Its sums have two parts.
template <class F> FXM typename F::T fxm_expm1(typename F::T x) {
	typedef typename F::T T;
	T c = x > F::large ? F::large : x < F::minusOne ? F::minusOne : x;
	T n = fxm_rint(c * F::log2e);
	T h = fxm_fma(n, -F::ln2, c), l = n * -F::ln2low;
	bool top = n > (T)F::bias;
	T s = F::two((int)n - (top ? 1 : 0));
	T r = h + l, bend = F::bend(r), p = r + bend, low = ((r - p) + bend) + ((h - r) + l);
	T a = s - (top ? (T)0.5 : 1), t = fxm_fma(s, p, a);
	t += fxm_fma(s, p, a - t) + s * low;
	t = top ? t + t : t;
	return F::abs(x) < F::two(-F::digits - 1) ? x : t;
}

// fxm_split takes x > 0 as 2^k m with m from sqrt(1/2) to sqrt(2), and returns m - 1.
template <class F> FXM typename F::T fxm_split(typename F::T x, int &k) {
	typedef typename F::U U;
	bool small = x < F::two(1 - F::bias);
	U u = fxm_bits(small ? x * F::two(F::digits) : x) - F::root;
	k = (int)((typename F::I)u >> F::stored) - (small ? F::digits : 0);
	return fxm_number((u & (F::one - 1)) + F::root) - 1;
}

// fxm_outside is the logarithm where x is no positive number, y elsewhere.
template <class F> FXM typename F::T fxm_outside(typename F::T x, typename F::T y) {
	y = x == F::infinity() || x != x ? x + x : y;
	return x == 0 ? -F::infinity() : x < 0 ? F::nan() : y;
}

// fxm_sum is log(1 + f) + n ln 2.
template <class F> FXM typename F::T fxm_sum(typename F::T f, typename F::T n) { return fxm_fma(n, F::ln2, f + fxm_fma(n, F::ln2low, F::curve(f))); }

template <class F> FXM typename F::T fxm_log(typename F::T x) {
	int k;
	typename F::T f = fxm_split<F>(x, k);
	return fxm_outside<F>(x, fxm_sum<F>(f, (typename F::T)k));
}

template <class F> FXM typename F::T fxm_log2(typename F::T x) {
	int k;
	typename F::T f = fxm_split<F>(x, k);
	typename F::T low = fxm_fma(f, F::log2elow, F::curve(f) * F::log2e);
	return fxm_outside<F>(x, (typename F::T)k + fxm_fma(f, F::log2e, low));
}

// fxm_log1p scales x, not 1 + x: what that sum rounds off is kept. Larger x have no such part.
template <class F> FXM typename F::T fxm_log1p(typename F::T x) {
	typedef typename F::T T;
	int k;
	const int most = F::digits + 6;
	T u = 1 + x, f = fxm_split<F>(u, k), s = F::two(k < most ? -k : 0);
	f = k < most ? fxm_fma(x, s, s - 1) : f;
	return F::abs(x) < F::two(-F::digits - 1) ? x : fxm_outside<F>(u, fxm_sum<F>(f, (T)k));
}

template <class F> FXM typename F::T fxm_tanh(typename F::T x) {
	typename F::T a = F::abs(x), large = 1 - 2 / (fxm_exp<F>(a + a) + 1);
	return F::with(a < (typename F::T)0.55 ? F::tanh(x) : large, x);
}

// fxm_sin and fxm_cos are the sine or the cosine of what is left of whole quarters.
template <class F> FXM typename F::T fxm_turned(typename F::T r, typename F::T low, int q) {
	typename F::T y = q & 1 ? F::cosine(r, low) : F::sine(r, low);
	return q & 2 ? -y : y;
}

template <class F> FXM typename F::T fxm_sin(typename F::T x) {
	int q;
	typename F::T low, r = F::quarter(x, q, low);
	return x == 0 ? x : fxm_turned<F>(r, low, q);
}

template <class F> FXM typename F::T fxm_cos(typename F::T x) {
	int q;
	typename F::T low, r = F::quarter(x, q, low);
	return fxm_turned<F>(r, low, q + 1);
}

// fxm_logs is log(x) of x > 0 in two floats: 2 atanh((m - 1)/(m + 1)) + k ln 2, where the
// quotient, its square and the first term of the series have two parts. The first part of
// ln 2 is so short that k of them are exact.
template <class F> FXM typename F::T fxm_logs(typename F::T x, typename F::T &low) {
	typedef typename F::T T;
	int k;
	T f = fxm_split<F>(x, k), d = 2 + f, below = f - (d - 2), n = (T)k;
	T s = f / d, sl = (fxm_fma(-s, d, f) - s * below) / d;
	T z = s * s, zl = fxm_fma(s, s, -z) + 2 * s * sl;
	T u = z * F::series(z);
	T p = F::third + u, pl = (F::third - p) + u + F::thirdlow;
	T w = z * p, wl = fxm_fma(z, p, -w) + (z * pl + zl * p);
	T v = s * w, vl = fxm_fma(s, w, -v) + (s * wl + sl * w);
	T h = s + v, l = ((s - h) + v) + (sl + vl);
	h += h, l += l;
	T all = fxm_fma(n, F::ln2short, h), rest = (fxm_fma(n, F::ln2short, -all) + h) + fxm_fma(n, F::ln2rest, l);
	T y = all + rest;
	low = (all - y) + rest;
	return y;
}

template <class F> FXM typename F::T fxm_pow(typename F::T x, typename F::T y) {
	typedef typename F::T T;
	const T inf = F::infinity();
	T a = F::abs(x), b = F::abs(y), low;
	T l = fxm_logs<F>(a, low), h = y * l;
	T r = fxm_scaled<F>(h, F::abs(h) < 2 * F::large ? fxm_fma(y, l, -h) + y * low : 0);
	bool whole = fxm_trunc(y) == y, odd = whole && b < F::two(F::digits) && fxm_trunc((T)0.5 * y) != (T)0.5 * y;
	r = a == 0 || a == inf ? ((a == 0) == (y < 0) ? inf : 0) : r;
	r = b == inf ? (a == 1 ? 1 : (a > 1) == (y > 0) ? inf : 0) : r;
	r = fxm_bits(x) & F::sign && odd ? -r : r;
	r = x < 0 && a < inf && !whole ? F::nan() : r;
	r = x != x || y != y ? x + y : r;
	return x == 1 || y == 0 ? 1 : r;
}

// fxm_normal moves the first digit of a whole number other than zero to its place, and takes the exponent along.
template <class F> FXM typename F::U fxm_normal(typename F::U m, int &e) {
	int shift = (sizeof(m) == 4 ? __builtin_clz((unsigned)m) : __builtin_clzll(m)) - ((int)sizeof(m) * 8 - F::digits);
	e -= shift;
	return m << shift;
}

// fxm_mantissa takes a number other than zero as a whole number of all digits and an exponent, which is not
// positive where the number is subnormal.
template <class F> FXM typename F::U fxm_mantissa(typename F::T x, int &e) {
	typename F::U u = fxm_bits(x), m = u & (F::one - 1);
	e = (int)(u >> F::stored);
	if (e != 0) return m | F::one;
	e = 1;
	return fxm_normal<F>(m, e);
}

// fxm_long divides positive numbers as on paper, as many bits at a time as there is room for.
template <class F> FXM typename F::T fxm_long(typename F::T a, typename F::T b) {
	const int room = (int)sizeof(typename F::U) * 8 - F::digits;
	int e, to;
	typename F::U m = fxm_mantissa<F>(a, e), n = fxm_mantissa<F>(b, to);
	m %= n;
	for (e -= to; e > 0 && m != 0; e -= room) m = (m << (e < room ? e : room)) % n;
	if (m == 0) return 0;
	m = fxm_normal<F>(m, to);
	return fxm_number(to > 0 ? (m & (F::one - 1)) | (typename F::U)to << F::stored : m >> (1 - to));
}

// fxm_fmod subtracts at once where the quotient has few bits: it may be one too large, and the
// difference is exact.
template <class F> FXM typename F::T fxm_fmod(typename F::T x, typename F::T y) {
	typedef typename F::T T;
	T a = F::abs(x), b = F::abs(y), r = a;
	if (!(a < F::infinity()) || b != b || b == 0) return F::nan();
	if (a >= b) {
		T q = fxm_trunc(a / b);
		if (q < F::two(F::digits - 3)) {
			r = fxm_fma(-q, b, a);
			r = r < 0 ? r + b : r;
		} else {
			r = fxm_long<F>(a, b);
		}
	}
	return F::with(r, x);
}
