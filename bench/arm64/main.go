package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	if os.Args[1] == "-guest" {
		if err := guest(strings.Split(os.Args[2], ",")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	dir, _ := os.MkdirTemp("", "gofx-arm64")
	defer os.RemoveAll(dir)
	p, err := build(dir)
	if err != nil {
		panic(err)
	}
	if os.Args[1] == "-model" {
		t, err := findTools()
		if err != nil {
			panic(err)
		}
		var texts []string
		var ls []loop
		for _, k := range append(products, vectors...) {
			l, err := find(p, k)
			if err != nil {
				panic(err)
			}
			s, err := t.text(l.words)
			if err != nil {
				panic(err)
			}
			texts = append(texts, s)
			ls = append(ls, l)
		}
		for _, k := range []kind{fmla, dot, wide} {
			var w []uint32
			for i := range 24 {
				w = append(w, roofs[k].word|uint32(i))
			}
			s, err := t.text(w)
			if err != nil {
				panic(err)
			}
			texts = append(texts, s)
		}
		for _, c := range []string{"cortex-a55", "cortex-a76", "neoverse-n1", "neoverse-n2", "neoverse-v1", "neoverse-v2", "apple-m1"} {
			m, s, err := t.regions(c, texts)
			if err != nil {
				panic(err)
			}
			fmt.Println(c, s)
			peak := map[kind]float64{}
			for i, k := range []kind{fmla, dot, wide} {
				peak[k] = m[len(ls)+i].cycles / 24
				fmt.Println("  peak", roofs[k].name, peak[k])
			}
			for i, l := range ls {
				fmt.Printf("  %-45s %3d instr %6.2f cycles %5.2f busy %s", l.name, len(l.words), m[i].cycles, m[i].busy, m[i].bound)
				if peak[l.kind] > 0 {
					fmt.Printf(" share %.2f", float64(l.useful())*peak[l.kind]/m[i].cycles)
				}
				fmt.Println()
			}
		}
		return
	}
	cs, err := count(p, dir, strings.Split(os.Args[1], ","))
	if err != nil {
		panic(err)
	}
	for k, c := range cs {
		fmt.Println(networks[k].name(), c.instructions/1000, "k")
		for kd := other; kd <= whole; kd++ {
			fmt.Printf(" %d:%.3f", kd, c.share(kd))
		}
		fmt.Println()
		for _, n := range c.most(14) {
			fmt.Printf("   %.3f %s\n", float64(c.functions[n])/float64(c.instructions), n)
		}
	}
}
