// float32.h has the constants and polynomials for floats of 32 bits, and what they have of their
// own; nothing is computed with wider ones.

// fxm_two_over_pi are 32 zero bits and 224 bits of 2/pi.
FXM_TABLE unsigned fxm_two_over_pi[8] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

struct fxm_f32 : fxm_format<float, unsigned, int, 24> {
	static constexpr float large = 89.0f, small = -104.0f, minusOne = -26.0f; // beyond them exp and expm1 are 0, infinite, -1
	static constexpr float log2e = 0x1.715476p+0f, log2elow = 0x1.4ae0cp-26f, ln2 = 0x1.62e43p-1f, ln2low = -0x1.05c61p-29f;
	static constexpr float ln2short = 0x1.62e4p-1f, ln2rest = 0x1.7f7d1cp-20f, third = 0x1.555556p-2f, thirdlow = -0x1.555556p-27f;
	static constexpr unsigned root = 0x3f3504f3; // of 1/2

	// bend is exp(r) - 1 - r for |r| up to ln(2)/2.
	FXM float bend(float r) {
		return r * r * fxm_poly(r, 0x1p-1f, 0x1.555556p-3f, 0x1.5554ep-5f, 0x1.110ffp-7f, 0x1.6d56f2p-10f, 0x1.a26eap-13f);
	}

	// curve is log(1 + f) - f.
	FXM float curve(float f) {
		float z = f * f;
		float p = fxm_poly(f, 0x1.555546p-2f, -0x1.00000ap-2f, 0x1.99a546p-3f, -0x1.555ae4p-3f, 0x1.232cfap-3f, -0x1.fc4dap-4f, 0x1.e7a54ep-4f, -0x1.dd651p-4f, 0x1.11c874p-4f);
		return fxm_fma(f * z, p, -0.5f * z);
	}

	// series is the rest of atanh: 1/5 + z/7 ...
	FXM float series(float z) { return fxm_poly(z, 0x1.999a04p-3f, 0x1.245106p-3f, 0x1.dfe41p-4f); }

	// tanh is that of |x| up to 0.55.
	FXM float tanh(float x) {
		float z = x * x, p = fxm_poly(z, -0x1.555554p-2f, 0x1.111096p-3f, -0x1.b9fb2p-5f, 0x1.643594p-6f, -0x1.0fe4c4p-7f, 0x1.29d972p-9f);
		return fxm_fma(x * z, p, x);
	}

	// far reduces large x (Payne and Hanek): of the bits of 2/pi those whose product by x is no
	// multiple of four turns' quarters, 96 of them, give the quarter and 62 bits of the rest.
	FXM float far(float x, int &q, float &low) {
		unsigned u = fxm_bits(x), m = (u & 0x7fffff) | 0x800000;
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

	// quarter takes x as q pi/2 + r + low with |r| up to pi/4. Up to 2^16 three parts of pi/2
	// do (Cody and Waite): by fma the first difference is exact. Who does not use low does not pay.
	FXM float quarter(float x, int &q, float &low) {
		float a = abs(x);
		low = 0.0f;
		if (a > 65536.0f) {
			if (a < infinity()) return far(x, q, low);
			q = 0;
			return x - x;
		}
		float n = fxm_rint(x * 0x1.45f306p-1f);
		q = (int)n;
		float h = fxm_fma(n, -0x1.921fb6p+0f, x);
		float r = fxm_fma(n, 0x1.ee59dap-50f, fxm_fma(n, 0x1.777a5cp-25f, h));
		float p = n * 0x1.777a5cp-25f, s = h + p, part = s - h;
		float rest = ((h - (s - part)) + (p - part)) + fxm_fma(n, 0x1.ee59dap-50f, fxm_fma(n, 0x1.777a5cp-25f, -p));
		low = q == 0 ? 0.0f : (s - r) + rest;
		return q == 0 ? x : r;
	}

	// sine and cosine take no account of low, which rounds off less than they do.
	FXM float sine(float r, float) {
		float z = r * r;
		return fxm_fma(r * z, fxm_poly(z, -0x1.555556p-3f, 0x1.111166p-7f, -0x1.a04a46p-13f, 0x1.784d2cp-19f), r);
	}

	FXM float cosine(float r, float) {
		float z = r * r;
		return fxm_fma(z * z, fxm_poly(z, 0x1.555556p-5f, -0x1.6c175p-10f, 0x1.a063d6p-16f, -0x1.32b7c8p-22f), fxm_fma(-0.5f, z, 1.0f));
	}
};

// fxm_tan keeps what the tangent of r rounds off, which its reciprocal would enlarge.
FXM float fxm_tan(float x) {
	int q;
	float l, r = fxm_f32::quarter(x, q, l), z = r * r;
	float v = r * z * fxm_poly(z, 0x1.555562p-2f, 0x1.110d22p-3f, 0x1.baee7ap-5f, 0x1.5bf24ep-6f, 0x1.66e1b4p-7f, -0x1.e2bbf6p-15f, 0x1.238e42p-8f);
	v = fxm_fma(l, 1.0f + z, v);
	float t = r + v, low = (r - t) + v, y = -1.0f / t;
	y = fxm_fma(y, fxm_fma(y, t, 1.0f) + y * low, y);
	return x == 0.0f ? x : q & 1 ? y : t;
}

FXM float fxm_atan(float x) {
	float a = fxm_f32::abs(x), t = a > 1.0f ? 1.0f / a : a, z = t * t;
	float p = fxm_poly(z, -0x1.55555p-2f, 0x1.9997ap-3f, -0x1.24707ep-3f, 0x1.c4ce16p-4f, -0x1.686920p-4f, 0x1.131292p-4f, -0x1.6b3b0ap-5f, 0x1.6c9586p-6f, -0x1.d6fd2ap-8f, 0x1.1d4516p-10f);
	p = fxm_fma(t * z, p, t);
	return fxm_f32::with(a > 1.0f ? 0x1.921fb6p+0f - (p + 0x1.777a5cp-25f) : p, x);
}
