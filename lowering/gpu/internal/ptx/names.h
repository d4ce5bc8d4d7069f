// names.h gives the functions of common.h the names fxm_exp and so on for both formats, and all
// functions the names that CUDA C has for them.
#define FX_ONE(f) \
	FXM float fxm_##f(float x) { return fxm_##f<fxm_f32>(x); } \
	FXM double fxm_##f(double x) { return fxm_##f<fxm_f64>(x); }
#define FX_TWO(f) \
	FXM float fxm_##f(float x, float y) { return fxm_##f<fxm_f32>(x, y); } \
	FXM double fxm_##f(double x, double y) { return fxm_##f<fxm_f64>(x, y); }
FX_ONE(exp) FX_ONE(expm1) FX_ONE(log) FX_ONE(log2) FX_ONE(log1p) FX_ONE(sin) FX_ONE(cos) FX_ONE(tanh)
FX_TWO(pow) FX_TWO(fmod)
#undef FX_ONE
#undef FX_TWO
#ifdef __CUDA__
#define FX_ONE(f) \
	FXM float f(float x) { return fxm_##f(x); } \
	FXM double f(double x) { return fxm_##f(x); }
#define FX_TWO(f) \
	FXM float f(float x, float y) { return fxm_##f(x, y); } \
	FXM double f(double x, double y) { return fxm_##f(x, y); }
FX_ONE(exp) FX_ONE(expm1) FX_ONE(log) FX_ONE(log2) FX_ONE(log1p) FX_ONE(sin) FX_ONE(cos) FX_ONE(tan) FX_ONE(atan) FX_ONE(tanh)
FX_TWO(pow) FX_TWO(fmod)
FXM double erf(double x) { return fxm_erf(x); }
#undef FX_ONE
#undef FX_TWO
#endif
