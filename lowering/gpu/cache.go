package gpu

import (
	"context"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/pack"
)

// MostPrograms is how many built programs a device keeps that no executable uses.
const MostPrograms = 256

// program returns the program of a source: the one that the device has, one from the folder,
// that of the pack, or a new one, which the driver has built. The options are those of the compilation, which belong to the key.
func (d *Device) program(ctx context.Context, text, options string, folder lowering.Folder, ahead *Pack) (held *lowering.CacheEntry[device.Program], built bool, err error) {
	i := d.Info()
	key := lowering.Key("3", i.Kind, i.Name, i.Vendor, i.Driver, i.Arch, options, text) // Driver has the versions
	held, err = d.programs.Hold(ctx, key, func() (device.Program, error) {
		p, compiled, err := d.build(text, folder.Load(key), ahead)
		if err != nil {
			return nil, err
		}
		if built = compiled; !built {
			d.loaded.Add(1)
			return p, nil
		}
		d.built.Add(1)
		if binary, err := p.Binary(); err == nil {
			folder.Save(key, binary)
		}
		return p, nil
	})
	return held, built, err
}

// build takes an image of the folder where there is one, else of the pack: what was made ahead
// needs no compiler.
func (d *Device) build(text string, image []byte, ahead *Pack) (p device.Program, compiled bool, err error) {
	packed := d.Info().Kind == CUDA && ahead.Has(text)
	if packed && image == nil {
		return d.dev.Build(text, ahead.Find(text))
	}
	p, compiled, err = d.dev.Build(text, image)
	if packed && err != nil { // the folder's is damaged, and nothing compiles another
		return d.dev.Build(text, ahead.Find(text))
	}
	return p, compiled, err
}

// Pack holds PTX of programs by their source, so that machines without NVRTC run them: see
// Target.Pack. Its Add takes a source as Text returns it and what a compiler for CUDA made of
// it, Bytes returns what ReadPack takes.
type Pack = pack.Pack

// ReadPack returns the pack that Pack.Bytes wrote, which may be embedded in a program. The error
// has the code BadPack.
func ReadPack(data []byte) (*Pack, error) { return pack.Read(data) }
