// cuda.c: the functions of the CUDA driver, for tests. cuda.h says what it checks.
#include "cuda.h"

#include <dlfcn.h>
#include <limits.h>

int fake_push(void);
int fake_pop(void);

static thing *context; // the primary one
static long retained;

EXPORT int cuInit(unsigned flags) { (void)flags; return (int)fake_status_of_init; }
EXPORT int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
EXPORT int cuDeviceGetCount(int *n) { *n = (int)fake_devices; return 0; }
EXPORT int cuDeviceGet(int *id, int i) { *id = i; return 0; }
EXPORT int cuDeviceGetName(char *name, int n, int id) { snprintf(name, n, "Fake H%d", 100 + id); return 0; }
EXPORT int cuDeviceTotalMem_v2(size_t *n, int id) { (void)id; *n = fake_device_memory; return 0; }

EXPORT int cuDeviceGetAttribute(int *v, int what, int id) {
	(void)id;
	switch (what) {
	case 1: *v = 1024; return 0;
	case 8: *v = 48 << 10; return 0;
	case 16: *v = 132; return 0;
	case 20: *v = fake_devices == 3 && id == 1 ? 2 : 0; return 0; // of three, the second may not be used
	case 75: *v = 9; return 0;
	case 76: *v = 0; return 0;
	}
	fake_fault("an attribute that nobody should ask for");
	return 1;
}

EXPORT int cuGetErrorName(int code, const char **name) {
	switch (code) {
	case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
	case 100: *name = "CUDA_ERROR_NO_DEVICE"; return 0;
	case 218: *name = "CUDA_ERROR_INVALID_PTX"; return 0;
	case 222: *name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"; return 0;
	case 500: *name = "CUDA_ERROR_NOT_FOUND"; return 0;
	case 719: *name = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
	}
	*name = NULL;
	return 1;
}

EXPORT int cuDevicePrimaryCtxRetain(void **out, int id) {
	(void)id;
	CALL(0);
	if (fake_lost) { result = (int)fake_lose_code; goto end; }
	if (retained++ == 0) context = fake_make(CONTEXT, sizeof *context);
	*out = context;
	DONE;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int id) {
	(void)id;
	CALL(0);
	if (retained == 0) { fake_fault("a context that is not retained is released"); result = 201; goto end; }
	if (--retained == 0) {
		if (fake_lost) fake_forget_all();
		fake_end(context);
	}
	DONE;
}

EXPORT int cuCtxPushCurrent_v2(void *c) {
	CALL(0);
	result = fake_is(c, CONTEXT) ? fake_push() : 201;
	DONE;
}

EXPORT int cuCtxPopCurrent_v2(void **c) {
	CALL(0);
	*c = context;
	result = fake_pop();
	DONE;
}

EXPORT int cuCtxSynchronize(void) { CALL(1); DONE; }

EXPORT int cuMemAlloc_v2(address *at, size_t bytes) {
	CALL(1);
	if (fake_used + (long)bytes > fake_device_memory) { result = 2; goto end; }
	memory *m = fake_make(MEMORY, sizeof *m);
	m->bytes = bytes;
	m->at = aligned_alloc(256, (bytes + 255) / 256 * 256);
	memset(m->at, 0xEE, bytes); // floats of it are wrong enough to be seen
	fake_used += bytes;
	*at = (address)m->at;
	DONE;
}

EXPORT int cuMemFree_v2(address at) {
	CALL(1);
	memory *m = fake_find(at, 1, MEMORY);
	if (!m || (address)m->at != at) { fake_fault("memory that is not allocated is freed"); result = 1; goto end; }
	if (fake_pending(at, m->bytes, NULL)) fake_fault("memory is freed that commands will use");
	fake_used -= m->bytes;
	free(m->at);
	fake_end(m);
	DONE;
}

EXPORT int cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
	(void)flags;
	CALL(1);
	memory *m = fake_make(PINNED, sizeof *m);
	m->bytes = bytes;
	*p = m->at = malloc(bytes);
	DONE;
}

EXPORT int cuMemFreeHost(void *p) {
	CALL(1);
	memory *m = fake_find((address)p, 1, PINNED);
	if (!m) { fake_fault("host memory that is not allocated is freed"); result = 1; goto end; }
	if (fake_pending((address)p, m->bytes, NULL)) fake_fault("host memory is freed that commands will use");
	free(m->at);
	fake_end(m);
	DONE;
}

static int copy(stream *s, address to, int to_kind, address from, int from_kind, size_t bytes) {
	if (!fake_is(s, STREAM)) return 400;
	if (!fake_find(to, bytes, to_kind) || !fake_find(from, bytes, from_kind)) {
		fake_fault("a copy of memory that is not allocated, or beyond its end");
		return 1;
	}
	command *o = fake_add(s);
	o->what = COPY, o->to = (char *)to, o->from = (char *)from, o->bytes = bytes;
	return 0;
}

EXPORT int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, stream *s) {
	CALL(1);
	result = copy(s, to, MEMORY, (address)from, PINNED, bytes);
	DONE;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, stream *s) {
	CALL(1);
	result = copy(s, (address)to, PINNED, from, MEMORY, bytes);
	DONE;
}
EXPORT int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, stream *s) {
	CALL(1);
	result = copy(s, to, MEMORY, from, MEMORY, bytes);
	DONE;
}

static int refuse(int code, const char *why, unsigned n, const int *options, void **values) {
	for (unsigned i = 0; i < n; i++)
		if (options[i] == 5) snprintf(values[i], (size_t)values[i + 1], "%s", why);
	return code;
}

EXPORT int cuModuleLoadDataEx(module **out, const char *image, unsigned n, const int *options, void **values) {
	CALL(1);
	char path[1024] = "";
	int arch = 0;
	const char *target = strstr(image, ".target sm_"), *machine = strstr(image, ".target machine_"), *host = strstr(image, "// host ");
	if (target && fake_refuse_ptx) { result = refuse(222, "PTX of a newer version", n, options, values); goto end; }
	if (target) sscanf(target, ".target sm_%d", &arch);
	if (machine) sscanf(machine, ".target machine_%d", &arch);
	if (arch == 0 || arch > 90 || !host || sscanf(host, "// host %1000s", path) != 1) {
		result = refuse(218, "no version, target or code", n, options, values);
		goto end;
	}
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) { result = refuse(200, dlerror(), n, options, values); goto end; }
	module *m = fake_make(MODULE, sizeof *m);
	static const char entry[] = ".visible .entry ";
	int functions = 0;
	for (const char *at = image; (at = strstr(at, entry)); at++) functions++;
	m->list = calloc(functions + 1, sizeof *m->list);
	for (const char *at = image; (at = strstr(at, entry)); at++) {
		function *f = &m->list[m->n++];
		sscanf(at, ".visible .entry %79[^(](%d", f->name, &f->params);
		f->code = dlsym(lib, f->name);
		f->run = (int (*)(void *, int, const address *, const unsigned *, const unsigned *))dlsym(lib, "fx_run");
	}
	*out = m;
	DONE;
}

EXPORT int cuModuleUnload(module *m) {
	CALL(1);
	if (!fake_is(m, MODULE)) { result = 400; goto end; }
	for (int i = 0; i < m->n; i++) {
		if (fake_pending(0, 0, m->list[i].code)) fake_fault("a module is unloaded whose kernels will run");
		m->list[i].run = NULL;
	}
	fake_end(m);
	DONE;
}

EXPORT int cuModuleGetFunction(function **out, module *m, const char *name) {
	CALL(1);
	result = 500;
	if (!fake_is(m, MODULE)) result = 400;
	for (int i = 0; result == 500 && i < m->n; i++)
		if (strcmp(m->list[i].name, name) == 0) {
			*out = &m->list[i];
			result = 0;
		}
	DONE;
}

EXPORT int cuFuncGetParamInfo(function *f, size_t i, size_t *offset, size_t *size) {
	CALL(1);
	*offset = 8 * i, *size = 8;
	if ((int)i >= f->params) result = 1;
	DONE;
}

EXPORT int cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s, void **params, void **extra) {
	CALL(1);
	if (!fake_is(s, STREAM)) { result = 400; goto end; }
	if (!f->run) { fake_fault("a kernel of a module that is unloaded"); result = 400; goto end; }
	if (gx == 0 || gx > INT_MAX || gy == 0 || gy > 65535 || gz == 0 || gz > 65535 || bx * by * bz == 0 || bz > 64 || shared != 0 || extra || f->params > 63) { result = 1; goto end; }
	if ((uint64_t)bx * by * bz > 1024) { result = 701; goto end; }
	command *o = fake_add(s);
	o->what = LAUNCH, o->f = *f;
	for (int i = 0; i < f->params; i++) o->args[i] = *(address *)params[i];
	o->grid[0] = gx, o->grid[1] = gy, o->grid[2] = gz, o->block[0] = bx, o->block[1] = by, o->block[2] = bz;
	DONE;
}
