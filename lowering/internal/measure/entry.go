package measure

import (
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/kernel"
)

// entry is what is kept of a choice.
type entry struct {
	chosen string
	times  map[string]time.Duration // by way; nil if there was no time to measure
	within time.Duration            // the budget in which there was none, else 0
}

// text is the form in which a folder has it: the way that was chosen, and a line for each that was measured.
func (e entry) text() []byte {
	lines := []string{e.chosen}
	if e.within > 0 {
		lines = append(lines, "within "+strconv.FormatInt(int64(e.within), 10))
	}
	for name, t := range e.times {
		lines = append(lines, name+" "+strconv.FormatInt(int64(t), 10))
	}
	slices.Sort(lines[1:])
	return []byte(strings.Join(lines, "\n"))
}

// parse reads an entry. What is not one of these ways' is none.
func parse(text []byte, ways []kernel.Way) (e entry, ok bool) {
	lines := strings.Split(string(text), "\n")
	is := func(name string) bool {
		return slices.ContainsFunc(ways, func(w kernel.Way) bool { return w.Name == name })
	}
	e.chosen = lines[0]
	for _, line := range lines[1:] {
		name, number, _ := strings.Cut(line, " ")
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case err != nil || n <= 0:
			return entry{}, false
		case name == "within":
			e.within = time.Duration(n)
		case is(name):
			if e.times == nil {
				e.times = map[string]time.Duration{}
			}
			e.times[name] = time.Duration(n)
		default:
			return entry{}, false
		}
	}
	complete := len(e.times) == len(ways) && e.within == 0 || len(e.times) == 0 && e.within > 0 && e.chosen == ways[0].Name
	return e, is(e.chosen) && complete
}

// version names the code that was measured, as far as the program tells it.
func version() string {
	const module = "github.com/gofx-dev/gofx"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if info.Main.Path == module {
		text := info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				text += " " + s.Value
			}
		}
		return text
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return ""
}
