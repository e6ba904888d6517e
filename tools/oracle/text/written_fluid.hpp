// Conservation laws and flux schemes as the text writes them, as numbers.
//
// The text's side of `vphi test` for `conserve`, `recover`, `limit`, `scheme` and `split`: fluxes,
// densities and sources are evaluated from the syntax tree, an equation of `solve` is iterated
// until nothing changes, and the lines of a scheme are worked out cell by cell with 64-bit
// mantissas. What a scheme's head calls v is the slope of a flux by its own quantity, the primitive
// variables held; its f is what is left. Beyond a wall lies what the boundary shows. Nothing of it
// is the compiler's. What the text's side does not know throws NotCovered.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

/// Numbers of one cell, by component in the order of the text.
using Cell = std::vector<long double>;

/// Conserved quantities and the primitive variables that belong to them.
struct FluidCell {
  Cell quantities, primitives;
};

/// One line `recover { ... solve u }` asks for.
struct WrittenSolve {
  std::string name;
  long double start = 0;
  std::optional<long double> from, to;
};

class WrittenFluid {
 public:
  /// `text` must have its box. Its fields lose the primitive variables: they are values of a cell.
  WrittenFluid(const dsl::Resolved& resolved, Written& text);

  struct Name {
    std::string name;
    int size = 1;
    int first = 0;  ///< among the components
  };
  const std::vector<Name>& quantities() const { return quantities_; }
  const std::vector<Name>& primitives() const { return primitives_; }
  int components(bool of_primitives) const;
  const std::optional<WrittenSolve>& solve() const { return solve_; }
  int dims() const { return text_.box.dims; }

  /// What `conserve` makes of primitive variables.
  Cell densities(const Cell& primitives, const Place& place);
  /// The primitive variables, and what is solved for behind them where there is a `solve`. Numbers
  /// that are none where no root is found.
  Cell recovered(const Cell& quantities, const Place& place);
  /// u - g(u) of the equation that is solved, at u.
  long double left(const Cell& quantities, long double u, const Place& place);
  /// After the limits, in text order.
  Cell limited(const Cell& quantities, const Place& place);
  /// [component][axis], and the sources behind the axes.
  std::vector<Cell> fluxes(const FluidCell& cell, const Place& place);
  /// A number that an option of a scheme makes of a cell: `speed`, of the axis where it has an
  /// index.
  long double of_cell(const dsl::Expr& option, const std::string& axis_name, int axis,
                      const FluidCell& cell, const Place& place);
  /// What `init` gives; the quantities that belong to it. Throws NotCovered for random starts.
  Cell start(const Place& place);

  Written& text() { return text_; }
  const dsl::Resolved& resolved() const { return resolved_; }

 private:
  struct Law {
    const dsl::Item* item = nullptr;
    std::vector<const dsl::Expr*> right;
  };
  Written::Given given(const Cell* quantities, const Cell* primitives) const;
  void read_flux(const dsl::Expr& e, long double sign, const Written::Given& names,
                 const Place& place, std::size_t first, std::size_t size, std::vector<Cell>& out);
  Numbers matrix(const dsl::Expr& e, const Written::Given& names, const Place& place);
  int axis_of(const dsl::Expr& e) const;
  long double root(const Written::Given& names, const Place& place);

  const dsl::Resolved& resolved_;
  Written& text_;
  std::vector<Name> quantities_, primitives_;
  std::vector<Law> laws_;
  std::map<std::string, const dsl::Expr*> facts_;  ///< of `recover`
  std::optional<WrittenSolve> solve_;
};

/// The scheme that the model names.
class WrittenScheme {
 public:
  explicit WrittenScheme(WrittenFluid& fluid);

  const std::string& name() const { return name_; }
  /// Its text ends in `U = ...`, not in `U' = ...`.
  bool step() const { return step_; }
  /// The first step, of length dt from text().t on, sources and limits with it: quantities of all
  /// sites.
  std::vector<Cell> advanced(std::vector<Cell> cells, long double dt);
  /// What one pass along an axis makes of the cells, before the limits.
  std::vector<Cell> along(const std::vector<Cell>& cells, int axis, long double dt);
  /// What went out through the walls in the last step, by component, in cells.
  const Cell& lost() const { return lost_; }
  /// U' at some sites: all axes, and the sources where they are wanted.
  std::vector<Cell> rates(const std::vector<Cell>& cells, const std::vector<Place>& places,
                          bool with_sources = true);

 private:
  enum class Kind { One, Quantities, Primitives };  ///< what a value has parts for
  struct Share {
    int axis = 0;
    long double weight = 1;
  };
  class Pass;

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
  const dsl::Expr* last_ = nullptr;  ///< what U or U' is set to
  bool step_ = false, half_step_ = false;
  Cell lost_;
};

}  // namespace vphi::tools
