// The equations: rates of all arrays in physical units, conservation laws with their recovery and
// scheme, and the declaration of noise.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/lower/values.hpp"
#include "compiler/physics/stages/theory.hpp"

namespace vphi::physics {

/// The terms with noise of one component of a law, of which its fluxes and source are free.
struct LawNoise {
  std::vector<Expr> face;  ///< [axis]: of the flux through the face to the next cell
  Expr source;
};

/// One conserved field.
struct Law {
  std::string name;
  std::vector<int> arrays;              ///< arrays of its components
  Value density;                        ///< as a function of the primitive variables
  std::vector<std::vector<Expr>> flux;  ///< [component][axis]: U' + sum_k d(flux_k, k) = source
  std::vector<Expr> source;             ///< [component]
  Expr isotropic;                       ///< sum of the terms `grad(f)`; null without any
  Expr time;  ///< of `relax`: how long the distance to its target takes; null: a law
  /// [component][axis]: the part of the flux that holds derivatives, at the face to the next cell;
  /// empty where no part does.
  std::vector<std::vector<Expr>> through;
  std::vector<LawNoise> noise;  ///< [component]; empty: no term holds noise
  bool curl = false;            ///< `conserve B = b: curl(E)`: div(B) does not change
  dsl::Span span;
};

/// The result of `conserve`, `recover`, `limit` and `scheme`.
struct Laws {
  std::vector<Law> laws;
  std::optional<Conservation> conservation;
  /// How many iterations of `solve` change the solution of a site by more than its tolerance, of
  /// several names the most; null where nothing is iterated.
  Expr iterations;
  /// Limits of conserved quantities; those of fields belong to the stage Program.
  std::vector<Derived> limits;
  std::map<int, Expr> conserved_rates;
  /// Array of a primitive variable -> what stands for its derivative in time in sources, until
  /// `with_known_rates` puts the value there.
  std::map<int, int> primitive_rates;
};

/// Rates of fields, and the weights of their momenta.
struct Rates {
  std::map<int, Expr> rates;
  std::map<int, dsl::Span> rate_spans;
  std::map<int, Expr> weights;  ///< array of a coordinate -> c of the momentum a^c*u'
};

struct Equations : Theory, Laws {
  explicit Equations(const Theory& theory) : Theory(theory) {}
  std::map<int, Expr> weights;  ///< Rates::weights
  Noise noise;                  ///< as declared; its class is known once rates are in program units
};

Equations derive_equations(const Theory& theory);

// ---- its steps
/// The laws; empty without `conserve`.
Laws read_conservation(const Equations& d);
/// Right sides of all fields without one; with `keep_parameters` params stay symbols.
Rates equations_of_motion(const Equations& d, bool keep_parameters = false);
/// phi'' from a potential (docs/rules.md rule 15), one expression for each array.
Value equation_from_potential(const Theory& d, Lowerer& lower, const StateField& field);
/// u'' of every real velocity array that a written Lagrangian drives (fields/lagrangian.cpp).
std::map<int, Expr> accelerations(const Theory& d, bool keep_parameters);
/// The same of one field, in the field's shape.
Value equation_from_lagrangian(const std::map<int, Expr>& accelerations, const StateField& field);
/// `noise stratonovich, accuracy = weak`.
Noise read_noise(const Context& d);

}  // namespace vphi::physics
