// Evaluates conservation laws and flux schemes from the text, with numbers.
//
// The text's side of `vphi test` for `conserve`, `recover`, `limit`, `scheme` and `split`: fluxes,
// densities and sources are evaluated from the syntax tree, an equation of `solve` is iterated to
// convergence, and the lines of a scheme are evaluated cell by cell with 64-bit mantissas. The
// velocity v in a scheme's head is the derivative of a flux by its own quantity at fixed primitive
// variables; f is the rest of the flux. Values beyond a wall are given by the boundary. No code of
// the compiler is used. A construct that is not implemented here throws NotCovered.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

/// Numbers of one cell, by component in the order of the text.
using Cell = std::vector<long double>;
/// `size` of them as a number or a vector.
Numbers together(const Cell& cell, int first, int size);

/// Conserved quantities and the primitive variables that belong to them.
struct FluidCell {
  Cell quantities, primitives;
};

/// A `solve u` in `recover`.
struct WrittenSolve {
  std::string name;
  const dsl::Expr* start = nullptr;  ///< null: from 0
  std::optional<long double> from, to;
  bool iterates = true;  ///< u = g(u) converges by itself
  int size = 1;          ///< components of what is solved for
};

class WrittenFluid {
 public:
  /// `text` must have its box. Removes the primitive variables from its fields; they become values
  /// of a cell.
  WrittenFluid(const dsl::Resolved& resolved, Written& text);

  struct Name {
    std::string name;
    int size = 1;
    int first = 0;  ///< first index among the components
    bool relaxed = false;
    bool beside = false;  ///< a field with an equation of its own; the last of the names
  };
  const std::vector<Name>& quantities() const { return quantities_; }
  const std::vector<Name>& primitives() const { return primitives_; }
  int components(bool of_primitives) const;
  /// How many of them are those of fields with equations of their own.
  int components_beside() const;
  const std::vector<WrittenSolve>& solves() const { return solves_; }
  int dims() const { return text_.box.dims; }

  /// The densities of `conserve` for primitive variables.
  Cell densities(const Cell& primitives, const Place& place);
  /// The primitive variables, followed by the solutions of each `solve` of a number. NaN where no
  /// root is found. What was found for the same quantities, place and time is kept.
  Cell recovered(const Cell& quantities, const Place& place);
  /// u - g(u) of the equation of a `solve` of a number; `solutions` of all, in their order.
  long double left(const Cell& quantities, std::size_t which,
                   const std::vector<std::vector<long double>>& solutions, const Place& place);
  /// The quantities after the limits, in text order.
  Cell limited(const Cell& quantities, const Place& place);
  /// [component][axis], followed by the source of each component.
  std::vector<Cell> fluxes(const FluidCell& cell, const Place& place);
  /// The sources alone, which may read neighbours and hold derivatives in time of primitive
  /// variables: `primitives` of any place, and their derivatives here.
  Cell sources(const FluidCell& cell, const std::function<Cell(const Place&)>& primitives,
               const Cell& derivatives, const Place& place);
  /// Of each component, the part of the flux along an axis that holds derivatives or noise, at the
  /// face from `place` to the next cell. `primitives`: of any place.
  Cell through(const std::function<Cell(const Place&)>& primitives, const Place& place, int axis);
  bool fluxes_hold_derivatives() const;  ///< or noise
  /// Quantities whose law is `curl(E)`, perhaps with sources behind it.
  std::vector<Name> curls() const;
  /// Whether the last `sources` held derivatives in time.
  bool held_derivatives() const { return text_.was_moved; }
  /// Whether the model has `metric scale(h1, h2, h3)`, or an expanding box: (a, a, a).
  bool in_coordinates() const { return !factors_.empty(); }
  /// The energies that `energy` names, and the means of T_xx, T_yy and T_zz of their momenta.
  Written::Energies energies(const FluidCell& cell, const Place& place);
  /// The rho of these alone.
  long double energy_density(const Cell& quantities) const;
  /// Scale factor number k at a place, some halves of a step further along each axis.
  long double factor(std::size_t k, const Place& place, const std::array<int, 3>& halves = {});
  /// Mean of h1*h2*h3 over a cell; 1 without scale factors.
  long double volume(const Place& place);
  /// Mean of the factors other than that of `axis` over the face towards the next cell.
  long double area(const Place& place, int axis);
  /// d(ln h_k)/dt of a scale factor.
  long double widening(std::size_t k, const Place& place);
  /// The cells of the scale factors, for Laplacians of fields.
  Written::Cells cells();
  /// The value of an option of a scheme in a cell, such as `speed`; for an axis where it has an
  /// index.
  long double of_cell(const dsl::Expr& option, const std::string& axis_name, int axis,
                      const FluidCell& cell, const Place& place);
  /// A number made of averages over all cells, such as a step `0.4*dx/max(abs(u) + c)`.
  long double over_cells(const dsl::Expr& e, const std::vector<FluidCell>& cells);
  /// Puts what `beyond` gives at a place, if that lies beyond such an end, into the cell that is
  /// there without it. Its primitive variables are those of a time `later`.
  void put_given(FluidCell& cell, const Place& place, long double later);
  /// The quantities from `init`. Throws NotCovered for random initial values.
  Cell start(const Place& place);

  Written& text() { return text_; }
  const dsl::Resolved& resolved() const { return resolved_; }

 private:
  struct Law {
    const dsl::Item* item = nullptr;
    std::vector<const dsl::Expr*> right;
    const dsl::Expr *time = nullptr, *along = nullptr;  ///< of `relax`; item has the target
  };
  Written::Given given(const Cell* quantities, const Cell* primitives) const;
  void read_flux(const dsl::Expr& e, long double sign, const Written::Given& names,
                 const Place& place, std::size_t first, std::size_t size, std::vector<Cell>& out);
  Numbers matrix(const dsl::Expr& e, const Written::Given& names, const Place& place);
  int axis_of(const dsl::Expr& e) const;
  void read_expanding(const dsl::Clause& metric);
  bool turns(const Name& q) const;
  bool of_curl(const Name& q) const;
  void turn(const FluidCell& cell, const Place& place, std::vector<Cell>& out);
  long double mean(int without, const std::function<long double(const std::array<int, 3>&)>& value);
  Cell found(const Cell& quantities, const Place& place);
  Numbers started(const WrittenSolve& solve, const Written::Given& names, const Place& place);
  long double root(const Written::Given& names, const Place& place);
  Numbers vector_root(const Written::Given& names, const Place& place);
  std::vector<Numbers> joint_roots(const Written::Given& names, const Place& place);
  void read_relaxation(const Law& law, const Name& name, const Written::Given& names,
                       const Place& place, std::vector<Cell>& out);
  long double divergence(const dsl::Expr& v, const Written::Given& names, const Place& place);
  bool holds_more_than_values(const dsl::Expr& e) const;
  Cell flux_of_values(const std::function<Cell(const Place&)>& primitives, const Place& place,
                      int axis);

  const dsl::Resolved& resolved_;
  Written& text_;
  std::vector<Name> quantities_, primitives_;
  std::vector<Law> laws_;
  std::map<std::string, const dsl::Expr*> facts_;  ///< of `recover`
  std::vector<const dsl::Expr*> factors_;          ///< of `metric scale`; null: a of the text
  /// Their values, by time, number, place and halves of a step.
  std::map<std::tuple<long double, std::size_t, Place, std::array<int, 3>>, long double>
      known_factors_;
  std::map<std::string, std::string> momentum_of_;  ///< of each law that `energy` names
  std::map<std::size_t, long double> isotropic_;    ///< first component of a law -> its `grad`
  std::vector<WrittenSolve> solves_;
  /// What `recovered` has found, by time, place and quantities.
  std::map<std::tuple<long double, Place, Cell>, Cell> recovered_;
  Written::Given of_sources_;  ///< names of sources
  bool with_sources_ = false;  ///< within `sources`
  bool fluxes_alone_ = false;  ///< sources are left out
};

/// The scheme that the model names.
class WrittenScheme {
 public:
  explicit WrittenScheme(WrittenFluid& fluid);

  const std::string& name() const { return name_; }
  /// Whether its text ends with `U = ...`, not with `U' = ...`.
  bool step() const { return step_; }
  /// The quantities of all sites after a first step of length dt from text().t, including sources
  /// and limits.
  std::vector<Cell> advanced(std::vector<Cell> cells, long double dt);
  /// The cells after one pass along an axis, before the limits.
  std::vector<Cell> along(const std::vector<Cell>& cells, int axis, long double dt);
  /// The amount that has left through the walls in the last step, for each component, in cells.
  const Cell& lost() const { return lost_; }
  /// U' at some sites; `of_fluxes`: the same without the sources.
  std::vector<Cell> rates(const std::vector<Cell>& cells, const std::vector<Place>& places,
                          std::vector<Cell>* of_fluxes = nullptr);

 private:
  /// Whether a value has one part, one for each quantity, or one for each primitive variable.
  enum class Kind { One, Quantities, Primitives };
  struct Share {
    int axis = 0;
    long double weight = 1;
  };
  class Pass;
  void put_curl(const WrittenFluid::Name& name, const std::vector<Cell>& cells,
                const std::vector<Cell>& primitives, const std::vector<Place>& places,
                std::vector<Cell>& result);

  using Sources = std::function<Cell(const Cell& derivatives)>;
  Cell derivatives(const FluidCell& cell, const Cell& of_fluxes, const Sources& sources,
                   const Place& p);
  Cell primitives_at(const std::vector<Cell>& primitives, Place p) const;
  void read_head();
  void read_options();
  std::vector<Share> order() const;
  void run_sources(std::vector<Cell>& cells, long double dt);
  std::vector<Cell> recovered(const std::vector<Cell>& cells);
  void limit(std::vector<Cell>& cells);

  WrittenFluid& fluid_;
  std::string name_;
  const dsl::Clause* use_ = nullptr;
  const dsl::Clause* body_ = nullptr;
  std::string state_ = "U", axis_ = "k", velocity_, rest_, flux_;
  std::map<std::string, const dsl::Expr*> options_;
  std::map<std::string, const dsl::Expr*> lines_;
  const dsl::Expr* last_ = nullptr;  ///< the right side of U or U'
  bool step_ = false, half_step_ = false;
  Cell lost_;
};

}  // namespace vphi::tools
