#!/usr/bin/env python3
"""Writes reference.json: integrals over a developable patch, in arithmetic of 60 digits.

The surface is written with plain sines, its derivatives are taken by the differences of mpmath, and the integrals by a
rule of 48 by 48 Gauss points, so that nothing is shared with the program. Run it in this folder.
"""

import json

from mpmath import cos, legendre, matrix, mp, mpf, polyroots, sin, taylor

mp.dps = 60
POINTS = 48
CASES = [  # sides, mass per area, k, t, k', t'
    ("1", "1", "1", "0.8", "0.3", "0.7", "-0.4"),
    ("0.3", "0.2", "2.5", "-6.5", "1.1", "3.0", "0.9"),
    ("0.5", "2", "0.1", "1e-6", "0.2", "1.0", "2.0"),
    ("1", "0.7", "1", "2.9", "2.4", "-1.2", "0.3"),
]


def gauss():
    nodes = polyroots(taylor(lambda x: legendre(POINTS, x), 0, POINTS)[::-1], maxsteps=500, extraprec=500)
    def slope(x):
        return POINTS * (x * legendre(POINTS, x) - legendre(POINTS - 1, x)) / (x * x - 1)
    return [((1 + x) / 2, 1 / ((1 - x * x) * slope(x) ** 2)) for x in nodes]


def place(a, b, k, t):
    u, v = a * cos(t) + b * sin(t), b * cos(t) - a * sin(t)
    along, up = sin(k * u) / k, (1 - cos(k * u)) / k
    return matrix([v * -sin(t) + along * cos(t), v * cos(t) + along * sin(t), up])


def slopes(a, b, k, t, k_rate, t_rate):
    """x_k, x_t, and the acceleration at constant rates, by central differences of 60 digits taken at 180."""
    with mp.workdps(180):
        e = mpf(10) ** -50
        def at(i, j):
            return place(a, b, k + i * e, t + j * e)
        x_k, x_t = (at(1, 0) - at(-1, 0)) / (2 * e), (at(0, 1) - at(0, -1)) / (2 * e)
        def on_way(s):
            return place(a, b, k + s * e * k_rate, t + s * e * t_rate)
        bias = (on_way(1) - 2 * on_way(0) + on_way(-1)) / (e * e)
        return x_k, x_t, bias


def dot(p, q):
    return sum(p[i] * q[i] for i in range(3))


def integrals(case, rule):
    length, width, density, k, t, k_rate, t_rate = (mpf(x) for x in case)
    names = ["kk", "kt", "tt", "inertia_k", "inertia_t"]
    sums = dict.fromkeys(names, mpf(0))
    moment = matrix([0, 0, 0])
    for x, wx in rule:
        for y, wy in rule:
            mass = density * length * width * wx * wy
            x_k, x_t, bias = slopes(length * x, width * y, k, t, k_rate, t_rate)
            sums["kk"] += mass * dot(x_k, x_k)
            sums["kt"] += mass * dot(x_k, x_t)
            sums["tt"] += mass * dot(x_t, x_t)
            sums["inertia_k"] += mass * dot(x_k, bias)
            sums["inertia_t"] += mass * dot(x_t, bias)
            moment += mass * place(length * x, width * y, k, t)
    out = dict(zip(["length", "width", "density", "k", "t", "k_rate", "t_rate"], map(float, case)))
    out |= {name: float(value) for name, value in sums.items()}
    return out | {"first_moment": [float(x) for x in moment]}


rule = gauss()
with open("reference.json", "w", encoding="ascii") as file:
    json.dump([integrals(case, rule) for case in CASES], file, indent=1)
    file.write("\n")
