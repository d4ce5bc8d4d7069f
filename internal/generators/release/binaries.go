package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// platforms are those that binaries are made for.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// platform is an operating system and a processor.
type platform struct{ os, arch string }

// parsePlatforms reads a list of platforms, none for no platforms.
func parsePlatforms(list string) (out []platform, err error) {
	if list == "none" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(strings.Split(platforms, ","), name) {
			return nil, fmt.Errorf("got platform %q, want some of %s, with commas between them, or none", name, platforms)
		}
		system, arch, _ := strings.Cut(name, "/")
		out = append(out, platform{system, arch})
	}
	return out, nil
}

// exe is the ending of the names of programs.
func (p platform) exe() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// program is the name of the program in an archive.
func (p platform) program() string { return "fxgen" + p.exe() }

// tags makes programs for Linux static, so that they run where there is no C library: without the engines that load
// one. On other systems every program uses the system's libraries.
func (p platform) tags() string {
	if p.os == "linux" {
		return staticTag
	}
	return ""
}

// staticTag leaves out what loads libraries while a program runs; package internal/dynlib describes it.
const staticTag = "nodynlib"

// base is the name, without an ending, of the files for a platform.
func (p platform) base(version string) string {
	return "fxgen_" + strings.TrimPrefix(version, "v") + "_" + p.os + "_" + p.arch
}

// archive is the name of the archive for a platform.
func (p platform) archive(version string) string { return p.base(version) + ".tar.gz" }

// binaries builds fxgen for platforms from the proxy of the release, so that the binaries are those that go install
// makes, and writes archives with their contents, their checksums, the formula and the Dockerfile.
func (m *maker) binaries(ctx context.Context, tree string, targets []platform, at time.Time) error {
	dir, err := os.MkdirTemp("", "gofx-binaries-")
	if err != nil {
		return err
	}
	defer func() { _ = removeAll(dir) }()
	env, err := userEnv(ctx, filepath.Join(m.out, "proxy"), dir)
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(tree, "LICENSE"))
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for _, p := range targets {
		m.say("building for %s/%s", p.os, p.arch)
		path, err := build(ctx, env, dir, command+"@"+m.version, p)
		if err != nil {
			return err
		}
		bom, err := billOf(path, at)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := map[string][]byte{p.base(m.version) + ".cdx.json": bom}
		files[p.archive(m.version)], err = packed(at, []member{{p.program(), program, 0o755}, {"LICENSE", license, 0o644}})
		if err != nil {
			return err
		}
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(m.out, name), data, 0o666); err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			sums[name] = hex.EncodeToString(sum[:])
		}
	}
	if err := os.WriteFile(filepath.Join(m.out, "SHA256SUMS"), sumLines(sums), 0o666); err != nil {
		return err
	}
	return m.recipes(targets, sums)
}

// sumLines lists checksums in the form that sha256sum -c reads.
func sumLines(sums map[string]string) []byte {
	var lines []string
	for name, sum := range sums {
		lines = append(lines, sum+"  "+name+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return []byte(strings.Join(lines, ""))
}

// build installs a program for a platform into a folder, and returns its path. The bytes depend on the program's modules
// and the version of Go alone: neither on the folder, nor on what the environment says of the processor.
func build(ctx context.Context, env []string, dir, program string, p platform) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "install", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-tags="+p.tags(), program)
	cmd.Dir = dir
	cmd.Env = append(slices.Clip(env), "GOPATH="+filepath.Join(dir, "path"), "GOBIN=", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go install %s for %s/%s: %w\n%s", program, p.os, p.arch, err, out.String())
	}
	path := filepath.Join(dir, "path", "bin")
	if p.os != runtime.GOOS || p.arch != runtime.GOARCH {
		path = filepath.Join(path, p.os+"_"+p.arch)
	}
	name, _, _ := strings.Cut(program, "@")
	return filepath.Join(path, name[strings.LastIndex(name, "/")+1:]+p.exe()), nil
}

// member is a file in an archive.
type member struct {
	name string
	data []byte
	mode int64
}

// packed makes an archive whose bytes depend on the files and the time alone.
func packed(at time.Time, files []member) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := io.Copy(w, bytes.NewReader(f.data)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
