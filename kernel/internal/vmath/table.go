package vmath

// expTable has 2**(j/16), and the error of rounding it to f32.
var expTable = [2][tableWide]float32{
	{1, 0x1.0b5586p+0, 0x1.172b84p+0, 0x1.2387a6p+0, 0x1.306fep+0, 0x1.3dea64p+0, 0x1.4bfdaep+0, 0x1.5ab07ep+0,
		0x1.6a09e6p+0, 0x1.7a1148p+0, 0x1.8ace54p+0, 0x1.9c4918p+0, 0x1.ae89fap+0, 0x1.c199bep+0, 0x1.d5818ep+0, 0x1.ea4afap+0},
	{0, 0x1.9f3122p-25, -0x1.c15742p-27, 0x1.ceac48p-25, 0x1.4636e2p-25, 0x1.824684p-25, -0x1.593abcp-25, -0x1.5bd5ecp-27,
		0x1.9fcef4p-26, -0x1.829fdp-25, 0x1.15506ep-27, 0x1.51f848p-27, -0x1.a94b14p-26, -0x1.3d56b2p-27, -0x1.822dbcp-27, 0x1.52486cp-27},
}

// Tables of functions that are polynomials on each of up to 16 intervals, which
// the leading bits of the argument tell apart. The rows are the interval's
// centre, the function there and the coefficients of the powers 1 to 6 of the
// distance to the centre. The centres are such that the function is within a
// hundredth of a unit in the last place of the value in the row, so that the
// rest alone is rounded twice. Interval 0 reaches to zero: it adds to the
// argument. The polynomials are weighted minimax fits whose coefficients were
// rounded to f32 one after the other, the remaining ones fitted again each
// time.

// tableWide is the number of intervals, tableRows the number of values of each.
const tableWide, tableRows = 16, 8

// tanhTable has two intervals an octave from 0.28125 on, and is 1 from 9 on; the
// fits are within 0.27 units in the last place.
var tanhTable = [tableRows][tableWide]float32{
	{0, 0x1.602b4ap-2, 0x1.efea48p-2, 0x1.5ffc7cp-1, 0x1.f070ep-1, 0x1.5fef1ep+0, 0x1.efe956p+0, 0x1.5f7744p+1,
		0x1.f01ec6p+1, 0x1.5fe8bep+2, 0x1.f09c4p+2, 0x1.2p+3, 0x1.2p+3, 0x1.2p+3, 0x1.2p+3, 0x1.2p+3},
	{0, 0x1.52e952p-2, 0x1.cc7776p-2, 0x1.31559cp-1, 0x1.7f3fc4p-1, 0x1.c27104p-1, 0x1.eb2a62p-1, 0x1.fbcc22p-1,
		0x1.ff8f58p-1, 0x1.fffb9cp-1, 0x1.fffff4p-1, 1, 1, 1, 1, 1},
	{0x1.58d3b6p-27, 0x1.c7ea62p-1, 0x1.98785p-1, 0x1.49e974p-1, 0x1.c24024p-2, 0x1.cedce8p-3, 0x1.46917cp-4, 0x1.0bdd9ep-6,
		0x1.c27736p-10, 0x1.196402p-14, 0x1.86e9d8p-21, 0, 0, 0, 0, 0},
	{-0x1.597ce8p-19, -0x1.2dc97ep-2, -0x1.6f5b64p-2, -0x1.897d76p-2, -0x1.51071p-2, -0x1.97365ep-3, -0x1.39478p-4, -0x1.09a9d2p-6,
		-0x1.c211ecp-10, -0x1.194668p-14, -0x1.ac357ap-21, 0, 0, 0, 0, 0},
	{-0x1.5538b2p-2, -0x1.982208p-3, -0x1.ac927ep-4, 0x1.d699fap-7, 0x1.98c35cp-4, 0x1.97fe98p-4, 0x1.7f69c8p-5, 0x1.5c360ap-7,
		0x1.2ac94cp-10, 0x1.70036ap-15, 0x1.01b72cp-21, 0, 0, 0, 0, 0},
	{-0x1.c11ccap-10, 0x1.50452p-3, 0x1.55360ap-3, 0x1.e98dcap-4, 0x1.1ed68ap-5, -0x1.5dab58p-6, -0x1.3de972p-6, -0x1.50e62ap-8,
		-0x1.29da36p-11, -0x1.70f3b6p-16, -0x1.152cd4p-23, 0, 0, 0, 0, 0},
	{0x1.2a2b94p-3, 0x1.0cff7ep-5, -0x1.3d8f7cp-6, -0x1.f0ee18p-5, -0x1.95af5ap-5, -0x1.44d75p-7, 0x1.2f178ep-8, 0x1.01275p-9,
		0x1.f84e6ap-13, 0x1.606e3ap-17, 0x1.e9ebe4p-24, 0, 0, 0, 0, 0},
	{-0x1.50e9fp-5, -0x1.261642p-4, -0x1.9b79p-5, -0x1.83881ap-7, 0x1.239a78p-6, 0x1.6914bep-7, 0x1.2f467p-12, -0x1.1e332ap-11,
		-0x1.4a22a2p-14, -0x1.d07e2cp-19, -0x1.62b136p-24, 0, 0, 0, 0, 0},
}

// erfTable has four intervals an octave from 0.3125 to 4; the fits are within
// 0.18 units in the last place.
var erfTable = [tableRows][tableWide]float32{
	{0, 0x1.600e8ep-2, 0x1.9f6744p-2, 0x1.e0639ep-2, 0x1.20486ap-1, 0x1.5faa2p-1, 0x1.9f6956p-1, 0x1.e0296ep-1,
		0x1.20749ep+0, 0x1.5f830ap+0, 0x1.9fd8bap+0, 0x1.e08cd4p+0, 0x1.205e7ep+1, 0x1.606f7ep+1, 0x1.a0502cp+1, 0x1.df38dp+1},
	{0, 0x1.7e242cp-2, 0x1.bc3dc4p-2, 0x1.f8c9e2p-2, 0x1.25f43p-1, 0x1.5655d6p-1, 0x1.7f61dp-1, 0x1.a16882p-1,
		0x1.c724e8p-1, 0x1.e54bdcp-1, 0x1.f4f04p-1, 0x1.fbef88p-1, 0x1.ff42f6p-1, 0x1.fff312p-1, 0x1.ffff72p-1, 0x1.fffffcp-1},
	{0x1.06ebaap-3, 0x1.00a94ep+0, 0x1.ea10fep-1, 0x1.cf99dp-1, 0x1.a4c44ep-1, 0x1.6873p-1, 0x1.2b1c9ap-1, 0x1.df815ep-2,
		0x1.449bf8p-2, 0x1.5ebad4p-3, 0x1.4a41cp-4, 0x1.1099cp-5, 0x1.ce0a12p-8, 0x1.2daf34p-11, 0x1.e20d76p-16, 0x1.ef7d16p-21},
	{-0x1.951468p-19, -0x1.60f762p-2, -0x1.8d9b9ep-2, -0x1.b2fa66p-2, -0x1.d9d3dcp-2, -0x1.ef2536p-2, -0x1.e55e7p-2, -0x1.c1b016p-2,
		-0x1.6dc356p-2, -0x1.e195bp-3, -0x1.0c3c18p-3, -0x1.ffb63cp-5, -0x1.043ab8p-6, -0x1.9f52eap-10, -0x1.87f1c6p-14, -0x1.cfa1dcp-19},
	{-0x1.810a3ep-2, -0x1.0588dp-2, -0x1.b648ccp-3, -0x1.5a18dap-3, -0x1.9ab0b2p-4, -0x1.b336c8p-7, 0x1.f924c8p-5, 0x1.e54474p-4,
		0x1.4d19ep-3, 0x1.43ef3ap-3, 0x1.d6e12p-4, 0x1.12c1c8p-4, 0x1.60611cp-6, 0x1.63c2c6p-9, 0x1.939c12p-13, 0x1.151832p-17},
	{-0x1.8368f2p-10, 0x1.451dc8p-3, 0x1.61e7cap-3, 0x1.72db3cp-3, 0x1.75a946p-3, 0x1.53748cp-3, 0x1.104f06p-3, 0x1.7413f2p-4,
		0x1.c16adap-6, -0x1.eef0d2p-6, -0x1.973b9cp-5, -0x1.593238p-5, -0x1.364288p-6, -0x1.a4bc3cp-9, -0x1.27c52p-12, -0x1.e1fbb4p-17},
	{0x1.f2ab32p-4, 0x1.d93362p-3, 0x1.826dacp-8, 0x1.23947ep-5, -0x1.b92cc6p-8, -0x1.28b254p-5, -0x1.08312p-4, -0x1.1ec47ap-4,
		-0x1.f2a358p-5, -0x1.fb994ap-6, -0x1.32b748p-9, 0x1.7513b8p-7, 0x1.593508p-7, 0x1.6ddbc6p-9, 0x1.585822p-12, 0x1.5ec694p-16},
	{-0x1.987c1cp-6, -0x1.421e6ap-7, 0x1.7a1d88p-6, 0x1.fb102ap-4, -0x1.62927ap-5, -0x1.4537e8p-5, -0x1.9a059ap-7, -0x1.0213a2p-8,
		0x1.faec92p-7, 0x1.6b2db2p-6, 0x1.d6defap-7, 0x1.0fe5b2p-8, -0x1.6b0848p-9, -0x1.b546f4p-10, -0x1.1febd4p-12, -0x1.64e7eep-16},
}
