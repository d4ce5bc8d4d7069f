package programs

import (
	"expvar"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Traced has words that decide which lines are written for people.
type Traced struct {
	Debug   bool
	Quiet   bool
	Level   int
	Mode    string
	Logger  *log.Logger
	Out     *tensor.Tensor
	Sub     *Traced
	Written bool
	Where   Place
}

type Place struct{ Known bool }

var verbose, Assigned bool

func WhenField(m *Traced, x *tensor.Tensor) *tensor.Tensor {
	if m.Debug {
		log.Print(x)
	}
	return x.Neg()
}

func WhenZero(m *Traced) {
	if !m.Quiet {
		log.Print("quiet")
	}
}

func WhenSeveral(m *Traced) {
	if m.Debug && m.Level > 2 && "all" == m.Mode {
		log.Print("all")
	}
}

func WhenEither(m *Traced) {
	if m.Debug || m.Level >= 3 {
		log.Print("either")
	}
}

func WhenReturns(m *Traced) {
	if m.Logger == nil {
		return
	}
	m.Logger.Print("logger")
}

func WhenGlobal(m *Traced) {
	if !verbose {
		log.Print("not verbose")
	}
}

func WhenGlobalIsStored(m *Traced) {
	if Assigned {
		log.Print("assigned")
	}
	Assigned = m.Debug
}

func WhenArgument(m *Traced, debug bool) {
	if !debug {
		log.Print("argument")
	}
}

func WhenArgumentOfItself(m *Traced, debug bool) {
	if debug {
		log.Print("argument")
	} else if m.Level > 0 {
		WhenArgumentOfItself(m.Sub, true)
	}
}

func WhenStored(m *Traced) {
	m.Written = m.Level > 0
	if m.Written {
		log.Print("stored")
	}
}

func WhenMade(m *Traced) {
	n := &Traced{Mode: "made"}
	if n.Mode == "made" {
		log.Print("made")
	}
	if n.Debug {
		log.Print("zero")
	}
}

func WhenGivenAway(m *Traced) {
	settle(&m.Where.Known)
	if m.Where.Known {
		log.Print("given away")
	}
}

func settle(p *bool) { *p = true }

type placed struct{ Known bool }

func WhenConverted(p *placed) {
	if q := Place(*p); q.Known {
		log.Print("converted")
	}
}

func WhenCalled(m *Traced, x *tensor.Tensor) {
	if m.Debug {
		m.dump(x)
	}
	if m.Sub != nil && m.Level == 3 {
		m.Sub.dump(x)
	}
}

func (m *Traced) dump(x *tensor.Tensor) {
	if m.Mode != "" {
		fmt.Fprintln(os.Stderr, x)
	}
}

func WhenLoop(m *Traced) {
	for i := range m.Level {
		if m.Debug {
			log.Print(i)
		}
	}
}

func WhenClosure(m *Traced) {
	if m.Debug {
		defer func(t time.Time) { log.Print(time.Since(t)) }(time.Now())
	}
}

func WhenOnData(m *Traced, x *tensor.Tensor) float64 {
	if x.Dim(0) > 1 {
		return x.Sum().Item()
	}
	return m.Out.Item()
}

func WhenObserved(m *Traced, x *tensor.Tensor) float64 { return x.Sum().Item() }

// TracedLayer may be in memory.
type TracedLayer struct{ Debug, Quiet bool }

func (l *TracedLayer) Forward(x *tensor.Tensor) *tensor.Tensor {
	if l.Debug {
		log.Print("layer")
	}
	return x
}

// Chatty is not clean: its word begins with what makes it log.
type Chatty struct{ Quiet bool }

func (l *Chatty) Forward(x *tensor.Tensor) *tensor.Tensor {
	if !l.Quiet {
		log.Print("layer")
	}
	return x
}

type Stacked struct{ Layers []nn.Module }

func NewStacked() *Stacked { return &Stacked{[]nn.Module{&TracedLayer{}, &Chatty{}}} }

func WhenInterface(s *Stacked, x *tensor.Tensor) *tensor.Tensor { return nn.Run(s.Layers[0], x) }

// Calls that are made again.

var calls = expvar.NewInt("programs.calls")

type Told struct {
	*Config
	Inner
	Log   *log.Logger
	Slog  *slog.Logger
	Wait  time.Duration
	Steps int
	Names []string
}

func ReplayWords(m *Told, name string) {
	log.Printf("%s %d %d %v", name, m.A, m.Config.Width, 1.5)
	m.Log.Println(m.Depth(), "x")
	m.Slog.Info("told", "name", name, "b", m.Inner.B)
	calls.Add(1)
}

func (m *Told) Depth() int { return 3 }

func ReplayOrder(m *Told, x *tensor.Tensor) *tensor.Tensor {
	slog.Warn("first")
	if m.A > 3 {
		x = x.Neg()
	}
	slog.Error("second", "a", m.A)
	return x
}

func ReplayNever(m *Told, x *tensor.Tensor) {
	m.Steps++
	log.Print(m.Steps)
	log.Print(m.Wait)
	log.Print(len(m.Names))
	log.Print(m)
	for range m.A {
		log.Print("loop")
	}
	defer log.Print("deferred")
	if m.A > 3 {
		log.Print("branch")
	}
	log.Print(x)
	log.Printf(m.Names[0])
	m.say()
}

func (m *Told) say() { log.Print("callee") }

func ReplayReturns(m *Told) {
	if m.A < 0 {
		return
	}
	log.Print("after a return")
}

type Pointing struct {
	Flag       *bool
	Level      *int
	Debug, Off bool
	N          int
}

func WhenPointed(m *Pointing) {
	*m.Flag = m.N > 0
	if m.Debug {
		log.Print("pointed")
	}
	log.Print(m.Off)
}

func WhenPointedElsewhere(m *Pointing) {
	*m.Level = 3
	if m.Debug {
		log.Print("pointed")
	}
	log.Print(m.Off)
}

type Options map[string]Pointing

func WhenInMap(m Options) {
	if m["a"].Debug {
		log.Print("in a map")
	}
}

func WhenCopied(m *Pointing) {
	n := *m
	on := n.Debug
	say := func() {
		if on {
			log.Print("captured")
		}
	}
	if n.Debug {
		log.Print("copied")
	}
	say()
	n.Off = true
	if n.Off {
		log.Print("stored in the copy")
	}
}

func WhenSwitch(m *Traced) {
	switch {
	case m.Level > 5:
		log.Print("five")
		fallthrough
	case m.Level > 3 || m.Debug:
		log.Print("three")
	}
again:
	if m.Debug {
		log.Print("goto")
		if m.Level > 1 {
			goto again
		}
	}
}
