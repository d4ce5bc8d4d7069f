package main

import (
	"bufio"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"

	"example.com/server/digitsnet"
)

const request = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "

// raw is a connection that a test has in its own hands.
func (p *process) raw(t *testing.T) *net.TCPConn {
	c, err := net.Dial("tcp", strings.TrimPrefix(p.addr, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// send writes a request, and answered reads the response.
func send(t *testing.T, c net.Conn) {
	body := `{"inputs": [[` + strings.Repeat("0.5,", 63) + `0.5]]}`
	_, err := io.WriteString(c, request+"271\r\n\r\n"+body)
	require.Len(t, body, 271)
	require.NoError(t, err)
}

func answered(t *testing.T, from *bufio.Reader) *http.Response {
	r, err := http.ReadResponse(from, nil)
	require.NoError(t, err)
	_, err = io.ReadAll(r.Body)
	require.NoError(t, err)
	return r
}

// A connection that is idle when the signal comes is still answered, and told that it ends.
func TestIdleConnectionsAreAnswered(t *testing.T) {
	p := start(t, "-drain", "1h")
	c := p.raw(t)
	from := bufio.NewReader(c)
	send(t, c)
	r := answered(t, from)
	require.Equal(t, 200, r.StatusCode)
	require.False(t, r.Close)
	p.signals <- syscall.SIGTERM
	require.Eventually(t, func() bool {
		r, err := http.Get(p.addr + "/readyz")
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		return r.StatusCode == 503
	}, 10*time.Second, time.Millisecond)
	send(t, c)
	r = answered(t, from)
	require.Equal(t, 200, r.StatusCode)
	require.True(t, r.Close, "nothing tells the client to go elsewhere")
	_, err := from.ReadByte()
	require.Equal(t, io.EOF, err)
	p.signals <- os.Interrupt
	<-p.ended
}

// Clients that keep their connections lose nothing when the server shuts down: each is told
// to leave with an answer.
func TestNothingIsLost(t *testing.T) {
	p := start(t, "-drain", "500ms")
	all := newImages(t, 1)
	var wait sync.WaitGroup
	var answers atomic.Int64
	for range 8 {
		wait.Go(func() {
			told := false
			client := &http.Client{Transport: onResponse{&http.Transport{}, func(r *http.Response) { told = r.Close }}}
			for !told {
				status, y, err := p.predict(client, all.rows)
				if !assert.NoError(t, err) || !assert.Equal(t, 200, status) || !assert.True(t, near(y, all.plus)) {
					return
				}
				answers.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return answers.Load() > 200 }, 20*time.Second, time.Millisecond)
	p.signals <- syscall.SIGTERM
	wait.Wait()
	require.NoError(t, <-p.ended)
}

// onResponse shows a function all responses.
type onResponse struct {
	http.RoundTripper
	see func(*http.Response)
}

func (o onResponse) RoundTrip(r *http.Request) (*http.Response, error) {
	w, err := o.RoundTripper.RoundTrip(r)
	if err == nil {
		o.see(w)
	}
	return w, err
}

// A client that has closed its sending side is answered; one whose connection broke takes its
// computation with it.
func TestHalfClosed(t *testing.T) {
	p := start(t, "-max-wait", "100ms")
	c := p.raw(t)
	send(t, c)
	require.NoError(t, c.CloseWrite())
	require.Equal(t, 200, answered(t, bufio.NewReader(c)).StatusCode)
	p.stop(t)

	p = start(t, "-max-wait", "1h", "-timeout", "1h")
	c = p.raw(t)
	send(t, c)
	p.wait(t, "gofx_inputs_total", 1)
	require.NoError(t, c.SetLinger(0)) // close resets the connection
	require.NoError(t, c.Close())
	p.wait(t, `gofx_requests_total{code="499"}`, 1)
	p.stop(t)
}

// The README's command works as it stands there.
func TestREADME(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "seq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "\n    curl ")
	require.True(t, ok)
	line, _, _ := strings.Cut(rest, "\n")
	p := start(t)
	out, err := exec.Command("sh", "-c", "curl -s "+strings.ReplaceAll(line, "localhost:8080", strings.TrimPrefix(p.addr, "http://"))).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), `{"outputs":[[`)
	p.stop(t)
}

// The answer to an input depends on its batch by no more than the README says.
func TestBatchesRound(t *testing.T) {
	m, err := digitsnet.New()
	require.NoError(t, err)
	all := newImages(t, 64)
	for n := 1; n <= 33; n++ {
		var x []float32
		for _, row := range all.rows[:n] {
			x = append(x, row...)
		}
		y, err := m.Forward(t.Context(), array.DenseOf(x, n, 1, 8, 8))
		require.NoError(t, err)
		for i := range n {
			largest := 0.0
			for _, v := range all.plus[i] {
				largest = max(largest, math.Abs(float64(v)))
			}
			for k, v := range all.plus[i] {
				require.InDelta(t, v, y.Data()[10*i+k], 1e-5*largest, "input %d of %d", i, n)
			}
		}
	}
}
