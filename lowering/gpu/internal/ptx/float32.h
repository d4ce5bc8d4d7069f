// float32.h has functions of mathematics for floats of 32 bits, which use no wider ones. Each
// polynomial is fitted by least squares at the nodes of Chebyshev, weighted by what an error
// does to the result, and its coefficients are rounded from the lowest on, each before the
// others are fitted again. Numbers in several parts (ln 2, pi/2, 1/3) are their expansions.
// How far each function is from the truth stands in docs/devices.md.
//
// FXM begins a function. A host defines it otherwise, to test them there.
#ifndef FXM
#define FXM static __device__ inline
#define FXM_TABLE static const __device__
#endif

FXM float fxm_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
FXM float fxm_abs(float x) { return __uint_as_float(__float_as_uint(x) & 0x7fffffff); }
FXM float fxm_sign(float x, float of) { return __uint_as_float(__float_as_uint(x) | (__float_as_uint(of) & 0x80000000)); }
FXM float fxm_two(int n) { return __uint_as_float((unsigned)(n + 127) << 23); } // 2^n of a normal result

// fxm_poly is c0 + x c1 + x² c2 ..., by Horner's rule.
FXM float fxm_poly(float, float c) { return c; }
template <class... C> FXM float fxm_poly(float x, float c, C... more) { return fxm_fma(x, fxm_poly(x, more...), c); }

// fxm_bend is exp(r) - 1 - r for |r| up to ln(2)/2.
FXM float fxm_bend(float r) {
	return r * r * fxm_poly(r, 0x1p-1f, 0x1.555556p-3f, 0x1.5554ep-5f, 0x1.110ffp-7f, 0x1.6d56f2p-10f, 0x1.a26eap-13f);
}

// fxm_scaled is exp(x + low): x less the nearest multiple of ln 2, which is exact by its first
// part, of 21 bits; what r and 1 + r round off is added last. Two factors make the
// power of two, so that what is subnormal rounds once.
FXM float fxm_scaled(float x, float low) {
	x = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
	float n = __builtin_rintf(x * 0x1.715476p+0f);
	float h = fxm_fma(n, -0x1.62e43p-1f, x), l = fxm_fma(n, 0x1.05c61p-29f, low);
	float r = h + l, e = 1.0f + r, rest = ((1.0f - e) + r) + (fxm_bend(r) + ((h - r) + l));
	int k = (int)n, half = k >> 1;
	return (e + rest) * fxm_two(half) * fxm_two(k - half);
}

FXM float fxm_exp(float x) { return fxm_scaled(x, 0.0f); }

// fxm_expm1 is 2^n (exp(r) - 1) + (2^n - 1), halved where 2^n overflows. Its sums have two parts.
FXM float fxm_expm1(float x) {
	float c = x > 89.0f ? 89.0f : x < -26.0f ? -26.0f : x;
	float n = __builtin_rintf(c * 0x1.715476p+0f);
	float h = fxm_fma(n, -0x1.62e43p-1f, c), l = n * 0x1.05c61p-29f;
	bool top = n > 127.0f;
	float s = fxm_two((int)n - (top ? 1 : 0));
	float r = h + l, bend = fxm_bend(r), p = r + bend, low = ((r - p) + bend) + ((h - r) + l);
	float a = s - (top ? 0.5f : 1.0f), t = fxm_fma(s, p, a);
	t += fxm_fma(s, p, a - t) + s * low;
	t = top ? t + t : t;
	return fxm_abs(x) < 0x1p-25f ? x : t;
}

// fxm_split takes x > 0 as 2^k m with m from sqrt(1/2) to sqrt(2), and returns m - 1.
FXM float fxm_split(float x, int &k) {
	bool small = x < 0x1p-126f;
	unsigned u = __float_as_uint(small ? x * 0x1p24f : x) - 0x3f3504f3;
	k = ((int)u >> 23) - (small ? 24 : 0);
	return __uint_as_float((u & 0x7fffff) + 0x3f3504f3) - 1.0f;
}

// fxm_curve is log(1 + f) - f.
FXM float fxm_curve(float f) {
	float z = f * f;
	float p = fxm_poly(f, 0x1.555546p-2f, -0x1.00000ap-2f, 0x1.99a546p-3f, -0x1.555ae4p-3f, 0x1.232cfap-3f, -0x1.fc4dap-4f, 0x1.e7a54ep-4f, -0x1.dd651p-4f, 0x1.11c874p-4f);
	return fxm_fma(f * z, p, -0.5f * z);
}

// fxm_outside is the logarithm where x is no positive number, y elsewhere.
FXM float fxm_outside(float x, float y) {
	y = x > 0x1.fffffep127f || x != x ? x + x : y;
	return x == 0.0f ? __uint_as_float(0xff800000) : x < 0.0f ? __uint_as_float(0x7fc00000) : y;
}

FXM float fxm_log(float x) {
	int k;
	float f = fxm_split(x, k), n = (float)k;
	return fxm_outside(x, fxm_fma(n, 0x1.62e43p-1f, f + fxm_fma(n, -0x1.05c61p-29f, fxm_curve(f))));
}

FXM float fxm_log2(float x) {
	int k;
	float f = fxm_split(x, k);
	float low = fxm_fma(f, 0x1.4ae0cp-26f, fxm_curve(f) * 0x1.715476p+0f);
	return fxm_outside(x, (float)k + fxm_fma(f, 0x1.715476p+0f, low));
}

// fxm_log1p scales x, not 1 + x: what that sum rounds off is kept. x of 2^29 and more has no such part.
FXM float fxm_log1p(float x) {
	int k;
	float u = 1.0f + x, f = fxm_split(u, k), n = (float)k;
	float s = fxm_two(k < 30 ? -k : 0);
	f = k < 30 ? fxm_fma(x, s, s - 1.0f) : f;
	float y = fxm_fma(n, 0x1.62e43p-1f, f + fxm_fma(n, -0x1.05c61p-29f, fxm_curve(f)));
	return fxm_abs(x) < 0x1p-25f ? x : fxm_outside(u, y);
}

// fxm_two_over_pi are 32 zero bits and 224 bits of 2/pi.
FXM_TABLE unsigned fxm_two_over_pi[8] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// fxm_far reduces large x (Payne and Hanek): of the bits of 2/pi those whose product by x is no
// multiple of four turns' quarters, 96 of them, give the quarter and 62 bits of the rest.
FXM float fxm_far(float x, int &q, float &low) {
	unsigned u = __float_as_uint(x), m = (u & 0x7fffff) | 0x800000;
	int at = (int)(u >> 23 & 255) - 150 + 30;
	const unsigned *t = fxm_two_over_pi + (at >> 5);
	int shift = 32 - (at & 31);
	unsigned a = (unsigned)(((unsigned long long)t[0] << 32 | t[1]) >> shift);
	unsigned b = (unsigned)(((unsigned long long)t[1] << 32 | t[2]) >> shift);
	unsigned c = (unsigned)(((unsigned long long)t[2] << 32 | t[3]) >> shift);
	unsigned long long p = ((unsigned long long)(m * a) << 32) + (unsigned long long)m * b + ((unsigned long long)m * c >> 32);
	unsigned long long n = (p + (1ULL << 61)) >> 62;
	long long rest = (long long)(p - (n << 62));
	float h = (float)rest, l = (float)(rest - (long long)h);
	float r = fxm_fma(h, 0x1.921fb6p-62f, fxm_fma(h, -0x1.777a5cp-87f, l * 0x1.921fb6p-62f));
	low = fxm_fma(h, 0x1.921fb6p-62f, -r) + fxm_fma(h, -0x1.777a5cp-87f, l * 0x1.921fb6p-62f);
	bool minus = x < 0.0f;
	low = minus ? -low : low;
	q = minus ? -(int)n : (int)n;
	return minus ? -r : r;
}

// fxm_quarter takes x as q pi/2 + r + low with |r| up to pi/4. Up to 2^16 three parts of pi/2
// do (Cody and Waite): by fma the first difference is exact. Who does not use low does not pay.
FXM float fxm_quarter(float x, int &q, float &low) {
	float a = fxm_abs(x);
	low = 0.0f;
	if (a > 65536.0f) {
		if (a < __uint_as_float(0x7f800000)) return fxm_far(x, q, low);
		q = 0;
		return x - x;
	}
	float n = __builtin_rintf(x * 0x1.45f306p-1f);
	q = (int)n;
	float h = fxm_fma(n, -0x1.921fb6p+0f, x);
	float r = fxm_fma(n, 0x1.ee59dap-50f, fxm_fma(n, 0x1.777a5cp-25f, h));
	float p = n * 0x1.777a5cp-25f, s = h + p, part = s - h;
	float rest = ((h - (s - part)) + (p - part)) + fxm_fma(n, 0x1.ee59dap-50f, fxm_fma(n, 0x1.777a5cp-25f, -p));
	low = q == 0 ? 0.0f : (s - r) + rest;
	return q == 0 ? x : r;
}

FXM float fxm_sine(float r) {
	float z = r * r;
	return fxm_fma(r * z, fxm_poly(z, -0x1.555556p-3f, 0x1.111166p-7f, -0x1.a04a46p-13f, 0x1.784d2cp-19f), r);
}

FXM float fxm_cosine(float r) {
	float z = r * r;
	return fxm_fma(z * z, fxm_poly(z, 0x1.555556p-5f, -0x1.6c175p-10f, 0x1.a063d6p-16f, -0x1.32b7c8p-22f), fxm_fma(-0.5f, z, 1.0f));
}

FXM float fxm_turned(float r, int q) {
	float y = q & 1 ? fxm_cosine(r) : fxm_sine(r);
	return q & 2 ? -y : y;
}

FXM float fxm_sin(float x) {
	int q;
	float low, r = fxm_quarter(x, q, low);
	return x == 0.0f ? x : fxm_turned(r, q);
}

FXM float fxm_cos(float x) {
	int q;
	float low, r = fxm_quarter(x, q, low);
	return fxm_turned(r, q + 1);
}

// fxm_tan keeps what the tangent of r rounds off, which its reciprocal would enlarge.
FXM float fxm_tan(float x) {
	int q;
	float l, r = fxm_quarter(x, q, l), z = r * r;
	float v = r * z * fxm_poly(z, 0x1.555562p-2f, 0x1.110d22p-3f, 0x1.baee7ap-5f, 0x1.5bf24ep-6f, 0x1.66e1b4p-7f, -0x1.e2bbf6p-15f, 0x1.238e42p-8f);
	v = fxm_fma(l, 1.0f + z, v);
	float t = r + v, low = (r - t) + v, y = -1.0f / t;
	y = fxm_fma(y, fxm_fma(y, t, 1.0f) + y * low, y);
	return x == 0.0f ? x : q & 1 ? y : t;
}

FXM float fxm_atan(float x) {
	float a = fxm_abs(x), t = a > 1.0f ? 1.0f / a : a, z = t * t;
	float p = fxm_poly(z, -0x1.55555p-2f, 0x1.9997ap-3f, -0x1.24707ep-3f, 0x1.c4ce16p-4f, -0x1.686920p-4f, 0x1.131292p-4f, -0x1.6b3b0ap-5f, 0x1.6c9586p-6f, -0x1.d6fd2ap-8f, 0x1.1d4516p-10f);
	p = fxm_fma(t * z, p, t);
	return fxm_sign(a > 1.0f ? 0x1.921fb6p+0f - (p + 0x1.777a5cp-25f) : p, x);
}

FXM float fxm_tanh(float x) {
	float a = fxm_abs(x), z = x * x;
	float p = fxm_poly(z, -0x1.555554p-2f, 0x1.111096p-3f, -0x1.b9fb2p-5f, 0x1.643594p-6f, -0x1.0fe4c4p-7f, 0x1.29d972p-9f);
	float large = 1.0f - 2.0f / (fxm_exp(a + a) + 1.0f);
	return fxm_sign(a < 0.55f ? fxm_fma(x * z, p, x) : large, x);
}

// fxm_logs is log(x) of x > 0 in two floats: 2 atanh((m - 1)/(m + 1)) + k ln 2, where the
// quotient, its square and the first term of the series have two parts. The first part of
// ln 2 has 16 bits, so that k of them are exact.
FXM float fxm_logs(float x, float &low) {
	int k;
	float f = fxm_split(x, k), d = 2.0f + f, below = f - (d - 2.0f), n = (float)k;
	float s = f / d, sl = (fxm_fma(-s, d, f) - s * below) / d;
	float z = s * s, zl = fxm_fma(s, s, -z) + 2.0f * s * sl;
	float u = z * fxm_poly(z, 0x1.999a04p-3f, 0x1.245106p-3f, 0x1.dfe41p-4f);
	float p = 0x1.555556p-2f + u, pl = (0x1.555556p-2f - p) + u - 0x1.555556p-27f;
	float w = z * p, wl = fxm_fma(z, p, -w) + (z * pl + zl * p);
	float v = s * w, vl = fxm_fma(s, w, -v) + (s * wl + sl * w);
	float h = s + v, l = ((s - h) + v) + (sl + vl);
	h += h, l += l;
	float all = fxm_fma(n, 0x1.62e4p-1f, h), rest = (fxm_fma(n, 0x1.62e4p-1f, -all) + h) + fxm_fma(n, 0x1.7f7d1cp-20f, l);
	float y = all + rest;
	low = (all - y) + rest;
	return y;
}

FXM float fxm_pow(float x, float y) {
	const float inf = __uint_as_float(0x7f800000);
	float a = fxm_abs(x), b = fxm_abs(y), low;
	float l = fxm_logs(a, low), h = y * l;
	float r = fxm_scaled(h, fxm_abs(h) < 200.0f ? fxm_fma(y, l, -h) + y * low : 0.0f);
	bool whole = __builtin_truncf(y) == y, odd = whole && b < 0x1p24f && __builtin_truncf(0.5f * y) != 0.5f * y;
	r = a == 0.0f || a == inf ? ((a == 0.0f) == (y < 0.0f) ? inf : 0.0f) : r;
	r = b == inf ? (a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? inf : 0.0f) : r;
	r = __float_as_uint(x) >> 31 && odd ? -r : r;
	r = x < 0.0f && a < inf && !whole ? __uint_as_float(0x7fc00000) : r;
	r = x != x || y != y ? x + y : r;
	return x == 1.0f || y == 0.0f ? 1.0f : r;
}

// fxm_mantissa takes the bits of a number other than zero as 24 bits of whole number and an
// exponent, which is not positive where the number is subnormal.
FXM unsigned fxm_mantissa(unsigned u, int &e) {
	unsigned m = u & 0x7fffff;
	e = (int)(u >> 23);
	if (e != 0) return m | 0x800000;
	int shift = __builtin_clz(m) - 8;
	e = 1 - shift;
	return m << shift;
}

// fxm_long divides as on paper, eight bits at a time.
FXM float fxm_long(float a, float b) {
	int e, to;
	unsigned m = fxm_mantissa(__float_as_uint(a), e), n = fxm_mantissa(__float_as_uint(b), to);
	m %= n;
	for (e -= to; e > 0 && m != 0; e -= 8) m = (m << (e < 8 ? e : 8)) % n;
	if (m == 0) return 0.0f;
	int shift = __builtin_clz(m) - 8;
	m <<= shift;
	to -= shift;
	return __uint_as_float(to > 0 ? (m & 0x7fffff) | (unsigned)to << 23 : m >> (1 - to));
}

// fxm_fmod subtracts at once where the quotient has few bits: it may be one too large, and the
// difference is exact.
FXM float fxm_fmod(float x, float y) {
	const float inf = __uint_as_float(0x7f800000);
	float a = fxm_abs(x), b = fxm_abs(y), r = a;
	if (!(a < inf) || b != b || b == 0.0f) return __uint_as_float(0x7fc00000);
	if (a >= b) {
		float q = __builtin_truncf(a / b);
		if (q < 0x1p22f) {
			r = fxm_fma(-q, b, a);
			r = r < 0.0f ? r + b : r;
		} else {
			r = fxm_long(a, b);
		}
	}
	return fxm_sign(r, x);
}
