#!/usr/bin/env python3
"""Writes models/hydro/eos.h5, the table of an equation of state in the form that models read.

    docs/figures/eos.py models/hydro/eos.h5

The set `p` has a row for each eps and a column for each rho; its attribute `axes` names the sets with
these values. Here it is the pressure of radiation, eps/3, which straight lines between the entries
give exactly: the shock tube of models/hydro/shock.vphi has a closed solution. For another gas change
`pressure` and keep the rest. Needs h5py (pip install h5py).
"""
import sys

import h5py
import numpy


def pressure(eps, rho):
    return eps / 3 + 0 * rho


eps = numpy.linspace(0, 20, 101)
rho = numpy.linspace(0, 10, 21)
with h5py.File(sys.argv[1], "w") as out:
    out["eps"] = eps
    out["rho"] = rho
    out["p"] = pressure(eps[:, None], rho[None, :])
    out["p"].attrs["axes"] = "eps, rho"
