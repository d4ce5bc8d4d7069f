package peers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Names are the processes that Start knows, in the order in which they are listed.
var Names = []string{"torch", "torch-1.13", "torch-xla", "ort", "openvino", "jax", "iree", "llama", "onednn"}

// Start starts a process of the scripts in a folder, which computes on so many threads. blas
// is for StartTorch.
func Start(name, dir string, threads int, blas string) (*Peer, error) {
	switch name {
	case "torch":
		return StartTorch(dir, threads, blas)
	case "torch-1.13":
		return startDebian(dir, threads, blas)
	case "torch-xla":
		return startXLA(dir, threads)
	case "ort":
		return StartORT(dir, threads)
	case "openvino", "jax", "iree", "llama":
		return startPython(name, name+"_peer.py", dir, threads)
	case "onednn":
		return StartOneDNN(threads)
	}
	return nil, fmt.Errorf("there is no peer %s, expected one of %s", name, strings.Join(Names, ", "))
}

// Python returns the interpreter that has the newest packages: the one that GOFX_PYTHON names,
// or that of the repository's virtual environment.
func Python(dir string) (string, error) {
	python := os.Getenv("GOFX_PYTHON")
	if python == "" {
		python = filepath.Join(dir, "..", "..", ".venv", "bin", "python")
	}
	if _, err := os.Stat(python); err != nil {
		return "", errors.New("peers: there is no Python with packages: peers/install.sh makes .venv, and GOFX_PYTHON names another")
	}
	return python, nil
}

// startPython starts a script of the newest packages. Those that cannot be held to AVX2 are
// left out where GOFX_CPU asks for it.
func startPython(name, script, dir string, threads int) (*Peer, error) {
	if Held() != nil && name != "torch" {
		return nil, fmt.Errorf("peers: %s cannot be held to AVX2, as GOFX_CPU asks", name)
	}
	python, err := Python(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, filepath.Join(dir, script))
	cmd.Env = pythonEnv(threads)
	return start(name, cmd, threads)
}

// pythonEnv is the environment without its settings of threads, and with their number: of
// OpenMP's and BLAS's, and of XLA's client (NPROC).
func pythonEnv(threads int) (env []string) {
	n := fmt.Sprint(threads)
	set := []string{"OMP_NUM_THREADS=" + n, "OPENBLAS_NUM_THREADS=" + n, "MKL_NUM_THREADS=" + n, "NPROC=" + n, "PYTHONDONTWRITEBYTECODE=1"}
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "OMP_") || strings.HasPrefix(name, "OPENBLAS_") || strings.HasPrefix(name, "MKL_") || name == "NPROC" {
			continue
		}
		env = append(env, e)
	}
	return append(append(env, set...), Held()...)
}

// Held are the variables that hold peers to the instruction set that GOFX_CPU=avx2 holds
// gofx to, none without it.
func Held() []string {
	if os.Getenv("GOFX_CPU") != "avx2" {
		return nil
	}
	return []string{"DNNL_MAX_CPU_ISA=AVX2", "ATEN_CPU_CAPABILITY=avx2", "MKL_ENABLE_INSTRUCTIONS=AVX2"}
}

// StartTorch starts the newest PyTorch, or without it that of the distribution's Python. blas
// is the latter's value of OPENBLAS_CORETYPE, empty for OpenBLAS's own choice; the caller's
// environment does not count.
func StartTorch(dir string, threads int, blas string) (*Peer, error) {
	p, err := startPython("torch", "torch_peer.py", dir, threads)
	if err == nil {
		return p, nil
	}
	if p, older := startDebian(dir, threads, blas); older == nil {
		p.Name = "torch"
		return p, nil
	}
	return nil, err
}

// startDebian starts PyTorch of the distribution's Python.
func startDebian(dir string, threads int, blas string) (*Peer, error) {
	cmd := exec.Command("/usr/bin/python3", filepath.Join(dir, "torch_peer.py"))
	cmd.Env = pythonEnv(threads)
	if blas != "" {
		cmd.Env = append(cmd.Env, blasVariable+"="+blas)
	}
	return start("torch-1.13", cmd, threads)
}

// startXLA starts torch_xla, which wants a PyTorch of its own version: the Python that GOFX_XLA_PYTHON names, or that of .venv-xla.
func startXLA(dir string, threads int) (*Peer, error) {
	if Held() != nil {
		return nil, errors.New("peers: torch-xla cannot be held to AVX2, as GOFX_CPU asks")
	}
	python := os.Getenv("GOFX_XLA_PYTHON")
	if python == "" {
		python = filepath.Join(dir, "..", "..", ".venv-xla", "bin", "python")
	}
	if _, err := os.Stat(python); err != nil {
		return nil, errors.New("peers: there is no Python with torch_xla: peers/install-xla.sh makes .venv-xla, and GOFX_XLA_PYTHON names another")
	}
	cmd := exec.Command(python, filepath.Join(dir, "torch_xla_peer.py"))
	cmd.Env = pythonEnv(threads)
	return start("torch-xla", cmd, threads)
}

// StartORT starts ONNX Runtime of Python's package, or without it the older one under Node.
// It uses all instructions of the processor and cannot be told not to.
func StartORT(dir string, threads int) (*Peer, error) {
	p, err := startPython("ort", "ort_peer.py", dir, threads)
	if err == nil || Held() != nil {
		return p, err
	}
	cmd := exec.Command("node", "--expose-gc", "--max-old-space-size=8192", filepath.Join(dir, "ort_peer.js"))
	cmd.Dir = dir
	return start("ort", cmd, threads)
}

// StartOneDNN starts this program again as the process that calls oneDNN; its
// main function serves the argument OneDNNArgument.
func StartOneDNN(threads int) (*Peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, OneDNNArgument)
	cmd.Env = append(append(os.Environ(), "OMP_NUM_THREADS="+fmt.Sprint(threads)), Held()...)
	return start("onednn", cmd, threads)
}

// StartGenerated starts a program of generated code (package gen) on the case in
// a folder.
func StartGenerated(program, dir string, threads int) (*Peer, error) {
	cmd := exec.Command(program, dir)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+fmt.Sprint(threads), "GOGC=off")
	return start("gen", cmd, threads)
}

// ChooseBLAS measures the products of every set of OpenBLAS kernels that might
// suit this machine and returns the fastest one's name: its own choice is not
// always right (on some Xeons Cooperlake's kernels run at a quarter of SkylakeX's
// rate). ok is false where Debian's PyTorch is missing.
func ChooseBLAS(dir string, avx512 bool) (name string, rates map[string]float64, ok bool) {
	rates = map[string]float64{}
	var candidates []string
	if Held() == nil {
		candidates = append(candidates, "") // may be of AVX-512
	}
	if avx512 {
		candidates = append(candidates, "SKYLAKEX")
	}
	candidates = append(candidates, "HASWELL", "ZEN")
	running := map[string]*Peer{}
	for _, c := range candidates {
		if p, err := startDebian(dir, 1, c); err == nil {
			running[c] = p
		}
	}
	// They take turns, so that a disturbance of the machine meets all of them.
	for range 4 {
		for c, p := range running {
			if a, err := p.Do(Request{Do: "sgemm"}); err == nil {
				rates[c] = max(rates[c], a.Rate)
			}
		}
	}
	best := 0.0
	for _, c := range candidates {
		p := running[c]
		if p == nil {
			continue
		}
		p.Close()
		// Another choice than OpenBLAS's own must be better beyond noise.
		if rates[c] > best*1.03 {
			name, best, ok = c, rates[c], true
		}
	}
	return name, rates, ok
}
