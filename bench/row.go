package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// Row is one result. Peer is the fastest of the peers; without one its fields
// are left out.
type Row struct {
	Group string `json:"group"`
	Shape string `json:"shape"`
	// OursMS is the median time of gofx; 0 and left out where it has no kernel.
	OursMS float64 `json:"ours_ms,omitempty"`
	Peer   string  `json:"peer,omitempty"`
	PeerMS float64 `json:"peer_ms,omitempty"`
	// Ratio is OursMS/PeerMS: below one gofx is faster.
	Ratio float64 `json:"ratio,omitempty"`
	// RoofShare is the least possible time on this machine divided by OursMS.
	RoofShare float64 `json:"roof_share,omitempty"`

	// PeakBeside is the median rate of the loop of multiply-adds (or of 8-bit
	// products) in turns of its own between those of gofx and the peers, in GFLOP/s:
	// the clock falls under load. BesideShare is GFlops/PeakBeside.
	PeakBeside  float64 `json:"peak_beside,omitempty"`
	BesideShare float64 `json:"beside_share,omitempty"`

	// With more than one thread: AloneMS is the median time of gofx on one, in turns of
	// its own; PeakScaling is the gain of the peak loop from the threads; ScalingShare
	// is AloneMS/OursMS divided by it.
	AloneMS      float64 `json:"alone_ms,omitempty"`
	PeakScaling  float64 `json:"peak_scaling,omitempty"`
	ScalingShare float64 `json:"scaling_share,omitempty"`
	// HandoverNS is the time in which a cache line goes to another processor and back.
	HandoverNS float64 `json:"handover_ns,omitempty"`

	Ours      string             `json:"ours,omitempty"`       // the part of gofx that was called
	Peers     map[string]float64 `json:"peers,omitempty"`      // medians in ms by peer
	Engines   map[string]float64 `json:"engines,omitempty"`    // medians in ms of other ways of gofx
	Least     map[string]float64 `json:"least,omitempty"`      // least times in ms by peer, engine and, as "", of gofx
	Bytes     map[string]float64 `json:"bytes,omitempty"`      // read by a call at least, by engine and, as "", of gofx
	Once      map[string]float64 `json:"once,omitempty"`       // ms of one call of peers that are too slow for turns
	Running   map[string]int     `json:"running,omitempty"`    // threads that ran at once, by peer
	Errors    map[string]float64 `json:"errors,omitempty"`     // largest relative difference from exact results, by peer
	Kernels   []kernelShare      `json:"kernels,omitempty"`    // where gofx is slower than a peer: the kinds of steps that take the most time
	LeftOut   []string           `json:"left_out,omitempty"`   // competitors that could not take part, and why
	Threads   int                `json:"threads"`              // of gofx and of each peer
	Pairs     int                `json:"pairs,omitempty"`      // interleaved measurements for each median
	WindowMS  float64            `json:"window_ms,omitempty"`  // least time of a measurement
	Allocs    float64            `json:"allocs,omitempty"`     // of gofx a call, after warming up
	Foreign   float64            `json:"foreign,omitempty"`    // processors that other programs kept busy meanwhile
	Networks  map[string]int     `json:"networks,omitempty"`   // uses of the shape
	GFlops    float64            `json:"gflops,omitempty"`     // reached by gofx, by definition of the operator
	NSElement float64            `json:"ns_element,omitempty"` // of gofx
	Intensity float64            `json:"intensity,omitempty"`  // FLOP or 8-bit operations a byte

	Counts []Count `json:"counts,omitempty"` // what was counted besides times, in order

	Nodes int     `json:"nodes,omitempty"` // of the graph that is worked on
	Goal  float64 `json:"goal,omitempty"`  // how many times faster than the peer it is to be
	Most  float64 `json:"most,omitempty"`  // microseconds a node that it may take

	Date     string            `json:"date,omitempty"`
	Commit   string            `json:"commit,omitempty"`   // of the code that was measured
	TookS    float64           `json:"took_s,omitempty"`   // seconds that the row took, with all preparation
	Versions map[string]string `json:"versions,omitempty"` // of the peers that were there

	CPU string `json:"cpu,omitempty"` // the processor and the instruction set of the peaks
	// The machine, measured in the same run: GFLOP/s, 8-bit Gop/s, GB/s past the caches.
	PeakGFlops float64 `json:"peak_gflops"`
	PeakGops8  float64 `json:"peak_gops8,omitempty"`
	PeakGBs    float64 `json:"peak_gbs"`
}

// reads notes the bytes that a way of gofx reads.
func (r *Row) reads(name string, o *Ours) {
	if o.Bytes == 0 {
		return
	}
	if r.Bytes == nil {
		r.Bytes = map[string]float64{}
	}
	r.Bytes[name] = o.Bytes
}

// setPeers chooses the fastest peer and computes the ratio.
func (r *Row) setPeers(ms map[string]float64) {
	r.Peers = ms
	for name, t := range r.Once {
		if r.Peers == nil {
			r.Peers = map[string]float64{}
		}
		r.Peers[name] = t
	}
	r.Peer, r.PeerMS, r.Ratio = "", 0, 0
	for name, t := range r.Peers {
		if r.Peer == "" || t < r.PeerMS || t == r.PeerMS && name < r.Peer {
			r.Peer, r.PeerMS = name, t
		}
	}
	if r.PeerMS > 0 && r.OursMS > 0 {
		r.Ratio = r.OursMS / r.PeerMS
	}
}

// writeJSON prints one object a line.
func writeJSON(w io.Writer, r *Row) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// readJSON reads objects that follow each other, such as the output of writeJSON.
func readJSON[T any](r io.Reader) ([]*T, error) {
	var rows []*T
	d := json.NewDecoder(r)
	for {
		v := new(T)
		switch err := d.Decode(v); err {
		case nil:
			rows = append(rows, v)
		case io.EOF:
			return rows, nil
		default:
			return nil, err
		}
	}
}

// readLists reads the objects of files, one file after the other.
func readLists[T any](names []string) ([]*T, error) {
	var all []*T
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		list, err := readJSON[T](f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// writeTable prints rows for reading.
func writeTable(w io.Writer, rows []*Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "group\tshape\tours ms\tpeer\tpeer ms\tratio\troof\tGFLOP/s\t")
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r.cells(), "\t")+"\t")
	}
	return t.Flush()
}

// cells are the columns of the tables, "-" where there is nothing.
func (r *Row) cells() []string {
	num := func(format string, v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf(format, v)
	}
	peer := r.Peer
	if peer == "" {
		peer = "-"
	}
	return []string{r.Group, r.Shape, ms(r.OursMS), peer, ms(r.PeerMS), num("%.2f", r.Ratio), num("%.2f", r.RoofShare), num("%.1f", r.GFlops)}
}

// ms prints a time with three digits that count.
func ms(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// gain is the gain of several threads over one, and its share of the peak's gain.
func (r *Row) gain() string {
	switch {
	case r.AloneMS == 0 || r.OursMS == 0:
		return "-"
	case r.ScalingShare == 0:
		return fmt.Sprintf("%.2f", r.AloneMS/r.OursMS)
	}
	return fmt.Sprintf("%.2f (%.2f)", r.AloneMS/r.OursMS, r.ScalingShare)
}

// median returns the middle value, the mean of the two middle ones for an even number.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// sums adds up the convolutions of each network whose shapes all have rows.
func sums(group string, rows []*Row, shapesOf map[string]int) []*Row {
	var names []string
	for n := range shapesOf {
		names = append(names, n)
	}
	slices.Sort(names)
	var out []*Row
	for _, network := range names {
		s := &Row{Group: group, Shape: network + "_sum", Networks: map[string]int{network: 1}}
		total, counts, found := map[string]float64{}, map[string]int{}, 0
		best, roof := 0.0, 0.0
		for _, r := range rows {
			n := r.Networks[network]
			if r.Group != group || n == 0 {
				continue
			}
			found++
			s.Threads, s.Pairs = r.Threads, r.Pairs
			s.CPU = r.CPU
			s.PeakGFlops, s.PeakGops8, s.PeakGBs = r.PeakGFlops, r.PeakGops8, r.PeakGBs
			s.OursMS += float64(n) * r.OursMS
			s.AloneMS += float64(n) * r.AloneMS
			roof += float64(n) * r.OursMS * r.RoofShare
			best += float64(n) * r.PeerMS
			for name, t := range r.Peers {
				total[name] += float64(n) * t
				counts[name]++
			}
		}
		if found == 0 || found != shapesOf[network] {
			continue
		}
		if s.OursMS > 0 {
			s.RoofShare = roof / s.OursMS
		}
		for name := range total {
			if counts[name] != found {
				delete(total, name) // not comparable: some shapes are missing
			}
		}
		s.setPeers(total)
		// The strictest comparison: with the faster peer at every shape.
		if len(total) > 0 {
			s.Peer, s.PeerMS = "best at each shape", best
			if best > 0 && s.OursMS > 0 {
				s.Ratio = s.OursMS / best
			}
		}
		out = append(out, s)
	}
	return out
}
