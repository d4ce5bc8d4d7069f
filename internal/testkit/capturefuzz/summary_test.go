package capturefuzz

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/judge"
)

// summary counts verdicts over batches.
type summary struct {
	programs int
	panics   int
	counts   map[string]int             // by kind, engine, capture, code
	agree    map[string]int             // programs that agree, by engine
	kinds    map[string]map[string]bool // kinds of statements of programs that agree, by engine
	failing  []Failure
}

func (s *summary) add(list []judge.Verdict, programs []*Program) {
	if s.counts == nil {
		s.counts, s.agree, s.kinds = map[string]int{}, map[string]int{}, map[string]map[string]bool{}
	}
	s.programs += len(programs)
	seen := map[string]bool{}
	byID := map[int]*Program{}
	for _, p := range programs {
		byID[p.ID] = p
	}
	for _, v := range list {
		s.counts[fmt.Sprintf("%-9s %-11s %-8s %s", v.Kind, v.Engine, v.Capture, v.Code)]++
		if v.Kind == judge.Panics {
			s.panics++
		}
		if k := fmt.Sprint(v.ID, v.Engine); v.Kind == judge.Agree && !seen[k] {
			seen[k] = true
			s.agree[v.Engine]++
			if s.kinds[v.Engine] == nil {
				s.kinds[v.Engine] = map[string]bool{}
			}
			for _, kind := range byID[v.ID].Kinds() {
				s.kinds[v.Engine][kind] = true
			}
		}
	}
	s.failing = append(s.failing, Failures(list, programs)...)
}

func (s *summary) table() string {
	var lines []string
	for k, n := range s.counts {
		lines = append(lines, fmt.Sprintf("%s: %d", k, n))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d programs, %d panic eagerly, %d fail, programs that agree by engine: %v\n%s",
		s.programs, s.panics, len(s.failing), s.agree, strings.Join(lines, "\n"))
}

// floors keeps the programs from teaching nothing: most run, many are captured,
// in every engine, with every kind of statement.
func (s *summary) floors(t *testing.T) {
	require.Less(t, s.panics*100, s.programs*15, "programs that panic eagerly")
	for engine, percent := range map[string]int{"interp": 40, "text": 40, "plan": 35, "passes": 40, "passes-plan": 35, "module": 40, "gen": 35, "lazy": 70, "lazy-again": 70, "lazy-record": 60, "lazy-generated": 60, "lazy-donate": 70, "lazy-program": 40} {
		require.GreaterOrEqual(t, s.agree[engine]*100, s.programs*percent, "programs that agree in engine %s", engine)
	}
	for _, r := range rows {
		switch {
		case r.kind == "holder" || r.kind == "keep": // in structs, slices and maps; refused
		case r.weight < 3 && s.programs < 1000: // too rare to be sure of
		default:
			require.True(t, s.kinds["interp"][r.kind], "no program with a statement of kind %s agrees", r.kind)
		}
	}
}

// sample is a failure of each class, of some two.
func (s *summary) sample() (list []Failure) {
	seen := map[string]int{}
	for _, f := range s.failing {
		k := fmt.Sprint(f.Kind, f.Engine, f.Capture, f.Code)
		if seen[k]++; seen[k] <= 2 && len(list) < 16 {
			list = append(list, f)
		}
	}
	return list
}

func (f Failure) generated() bool { return f.Engine == "module" || f.Engine == "gen" }
