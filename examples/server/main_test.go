package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"

	"example.com/server/digitsnet"
)

// process is the server as a process would run it.
type process struct {
	addr, admin string
	signals     chan os.Signal
	ended       chan error
}

func start(t *testing.T, args ...string) *process {
	p := &process{signals: make(chan os.Signal, 4), ended: make(chan error, 1)}
	listening := make(chan struct{})
	args = append([]string{"-addr", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-timeout", "1m", "-drain", "0"}, args...)
	go func() {
		p.ended <- run(args, p.signals, slog.New(slog.DiscardHandler), func(addr, admin string) {
			p.addr, p.admin = "http://"+addr, "http://"+admin
			close(listening)
		})
	}()
	select {
	case <-listening:
	case err := <-p.ended:
		require.NoError(t, err)
	}
	return p
}

// stop ends it and requires that nothing was cut off.
func (p *process) stop(t *testing.T) {
	p.signals <- syscall.SIGTERM
	require.NoError(t, <-p.ended)
}

// metric returns one of the counters, 0 if there is none.
func (p *process) metric(t *testing.T, name string) float64 {
	r, err := http.Get(p.admin + "/metrics")
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	for _, line := range strings.Split(string(text), "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err)
			return v
		}
	}
	return 0
}

// wait waits until a metric is at least v.
func (p *process) wait(t *testing.T, name string, v float64) {
	require.Eventually(t, func() bool { return p.metric(t, name) >= v }, 20*time.Second, 5*time.Millisecond, "%s is %v", name, v)
}

// images are inputs, with the results of the weights in the program and of their negation.
type images struct {
	rows      [][]float32
	plus, neg [][]float32
}

func newImages(t *testing.T, n int) images {
	var x []float32
	random := rand.New(rand.NewPCG(1, 2))
	for range n * 64 {
		x = append(x, float32(random.IntN(17))/16)
	}
	m, err := digitsnet.New()
	require.NoError(t, err)
	y, err := m.Forward(t.Context(), array.DenseOf(x, n, 1, 8, 8))
	require.NoError(t, err)
	var all images
	for i := range n {
		all.rows = append(all.rows, x[64*i:64*i+64])
		row := y.Data()[10*i : 10*i+10]
		negated := make([]float32, 10)
		for k, v := range row {
			negated[k] = -v
		}
		all.plus, all.neg = append(all.plus, row), append(all.neg, negated)
	}
	return all
}

// predict posts images from i on, and returns the responses.
func (p *process) predict(client *http.Client, rows [][]float32) (status int, outputs [][]float32, err error) {
	body, err := json.Marshal(map[string]any{"inputs": rows})
	if err != nil {
		return 0, nil, err
	}
	return p.post(client, bytes.NewReader(body))
}

func (p *process) post(client *http.Client, body io.Reader) (status int, outputs [][]float32, err error) {
	r, err := client.Post(p.addr+"/v1/predict", "application/json", body)
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close()
	var answer struct{ Outputs [][]float32 }
	err = json.NewDecoder(r.Body).Decode(&answer)
	return r.StatusCode, answer.Outputs, err
}

// near reports whether all numbers agree.
func near(a, b [][]float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		for k := range a[i] {
			if d := a[i][k] - b[i][k]; len(a[i]) != len(b[i]) || d > 1e-3 || d < -1e-3 {
				return false
			}
		}
	}
	return true
}

// writeWeights writes the weights in the package, or those that give the negated results.
func writeWeights(t *testing.T, path string, negated bool) {
	f, err := safetensors.ReadFile("digitsnet/weights.safetensors")
	require.NoError(t, err)
	var tensors []safetensors.Named
	for _, name := range f.Names() {
		a, err := f.Get(name)
		require.NoError(t, err)
		if negated && strings.HasPrefix(name, "fc") {
			a = array.Clone(a)
			for i := range array.Data[float32](a) {
				array.Data[float32](a)[i] *= -1
			}
		}
		tensors = append(tensors, safetensors.Named{Name: name, Array: a})
	}
	require.NoError(t, os.WriteFile(path+".new", encode(t, tensors...), 0o644))
	require.NoError(t, os.Rename(path+".new", path))
}

func encode(t *testing.T, tensors ...safetensors.Named) []byte {
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, tensors, safetensors.Checksums(tensors)))
	return b.Bytes()
}

// Many clients ask while the weights change: every answer is that of one set of weights
// or of the other, and wrong files change nothing.
func TestReloadUnderLoad(t *testing.T) {
	weights := filepath.Join(t.TempDir(), "weights.safetensors")
	writeWeights(t, weights, false)
	p := start(t, "-weights", weights, "-max-batch", "16", "-workers", "2")
	all := newImages(t, 64)
	var wait sync.WaitGroup
	var plus, neg atomic.Int64
	end := make(chan struct{})
	for c := range 8 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(3, uint64(c)))
			for {
				select {
				case <-end:
					return
				default:
				}
				i, n := random.IntN(60), 1+random.IntN(4)
				status, y, err := p.predict(http.DefaultClient, all.rows[i:i+n])
				switch {
				case !assert.NoError(t, err) || !assert.Equal(t, 200, status):
					return
				case near(y, all.plus[i:i+n]):
					plus.Add(1)
				case near(y, all.neg[i:i+n]):
					neg.Add(1)
				default:
					assert.Fail(t, "neither set of weights gives this answer")
					return
				}
			}
		})
	}
	for round := range 12 {
		status := 200
		switch {
		case round%3 == 2:
			require.NoError(t, os.WriteFile(weights, []byte("no weights"), 0o644))
			status = 422
		default:
			writeWeights(t, weights, round%3 == 0)
		}
		r, err := http.Post(p.admin+"/reload", "", nil)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		require.Equal(t, status, r.StatusCode)
		from := plus.Load() + neg.Load()
		require.Eventually(t, func() bool { return t.Failed() || plus.Load()+neg.Load() >= from+20 }, 20*time.Second, time.Millisecond)
	}
	close(end)
	wait.Wait()
	require.Positive(t, plus.Load())
	require.Positive(t, neg.Load())
	require.Equal(t, 4.0, p.metric(t, `gofx_reloads_total{result="refused"}`))
	require.Equal(t, 9.0, p.metric(t, `gofx_reloads_total{result="loaded"}`))
	require.Less(t, p.metric(t, "gofx_batch_inputs_count"), p.metric(t, "gofx_request_seconds_count"), "no two requests shared a batch")

	writeWeights(t, weights, true)
	p.signals <- syscall.SIGHUP
	p.wait(t, `gofx_reloads_total{result="loaded"}`, 10)
	_, y, err := p.predict(http.DefaultClient, all.rows[:5])
	require.NoError(t, err)
	require.True(t, near(y, all.neg[:5]))
	p.stop(t)
}

// Files that are not the weights of this network are refused, with the reason, and the
// old ones stay.
func TestWrongWeights(t *testing.T) {
	weights := filepath.Join(t.TempDir(), "weights.safetensors")
	writeWeights(t, weights, true)
	p := start(t, "-weights", weights)
	all := newImages(t, 3)
	good, err := os.ReadFile("digitsnet/weights.safetensors")
	require.NoError(t, err)
	damaged := bytes.Clone(good)
	damaged[len(damaged)-1] ^= 1
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"cut off": {good[:len(good)/2], "FX80"}, "damaged": {damaged, "FX8016"}, "empty": {nil, "FX80"}, "other": {encode(t, safetensors.Named{Name: "w", Array: array.New(array.F32, 2)}), "FX8021"},
	} {
		require.NoError(t, os.WriteFile(weights, c.file, 0o644))
		r, err := http.Post(p.admin+"/reload", "", nil)
		require.NoError(t, err)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		require.Equal(t, 422, r.StatusCode, name)
		require.Contains(t, string(text), c.want, name)
		_, y, err := p.predict(http.DefaultClient, all.rows)
		require.NoError(t, err)
		require.True(t, near(y, all.neg), name)
	}
	require.NoError(t, os.Remove(weights))
	require.NoError(t, syscall.Mkfifo(weights, 0o600))
	r, err := http.Post(p.admin+"/reload", "", nil)
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Contains(t, string(text), "no regular file")
	require.NoError(t, os.Remove(weights))
	r, err = http.Post(p.admin+"/reload", "", nil)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, 422, r.StatusCode)
	p.stop(t)
	require.ErrorContains(t, run([]string{"-weights", weights}, nil, slog.New(slog.DiscardHandler), nil), "weights.safetensors")
}

// Requests that are being answered when the signal comes are answered; then nobody listens.
// They wait for the last of a full batch, which is read while the signal comes.
func TestShutDownInFlight(t *testing.T) {
	p := start(t, "-max-wait", "1h", "-max-batch", "9")
	all := newImages(t, 9)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			status, y, err := p.predict(&http.Client{Transport: &http.Transport{}}, all.rows[i:i+1])
			if assert.NoError(t, err) && assert.Equal(t, 200, status) {
				assert.True(t, near(y, all.plus[i:i+1]))
			}
		})
	}
	body, slow := io.Pipe()
	wait.Go(func() {
		status, y, err := p.post(&http.Client{Transport: &http.Transport{}}, body)
		if assert.NoError(t, err) && assert.Equal(t, 200, status) {
			assert.True(t, near(y, all.plus[8:]))
		}
	})
	last, err := json.Marshal(map[string]any{"inputs": all.rows[8:]})
	require.NoError(t, err)
	_, err = slow.Write(last[:9])
	require.NoError(t, err)
	p.wait(t, "gofx_inputs_total", 8)
	p.wait(t, "gofx_requests_in_flight", 9)
	p.signals <- syscall.SIGTERM
	for !errors.Is(err, syscall.ECONNREFUSED) {
		var c net.Conn
		if c, err = net.Dial("tcp", strings.TrimPrefix(p.addr, "http://")); err == nil {
			require.NoError(t, c.Close())
		}
	}
	_, err = slow.Write(last[9:])
	require.NoError(t, err)
	require.NoError(t, slow.Close())
	require.NoError(t, <-p.ended)
	wait.Wait()
}

// While it drains, the server is not ready and still answers.
func TestDrain(t *testing.T) {
	p := start(t, "-drain", "1h")
	all := newImages(t, 2)
	ready := func() int {
		r, err := http.Get(p.addr + "/readyz")
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		return r.StatusCode
	}
	require.Equal(t, 200, ready())
	p.signals <- syscall.SIGTERM
	require.Eventually(t, func() bool { return ready() == 503 }, 10*time.Second, time.Millisecond)
	status, y, err := p.predict(http.DefaultClient, all.rows)
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.True(t, near(y, all.plus))
	p.signals <- syscall.SIGHUP // does not end it
	p.signals <- os.Interrupt   // does
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		require.Fail(t, "the second signal did not end it")
	}
}

// When the grace is over, requests are cut off, and the process says so.
func TestGraceEnds(t *testing.T) {
	p := start(t, "-max-wait", "1h", "-timeout", "1h", "-grace", "100ms")
	all := newImages(t, 1)
	cut := make(chan error, 1)
	go func() {
		_, _, err := p.predict(&http.Client{Transport: &http.Transport{}}, all.rows)
		cut <- err
	}()
	p.wait(t, "gofx_inputs_total", 1)
	p.signals <- syscall.SIGTERM
	require.ErrorContains(t, <-p.ended, "requests were cut off")
	require.Error(t, <-cut)
}

func TestFlags(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"more"}, `unexpected argument "more"`},
		{[]string{"-max-batch", "0"}, "limits have to be positive"},
		{[]string{"-addr", "nowhere:x"}, "x"},
		{[]string{"-addr", "127.0.0.1:0", "-admin", "nowhere:x"}, "x"},
	} {
		require.ErrorContains(t, run(c.args, nil, log, nil), c.want, fmt.Sprint(c.args))
	}
}

// The package equals fxgen's present output for the model.
func TestGeneratedIsFresh(t *testing.T) {
	files, err := filepath.Glob("digitsnet/*")
	require.NoError(t, err)
	for _, path := range append(files, "../onnx/digits.onnx") { // the result is cached until one of them changes
		_, err := os.ReadFile(path)
		require.NoError(t, err)
	}
	text, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "//go:generate go tool -modfile=fxgen.mod fxgen gen ")
	require.True(t, ok)
	line, _, _ := strings.Cut(rest, "\n")
	out, err := exec.Command("go", append([]string{"tool", "-modfile=fxgen.mod", "fxgen", "check"}, strings.Fields(line)...)...).CombinedOutput()
	require.NoError(t, err, "run go generate: %s", out)
}
