// Time derivatives of formulas of the text along the text's own equations.
//
// The whole state is moved along its rates, as far as equations give them, and the formula is
// evaluated there. The numerical slope is that of the chain rule, without rules of derivatives.
#include <algorithm>
#include <cmath>

#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;

/// One list of numbers of the state and how fast it changes.
struct Written::Stream {
  std::vector<long double>* state;
  std::vector<long double> start, rate;
};

/// Whether a formula reads rates, or variables whose rate is their equation: then the equations
/// have to be evaluated.
bool Written::reads_rates(const dsl::Expr& e, std::set<std::string>& seen) const {
  if (e.kind == ExprKind::Prime) return true;
  if (e.kind == ExprKind::Name || e.kind == ExprKind::Call || e.kind == ExprKind::Index) {
    const std::string& name = e.kind == ExprKind::Index ? e.args[0]->text : e.text;
    const auto field = fields.find(name);
    if (field != fields.end() && field->second.order != 2) return true;
    const physics::NamedFact* fact = facts_.find(name);
    if (closed() && (name == "H" || name == "frw.H")) return true;
    if (!fact && (name == "rho" || name == "p" || name == "w")) return true;
    if (fact && fact->value && seen.insert(name).second && reads_rates(*fact->value, seen))
      return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const auto& arg) { return reads_rates(*arg, seen); });
}

bool Written::differentiates(const dsl::Expr& e) const {
  std::set<std::string> seen;
  const std::function<bool(const dsl::Expr&)> within = [&](const dsl::Expr& at) {
    if (at.kind == ExprKind::Prime) {
      const dsl::Expr& base =
          at.args[0]->kind == ExprKind::Index ? *at.args[0]->args[0] : *at.args[0];
      const auto field = fields.find(base.text);
      return base.kind != ExprKind::Name || field == fields.end() || field->second.order != 2;
    }
    const physics::NamedFact* fact =
        at.kind == ExprKind::Name || at.kind == ExprKind::Call ? facts_.find(at.text) : nullptr;
    if (fact && fact->value && seen.insert(at.text).second && within(*fact->value)) return true;
    return std::any_of(at.args.begin(), at.args.end(),
                       [&](const auto& arg) { return within(*arg); });
  };
  return within(e);
}

/// The rates of everything; of order 2 the second ones as well where they are asked for.
std::vector<Written::Stream> Written::streams(bool equations) {
  std::vector<Stream> all;
  for (auto& [name, f] : fields) {
    if (f.order == 2) {
      all.push_back({&f.values, f.values, f.rates});
      for (long double& rate : all.back().rate) rate *= speed_;
    }
    if (!equations) continue;
    if (f.colours > 0) throw NotCovered{{}, "the rate of links in this group"};
    const physics::EquationFact* own = facts_.equation(name);
    const physics::FieldFact* declared = facts_.field(name);
    std::vector<long double> rate(f.values.size());
    const bool moves = own || (declared && (hamiltonian() || f.order == 2));
    for (int site = 0; moves && site < box.sites(); ++site) {
      const auto here = own             ? right_side(*own, f, site)
                        : hamiltonian() ? from_hamiltonian(f, site)
                                        : from_potential(f, site);
      std::copy(here.begin(), here.end(), rate.begin() + site * f.reals());
    }
    auto& state = f.order == 2 ? f.rates : f.values;
    all.push_back({&state, state, std::move(rate)});
  }
  return all;
}

Numbers Written::rate_of_formula(const dsl::Expr& e, const Scope& scope, const Place* place) {
  std::set<std::string> seen;
  const bool equations = reads_rates(e, seen);
  if (equations && flowing_) throw NotCovered{e.span, "a rate of a rate"};
  struct Flowing {
    bool& flag;
    bool before;
    ~Flowing() { flag = before; }
  } flowing{flowing_, flowing_};
  flowing_ = true;
  std::vector<Stream> all = streams(equations);
  const OtherState nothing(*this, 0, root_);
  const long double t0 = t, a0 = a, h0 = hubble;
  long double of_hubble = 0;
  if (closed() && equations) {
    const Energies mean = energies();
    of_hubble = -(mean.rho + mean.p) / (2 * planck2());
  }
  long double fastest = 1;
  for (const Stream& s : all)
    for (const long double v : s.rate) fastest = std::max(fastest, std::fabs(v));
  const long double h = step / fastest;
  const auto moved = [&](int steps) {
    for (Stream& s : all)
      for (std::size_t i = 0; i < s.start.size(); ++i)
        (*s.state)[i] = s.start[i] + steps * h * s.rate[i];
    t = t0 + steps * h;
    if (closed()) {
      a = a0 + steps * h * a0 * h0;
      hubble = h0 + steps * h * of_hubble;
    } else {
      set_background();
    }
  };
  const auto back = [&] {
    for (Stream& s : all) *s.state = s.start;
    t = t0;
    a = a0;
    hubble = h0;
  };
  std::array<Numbers, 5> values;
  try {
    for (const int steps : {-2, -1, 1, 2}) {
      moved(steps);
      values[static_cast<std::size_t>(steps + 2)] = at(e, scope, place);
    }
  } catch (...) {
    back();
    throw;
  }
  back();
  Numbers result = values[3];
  result.period = 0;
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    const auto v = [&](int steps) { return values[static_cast<std::size_t>(steps + 2)].parts[i]; };
    result.parts[i] = slope_of_four(v(-2), v(-1), v(1), v(2), h);
  }
  return result;
}

}  // namespace vphi::tools
