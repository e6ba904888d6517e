// Resolves names, types and index ranges of a model, so that every name has one meaning.
//
// `resolve` reads the model and the library texts, builds the symbol table, checks types, index
// ranges, units and the items of every clause, and returns all of it together with the diagnostics.
// The syntax tree is kept: meanings are found by name (symbols) or by the address of a node
// (types). A Resolved model with errors must not be compiled.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::dsl {

struct Type {
  enum class Base {
    Unknown,
    Integer,
    Real,
    Complex,
    Angle,
    Boolean,
    Vector,
    Matrix,
    Symmetric,
    Group,
    Spinor,
    Determinant,
    Text,
    Operator
  };
  Base base = Base::Unknown;
  int rows = 1;  ///< vec(n): n; mat(n,m): n; SU(n), U(1): n; sym(n): n
  int columns = 1;
  bool complex = false;   ///< vec(n, complex)
  std::string group;      ///< "SU", "U"; "su" of a hermitian matrix without a trace
  bool per_site = false;  ///< has a value at each lattice site (or particle, or instance)
  friend bool operator==(const Type&, const Type&) = default;
};
std::string to_string(const Type& type);

enum class SymbolKind {
  Parameter,   ///< param: value
  Swept,       ///< sweep axis
  Definition,  ///< name = expr, also a function (parameters) or an indexed one (indices)
  Drawn,       ///< name ~ dist, once an instance
  Field,
  Gauge,
  Fermion,
  Variable,   ///< state
  Particles,  ///< a species
  Potential,
  Action,
  Hamiltonian,
  Conserved,
  Primitive,
  Construct,  ///< given by a construct: a H rho p w energies (metric), x y z r dx volume
              ///< (lattice), t dt step (evolve), ... ; `origin` names the construct
  Stencil,
  Integrator,
  Scheme,
  Solver,    ///< library text heads
  Function,  ///< built into the language: sin, lap, mean, ...
};

struct Symbol {
  std::string name;
  SymbolKind kind = SymbolKind::Definition;
  Type type;
  Span declared;                        ///< empty for built-in names
  ExprPtr value;                        ///< null where there is none
  std::vector<std::string> parameters;  ///< of a function or an indexed definition
  bool indexed = false;                 ///< parameters are indices
  std::string origin;                   ///< construct or library file, else empty
  const Line* line = nullptr;           ///< where it was declared
};

struct Resolved {
  ModelText model;
  std::vector<ModelText> library;
  std::map<std::string, Symbol> symbols;  ///< model names shadow library names
  std::unordered_map<const Expr*, Type> types;
  std::unordered_map<std::string, double> units;  ///< unit name -> size in the base unit
  std::vector<std::string> later_families;        ///< parts of this model that do not run yet
  std::vector<std::int64_t> lattice_shape;        ///< sites per axis; empty without a lattice
  /// The lines before functions of links were written out (dsl/link_functions.hpp); empty where the
  /// model calls none.
  std::vector<Line> as_written;
  std::set<std::string> written_out;  ///< names of these functions
  Diagnostics diagnostics;

  const Symbol* find(const std::string& name) const;
  /// Model clauses with this keyword, in text order.
  std::vector<const Clause*> clauses(const std::string& keyword) const;
  const Clause* clause(const std::string& keyword) const;  ///< the first, or null
  Sources sources() const;
};

/// Resolves texts loaded by dsl/syntax/load.hpp (which also applies `--set`). `library` sources
/// carry file numbers from 1 on.
Resolved resolve(ModelText model, std::vector<ModelText> library);

// ---- reading clauses --------------------------------------------------------------------------

/// The value of `name = value` among the clause's items, or null.
ExprPtr option(const Clause& clause, const std::string& name);
/// Items without a head (names, expressions), in order, including those after a `:`.
std::vector<const Item*> positional(const Clause& clause);

}  // namespace vphi::dsl
