#include "dsl/types/units.hpp"

#include <cmath>
#include <cstdlib>
#include <numbers>

namespace vphi::dsl {

namespace {

constexpr double kHbarC = 0.1973269804;            // GeV fm
constexpr double kLightSpeed = 299792458.0;        // m/s, exact
constexpr double kMetre = 1e15 / kHbarC;           // 1/GeV
constexpr double kSecond = kLightSpeed * kMetre;   // 1/GeV
constexpr double kKelvin = 8.617333262e-14;        // GeV
constexpr double kKilogram = 5.609588604e26;       // GeV
constexpr double kParsec = 3.0856775814913673e16;  // m, IAU 2015
constexpr double kPlanck = 1.220890e19;            // GeV: sqrt(hbar c/G)

struct NamedUnit {
  std::string_view name;
  Unit unit;
};

constexpr NamedUnit kUnits[] = {
    {"meV", {1e-12, 1}},
    {"eV", {1e-9, 1}},
    {"keV", {1e-6, 1}},
    {"MeV", {1e-3, 1}},
    {"GeV", {1, 1}},
    {"TeV", {1e3, 1}},
    {"K", {kKelvin, 1}},
    {"kg", {kKilogram, 1}},
    {"g", {1e-3 * kKilogram, 1}},
    {"fm", {1 / kHbarC, -1}},
    {"fermi", {1 / kHbarC, -1}},
    {"m", {kMetre, -1}},
    {"km", {1e3 * kMetre, -1}},
    {"cm", {1e-2 * kMetre, -1}},
    {"mm", {1e-3 * kMetre, -1}},
    {"um", {1e-6 * kMetre, -1}},
    {"nm", {1e-9 * kMetre, -1}},
    {"pc", {kParsec * kMetre, -1}},
    {"kpc", {1e3 * kParsec * kMetre, -1}},
    {"Mpc", {1e6 * kParsec * kMetre, -1}},
    {"s", {kSecond, -1}},
    {"ms", {1e-3 * kSecond, -1}},
    {"us", {1e-6 * kSecond, -1}},
    {"ns", {1e-9 * kSecond, -1}},
    {"fs", {1e-15 * kSecond, -1}},
    {"m_pl", {kPlanck / 5.013256549262001, 1}},  // reduced: sqrt(8 pi) below 1/sqrt(G)
    {"m_pl_reduced", {kPlanck / 5.013256549262001, 1}},
    {"m_pl_full", {kPlanck, 1}},
};

const NamedUnit* named(std::string_view name) {
  for (const NamedUnit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

/// Reads `text` factor by factor; `unknown` receives the first unknown name.
std::optional<Unit> read(std::string_view text, std::string& unknown) {
  Unit product;
  double sign = 1;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find_first_of("*/", at);
    if (end == std::string_view::npos) end = text.size();
    std::string_view factor = text.substr(at, end - at);
    double power = 1;
    const std::size_t caret = factor.find('^');
    if (caret != std::string_view::npos) {
      std::string exponent(factor.substr(caret + 1));
      if (!exponent.empty() && exponent.front() == '(') exponent.erase(0, 1);
      power = std::strtod(exponent.c_str(), nullptr);
      factor = factor.substr(0, caret);
    }
    while (!factor.empty() && factor.front() == ' ') factor.remove_prefix(1);
    while (!factor.empty() && factor.back() == ' ') factor.remove_suffix(1);
    if (factor != "1") {
      const NamedUnit* unit = named(factor);
      if (unit == nullptr) {
        unknown = std::string(factor);
        return std::nullopt;
      }
      product.gev *= std::pow(unit->unit.gev, sign * power);
      product.power += sign * power * unit->unit.power;
    }
    if (end < text.size()) sign = text[end] == '/' ? -1 : 1;
    at = end + 1;
  }
  return product;
}

}  // namespace

std::optional<Unit> find_unit(std::string_view text) {
  std::string unknown;
  return read(text, unknown);
}

std::string unknown_part(std::string_view text) {
  std::string unknown;
  read(text, unknown);
  return unknown;
}

std::optional<double> base_energy(std::string_view system) {
  if (system == "reduced_planck") return kPlanck / std::sqrt(8 * std::numbers::pi);
  if (system == "planck") return kPlanck;
  const auto unit = find_unit(system);
  if (!unit || unit->power == 0) return std::nullopt;
  return std::pow(unit->gev, 1 / unit->power);
}

double size_in_base(const Unit& unit, double base_gev) {
  return unit.gev / std::pow(base_gev, unit.power);
}

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const NamedUnit& unit : kUnits) names.emplace_back(unit.name);
  return names;
}

std::vector<std::string> system_names() { return {"reduced_planck", "planck", "GeV", "fm"}; }

std::string dimension_name(double power) {
  if (power == 0) return "a pure number";
  if (power == 1) return "energy";
  if (power == -1) return "length or time";
  std::string number = std::to_string(power);
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
  return "energy^" + number;
}

}  // namespace vphi::dsl
