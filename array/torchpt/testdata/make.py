# Writes the files of this folder (and the values that tests expect) into the folder
# given: python3 make.py DIR. They were made with PyTorch 1.13.
import collections
import os
import sys

import torch

os.chdir(sys.argv[1])

# Every element type, strides of all kinds, storages that are shared.
base = torch.arange(24, dtype=torch.float32)
types = collections.OrderedDict()
for d in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
    types[str(d)[6:]] = torch.tensor([[1, 2, 3], [4, 5, 100]]).to(d)
types["bool"] = torch.tensor([True, False, True])
types["complex64"] = torch.tensor([1 + 2j])
types["scalar"] = torch.tensor(7.5)
types["empty"] = torch.zeros(0, 3)
types["transposed"] = base.view(4, 6).t()
types["slice"] = base[5:20:3]
types["tail"] = base[20:]
types["whole"] = base
types["permuted"] = base.view(2, 3, 4).permute(2, 0, 1)
types["expanded"] = base[3:4].expand(2, 5)
types["parameter"] = torch.nn.Parameter(base.view(3, 8).clone())
torch.save(types, "types.pt")

net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.copy_(torch.arange(p.numel()).view(p.shape) + i)
torch.save(net.state_dict(), "state.pth")
opt = torch.optim.Adam(net.parameters())
net(torch.ones(4, 3)).sum().backward()
opt.step()
checkpoint = {"model": net.state_dict(), "optimizer": opt.state_dict(), "epoch": 3, "lr": 0.5, "note": "x", "args": (None, True, [1, 2**70, -5]),
              "shape": torch.Size([1, 2]), "device": torch.device("cpu"), "kind": torch.float16, "set": {1, 2}, "raw": b"\x00\xff"}
torch.save(checkpoint, "checkpoint.pt")
for protocol in (3, 4, 5):
    torch.save(types, "protocol%d.pt" % protocol, pickle_protocol=protocol)
torch.save([torch.ones(2), {"a": torch.zeros(1)}], "list.pt")
torch.save(torch.ones(2, 2), "tensor.pt")

# The format before PyTorch 1.6.
for name, value, protocol in (("legacy.pt", net.state_dict(), 2), ("legacy_types.pt", types, 2), ("legacy_types4.pt", types, 4), ("legacy_checkpoint.pt", checkpoint, 2)):
    torch.save(value, name, _use_new_zipfile_serialization=False, pickle_protocol=protocol)
torch.save(net, "legacy_module.pt", _use_new_zipfile_serialization=False)

# What is refused.
torch.save(net, "module.pt")
torch.save({"s": torch.eye(2).to_sparse()}, "sparse.pt")
torch.save({"q": torch.quantize_per_tensor(torch.ones(2), 0.5, 1, torch.qint8)}, "quantised.pt")
torch.jit.save(torch.jit.script(net), "script.pt")


class Hostile:
    def __reduce__(self):
        return os.system, ("touch executed",)


torch.save({"w": torch.ones(1), "x": Hostile()}, "hostile.pt")
torch.save({"w": torch.ones(1), "x": Hostile()}, "legacy_hostile.pt", _use_new_zipfile_serialization=False)
