// float64.h has the constants and polynomials for floats of 64 bits, and what they have of their own.

// fxm_two_over_pi64 are 64 zero bits and 1216 bits of 2/pi.
FXM_TABLE unsigned long long fxm_two_over_pi64[20] = {0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
	0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
	0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

FXM unsigned long long fxm_part(int at) {
	unsigned long long t = fxm_two_over_pi64[at >> 6] << (at & 63);
	return at & 63 ? t | fxm_two_over_pi64[(at >> 6) + 1] >> (64 - (at & 63)) : t;
}

struct fxm_f64 : fxm_format<double, unsigned long long, long long, 53> {
	static constexpr double large = 710.0, small = -746.0, minusOne = -57.0;
	static constexpr double log2e = 0x1.71547652b82fep+0, log2elow = 0x1.777d0ffda0d24p-56, ln2 = 0x1.62e42fefa4p-1, ln2low = -0x1.8432a1b0e2634p-43;
	static constexpr double ln2short = ln2, ln2rest = ln2low, third = 0x1.5555555555555p-2, thirdlow = 0x1.5555555555555p-56;
	static constexpr unsigned long long root = 0x3fe6a09e667f3bcd;

	FXM double bend(double r) {
		return r * r * fxm_poly(r, 0x1p-1, 0x1.555555555555cp-3, 0x1.5555555555558p-5, 0x1.111111110e939p-7, 0x1.6c16c16c14f95p-10, 0x1.a01a01b4be162p-13,
			0x1.a01a01adbcf39p-16, 0x1.71ddecf49f9a2p-19, 0x1.27e4cb5435e90p-22, 0x1.af717e34249b3p-26, 0x1.1f8d4d394c852p-29);
	}

	// curve is log(1 + f) - f: by s = f/(2 + f) the logarithm is 2 atanh(s), and 2 s is f - s f.
	FXM double curve(double f) {
		double s = f / (2.0 + f), z = s * s;
		double r = z * fxm_poly(z, 0x1.5555555555555p-1, 0x1.9999999999d0bp-2, 0x1.249249243a17bp-2, 0x1.c71c724aadfa4p-3, 0x1.745ce200e71a2p-3,
			0x1.3b201b6b39f7fp-3, 0x1.0f680444993e4p-3, 0x1.0f0774c971d5ap-3);
		return -s * (f - r);
	}

	FXM double series(double z) {
		return fxm_poly(z, 0x1.9999999999995p-3, 0x1.2492492493165p-3, 0x1.c71c71c560163p-4, 0x1.745d18408353ap-4, 0x1.3b135f30b1418p-4, 0x1.11213548c6b1fp-4,
			0x1.de202fc135c97p-5, 0x1.ebaab9dc582fcp-5);
	}

	FXM double tanh(double x) {
		double z = x * x;
		double p = fxm_poly(z, -0x1.5555555555555p-2, 0x1.1111111111087p-3, -0x1.ba1ba1ba119c1p-5, 0x1.664f487fcb10ep-6, -0x1.226e34da03fc9p-7, 0x1.d6d3b33ac4d93p-9,
			-0x1.7da129f91a30fp-10, 0x1.353aafd5aa0edp-11, -0x1.f3626c373d29cp-13, 0x1.89493626c5ce3p-14, -0x1.125ce1739b018p-15, 0x1.ea0ad0b4c1b08p-18);
		return fxm_fma(x * z, p, x);
	}

	// far takes 192 bits of 2/pi, and keeps 128 of the product: those of the quarter and 126 of the rest.
	FXM double far(double x, int &q, double &low) {
		unsigned long long u = fxm_bits(x), m = (u & 0xfffffffffffffULL) | 1ULL << 52;
		int at = (int)(u >> 52 & 2047) - 1075 + 62;
		unsigned long long a = fxm_part(at), b = fxm_part(at + 64), c = fxm_part(at + 128);
		unsigned long long bottom = m * b, sum = bottom + __umul64hi(m, c), top = m * a + __umul64hi(m, b) + (sum < bottom ? 1 : 0);
		unsigned long long n = (top + (1ULL << 61)) >> 62;
		top -= n << 62;
		bool minus = top >> 63;
		if (minus) { sum = 0 - sum, top = ~top + (sum == 0 ? 1 : 0); }
		int zeros = top == 0 ? 64 : __builtin_clzll(top);
		if (zeros == 64) top = sum, sum = 0;
		else if (zeros > 0) top = top << zeros | sum >> (64 - zeros), sum <<= zeros;
		// The rest is top 2^-62-zeros, and sum further down: the upper 32 bits of top are exact.
		double scale = two(-62 - zeros), h = (double)(top >> 32) * 0x1p32, l = (double)(top & 0xffffffff) + (double)sum * 0x1p-64;
		double p = h + l;
		l = (h - p) + l;
		double r = p * 0x1.921fb54442d18p+0, rest = fxm_fma(p, 0x1.921fb54442d18p+0, -r) + fxm_fma(p, 0x1.1a62633145c07p-54, l * 0x1.921fb54442d18p+0);
		h = r + rest;
		l = (r - h) + rest;
		bool turn = minus != (x < 0.0);
		low = (turn ? -l : l) * scale;
		q = x < 0.0 ? -(int)n : (int)n;
		return (turn ? -h : h) * scale;
	}

	FXM double quarter(double x, int &q, double &low) {
		double a = abs(x);
		low = 0.0;
		if (a > 0x1p20) {
			if (a < infinity()) return far(x, q, low);
			q = 0;
			return x - x;
		}
		double n = fxm_rint(x * 0x1.45f306dc9c883p-1);
		q = (int)n;
		if (q == 0) return x;
		double h = fxm_fma(n, -0x1.921fb54442d18p+0, x), p = n * 0x1.1a62633145c07p-54, below = fxm_fma(n, 0x1.1a62633145c07p-54, -p);
		double r = h - p, part = r - h;
		double rest = (h - (r - part)) - (p + part);
		rest = fxm_fma(n, 0x1.f1976b7ed8fbcp-110, rest - below);
		h = r + rest;
		low = (r - h) + rest;
		return h;
	}

	// sine and cosine are of r + l, and give what they round off.
	FXM double sine(double r, double l, double &low) {
		double z = r * r;
		double v = r * z * fxm_poly(z, -0x1.5555555555555p-3, 0x1.1111111111089p-7, -0x1.a01a01a0065e3p-13, 0x1.71de3a3f6cd43p-19, -0x1.ae643c5f6e0fdp-26,
			0x1.61141639cfa34p-33, -0x1.a517477a45305p-41);
		v = fxm_fma(l, fxm_fma(-0.5, z, 1.0), v);
		double s = r + v;
		low = (r - s) + v;
		return s;
	}

	FXM double cosine(double r, double l, double &low) {
		double z = r * r, below = fxm_fma(r, r, -z), h = 0.5 * z, w = 1.0 - h;
		double v = z * z * fxm_poly(z, 0x1.5555555555555p-5, -0x1.6c16c16c16b49p-10, 0x1.a01a01a001fc2p-16, -0x1.27e4fb60db1f8p-22, 0x1.1eed77bce0d78p-29,
			-0x1.937e0d2c1bcd8p-37, 0x1.a224220d9f3cep-45);
		v = ((1.0 - w) - h) + (v - fxm_fma(r, l, 0.5 * below));
		double c = w + v;
		low = (w - c) + v;
		return c;
	}

	FXM double sine(double r, double l) { double low; return sine(r, l, low); }
	FXM double cosine(double r, double l) { double low; return cosine(r, l, low); }
};

FXM double fxm_tan(double x) {
	int q;
	double l, r = fxm_f64::quarter(x, q, l), sl, cl;
	double s = fxm_f64::sine(r, l, sl), c = fxm_f64::cosine(r, l, cl);
	bool odd = q & 1;
	double a = odd ? -c : s, al = odd ? -cl : sl, b = odd ? s : c, bl = odd ? sl : cl;
	double t = a / b;
	return x == 0.0 ? x : t + (fxm_fma(-t, b, a) + fxm_fma(-t, bl, al)) / b;
}

FXM double fxm_atan(double x) {
	double a = fxm_f64::abs(x), wide = a > 0x1p100 ? 0x1p100 : a;
	bool turn = a > 1.0;
	double t = turn ? 1.0 / wide : a, z = t * t;
	double below = turn ? fxm_fma(-t, wide, 1.0) * t / (1.0 + z) : 0.0;
	double p = fxm_poly(z, -0x1.5555555555554p-2, 0x1.999999999972dp-3, -0x1.249249248630bp-3, 0x1.c71c71c349714p-4, -0x1.745d16e897cf9p-4, 0x1.3b13ab553270bp-4,
		-0x1.1110cd7ab3cc9p-4, 0x1.e1dd692c0a008p-5, -0x1.af0b8acd5ef46p-5, 0x1.8586bc1b0e9bep-5, -0x1.61e457eff2fe0p-5, 0x1.404b4c9ce7ad3p-5, -0x1.1be18c06b4b03p-5,
		0x1.dfb494f1dd6bfp-6, -0x1.7516e54ac717cp-6, 0x1.00d1c2bf1f52bp-6, -0x1.2c57c429eddacp-7, 0x1.1d98101dfc030p-8, -0x1.a366c653ba0b4p-10, 0x1.bac5c01149c8bp-12,
		-0x1.297930a64420fp-14, 0x1.7cb5d4011bfd2p-18);
	double v = fxm_fma(t * z, p, below), h = 0x1.921fb54442d18p+0 - t;
	double other = h + (((0x1.921fb54442d18p+0 - h) - t) - v + 0x1.1a62633145c07p-54);
	return x != x ? x + x : fxm_f64::with(turn ? other : t + v, x);
}

// fxm_erf is x + x p(x²) below 1, and 1 - exp(-q(|x| - 2)) from there on.
FXM double fxm_erf(double x) {
	double a = fxm_f64::abs(x), z = x * x, u = (a > 6.0 ? 6.0 : a) - 2.0;
	double p = fxm_poly(z, 0x1.06eba8214db68p-3, -0x1.812746b0379b4p-2, 0x1.ce2f21a040a5ep-4, -0x1.b82ce311f49a9p-6, 0x1.565bccf8bd912p-8, -0x1.c02db035571f1p-11,
		0x1.f9a2ba5a675fap-14, -0x1.f4ca4de40ff53p-17, 0x1.b97ffcd589cc3p-20, -0x1.5c08c58c8ded0p-23, 0x1.d7298f0290a90p-27, -0x1.abe1004c263f1p-31);
	double q = fxm_poly(u, 0x1.575b329b1f516p+2, 0x1.1ac3258a8dc31p+2, 0x1.d8f5dece92419p-1, 0x1.0dc3b5fb0835bp-6, -0x1.d406b374f5184p-9, 0x1.7ffcfb4a48a01p-11,
		-0x1.1bc3a55c63f73p-13, 0x1.5b6571c6f2b60p-16, -0x1.0604e313670f7p-19, -0x1.b55052b7ef177p-23, 0x1.73f50a990fc56p-23, -0x1.f07e95e92a80cp-25,
		0x1.df4e0ef8a197ep-27, -0x1.5cc76375b1cddp-29, 0x1.2e06e04be5a95p-32, 0x1.767c54eeec5f3p-35, -0x1.48ce45e8b1635p-35, 0x1.66c2f4f79c474p-37,
		-0x1.29070d50efcb4p-40);
	return x != x ? x + x : fxm_f64::with(a < 1.0 ? fxm_fma(x, p, x) : 1.0 - fxm_exp<fxm_f64>(-q), x);
}
