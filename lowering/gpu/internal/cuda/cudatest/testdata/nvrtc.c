// nvrtc.c is an NVRTC for tests: it compiles CUDA C for the processor with the
// system's C++ compiler and host.h, and gives "PTX" that names the library and its
// kernels, which the driver of cuda.c runs. Any number of threads may compile at once.
#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	char *source, *log, *ptx;
	int arch, machine;
} program;

static atomic_int compiled, live, calls;
static char cxx[256], dir[768];

// fake_configure names the compiler, and the folder of host.h and of what is built.
void fake_configure(const char *compiler, const char *folder) {
	snprintf(cxx, sizeof cxx, "%s", compiler);
	snprintf(dir, sizeof dir, "%s", folder);
}

int fake_nvrtc_compiled(void) { return compiled; }
int fake_nvrtc_live(void) { return live; }

int nvrtcVersion(int *major, int *minor) { *major = 12, *minor = 6; return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 4; return 0; }
int nvrtcGetSupportedArchs(int *archs) { archs[0] = 50, archs[1] = 75, archs[2] = 80, archs[3] = 90; return 0; }

int nvrtcCreateProgram(program **out, const char *source, const char *name, int headers, const char *const *h, const char *const *names) {
	(void)name, (void)h, (void)names;
	if (headers != 0) return 3;
	*out = calloc(1, sizeof **out);
	(*out)->source = strdup(source);
	live++;
	return 0;
}

int nvrtcDestroyProgram(program **p) {
	free((*p)->source), free((*p)->log), free((*p)->ptx), free(*p);
	*p = NULL;
	live--;
	return 0;
}

static char *slurp(const char *path) {
	FILE *f = fopen(path, "rb");
	if (!f) return strdup("");
	char *text = NULL;
	size_t n = 0, got;
	do {
		text = realloc(text, n + 65537);
		got = fread(text + n, 1, 65536, f);
		n += got;
	} while (got > 0);
	text[n] = 0;
	fclose(f);
	return text;
}

// entries lists the kernels of preprocessed source with the number of their parameters.
static void entries(const char *text, FILE *out) {
	for (const char *at = text; (at = strstr(at, "fx_kernel_mark")); at++) {
		const char *v = strstr(at, "void ");
		if (!v) break;
		v += 5;
		while (isspace((unsigned char)*v)) v++;
		const char *end = v;
		while (isalnum((unsigned char)*end) || *end == '_') end++;
		const char *p = strchr(end, '(');
		if (!p) break;
		int depth = 0, params = 0, any = 0;
		for (; *p; p++) {
			if (*p == '(') depth++;
			else if (*p == ')') { if (--depth == 0) break; }
			else if (*p == ',' && depth == 1) params++;
			else if (!isspace((unsigned char)*p)) any = 1;
		}
		fprintf(out, ".visible .entry %.*s(%d\n", (int)(end - v), v, any ? params + 1 : 0);
	}
}

int nvrtcCompileProgram(program *p, int n, const char *const *options) {
	int contracted = 1;
	for (int i = 0; i < n; i++) {
		if (sscanf(options[i], "--gpu-architecture=compute_%d", &p->arch) == 1) continue;
		if (sscanf(options[i], "--gpu-architecture=sm_%d", &p->arch) == 1) { p->machine = 1; continue; }
		if (strcmp(options[i], "--fmad=false") == 0) { contracted = 0; continue; }
		p->log = strdup("unknown option");
		return 5;
	}
	if (!*cxx || !*dir || contracted) return 5;
	char base[1024], path[1100], command[8192];
	snprintf(base, sizeof base, "%s/k%d", dir, ++calls);
	snprintf(path, sizeof path, "%s.cu", base);
	FILE *f = fopen(path, "wb");
	fputs(p->source, f);
	fclose(f);
	snprintf(command, sizeof command,
		"%s -x c++ -std=c++17 -E -P -D__global__=fx_kernel_mark '-D__launch_bounds__(...)=' %s.cu >%s.i 2>%s.log && "
		"%s -x c++ -std=c++17 -O1 -w -fwrapv -fno-strict-aliasing -ffp-contract=off -shared -fPIC -include %s/host.h -o %s.so %s.cu 2>%s.log",
		cxx, base, base, base, cxx, dir, base, base, base);
	int rc = system(command);
	snprintf(path, sizeof path, "%s.log", base);
	free(p->log);
	p->log = slurp(path);
	if (rc != 0) return 6;
	compiled++;
	snprintf(path, sizeof path, "%s.i", base);
	char *text = slurp(path);
	size_t size;
	f = open_memstream(&p->ptx, &size);
	fprintf(f, ".version 8.0\n.target %s%d\n// host %s.so\n", p->machine ? "machine_" : "sm_", p->arch, base);
	entries(text, f);
	fclose(f);
	free(text);
	return 0;
}

static int get(const char *from, char *to) { return from ? (strcpy(to, from), 0) : 4; }
static int size(const char *from, size_t *n) { return from ? (*n = strlen(from) + 1, 0) : 4; }

int nvrtcGetProgramLogSize(program *p, size_t *n) { return size(p->log, n); }
int nvrtcGetProgramLog(program *p, char *to) { return get(p->log, to); }
int nvrtcGetPTXSize(program *p, size_t *n) { return size(p->ptx, n); }
int nvrtcGetPTX(program *p, char *to) { return get(p->ptx, to); }
int nvrtcGetCUBINSize(program *p, size_t *n) { return p->machine ? size(p->ptx, n) : 4; }
int nvrtcGetCUBIN(program *p, char *to) { return p->machine ? get(p->ptx, to) : 4; }
