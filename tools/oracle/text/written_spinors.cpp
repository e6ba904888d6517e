// Spinors in the text: matrices of four rows (spin) with a column for each colour, and the matrices
// that act on them (docs/formulas.md 3.1).
#include <algorithm>

#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;

namespace {

constexpr int kFour = 4;

/// A Pauli matrix (0 ... 2) or 1 (3), row by row.
std::vector<Complex> pauli_matrix(int k) {
  const Complex i(0, 1);
  const std::vector<std::vector<Complex>> sigma{
      {0, 1, 1, 0}, {0, -i, i, 0}, {1, 0, 0, -1}, {1, 0, 0, 1}};
  return sigma.at(static_cast<std::size_t>(k));
}

/// [[a, b], [c, d]] of blocks of two rows, times a Pauli matrix or 1.
Numbers blocks(Complex a, Complex b, Complex c, Complex d, int pauli) {
  const std::vector<Complex> s = pauli_matrix(pauli);
  Numbers m{kFour, kFour, {}, 0};
  for (std::size_t row = 0; row < kFour; ++row)
    for (std::size_t column = 0; column < kFour; ++column) {
      const Complex block = row < 2 ? (column < 2 ? a : b) : (column < 2 ? c : d);
      m.parts.push_back(block * s[row % 2 * 2 + column % 2]);
    }
  return m;
}

bool is_spinor(const Numbers& v, int spins) { return v.rows == spins && v.columns != spins; }

}  // namespace

/// Components of spin: 4, or n of `spinor(n)`.
int Written::spins() const {
  for (const auto& f : facts_.fields)
    if (f.fermion && f.type && !f.type->args.empty()) {
      const int n = std::stoi(f.type->args[0]->text);
      if (n != 1 && n != 2 && n != kFour) throw NotCovered{f.type->span, "spinors of this size"};
      return n;
    }
  return kFour;
}

bool Written::has_fermions() const {
  return std::any_of(facts_.fields.begin(), facts_.fields.end(),
                     [](const auto& f) { return f.fermion != nullptr; });
}

std::string Written::spin_basis() const {
  std::string basis = "chiral";
  for (const dsl::Clause* clause : resolved_.clauses("fermion"))
    if (const auto asked = dsl::option(*clause, "basis")) basis = asked->text;
  return basis;
}

/// gamma_k = [[0, -i sigma_k], [i sigma_k, 0]]; gamma_t is -offdiag(1, 1) of the chiral basis,
/// diag(1, -1) of Dirac's. That of DeGrand and Rossi has the other sign but for gamma_y.
Numbers Written::gamma(int axis) const {
  const Complex i(0, 1);
  if (spins() == 2) return {2, 2, pauli_matrix(axis), 0};
  const std::string basis = spin_basis();
  Numbers m = axis < 3           ? blocks(0, -i, i, 0, axis)
              : basis == "dirac" ? blocks(1, 0, 0, -1, 3)
                                 : blocks(0, -1, -1, 0, 3);
  if (basis == "degrand_rossi" && axis != 1)
    for (Complex& z : m.parts) z = -z;
  return m;
}

Numbers Written::gamma5() const {
  if (spins() == 2) return {2, 2, pauli_matrix(2), 0};
  return spin_basis() == "dirac" ? blocks(0, 1, 1, 0, 3) : blocks(1, 0, 0, -1, 3);
}

/// 1 in one component.
Numbers Written::unit_spinor(const dsl::Expr& e, const Scope& scope, const Place* place) {
  int colours = 1;
  for (const auto& [name, f] : fields) colours = std::max(colours, f.colours);
  const int s = static_cast<int>(real(*e.args.at(0), scope, place)),
            c = static_cast<int>(real(*e.args.at(1), scope, place));
  if (s >= spins() || c >= colours) throw std::out_of_range("a component of a spinor");
  Numbers v{spins(), colours, std::vector<Complex>(static_cast<std::size_t>(spins() * colours)), 0};
  v.parts[static_cast<std::size_t>(s * colours + c)] = 1;
  return v;
}

/// Applies the factors of a product from right to left: matrices of spin act on the rows of a
/// spinor, links on its columns.
Numbers Written::acting(const dsl::Expr& product, const Scope& scope, const Place* place) {
  std::vector<const dsl::Expr*> factors;
  const dsl::Expr* e = &product;
  for (; e->kind == ExprKind::Binary && e->text == "*"; e = e->args[0].get())
    factors.push_back(e->args[1].get());
  factors.push_back(e);
  Numbers v = at(*factors.front(), scope, place);
  for (std::size_t i = 1; i < factors.size(); ++i) {
    const Numbers x = at(*factors[i], scope, place);
    const bool matrices = !x.scalar() && !v.scalar() && x.rows == x.columns && has_fermions();
    if (matrices && spins() != kFour && v.rows == v.columns && v.rows == spins() &&
        x.rows == spins())
      throw NotCovered{product.span, "spinors with as many colours as components of spin"};
    const bool link = !x.scalar() && is_spinor(v, spins()) && x.rows == v.columns;
    if (!link) {
      if (!x.scalar() && !v.scalar() && x.columns != v.rows)
        throw NotCovered{product.span, "a product of these shapes"};
      v = multiplied(x, v);
      continue;
    }
    Numbers turned = x;
    for (int row = 0; row < x.rows; ++row)
      for (int column = 0; column < x.columns; ++column)
        turned.parts[static_cast<std::size_t>(column * x.rows + row)] =
            x.parts[static_cast<std::size_t>(row * x.columns + column)];
    v = multiplied(v, turned);
  }
  return v;
}

WrittenField& Written::declare_unknown(const std::string& name, int rows, int columns, bool complex,
                                       bool spinor) {
  WrittenField f;
  f.name = name;
  f.rows = rows;
  f.columns = columns;
  f.complex = complex;
  f.walls = box.walls;
  if (spinor) {
    bool first = true;
    for (const dsl::Clause* clause : resolved_.clauses("fermion")) {
      WallsWritten walls = box.walls;
      read_walls(*clause, walls);
      if (!first && (walls.wall != f.walls.wall || walls.fixed != f.walls.fixed))
        throw NotCovered{clause->keyword_span, "fermions of several boundaries"};
      f.walls = walls;
      first = false;
    }
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(box.dims); ++k)
    if (f.walls.wall[k] == Wall::Fixed && f.walls.fixed[k] != 0)
      throw NotCovered{{}, "a solve between walls of another value than 0"};
  f.values.assign(static_cast<std::size_t>(box.sites() * f.reals()), 0);
  return fields.insert_or_assign(name, std::move(f)).first->second;
}

}  // namespace vphi::tools
