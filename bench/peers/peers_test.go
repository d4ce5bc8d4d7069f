package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// script starts a shell program as a peer.
func script(t *testing.T, text string) (*Peer, error) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	return start("script", exec.Command("sh", "-c", text), 1)
}

func TestPeerAnswersLineByLine(t *testing.T) {
	p, err := script(t, `read l; echo '{"version":"v1"}'; while read l; do echo "{\"ns\":${#l}}"; done`)
	require.NoError(t, err)
	defer p.Close()
	require.Equal(t, "v1", p.Version)
	a, err := p.Do(Request{Do: "run", ID: "x", Calls: 3})
	require.NoError(t, err)
	require.Equal(t, float64(len(`{"do":"run","id":"x","variant":"","calls":3}`)), a.NS)
}

func TestPeerErrorsAreReported(t *testing.T) {
	p, err := script(t, `read l; echo '{}'; read l; echo '{"error":"no such thing"}'; read l; echo oops; read l`)
	require.NoError(t, err)
	_, err = p.Do(Request{Do: "load"})
	require.EqualError(t, err, "peers: script: load: no such thing")
	_, err = p.Do(Request{Do: "load"})
	require.ErrorContains(t, err, "peers: script: invalid character")
	_, err = p.Do(Request{Do: "load"})
	require.ErrorContains(t, err, "peers: script has ended")
	require.ErrorIs(t, err, ErrEnded)
	p.Close()
	_, err = script(t, `echo "this is why" >&2; exit 3`)
	require.ErrorContains(t, err, "this is why")
	_, err = start("nothing", exec.Command(filepath.Join(t.TempDir(), "nothing")), 1)
	require.ErrorContains(t, err, "does not start")
}

// TestPeerIsStoppedBetweenRequests reads the state of the process.
func TestPeerIsStoppedBetweenRequests(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc on this system")
	}
	p, err := script(t, `read l; echo '{}'; while :; do :; done`)
	require.NoError(t, err)
	defer func() { _ = p.cmd.Process.Kill(); p.Close() }()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) { // a signal has been sent
		b, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/stat")
		require.NoError(t, err)
		if strings.Fields(string(b))[2] == "T" {
			return
		}
		require.Less(t, time.Since(start), time.Minute)
	}
}

func TestScriptsAreFound(t *testing.T) {
	dir, err := Dir()
	require.NoError(t, err)
	for _, f := range []string{"torch_peer.py", "torch_ops.py", "torch_networks.py", "ort_peer.py", "ort_peer.js", "openvino_peer.py", "jax_peer.py", "iree_peer.py",
		"llama_peer.py", "install.sh", "requirements.txt", "package-lock.json"} {
		require.FileExists(t, filepath.Join(dir, f))
	}
}

// TestProbe: the scripts compute the same, which package main's tests compare.
func TestProbe(t *testing.T) {
	at := func(i int) float64 { return float64(i - 4) }
	require.Equal(t, []float64{-4, -3, -2, -1, 0, 1, 2, 3, 2}, Probe(8, at))
	require.Equal(t, []float64{-4, -4, -4, -4, -4, -4, -4, -4, 4}, Probe(1, at))
}

func TestUnknownPeers(t *testing.T) {
	_, err := Start("tensorflow", t.TempDir(), 1, "")
	require.EqualError(t, err, "there is no peer tensorflow, expected one of torch, torch-1.13, torch-xla, ort, openvino, jax, iree, llama, onednn")
	t.Setenv("GOFX_PYTHON", filepath.Join(t.TempDir(), "nothing"))
	_, err = Start("openvino", t.TempDir(), 1, "")
	require.ErrorContains(t, err, "there is no Python with packages")
	t.Setenv("GOFX_CPU", "avx2")
	_, err = Start("jax", t.TempDir(), 1, "")
	require.ErrorContains(t, err, "jax cannot be held to AVX2")
}

func TestEnvironmentOfThreads(t *testing.T) {
	t.Setenv("OMP_NUM_THREADS", "7")
	t.Setenv("NPROC", "7")
	env := strings.Join(pythonEnv(2), "\n")
	require.NotContains(t, env, "=7")
	for _, v := range []string{"OMP_NUM_THREADS=2", "MKL_NUM_THREADS=2", "NPROC=2"} {
		require.Contains(t, env, v)
	}
}
