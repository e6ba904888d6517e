// Evaluates a model's text directly, with numbers at the sites of a small lattice.
//
// This is the independent reference of `vphi test`. It works on the syntax tree and uses no code of
// the compiler: numbers are complex with 64-bit mantissas, neighbours are read from the arrays,
// stencils are applied by their text, and derivatives are the differences
//   f'(x) = (8 (f(x+h) - f(x-h)) - f(x+2h) + f(x-2h))/(12 h) + O(h^4)
// of evaluated text. Arguments of functions are evaluated where they are used, so a shift of an
// argument is its value at the neighbour. A construct that is not implemented here throws
// NotCovered and is reported as not checked.
#pragma once

#include <array>
#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/physics/facts.hpp"
#include "dsl/resolve.hpp"

namespace vphi::physics {
struct TableData;
struct Matrix;
}  // namespace vphi::physics

namespace vphi::tools {

using Complex = std::complex<long double>;

/// A construct that is not implemented here, with its place.
struct NotCovered {
  dsl::Span span;
  std::string what;
};

/// exp(i w T_a) u and a random element of SU(n), n x n matrices row by row; generators in the order
/// of compiler/gauge/group.hpp: for each q the pairs p < q, symmetric and antisymmetric, then the
/// diagonal one, all with tr(T_a T_b) = delta_ab/2.
std::vector<Complex> rotated_link(const std::vector<Complex>& u, int n, int a, long double w);
/// Coordinate `a` of i[u, v] of two elements of the algebra by their coordinates.
long double bracket_along(int n, const std::vector<long double>& u,
                          const std::vector<long double>& v, int a);
std::vector<Complex> random_link(int n, const std::function<long double()>& normal);
/// T_a itself.
std::vector<Complex> link_generator(int n, int a);

/// A value: a number, a vector, a matrix, row by row.
struct Numbers {
  int rows = 1, columns = 1;
  std::vector<Complex> parts{Complex(0)};
  long double period = 0;  ///< for an angle by itself: differences are wrapped
  bool scalar() const { return parts.size() == 1; }
  static Numbers of(Complex z) { return {1, 1, {z}, 0}; }
  static Numbers vector(std::vector<Complex> parts);
};

/// A product of numbers, of a number and anything, or of matrices that fit.
Numbers multiplied(const Numbers& x, const Numbers& y);

using Place = std::array<int, 4>;

/// `Held`, of links alone: open, and what lies within the first and the last plane stays.
enum class Wall { Periodic, Antiperiodic, Twisted, Open, Held, Fixed, Neumann, Outflow };

/// Boundaries along each axis.
struct WallsWritten {
  std::array<Wall, 4> wall{};
  std::array<Place, 4> shift{};        ///< sites along each axis beyond the end of this one
  std::array<long double, 4> fixed{};  ///< the value of a wall, the angle of a twist
};

/// The box of the `lattice` clause.
struct Box {
  int dims = 0;  ///< 0: no lattice, one site or bodies
  std::array<int, 4> extent{1, 1, 1, 1};
  WallsWritten walls;  ///< of fields whose line gives none
  long double dx = 1;
  int sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  int site(const Place& p) const;
  Place place(int site) const;
  Place after_shifts(Place p) const;
};

/// State of one declared variable: real numbers, the real and the imaginary part of each component.
struct WrittenField {
  std::string name;
  int rows = 1, columns = 1;
  bool complex = false, symmetric = false, particle = false;
  bool link = false;   ///< a row for each axis
  bool phase = false;  ///< a U(1) link: the value is exp(i*number)
  int roots = 0;       ///< links of Z(N): N, and they are phases
  int colours = 0;     ///< SU(n) links: a block of n rows for each axis
  /// n of type su(n): the numbers are coordinates of a matrix, of momenta of links a row for each
  /// axis.
  int algebra = 0;
  WallsWritten walls;
  long double period = 0;
  int order = 1;                           ///< 2: `rates` are part of the state
  long double scale = 1;                   ///< size of typical values
  std::vector<long double> values, rates;  ///< [site][component][re, im]
  std::vector<long double> allowed;        ///< `values = ...`: what a site may be; empty: anything
  long double norm = 0;                    ///< `norm = ...`: length of the vector; 0: any
  int reals() const { return rows * columns * 2; }
};

class Written {
 public:
  explicit Written(const dsl::Resolved& resolved);

  // ---- state, to be set before anything is evaluated
  Box box;
  std::map<std::string, WrittenField> fields;
  long double t = 0, a = 1, hubble = 0;
  /// Step of difference quotients, in units of the values.
  long double step = 1e-3L;
  std::map<std::string, long double> swept;  ///< values of swept names
  /// The value of `noise` at each place of the text and of the lattice; empty: 0.
  std::function<long double(const dsl::Expr& at, const Place* place)> noise;

  /// How many sites further along each axis positions are than their sites.
  std::array<long double, 4> beyond{};
  /// The value of `normal`, `uniform(a, b)`, ... at each place of the text; may be empty.
  std::function<std::optional<Numbers>(const std::string& word, const std::vector<long double>& x)>
      draw;

  /// H' of a metric that follows the averages, and u'' of fields by name, as far as another program
  /// has told them. Without them H' follows from the means of rho and p.
  std::optional<long double> hubble_rate;
  std::map<std::string, std::vector<long double>> accelerations;

  /// How far along their rates the values of a site are taken; x' of any formula is then a
  /// difference along them, and with `moves` null it is not defined so.
  long double* moves = nullptr;
  long double move_step = 1e-3L;  ///< of these differences
  bool was_moved = false;         ///< set when it was

  /// Cells of `metric scale`; empty functions: all cells are cubes.
  struct Cells {
    /// Area of the face behind a place along an axis over the distance of the sites on both sides.
    std::function<long double(const Place&, int axis)> face_over_length;
    std::function<long double(const Place&)> volume;
    std::function<long double(const Place&)> growth;  ///< d(log volume)/dt
  };
  Cells cells;

  /// Called with every denominator and every argument of a root or a logarithm, and its place in
  /// the text; may be empty.
  std::function<void(const dsl::Expr& at, long double)> guarded;

  const physics::Facts& facts() const { return facts_; }
  bool expanding() const { return !scale_factor_.empty(); }
  bool closed() const { return expanding() && !prescribed_; }
  const std::string& scale_factor() const { return scale_factor_; }
  bool hamiltonian() const;

  /// Reads the `lattice` clause, for a lattice of this shape.
  void read_box(int dims, const std::array<int, 4>& extent);
  /// Adds all declared variables, without values.
  void declare(int sites);
  /// Sets a(t) and H of a prescribed scale factor.
  void set_background();
  /// Sets t with them.
  void set_time(long double time) {
    t = time;
    set_background();
  }
  /// The same some time later; a scale factor that follows the averages changes with H.
  void advance(long double by) {
    if (closed()) a += by * a * hubble;
    set_time(t + by);
  }
  /// Calls f some time later.
  template <class Value>
  auto later(long double by, Value f) {
    const long double now = t, a_now = a, hubble_now = hubble;
    advance(by);
    auto value = f();
    t = now, a = a_now, hubble = hubble_now;
    return value;
  }

  /// The value of an expression at a place; `place` null: of the whole box.
  Numbers value(const dsl::Expr& e, const Place* place);
  /// Additional names, which are visible in the model's definitions as well.
  struct Given {
    std::map<std::string, Numbers> values;
    std::map<std::string, const dsl::Expr*> formulas;  ///< formulas that may use each other
    std::map<std::string, int> axes;                   ///< indices
    /// Values that differ from site to site.
    std::map<std::string, std::function<Numbers(const Place&)>> places;
  };
  Numbers value(const dsl::Expr& e, const Given& given, const Place* place);
  /// phi'' from a potential at a site, for each real number of the field.
  std::vector<long double> from_potential(const WrittenField& field, int site);
  /// The same from Lagrangians.
  std::vector<long double> from_lagrangian(const WrittenField& field, int site);
  /// What the model has of the two, or the rate from its Hamiltonian.
  std::vector<long double> from_source(const WrittenField& field, int site);
  bool follows_lagrangian(const WrittenField& field) const;
  /// A real number of a field at a site, or a link along `axis` by generator T_a of SU(n), which
  /// moves as exp(i w T_a) U; U of U(1) as exp(i w) U.
  struct Coordinate {
    WrittenField* field = nullptr;
    int site = 0;
    std::size_t real = 0;
    std::optional<std::size_t> mirror = {};  ///< index of a symmetric field's other component
    int axis = -1, generator = 0;            ///< of a link
  };
  /// dL/du of the sum over the box of all Lagrangian densities, or dL/du'. For a link U' is carried
  /// along with U, so that d(a^3 dL/dw')/dt = a^3 dL/dw is its equation.
  long double lagrangian_slope(const Coordinate& c, bool velocity);
  /// q' or p' from the written H. `only`: the one real number that is wanted; others are then 0.
  std::vector<long double> from_hamiltonian(const WrittenField& field, int site,
                                            std::optional<std::size_t> only = std::nullopt);
  /// w_a of U' = i w_a T_a U for the link along `axis`, from the written H.
  long double link_velocity(const WrittenField& links, int site, int axis, int a);
  long double turn_of_momentum(const WrittenField& links, int site, int axis, int a);
  /// -dS/du of the action called `name`, summed over the box, by one real number of the field.
  long double from_action(const std::string& name, const WrittenField& field, int site,
                          std::size_t real);
  /// The same along exp(i w T_a) U for the link along `axis`, with T_a generator `a` of SU(n).
  long double from_action(const std::string& name, const WrittenField& links, int site, int axis,
                          int a);
  /// All `action` clauses, summed over the box.
  long double action();
  /// The same summed over those sites alone whose density reads the field at `site`.
  long double action_near(const WrittenField& field, int site);
  /// Their first and second derivative along exp(i w T_a) U for the link along `axis`; for U(1)
  /// along exp(i w) U.
  struct LinkSlope {
    long double first = 0, second = 0;
  };
  LinkSlope along_link(const WrittenField& links, int site, int axis, int a);
  /// Whether the link keeps the value of the start, in a plane at an end; what it would turn by is
  /// 0.
  bool stays(const WrittenField& links, int site, int axis) const;
  /// Whether it would lead across an end at which links are left out.
  bool outside(const WrittenField& links, int site, int axis) const;
  /// The change of S when a link of U(1) or Z(N) is multiplied by exp(i*angle).
  long double turned_by(const WrittenField& links, int site, int axis, long double angle);
  /// A of U' = A U for the link along `axis`, from the equation of links, row by row.
  std::vector<Complex> link_rate(const physics::EquationFact& fact, const WrittenField& links,
                                 int site, int axis);
  int spins() const;
  /// Adds a field without a line of its own; a spinor has the boundaries of the `fermion` lines.
  WrittenField& declare_unknown(const std::string& name, int rows, int columns, bool complex,
                                bool spinor);
  /// The right side of an equation of motion, including `derived`.
  std::vector<long double> right_side(const physics::EquationFact& fact, const WrittenField& field,
                                      int site);
  /// Whether it contains a time derivative of anything but a variable with a rate of its own.
  bool differentiates(const dsl::Expr& e) const;
  /// Means of rho and p over the box (reference: `metric`), including the dependence of V on a.
  struct Energies {
    long double rho = 0, p = 0;
  };
  Energies energies();
  long double mean_density();  ///< its rho alone
  long double planck2();
  /// Whether H' of a metric that follows the averages stands in a Lagrangian, as part of R.
  bool curves() const;

 private:
  struct Scope;
  struct Local;
  struct Index {
    int value = 0, sign = 1;
    enum class Kind { Number, Direction, Body } kind = Kind::Number;
  };
  struct NeedsPlace {};
  /// Values by the state in which they were evaluated and the place.
  using Remembered = std::map<std::pair<unsigned long, std::optional<Place>>, Numbers>;
  class OtherState;

  /// A new state of variables; 0 where nothing is remembered.
  unsigned long next_state() { return state_ == 0 ? 0 : ++states_; }
  Numbers remembered(Remembered& known, const dsl::Expr& e, const Scope& scope, const Place* place);
  /// The value of e at a place where `derived` stands for these numbers of the field; null: for
  /// none.
  Numbers beside_derived(const dsl::Expr& e, const Scope& scope, const Place& place,
                         const std::vector<long double>* derived, const WrittenField& field);
  /// The right sides of E[i]' = ... of U(1), axis by axis.
  std::vector<long double> of_each_axis(const physics::EquationFact& fact,
                                        const WrittenField& field, int site,
                                        const std::vector<long double>& derived);
  Numbers at(const dsl::Expr& e, const Scope& scope, const Place* place);
  Complex number(const dsl::Expr& e, const Scope& scope, const Place* place);
  long double real(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers name(const dsl::Expr& e, const Scope& scope, const Place* place);
  std::optional<Numbers> given(const std::string& text, const Place* place);
  std::pair<long double, long double> sides(const dsl::Expr& e, const Scope& scope,
                                            const Place* place);
  Numbers binary(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers call(const dsl::Expr& e, const Scope& scope, const Place* place);
  std::optional<Numbers> elementary(const dsl::Expr& e, const Scope& scope, const Place* place);
  std::optional<Numbers> linear_algebra(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers index(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers shifted(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers prime(const dsl::Expr& e, const Scope& scope, const Place* place);
  // ---- rates of formulas
  struct Stream;
  bool reads_rates(const dsl::Expr& e, std::set<std::string>& seen) const;
  std::vector<Stream> streams(bool equations);
  Numbers rate_of_formula(const dsl::Expr& e, const Scope& scope, const Place* place);
  // ---- spinors
  bool has_fermions() const;
  std::string spin_basis() const;
  Numbers gamma(int axis) const;
  Numbers gamma5() const;
  Numbers unit_spinor(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers acting(const dsl::Expr& product, const Scope& scope, const Place* place);
  // ---- tables
  std::string folder() const;
  Numbers table(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers file_entry(const dsl::Expr& e, const Scope& scope, const Place* place);
  // ---- formulas of a name with a range
  Numbers of_formula(const dsl::Expr& e, const Scope& scope, const Place* place);
  // ---- lattice
  void read_walls(const dsl::Clause& clause, WallsWritten& walls);
  Numbers field_at(const WrittenField& f, const Place& place, bool rate) const;
  Numbers laplacian(const dsl::Expr& u, const Scope& scope, const Place& place);
  Numbers slope(const dsl::Expr& u, const Scope& scope, const Place& place, int axis);
  Numbers neighbours(const dsl::Expr& u, const Scope& scope, const Place& place, int nonzero);
  Numbers difference(const Numbers& there, const Numbers& here, const dsl::Expr& u) const;
  long double gradient_square(const WrittenField& f, const Place& place);
  const std::map<Place, long double>& laplacian_weights(const dsl::Expr& e);
  std::map<Place, long double> laplacian_weights(const dsl::Expr& e, const Place& place);
  const std::map<Place, long double>& spectral_weights();
  Numbers link_at(const WrittenField& links, Place from, int axis, int sign) const;
  /// U' of the same, which is part of the state where a Lagrangian moves links.
  Numbers link_speed_at(const WrittenField& links, Place from, int axis, int sign) const;
  Numbers loop(const dsl::Expr& e, const Scope& scope, const Place* place);
  // ---- sums, derivatives
  Numbers reduction(const dsl::Expr& e, const Scope& scope);
  Numbers sum(const dsl::Expr& e, const Scope& scope, const Place* place);
  Numbers derivative(const dsl::Expr& e, const Scope& scope, const Place* place);
  std::vector<Index> range(const dsl::Expr& e, const std::string& name, const Scope& scope,
                           std::set<std::string>& seen);
  std::optional<Index> direction(const dsl::Expr& e, const Scope& scope) const;
  int axis_named(const std::string& name) const;
  /// d/du of `f`, where u is one real number of the state.
  long double difference_quotient(long double& u, long double scale,
                                  const std::function<long double()>& f);
  /// A term of a sum, under a total or not.
  struct Term {
    const dsl::Expr* text = nullptr;
    long double sign = 1;
    bool total = false;
  };
  /// The terms of e, with names of definitions expanded. Difference quotients are taken of each
  /// term separately, so that a large term does not hide a small one.
  void terms(const dsl::Expr& e, long double sign, bool total, std::vector<Term>& out) const;
  long double slope_of(const std::vector<Term>& terms, long double& u, long double scale);
  /// The same along a path: `move` sets the state to each point of it, and at the end back to 0.
  long double slope_along(const std::vector<Term>& terms, long double h,
                          const std::function<void(long double)>& move);
  std::vector<Term> terms_of_action(const std::string& name) const;
  std::vector<Term> terms_of_hamiltonian() const;
  /// The momentum of a coordinate of H, or the coordinate of a momentum.
  WrittenField& partner_of(const WrittenField& field);
  // ---- links
  class Turned;
  class Displaced;
  std::vector<Term> terms_of_actions() const;
  /// Places at which the density reads the link.
  const std::vector<Place>& readers(const Term& term, int site, int axis);
  const std::vector<Place>& readers(const Term& term, const WrittenField& field, int site);
  bool chooses(const dsl::Expr& e, std::set<std::string>& seen) const;
  LinkSlope along_link(const std::vector<Term>& terms, WrittenField& f, int site, int axis, int a,
                       bool second);
  std::optional<Numbers> link_gradient(const dsl::Expr& e, const Scope& scope, const Place* place);
  /// The links that the definition of this name makes, at the links of now; null: it makes none.
  /// `labels`: axes for the indices behind the direction.
  const WrittenField* made_links(const std::string& name, const std::vector<int>& labels = {});
  const WrittenField* projected_links(const physics::NamedFact& fact,
                                      const std::vector<int>& labels);
  bool has_gradient_by(const dsl::Expr& e, const std::string& links,
                       std::set<std::string>& seen) const;
  Numbers made_link_at(const WrittenField& links, const Place& from, int axis, int sign);
  /// The value for the whole box: a density is summed, a number is unchanged.
  Complex functional(const dsl::Expr& e, const Scope& scope);
  Numbers summed(const std::function<Numbers(const Place&)>& f);
  /// An option of `metric` over this power of a; 0 where there is none.
  long double fluid_density(const char* name, long double power);
  long double energy_density(const Place& place);
  long double pressure(const Place& place);
  long double potential_at(const Place& place);
  long double lagrangian_at(const Place& place);
  /// f of the terms f*R, f' and f'' along the motion of the fields at the site.
  struct OfCurvature {
    long double f = 0, first = 0, second = 0;
  };
  OfCurvature of_curvature(const Place& place, bool twice);
  long double lagrangian_without_curvature(const Place& place);
  std::vector<Term> lagrangian_terms() const;
  bool gravitates(const WrittenField& f);
  bool mentions_angle(const dsl::Expr& e, std::set<std::string>& seen) const;

  const dsl::Resolved& resolved_;
  physics::Facts facts_;
  std::string scale_factor_;
  dsl::ExprPtr prescribed_;
  std::map<Place, long double> weights_;
  const std::vector<long double>* derived_ = nullptr;
  const WrittenField* derived_of_ = nullptr;
  std::map<std::string, std::shared_ptr<const physics::TableData>> tables_;  ///< by name
  std::map<std::string, std::shared_ptr<const physics::Matrix>> files_;
  using LinkPlace = std::pair<int, int>;  ///< site and axis
  std::map<const dsl::Expr*, std::map<LinkPlace, std::vector<Place>>> readers_;
  using SitePlace = std::pair<const WrittenField*, int>;
  /// Places at which the density reads the field at a site.
  std::map<const dsl::Expr*, std::map<SitePlace, std::vector<Place>>> site_readers_;
  mutable std::set<SitePlace>* read_sites_ = nullptr;  ///< sites that are read are added to it
  mutable std::set<LinkPlace>* read_links_ = nullptr;  ///< links that are read are added to it
  long double speed_ = 1;                              ///< all velocities are taken times this
  bool flowing_ = false;                               ///< set within the rate of a formula
  int flow_axis_ = -1;                                 ///< axis of the link whose rate is computed
  struct MadeLinks {
    std::vector<long double> of;  ///< the model's links that they were computed from
    WrittenField links;
  };
  using MadeName = std::pair<std::string, std::vector<int>>;  ///< of the definition, and labels
  std::map<MadeName, MadeLinks> made_;
  std::string moving_;  ///< name of the links that those of the model stand in for
  int depth_ = 0;
  unsigned long state_ = 0, states_ = 0;  ///< now, and the last of all
  const Scope* root_ = nullptr;           ///< names that definitions see
  std::map<const physics::NamedFact*, Remembered> known_;
  mutable bool reads_box_ = false;  ///< set when a value of a site of the box is read
};

}  // namespace vphi::tools
