"""Averages at other couplings than those of the runs: single and multiple histogram reweighting.

The weight of a configuration is exp(-S), S = K*E + the rest, with the coupling K of a sweep and what
it multiplies, E, summed over the lattice. From samples at the couplings K_j, the average of O at K is
sum_n O_n w_n/sum_n w_n over the samples of all runs together, with

    w_n = exp(-K E_n)/sum_j N_j exp(f_j - K_j E_n),    exp(-f_j) = sum_n exp(-K_j E_n)/(the same sum)

(Ferrenberg and Swendsen, Phys. Rev. Lett. 61 (1988) 2635 and 63 (1989) 1195; without bins: Shirts and
Chodera, J. Chem. Phys. 129 (2008) 124105). With one run w_n = exp((K_1 - K) E_n). docs/spins.md has
an example.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy

_MOST_ROUNDS = 20000


@dataclasses.dataclass
class Reweighted:
    """Averages at the couplings `at`, one number of each array for each.

    `error` is the standard error, by the jackknife over blocks of time; what correlates longer than
    a block is missed. `effective` is the number of samples of equal weight that would be as good,
    (sum w)^2/sum w^2, before correlations: where it is small, no run was near. `log_z` is the logarithm
    of the partition function relative to that of the first run.
    """

    at: Any
    mean: Any
    error: Any
    effective: Any
    log_z: Any


def _log_sum(x: Any, axis: int) -> Any:
    most = numpy.max(x, axis=axis, keepdims=True)
    return numpy.squeeze(most, axis) + numpy.log(numpy.sum(numpy.exp(x - most), axis=axis))


class _Joined:
    """The density of states of all runs: each distinct E with how often each run had it."""

    def __init__(self, couplings: Any, energies: list[Any]) -> None:
        self.couplings = couplings
        self.energy, self.place = numpy.unique(numpy.concatenate(energies), return_inverse=True)
        self.place = self.place.reshape(-1)
        sizes = [len(e) for e in energies]
        self.run = numpy.repeat(numpy.arange(len(sizes)), sizes)

    def weights(self, kept: Any, at: Any, start: Any) -> tuple[Any, Any, Any]:
        """log w at each coupling [at][E], log Z, and f of the runs, of the samples that are kept."""
        n = numpy.bincount(self.run[kept], minlength=len(self.couplings)).astype(float)
        often = numpy.bincount(self.place[kept], minlength=len(self.energy)).astype(float)
        here = often > 0
        energy, often = self.energy[here], numpy.log(often[here])
        own = -self.couplings[:, None]*energy[None, :]
        f = start.copy()
        with numpy.errstate(divide="ignore"):
            log_n = numpy.log(n)[:, None]
        for _ in range(_MOST_ROUNDS):
            density = often - _log_sum(log_n + f[:, None] + own, 0)
            new = -_log_sum(own + density, 1)
            new -= new[0]
            change = numpy.max(numpy.abs(new - f))
            f = new
            if change < 1e-11*max(1, numpy.max(numpy.abs(f))):
                break
        else:
            raise ValueError("the runs have too little in common: take couplings closer to each other")
        density = often - _log_sum(log_n + f[:, None] + own, 0)
        log_w = numpy.full((len(at), len(self.energy)), -numpy.inf)
        log_w[:, here] = -at[:, None]*energy[None, :] + density
        log_z = _log_sum(log_w[:, here], 1)
        return log_w, log_z, f


def _samples(values: Any, along: str | None, count: int) -> list[Any]:
    """For each run its samples, [time][rest]."""
    if along is not None:
        dims = list(values.dims)
        order = [along] + [d for d in ("t",) if d in dims]
        order += [d for d in dims if d not in order]
        values = numpy.asarray(values.values).transpose([dims.index(d) for d in order])
    runs = [numpy.asarray(run, float) for run in values]
    if len(runs) != count:
        raise ValueError(f"samples of {len(runs)} runs, but {count} couplings")
    return [run.reshape(len(run), -1) for run in runs]


def reweight(values: Any, energy: Any, at: Any, *, along: str | None = None, couplings: Any = None,
             function: Callable[..., Any] | None = None, blocks: int = 20) -> Reweighted:
    """The average of `values` at the couplings `at`, from runs at others.

    `energy` is E = dS/dK, summed over the lattice, of the same samples. Both are series of a result
    with the swept coupling as an axis, which `along` names, or lists with an array [time][...] for
    each of `couplings`. Further axes (chains) are samples of the same run. With several `values` as
    a tuple, `function` of their averages is what is wanted, for instance
    `lambda m2, m4: 1 - m4/(3*m2**2)`.

    ValueError where shapes do not fit, a sample is not finite, or the runs do not overlap.
    """
    several = values if isinstance(values, tuple) else (values,)
    if function is None:
        if len(several) != 1:
            raise ValueError("several values need a `function` of their averages")
        function = lambda mean: mean  # noqa: E731
    if (along is None) == (couplings is None):
        raise ValueError("either `along`, the name of a swept axis, or `couplings` are needed")
    for series in (energy, *several):
        if along is not None and along not in getattr(series, "dims", ()):
            raise ValueError(f"a series has no axis `{along}`; arrays need `couplings`")
    given = energy.coords[along] if along is not None else couplings
    k = numpy.atleast_1d(numpy.asarray(given, float))
    energies = _samples(energy, along, len(k))
    observed = [_samples(v, along, len(k)) for v in several]
    for runs in observed:
        if [r.shape for r in runs] != [e.shape for e in energies]:
            raise ValueError("values and energies are not of the same samples: their shapes differ")
    least = min(len(e) for e in energies)
    if blocks < 2 or least < 2*blocks:
        raise ValueError(f"{least} times are too few for {blocks} blocks; two in each are needed")
    block = numpy.concatenate([numpy.repeat(numpy.arange(len(e))*blocks//len(e), e.shape[1])
                               for e in energies])
    flat = [numpy.concatenate([r.reshape(-1) for r in runs]) for runs in observed]
    if not all(numpy.isfinite(x).all() for x in (*flat, *[e for e in energies])):
        raise ValueError("a sample is not finite: leave out what failed")
    joined = _Joined(k, [e.reshape(-1) for e in energies])
    target = numpy.atleast_1d(numpy.asarray(at, float))

    def averages(kept: Any, start: Any) -> tuple[Any, Any, Any, Any]:
        log_w, log_z, f = joined.weights(kept, target, start)
        w = numpy.exp(log_w - log_z[:, None])
        place = joined.place[kept]
        size = len(joined.energy)
        often = numpy.bincount(place, minlength=size)
        share = numpy.where(often > 0, w/numpy.maximum(often, 1), 0)  # of a sample
        means = [share @ numpy.bincount(place, x[kept], minlength=size) for x in flat]
        effective = 1/(share**2 @ often)
        return numpy.asarray(function(*means)), effective, log_z, f

    everything = numpy.ones(len(block), bool)
    mean, effective, log_z, f = averages(everything, numpy.zeros(len(k)))
    parts = numpy.array([averages(block != b, f)[0] for b in range(blocks)])
    error = numpy.sqrt((blocks - 1)*numpy.mean((parts - parts.mean(axis=0))**2, axis=0))
    return Reweighted(target, mean, error, effective, log_z)
