// Lowers the syntax tree to real expressions: names are replaced by their values, complex numbers
// and vectors by components, sums over indices by their terms, and `mean`, `var`, `max` by
// reduction nodes.
//
// The result is in physical units (stages/theory.hpp). With `keep_parameters` params and dx stay
// symbols; this form of an equation is printed. Without it all fixed numbers are folded; this form
// is compiled. Errors are added to the diagnostics and thrown as Failure.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "compiler/physics/lower/reading.hpp"
#include "compiler/physics/spinors/determinants.hpp"
#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/stages/program.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

class Lowerer {
 public:
  /// Reads with the results of one stage; names of later stages are unknown. It keeps a reference
  /// to `known`.
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
  /// A real scalar; anything else is an error, in which `what` describes it.
  Expr real(const dsl::Expr& e, const std::string& what, const Scope& scope = {});
  /// A number that is known at compile time.
  Expr fixed(const dsl::Expr& e, const std::string& what, const Scope& scope = {});
  long double fixed_number(const dsl::Expr& e, const std::string& what, const Scope& scope = {});
  std::int64_t fixed_integer(const dsl::Expr& e, const std::string& what, const Scope& scope = {});

  /// Physical time derivative along the equations of motion.
  Expr time_derivative(Expr e, dsl::Span span);
  Value time_derivative(const Value& v, dsl::Span span);

  /// The same reader, but it expresses 1 - re(P) of links without cancellation. For outputs, which
  /// need its value; equations and actions need its derivative.
  Lowerer keeping_gaps() const;

  /// All tuples of values that the undefined names `indices` take in `e` (docs/rules.md rule 11).
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
  /// Energy densities of a written Lagrangian: of the terms that hold velocities, of the others
  /// that read neighbours, and of the rest.
  Expr lagrangian_kinetic();
  Expr lagrangian_gradient();
  Expr lagrangian_potential();
  Expr pressure_of_curvature();
  Value field_value(const StateField& field);
  /// The matrix u_a T_a.
  Value algebra_value(const gauge::Group& group, const std::vector<Expr>& u);
  /// The operator and the solvers of `pseudofermion(D, ...)`; `call` is this call.
  /// `power`: p of |det D|^(2p), 0 < p <= 1. `reading`: of the operator. `beside_fraction`: options
  /// of a fraction belong to another field of this call.
  DeterminantFactor determinant_factor(const dsl::Expr& call, const Reading& reading,
                                       long double power = 1, bool beside_fraction = false);
  DeterminantFraction fraction_of(const dsl::Expr& call, long double power);
  int past_of(const dsl::Expr& start);
  /// The links of the model as matrices.
  gauge::LinkOf link_matrices() const;
  /// The links of a definition `V[mu] = exp(A)*U[mu]` or `V[mu, nu] = project(M)`, as this place
  /// has them; nothing for other names. `axes`: the directions that are read; `labels`: axes for
  /// the indices behind the direction.
  std::optional<MadeLinks> made_links(const std::string& name, const dsl::Expr& at,
                                      const Reading& reading, const std::set<int>& axes,
                                      const std::vector<int>& labels = {});
  /// The product of links of SU(n) or U(1) along a path.
  Value along(const StateField& field, const LinkPath& path, dsl::Span span,
              const Reading& reading = {});
  Value field_velocity(const StateField& field, dsl::Span span, const Reading& reading = {});
  /// Turns a term that is only noise and is added to `vector` into independent noise for each
  /// component.
  void with_noise_of_its_own(Value& term, const Value& vector);

 private:
  Value name(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> given_name(const std::string& text, dsl::Span span, const Reading& reading);
  Value definition(const NamedFact& fact, const dsl::Expr& at, const Scope& scope);
  Value binary(const dsl::Expr& e, const Scope& scope);
  Value select(const dsl::Expr& e, const Scope& scope);
  Value index(const dsl::Expr& e, const Scope& scope);
  Value prime(const dsl::Expr& e, const Scope& scope);
  std::shared_ptr<const LinkRate> rate_of_link(const dsl::Expr& e, const Value& link,
                                               const Scope& scope);
  Value shift(const dsl::Expr& e, const Scope& scope);
  /// The value as it is `offset` further; `span`: where a model asks for it.
  Value at_neighbour(const Value& of, algebra::Offset offset, dsl::Span span,
                     const Reading& reading);
  Value unit(const dsl::Expr& e, const Scope& scope);
  Value call(const dsl::Expr& e, const Scope& scope);
  Value user_function(const NamedFact& fact, const dsl::Expr& e, const Scope& scope);
  // lower_functions.cpp: a reader for each kind of function (dsl/words/builtins.hpp), called before
  // the arguments are read; it returns nothing where the call has no value in an expression
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
  std::optional<Value> curl(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> gradient(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> neighbours(const dsl::Expr& e, const Scope& scope);
  Value axis_derivative(const Value& x, int axis);
  Value spinor_slope(const Value& x, int axis, dsl::Span span, const Reading& reading);
  /// factor * sum of weight * x at offset, for a spinor.
  Value stencil_of_spinor(const Value& x, const algebra::StencilData& stencil, Expr factor,
                          dsl::Span span, const Reading& reading);
  // lower_links.cpp
  bool has_links() const;
  const StateField& links(dsl::Span span) const;
  std::optional<Value> path_product(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> colours_of_links(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> projected_value(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> link_value(const dsl::Expr& e, const Scope& scope);
  Value traced(const Value& x, const Reading& reading) const;
  /// The gap of the real part of the trace of an N x N product of links; null where it is not
  /// known.
  std::shared_ptr<const Gap> gap_of(const Value& product, int n) const;
  Value link_momentum(const StateField& field, const dsl::Expr& e, const Scope& scope);
  Value polyakov(dsl::Span span, const Reading& reading);
  std::vector<IndexValue> steps_of(const dsl::Expr& arg, const Scope& scope);
  /// Violation of Gauss's law at a site: the generator of the gauge transformations that leave the
  /// written H unchanged; where it has several components, its length.
  Expr gauss(dsl::Span span);
  // lower_spinors.cpp
  bool has_fermions() const;
  /// gamma[mu]; gamma[-mu] is -gamma[mu].
  std::optional<Value> gamma_matrix(const dsl::Expr& e, const Scope& scope);
  /// The function `fact` of one spinor as an operator; fails where it is not linear.
  SpinorForm linear_operator(const NamedFact& fact, const dsl::Expr& at, const Scope& scope);
  int colours() const;  ///< colours of spinors: those of the links, or 1 without links
  /// `spinor(s, c)`: 1 in one component, 0 in the others.
  std::optional<Value> unit_spinor(const dsl::Expr& e, const Scope& scope);
  /// `adj(D, psi)`: the adjoint operator of a linear function.
  Value adjoint_applied(const dsl::Expr& e, const Scope& scope);
  static constexpr const char* kOperatorAlone =
      "an operator acts on a spinor and has no components of its own";
  // lower_tables.cpp
  std::optional<Value> table(const dsl::Expr& e, const Scope& scope);
  Value file_entry(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> matrix_entry(const dsl::Expr& e, const Scope& scope);
  // lower_formulas.cpp
  std::optional<Value> of_formula(const dsl::Expr& e, const Scope& scope);
  struct Formula;
  Formula formula(const dsl::Expr& e, const Scope& scope);
  Expr with_numbers(Expr e);
  Expr from_table(const dsl::Expr& e, const Formula& f, const Scope& scope);
  Expr integral(const dsl::Expr& e, const Formula& f, const Scope& scope);
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
  std::optional<Value> read_solve(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> of_solve(const dsl::Expr& e, const Scope& scope);
  std::optional<Value> of_action(const dsl::Expr& e, const Scope& scope);
  /// `option`: which of the call's options names the solver. `shifts`: the text solves for these
  /// beside A itself.
  void choose_solver(const dsl::Expr& e, const Scope& scope, LinearSystem& solve,
                     const std::string& option = "solver",
                     const std::vector<Expr>* shifts = nullptr);
  /// Phases of the solution of a system beyond the edges: those of the `fermion` that has the name
  /// of the operator's argument. Fails where there is none and the `fermion` lines differ.
  EdgePhases edges_of(const dsl::Expr& at, const NamedFact& op);
  /// Multiplies a shifted spinor that holds no spinor in arrays, a source, by the phase of the
  /// edges between.
  void turn_source(Value& moved, algebra::Offset offset, dsl::Span span);
  /// What every spinor takes at the edges of the axes along which the offset leads.
  EdgePhases edges_of_sources(algebra::Offset offset, dsl::Span span);
  /// Makes a stage (Reading::stages) for a spinor that is read at neighbours.
  Value staged(const Value& v, const Reading& reading);
  // particles.cpp
  std::optional<Value> particle_sum(const dsl::Expr& e, const Scope& scope);
  /// `max(abs(x[k][2]), k)`: extreme values over all bodies.
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
  /// Coordinate of the sites, measured from the centre.
  Expr coordinate(int axis, dsl::Span span = {}) const;
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

  /// The result of an earlier stage; null: it was made from a Program.
  std::shared_ptr<const Program> earlier_;
  const Program& d_;
  bool keep_parameters_ = false;
  bool keep_gaps_ = false;
  std::map<std::string, Value> known_;  ///< lowered definitions that do not depend on local names
  std::set<std::string> lowering_;      ///< to find cycles
  /// What a `solve` has given, by its place in the text and the indices there.
  using SolvePlace = std::pair<const dsl::Expr*, std::map<std::string, int>>;
  std::map<SolvePlace, Value> solved_;
};

}  // namespace vphi::physics
