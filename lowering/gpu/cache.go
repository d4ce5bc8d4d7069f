package gpu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// MostPrograms is how many built programs a device keeps that no executable uses.
const MostPrograms = 256

// folder returns the folder of built programs, "" for none.
func (t Target) folder() string {
	switch t.Cache {
	case "-":
		return ""
	case "":
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(base, "gofx", "gpu")
	}
	return t.Cache
}

// program returns the program of a source: the one that the device has, one from the folder,
// or a new one, which the driver has built. A folder that cannot be read or written costs the
// time of building, no more. The options are those of the compilation, which belong to the key.
func (d *Device) program(text, options, folder string) (held *lowering.Held[device.Program], built bool, err error) {
	key := d.key(text, options)
	held, err = d.programs.Hold(context.Background(), key, func() (device.Program, error) {
		file := ""
		var binary []byte
		if folder != "" {
			file = filepath.Join(folder, key+".bin")
			binary, _ = os.ReadFile(file) // one that cannot be read is none
		}
		p, compiled, err := d.dev.Build(text, binary)
		if err != nil {
			return nil, err
		}
		if built = compiled; built {
			d.built.Add(1)
			d.save(p, file)
		} else {
			d.loaded.Add(1)
		}
		return p, nil
	})
	return held, built, err
}

// key names a program: by its source, the options, the device and the versions of driver and
// library.
func (d *Device) key(text, options string) string {
	h := sha256.New()
	i := d.Info()
	for _, s := range []string{"2", i.Kind, i.Name, i.Vendor, i.Driver, i.Arch, options, text} {
		_, _ = h.Write([]byte(s + "\x00")) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// save writes a built program, as a whole or not at all.
func (d *Device) save(p device.Program, file string) {
	binary, err := p.Binary()
	if err != nil || file == "" || len(binary) == 0 {
		return
	}
	const folderMode = 0o755
	if os.MkdirAll(filepath.Dir(file), folderMode) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(binary)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // nothing else is to be done with it
	}
}
