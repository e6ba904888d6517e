#include "dsl/types/unit_check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/units.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl {

namespace {

constexpr double kSamePower = 1e-9;

/// A unit written on the length or the spacing of the lattice.
const Expr* lattice_unit(const Resolved& resolved) {
  const Clause* lattice = resolved.clause("lattice");
  if (lattice == nullptr) return nullptr;
  for (const char* name : {"length", "spacing"}) {
    const Expr* found = nullptr;
    for_each(option(*lattice, name), [&](const Expr& expr) {
      if (expr.kind == ExprKind::Unit && found == nullptr) found = &expr;
    });
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// The unit that is the base where no `units` line names one: of the lattice, else the first met.
const Expr* first_unit(const Resolved& resolved) {
  const Expr* first = lattice_unit(resolved);
  for (const Line& line : resolved.model.lines) {
    for_each(line, [&](const Expr& expr) {
      if (expr.kind == ExprKind::Unit && first == nullptr) first = &expr;
    });
  }
  return first;
}

/// `fm` of `1/fm`, `GeV` of `GeV/fm^3`.
std::string first_name(const std::string& unit) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto begin = std::ranges::find_if(unit, letter);
  return {begin, std::find_if_not(begin, unit.end(), letter)};
}

double choose_base(Resolved& resolved) {
  if (const Clause* units = resolved.clause("units")) {
    const auto items = positional(*units);
    if (items.empty()) return 1;
    const Expr& name = *items[0]->value;
    if (const auto energy = base_energy(name.text)) return *energy;
    resolved.diagnostics.add(errors::unknown_unit_system(
        name.span, name.text, suggest(name.text, system_names()), system_names()));
    return 1;
  }
  const Expr* first = first_unit(resolved);
  if (first == nullptr) return 1;
  return base_energy(first->text).value_or(1);
}

/// Units without a `units` line: the lattice may define the base unit, as long as nothing is
/// converted.
void say_base(Resolved& resolved) {
  if (resolved.clause("units") != nullptr || resolved.units.empty()) return;
  const bool converted = std::ranges::any_of(
      resolved.units, [](const auto& unit) { return std::fabs(unit.second - 1) > 1e-12; });
  const bool of_lattice = lattice_unit(resolved) != nullptr;
  if (of_lattice && !converted) return;
  const Expr& first = *first_unit(resolved);
  resolved.diagnostics.add(
      errors::no_unit_system(first.span, first.text, first_name(first.text), of_lattice));
}

/// Power of energy of an expression; nothing where it is open.
using Power = std::optional<double>;

class UnitCheck {
 public:
  UnitCheck(const Resolved& resolved, Diagnostics& diagnostics)
      : resolved_(resolved), diagnostics_(&diagnostics) {
    if (const Expr* unit = lattice_unit(resolved)) {
      if (const auto known = find_unit(unit->text)) length_ = known->power;
    }
  }

  Power check(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Unit: {
        for (const ExprPtr& arg : expr.args) check(*arg);
        const auto unit = find_unit(expr.text);
        return unit ? Power(unit->power) : std::nullopt;
      }
      case ExprKind::Name:
        return of_name(expr.text);
      case ExprKind::Unary:
        return check(*expr.args[0]);
      case ExprKind::Binary:
        return of_binary(expr);
      case ExprKind::Select: {
        check(*expr.args[1]);
        return agree(expr, "if else", *expr.args[0], *expr.args[2]);
      }
      case ExprKind::Call:
        return of_call(expr);
      case ExprKind::Prime: {
        const Power of = check(*expr.args[0]);
        return of ? Power(*of + expr.primes) : std::nullopt;
      }
      case ExprKind::Index:
      case ExprKind::Shift: {
        for (std::size_t i = 1; i < expr.args.size(); ++i) check(*expr.args[i]);
        return check(*expr.args[0]);
      }
      case ExprKind::Range:
        return agree(expr, "..", *expr.args[0], *expr.args[1]);
      case ExprKind::Number:
      case ExprKind::String:
      case ExprKind::Sign:
      case ExprKind::List:
        break;
    }
    for (const ExprPtr& arg : expr.args) check(*arg);
    for (const NamedArgument& named : expr.named) check(*named.value);
    return std::nullopt;
  }

  /// The arguments of a function have any unit.
  void check_definition(const Definition& definition) {
    for (const ExprPtr& argument : definition.head.args)
      if (argument && argument->kind == ExprKind::Name) arguments_.insert(argument->text);
    const Power power = check(*definition.value);
    if (definition.head.primes > 0) compare(of_state(definition.head), power, *definition.value);
    arguments_.clear();
  }

  /// A length or a time: 1/energy. Of a list each.
  void check_length(const Expr& expr) {
    if (expr.kind == ExprKind::List) {
      for (const ExprPtr& arg : expr.args) check_length(*arg);
    } else {
      compare(Power(-1), check(expr), expr);
    }
  }

  /// The values of a sweep: they have one unit, which is that of its name.
  Power check_values(const Expr& expr) {
    if (expr.kind != ExprKind::List || expr.args.empty()) return check(expr);
    Power first = check(*expr.args[0]);
    for (std::size_t i = 1; i < expr.args.size(); ++i) {
      const Power next = check(*expr.args[i]);
      compare(first, next, *expr.args[i]);
      if (!first) first = next;
    }
    return first;
  }

  /// What `init` or `limit` gives to a state, beside the unit that its first initial value has.
  void check_state(const Item& item) {
    compare(of_state(*item.head), check(*item.value), *item.value);
  }

 private:
  Power of_name(const std::string& name) {
    if (arguments_.contains(name)) return std::nullopt;
    const Symbol* symbol = resolved_.find(name);
    if (symbol == nullptr) return std::nullopt;
    if (symbol->kind == SymbolKind::Construct) {
      const bool length = name == "x" || name == "y" || name == "z" || name == "r" ||
                          name == "dx" || name == "t" || name == "dt";
      return length ? length_ : std::nullopt;
    }
    if (started(*symbol)) {
      const auto [place, fresh] = known_.emplace(symbol, std::nullopt);
      if (fresh) known_[symbol] = of_start(*symbol);
      return known_[symbol];
    }
    const bool swept = symbol->kind == SymbolKind::Swept;
    const bool plain = swept || symbol->kind == SymbolKind::Parameter ||
                       (symbol->kind == SymbolKind::Definition && symbol->parameters.empty());
    if (!plain || !symbol->value) return std::nullopt;
    // Once each name; a cycle, reported elsewhere, finds it open.
    const auto [place, fresh] = known_.emplace(symbol, std::nullopt);
    if (!fresh) return place->second;
    const std::set<std::string> outside = std::exchange(arguments_, {});
    Diagnostics silent;  // its own line is checked by itself
    Diagnostics* const shown = std::exchange(diagnostics_, &silent);
    const Power power = swept ? check_values(*symbol->value) : check(*symbol->value);
    diagnostics_ = shown;
    arguments_ = outside;
    known_[symbol] = power;
    return power;
  }

  static bool started(const Symbol& symbol) {
    return symbol.kind == SymbolKind::Field || symbol.kind == SymbolKind::Variable;
  }
  /// The power of the initial value, or of the initial first derivative.
  Power of_start(const Symbol& symbol) {
    Diagnostics silent;
    Diagnostics* const shown = std::exchange(diagnostics_, &silent);
    const Power power = of_initial_value(symbol);
    diagnostics_ = shown;
    return power;
  }

  Power of_initial_value(const Symbol& symbol) {
    for (const Clause* init : resolved_.clauses("init")) {
      for (const Item& item : init->items) {
        if (!item.head || item.head->name != symbol.name || !item.value) continue;
        if (const Power power = check(*item.value)) return *power - item.head->primes;
      }
    }
    return std::nullopt;
  }

  /// Of a state with its primes, where its start says it.
  Power of_state(const Head& head) {
    const Symbol* symbol = resolved_.find(head.name);
    if (symbol == nullptr || !started(*symbol)) return std::nullopt;
    const Power own = of_name(head.name);
    return own ? Power(*own + head.primes) : std::nullopt;
  }

  void compare(Power left, Power right, const Expr& at) {
    if (!left || !right || std::fabs(*left - *right) <= kSamePower) return;
    diagnostics_->add(
        errors::unit_clash(at.span, "=", dimension_name(*left), dimension_name(*right)));
  }

  Power agree(const Expr& whole, const std::string& op, const Expr& left, const Expr& right) {
    const Power a = check(left);
    const Power b = check(right);
    if (a && b && std::fabs(*a - *b) > kSamePower) {
      diagnostics_->add(errors::unit_clash(whole.span, op, dimension_name(*a), dimension_name(*b)));
      return std::nullopt;
    }
    return a ? a : b;
  }

  Power of_binary(const Expr& expr) {
    const Expr& left = *expr.args[0];
    const Expr& right = *expr.args[1];
    if (expr.text == "*" || expr.text == "/") {
      const Power a = check(left);
      const Power b = check(right);
      // A bare number scales, but 0 fits anywhere; anything else without unit leaves the product
      // open.
      const auto zero = [](const Expr& e) {
        return e.kind == ExprKind::Number && std::strtod(e.text.c_str(), nullptr) == 0;
      };
      if (zero(left) || zero(right)) return std::nullopt;
      if (a && right.kind == ExprKind::Number) return a;
      if (b && left.kind == ExprKind::Number) return expr.text == "*" ? *b : -*b;
      if (!a || !b) return std::nullopt;
      return expr.text == "*" ? *a + *b : *a - *b;
    }
    if (expr.text == "^") {
      const Power a = check(left);
      const auto exponent = constant_value(resolved_, right);
      return a && exponent ? Power(*a * *exponent) : std::nullopt;
    }
    if (expr.text == "and" || expr.text == "or") {
      check(left);
      check(right);
      return std::nullopt;
    }
    const Power both = agree(expr, expr.text, left, right);
    return expr.text == "+" || expr.text == "-" ? both : std::nullopt;
  }

  Power of_call(const Expr& expr) {
    for (const NamedArgument& named : expr.named) check(*named.value);
    const Builtin* builtin = resolved_.find(expr.text) ? nullptr : find_builtin(expr.text);
    std::vector<Power> powers;
    for (const ExprPtr& arg : expr.args) powers.push_back(check(*arg));
    if (builtin == nullptr || powers.empty()) return std::nullopt;
    const Power first = powers[0];
    for (const NamedArgument& named : expr.named)
      if (named.name == "level") agree(*named.value, "level", *expr.args[0], *named.value);
    if (builtin->rule == Rule::RealFunction && expr.text != "sqrt") check_pure(expr, first);
    if (expr.text == "d")
      return powers.size() == 2 && first && powers[1] ? Power(*first - *powers[1]) : std::nullopt;
    static const std::set<std::string> kAlike = {"min", "max",   "clamp",    "wrap",
                                                 "mod", "atan2", "linspace", "logspace"};
    Power common = first;
    if (kAlike.contains(expr.text)) {
      const std::size_t last = expr.text.ends_with("space") ? 2 : powers.size();
      for (std::size_t i = 1; i < std::min(last, powers.size()); ++i) {
        compare(common, powers[i], *expr.args[i]);
        if (!common) common = powers[i];
      }
    }
    static const std::map<std::string, std::pair<double, double>> kPowers = {
        {"sqrt", {0.5, 0}}, {"abs", {1, 0}},      {"norm", {1, 0}},     {"mean", {1, 0}},
        {"min", {1, 0}},    {"max", {1, 0}},      {"clamp", {1, 0}},    {"wrap", {1, 0}},
        {"mod", {1, 0}},    {"linspace", {1, 0}}, {"logspace", {1, 0}}, {"re", {1, 0}},
        {"im", {1, 0}},     {"conj", {1, 0}},     {"sum", {1, 0}},      {"total", {1, 0}},
        {"norm2", {2, 0}},  {"var", {2, 0}},      {"lap", {1, 2}},      {"grad", {1, 1}},
        {"div", {1, 1}}};
    const auto power = kPowers.find(expr.text);
    if (!common || power == kPowers.end()) return std::nullopt;
    return *common * power->second.first + power->second.second;
  }

  void check_pure(const Expr& expr, Power first) {
    if (first && std::fabs(*first) > kSamePower)
      diagnostics_->add(
          errors::argument_with_unit(expr.args[0]->span, expr.text, dimension_name(*first)));
  }

  const Resolved& resolved_;
  Diagnostics* diagnostics_;
  Power length_;
  std::map<const Symbol*, Power> known_;
  std::set<std::string> arguments_;  ///< of the function that is checked
};

}  // namespace

void read_units(Resolved& resolved) {
  const double base = choose_base(resolved);
  const auto read = [&](const Expr& expr) {
    if (expr.kind != ExprKind::Unit) return;
    const auto unit = find_unit(expr.text);
    if (!unit) {
      const std::string wrong = unknown_part(expr.text);
      resolved.diagnostics.add(
          errors::unknown_unit(expr.span, wrong, suggest(wrong, unit_names())));
      return;
    }
    if (expr.text == "m_pl") resolved.diagnostics.add(errors::planck_mass_convention(expr.span));
    resolved.units[expr.text] = size_in_base(*unit, base);
  };
  for (const Line& line : resolved.model.lines) for_each(line, read);
  say_base(resolved);
}

namespace {

void check_item(UnitCheck& checker, const std::string& keyword, const Item& item) {
  const std::string name = item.head ? item.head->name : std::string();
  const bool step = keyword == "evolve" && name == "dt";
  const bool box = keyword == "lattice" && (name == "length" || name == "spacing");
  const bool cadence =
      keyword == "every" && item.leading == Item::Leading::Start && item.count_word.empty();
  if (step || box || cadence) {
    checker.check_length(*item.value);
  } else if (keyword == "sweep" && item.head) {
    checker.check_values(*item.value);
  } else if ((keyword == "init" || keyword == "limit") && item.head) {
    checker.check_state(item);
  } else {
    checker.check(*item.value);
  }
}

}  // namespace

void check_units(Resolved& resolved) {
  if (resolved.units.empty()) return;
  UnitCheck checker(resolved, resolved.diagnostics);
  const auto check = [&](const ExprPtr& expr) {
    if (expr) checker.check(*expr);
  };
  for (const Line& line : resolved.model.lines) {
    if (line.kind != Line::Kind::Clause) {
      if (line.definition.value) checker.check_definition(line.definition);
      continue;
    }
    const std::string& keyword = line.clause.keyword;
    for (const Item& item : line.clause.items) {
      if (item.value) check_item(checker, keyword, item);
      for (const auto& [word, expr] : item.words) check(expr);
    }
    for (const Line& inner : line.clause.body) {
      if (inner.kind != Line::Kind::Clause) check(inner.definition.value);
    }
  }
}

std::string base_unit(const Resolved& resolved) {
  if (resolved.units.empty()) return {};
  const Clause* units = resolved.clause("units");
  const Expr* first = first_unit(resolved);
  std::string name = first != nullptr ? first->text : std::string();
  if (units != nullptr && !positional(*units).empty()) name = positional(*units)[0]->value->text;
  // 1/GeV sets the same base as GeV
  const auto energy = base_energy(name), plain = base_energy(first_name(name));
  if (energy && plain && std::fabs(*energy / *plain - 1) < kSamePower) name = first_name(name);
  if (name == "reduced_planck") return "m_pl_reduced";
  if (name == "planck") return "m_pl_full";
  return name;
}

std::optional<double> energy_power(const Resolved& resolved, const Expr& expr) {
  if (base_unit(resolved).empty()) return std::nullopt;
  Diagnostics silent;
  return UnitCheck(resolved, silent).check(expr);
}

std::optional<double> written_power(const Expr& expr) {
  Diagnostics silent;
  const Resolved nothing;
  return UnitCheck(nothing, silent).check(expr);
}

std::string unit_text(const Resolved& resolved, std::optional<double> power) {
  const std::string base = base_unit(resolved);
  if (base.empty() || (power && std::fabs(*power) < kSamePower)) return "1";
  if (!power) return "program";
  const auto unit = find_unit(base);
  const double exponent = unit && unit->power != 0 ? *power / unit->power : *power;
  if (std::fabs(exponent - 1) < kSamePower) return base;
  const bool product = base.find_first_of("*/^") != std::string::npos;
  std::string text = std::to_string(exponent);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return (product ? "(" + base + ")" : base) + "^" + text;
}

}  // namespace vphi::dsl
