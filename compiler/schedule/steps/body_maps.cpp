// Maps in Fourier space between the lines of a body.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/algebra/rewriting.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/body_step.hpp"
#include "compiler/schedule/steps/step_end.hpp"

namespace vphi::schedule {

using algebra::Op;
using text::ArithmeticError;
using text::Meaning;
using text::scalar_value;
using text::Value;

std::map<int, Expr> BodyStep::made(program::FourierMap map, const std::vector<int>& keys,
                                   const std::map<int, Expr>& from) {
  ArrayMap own{std::move(map), {}, {}};
  std::map<int, Expr> result;
  for (const int key : keys) {
    own.from.push_back(from.at(key)->index);
    own.to.push_back(block_->storage().number());
    result[key] = arena_.load(own.to.back());
  }
  if (parts_.empty() || !block_->items().empty())
    parts_.push_back({std::make_unique<Block>(*block_), {}});
  parts_.back().maps.push_back(std::move(own));
  own_ = std::make_unique<Block>(from_.system, block_->slots(), block_->storage());
  block_ = own_.get();
  recoveries_.last.reset();
  return result;
}

Expr BodyStep::stored(Expr value, const std::string& name) {
  const Expr load = block_->array(name, value);
  return load;
}

std::vector<Expr> BodyStep::transformed(std::vector<Expr> values) {
  while (algebra::contains(values, is_spectral)) {
    std::vector<Expr> found;  // arguments hold no spectral Laplacian
    for (const Expr value : values) {
      algebra::visit(value, [&](Expr node) {
        if (!is_spectral(node) || std::ranges::count(found, node) > 0) return;
        if (!algebra::contains(node.arg(0), is_spectral)) found.push_back(node);
      });
    }
    if (!maps_) throw ArithmeticError{from_.integrator.span, "a spectral Laplacian"};
    program::FourierMap map;
    map.name = "lap";
    map.function = program::FourierMap::Function::Itself;
    std::map<int, Expr> from;
    std::map<int, algebra::Offset> offsets;
    std::map<int, int> place;  // input array -> place
    std::vector<int> keys, of_node;
    for (const Expr node : found) {
      const Expr argument = node.arg(0);
      const bool load = argument.is(Op::Load);
      const Expr input = load ? arena_.load(argument->index) : stored(argument, "field");
      const auto [at_place, fresh] = place.try_emplace(input->index, static_cast<int>(keys.size()));
      if (fresh) {
        const int key = at_place->second;
        keys.push_back(key);
        from[key] = input;
        map.matrix.push_back({.row = key, .column = key, .laplacians = 1});
      }
      of_node.push_back(at_place->second);
    }
    const std::map<int, Expr> images = made(std::move(map), keys, from);
    values = algebra::Rewriting([&](Expr node) {
      const auto at_found = std::ranges::find(found, node);
      if (at_found == found.end()) return node;
      const Expr image = images.at(of_node[static_cast<std::size_t>(at_found - found.begin())]);
      const Expr argument = node.arg(0);
      return argument.is(Op::Load) ? algebra::shift(image, argument->offset) : image;
    })(values);
  }
  return values;
}

bool BodyStep::is_spectral(Expr node) {
  return node.is(Op::Stencil) && node->arena->stencil_data(node->index).spectral;
}

std::optional<double> BodyStep::weight_of_operator(const dsl::Expr& expr, std::size_t& equation,
                                                   std::size_t& part) {
  const Expr dt = arena_.symbol("line:dt"), op = arena_.symbol("line:A");
  bool found = false;
  Meaning meaning;
  meaning.name = [&](const dsl::Expr& at) {
    if (at.text == "dt") return scalar_value(dt);
    for (std::size_t e = 0; e < from_.head.parts.size(); ++e)
      for (std::size_t p = 0; p < from_.head.parts[e].size(); ++p) {
        const Part& candidate = from_.head.parts[e][p];
        if (candidate.kind != Part::Kind::Linear || candidate.name != at.text) continue;
        found = true;
        equation = e, part = p;
        return scalar_value(op);
      }
    if (const auto option = options_.find(at.text); option != options_.end()) return option->second;
    throw ArithmeticError{at.span, ""};
  };
  meaning.call = [](const dsl::Expr&, Value&) { return false; };
  Value value;
  try {
    value = evaluate(expr, meaning, arena_);
  } catch (const ArithmeticError&) {
    if (!found) return std::nullopt;
  }
  if (!found) return std::nullopt;
  const auto weight = value.scalar ? algebra::constant(value.scalar / (dt * op)) : std::nullopt;
  if (!weight)
    throw ArithmeticError{expr.span, "a function of an operator takes a number times dt times it"};
  return static_cast<double>(weight->real);
}

Value BodyStep::exponential(const dsl::Expr& at_text) {
  using Function = program::FourierMap::Function;
  std::size_t e = 0, p = 0;
  const auto weight = weight_of_operator(*at_text.args[0], e, p);
  if (!weight) return multiplied(at_text);
  Value x = evaluate(*at_text.args[1], meaning_, arena_);
  if (x.group != static_cast<int>(e))
    throw ArithmeticError{at_text.span, "the operator acts on variables of another group"};
  if (!maps_) throw ArithmeticError{at_text.span, "a function of an operator"};
  const bool second = at_text.text == "phi2";
  program::FourierMap map;
  map.name = at_text.text;
  map.function = second ? Function::Phi2 : at_text.text == "phi1" ? Function::Phi1 : Function::Exp;
  map.scale = *weight * weight_ * from_.system.dt;
  const std::vector<int>& arrays = group(x.group).arrays;
  std::map<int, std::vector<WaveTerm>> rows;
  std::set<int> taking_part;
  for (const auto& [array, share] : shares_[e][p]) {
    if (share.is_zero()) continue;
    rows[array] = *wave_terms(from_.system, share, arrays);
    taking_part.insert(array);
    for (const WaveTerm& term : rows[array]) taking_part.insert(term.array);
  }
  const std::vector<int> keys(taking_part.begin(), taking_part.end());
  const auto place = [&](int array) {
    return static_cast<int>(std::ranges::lower_bound(keys, array) - keys.begin());
  };
  for (const auto& [array, terms] : rows)
    for (const WaveTerm& term : terms) {
      program::FourierMap::Term own{
          place(array), place(term.array), term.coefficient, {}, term.laplacians};
      for (std::size_t a = 0; a < 4; ++a) own.offset[a] = term.offset.d[a];
      map.matrix.push_back(own);
    }
  Value result = x;
  if (!keys.empty()) {
    std::map<int, Expr> from;
    for (const int key : keys)
      from[key] = stored(x.arrays.at(key), name_of(from_.system, key) + "_in");
    for (const auto& [array, image] : made(std::move(map), keys, from))
      result.arrays[array] = image;
  }
  if (!second) return result;
  const Expr half = arena_.rational(1, 2);  // phi2(0): what the operator does not touch
  for (auto& [array, value] : result.arrays)
    if (!taking_part.contains(array)) value = half * value;
  for (auto& [name, value] : result.scalars)
    if (name != kUnit) value = half * value;
  return result;
}

Value BodyStep::multiplied(const dsl::Expr& at_text) {
  const Value w = evaluate(*at_text.args[0], meaning_, arena_);
  Value result = evaluate(*at_text.args[1], meaning_, arena_);
  if (at_text.text != "exp" || w.group < 0 || w.group != result.group)
    throw ArithmeticError{at_text.span,
                          "it takes a linear part of the head, or multiples and their variable"};
  const std::map<int, Expr> x = result.arrays;
  std::set<int> imaginary;
  for (const auto& [u, v] : from_.pairs) imaginary.insert(v);
  for (const auto& [u, number] : w.arrays) {
    if (imaginary.contains(u)) continue;
    const Expr size = arena_.make(Op::Exp, {number});
    const auto pair = from_.pairs.find(u);
    if (pair == from_.pairs.end()) {
      result.arrays[u] = size * x.at(u);
      continue;
    }
    const int v = pair->second;
    const Expr angle = w.arrays.at(v);
    const Expr c = size * arena_.make(Op::Cos, {angle}), s = size * arena_.make(Op::Sin, {angle});
    result.arrays[u] = c * x.at(u) - s * x.at(v);
    result.arrays[v] = s * x.at(u) + c * x.at(v);
  }
  for (auto& [name, value] : result.scalars)
    if (name != kUnit) value = value + w.scalars.at(name);
  return result;
}

void BodyStep::finish_parts(Wanted last, Stepping& result) {
  parts_.push_back({std::make_unique<Block>(*block_), {}});
  map_into_state(last);
  std::vector<Wanted> wanted(parts_.size());
  wanted.back() = last;
  std::map<int, std::pair<std::size_t, std::size_t>> arrays;  // where they are made
  std::map<std::string, std::pair<std::size_t, std::size_t>> slots;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const auto& items = parts_[b].block->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind == Item::Kind::Array)
        arrays[items[i].array] = {b, i};
      else
        slots[items[i].name] = {b, i};
    }
  }
  std::set<std::pair<std::size_t, std::size_t>> met;
  const std::function<void(Expr, std::size_t)> need = [&](Expr value, std::size_t here) {
    std::vector<std::pair<std::size_t, std::size_t>> open;
    algebra::visit(value, [&](Expr node) {
      if (node.is(Op::Load)) {
        const auto made_at = arrays.find(node->index);
        if (made_at == arrays.end()) return;
        const std::size_t b = made_at->second.first;
        if (b < here) wanted[b].arrays[node->index] = arena_.load(node->index);
        open.push_back(made_at->second);
      } else if (node.is(Op::Symbol)) {
        const auto made_at = slots.find(node->name);
        if (made_at == slots.end()) return;
        const std::size_t b = made_at->second.first;
        if (b < here && std::ranges::count(wanted[b].slots, node->name) == 0)
          wanted[b].slots.push_back(node->name);
        open.push_back(made_at->second);
      }
    });
    for (const auto& at_item : open)
      if (met.insert(at_item).second)
        need(parts_[at_item.first].block->items()[at_item.second].value, at_item.first);
  };
  for (const auto& [array, value] : last.arrays) need(value, parts_.size() - 1);
  for (const std::string& slot : last.slots) need(arena_.symbol(slot), parts_.size() - 1);
  for (std::size_t b = 0; b < parts_.size(); ++b)
    for (const ArrayMap& map : parts_[b].maps) {
      for (const int array : map.from) need(arena_.load(array), b + 1);
      for (const int array : map.to) allocate(array, "mapped");
    }
  for (std::size_t b = 0; b < parts_.size(); ++b)
    for (const auto& [array, value] : wanted[b].arrays)
      if (b + 1 < parts_.size())
        allocate(array, parts_[b].block->items()[arrays.at(array).second].name);
  for (std::size_t b = 0; b + 1 < parts_.size(); ++b) {
    wanted[b].name = "part_" + std::to_string(b + 1);
    FluxPart& part = result.parts.emplace_back();
    part.sweeps = make_site_loops(*parts_[b].block, wanted[b]);
    part.maps = parts_[b].maps;
  }
  wanted.back().name = "last_part";
  result.sweeps = make_site_loops(*parts_.back().block, wanted.back());
  result.in_order = true;
  std::vector<int> order;
  for (std::size_t b = 0; b < result.parts.size(); ++b) order.push_back(static_cast<int>(b));
  result.cycle = {order};
  const auto finish = finish_of(state_);
  result.finish.insert(result.finish.end(), finish.begin(), finish.end());
}

void BodyStep::allocate(int array, const std::string& name) {
  Storage& storage = block_->storage();
  if (storage.allocated(array)) return;
  program::Buffer buffer;
  buffer.name = name;
  buffer.precision = from_.system.numerics.store;
  storage.allocate(array, buffer);
}

void BodyStep::map_into_state(Wanted& last) {
  const auto& items = parts_.back().block->items();
  const bool only_scalars =
      std::ranges::all_of(items, [](const Item& item) { return item.kind == Item::Kind::Scalar; });
  if (!only_scalars || parts_.size() < 2) return;
  ArrayMap& map = parts_[parts_.size() - 2].maps.back();
  std::erase_if(last.arrays, [&](const auto& entry) {
    const auto& [array, value] = entry;
    const auto at_place = std::ranges::find(map.to, value->index);
    if (at_place == map.to.end()) return false;
    *at_place = array;
    return true;
  });
}
}  // namespace vphi::schedule
