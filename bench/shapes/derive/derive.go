// Package derive finds the convolutions of published networks from the lists of
// modules in the reference manifests: the manifests name the kind of a module,
// and the size of its input follows from the order and the strides.
package derive

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Conv is one distinct two-dimensional convolution of a network, square in
// kernel, stride, padding and image.
type Conv struct {
	C, Size                        int // channels and height of the input
	M, Kernel, Stride, Pad, Groups int
	Count                          int // how often the network has it
}

// Out returns the height of the result.
func (c Conv) Out() int { return (c.Size+2*c.Pad-c.Kernel)/c.Stride + 1 }

// MACs returns the multiply-adds of one such convolution on one image.
func (c Conv) MACs() int {
	return c.M * c.Out() * c.Out() * c.C / c.Groups * c.Kernel * c.Kernel
}

// Manifest is the part of a manifest that this package reads.
type Manifest struct {
	MACs   int `json:"macs"`
	Inputs []struct {
		Shape []int `json:"shape"`
	} `json:"inputs"`
	Modules [][3]string `json:"modules"`
}

// Read reads the manifest of a network below the folder of fixtures.
func Read(fixtures, network string) (*Manifest, error) {
	b, err := os.ReadFile(filepath.Join(fixtures, network, "manifest.json"))
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	return m, json.Unmarshal(b, m)
}

var (
	field   = regexp.MustCompile(`(\w+)=\(?(\d+)`)
	channel = regexp.MustCompile(`^(\d+), (\d+)`)
	block   = regexp.MustCompile(`^layer\d+\.\d+`)
)

// walk is the state while going through the modules in order.
type walk struct {
	size  int            // of the current image
	enter map[string]int // size at the entry of each residual block
	order []Conv
	index map[Conv]int
}

// Convs returns the distinct convolutions in order of first use and the
// multiply-adds of the fully connected layers.
func (m *Manifest) Convs() (convs []Conv, linear int, err error) {
	w := walk{size: m.Inputs[0].Shape[2], enter: map[string]int{}, index: map[Conv]int{}}
	for _, mod := range m.Modules {
		name, kind, text := mod[0], mod[1], mod[2]
		f := map[string]int{}
		for _, v := range field.FindAllStringSubmatch(text, -1) {
			f[v[1]], _ = strconv.Atoi(v[2])
		}
		if b := block.FindString(name); b != "" {
			if _, ok := w.enter[b]; !ok {
				w.enter[b] = w.size
			}
		}
		switch kind {
		case "Conv2d":
			ch := channel.FindStringSubmatch(text)
			if ch == nil {
				return nil, 0, fmt.Errorf("derive: %s: no channels in %q", name, text)
			}
			w.conv(name, ch, f)
		case "MaxPool2d", "AvgPool2d":
			w.size = (w.size+2*f["padding"]-f["kernel_size"])/f["stride"] + 1
		case "Linear":
			linear += f["in_features"] * f["out_features"]
		}
	}
	return w.order, linear, nil
}

func (w *walk) conv(name string, ch []string, f map[string]int) {
	c := Conv{Kernel: f["kernel_size"], Stride: max(1, f["stride"]), Pad: f["padding"], Groups: max(1, f["groups"])}
	c.C, _ = strconv.Atoi(ch[1])
	c.M, _ = strconv.Atoi(ch[2])
	switch {
	case strings.Contains(name, ".fc1") || strings.Contains(name, ".fc2"):
		c.Size = 1 // squeeze-and-excitation works on pooled channels
	case strings.Contains(name, "downsample"):
		c.Size = w.enter[block.FindString(name)] // parallel to the block, from its entry
	default:
		c.Size = w.size
		w.size = c.Out()
	}
	i, ok := w.index[c]
	if !ok {
		i = len(w.order)
		w.index[c] = i
		w.order = append(w.order, c)
	}
	w.order[i].Count++
}
