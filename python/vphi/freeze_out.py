"""What comes out of a freeze-out surface: files for programs that sample particles, and momentum
spectra of particles without decays (Cooper and Frye).

A surface is boost-invariant, in proper time t and the plane x, y; GeV and fm, metric (+, -, -, -).
`Elements` is that of one event, `Events` averages over many.
docs/python.md shows how its elements are made of what `surface(...)` writes.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy

HBARC = 0.1973269804  # GeV fm


def _number(value: Any) -> float:
    """An attribute as a number, NaN where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return numpy.nan


def _tables_of(path: Any, name: str) -> list[tuple[str, Any, dict[str, Any]]]:
    """Step, rows and attributes of all tables of a surface."""
    import h5py
    try:
        with h5py.File(path) as file:
            surfaces = file.get("surfaces")
            names = list(surfaces) if isinstance(surfaces, h5py.Group) else []
            if name not in names:
                raise ValueError(f"{path} has no surface `{name}`, it has "
                                 f"{', '.join(names) or 'none'}")
            group = surfaces[name]
            if not isinstance(group, h5py.Group):
                raise ValueError(f"{path}: `{name}` is no group of tables")
            steps = sorted((step for step in group if step.isdecimal()), key=int)
            for step in steps:
                if not isinstance(group[step], h5py.Dataset) or group[step].dtype.kind not in "fiu":
                    raise ValueError(f"{path}: table {step} of `{name}` holds no real numbers")
            tables = [(step, group[step][()], dict(group[step].attrs)) for step in steps]
    except (OSError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not tables:
        raise ValueError(f"{path}: `{name}` has no tables")
    return tables


def _columns_of(at: dict[str, Any]) -> list[str]:
    return [word.strip() for word in str(at.get("columns", "")).split(",") if word.strip()]


def _rows_of(path: Any, name: str, whole: bool) -> tuple[Any, list[str]]:
    """Rows of all tables of a surface in space and time, and the names of their columns."""
    tables = _tables_of(path, name)
    columns = _columns_of(tables[0][2])
    before = None
    for step, rows, at in tables:
        if _columns_of(at) != columns:
            raise ValueError(f"{path}: table {step} of `{name}` has the columns "
                             f"{', '.join(_columns_of(at)) or 'none'}, and those before it "
                             f"{', '.join(columns) or 'none'}")
        if rows.ndim != 2 or rows.shape[1] != len(columns):
            raise ValueError(f"{path}: table {step} of `{name}` has the shape {rows.shape}, and "
                             f"{len(columns)} columns are named")
        if "t_before" not in at:
            raise ValueError(f"{path}: `{name}` was written without `time = on`")
        for time in ("t", "t_before"):
            if not numpy.isfinite(_number(at.get(time))):
                raise ValueError(f"{path}: table {step} of `{name}` has no time `{time}`")
        if before is not None and abs(at["t_before"] - before) > 1e-9*abs(before):
            raise ValueError(f"{path}: `{name}` has no table between t = {before:g} and "
                             f"{at['t_before']:g}")
        if not numpy.isfinite(rows).all():
            row = int(numpy.flatnonzero(~numpy.isfinite(rows).all(axis=1))[0])
            raise ValueError(f"{path}: row {row} of table {step} of `{name}` is not finite")
        if whole and at.get("edge", 0) > 0:
            raise ValueError(f"{path}: at t = {at['t']:g} {at['edge']:g} elements of `{name}` lie at "
                             "an end of the box, where the surface is cut; whole=False takes it")
        before = at["t"]
    above = tables[-1][2].get("above", 0)
    if whole and above > 0:
        raise ValueError(f"{path}: {above:g} sites were above the level at the last output, t = "
                         f"{before:g}; whole=False takes the surface up to there")
    return numpy.concatenate([rows for _, rows, _ in tables]), columns


@dataclasses.dataclass
class Elements:
    """Elements of a surface, a number of each array for every one of them.

    `place` is (N, 3): t, x, y in fm. `normal` is (N, 3), covariant in these coordinates and without
    the factor t of the volume: fm^2. `v` is (N, 2), the velocity in the plane. `T`, `eps` and `p`
    are in GeV and GeV/fm^3. `stress` is (N, 3): pi^xx, pi^xy, pi^yy in GeV/fm^3, orthogonal to the
    flow and without a trace; none is zero. `bulk` is Pi, the pressure beyond `p`, in GeV/fm^3, and
    `c2` the square of the speed of sound, which what Pi does to spectra needs.
    """

    place: Any
    normal: Any
    v: Any
    T: Any
    eps: Any
    p: Any
    stress: Any = None
    bulk: Any = 0.0
    c2: Any = None

    def __post_init__(self) -> None:
        count = len(self.place)
        names = ["place", "normal", "v", "T", "eps", "p", "bulk"]
        for name in names if self.c2 is None else [*names, "c2"]:
            value = numpy.asarray(getattr(self, name), float)
            wide = {"place": 3, "normal": 3, "v": 2}.get(name)
            shape = (count, wide) if wide else (count,)
            try:
                setattr(self, name, numpy.broadcast_to(value, shape))
            except ValueError:
                raise ValueError(f"`{name}` has the shape {value.shape}, not {shape}") from None
        stress = numpy.zeros((count, 3)) if self.stress is None else self.stress
        self.stress = numpy.asarray(stress, float)
        if self.stress.shape != (count, 3):
            raise ValueError(f"`stress` has the shape {self.stress.shape}, not {(count, 3)}")
        for name in [*names, "stress", "c2"]:
            value = getattr(self, name)
            if value is not None and not numpy.isfinite(value).all():
                wrong = ~numpy.isfinite(numpy.reshape(value, (count, -1))).all(axis=1)
                raise ValueError(f"`{name}` of element {numpy.flatnonzero(wrong)[0]} is not finite")
        if not (numpy.sum(self.v**2, axis=1) < 1).all():
            raise ValueError("an element moves at the speed of light or beyond")
        if not (self.T > 0).all():
            raise ValueError(f"`T` of element {numpy.flatnonzero(~(self.T > 0))[0]} is not positive")

    @classmethod
    def read(cls, path: str | os.PathLike[str], name: str = "surface(T)", *, T: Any,
             v: str = "v", stress: str | None = "q", enthalpy: str = "h", p: str = "p",
             bulk: str | None = None, c2: Any = None, whole: bool = True) -> Elements:
        """The elements that `surface(..., carry = [v, q, h, p], time = on)` of a model in `units fm`
        wrote into an HDF5 file, by the names of what it carries; `T` in GeV.

        ValueError says what is wrong with the file: one that is cut off or is no HDF5 file, no such
        surface, columns or times that are missing, a number that is not finite. With `whole` so is
        a surface that is not closed: matter that had not frozen out at the end, elements at an end
        of the box.
        """
        rows, columns = _rows_of(path, name, whole)

        def column(word: str) -> Any:
            if word not in columns:
                raise ValueError(f"{path}: `{name}` has no column `{word}`, it has "
                                 f"{', '.join(columns)}")
            return rows[:, columns.index(word)]

        def several(word: str, count: int) -> Any:
            return numpy.column_stack([column(f"{word}[{i}]") for i in range(count)])

        pressure = HBARC*column(p)
        return cls(place=numpy.column_stack([column(c) for c in ("t", "x", "y")]),
                   normal=numpy.column_stack([column(c) for c in ("n_t", "n_x", "n_y")]),
                   v=several(v, 2), T=T, eps=HBARC*column(enthalpy) - pressure, p=pressure,
                   stress=None if stress is None else HBARC*several(stress, 3),
                   bulk=0.0 if bulk is None else HBARC*column(bulk), c2=c2)

    @property
    def u(self) -> Any:
        """(N, 3): u^t, u^x, u^y."""
        gamma = 1/numpy.sqrt(1 - numpy.sum(self.v**2, axis=1))
        return numpy.column_stack([gamma, gamma[:, None]*self.v])

    @property
    def pi(self) -> Any:
        """(N, 4, 4): pi in the frame of t, x, y and rapidity, all components in GeV/fm^3."""
        full = numpy.zeros((len(self.place), 4, 4))
        xx, xy, yy = self.stress.T
        full[:, 1, 1], full[:, 1, 2], full[:, 2, 1], full[:, 2, 2] = xx, xy, xy, yy
        full[:, 0, 1:3] = full[:, 1:3, 0] = numpy.einsum("nij,nj->ni", full[:, 1:3, 1:3], self.v)
        full[:, 0, 0] = numpy.einsum("ni,ni->n", full[:, 0, 1:3], self.v)
        full[:, 3, 3] = full[:, 0, 0] - xx - yy
        return full

    def flux(self) -> float:
        """The integral of u.dSigma for each unit of rapidity, in fm^3."""
        return float(numpy.sum(self.place[:, 0]*numpy.sum(self.u*self.normal, axis=1)))

    # ---- files

    def write_music(self, path: str | os.PathLike[str]) -> None:
        """A surface as MUSIC writes it as text for iSS: tau x y eta, the normal without the factor
        tau, u with tau u^eta, e T mu_B mu_S mu_C, (e+P)/T, the ten of pi, and Pi where there is
        any; powers of 1/fm."""
        zero = numpy.zeros(len(self.place))
        upper = [self.pi[:, i, k]/HBARC for i in range(4) for k in range(i, 4)]
        columns = [*self.place.T, zero, *self.normal.T, zero, *self.u.T, zero, self.eps/HBARC,
                   self.T/HBARC, zero, zero, zero, (self.eps + self.p)/self.T, *upper]
        if self.bulk.any():
            columns.append(self.bulk/HBARC)
        numpy.savetxt(path, numpy.column_stack(columns), fmt="%.10e")

    def write_vhlle(self, path: str | os.PathLike[str]) -> None:
        """A surface as vHLLE writes it, at rapidity 0: tau x y eta, the covariant element, u of the
        laboratory, T mu_B mu_Q mu_S, pi^00 01 11 02 12 22 03 13 23 33, Pi; GeV and fm."""
        zero = numpy.zeros(len(self.place))
        lower = [self.pi[:, i, k] for k in range(4) for i in range(k + 1)]
        element = self.place[:, :1]*self.normal
        columns = [*self.place.T, zero, *element.T, zero, *self.u.T, zero, self.T, zero, zero, zero,
                   *lower, self.bulk]
        numpy.savetxt(path, numpy.column_stack(columns), fmt="%.10e")

    def write_osu(self, path: str | os.PathLike[str]) -> None:
        """A surface as osu-hydro writes it for frzout: 16 numbers of 64 bits for each element,
        tau x y, the covariant normal, v_x v_y, pi^tt tx ty xx xy yy zz, Pi; GeV and fm."""
        pi = self.pi
        columns = [*self.place.T, *self.normal.T, *self.v.T,
                   *(pi[:, i, k] for i in range(3) for k in range(i, 3)), pi[:, 3, 3],
                   self.bulk]
        numpy.column_stack(columns).astype("<f8").tofile(path)

    # ---- spectra

    def spectrum(self, mass: float, pT: Any, phi: Any, *, statistics: int, degeneracy: float = 1,
                 terms: int = 10, shear: bool = True, bulk: bool = True) -> Any:
        """dN/(dy d^2p_T) in 1/GeV^2, an array of (pT, phi), at any rapidity.

        `statistics` is 1 for bosons and -1 for fermions, whose distribution is a series of `terms`
        Boltzmann factors; 0 is Boltzmann's. With `shear` the distribution is
        f (1 + (1 +- f) pi_mn p^m p^n/(2 (e + p) T^2)). With `bulk` it has another term,
        f (1 +- f) tau_Pi/zeta Pi/T ((1/3 - c2) p.u - m^2/(3 p.u)), that of one relaxation time,
        with tau_Pi/zeta = 1/(14.55 (1/3 - c2)^2 (e + p)) (Denicol and others, Phys. Rev. C 90
        (2014) 024912); it needs `c2`. Chemical potentials are zero. The rapidity
        of the elements is integrated by the trapezoidal rule in 161 points from -8 to 8, in which
        it converges faster than any power. Cooper and Frye, Phys. Rev. D 10 (1974) 186.
        """
        if statistics not in (1, 0, -1):
            raise ValueError("`statistics` is 1 (bosons), -1 (fermions) or 0 (Boltzmann)")
        if bulk and self.bulk.any() and self.c2 is None:
            raise ValueError("what the bulk stress does to a spectrum needs `c2`, the square of "
                             "the speed of sound; bulk=False leaves it out")
        if bulk and self.bulk.any() and (self.c2 == 1/3).any():
            raise ValueError("with c2 = 1/3 there is no bulk viscosity, and its relaxation time over "
                             "it is infinite: bulk=False leaves the stress out")
        if not mass >= 0 or terms < 1:
            raise ValueError("`mass` in GeV is not negative, and `terms` 1 at least")
        pT, phi = numpy.atleast_1d(pT).astype(float), numpy.atleast_1d(phi).astype(float)
        eta, step = numpy.linspace(-8, 8, 161, retstep=True)
        tau, pi, u = self.place[:, 0, None], self.pi, self.u
        found = numpy.empty((len(pT), len(phi)))
        for i, momentum in enumerate(pT):
            transverse = numpy.sqrt(mass**2 + momentum**2)
            energy, along = transverse*numpy.cosh(eta), transverse*numpy.sinh(eta)
            for k, angle in enumerate(phi):
                px, py = momentum*numpy.cos(angle), momentum*numpy.sin(angle)
                through = (energy*self.normal[:, :1]
                           + (px*self.normal[:, 1] + py*self.normal[:, 2])[:, None])
                hot = (energy*u[:, :1] - (px*u[:, 1] + py*u[:, 2])[:, None])/self.T[:, None]
                # the n-th term of f is that of Boltzmann's; of f (1 +- f) it counts n times
                orders = range(1, terms + 1) if statistics else (1,)
                weights = [(statistics or 1)**(n + 1)*numpy.exp(-n*hot) for n in orders]
                f = sum(weights)
                response = sum(n*w for n, w in zip(orders, weights))  # f (1 +- f)
                if shear and self.stress.any():
                    lower = [energy, -px*numpy.ones_like(eta), -py*numpy.ones_like(eta), -along]
                    twice = numpy.einsum("nab,ae,be->ne", pi, lower, lower)
                    size = 2*(self.eps + self.p)*self.T**2
                    f = f + response*twice/size[:, None]
                if bulk and self.bulk.any():
                    apart = 1/3 - self.c2
                    size = self.bulk/(14.55*apart**2*(self.eps + self.p))
                    f = f + response*size[:, None]*(
                        apart[:, None]*hot - mass**2/(3*self.T[:, None]**2*hot))
                found[i, k] = numpy.sum(tau*through*f)*step
        return degeneracy/(2*numpy.pi*HBARC)**3*found

    def flow(self, order: int, mass: float, pT: Any, *, statistics: int, angles: int = 48,
             **options: Any) -> Any:
        """v_n of the spectrum by pT, <cos(n phi)> and <sin(n phi)> as one complex number."""
        phi = 2*numpy.pi*numpy.arange(angles)/angles
        spectrum = self.spectrum(mass, pT, phi, statistics=statistics, **options)
        return (spectrum*numpy.exp(1j*order*phi)).sum(axis=1)/spectrum.sum(axis=1)


class Events:
    """Surfaces of a batch of events. Averages are over events, each with the same weight; the
    second number of every pair is the standard error. Options are those of `Elements.spectrum`."""

    def __init__(self, surfaces: Any):
        self.surfaces: list[Elements] = list(surfaces)
        if len(self.surfaces) < 2:
            raise ValueError("an average with an error needs two events at least")

    def _mean(self, values: list[Any]) -> tuple[Any, Any]:
        every = numpy.array(values)
        return every.mean(axis=0), every.std(axis=0, ddof=1)/numpy.sqrt(len(every))

    def flux(self) -> tuple[float, float]:
        """The mean of `Elements.flux`."""
        mean, error = self._mean([one.flux() for one in self.surfaces])
        return float(mean), float(error)

    def spectrum(self, mass: float, pT: Any, phi: Any, **options: Any) -> tuple[Any, Any]:
        """The mean of dN/(dy d^2p_T)."""
        return self._mean([one.spectrum(mass, pT, phi, **options) for one in self.surfaces])

    def flow(self, order: int, mass: float, pT: Any, **options: Any) -> tuple[Any, Any]:
        """The root of the mean of |v_n|^2 by pT, since the directions of events are random; its
        error is that of the mean of the squares."""
        mean, error = self._mean([numpy.abs(one.flow(order, mass, pT, **options))**2
                                  for one in self.surfaces])
        root = numpy.sqrt(mean)
        return root, error/(2*root)
