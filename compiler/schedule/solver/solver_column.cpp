#include "compiler/schedule/solver/solver_column.hpp"

#include <algorithm>
#include <limits>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/solver/solver_text.hpp"
#include "compiler/text/arithmetic.hpp"
#include "dsl/syntax/walk.hpp"

namespace vphi::schedule {

using algebra::Op;
using physics::Component;
using physics::Value;
using text::ArithmeticError;
using Values = std::map<std::string, Value>;

std::string name_of(const physics::LinearSystem& solve) {
  return solve.iterations.substr(0, solve.iterations.find("_iterations")) +
         solve.iterations.substr(solve.iterations.rfind('_'));
}

void SolveColumn::begin() {
  for (Block* block : {&start_, &iteration_, &rest_, &restart_}) block->at_sites(-1);
  for (const auto* arrays : {&solve_.arrays, &unknowns_}) {
    for (const int array : *arrays) {
      if (!storage_.allocated(array)) storage_.allocate(array, kept_.scratch("x"));
    }
  }
  done_ = slots_.fresh(name_ + "_done");
  slots_.add(solve_.iterations);
  slots_.add(solve_.residual);
  if (solve_.eigenvalue) slots_.add(solve_.eigenvalue->scalar);
  for (const auto& [name, number] : solve_.options) values_[name] = Value::of(number);
  values_[text_.unknown] = of_parts(std::vector<Expr>(parts(), arena_.integer(0)));
  op_ = kept_.constant_parts(map_of(false), unknowns_, here_);
  adjoint_ = kept_.constant_parts(map_of(true), unknowns_, here_);
  values_[text_.source] = of_parts(right_side());
}

SolveColumn::Application SolveColumn::product_of_past(Block& block, const State& here,
                                                      std::size_t solution) const {
  Application made{&map_of(false), here};
  const std::vector<int>& arrays = solve_.past[solution];
  for (std::size_t i = 0; i < arrays.size(); ++i)
    made.given.arrays[unknowns_[i]] = block.array("past", at(here, arena_.load(arrays[i])));
  return made;
}

void SolveColumn::keep_product(Block& block, Wanted& wanted, const std::vector<Expr>& image) {
  std::vector<Expr> kept;
  for (const Expr part : image) {
    const int array = storage_.allocate_new(kept_.scratch("past_image"));
    wanted.arrays[array] = block.parity_array("past_image", part, op_.parity);
    kept.push_back(arena_.load(array));
  }
  products_of_past_.push_back(of_parts(kept));
}

void SolveColumn::start_from_past() {
  if (!solve_.past.empty()) values_[text_.unknown] = best_of_past();
}

void SolveColumn::take(const text::Statement& line) {
  values_[line.name] = settled(start_, line.name, in_start(*line.value));
  applied_.clear();
}

void SolveColumn::end_start() {
  for (const text::Statement& line : text_.iteration) set_.insert(line.name);
  for (const text::Statement& line : text_.iteration) take_once(line.value);
  take_once(text_.until);
  keep();
  start_.assign(solve_.iterations, arena_.integer(0));
  start_.assign(done_, judged(condition(in_start(*text_.until)), finite(carried_)));
  start_wanted_.slots.push_back(solve_.iterations);
  start_wanted_.slots.push_back(done_);
  round_ = iteration_values_;
}

void SolveColumn::iterate(const text::Statement& line, bool last) {
  Value v = run(iteration_, *line.value, round_);
  applied_.clear();
  if (last && fields_.contains(line.name)) {
    v = next_field(line.name, v);
  } else {
    v = settled(iteration_, line.name, v);
  }
  round_[line.name] = v;
}

SolveColumn::Application SolveColumn::application(const dsl::Expr& e, bool starts) {
  const bool adjoint = e.text != text_.op;
  Block& block = starts ? start_ : iteration_;
  const Value v = run(block, *e.args.back(), starts ? values_ : round_);
  Application made;
  if (is_zero(v)) return made;
  made.map = &map_in(block, e, adjoint);
  made.given = given_to(block, e, v);
  return made;
}

void SolveColumn::applies(const dsl::Expr& e, bool starts, const Application& made,
                          const std::vector<Expr>& image) {
  applied_[&e] = image_of(starts ? start_ : iteration_, *made.map, image);
}

const physics::LinearMap& SolveColumn::map_of(bool adjoint) const {
  if (solve_.even_odd) return adjoint ? solve_.even_odd->adjoint : solve_.even_odd->op;
  return adjoint ? solve_.adjoint : solve_.op;
}

std::vector<Expr> SolveColumn::right_side() {
  std::vector<Expr> source;
  for (const Expr part : solve_.source) source.push_back(start_.array("b", at(here_, part)));
  if (solve_.even_odd) {
    State given = here_;
    for (std::size_t i = 0; i < parts(); ++i) {
      right_.push_back(kept_.array("b", source[i]));
      given.arrays[solve_.even_odd->right[i]] = source[i];
    }
    source = mapped(start_, solve_.even_odd->source, std::move(given));
  }
  for (Block* block : {&start_, &iteration_, &rest_, &restart_}) block->at_sites(op_.parity);
  for (Expr& part : source) part = start_.array("b", part);
  return source;
}

Value SolveColumn::of_parts(const std::vector<Expr>& list) const {
  Value v{solve_.rows, solve_.columns, {}};
  for (std::size_t i = 0; i < list.size(); i += solve_.complex ? 2 : 1) {
    v.parts.push_back({list[i], solve_.complex ? list[i + 1] : Expr{}});
  }
  return v;
}

std::vector<Expr> SolveColumn::parts_of(const Value& v) const {
  std::vector<Expr> list;
  for (const Component& c : v.parts) {
    list.push_back(c.re);
    if (solve_.complex) list.push_back(c.im ? c.im : arena_.integer(0));
  }
  return list;
}

bool SolveColumn::is_field(const std::string& name, const Value& v) const {
  if (name == text_.unknown || name == text_.source || solve_.beside.contains(name) || !v.scalar())
    return true;
  return std::ranges::any_of(
      v.parts, [](const Component& c) { return c.re->per_site || (c.im && c.im->per_site); });
}

Value SolveColumn::settled(Block& block, const std::string& name, const Value& v) const {
  Value result = v;
  if (is_field(name, v)) {
    std::vector<Expr> list;
    for (const Expr part : parts_of(v)) {
      list.push_back(part.is_number() ? part : block.array(name, part));
    }
    return of_parts(list);
  }
  for (Component& c : result.parts) {
    c.re = block.scalar(name_ + "_" + name, c.re);
    if (c.im) c.im = block.scalar(name_ + "_" + name + "_im", c.im);
  }
  return result;
}

const physics::LinearMap& SolveColumn::map_in(const Block& block, const dsl::Expr& e,
                                              bool adjoint) const {
  // the start writes the arrays that the rounds read (Kept::constant_parts), so it must not read
  // them
  const bool first = &block == &start_;
  const physics::LinearMap& written = map_of(adjoint);
  const physics::LinearMap& operation = first ? written : adjoint ? adjoint_ : op_;
  if (operation.image.empty()) {
    throw ArithmeticError{
        e.span, "the operator has no adjoint here: the box is not periodic, or A holds a mean"};
  }
  return operation;
}

bool SolveColumn::is_zero(const Value& v) const {
  return std::ranges::all_of(parts_of(v), [](Expr part) { return part.is_zero(); });
}

State SolveColumn::given_to(Block& block, const dsl::Expr& e, const Value& v) const {
  const std::vector<Expr> argument = parts_of(v);
  if (argument.size() != parts()) {
    throw ArithmeticError{e.span, "`" + text_.op + "` takes a field like " + text_.unknown};
  }
  State given;
  if (&block == &start_) given = here_;
  for (std::size_t i = 0; i < parts(); ++i) {
    given.arrays[unknowns_[i]] = block.array("p", argument[i]);
  }
  return given;
}

Value SolveColumn::image_of(Block& block, const physics::LinearMap& operation,
                            std::vector<Expr> image) const {
  if (operation.parity >= 0) {
    for (Expr& part : image) part = block.parity_array("image", part, operation.parity);
  }
  return of_parts(image);
}

Value SolveColumn::apply(Block& block, const dsl::Expr& e, const Value& v, bool adjoint) {
  if (const auto made = applied_.find(&e); made != applied_.end()) return made->second;
  const physics::LinearMap& operation = map_in(block, e, adjoint);
  const std::vector<Expr> argument = parts_of(v);
  if (argument.size() == parts() && is_zero(v)) return of_parts(argument);
  return image_of(block, operation, mapped(block, operation, given_to(block, e, v)));
}

Value SolveColumn::halfway(Block& block, const dsl::Expr& e, const Value& v) const {
  physics::LinearMap map = map_in(block, e, false);
  const auto middle = map.stages.begin() + std::ssize(map.stages) / 2;
  const int parity = middle->parity;
  map.image = std::move(middle->values);
  map.stages.erase(middle, map.stages.end());
  std::vector<Expr> image = mapped(block, map, given_to(block, e, v));
  for (Expr& part : image) part = block.parity_array("stage", part, parity);
  return of_parts(image);
}

Value SolveColumn::run(Block& block, const dsl::Expr& e, const Values& values) {
  SolverMeaning meaning;
  meaning.op = text_.op;
  meaning.name = [&](const dsl::Expr& at) {
    const auto found = values.find(at.text);
    if (found == values.end()) throw ArithmeticError{at.span, "`" + at.text + "` is not set yet"};
    return found->second;
  };
  meaning.apply = [&](const dsl::Expr& at, const Value& v, bool adjoint) {
    return apply(block, at, v, adjoint);
  };
  meaning.halfway = [&](const Value& v) { return halfway(block, e, v); };
  if (inner_) meaning.inner = [&](const dsl::Expr& at) { return inner_solution(at); };
  meaning.known = [&](const dsl::Expr& at) -> const Value* { return taken_once(at); };
  return evaluate(e, meaning, arena_);
}

Value SolveColumn::inner_solution(const dsl::Expr& e) {
  const std::vector<Expr> v = parts_of(run(rest_, *e.args[0], iteration_values_));
  // 0 after the end, which is solved by 0: rounds for what is left would go on from a direction
  // that belongs to another residual, while other instances and columns take more
  for (std::size_t i = 0; i < v.size(); ++i) {
    const Expr rest = rest_.array("rest", stays(arena_.integer(0), v[i]));
    blocks_.rest_wanted.arrays[inner_->source[i]->index] = rest;
  }
  std::vector<Expr> solution;
  for (const int array : inner_->arrays) solution.push_back(arena_.load(array));
  return of_parts(solution);
}

Value SolveColumn::best_of_past() {
  constexpr long double kNothing = 1e-24L;  // of a square: what is left of it is rounding
  struct Direction {
    Value v, image;
    Expr inverse;  ///< 1/<v, A v>, or 0
  };
  std::vector<Direction> all;
  Value x = of_parts(std::vector<Expr>(parts(), arena_.integer(0)));
  const auto product = [&](const Direction& a, const Value& image) {
    return summed("past_product", solve_.positive ? physics::dot_product(a.v, image)
                                                  : physics::dot_product(a.image, image));
  };
  for (std::size_t i = 0; i < solve_.past.size(); ++i) {
    std::vector<Expr> old;
    for (const int array : solve_.past[i]) old.push_back(at(here_, arena_.load(array)));
    Direction one{settled(start_, "past", of_parts(old)), products_of_past_[i], {}};
    const Expr size = product(one, one.image).parts[0].re;
    Value v = one.v, image = one.image;
    for (const Direction& other : all) {
      const Value share = physics::multiply(product(other, one.image), Value::of(other.inverse));
      v = physics::subtract(v, physics::multiply(share, other.v));
      image = physics::subtract(image, physics::multiply(share, other.image));
    }
    one.v = settled(start_, "past", v);
    one.image = settled(start_, "past_image", image);
    const Expr left = product(one, one.image).parts[0].re;
    const Expr adds = arena_.make(Op::Less, {arena_.real(kNothing) * size, left});
    const Expr none = arena_.integer(0), unit = arena_.integer(1);
    one.inverse = start_.scalar(
        name_ + "_past_inverse",
        arena_.make(Op::Select, {adds, unit / arena_.make(Op::Select, {adds, left, unit}), none}));
    const Value& b = values_.at(text_.source);
    const Value share = physics::multiply(
        summed("past_share", physics::dot_product(solve_.positive ? one.v : one.image, b)),
        Value::of(one.inverse));
    x = physics::add(x, physics::multiply(share, one.v));
    all.push_back(one);
  }
  return settled(start_, text_.unknown, x);
}

Value SolveColumn::summed(const std::string& hint, const Component& c) {
  const auto total = [&](Expr part) {
    return start_.scalar(name_ + "_" + hint, arena_.make(Op::Total, {part}));
  };
  return Value{1, 1, {{total(c.re), c.im ? total(c.im) : Expr{}}}};
}

bool SolveColumn::changes(const dsl::ExprPtr& e) const {
  bool found = false;
  dsl::for_each(e, [&](const dsl::Expr& node) {
    found = found || (node.kind == dsl::ExprKind::Name && set_.contains(node.text));
  });
  return found;
}

void SolveColumn::take_once(const dsl::ExprPtr& e) {
  if (!e) return;
  if (e->kind == dsl::ExprKind::Call && e->text == "total" && !changes(e)) {
    Value v = in_start(*e);
    for (Component& c : v.parts) {
      c.re = c.re.is_number() ? c.re : kept_.number("once", c.re);
      if (c.im && !c.im.is_number()) c.im = kept_.number("once", c.im);
    }
    if (!taken_once(*e)) once_.emplace_back(e.get(), v);
    return;
  }
  for (const dsl::ExprPtr& arg : e->args) take_once(arg);
}

const Value* SolveColumn::taken_once(const dsl::Expr& e) const {
  const auto found = std::ranges::find(once_, &e, &std::pair<const dsl::Expr*, Value>::first);
  return found == once_.end() ? nullptr : &found->second;
}

std::set<std::string> SolveColumn::read_in_iterations() const {
  std::set<std::string> names, own;
  const auto see = [&](const auto& self, const dsl::ExprPtr& e) -> void {
    if (!e || taken_once(*e)) return;
    if (e->kind == dsl::ExprKind::Name && !own.contains(e->text)) names.insert(e->text);
    for (const dsl::ExprPtr& arg : e->args) self(self, arg);
  };
  for (const text::Statement& line : text_.iteration) {
    see(see, line.value);
    own.insert(line.name);
  }
  see(see, text_.until);
  if (!goes_on_) return names;
  own = {text_.unknown, text_.source};
  for (const text::Statement& line : text_.after) {
    see(see, line.value);
    own.insert(line.name);
  }
  see(see, text_.until);
  return names;
}

void SolveColumn::keep() {
  const std::set<std::string> read = read_in_iterations();
  for (const auto& [name, v] : values_) {
    const bool set = set_.contains(name);
    if (name != text_.unknown && !read.contains(name) && !is_eigenvalue(name)) continue;
    if (is_field(name, v)) {
      keep_field(name, v, set);
    } else {
      keep_numbers(name, v, set);
    }
  }
}

bool SolveColumn::is_eigenvalue(const std::string& name) const {
  return solve_.eigenvalue && name == text::kEigenvalue;
}

void SolveColumn::keep_field(const std::string& name, const Value& v, bool set) {
  std::vector<Expr> list;
  const std::vector<Expr> now = parts_of(v);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (!set) {
      list.push_back(kept_.array(name, now[i]));
      continue;
    }
    const auto beside = solve_.beside.find(name);
    const int array = name == text_.unknown           ? unknowns_[i]
                      : beside != solve_.beside.end() ? beside->second[i]
                                                      : storage_.allocate_new(kept_.scratch(name));
    start_wanted_.arrays[array] = start_.array(name, now[i]);
    list.push_back(arena_.load(array));
    fields_[name].push_back(array);
  }
  iteration_values_[name] = of_parts(list);
}

void SolveColumn::keep_numbers(const std::string& name, const Value& v, bool set) {
  Value result = v;
  const auto kept = [&](Expr part, const std::string& hint) -> Expr {
    if (!part || (!set && part.is_number())) return part;
    if (!set && part.is(Op::Symbol)) {
      start_wanted_.slots.push_back(part->name);
      return part;
    }
    const std::string slot = is_eigenvalue(name) ? solve_.eigenvalue->scalar : slots_.fresh(hint);
    start_.assign(slot, part);
    start_wanted_.slots.push_back(slot);
    if (set) carried_.push_back(arena_.symbol(slot));
    return arena_.symbol(slot);
  };
  for (Component& c : result.parts) {
    c.re = kept(c.re, name_ + "_" + name);
    c.im = kept(c.im, name_ + "_" + name + "_im");
  }
  iteration_values_[name] = result;
}

Expr SolveColumn::finite(const std::vector<Expr>& list) const {
  const Expr most = arena_.real(std::numeric_limits<double>::max());
  Expr all;
  for (const Expr e : list) {
    const Expr sound = arena_.make(Op::LessEqual, {arena_.make(Op::Abs, {e}), most});
    all = all ? arena_.make(Op::And, {all, sound}) : sound;
  }
  return all ? all : arena_.make(Op::Less, {arena_.integer(0), arena_.integer(1)});
}

Expr SolveColumn::judged(Expr until, Expr sound) const {
  const Expr broken = arena_.make(Op::Select, {sound, arena_.integer(0), arena_.integer(2)});
  return arena_.make(Op::Select, {until, arena_.integer(1), broken});
}

void SolveColumn::end_round() {
  Values& values = round_;
  Wanted& wanted = blocks_.iteration_wanted;
  for (const auto& [name, arrays] : fields_) {
    const std::vector<Expr> now = parts_of(values.at(name));
    for (std::size_t i = 0; i < arrays.size(); ++i) wanted.arrays[arrays[i]] = now[i];
  }
  std::vector<Expr> numbers;
  const Expr until = iteration_.scalar(
      name_ + "_until", arena_.make(Op::Select, {condition(run(iteration_, *text_.until, values)),
                                                 arena_.integer(1), arena_.integer(0)}));
  std::vector<kernel::ScalarAssign>& finish = blocks_.end_of_round;
  const auto carry = [&](Expr slot, Expr next) {
    const Expr value = iteration_.without_reductions(next);
    // computed first, assigned later: a new value may read another number's old value
    const std::string aside = slots_.fresh(slot->name + "_next");
    iteration_.assign(aside, value);
    wanted.slots.push_back(aside);
    numbers.push_back(arena_.symbol(aside));
    finish.push_back({slot->name, stays(slot, arena_.symbol(aside))});
  };
  for (const auto& [name, old] : iteration_values_) {
    if (!set_.contains(name) || fields_.contains(name)) continue;
    const Value& next = values.at(name);
    for (std::size_t c = 0; c < old.parts.size(); ++c) {
      carry(old.parts[c].re, next.parts[c].re);
      if (old.parts[c].im) {
        carry(old.parts[c].im, next.parts[c].im ? next.parts[c].im : arena_.integer(0));
      } else if (next.parts[c].im) {
        throw ArithmeticError{text_.span,
                              "`" + name + "` is real before the iterations and complex in them"};
      }
    }
  }
  const Expr sound = iteration_.scalar(
      name_ + "_sound",
      arena_.make(Op::Select, {finite(numbers), arena_.integer(1), arena_.integer(0)}));
  for (const Expr e : {until, sound}) {
    if (e.is(Op::Symbol)) wanted.slots.push_back(e->name);
  }
  const Expr iteration_count = arena_.symbol(solve_.iterations);
  const Expr more = inner_ ? arena_.symbol(inner_->iterations) : arena_.integer(1);
  finish.push_back({solve_.iterations, stays(iteration_count, iteration_count + more)});
  const Expr holds = arena_.make(Op::Less, {arena_.integer(0), until});
  const Expr numbers_are = arena_.make(Op::Less, {arena_.integer(0), sound});
  finish.push_back({done_, stays(arena_.symbol(done_), judged(holds, numbers_are))});
}

void SolveColumn::go_on() {
  Values values = iteration_values_;
  values[text_.unknown] = of_parts(std::vector<Expr>(parts(), arena_.integer(0)));
  values[text_.source] = values_.at(text_.source);
  for (const text::Statement& line : text_.after) {
    const std::string& name = line.name;
    values[name] = settled(restart_, name, run(restart_, *line.value, values));
  }
  Wanted& wanted = blocks_.restart_wanted;
  const auto once = std::exchange(once_, {});
  std::vector<std::pair<Expr, Expr>> numbers;
  for (const auto& [e, old] : once) {
    const Value now = run(restart_, *e, values);
    for (std::size_t c = 0; c < old.parts.size(); ++c) {
      numbers.emplace_back(old.parts[c].re, restart_.without_reductions(now.parts[c].re));
      if (old.parts[c].im)
        numbers.emplace_back(old.parts[c].im, restart_.without_reductions(now.parts[c].im));
    }
  }
  const Expr until = condition(run(restart_, *text_.until, values));
  once_ = once;
  for (const auto& [name, old] : iteration_values_) {
    if (!set_.contains(name)) continue;
    const std::vector<Expr> now = parts_of(values.at(name));
    const Value& next = values.at(name);
    if (next.parts.size() != old.parts.size())
      throw ArithmeticError{text_.span, "`" + name + "` changes its shape"};
    if (const auto field = fields_.find(name); field != fields_.end()) {
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i] != arena_.load(field->second[i]))
          wanted.arrays[field->second[i]] = restart_.array(name, now[i]);
      }
      continue;
    }
    for (std::size_t c = 0; c < old.parts.size(); ++c) {
      const Expr im = next.parts[c].im;
      numbers.emplace_back(old.parts[c].re, next.parts[c].re);
      if (old.parts[c].im) numbers.emplace_back(old.parts[c].im, im ? im : arena_.integer(0));
      if (im && !old.parts[c].im)
        throw ArithmeticError{
            text_.span, "`" + name + "` is real before the iterations and complex after them"};
    }
  }
  const Expr done = restart_.without_reductions(judged(until, finite(carried_)));
  numbers.emplace_back(arena_.symbol(solve_.iterations), arena_.integer(0));
  numbers.emplace_back(arena_.symbol(done_), done);
  std::erase_if(numbers, [](const auto& number) {
    return !number.first.is(Op::Symbol) || number.first == number.second;
  });
  // computed first, assigned later: a new value may read another number's old value
  for (auto& [slot, value] : numbers) {
    const std::string aside = slots_.fresh(slot->name + "_again");
    restart_.assign(aside, restart_.without_reductions(value));
    value = arena_.symbol(aside);
  }
  for (const auto& [slot, value] : numbers) {
    restart_.assign(slot->name, value);
    wanted.slots.push_back(slot->name);
  }
}

Value SolveColumn::next_field(const std::string& name, const Value& v) {
  const std::vector<Expr> next = parts_of(v);
  const std::vector<int>& arrays = fields_.at(name);
  if (next.size() != arrays.size()) {
    throw ArithmeticError{text_.span, "`" + name + "` changes its shape"};
  }
  std::vector<Expr> list;
  // of a system alone, sweeps over half of the sites are skipped after the end: no test
  const bool tested = iteration_.parity() < 0 || !alone_;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const Expr value = tested ? stays(arena_.load(arrays[i]), next[i]) : next[i];
    list.push_back(iteration_.array(name, value, arrays[i]));
  }
  return of_parts(list);
}

}  // namespace vphi::schedule
