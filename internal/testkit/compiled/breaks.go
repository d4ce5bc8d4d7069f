package compiled

import (
	"expvar"
	"log"
	"log/slog"
	"os"
	"time"
)

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_breaks.go Logging Told ToldByMethod ToldByArgument ToldByLayers ToldByGlobal PrintsDeep PrintsLarge AsksTime Reports Counted

// Breaks: code of which nothing is known, and looks at data, on ways that not all calls take.

// Logging logs after it has returned for most words.
func Logging(m *Model, x, y *tt) *tt {
	if !m.On || m.Count == nil {
		return y
	}
	if m.Label != "" {
		return x.MulScalar(m.Scale)
	}
	log.SetPrefix(log.Prefix())
	return x
}

func Told(m *Model, x, y *tt) *tt {
	if m.Depth > 2 && m.Kind == 1 || m.Name == "tanh" {
		m.Label = os.Getenv("NOBODY_HAS_THIS") + "told"
	}
	return x.MulScalar(m.Scale)
}

func ToldByMethod(m *Model, x, y *tt) *tt {
	if m.Steps != 7 {
		m.tell()
	}
	if m.Next != nil {
		m.Next.tell()
	}
	return x.MulScalar(m.Scale)
}

func (m *Model) tell() {
	if m.Small > 3 {
		m.Label = os.Getenv("NOBODY_HAS_THIS") + "told"
	}
}

// ToldByArgument is called with an argument that says whether it tells.
func ToldByArgument(m *Model, x *tt, loud bool) *tt {
	if loud {
		m.Label = os.Getenv("NOBODY_HAS_THIS") + "told"
	}
	return x.MulScalar(m.Scale)
}

func ToldByLayers(m *Model, x, y *tt) *tt {
	for i := range m.Flat {
		l := m.Flat[i]
		if l.Skip && m.Depth > 2 {
			m.Label = os.Getenv("NOBODY_HAS_THIS") + "told"
		}
		x = l.Apply(x)
	}
	return x
}

func ToldByGlobal(m *Model, x, y *tt) *tt {
	if counter > 0 {
		m.Label = os.Getenv("NOBODY_HAS_THIS") + "told"
	}
	return x.MulScalar(m.Scale)
}

// PrintsDeep looks at data where words say so.
func PrintsDeep(m *Model, x, y *tt) *tt {
	z := x.MulScalar(m.Scale)
	if m.Depth > 2 {
		m.Label = z.String()
	}
	return z.Add(y)
}

// PrintsLarge looks at data where sizes say so.
func PrintsLarge(m *Model, x, y *tt) *tt {
	z := x.MulScalar(m.Scale)
	if x.Dim(0) > 3 {
		m.Label = z.String()
	}
	return z.Neg()
}

// AsksTime asks for the time where its own layers are skipped, which the second of Model.Flat is.
func AsksTime(m *Model, x, y *tt) *tt {
	for i := range m.Flat {
		if m.Flat[i].Skip && time.Now().IsZero() {
			return y
		}
	}
	return x
}

// Reports says what it does; the lines are those of the calls.
func Reports(m *Model, x, y *tt) *tt {
	log.Printf("%s: %d items, %v", m.Name, m.Depth, m.Scale)
	z := x.MulScalar(m.Scale)
	slog.Info("scaled", "by", m.Scale, "label", m.Label, "on", m.On, "n", 3)
	reports.Add(1)
	if m.Depth > 2 {
		log.Print("deep")
	}
	m.Past = z
	log.Println("next", m.Next.Name)
	return z.Add(y)
}

var reports = expvar.NewInt("gofx.compiled.reports")

// Counted tells how often it was called, which changes from call to call.
func Counted(m *Model, x, y *tt) *tt {
	m.Steps++
	log.Print(m.Steps)
	return x.Neg()
}
