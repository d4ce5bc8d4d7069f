package run

import (
	"context"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/pack"
)

// program returns the program of a source: the one that the device has, one from the folder,
// that of the pack, or a new one, which the driver has built.
func (d *Device) program(ctx context.Context, text string, o Settings) (held *lowering.CacheEntry[device.Program], built bool, err error) {
	i := d.Info()
	key := lowering.Key("3", i.Kind, i.Name, i.Vendor, i.Driver, i.Arch, o.Key, text) // Driver has the versions
	held, err = d.programs.Hold(ctx, key, func() (device.Program, error) {
		p, compiled, err := d.build(text, o.Folder.Load(key), o.Pack)
		if err != nil {
			return nil, err
		}
		if built = compiled; !built {
			d.loaded.Add(1)
			return p, nil
		}
		d.built.Add(1)
		if binary, err := p.Binary(); err == nil {
			o.Folder.Save(key, binary)
		}
		return p, nil
	})
	return held, built, err
}

// build takes an image of the folder where there is one, else of the pack: what was made ahead
// needs no compiler.
func (d *Device) build(text string, image []byte, ahead *pack.Pack) (p device.Program, compiled bool, err error) {
	packed := d.Info().Kind == device.CUDA && ahead.Has(text)
	if packed && image == nil {
		return d.dev.Build(text, ahead.Find(text))
	}
	p, compiled, err = d.dev.Build(text, image)
	if packed && err != nil { // the folder's is damaged, and nothing compiles another
		return d.dev.Build(text, ahead.Find(text))
	}
	return p, compiled, err
}
