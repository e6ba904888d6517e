// Natural units: hbar = c = k_B = 1, so that every unit is a power of one energy.
//
// `[GeV]`, `[fm]`, `[GeV/fm^3]` are in a name space of their own (docs/rules.md rule 9). The base
// unit is given by `units` (`reduced_planck`, `planck`, or a unit such as `GeV`). Without it, it is
// the unit of the lattice's length or spacing, or else the first unit in the text. Later stages get
// all numbers in base units. Can fail: an unknown unit or system. Conversion constants: CODATA
// 2018.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vphi::dsl {

struct Unit {
  double gev = 1;    ///< size in GeV^power
  double power = 0;  ///< power of energy: length -1, time -1, temperature 1
};

/// `fm`, `GeV/fm^3`, `km*s^-1`; nothing where a name in it is unknown.
std::optional<Unit> find_unit(std::string_view text);
/// The name in `text` that is unknown.
std::string unknown_part(std::string_view text);

/// Energy in GeV that `units NAME` sets to 1.
std::optional<double> base_energy(std::string_view system);

double size_in_base(const Unit& unit, double base_gev);

std::vector<std::string> unit_names();
std::vector<std::string> system_names();

/// "energy", "length", "energy^4": the name of a power of energy.
std::string dimension_name(double power);

}  // namespace vphi::dsl
