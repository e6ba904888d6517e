// vphi new: a model file to start from.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>

#include "tools/options.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

/// @NAME@ is replaced by the model's name. A raw string's first line break is dropped.
constexpr const char* kScalar = R"(
## One scalar field in an expanding universe; change V and run it again.
model @NAME@ "A scalar field in an expanding box"
units reduced_planck  # hbar = c = 1, (8 pi G)^(-1/2) = 1
param m = 5e-6        ## mass of the field
param phi0 = 1        ## its mean at the start
lattice box: 64^3, length = 10/m, boundary = periodic
metric frw(a)
field phi: real
potential V = m^2*phi^2/2
rescale A = 1/phi0, B = m, s = 0
laplacian = iso27
init phi ~ phi0 + vacuum, phi' ~ -0.7*m + vacuum
evolve leapfrog, dt = 2^-7/m, until = t > 32/m
every 64 steps: a, H, w, mean(phi), var(phi) -> "@NAME@.h5"
at end: spectrum(phi) -> "@NAME@.h5"
expect abs(mean(rho)/(3*H^2) - 1) < 1e-2
)";

constexpr const char* kWave = R"(
## A pulse on a ring: the wave equation, written as an equation of motion.
model @NAME@ "A pulse on a ring"
param c = 1, L = 1  ## speed, length
lattice ring: 512, length = L, boundary = periodic
field u: real
u'' = c^2*lap(u)
laplacian = star2
init u = exp(-x^2/(2*(L/20)^2)), u' = 0
evolve leapfrog, dt = 0.5*dx/c, until = t > 4*L/c
every 32 steps: mean(u), max(u), mean(u'^2) -> "@NAME@.h5"
at end: profile(u) -> "@NAME@.h5"
expect abs(mean(u)) < 1
)";

constexpr const char* kComplex = R"(
## A complex field with a U(1) symmetry; its charge is conserved.
model @NAME@ "A complex field with a conserved charge"
param m = 1, lambda = 0.1
lattice box: 64^2, length = 40/m, boundary = periodic
field phi: complex
potential V = m^2*norm2(phi) + lambda*norm2(phi)^2
Q = 2*im(conj(phi)*phi')
init phi = exp(-(m*r)^2/20), phi' = 0.5i*m*exp(-(m*r)^2/20)
evolve leapfrog, dt = 0.2*dx, until = t > 20/m
every 10 steps: total(Q), max(norm2(phi)) -> "@NAME@.h5"
at end: slice(abs(phi), y = 0) -> "@NAME@.h5"
expect conserved(Q) within 1e-9
)";

bool is_name(const std::string& text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  for (unsigned char c : text)
    if (std::isalnum(c) == 0 && c != '_') return false;
  return true;
}

}  // namespace

int make_new(const Words& words) {
  std::vector<std::string> names;
  std::string kind = "scalar";
  CommandLine line("new NAME", "Writes NAME.vphi, a model to start from.");
  line.arguments(names, 1, 1)
      .choice("--from", {"scalar", "wave", "complex"}, kind,
              "what to start from: a field in an expanding box, a wave "
              "equation, a complex field");
  if (!line.parse(words)) return kOk;
  std::filesystem::path path = names[0];
  if (path.extension() != ".vphi") path += ".vphi";
  const std::string name = path.stem().string();
  if (!is_name(name))
    throw UsageError(fmt::format("`{}` is no model name: letters, digits and _ only", name));
  if (std::filesystem::exists(path))
    throw UsageError(fmt::format("{} is there already", path.string()));

  std::string text = (kind == "wave" ? kWave : kind == "complex" ? kComplex : kScalar) + 1;
  for (auto at = text.find("@NAME@"); at != std::string::npos; at = text.find("@NAME@", at))
    text.replace(at, 6, name);
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw UsageError(fmt::format("{} cannot be written", path.string()));
  fmt::print("{} written. Next: vphi run {}\n", path.string(), path.string());
  return kOk;
}

}  // namespace vphi::tools
