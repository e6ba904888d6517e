#include "compiler/physics/fluids/fluid_states.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

double evaluated(Expr e, const Numbers& numbers, Expr open, double value) {
  return algebra::evaluate(e, {[&](const algebra::Node& leaf) -> double {
                             if (leaf.op == Op::Load) return numbers.at(leaf.index);
                             if (open && &leaf == open.get()) return value;
                             return leaf.op == Op::Symbol ? 1 : 0;
                           }});
}

std::vector<double> evaluated(const algebra::Evaluation& of, const Numbers& numbers) {
  return of([&](const algebra::Node& leaf) -> double {
    return leaf.op == Op::Load ? numbers.at(leaf.index) : leaf.op == Op::Symbol ? 1 : 0;
  });
}

namespace {

class MadeOf {
 public:
  MadeOf(const Space& d, Lowerer& lower) : d_(d), lower_(lower) {}

  void read(const dsl::Expr& e) {
    for (const dsl::ExprPtr& part : e.args) read(*part);
    if (e.kind == ExprKind::Call) {
      const dsl::Builtin* known = dsl::find_builtin(e.text);
      if (known && known->rule == dsl::Rule::RealFunction) add(e);
    }
    const bool names = e.kind == ExprKind::Name || e.kind == ExprKind::Call;
    const NamedFact* fact = names ? d_.facts.find(e.text) : nullptr;
    if (!fact || !fact->value) return;
    if (fact->kind == NamedFact::Kind::Function && e.kind == ExprKind::Call) add(e);
    if (fact->kind != NamedFact::Kind::Definition || !seen_.insert(e.text).second) return;
    read(*fact->value);
    add(e);
  }
  const std::vector<Expr>& values() const { return values_; }

 private:
  void add(const dsl::Expr& e) {
    for (const Component& part : lower_.value(e).parts) {
      if (part.real() && part.re->per_site) values_.push_back(part.re);
    }
  }
  const Space& d_;
  Lowerer& lower_;
  std::set<std::string> seen_;
  std::vector<Expr> values_;
};

}  // namespace

std::vector<int> arrays_beside_laws(const Declared& d) {
  std::vector<int> arrays;
  for (const StateField& field : d.fields) {
    if (!field.beside_laws()) continue;
    arrays.insert(arrays.end(), field.arrays.begin(), field.arrays.end());
    arrays.insert(arrays.end(), field.velocities.begin(), field.velocities.end());
  }
  return arrays;
}

std::vector<Expr> made_of(const Space& d, Lowerer& lower) {
  MadeOf made(d, lower);
  for (const dsl::Clause* clause : d.resolved.clauses("conserve")) {
    if (const dsl::Item* law = law_of(*clause)) made.read(*law->value);
  }
  return made.values();
}

TrialStates::TrialStates(const Space& d, Lowerer& lower, const std::vector<Law>& laws)
    : d_(d), laws_(laws), parts_(made_of(d, lower)), fields_(arrays_beside_laws(d)) {
  find_guards();
  find_reference();
  read_limits(lower);
}

/// Those that read nothing but the primitive variables of their site.
void TrialStates::read_limits(Lowerer& lower) {
  for (const dsl::Clause* clause : d_.resolved.clauses("limit")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head || !item.value) continue;
      const auto field = std::ranges::find_if(d_.fields, [&](const StateField& f) {
        return f.primitive && f.relaxed && f.name == item.head->name;
      });
      if (field == d_.fields.end()) continue;
      std::vector<std::pair<int, Expr>> made;
      for (const Component& part : lower.value(*item.value).parts) {
        const bool elsewhere = algebra::contains(part.re, [&](Expr node) {
          if (node.is(Op::Load)) {
            const StateField* read = d_.field_of(node->index);
            return !read || !read->primitive || !node->offset.zero();
          }
          return (node.op() >= Op::Mean && node.op() <= Op::Maximum) || node.is(Op::PairSum) ||
                 node.is(Op::Stencil) || node.is(Op::Site);
        });
        if (!elsewhere && made.size() < field->arrays.size())
          made.emplace_back(field->arrays[made.size()], part.re);
      }
      if (made.size() == field->arrays.size()) limits_.push_back(std::move(made));
    }
  }
}

void TrialStates::limit(TrialState& state) const {
  for (const auto& line : limits_) {
    const Numbers before = state.primitives;
    for (const auto& [array, value] : line) {
      const double limited = evaluated(value, before);
      if (std::isfinite(limited)) state.primitives[array] = limited;
    }
  }
}

/// Finds the guards: denominators, and arguments of roots and logarithms.
void TrialStates::find_guards() {
  std::set<int> primitives;
  for (const StateField& field : d_.fields) {
    if (field.primitive) primitives.insert(field.arrays.begin(), field.arrays.end());
  }
  for (const int array : arrays_beside_laws(d_)) primitives.insert(array);
  std::set<const algebra::Node*> seen;
  const auto guard = [&](Expr e) {
    bool known = true, varies = false;
    algebra::visit(e, [&](Expr node) {
      if (!node.is(Op::Load)) return;
      varies = true;
      known = known && primitives.contains(node->index);
    });
    if (known && varies && seen.insert(e.get()).second) guards_.push_back(e);
  };
  const auto look = [&](Expr e) {
    algebra::visit(e, [&](Expr node) {
      if (node.is(Op::Log)) guard(node.arg(0));
      if (!node.is(Op::Pow)) return;
      const auto power = algebra::constant(node.arg(1));
      if (!power || power->real < 0 || power->real != std::round(power->real)) guard(node.arg(0));
    });
  };
  for (const Expr part : parts_) look(part);
  for (const Law& law : laws_) {
    for (const Component& part : law.density.parts) look(part.re);
  }
}

/// Reads the primitive variables that `init` gives as plain numbers; false where there are none.
bool TrialStates::read_start(Numbers& reference) const {
  bool any = false;
  for (const dsl::Clause* clause : d_.resolved.clauses("init")) {
    for (const dsl::Item& item : clause->items) {
      const StateField* field = item.head ? d_.field(item.head->name) : nullptr;
      if (!field || field->conserved || !item.value || item.value->kind != ExprKind::Number)
        continue;
      for (const int array : field->arrays)
        reference[array] = std::strtod(item.value->text.c_str(), nullptr);
      any = true;
    }
  }
  return any;
}

/// The number of guards that have no sign at a reference state.
int TrialStates::signs_without(const Numbers& reference) const {
  int without = 0;
  for (const Expr guard : guards_) {
    const double value = evaluated(guard, reference);
    without += std::isfinite(value) && value != 0 ? 0 : 1;
  }
  for (const Expr part : parts_) without += std::isfinite(evaluated(part, reference)) ? 0 : 1;
  return without;
}

void TrialStates::find_reference() {
  std::vector<int> numbers;
  for (const StateField& field : d_.fields) {
    if (!field.primitive) continue;
    const bool vector = is_vector(field) || field.arrays.size() > 1;
    for (const int array : field.arrays) reference_[array] = vector || field.relaxed ? 0 : 1;
    if (!vector && !field.relaxed) numbers.push_back(field.arrays[0]);
  }
  for (const int array : arrays_beside_laws(d_)) reference_[array] = 0;
  Numbers start = reference_;
  const Numbers ones = reference_;
  int least = std::numeric_limits<int>::max();
  const auto consider = [&](const Numbers& candidate) {
    const int without = signs_without(candidate);
    if (without < least) least = without, reference_ = candidate;
  };
  if (read_start(start)) consider(start), starts_there_ = true;
  const std::size_t most = std::min<std::size_t>(numbers.size(), 8);
  for (std::size_t zeros = 0; zeros < std::size_t{1} << most && least > 0; ++zeros) {
    Numbers candidate = ones;
    for (std::size_t i = 0; i < most; ++i) {
      if ((zeros >> i & 1) != 0) candidate[numbers[numbers.size() - 1 - i]] = 0;
    }
    consider(candidate);
  }
  for (const Expr guard : guards_) {
    const double value = evaluated(guard, reference_);
    signs_.push_back(!std::isfinite(value) || value == 0 ? 0 : value < 0 ? -1 : 1);
  }
}

/// A state between the reference and `primitives`. A variable that is positive at both ends is
/// interpolated by factors, so that it stays positive.
Numbers TrialStates::between(const Numbers& primitives, double share) const {
  Numbers place = primitives;
  for (auto& [array, value] : place) {
    const double from = reference_.at(array);
    value = from > 0 && value > 0 ? from * std::pow(value / from, share)
                                  : from + share * (value - from);
  }
  return place;
}

/// The share of the way from the reference up to the first change of a guard's sign; 1 where there
/// is none.
double TrialStates::reach(const Numbers& primitives) const {
  constexpr int kPlaces = 32;
  const auto sound = [&](double share) {
    const Numbers place = share < 1 ? between(primitives, share) : primitives;
    for (std::size_t i = 0; i < guards_.size(); ++i) {
      if (signs_[i] != 0 && !(evaluated(guards_[i], place) * signs_[i] > 0)) return false;
    }
    return true;
  };
  if (guards_.empty()) return 1;
  double good = 0;
  for (int i = 1; i <= kPlaces; ++i) {
    double bad = static_cast<double>(i) / kPlaces;
    if (sound(bad)) {
      good = bad;
      continue;
    }
    for (int halving = 0; halving < 30; ++halving) {
      const double middle = (good + bad) / 2;
      (sound(middle) ? good : bad) = middle;
    }
    return good;
  }
  return 1;
}

bool TrialStates::admits(const Numbers& primitives) const {
  return std::ranges::all_of(
             parts_, [&](Expr part) { return std::isfinite(evaluated(part, primitives)); }) &&
         reach(primitives) == 1;
}

bool TrialStates::is_vector(const StateField& field) const {
  const dsl::Symbol* symbol = d_.resolved.find(field.name);
  return symbol && symbol->type.base == dsl::Type::Base::Vector;
}

bool TrialStates::complete(TrialState& state) const {
  for (const int array : fields_) state.quantities[array] = state.primitives.at(array);
  bool finite = admits(state.primitives);
  for (const Law& law : laws_) {
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      const double value = evaluated(law.density.parts[i].re, state.primitives);
      finite = finite && std::isfinite(value);
      state.quantities[law.arrays[i]] = value;
    }
  }
  return finite;
}

std::vector<TrialState> TrialStates::drawn(int count) const {
  std::mt19937_64 random(20140105);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  std::vector<TrialState> states, beyond;
  for (int attempt = 0; attempt < 20 * count && std::ssize(states) < count; ++attempt) {
    TrialState state;
    for (const int array : fields_) state.primitives[array] = reference_.at(array);
    for (const StateField& field : d_.fields) {
      if (!field.primitive) continue;
      if (field.relaxed) {
        for (const int array : field.arrays) state.primitives[array] = 0;
        continue;
      }
      if (field.rows == 1 && field.cells.size() == 1 && !is_vector(field)) {
        state.primitives[field.arrays[0]] = std::pow(10.0, 6 * uniform(random) - 3);
        continue;
      }
      std::vector<double> direction;
      double square = 0;
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        direction.push_back(normal(random));
        square += direction.back() * direction.back();
      }
      const double length =
          attempt % 2 == 0 ? uniform(random) : 1 - std::pow(10.0, -3 * uniform(random));
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        state.primitives[field.arrays[i]] = length * direction[i] / std::sqrt(square);
      }
    }
    if (complete(state) && relax(state, random))
      states.push_back(std::move(state));
    else if (std::ssize(beyond) < count)
      beyond.push_back(std::move(state));
  }
  for (TrialState& state : beyond) {
    if (std::ssize(states) >= count) break;
    const double share = 1 - std::pow(10.0, -3 * uniform(random));
    state.primitives = between(state.primitives, share * reach(state.primitives));
    if (complete(state) && relax(state, random)) states.push_back(std::move(state));
  }
  TrialState start{reference_, {}, 0};
  if (starts_there_ && complete(start)) states.push_back(std::move(start));
  return states;
}

/// Gives what relaxes, and fields beside the laws, random values of either sign, up to a part of
/// the largest density away from their reference, which change no density by more than that.
bool TrialStates::relax(TrialState& state, std::mt19937_64& random) const {
  std::uniform_real_distribution<double> uniform(0, 1);
  const Numbers without = state.quantities;
  double largest = 0;
  for (const auto& [array, value] : without) largest = std::max(largest, std::abs(value));
  std::vector<int> relaxed;
  for (const StateField& field : d_.fields)
    if (field.primitive && field.relaxed)
      relaxed.insert(relaxed.end(), field.arrays.begin(), field.arrays.end());
  relaxed.insert(relaxed.end(), fields_.begin(), fields_.end());
  if (relaxed.empty()) return true;
  std::map<int, double> away;
  for (const int array : relaxed) {
    const double sign = uniform(random) < 0.5 ? -1 : 1;
    away[array] = sign * kRelaxedPart * largest * std::pow(10.0, -2 * uniform(random));
  }
  limit(state);
  for (int attempt = 0; attempt < 40; ++attempt) {
    for (const int array : relaxed) state.primitives[array] = reference_.at(array) + away.at(array);
    bool close = complete(state);
    for (const Law& law : laws_)
      for (const int array : law.arrays)
        close = close && (law.time || std::abs(state.quantities.at(array) - without.at(array)) <=
                                          kRelaxedPart * largest);
    if (close) return true;
    for (auto& [array, distance] : away) distance /= 2;
  }
  return false;
}

std::vector<TrialState> TrialStates::hard(const std::vector<TrialState>& states) const {
  std::mt19937_64 random(19871118);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<TrialState> result;
  const auto add = [&](TrialState state) {
    if (complete(state)) result.push_back(std::move(state));
  };
  for (TrialState state : states) {
    double first = 0;
    int numbers = 0;
    for (const StateField& field : d_.fields) {
      if (!field.primitive || field.relaxed || field.cells.size() != 1 || is_vector(field))
        continue;
      double& value = state.primitives.at(field.arrays[0]);
      if (numbers++ == 0) {
        first = value;
      } else {
        value = first * (1 - std::pow(10.0, -8 * uniform(random)));
      }
    }
    if (numbers > 1) add(state);
    bool vectors = false;
    for (const StateField& field : d_.fields) {
      if (!field.primitive || field.relaxed || !is_vector(field)) continue;
      double square = 0;
      for (const int array : field.arrays) square += std::pow(state.primitives.at(array), 2);
      const double length = 1 - std::pow(10.0, -6 * uniform(random));
      for (const int array : field.arrays) state.primitives.at(array) *= length / std::sqrt(square);
      vectors = true;
    }
    if (vectors) add(state);
  }
  return result;
}

}  // namespace vphi::physics
