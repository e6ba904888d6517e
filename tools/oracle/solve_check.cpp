#include "tools/oracle/solve_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "compiler/interpret/interpret.hpp"
#include "compiler/physics/spinors/stored_blocks.hpp"
#include "tools/oracle/both_sides.hpp"

namespace vphi::tools {
namespace {

using dsl::ExprKind;
using physics::LinearSystem;
using physics::NamedFact;

constexpr const char* kUnknown = "the unknown";  ///< no name of a model has a blank

/// A call of `solve`, and the definition around it, whose indices it may hold.
struct Call {
  const dsl::Expr* text = nullptr;
  std::vector<std::string> indices;
};

void collect(const dsl::Expr& e, std::vector<const dsl::Expr*>& calls) {
  if (e.kind == ExprKind::Call && e.text == "solve") calls.push_back(&e);
  for (const auto& arg : e.args) collect(*arg, calls);
  for (const auto& option : e.named) collect(*option.value, calls);
}

class SolveComparison {
 public:
  SolveComparison(const dsl::Resolved& resolved, const physics::System& system)
      : resolved_(resolved), system_(system), text_(resolved), derived_(system) {}

  std::vector<DerivativeRow> rows() {
    std::vector<DerivativeRow> result;
    for (std::size_t i = 0; i < system_.solves.size(); ++i) {
      if (system_.solves[i].like >= 0 || system_.solves[i].wide) continue;
      if (physics::only_stored(system_.solves[i])) continue;
      try {
        result.push_back(row(i));
      } catch (const NotCovered& end) {
        result.push_back(not_checked(system_.solves[i], end.what));
      } catch (const std::exception& end) {
        result.push_back(not_checked(system_.solves[i], end.what()));
      }
    }
    return result;
  }

 private:
  static DerivativeRow not_checked(const LinearSystem& solve, const std::string& why) {
    return {"x of " + solve.name, "A x = b", 0, 0, why};
  }

  DerivativeRow row(std::size_t number) {
    const LinearSystem& solve = system_.solves[number];
    if (system_.A != 1 || system_.B != 1) throw NotCovered{{}, "a solve in program units"};
    if (!text_.box.dims) prepare();
    const Call call = find(solve);
    run(number);
    DerivativeRow r{"x of " + solve.name, "A x = b", 0, 0, {}};
    r.allowed = 1e-8;
    for (const auto& [name, value] : solve.options)
      if (name == "tol" && value.is_number())
        r.allowed = std::max(r.allowed, 10 * static_cast<double>(value->number.real));
    // a column of a definition with indices: x has to belong to one of them
    DerivativeRow best = r;
    best.deviation = std::numeric_limits<double>::infinity();
    std::vector<int> at(call.indices.size());
    const std::function<void(std::size_t)> each = [&](std::size_t i) {
      if (i < at.size()) {
        for (at[i] = 0; at[i] < kSpins; ++at[i]) each(i + 1);
        return;
      }
      try {
        const DerivativeRow one = residual(r, solve, call, at);
        if (one.deviation < best.deviation) best = one;
      } catch (const std::out_of_range&) {  // no such column
      }
    };
    each(0);
    if (best.points == 0) throw NotCovered{{}, "what b of this system is"};
    return best;
  }

  void prepare() {
    prepare_sides(resolved_, system_, text_, derived_);
    if (text_.expanding()) throw NotCovered{{}, "a solve in an expanding box"};
    for (const auto& s : system_.scalars) derived_.symbols[s.symbol] = 0;
    for (const auto& s : system_.scalars)
      if (s.symbol == system_.time) text_.t = derived_.scalar(s.initial);
    std::mt19937_64 random(2203);
    std::uniform_real_distribution<double> between(0.2, 1.8);
    for (StoredLinks& links : links_of(text_, system_)) {
      links.draw(random);
      for (const int array : links.arrays()) state_[array] = links.stored(array);
    }
    for (const physics::Variable& v : system_.variables) {
      const auto at = standing(text_, v.shown);
      if (!at || state_.contains(v.array)) continue;
      auto& values = state_[v.array];
      const bool rate = v.shown.find('\'') != std::string::npos;
      for (int s = 0; s < text_.box.sites(); ++s) {
        values.push_back(between(random));
        WrittenField& f = *at->field;
        const auto first = static_cast<std::size_t>(s * f.reals());
        auto& to = rate ? f.rates : f.values;
        to.at(first + at->real) = values.back();
        if (at->mirror) to.at(first + *at->mirror) = values.back();
      }
    }
  }

  // ---- the run

  /// The launches up to the end of this solve, in the first list that holds it.
  void run(std::size_t number) {
    plan_.emplace(plan_in_f64(system_, resolved_));
    kernels_ = std::make_unique<kernel::Interpreter>(*plan_);
    kernels_->start();
    for (const auto& [array, values] : state_) {
      auto& buffer = kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(array)));
      for (std::size_t s = 0; s < values.size(); ++s) buffer[s] = static_cast<double>(values[s]);
    }
    const program::Program& p = plan_->program;
    std::vector<const std::vector<program::Launch>*> lists{&p.watch_before, &p.watch,
                                                           &p.watch_then};
    for (const program::Output& output : p.outputs)
      lists.insert(lists.end(), {&output.averages, &output.before, &output.launches, &output.then});
    const std::string& name = system_.solves[number].name;
    for (const auto* list : lists) {
      const auto begin = std::find_if(list->begin(), list->end(), [&](const program::Launch& l) {
        return l.solve >= 0 && p.solves.at(static_cast<std::size_t>(l.solve)).name == name;
      });
      if (begin == list->end()) continue;
      // what saves x follows, then the next one begins: its start reads other memory
      const auto next = std::find_if(begin + 1, list->end(),
                                     [](const program::Launch& l) { return l.solve >= 0; });
      kernels_->launch({list->begin(), next});
      return;
    }
    throw NotCovered{{}, "a system that no output asks for"};
  }

  // ---- the text

  /// The call of this system, by its place in the text; a single call is taken in any case.
  Call find(const LinearSystem& solve) const {
    std::vector<std::pair<const NamedFact*, const dsl::Expr*>> all;
    for (const auto& [name, fact] : text_.facts().named) {
      std::vector<const dsl::Expr*> calls;
      if (fact.value) collect(*fact.value, calls);
      for (const dsl::Expr* call : calls) all.emplace_back(&fact, call);
    }
    for (const auto& [fact, call] : all) {
      if (!(call->span == solve.span) && all.size() > 1) continue;
      if (fact->kind == NamedFact::Kind::Function) break;  // its arguments are the caller's
      return {call, fact->kind == NamedFact::Kind::Indexed ? fact->parameters
                                                           : std::vector<std::string>{}};
    }
    throw NotCovered{solve.span, "a solve that no definition names"};
  }

  DerivativeRow residual(DerivativeRow row, const LinearSystem& solve, const Call& call,
                         const std::vector<int>& at) {
    WrittenField& x =
        text_.declare_unknown(kUnknown, solve.rows, solve.columns, solve.complex, solve.spinor);
    const std::size_t parts = solve.complex ? 2 : 1;
    for (std::size_t i = 0; i < solve.arrays.size(); ++i) {
      const auto& buffer =
          kernels_->buffer(plan_->buffer_of.at(static_cast<std::size_t>(solve.arrays[i])));
      for (int s = 0; s < text_.box.sites(); ++s)
        x.values[static_cast<std::size_t>(s * x.reals()) + (parts == 2 ? i : 2 * i)] =
            buffer[static_cast<std::size_t>(s)];
    }
    Written::Given given;
    for (std::size_t i = 0; i < at.size(); ++i)
      given.values.emplace(call.indices[i], Numbers::of(at[i]));
    dsl::Expr applied = *call.text->args[0];
    auto unknown = std::make_shared<dsl::Expr>(applied);
    unknown->kind = ExprKind::Name;
    unknown->text = kUnknown;
    applied.kind = ExprKind::Call;
    applied.args = {unknown};
    Filling filling(row);
    for (int s = 0; s < text_.box.sites(); ++s) {
      const Place p = text_.box.place(s);
      Numbers image = text_.value(applied, given, &p);
      Numbers b = text_.value(*call.text->args[1], given, &p);
      if (b.scalar() && !image.scalar()) b.parts.assign(image.parts.size(), b.parts[0]);
      for (std::size_t i = 0; i < image.parts.size(); ++i) {
        filling.take(image.parts[i].real(), b.parts.at(i).real());
        filling.take(image.parts[i].imag(), b.parts.at(i).imag());
      }
    }
    return filling.done();
  }

  static constexpr int kSpins = 4;  ///< at least as many as colours

  const dsl::Resolved& resolved_;
  const physics::System& system_;
  Written text_;
  DerivedValue derived_;
  std::map<int, std::vector<long double>> state_;
  std::optional<schedule::Plan> plan_;
  std::unique_ptr<kernel::Interpreter> kernels_;
};

}  // namespace

std::vector<DerivativeRow> check_solves(const dsl::Resolved& resolved,
                                        const physics::System& system) {
  return SolveComparison(resolved, system).rows();
}

}  // namespace vphi::tools
