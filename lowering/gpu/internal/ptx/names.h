// names.h gives the functions of float32.h and float64.h the names that CUDA C has for them.
#define FX_ONE(f) \
	static __device__ inline float f(float x) { return fxm_##f(x); } \
	static __device__ inline double f(double x) { return fxm_##f(x); }
#define FX_TWO(f) \
	static __device__ inline float f(float x, float y) { return fxm_##f(x, y); } \
	static __device__ inline double f(double x, double y) { return fxm_##f(x, y); }
FX_ONE(exp) FX_ONE(expm1) FX_ONE(log) FX_ONE(log2) FX_ONE(log1p) FX_ONE(sin) FX_ONE(cos) FX_ONE(tan) FX_ONE(atan) FX_ONE(tanh)
FX_TWO(pow) FX_TWO(fmod)
#undef FX_ONE
#undef FX_TWO
static __device__ inline double erf(double x) { return fxm_erf(x); }
