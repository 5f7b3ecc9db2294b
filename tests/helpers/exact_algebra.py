"""Vectors and matrices of fractions, as lists."""

from fractions import Fraction

import numpy as np


def exact(values):
    """Fractions of doubles, in lists as deep as the array."""
    array = np.asarray(values, dtype=float)
    return Fraction(float(array)) if array.ndim == 0 else [exact(one) for one in array]


def dot(left, right):
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def image(matrix, vector):
    return [dot(row, vector) for row in matrix]


def mixed(weights, matrices):
    size = range(len(matrices[0]))
    return [[sum(w * k[i][j] for w, k in zip(weights, matrices, strict=True)) for j in size] for i in size]


def lifted(matrix, ridge):
    return [[entry + (ridge if i == j else 0) for j, entry in enumerate(row)] for i, row in enumerate(matrix)]


def semidefinite(matrix):
    """By symmetric elimination: no pivot negative, nothing left beside one that is zero."""
    rows = [list(row) for row in matrix]
    while rows:
        k = max(range(len(rows)), key=lambda i: rows[i][i])
        pivot = rows[k][k]
        if pivot <= 0:
            return all(entry == 0 for row in rows for entry in row)
        left = [i for i in range(len(rows)) if i != k]
        rows = [[rows[i][j] - rows[i][k] * rows[k][j] / pivot for j in left] for i in left]
    return True


def solved(matrix, columns):
    """X with matrix X = columns, by Gauss and Jordan; both are lists of rows."""
    rows, n = [[*a, *b] for a, b in zip(matrix, columns, strict=True)], len(matrix)
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for k in range(n):
            if k != i and rows[k][i] != 0:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]
