"""Data of the shapes of Adult and MNIST, the same for every program: PEERS_DATA/{adult,mnist}.npz and .bin.

A .bin file holds rows of 32-bit numbers, the outcome last: levels of 14 columns (adult), or 784 features (mnist).
"""

import os

import numpy as np

OUT = os.environ["PEERS_DATA"]
os.makedirs(OUT, exist_ok=True)


def outcomes(rng, X, w):
    return (rng.random(len(X)) < 1 / (1 + np.exp(-(X @ w)))).astype(np.float32)


def save(name, X, y, rows):
    np.savez(f"{OUT}/{name}.npz", X=X, y=y)
    np.column_stack([rows, y]).astype(np.float32).tofile(f"{OUT}/{name}.bin")
    print(name, X.shape, f"{y.mean():.3f} positive")


def adult():
    """14 categorical columns with 100 levels in all, one indicator each, rows of norm 1."""
    rng, n, sizes = np.random.default_rng(11), 32_561, [7] * 12 + [8] * 2
    levels = np.column_stack([rng.choice(s, n, p=rng.dirichlet(np.full(s, 0.7))) for s in sizes])
    X = np.zeros((n, sum(sizes)))
    for first, column in zip(np.cumsum([0] + sizes[:-1]), levels.T):
        X[np.arange(n), first + column] = 14**-0.5
    w = 2 * rng.standard_normal(X.shape[1])
    m = X.mean(0)
    w -= m * (m @ w + 1.2) / (m @ m)
    save("adult", X, outcomes(rng, X, w), levels)


def mnist():
    """784 features of low rank and noise, not negative, rows of norm 1."""
    rng, n, d, rank = np.random.default_rng(12), 7_988, 784, 30
    F = rng.standard_normal((rank, d)) / rank**0.5
    X = np.maximum(0, 0.5 * rng.standard_normal((n, rank)) @ F + 0.1 * rng.standard_normal((n, d)))
    X = (X / np.sqrt((X**2).sum(1))[:, None]).astype(np.float32).astype(np.float64)
    w = 3 * rng.standard_normal(d)
    m = X.mean(0)
    w -= m * (m @ w) / (m @ m)
    save("mnist", X, outcomes(rng, X, w), X)


adult()
mnist()
