"""Writes a model of random weights that llama.cpp can serve: ``tiny_model.py FILE``. Takes gguf.

A Llama of two layers with a vocabulary of 256 bytes and 500 words. The weights of the bytes'
and the special tokens' outputs are nought, so that it says words, without sense and without end.
"""

from __future__ import annotations

import sys

import gguf
import numpy as np

EMBEDDING, HEADS, LAYERS, FEED, CONTEXT, WORDS = 64, 4, 2, 128, 4096, 500


def vocabulary() -> tuple[list[bytes], list[float], list[int]]:
    """Tokens, scores and types."""
    kinds = gguf.TokenType
    tokens = [b"<unk>", b"<s>", b"</s>"]
    types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL]
    tokens += [f"<0x{byte:02X}>".encode() for byte in range(256)]
    types += [kinds.BYTE] * 256
    tokens += [f"▁word{number}".encode() for number in range(WORDS)]
    types += [kinds.NORMAL] * WORDS
    return tokens, [-float(at) for at in range(len(tokens))], [int(one) for one in types]


def write(path: str) -> None:
    """The file, of about half a megabyte."""
    random = np.random.default_rng(6)

    def weights(*shape: int, scale: float = 0.3) -> np.ndarray:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    tokens, scores, types = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_tensor("token_embd.weight", weights(len(tokens), EMBEDDING))
    for layer in range(LAYERS):
        name = f"blk.{layer}."
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{name}{part}.weight", weights(EMBEDDING, EMBEDDING))
        writer.add_tensor(f"{name}ffn_gate.weight", weights(FEED, EMBEDDING))
        writer.add_tensor(f"{name}ffn_up.weight", weights(FEED, EMBEDDING))
        writer.add_tensor(f"{name}ffn_down.weight", weights(EMBEDDING, FEED))
        for part in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{name}{part}.weight", np.ones(EMBEDDING, np.float32))
    writer.add_tensor("output_norm.weight", np.ones(EMBEDDING, np.float32))
    output = weights(len(tokens), EMBEDDING, scale=1.0)
    output[: len(tokens) - WORDS] = 0
    writer.add_tensor("output.weight", output)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1])
