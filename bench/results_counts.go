package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/counts"
	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func itoa(n int) string { return strconv.Itoa(n) }

// counters count what a workload has sessions do. Runs wait for the compiler, so that all counts
// are exact; tests of package lazy hold those of small models.
var counters = map[string]func() ([]Count, error){
	"W2":  countBranches,
	"W3":  func() ([]Count, error) { return countTexts(classifier(), []int{5, 6, 7, 8, 9, 7, 6}, 6) },
	"W4":  func() ([]Count, error) { return countTexts(answering(), []int{150, 153, 149, 161, 158}, 4) },
	"W5":  func() ([]Count, error) { return countTexts(filling(), []int{7, 8, 9, 10, 11, 12}, 5) },
	"W6":  countGeneration,
	"W7":  countImages,
	"W8":  countReasons,
	"W1":  told(counts.Chains),
	"W10": told(counts.Lines("..")),
	"W12": told(counts.Workers(5, 20)),
	"W15": told(counts.Figures),
	"W34": told(counts.Graphs(nets.Papers())),
	"W35": told(counts.Programs("../docs")),
	"W40": told(counts.Nodes),
	"W42": told(counts.Fusion),
	"W11": countTraining,
	"W13": countWordSeg,
	"W14": countBoxes,
	"W16": countRecording,
	"W36": countGuards,
	"W37": countSizes,
	"W38": countSteps,
}

// counted are the workloads with counts, in the order of their numbers.
func counted() []string {
	return slices.SortedFunc(maps.Keys(counters), func(a, b string) int {
		x, _ := strconv.Atoi(a[1:])
		y, _ := strconv.Atoi(b[1:])
		return x - y
	})
}

func countOf(id string) func() ([]Count, error) { return counters[id] }

// told makes a list of what a function of package counts tells.
func told(f func(counts.Tell) error) func() ([]Count, error) {
	return func() (all []Count, err error) {
		err = f(func(name string, n float64) { all = append(all, Count{name, n}) })
		return all, err
	}
}

// inSession runs f in a session whose counts do not depend on the compiler's speed.
func inSession(o lazy.Options, f func(s *lazy.Session) error) (st lazy.Stats, err error) {
	o.Synchronous = true
	s := lazy.New(o)
	if err := f(s); err != nil {
		return st, err
	}
	st = s.Stats()
	return st, s.Close()
}

// ofSession are the counts that workloads tell, with a word before the first.
func ofSession(name string, st lazy.Stats) []Count {
	flushes := 0
	for _, n := range st.Flushes {
		flushes += n
	}
	return []Count{{name + "graphs", float64(st.Graphs)}, {"compiled", float64(st.Compiles)}, {"flushes", float64(flushes)}, {"compiled runs", float64(st.Hits)}}
}

// bySizes are the counts of f with a graph for each size and with symbols.
func bySizes(f func(s *lazy.Session) error) (all []Count, err error) {
	for _, p := range []struct {
		name string
		dims lazy.Policy
	}{{"fixed sizes: ", lazy.Fixed}, {"symbols: ", lazy.Auto}} {
		st, err := inSession(lazy.Options{Dims: p.dims}, f)
		if err != nil {
			return nil, err
		}
		all = append(all, ofSession(p.name, st)...)
	}
	return all, nil
}

func countBranches() ([]Count, error) {
	st, err := inSession(lazy.Options{}, func(s *lazy.Session) error {
		x := make([]*tensor.Tensor, 9)
		for i := range x {
			x[i] = s.In(tensor.Ones(4, 4).MulScalar(1 + float64(i)/8))
		}
		var ops []string
		for i := range 32 {
			ops = append(ops, chainOps[i%8])
		}
		for i := range 1000 {
			oneWay(ops, x, i%2 == 1).Array()
		}
		return nil
	})
	return ofSession("", st), err
}

// reader makes a model read its results for a text.
type reader func(ids, mask *tensor.Tensor)

func classifier() reader {
	m := synthetic(models.NewBertForSequenceClassification(models.BertBase, 2))
	return func(ids, mask *tensor.Tensor) { m.Forward(ids, mask).Argmax(1).Item() }
}

func answering() reader {
	m := synthetic(models.NewBertForQuestionAnswering(models.BertBase))
	return func(ids, mask *tensor.Tensor) {
		start, end := m.Forward(ids, mask)
		tensor.Cat([]*tensor.Tensor{start.Argmax(1), end.Argmax(1)}, 0).Array()
	}
}

func filling() reader {
	m := synthetic(models.NewRobertaForMaskedLM(models.RobertaLarge))
	return func(ids, mask *tensor.Tensor) { m.Forward(ids, mask).Select(1, 3).Argmax(1).Item() }
}

func countTexts(read reader, lengths []int, times int) ([]Count, error) {
	return bySizes(func(s *lazy.Session) error {
		for i := range times {
			for _, n := range lengths {
				ids := s.In(textOf(n, i, 30000))
				read(ids, ids.OnesLike())
			}
		}
		return nil
	})
}

func countGeneration() ([]Count, error) {
	c := models.GPT2Small
	c.MaxPositions, c.NumLayers = 30, 4
	m := synthetic(models.NewGPT2Decoder(c))
	return bySizes(func(s *lazy.Session) error {
		for i := range 5 {
			for range m.Generate(s.In(textOf(4, i, c.VocabSize))) {
			}
		}
		return nil
	})
}

// imagesIn classifies images of a data set one by one, and calls at after each.
func imagesIn(s *lazy.Session, images int, at func(i int)) {
	m := models.Lookup("resnet18")
	net := m.New()
	models.Synthetic(m, net, seed)
	in := s.In(tensor.Ones(images, 3, 28, 28))
	for i := range images {
		nn.Run(net, in.Narrow(0, i, 1)).Argmax(1).Item()
		at(i + 1)
	}
}

func countImages() (all []Count, err error) {
	_, err = inSession(lazy.Options{}, func(s *lazy.Session) error {
		imagesIn(s, 1000, func(i int) {
			if i == 10 || i == 100 || i == 1000 {
				all = append(all, Count{fmt.Sprintf("graphs after %d images", i), float64(s.Stats().Graphs)})
			}
		})
		return nil
	})
	return all, err
}

// countReasons runs a few texts and images in one session: what asks for values, and the longest graph.
func countReasons() (all []Count, err error) {
	c := models.BertBase
	c.NumLayers = 2
	m := synthetic(models.NewBertForSequenceClassification(c, 2))
	st, err := inSession(lazy.Options{}, func(s *lazy.Session) error {
		for i := range 20 {
			ids := s.In(textOf(5+i%5, i, c.VocabSize))
			m.Forward(ids, ids.OnesLike()).Argmax(1).Item()
		}
		imagesIn(s, 20, func(int) {})
		return nil
	})
	for _, why := range slices.Sorted(maps.Keys(st.Flushes)) {
		all = append(all, Count{"flushes by " + string(why), float64(st.Flushes[why])})
	}
	return append(all, Count{"calls of the longest graph", float64(st.Longest)}), err
}

// countTraining is what a session compiles in a hundred steps of the masked language model, whose
// losses are those of eager code.
func countTraining() (all []Count, err error) {
	eager, err := maskedLM()
	if err != nil {
		return nil, err
	}
	lazily, err := maskedLM()
	if err != nil {
		return nil, err
	}
	equal, early := 0, 0
	st, err := inSession(lazy.Options{Gradients: true}, func(s *lazy.Session) error {
		for i := range 100 {
			want, err := eager(engine{})
			if err != nil {
				return err
			}
			got, err := lazily(engine{s})
			if err != nil {
				return err
			}
			if array.Equal(want[0], got[0]) {
				equal++
			}
			if err := s.Barrier(); err != nil {
				return err
			}
			if i == 2 {
				early = s.Stats().Compiles
			}
		}
		return nil
	})
	return append(ofSession("", st), Count{"compiled after step 3", float64(st.Compiles - early)}, Count{"losses of 100 equal in bits", float64(equal)}), err
}

func countWordSeg() ([]Count, error) {
	st, err := inSession(lazy.Options{Gradients: true}, func(s *lazy.Session) error {
		for _, n := range []int{4, 8, 14} {
			p, err := wordSeg(n, 32, true)
			if err != nil {
				return err
			}
			for range 6 {
				if _, err := p(engine{s}); err != nil {
					return err
				}
				if err := s.Barrier(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return append(ofSession("with gradients: ", st), Count{"calls of the longest", float64(st.Longest)}), err
}

func countBoxes() ([]Count, error) {
	return bySizes(func(s *lazy.Session) error {
		for i := range 1500 {
			p, err := boxes(1 + i*7919%300)()
			if err != nil {
				return err
			}
			if _, err := p(engine{s}); err != nil {
				return err
			}
		}
		return nil
	})
}

// countRecording is what a call takes that is recorded, and from which size of matrices on a chain of
// eight calls is faster in a session.
func countRecording() ([]Count, error) {
	s := lazy.New(lazy.Options{MaxTrace: 1 << 12})
	x := s.In(tensor.Ones(4, 4))
	const calls = 1000
	var best time.Duration
	for i := range 50 {
		start := time.Now()
		for range calls {
			x.Mul(x)
		}
		if d := time.Since(start); i == 0 || d < best {
			best = d
		}
		if err := s.Barrier(); err != nil {
			return nil, err
		}
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	all := []Count{{"ns of a recorded call", float64(best) / calls}}
	for n := 4; ; n *= 2 {
		session, eager, err := chainTimes(n)
		if err != nil {
			return nil, err
		}
		if session < eager || n > 512 {
			return append(all, Count{"n from which 8 calls are faster in a session", float64(n)}), nil
		}
	}
}

// chainTimes are the least times of a chain of eight calls on matrices of n rows, in a session and at once.
func chainTimes(n int) (session, eager time.Duration, err error) {
	c := lazyChain(n, 8, false)
	time := func(o *Ours, err error) (time.Duration, error) {
		if err != nil {
			return 0, err
		}
		least := o.once()
		for range 500 {
			least = min(least, o.once())
		}
		if o.Close != nil {
			o.Close()
		}
		return least, nil
	}
	if session, err = time(c.Ours(c.arrays(), 1)); err != nil {
		return 0, 0, err
	}
	i := slices.IndexFunc(c.Ways, func(w Way) bool { return w.Name == "eager" })
	eager, err = time(c.Ways[i].Ours(c.arrays(), 1))
	return session, eager, err
}

// countGuards counts the work of calls except running their graphs: W36.
func countGuards() (list []Count, err error) {
	for _, c := range compiledCases() {
		counts, err := guardsOf(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Shape, err)
		}
		list = append(list, counts...)
	}
	return list, nil
}

// guardsOf takes the least of many calls for both times.
func guardsOf(c *Case) ([]Count, error) {
	w, err := openNetwork(c.Network, c.Dims)
	if err != nil {
		return nil, err
	}
	var clock nets.Clock
	f, err := nets.New(w.module, compile.Strict(), compile.On(clock.Target(), lowering.Options{Exact: true, Threads: 1}))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := time.Now()
	f.Call(w.in...)
	first := time.Since(start)
	f.Call(w.in...)
	least, graph := time.Duration(1<<62), time.Duration(0)
	for range 200 {
		clock.Running = 0
		start = time.Now()
		f.Call(w.in...)
		if all := time.Since(start); all-clock.Running < least {
			least, graph = all-clock.Running, clock.Running
		}
	}
	if s := f.Stats(); s.Records != 1 || s.Hits < 200 {
		return nil, fmt.Errorf("expected hits of one record, got %s", s)
	}
	n, err := f.Comparisons()
	if err != nil {
		return nil, err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(c.Shape, "W32_"), "_", " ") + ": "
	return []Count{
		{name + "comparisons", float64(n)},
		{"µs beyond the graph", float64(least.Nanoseconds()) / 1e3},
		{"percent of the call", 100 * float64(least) / float64(least+graph)},
		{"first call ms", first.Seconds() * 1e3},
		{"of which the compiler", clock.Compiling.Seconds() * 1e3},
	}, nil
}

// countSteps counts records of the LSTM for 8 lengths: W38.
func countSteps() ([]Count, error) {
	n, hits, err := records(models.Lookup("lstm_10x256"), sizesOf(map[string]int{"N": 1}, "T", 16, 32, 48, 64, 80, 96, 112, 128))
	return []Count{{"lstm, 8 lengths: records", float64(n)}, {"hits of 24 calls", float64(hits)}}, err
}
