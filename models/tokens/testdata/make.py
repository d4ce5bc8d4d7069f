"""Writes small vocabularies as GGUF files, and reference.json: the tokens that Hugging Face's tokenizers make of texts with them.

The vocabularies are trained on the texts here; the patterns that cut texts are those of the published models.

    python models/tokens/testdata/make.py
"""

import json
import pathlib
import struct

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
LINES = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|NUMBERS| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
CUTS = {
    "gpt-2": [GPT2], "smollm": [r"\p{N}", GPT2],
    "llama-bpe": [LINES.replace("NUMBERS", r"\p{N}{1,3}")], "qwen2": [LINES.replace("NUMBERS", r"\p{N}")],
}
TEXTS = [
    "", " ", "a", "Hello, world!", "  two  spaces ", "I'm sure they'll say it's what we've had, I'D SAY: WE'LL SEE.", "tabs\tand\r\nlines\n\n\n  end\n",
    "In 2024, 1234567 people; 3.14159 and 007.", "Ünïcödé größer naïve façade", "Привет, мир! Как дела?", "你好,世界。今天天气很好", "こんにちは世界、元気ですか",
    "안녕하세요 세계", "مرحبا بالعالم", "שלום עולם", "नमस्ते दुनिया", "สวัสดีชาวโลก", "emoji 😀👩‍👩‍👧‍👦🇩🇪 end", "func main() {\n\tfmt.Println(\"hi\")\n}\n", "a\u00a0b\u2003c\u3000d\u2028e\x0bf\x85g",
    "e\u0301 combining, \u017f long s: '\u017f 's", "½ ² Ⅳ ٣٤ numbers", "\x00\x01\x7f controls", "____------====", "▁ marks ▁▁", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "<|user|>text<|user|><s>and</s><|end|> more <|user", "\n \n  \n", "x" * 70 + " y", "The quick brown fox jumps over the lazy dog. " * 4,
]


def text(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def value(v):
    match v:
        case bool():
            return struct.pack("<IB", 7, v)
        case str():
            return struct.pack("<I", 8) + text(v)
        case int():
            return struct.pack("<II", 4, v)
        case [str(), *_]:
            return struct.pack("<IIQ", 9, 8, len(v)) + b"".join(map(text, v))
        case [int(), *_]:
            return struct.pack("<IIQ", 9, 5, len(v)) + struct.pack(f"<{len(v)}i", *v)
        case [float(), *_]:
            return struct.pack("<IIQ", 9, 6, len(v)) + struct.pack(f"<{len(v)}f", *v)
    raise ValueError(v)


def write(name, keys):
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys))
    for k, v in keys.items():
        head += text("tokenizer.ggml." + k) + value(v)
    (HERE / f"{name}.gguf").write_bytes(head + bytes(-len(head) % 32))


def reference(t):
    out = []
    for s in TEXTS:
        ids = t.encode(s, add_special_tokens=False).ids
        out.append({"text": s, "tokens": ids, "decoded": t.decode(ids, skip_special_tokens=True)})
    return out


CONTROL, DEFINED = ["<s>", "</s>", "<|end|>"], ["<|user|>", "<|user|><s>"]


def over_bytes(pre):
    cut = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(p), behavior="isolated") for p in CUTS[pre]] + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t = Tokenizer(models.BPE(ignore_merges=pre == "llama-bpe"))
    t.pre_tokenizer, t.decoder = cut, decoders.ByteLevel()
    t.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=480, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    vocab = json.loads(t.to_str())["model"]
    words = sorted(vocab["vocab"], key=vocab["vocab"].get)
    if pre == "llama-bpe":  # a word that no pairs make
        words.append("Ġlazy" if "Ġlazy" not in words else "brown")
        t.model = models.BPE({w: i for i, w in enumerate(words)}, [tuple(m) for m in vocab["merges"]], ignore_merges=True)
    n = len(words)
    t.add_special_tokens([AddedToken(c, special=True) for c in CONTROL])
    t.add_tokens([AddedToken(c, normalized=False) for c in DEFINED])
    keys = {"model": "gpt2", "pre": pre, "tokens": words + CONTROL + DEFINED, "token_type": [1] * n + [3] * 3 + [4] * 2,
            "merges": [" ".join(m) for m in vocab["merges"]], "bos_token_id": n, "eos_token_id": n + 1}
    write(pre, keys)
    return {"file": pre, "begin": [n] if pre == "llama-bpe" else [], "cases": reference(t)}


def by_scores(name, prefix):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always" if prefix else "never")
    t.train_from_iterator([s for s in TEXTS if "<" not in s], trainers.BpeTrainer(vocab_size=330, limit_alphabet=120, show_progress=False))
    learnt = json.loads(t.to_str())["model"]
    pieces = sorted(learnt["vocab"], key=learnt["vocab"].get)
    rank = {a + b: i for i, (a, b) in reversed(list(enumerate(learnt["merges"])))}
    words = ["<unk>"] + CONTROL + [f"<0x{b:02X}>" for b in range(256)] + pieces
    kinds = [2, 3, 3, 3] + [6] * 256 + [1] * len(pieces)
    scores = [0.0] * 260 + [-float(rank.get(p, 10000)) for p in pieces]
    known = set(pieces)
    assert len(set(words)) == len(words)
    merges = []  # all pairs that make a piece, as SentencePiece joins them
    for p in sorted(rank, key=rank.get):
        merges += [(p[:i], p[i:]) for i in range(1, len(p)) if p[:i] in known and p[i:] in known]
    t = Tokenizer(models.BPE({w: i for i, w in enumerate(words)}, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence(([normalizers.Prepend("▁")] if prefix else []) + [normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()] + ([decoders.Strip(" ", 1, 0)] if prefix else []))
    t.add_special_tokens([AddedToken(c, special=True, normalized=False) for c in ["<unk>"] + CONTROL])
    t.add_tokens([AddedToken(c, normalized=False) for c in DEFINED])
    write(name, {"model": "llama", "tokens": words + DEFINED, "token_type": kinds + [4, 4], "scores": scores + [0.0, 0.0],
                 "bos_token_id": 1, "eos_token_id": 2, "add_space_prefix": prefix, "add_bos_token": prefix})
    return {"file": name, "begin": [1] if prefix else [], "cases": reference(t)}


def main():
    all = [over_bytes(pre) for pre in CUTS] + [by_scores("scores", True), by_scores("scores-bare", False)]
    (HERE / "reference.json").write_text(json.dumps(all, ensure_ascii=True, indent=None, separators=(",", ":")).replace("},{", "},\n{") + "\n")


main()
