#include "compiler/emit/text/body_builder.hpp"

#include <algorithm>
#include <stdexcept>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/site_cost.hpp"

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Node;
using algebra::Offset;
using algebra::Op;

Offset sum_of(Offset a, const Offset& b) {
  for (int i = 0; i < 4; ++i) a.d[i] = static_cast<std::int16_t>(a.d[i] + b.d[i]);
  return a;
}

}  // namespace

// The same at every site and not a plain number.
bool BodyBuilder::uniform(Expr expr) {
  const auto site = [&](const Node& node) {
    return (node.op >= Op::Load && node.op <= Op::Uniform) || node.op == Op::Stencil ||
           (node.op == Op::Symbol && shared_.contains(node.name));
  };
  const auto symbol = [](const Node& node) { return node.op == Op::Symbol; };
  return !holds(expr, site, per_site_) && holds(expr, symbol, per_step_);
}

// A stencil of an expression is the weighted sum of the shifted expressions.
Expr BodyBuilder::lower_stencil(Expr expr) {
  algebra::Arena& arena = *expr->arena;
  const algebra::StencilData& data = arena.stencil_data(expr->index);
  std::vector<Expr> terms;
  for (std::size_t i = 0; i < data.offsets.size(); ++i) {
    const Expr value = algebra::shift(expr.arg(0), data.offsets[i]);
    terms.push_back(arena.raw(Op::Mul, {arena.integer(data.weights[i]), value}));
  }
  const Expr sum = terms.size() == 1 ? terms[0] : arena.raw(Op::Add, std::move(terms));
  const Expr factor = arena.real(stencil_factor(data, kernel_.dx));
  name_factor(factor, data);
  return factor.is_one() ? sum : arena.raw(Op::Mul, {factor, sum});
}

// In the readable form the factor of a stencil has a name of its own.
void BodyBuilder::name_factor(Expr factor, const algebra::StencilData& stencil) {
  if (bindings_.reading && !factor.is_one()) factors_.emplace(factor.get(), factor_name(stencil));
}

// Children first: stencils with their factor, and a leading run of uniform arguments of a sum or
// product as one node, so that it is computed once a sweep and not once a site.
Expr BodyBuilder::rebuild(Expr expr) {
  algebra::Arena& arena = *expr->arena;
  if (expr.is(Op::Stencil)) {
    if (!expr.arg(0).is(Op::Load)) return prepare(lower_stencil(expr));
    const Expr factor = arena.real(stencil_factor(arena.stencil_data(expr->index), kernel_.dx));
    seen_.emplace(expr.get(), false);
    name_factor(factor, arena.stencil_data(expr->index));
    return factor.is_one() ? expr : arena.raw(Op::Mul, {factor, expr});
  }
  std::vector<Expr> args;
  for (Expr arg : expr.args()) args.push_back(prepare(arg));
  if (args.empty()) return expr;
  if ((expr.is(Op::Add) || expr.is(Op::Mul)) && args.size() > 2 && !uniform(expr)) {
    std::size_t run = 0;
    while (run < args.size() && (uniform(args[run]) || args[run].is(Op::Number))) ++run;
    if (run > 1 && std::any_of(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(run),
                               [&](Expr arg) { return uniform(arg); })) {
      const auto end = args.begin() + static_cast<std::ptrdiff_t>(run);
      const Expr head = arena.raw(expr.op(), std::vector<Expr>(args.begin(), end));
      args.erase(args.begin() + 1, end);
      args[0] = head;
    }
  }
  const auto old = expr.args();
  if (std::equal(args.begin(), args.end(), old.begin(), old.end())) return expr;
  return arena.raw(expr.op(), std::move(args), expr->span);
}

Expr BodyBuilder::prepare(Expr expr) {
  const auto found = prepared_.find(expr.get());
  if (found != prepared_.end()) return found->second;
  const Expr result = rebuild(expr);
  prepared_.emplace(expr.get(), result);
  return result;
}

void BodyBuilder::add_read(const Node& node) {
  Read read;
  std::string stem;
  const Node& load = node.op == Op::Load ? node : *node.args[0];
  read.array = load.index;
  if (node.op == Op::Load) {
    read.offsets = {node.offset};
    read.weights = {1};
    stem = offset_name(node.offset);
  } else {
    const algebra::StencilData& data = node.arena->stencil_data(node.index);
    for (const Offset& offset : data.offsets) read.offsets.push_back(sum_of(offset, load.offset));
    read.weights = data.weights;
    stem = identifier(data.name.empty() ? "stencil" : data.name);
    if (!load.offset.zero()) stem += "_" + offset_name(load.offset);
  }
  std::size_t which = 0;
  while (which < kernel_.arrays.size() && kernel_.arrays[which].array != read.array) ++which;
  if (which == kernel_.arrays.size())
    throw std::invalid_argument("kernel " + kernel_.name + " reads an unknown array");
  read.member = members_.fresh(body_.array_names[which] + "_" + stem);
  leaves_[&node] = {"in", read.member};
  read_members_[&node] = read.member;
  body_.reads.push_back(std::move(read));
}

void BodyBuilder::add_draw(const Node& node) {
  if (!node.offset.zero())
    throw std::invalid_argument("kernel " + kernel_.name + ": a random number of another site");
  const std::string name = node.op == Op::Normal ? "normal" : "uniform";
  body_.draws.push_back({node.op, node.index, members_.fresh(name + std::to_string(node.index))});
  leaves_[&node] = {"in", body_.draws.back().member};
}

void BodyBuilder::add_parameter(Expr expr) {
  std::string wish = expr.is(Op::Symbol) ? identifier(expr->name) + "_s" : "step_factor";
  wish = parameter_names_.fresh(wish);
  leaves_[expr.get()] = {"par", wish};
  parameters_.emplace_back(wish, expr);
}

// A rank whose memory begins in the middle of the lattice adds where that is.
void BodyBuilder::add_site(Expr expr) {
  const auto axis = static_cast<std::size_t>(expr->index);
  body_.site_axis.at(axis) = true;
  const std::string name = algebra::kAxisNames[axis];
  leaves_[expr.get()] = {"in", "site_" + name};
  if (!kernel_.planes || !body_.first_site[axis].empty()) return;
  const kernel::Planes& planes = *kernel_.planes;
  algebra::Arena& arena = *expr->arena;
  const auto first = [&](const std::string& origin, std::int64_t ghosts) {
    body_.first_site[axis] = parameter_names_.fresh("first_" + name);
    parameters_.emplace_back(body_.first_site[axis],
                             arena.raw(Op::Sub, {arena.symbol(origin), arena.integer(ghosts)}));
  };
  if (expr->index == planes.axis) first(planes.origin, planes.first - planes.below);
  if (planes.second && expr->index == planes.axis - 1)
    first(planes.second->origin, planes.second->first);
}

void BodyBuilder::collect(Expr expr) {
  bool& done = seen_[expr.get()];
  if (std::exchange(done, true)) return;
  if (expr.is(Op::Symbol) && shared_.contains(expr->name)) {
    body_.shared.emplace_back(expr->name, members_.fresh(expr->name));
    leaves_[expr.get()] = {"in", body_.shared.back().second};
    return;
  }
  if (uniform(expr)) return add_parameter(expr);
  if (expr.is(Op::Load) || expr.is(Op::Stencil)) return add_read(*expr);
  if (expr.is(Op::Site)) return add_site(expr);
  if (expr.is(Op::Normal) || expr.is(Op::Uniform)) return add_draw(*expr);
  for (Expr arg : expr.args()) collect(arg);
}

// Temporaries that involve one array alone carry its name.
std::string BodyBuilder::family(Expr expr) const {
  if (kernel_.fast && walks() && expr.is(Op::Div) && expr.arg(0).is_one()) return "over";
  std::string name;
  std::vector<Expr> open{expr};
  for (int budget = 200; !open.empty() && budget > 0; --budget) {
    const Expr next = open.back();
    open.pop_back();
    if (next.is(Op::Load)) {
      for (std::size_t i = 0; i < kernel_.arrays.size(); ++i) {
        if (kernel_.arrays[i].array != next->index) continue;
        if (!name.empty() && name != body_.array_names[i]) return {};
        name = body_.array_names[i];
      }
    }
    for (Expr arg : next.args()) open.push_back(arg);
  }
  return open.empty() ? name : std::string();
}

int BodyBuilder::slot(const std::string& symbol) const {
  const auto at = std::find(bindings_.slots.begin(), bindings_.slots.end(), symbol);
  if (at == bindings_.slots.end())
    throw std::invalid_argument("kernel " + kernel_.name + ": no scalar called " + symbol);
  return static_cast<int>(at - bindings_.slots.begin());
}

Body BodyBuilder::build() {
  body_.suffix = identifier(kernel_.name);
  body_.real = kernel_.compute;
  Scope names;
  for (const kernel::ArrayParam& array : kernel_.arrays)
    body_.array_names.push_back(names.fresh(identifier(array.name)));
  for (const kernel::Store& store : kernel_.stores) {
    roots_.push_back(prepare(store.value));
    for (std::size_t i = 0; i < kernel_.arrays.size(); ++i)
      if (kernel_.arrays[i].array == store.array)
        body_.store_members.push_back(result_names_.fresh(body_.array_names[i] + "_new"));
  }
  for (const kernel::Reduction& reduction : kernel_.reductions) {
    roots_.push_back(prepare(reduction.value));
    body_.reduction_members.push_back(result_names_.fresh(identifier(reduction.slot) + "_sum"));
  }
  for (const auto& [name, value] : handed_) {
    roots_.push_back(prepare(value));
    body_.handed_members.push_back(result_names_.fresh(name + "_next"));
  }
  if (body_.store_members.size() != kernel_.stores.size())
    throw std::invalid_argument("kernel " + kernel_.name + " stores to an unknown array");
  seen_.clear();
  for (Expr root : roots_) collect(root);
  std::ranges::sort(body_.draws, {}, &Draw::index);
  if (!kernel_.stores.empty() || !kernel_.reductions.empty() || !handed_.empty()) {
    body_.site = site_function();
    body_.rest = parameter_function();
    body_.structs = structs();
  }
  body_.parameters = static_cast<int>(parameters_.size());
  body_.rest += epilogue_function();
  if (!kernel_.random.step.empty()) read(kernel_.random.step);
  if (!kernel_.random.instance.empty()) read(kernel_.random.instance);
  for (std::vector<int>* list : {&body_.slots_read, &body_.slots_written}) {
    std::ranges::sort(*list);
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return std::move(body_);
}

Body make_body(const kernel::Kernel& kernel, const Dialect& dialect, const Bindings& bindings,
               bool private_scalars, const std::vector<std::string>& shared, const Handed& handed,
               bool few_registers, Taken taken) {
  return BodyBuilder(kernel, dialect, bindings, private_scalars, shared, handed, few_registers,
                     taken)
      .build();
}

Code in_whole_lattice(const Body& body, std::size_t axis, const Code& in_memory, const Code& par) {
  const std::string& first = body.first_site[axis];
  return first.empty() ? in_memory : code("{} + {}.{}", in_memory, par, first);
}

long double stencil_factor(const algebra::StencilData& stencil, double dx) {
  return kernel::stencil_factor(stencil, dx);
}

std::string offset_name(const algebra::Offset& offset) {
  std::string text;
  for (int axis = 0; axis < 4; ++axis) {
    const int d = offset.d[axis];
    if (d == 0) continue;
    text += (text.empty() ? "" : "_") + std::string(algebra::kAxisNames[axis]) +
            (d > 0 ? "p" : "m") + std::to_string(d > 0 ? d : -d);
  }
  return text.empty() ? "c" : text;
}

}  // namespace vphi::emit
