package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/gofx-dev/gofx/bench/peers"
)

// tooSlow is how many times as long as gofx a peer may take to have turns, hurry the time from
// which on that counts.
const tooSlow, hurry = 10, 100 * time.Millisecond

// loaded prepares one peer, whose results must be those of gofx.
func (b *bench) loaded(c *Case, f *field, p *peers.Peer, q peerCase) (*runner, error) {
	q.load.Do = "load"
	inputs := max(1, c.Dims["N"])
	if took := b.slow[c.slowKey(q.name)]; took*float64(inputs) > float64(b.limit) {
		return nil, fmt.Errorf("one input took %.0f s, %d would take more than %v (-limit)", took/1e9, inputs, b.limit)
	}
	a, err := p.Do(q.load)
	id := q.load.ID
	f.closes = append(f.closes, func() { _, _ = p.Do(peers.Request{Do: "drop", ID: id}) })
	if err == nil {
		want := f.want
		if q.results > 0 {
			want = want[:q.results*peers.Places]
		}
		err = c.disagree(q.name, want, a.Probe)
	}
	if err != nil {
		return nil, err
	}
	if f.seen != nil {
		f.seen(q.name, a.Probe)
	}
	r := &runner{name: q.name, process: p, time: func(warm, calls int) (time.Duration, error) {
		a, err := p.Do(peers.Request{Do: "run", ID: id, Warm: warm, Calls: calls})
		return time.Duration(a.NS), err
	}}
	r.slow = c.Network != nil && a.NS >= max(float64(hurry), tooSlow*f.ours)
	if r.slow && inputs == 1 {
		b.slow[c.slowKey(q.name)] = a.NS
	}
	return r, nil
}

// slowKey names a peer and a network, whatever its batch.
func (c *Case) slowKey(peer string) string {
	if c.Network == nil {
		return ""
	}
	return fmt.Sprint(peer, " ", c.Group, " ", c.Network.Name, " ", c.Quant != nil)
}

// timeOnce measures one call of each peer that is much slower than gofx: in turns, all others
// would wait for it.
func (b *bench) timeOnce(c *Case, row *Row, list []*runner) {
	for _, r := range list {
		d, err := r.time(0, 1)
		if err != nil {
			b.leaveOut(c, row, r.name, err)
			b.restart(r.process, err)
			continue
		}
		if row.Once == nil {
			row.Once = map[string]float64{}
		}
		row.Once[r.name] = d.Seconds() * 1e3
	}
}

// quietly does something while the machine is quiet.
func (b *bench) quietly(do func()) error {
	release, err := held(b.hold)
	if err == nil {
		do()
		release()
	}
	return err
}

// held starts a command that makes the machine quiet, and waits until it prints a byte. release
// ends its input, at which it lets others go on, and waits for its end.
func held(command string) (release func(), err error) {
	if command == "" {
		return func() {}, nil
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("-hold: %w", err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		_ = in.Close()
		return nil, fmt.Errorf("-hold: %s has ended without a word: %w", command, cmd.Wait())
	}
	return func() { _ = in.Close(); _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() }, nil
}
