package cli

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/gofx-dev/gofx/diag"
)

// busy shows that something long is going on, when a person is watching: stderr is
// a terminal and NO_COLOR is not set. The returned function ends it and may be
// called once.
func (a *app) busy(what string) (done func()) {
	f := watched(a.terminal)
	if f == nil {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		spin(f, what, time.Now(), tick.C, stop)
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// watched returns the terminal that a stream is, nil where no person is watching.
func watched(stream io.Writer) io.Writer {
	f, ok := stream.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}

// spin writes the current work and its duration at every tick, over the
// previous text, and leaves an empty line.
func spin(w io.Writer, what string, start time.Time, tick <-chan time.Time, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			fmt.Fprint(w, "\r\x1b[K")
			return
		case now := <-tick:
			fmt.Fprintf(w, "\r%c %s [%ds]\x1b[K", `|/-\`[i%4], what, int(now.Sub(start).Seconds()))
		}
	}
}

// plain writes text that cannot control a terminal: names of tensors, nodes and files come
// from elsewhere. In JSON its escapes are JSON's for the same characters.
type plain struct {
	w    io.Writer
	rest []byte // of a character that is not complete
}

func (p *plain) Write(b []byte) (int, error) {
	text := append(p.rest, b...)
	p.rest = nil
	for k := 1; k < utf8.UTFMax && k <= len(text); k++ {
		if at := len(text) - k; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				p.rest = append(p.rest, text[at:]...)
				text = text[:at]
			}
			break
		}
	}
	if _, err := io.WriteString(p.w, diag.Plain(string(text))); err != nil {
		return 0, err
	}
	return len(b), nil
}
