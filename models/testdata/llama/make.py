"""Writes small GGUF files of decoders and what Hugging Face's transformers compute with the same weights.

Each NAME.gguf has weights that a generator with a fixed seed draws, stored as the case says; NAME.safetensors has
a text, the scores of the next token after each of its prefixes, and the tokens that greedy decoding appends to the
first eight. Quantised weights are given to the model as the numbers that they stand for.

    python models/testdata/llama/make.py
"""

import pathlib
import struct

import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
VOCAB, WIDTH, INNER, LAYERS, HEADS, KV, HEAD = 40, 32, 64, 2, 4, 2, 8
F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, BF16 = 0, 1, 2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 30


def q8_0(w):
    x = w.reshape(-1, 32)
    d = (np.abs(x).max(1, keepdims=True) / 127).astype(np.float16)
    q = np.clip(np.rint(x / d.astype(np.float32)), -127, 127).astype(np.int8)
    data = b"".join(s.tobytes() + r.tobytes() for s, r in zip(d, q))
    return data, (q * d.astype(np.float32)).reshape(w.shape)


def q4_0(w):
    x = w.reshape(-1, 32)
    d = (np.abs(x).max(1, keepdims=True) / -8).astype(np.float16)
    q = np.clip(np.rint(x / d.astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    packed = q[:, :16] | q[:, 16:] << 4
    data = b"".join(s.tobytes() + r.tobytes() for s, r in zip(d, packed))
    return data, ((q.astype(np.float32) - 8) * d.astype(np.float32)).reshape(w.shape)


def bf16(w):
    t = torch.from_numpy(w).to(torch.bfloat16)
    return t.view(torch.int16).numpy().tobytes(), t.float().numpy()


def f16(w):
    h = w.astype(np.float16)
    return h.tobytes(), h.astype(np.float32)


def pack(q, at):
    """Puts numbers of a few bits at places of words of eight, of the same row."""
    out = np.zeros((len(q), max(at)[0] + 1), np.uint8)
    for v, (byte, shift) in zip(q.T, at):
        out[:, byte] |= (v << shift).astype(np.uint8)
    return out


def runs(n, size, count, bits):
    """Where elements lie when each run of bytes holds count runs of elements."""
    return [(i // (size * count) * size + i % size, bits * (i // size % count)) for i in range(n)]


def parts(scale, least, top):
    """The numbers that scale and minimum of each group of a row of blocks are made of: a float for the block, steps for the groups."""
    d = (scale.max(1, keepdims=True) / top).astype(np.float16)
    s = np.rint(scale / np.maximum(d.astype(np.float32), 1e-8)).astype(np.int64).clip(0, top)
    m = (least.max(1, keepdims=True) / top).astype(np.float16)
    t = np.rint(least / np.maximum(m.astype(np.float32), 1e-8)).astype(np.int64).clip(0, top)
    return d, s, m, t


def one(bits, minimum):
    """Blocks of 32 with a scale, and a minimum or a number that stands for 0."""
    def store(w):
        x = w.reshape(-1, 32)
        top = 2**bits - 1
        low, high = x.min(1, keepdims=True), x.max(1, keepdims=True)
        if minimum:
            d, m = ((high - low) / top).astype(np.float16), low.astype(np.float16)
            q = np.rint((x - m.astype(np.float32)) / d.astype(np.float32)).astype(np.int64).clip(0, top)
            y, head = q * d.astype(np.float32) + m.astype(np.float32), np.hstack([d.view(np.uint8), m.view(np.uint8)])
        else:
            zero = 2 ** (bits - 1)
            d = (np.maximum(high, -low) / (zero - 1)).astype(np.float16)
            q = (np.rint(x / d.astype(np.float32)).astype(np.int64) + zero).clip(0, top)
            y, head = (q - zero) * d.astype(np.float32), d.view(np.uint8)
        if bits == 5:
            head = np.hstack([head, pack(q >> 4, [(i // 8, i % 8) for i in range(32)])])
        return np.hstack([head, pack(q & 15, runs(32, 16, 2, 4))]).tobytes(), y.astype(np.float32).reshape(w.shape)
    return store


def six_bits(s, t):
    """Scales and minima of eight groups in twelve bytes."""
    return np.hstack([s[:, :4] | s[:, 4:] >> 4 << 6, t[:, :4] | t[:, 4:] >> 4 << 6, s[:, 4:] & 15 | (t[:, 4:] & 15) << 4]).astype(np.uint8)


def with_minima(bits, group, top):
    """Q4_K, Q5_K and Q2_K: scales and minima of groups in steps of the block's."""
    def store(w):
        x = w.reshape(-1, 256 // group, group)
        low = np.minimum(x.min(2), 0)
        d, s, m, t = parts((x.max(2) - low) / (2**bits - 1), -low, top)
        scale, least = (d.astype(np.float32) * s)[..., None], (m.astype(np.float32) * t)[..., None]
        q = np.rint((x + least) / np.maximum(scale, 1e-8)).astype(np.int64).clip(0, 2**bits - 1)
        y, q = scale * q - least, q.reshape(-1, 256)
        if bits == 2:
            blocks = [(s | t << 4).astype(np.uint8), pack(q, runs(256, 32, 4, 2)), d.view(np.uint8), m.view(np.uint8)]
        else:
            blocks = [d.view(np.uint8), m.view(np.uint8), six_bits(s, t)]
            blocks += [pack(q >> 4, runs(256, 32, 8, 1))] if bits == 5 else []
            blocks += [pack(q & 15, runs(256, 32, 2, 4))]
        return np.hstack(blocks).tobytes(), y.astype(np.float32).reshape(w.shape)
    return store


def signed(bits, top):
    """Q6_K and Q3_K: scales of groups of 16, which may be negative."""
    def store(w):
        x = w.reshape(-1, 16, 16)
        zero = 2 ** (bits - 1)
        scale = np.abs(x).max(2) / (zero - 1)
        scale[:, ::3] *= -1
        d = (np.abs(scale).max(1, keepdims=True) / top).astype(np.float16)
        s = np.rint(scale / d.astype(np.float32)).astype(np.int64).clip(-top - 1, top)
        each = (d.astype(np.float32) * s)[..., None]
        q = (np.rint(x / np.where(each == 0, 1, each)).astype(np.int64) + zero).clip(0, 2**bits - 1)
        y, q = each * (q - zero), q.reshape(-1, 256)
        if bits == 6:
            blocks = [pack(q & 15, runs(256, 64, 2, 4)), pack(q >> 4, runs(256, 32, 4, 2)), s.astype(np.int8).view(np.uint8), d.view(np.uint8)]
        else:
            s = s + 32
            scales = np.hstack([pack(s & 15, runs(16, 8, 2, 4)), pack(s >> 4, runs(16, 4, 4, 2))])
            blocks = [pack(q >> 2, runs(256, 32, 8, 1)), pack(q & 3, runs(256, 32, 4, 2)), scales, d.view(np.uint8)]
        return np.hstack(blocks).tobytes(), y.astype(np.float32).reshape(w.shape)
    return store


STORE = {F32: lambda w: (w.tobytes(), w), F16: f16, BF16: bf16, Q8_0: q8_0, Q4_0: q4_0, Q4_1: one(4, True), Q5_0: one(5, False), Q5_1: one(5, True),
         Q2_K: with_minima(2, 16, 15), Q4_K: with_minima(4, 32, 63), Q5_K: with_minima(5, 32, 63), Q3_K: signed(3, 31), Q6_K: signed(6, 127)}


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def pair(key, v):
    kind = {int: (4, "<I"), float: (6, "<f")}
    if isinstance(v, str):
        return text(key) + struct.pack("<I", 8) + text(v)
    n, form = kind[type(v)]
    return text(key) + struct.pack("<I", n) + struct.pack(form, v)


def write(path, keys, tensors):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for k, v in keys.items():
        head += pair(k, v)
    data = b""
    for name, kind, shape, raw in tensors:
        head += text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", d) for d in reversed(shape)) + struct.pack("<IQ", kind, len(data))
        data += raw + bytes(-len(raw) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + data)


NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}


def gguf_name(name):
    name = name.removeprefix("model.")
    for old, new in {"embed_tokens": "token_embd", "lm_head": "output"}.items():
        name = name.replace(old, new)
    if name == "norm.weight":
        return "output_norm.weight"
    if not name.startswith("layers."):
        return name
    _, i, rest = name.split(".", 2)
    part, what = rest.rsplit(".", 1)
    return f"blk.{i}.{NAMES[part]}.{what}"


def interleaved(w, heads):
    """Rows of the two halves of a head in turns, as files of Llama have them."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def make(name, arch, model, kinds, keys, extra=()):
    seed = 0
    while not make_by(np.random.default_rng(seed), name, arch, model, kinds, keys, extra):
        seed += 1


def make_by(rng, name, arch, model, kinds, keys, extra):
    """Writes the files, unless greedy decoding says little because it repeats few tokens."""
    tied = model.config.tie_word_embeddings
    tensors, state = list(extra), {}
    for full, p in model.state_dict().items():
        if tied and full == "lm_head.weight":
            continue
        if p.ndim == 1:
            norm, kind = "norm" in full, F32
            w = rng.uniform(-0.2, 0.2, p.shape).astype(np.float32) if norm else rng.uniform(-0.5, 0.5, p.shape).astype(np.float32)
            if norm and arch != "gemma":
                w += 1
            raw = (w + 1 if arch == "gemma" else w).tobytes()  # Gemma's files have what x is multiplied by
        else:
            w = rng.normal(0, (2 if tied else 0.9) / p.shape[1] ** 0.5, p.shape).astype(np.float32)
            if "embed" in full:
                w = rng.normal(0, 0.1 if tied else 1, p.shape).astype(np.float32)  # a tied table must not repeat its token
            kind = kinds.get(full.split(".")[-2], kinds["*"])
            raw, w = STORE[kind](w)
            if arch == "llama" and ("q_proj" in full or "k_proj" in full):
                heads = HEADS if "q_proj" in full else KV
                row = len(raw) // p.shape[0]
                rows = np.frombuffer(raw, np.uint8).reshape(p.shape[0], row)
                raw = interleaved(rows, heads).tobytes()
        state[full] = torch.from_numpy(w.copy())
        tensors.append((gguf_name(full), kind, p.shape, raw))
    if tied:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state)
    model.eval()
    ids = rng.integers(0, VOCAB, 16)
    with torch.no_grad():
        scores = model(torch.from_numpy(ids)[None]).logits[0].numpy()
        greedy = ids[:8].tolist()
        while len(greedy) < 24:
            greedy.append(int(model(torch.tensor([greedy])).logits[0, -1].argmax()))
    if len(set(greedy[8:])) < 4:
        return False
    base = {"general.architecture": arch, "general.name": name}
    write(HERE / f"{name}.gguf", base | {f"{arch}.{k}": v for k, v in keys.items()}, tensors)
    save_file({"ids": ids, "scores": np.ascontiguousarray(scores), "greedy": np.array(greedy[8:])}, HERE / f"{name}.safetensors")
    return True


SIZES = dict(vocab_size=VOCAB, hidden_size=WIDTH, intermediate_size=INNER, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
             num_key_value_heads=KV, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, attn_implementation="eager")
KEYS = {"context_length": 64, "embedding_length": WIDTH, "block_count": LAYERS, "feed_forward_length": INNER,
        "attention.head_count": HEADS, "attention.head_count_kv": KV}


def rope(base, **more):
    return {"rope_theta": base, "rope_type": "default"} | more


def main():
    t = transformers
    c = t.LlamaConfig(**SIZES, rms_norm_eps=1e-5, rope_parameters=rope(10000.0), tie_word_embeddings=False)
    make("llama", "llama", t.LlamaForCausalLM(c), {"*": F32, "lm_head": F16, "down_proj": BF16},
         KEYS | {"attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": HEAD})

    three = rope(5000.0, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=512)
    c = t.LlamaConfig(**SIZES, rms_norm_eps=1e-5, rope_parameters=three, tie_word_embeddings=True)
    model = t.LlamaForCausalLM(c)
    plain = 1 / 5000.0 ** (np.arange(0, HEAD, 2) / HEAD)
    factors = (plain / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32)
    assert np.allclose(factors[[0, 1, 3]], [1, 1, 8], rtol=1e-6) and 1.5 < factors[2] < 7.5, factors  # all three rules
    make("llama3", "llama", model, {"*": Q4_0}, KEYS | {"attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 5000.0},
         [("rope_freqs.weight", F32, factors.shape, factors.tobytes())])

    c = t.LlamaConfig(**SIZES, rms_norm_eps=1e-5, rope_parameters=rope(10000.0, rope_type="linear", factor=4.0), tie_word_embeddings=False)
    make("linear", "llama", t.LlamaForCausalLM(c), {"*": Q8_0},
         KEYS | {"attention.layer_norm_rms_epsilon": 1e-5, "rope.scaling.type": "linear", "rope.scaling.factor": 4.0})

    yarn = rope(1000.0, rope_type="yarn", factor=4.0, original_max_position_embeddings=16)
    c = t.Qwen2Config(**SIZES, rms_norm_eps=1e-6, rope_parameters=yarn, tie_word_embeddings=True)
    make("qwen2", "qwen2", t.Qwen2ForCausalLM(c), {"*": Q8_0},
         KEYS | {"attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000.0, "rope.scaling.type": "yarn",
                 "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 16})

    c = t.Qwen3Config(**SIZES, head_dim=16, rms_norm_eps=1e-6, rope_parameters=rope(1000000.0), tie_word_embeddings=False)
    make("qwen3", "qwen3", t.Qwen3ForCausalLM(c), {"*": Q4_0, "lm_head": Q8_0, "embed_tokens": Q8_0},
         KEYS | {"attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1000000.0, "attention.key_length": 16, "attention.value_length": 16})

    c = t.GemmaConfig(**SIZES, head_dim=8, rms_norm_eps=1e-6, rope_parameters=rope(10000.0), tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh")
    make("gemma", "gemma", t.GemmaForCausalLM(c), {"*": F16},
         KEYS | {"attention.layer_norm_rms_epsilon": 1e-6, "attention.key_length": 8, "attention.value_length": 8})

    wide = SIZES | dict(hidden_size=256, intermediate_size=256, num_hidden_layers=1)
    c = t.LlamaConfig(**wide, head_dim=64, rms_norm_eps=1e-5, rope_parameters=rope(10000.0), tie_word_embeddings=False)
    make("blocks", "llama", t.LlamaForCausalLM(c), {"*": Q4_K, "embed_tokens": Q2_K, "q_proj": Q5_K, "k_proj": Q6_K, "v_proj": Q5_0, "o_proj": Q3_K, "gate_proj": Q4_1, "up_proj": Q5_1},
         KEYS | {"embedding_length": 256, "feed_forward_length": 256, "block_count": 1, "attention.layer_norm_rms_epsilon": 1e-5})


main()
