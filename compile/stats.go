package compile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/compile/state"
)

// Stats are counts since a function was compiled.
type Stats struct {
	Calls    int
	Hits     int // that a record did
	Misses   int // for which no record fitted
	Captures int // that ran under a session, to make a record
	Records  int // that were made
	Evicted  int // records that have gone for others
	Refused  int // calls of which no record can be made
	Plain    int // calls that ran as they are
	Lazy     int // calls that ran in a session, without a record
	Segments int // graphs that those have run, one between two places that look at data
	Inlined  int // calls in a call of a compiled function that made a record
	Failed   int // calls with a mistake in data, which the function itself has told of
}

type counts struct {
	calls, hits, misses, captures, records, evicted, refused, plains, lent, segments, inlined, failed atomic.Int64

	told    sync.Mutex
	reasons map[state.Refusal]int
	words   map[Miss]int
	looks   map[state.Refusal]int // places at which code was told a size that was to be a symbol
}

func (c *core) counted() Stats {
	n := func(v *atomic.Int64) int { return int(v.Load()) }
	return Stats{n(&c.calls), n(&c.hits), n(&c.misses), n(&c.captures), n(&c.records), n(&c.evicted), n(&c.refused), n(&c.plains), n(&c.lent), n(&c.segments), n(&c.inlined), n(&c.failed)}
}

// String lists the counts that are not zero.
func (s Stats) String() string {
	var b strings.Builder
	for _, l := range []struct {
		name string
		n    int
	}{{"calls", s.Calls}, {"hits", s.Hits}, {"misses", s.Misses}, {"captures", s.Captures}, {"records", s.Records}, {"evicted", s.Evicted},
		{"refused", s.Refused}, {"plain", s.Plain}, {"lazy", s.Lazy}, {"segments", s.Segments}, {"inlined", s.Inlined}, {"failed", s.Failed}} {
		if l.n != 0 {
			fmt.Fprintf(&b, "%-9s %d\n", l.name, l.n)
		}
	}
	return b.String()
}

// maxTold is the most reasons and words of which calls are counted one by one.
const maxTold = 256

func tell[K comparable](c *counts, m *map[K]int, k K) {
	c.told.Lock()
	defer c.told.Unlock()
	if *m == nil {
		*m = map[K]int{}
	}
	if _, ok := (*m)[k]; ok || len(*m) < maxTold {
		(*m)[k]++
	}
}

// note counts a miss, remember a refusal.
func (c *core) note(m Miss)                 { tell(&c.counts, &c.words, m) }
func (c *core) remember(why *state.Refusal) { tell(&c.counts, &c.reasons, *why) }

// often is the word that calls have missed for most.
func (c *core) often() (m Miss) {
	c.told.Lock()
	defer c.told.Unlock()
	for _, k := range byCount(c.words, func(m Miss) string { return m.Path }) {
		if k.Path != "" {
			return k
		}
	}
	return m
}

// explain writes what is known of the function.
func (c *core) explain(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", c.name, c.counted())
	if c.never != nil {
		fmt.Fprintf(&b, "is not recorded: %s\n", reason(*c.never))
	}
	if len(c.sizes) > 0 {
		p := c.sizes[0]
		fmt.Fprintf(&b, "sizes are compared: %s\n", reason(state.Refusal{Why: p.What + ": " + p.Why, Line: p.Line}))
	}
	c.mu.RLock()
	for _, k := range c.buckets {
		k.mu.RLock()
		for i, r := range k.records {
			fmt.Fprintf(&b, "record %d: %d comparisons, %d calls, %d stores\n", i+1, r.guard.Len(), r.calls, r.stores.Stores())
			if r.sized() {
				fmt.Fprintf(&b, "    any size: %s\n", strings.Join(r.open.sizes.paths, ", "))
			}
			if r.sized() && len(r.open.sides) > 0 {
				fmt.Fprintf(&b, "    where %s\n", sidesText(r.open.sides))
			}
			if r.open.rolled() {
				fmt.Fprintf(&b, "    any number of rounds from 2 on: %s\n", c.forLines())
			}
			for _, w := range r.inputs() {
				fmt.Fprintf(&b, "    an input: %s\n", reason(state.Refusal{Why: w.Path, Line: w.Line}))
			}
		}
		if k.plain != nil {
			fmt.Fprintf(&b, "is not recorded: %s\n", reason(*k.plain))
		}
		k.mu.RUnlock()
	}
	c.mu.RUnlock()
	c.told.Lock()
	defer c.told.Unlock()
	for _, k := range byCount(c.words, func(m Miss) string { return m.Path }) {
		if k.Path != "" {
			fmt.Fprintf(&b, "missed %d: %s", c.words[k], k.Path)
			if k.Line != "" {
				fmt.Fprintf(&b, ", read at %s", k.Line)
			}
			b.WriteByte('\n')
		}
	}
	for _, k := range byCount(c.looks, reason) {
		fmt.Fprintf(&b, "sizes are compared: %s\n", reason(k))
	}
	for _, k := range byCount(c.reasons, reason) {
		fmt.Fprintf(&b, "refused %d: %s\n", c.reasons[k], reason(k))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func reason(r state.Refusal) string {
	if r.Line == "" {
		return r.Why
	}
	return r.Why + ", at " + r.Line
}

// byCount lists what was counted, the most frequent first.
func byCount[K comparable](m map[K]int, name func(K) string) []K {
	list := make([]K, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b K) int { return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(name(a), name(b))) })
	return list
}
