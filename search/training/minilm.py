"""Forward pass of a MiniLM (a BERT of 6 layers) in numpy, for sequences of one length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf

LAYERS, HEADS, EPSILON = 6, 12, 1e-12


class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, 12 heads."""

    def __init__(self, path: Path) -> None:
        self._weights = load_file(path)

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
        return hidden.mean(axis=1)

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
        return (scores @ value).transpose(0, 2, 1, 3).reshape(hidden.shape)

    def _linear(self, hidden: np.ndarray, name: str) -> np.ndarray:
        weight, bias = self._weights[name + ".weight"], self._weights[name + ".bias"]
        flat = hidden.reshape(-1, hidden.shape[-1])
        return (flat @ weight.T + bias).reshape(*hidden.shape[:-1], weight.shape[0])

    def _normalise(self, hidden: np.ndarray, name: str) -> np.ndarray:
        mean = hidden.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(hidden.var(axis=-1, keepdims=True) + EPSILON)
        return (hidden - mean) / deviation * self._weights[name + ".weight"] + self._weights[name + ".bias"]
