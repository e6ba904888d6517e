// From the syntax tree to real expressions: names get values, complex numbers and vectors become
// components, sums over indices are written out, `mean`, `var`, `max` become reduction nodes.
//
// The result is in physical units (stages/theory.hpp). With `keep_parameters` params and dx stay
// symbols: this second form of an equation is what a reader is shown; the first one, with
// everything fixed folded, is what runs. Errors are added to the diagnostics and thrown as Failure.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "compiler/physics/lower/reading.hpp"
#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/stages/program.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

class Lowerer {
 public:
  /// Knows what a stage has made, and nothing of what comes later. A Program is read where it lies.
  explicit Lowerer(const Program& known, bool keep_parameters = false)
      : d_(known), keep_parameters_(keep_parameters) {}
  template <class Stage>
  requires(std::derived_from<Stage, Setting> &&
           !std::derived_from<Stage, Program>) explicit Lowerer(const Stage& known,
                                                                bool keep_parameters = false)
      : earlier_(std::make_shared<const Program>(up_to(known))),
        d_(*earlier_),
        keep_parameters_(keep_parameters) {}

  Value value(const dsl::Expr& e, const Scope& scope = {});
  /// A real scalar; anything else is an error that calls it `what`.
  Expr real(const dsl::Expr& e, const std::string& what, const Scope& scope = {});
  /// A number known now.
  Expr fixed(const dsl::Expr& e, const std::string& what, const Scope& scope = {});
  long double fixed_number(const dsl::Expr& e, const std::string& what, const Scope& scope = {});
  std::int64_t fixed_integer(const dsl::Expr& e, const std::string& what, const Scope& scope = {});

  /// Physical time derivative along the equations of motion.
  Expr time_derivative(Expr e, dsl::Span span);
  Value time_derivative(const Value& v, dsl::Span span);

  /// The same reader, by which 1 - re(P) of links is written without cancellation: for outputs,
  /// where its value counts; equations and actions want its derivative.
  Lowerer keeping_gaps() const;

  /// The values that the undefined names `indices` take in `e`, all tuples (docs/rules.md rule 11).
  std::vector<Scope> index_tuples(const dsl::Expr& e, const std::vector<dsl::ExprPtr>& indices,
                                  const std::vector<dsl::NamedArgument>& named, const Scope& scope);

  Expr integer(std::int64_t n) { return d_.arena().integer(n); }
  /// rho and p at a site; kinetic, gradient and potential parts of the energy density.
  Expr energy_density();
  Expr pressure();
  Expr kinetic_density(const StateField& field);
  Expr kinetic_part();
  Expr gradient_part();
  bool holds_momentum(Expr term) const;
  Expr gradient_density(const StateField& field);
  Value field_value(const StateField& field);
  /// The product of links of SU(n) or U(1) along a path.
  Value along(const StateField& field, const LinkPath& path, dsl::Span span,
              const Reading& reading = {});
  Value field_velocity(const StateField& field, dsl::Span span, const Reading& reading = {});
  /// A scalar that is noise and nothing else, to be added to `vector`: noise in each component.
  void with_noise_of_its_own(Value& term, const Value& vector);

 private:
  Value name(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> given_name(const std::string& text, dsl::Span span, const Reading& reading);
  Value definition(const NamedFact& fact, const dsl::Expr& at, const Scope& scope);
  Value binary(const dsl::Expr& e, const Scope& scope);
  Value select(const dsl::Expr& e, const Scope& scope);
  Value index(const dsl::Expr& e, const Scope& scope);
  Value prime(const dsl::Expr& e, const Scope& scope);
  Value shift(const dsl::Expr& e, const Scope& scope);
  Value unit(const dsl::Expr& e, const Scope& scope);
  Value call(const dsl::Expr& e, const Scope& scope);
  Value user_function(const NamedFact& fact, const dsl::Expr& e, const Scope& scope);
  // lower_functions.cpp: a reader for each kind of function (dsl/words/builtins.hpp), the call's
  // arguments not yet read; nothing where the call has no value in an expression
  using ReadCall = std::optional<Value> (Lowerer::*)(const dsl::Expr& e, const Scope& scope);
  static const std::map<dsl::Rule, ReadCall>& readers();
  std::optional<Value> builtin(const dsl::Expr& e, const Scope& scope);
  Value argument(const dsl::Expr& e, std::size_t i, const Scope& scope);
  std::optional<Value> distribution(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> file_without_index(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> elementary(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> of_reals(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> reduced(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> extremum(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> minmod(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> site_number(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> transverse(const dsl::Expr& e, const Scope& scope);
  // lower_vectors.cpp
  std::optional<Value> real_part(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> norm(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> conjugated(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> dot(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> cross(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> outer(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> trace(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> adjoint_value(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> laplacian(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> divergence(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> gradient(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> neighbours(const dsl::Expr& e, const Scope& scope);
  Value axis_derivative(const Value& x, int axis);
  // lower_links.cpp
  bool has_links() const;
  const StateField& links(dsl::Span span) const;
  std::optional<Value> path_product(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> link_value(const dsl::Expr& e, const Scope& scope);
  Value traced(const Value& x, const Reading& reading) const;
  /// Of the real part of the trace of an N x N product of links; null where nothing is known.
  std::shared_ptr<const Gap> gap_of(const Value& product, int n) const;
  Value polyakov(dsl::Span span, const Reading& reading);
  std::vector<IndexValue> steps_of(const dsl::Expr& arg, const Scope& scope);
  /// Violation of Gauss's law at a site: the generator of gauge transformations of the written H.
  Expr gauss(dsl::Span span);
  // lower_spinors.cpp
  bool has_fermions() const;
  /// gamma[mu], and -gamma[mu] of gamma[-mu].
  std::optional<Value> gamma_matrix(const dsl::Expr& e, const Scope& scope);
  /// The function `fact` of one spinor as an operator; a failure where it is none.
  SpinorForm linear_operator(const NamedFact& fact, const dsl::Expr& at, const Scope& scope);
  int colours() const;  ///< of spinors: those of the links, 1 without
  /// `spinor(s, c)`: 1 in one component, 0 in the others.
  std::optional<Value> unit_spinor(const dsl::Expr& e, const Scope& scope);
  gauge::LinkOf link_matrices() const;
  /// `adj(D, psi)`: the adjoint operator of a linear function.
  Value adjoint_applied(const dsl::Expr& e, const Scope& scope);
  static constexpr const char* kOperatorAlone =
      "an operator acts on a spinor and has no components of its own";
  // lower_tables.cpp
  std::optional<Value> table(const dsl::Expr& e, const Scope& scope);
  Value file_entry(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> matrix_entry(const dsl::Expr& e, const Scope& scope);
  // lower_reductions.cpp
  Value sum_or_product(const dsl::Expr& e, bool product, const Scope& scope);
  std::optional<Value> reduction(const dsl::Expr& e, const Scope& scope);
  Value reduce(const std::string& name, const Value& x, const dsl::Expr& e);
  // lower_statistics.cpp
  Value reduction_over(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> first_passage(const dsl::Expr& e, const Scope& scope);
  Expr rate_along_flow(Expr average, dsl::Span span);
  // solve.cpp
  std::optional<Value> solve(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> of_solve(const dsl::Expr& e, const Scope& scope);
  void choose_solver(const dsl::Expr& e, const Scope& scope, LinearSystem& solve);
  /// Of the solution of a system: those of the `fermion` that the argument of the operator `op` is
  /// named after; a failure where there is none and `fermion` lines differ.
  std::array<bool, 4> antiperiodic_axes_of(const dsl::Expr& at, const NamedFact& op);
  /// Reading::stages of a spinor that is read at neighbours.
  Value staged(const Value& v, const Reading& reading);
  // particles.cpp
  std::optional<Value> particle_sum(const dsl::Expr& e, const Scope& scope);
  /// `max(abs(x[k][2]), k)`: over all bodies.
  std::optional<Value> over_particles(const dsl::Expr& e, const Scope& scope);
  Value particle_value(const StateField& field, const dsl::Expr& e, const Scope& scope);
  // lower_derivatives.cpp
  std::optional<Value> derivative(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> link_gradient(const dsl::Expr& e, const dsl::Expr& by, const Scope& scope);
  void index_range(const dsl::Expr& e, const std::string& index, const Scope& scope,
                   std::set<std::string>& visiting, std::optional<std::vector<IndexValue>>& range);

  Expr condition(const dsl::Expr& e, const Scope& scope);
  std::optional<IndexValue> direction(const dsl::Expr& e, const Scope& scope);
  int axis_named(const std::string& name) const;
  Expr spacing(dsl::Span span = {}) const;
  Expr coordinate(int axis, dsl::Span span = {}) const;  ///< of the sites, from the middle
  std::optional<std::pair<int, int>> compared_axes(const dsl::Expr& e, const Scope& scope);
  void refuse_coordinate_for_axis(const dsl::Expr& e, const Scope& scope) const;
  void bind(const std::string& parameter, const dsl::Expr& argument, const Scope& scope,
            Scope& inner);

  template <typename Work>
  auto shaped(const dsl::Expr& e, Work work) {
    try {
      return work();
    } catch (const ShapeError& error) {
      d_.fail(shape_message(e, error.what()));
    }
  }
  dsl::Diagnostic shape_message(const dsl::Expr& e, const std::string& what) const;

  static Program up_to(const Motion& known) { return Program(known); }
  static Program up_to(const Equations& known) { return up_to(Motion(known)); }
  static Program up_to(const Theory& known) { return up_to(Equations(known)); }
  static Program up_to(const Space& known) { return up_to(Theory(known)); }
  static Program up_to(const Declared& known) { return up_to(Space(known)); }
  static Program up_to(const Setting& known) { return up_to(Declared(known)); }

  std::shared_ptr<const Program> earlier_;  ///< what an earlier stage has made; null: a Program
  const Program& d_;
  bool keep_parameters_ = false;
  bool keep_gaps_ = false;
  std::map<std::string, Value> known_;  ///< definitions without local names, lowered once
  std::set<std::string> lowering_;      ///< to find cycles
};

}  // namespace vphi::physics
