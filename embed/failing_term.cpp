#include "embed/failing_term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/transform.hpp"
#include "embed/failed_recovery.hpp"
#include "runtime/run/number_text.hpp"
#include "runtime/run/ranks/lattice_session.hpp"

namespace vphi::embed {
namespace {

using algebra::Expr;
using algebra::Node;
using algebra::Op;
using runtime::number_text;
using Site = std::array<std::int64_t, 4>;

constexpr std::size_t kMostTerms = 6;

struct Term {
  Expr expr;
  double value = 0;
};

class BrokenStateValues {
 public:
  BrokenStateValues(const runtime::BrokenState& broken, const physics::System& system,
                    const program::Program& program)
      : broken_(broken), system_(system), program_(program) {}

  /// Throws std::invalid_argument for a symbol without a value.
  double at(Expr expr, const Site& site) const {
    return algebra::evaluate(expr, {[&](const Node& node) { return leaf(node, site); }});
  }
  /// The same where some arrays are not state but values of this site.
  double with(Expr expr, const Site& site, const std::map<int, double>& made) const {
    return algebra::evaluate(expr, {[&](const Node& node) {
                               const auto found =
                                   node.op == Op::Load ? made.find(node.index) : made.end();
                               return found != made.end() ? found->second : leaf(node, site);
                             }});
  }

 private:
  Site moved(const Site& site, const algebra::Offset& offset) const {
    Site other = site;
    for (int axis = 0; axis < 4; ++axis) {
      const std::int64_t n = program_.extent[axis];
      std::int64_t to = site[axis] + offset.d[axis];
      to = system_.lattice.boundary[axis] == physics::Boundary::Periodic
               ? (to % n + n) % n
               : std::clamp<std::int64_t>(to, 0, n - 1);  // near enough for a magnitude
      other[axis] = to;
    }
    return other;
  }

  double leaf(const Node& node, const Site& site) const {
    switch (node.op) {
      case Op::Load:
        for (std::size_t v = 0; v < system_.variables.size(); ++v)
          if (system_.variables[v].array == node.index)
            return broken_.before(static_cast<int>(v), moved(site, node.offset));
        break;
      case Op::Site:
        return static_cast<double>(site[node.index]);
      case Op::Stencil: {
        const auto& stencil = node.arena->stencil_data(node.index);
        double sum = 0;
        for (std::size_t i = 0; i < stencil.offsets.size(); ++i)
          sum += static_cast<double>(stencil.weights[i]) *
                 at(node.args[0], moved(site, stencil.offsets[i]));
        return sum * std::pow(system_.lattice.dx, stencil.dx_power) /
               static_cast<double>(stencil.denominator);
      }
      case Op::Symbol:
        for (std::size_t i = 0; i < program_.scalars.size(); ++i)
          if (program_.scalars[i].name == node.name && i < broken_.scalars_before.size())
            return broken_.scalars_before[i];
        for (const auto& [name, value] : system_.folded)
          if (name == node.name) return value;
        break;
      case VPHI_DRAWS:
      case VPHI_ARITHMETIC:
      case VPHI_ORDERED_ARITHMETIC:
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_CONDITIONS:
      case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Number:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Select:
      case Op::Lookup:
      case Op::PairSum:
      case Op::Count_:
        break;
    }
    throw std::invalid_argument("no value");
  }

  const runtime::BrokenState& broken_;
  const physics::System& system_;
  const program::Program& program_;
};

std::vector<Term> terms_of(Expr rate, const BrokenStateValues& evaluator, const Site& site) {
  std::vector<Expr> parts{rate};
  if (rate.is(Op::Add)) parts.assign(rate.args().begin(), rate.args().end());
  std::vector<Term> terms;
  for (Expr part : parts) {
    try {
      terms.push_back({part, evaluator.at(part, site)});
    } catch (const std::invalid_argument&) {
    }
  }
  // NaN first, then by size.
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    const bool x = std::isfinite(a.value), y = std::isfinite(b.value);
    return x != y ? !x : x && std::abs(a.value) > std::abs(b.value);
  });
  return terms;
}

// ---- sites that cannot be recovered (E0808) ---------------------------------------------------

/// The primitive variables that `recover` computes at a site, and whether they agree with the
/// conserved values.
struct Recovered {
  std::map<int, double> values;
  bool sound = true;
};

std::map<int, double> recovered_values(const physics::Conservation& laws,
                                       const BrokenStateValues& evaluator, const Site& site) {
  std::map<int, double> values;
  for (const physics::Derived& value : laws.recovered)
    values[value.array] = evaluator.with(value.value, site, values);
  return values;
}

Recovered recovered_at(const physics::Conservation& laws, const BrokenStateValues& evaluator,
                       Expr sound, const Site& site) {
  Recovered made{recovered_values(laws, evaluator, site)};
  made.sound = evaluator.with(sound, site, made.values) != 0;
  return made;
}

Site site_number(std::int64_t number, const program::Program& p) {
  Site site{};
  for (int axis = 0; axis < 4; ++axis) {
    site[axis] = number % p.extent[axis];
    number /= p.extent[axis];
  }
  return site;
}

/// Largest values over the lattice, of what is stored or recovered, become numbers.
Expr with_maxima(Expr value, const physics::Conservation& laws, const BrokenStateValues& evaluator,
                 const program::Program& p) {
  const auto recovered = [&](Expr node) {
    return node.is(Op::Load) && std::ranges::any_of(laws.recovered, [&](const auto& own) {
             return own.array == node->index;
           });
  };
  std::unordered_map<const Node*, Expr> known;
  algebra::visit(value, [&](Expr node) {
    if (!node.is(Op::Maximum)) return;
    const bool of_recovered = algebra::contains(node.arg(0), recovered);
    double most = 0;
    for (std::int64_t i = 0; i < p.sites(); ++i) {
      const Site site = site_number(i, p);
      const double here =
          of_recovered ? evaluator.with(node.arg(0), site, recovered_values(laws, evaluator, site))
                       : evaluator.at(node.arg(0), site);
      most = std::fmax(most, here);
    }
    known.emplace(node.get(), node->arena->real(most));
  });
  return known.empty() ? value : algebra::substitute(value, known);
}

std::string blame_recovery(const runtime::BrokenState& broken, const Compilation& c,
                           const program::Program& p) {
  const physics::System& system = *c.system;
  if (!system.conservation || !system.conservation->sound) return {};
  runtime::BrokenState state = broken;
  state.before = broken.there;
  const BrokenStateValues evaluator(state, system, p);
  const physics::Conservation& laws = *system.conservation;
  const Expr sound = with_maxima(laws.sound, laws, evaluator, p);
  const int last = p.dims - 1;
  const std::int64_t most = p.sites() / p.extent[last];
  constexpr const char* kAxes[] = {"x", "y", "z", "t"};
  for (std::int64_t i = 0; i < most; ++i) {
    Site site{};
    std::int64_t rest = i;
    for (int axis = 0; axis < last; ++axis) {
      site[axis] = rest % p.extent[axis];
      rest /= p.extent[axis];
    }
    site[last] = broken.plane;
    const Recovered made = recovered_at(laws, evaluator, sound, site);
    if (made.sound) continue;
    std::string where, place;
    for (int axis = 0; axis < p.dims; ++axis) {
      const double x =
          (static_cast<double>(site[axis]) - 0.5 * static_cast<double>(p.extent[axis] - 1)) *
          p.dx_physical;
      where += fmt::format("{}{}", axis > 0 ? ", " : "", site[axis]);
      place += fmt::format(", {} = {:.4g}", kAxes[axis], x);
    }
    std::string text = fmt::format("   = first at site ({}){}:", where, place);
    for (std::size_t v = 0; v < system.variables.size(); ++v)
      text += fmt::format("{} {} = {}", v > 0 ? "," : "", system.variables[v].shown,
                          number_text(broken.there(static_cast<int>(v), site), 9));
    text += "\n   = what `recover` makes of them:";
    std::set<std::string> shown;  // a name that is solved for may be a primitive variable as well
    for (const physics::Derived& value : laws.recovered)
      if (shown.insert(value.name).second)
        text += fmt::format("{} {} = {}", shown.size() > 1 ? "," : "", value.name,
                            number_text(made.values.at(value.array), 6));
    std::vector<Expr> holds;
    for (const physics::Conservation::Solved& solved : laws.solved)
      holds.push_back(with_maxima(solved.holds, laws, evaluator, p));
    const AtSite at = [&](Expr e, const std::map<int, double>& values) {
      return evaluator.with(e, site, values);
    };
    return text + failed_recovery(c.resolved, system, at, sound, holds, made.values) + "\n";
  }
  return "   = in the arithmetic of the run alone: in double precision all sites are recovered\n";
}

std::string state_before(const runtime::BrokenState& broken, const physics::System& system) {
  std::string text = fmt::format("   = after step {}, at this site:", broken.step - 1);
  for (std::size_t v = 0; v < system.variables.size(); ++v)
    text += fmt::format(" {} = {}{}", system.variables[v].name,
                        number_text(broken.before(static_cast<int>(v), broken.site), 4),
                        v + 1 < system.variables.size() ? "," : "");
  return text + "\n";
}

std::string line_of(const Compilation& c, dsl::Span span) {
  const auto sources = c.resolved.sources();
  if (span.empty() || span.file >= sources.size() || sources[span.file] == nullptr) return {};
  const auto& source = *sources[span.file];
  const int line = source.position(span.begin).line;
  std::string text(source.line(line));
  text.erase(0, text.find_first_not_of(" \t"));
  return fmt::format("   (line {}: {})", line, text);
}

/// The line with the initial value of the variable that became NaN.
std::string blame_start(const runtime::BrokenState& broken, const Compilation& c) {
  const auto& variables = c.system->variables;
  if (broken.variable < 0 || static_cast<std::size_t>(broken.variable) >= variables.size())
    return {};
  for (const physics::InitialValue& initial : c.system->initial) {
    if (initial.array != variables[static_cast<std::size_t>(broken.variable)].array) continue;
    const std::string line = line_of(c, initial.value->span);
    if (!line.empty()) return fmt::format("   = its initial value is written there{}\n", line);
  }
  return {};
}

}  // namespace

std::string failing_term(const runtime::BrokenState& broken, const Compilation& c) {
  // sites are those of the whole lattice, however many ranks share it
  std::optional<program::Program> whole;
  if (c.program && c.program->cut.axis >= 0) whole = runtime::whole_lattice(*c.program);
  const program::Program* const p = whole ? &*whole : c.program ? &*c.program : nullptr;
  if (broken.there && broken.plane >= 0 && c.system && c.program) try {
      return blame_recovery(broken, c, *p);
    } catch (const std::invalid_argument&) {  // a symbol without a value
      return {};
    }
  if (broken.at_start && c.system) return blame_start(broken, c);
  if (!broken.before || !c.system || !c.program) return {};
  const physics::System& system = *c.system;
  if (system.variables.size() != c.program->state.size()) return {};
  const BrokenStateValues evaluator(broken, system, *p);
  // A coordinate only follows its momentum, so the cause is in the momentum's equation.
  const physics::Variable* guilty = nullptr;
  std::vector<Term> terms;
  for (const physics::Variable& v : system.variables) {
    if (v.role == physics::Role::Coordinate && v.partner >= 0) continue;
    if (!v.rate || v.rate.is_zero()) continue;  // moved by a scheme that is a step
    auto own = terms_of(v.rate, evaluator, broken.site);
    if (own.empty()) continue;
    const auto worse = [](const Term& a, const Term& b) {
      if (std::isfinite(a.value) != std::isfinite(b.value)) return !std::isfinite(a.value);
      return std::abs(a.value) > std::abs(b.value);
    };
    if (guilty == nullptr || worse(own[0], terms[0])) guilty = &v, terms = std::move(own);
  }
  if (guilty == nullptr) return state_before(broken, system);
  const algebra::Names names{[&](const Node& node) -> std::string {
    if (node.op != Op::Load) return "";
    for (const auto& v : system.variables)
      if (v.array == node.index) return v.name;
    return "";
  }};
  std::string text = state_before(broken, system);
  text += fmt::format("   = terms of d({})/d(eta) there, program units, {}:\n", guilty->name,
                      std::isfinite(terms[0].value) ? "largest first" : "the first is the cause");
  for (std::size_t i = 0; i < std::min(terms.size(), kMostTerms); ++i)
    text += fmt::format("   =   {} from {}{}\n", number_text(terms[i].value, 4),
                        to_text(terms[i].expr, names), line_of(c, terms[i].expr->span));
  return text;
}

}  // namespace vphi::embed
