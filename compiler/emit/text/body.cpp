#include "compiler/emit/text/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_set>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/text/fill.hpp"
#include "compiler/emit/text/printer.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/emit/text/register_order.hpp"
#include "compiler/emit/text/rematerialise.hpp"
#include "compiler/kernel/device.hpp"
#include "compiler/kernel/site_cost.hpp"

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Node;
using algebra::Offset;
using algebra::Op;

constexpr const char* kAxis[4] = {"x", "y", "z", "t"};

Offset sum_of(Offset a, const Offset& b) {
  for (int i = 0; i < 4; ++i) a.d[i] = static_cast<std::int16_t>(a.d[i] + b.d[i]);
  return a;
}

// Builds the body of one kernel; the members are the state shared between its parts.
class Builder {
 public:
  Builder(const kernel::Kernel& kernel, const Dialect& dialect, const Bindings& bindings,
          bool private_scalars, const std::vector<std::string>& shared, const Handed& handed,
          bool few_registers)
      : kernel_(kernel),
        dialect_(dialect),
        bindings_(bindings),
        shared_(shared.begin(), shared.end()),
        handed_(handed),
        few_registers_(few_registers),
        space_(private_scalars ? "" : "VPHI_GLOBAL ") {}

  Body build();

 private:
  bool uniform(Expr expr);
  Expr prepare(Expr expr);
  Expr rebuild(Expr expr);
  Expr lower_stencil(Expr expr);
  std::string constant(const Node& node) const {
    const auto found = factors_.find(&node);
    return found == factors_.end() ? std::string() : found->second.name;
  }
  void name_factor(Expr factor, const algebra::StencilData& stencil);
  std::string note(const Node& node) const { return line_note(bindings_, node); }
  std::string scalar_text(const std::string& symbol) const {
    return "scalars[" + slot_text(bindings_, slot(symbol)) + "]";
  }
  void collect(Expr expr);
  void add_read(const Node& node);
  void add_draw(const Node& node);
  void add_parameter(Expr expr);
  std::string family(Expr expr) const;
  int slot(const std::string& symbol) const;
  void read(const std::string& symbol) { body_.slots_read.push_back(slot(symbol)); }
  Code structs() const;
  void sort_reads(std::span<const Expr> order);
  Code site_function();
  std::vector<Expr> order_of_many();
  std::string in_pieces(Printer& printer, std::span<const Expr> order);
  Code parameter_function();
  Code epilogue_function();

  const kernel::Kernel& kernel_;
  const Dialect& dialect_;
  const Bindings& bindings_;
  std::set<std::string> shared_;  // symbols that come with the step
  const Handed& handed_;
  bool few_registers_;
  std::string space_;  // of the scalars
  Body body_;
  std::vector<Expr> roots_;  // stores, then reductions
  std::unordered_map<const Node*, Expr> prepared_;
  std::unordered_map<const Node*, bool> per_site_, per_step_;
  std::unordered_map<const Node*, Leaf> leaves_;  // in the site function
  std::unordered_map<const Node*, std::string> read_members_;
  std::unordered_map<const Node*, bool> seen_;
  std::vector<std::pair<std::string, Expr>> parameters_;
  std::map<const Node*, FactorName> factors_;  // for people: numbers that are powers of dx
  Scope members_, parameter_names_, result_names_;
};

// The same at every site and not a plain number.
bool Builder::uniform(Expr expr) {
  const auto site = [&](const Node& node) {
    return (node.op >= Op::Load && node.op <= Op::Uniform) || node.op == Op::Stencil ||
           (node.op == Op::Symbol && shared_.contains(node.name));
  };
  const auto symbol = [](const Node& node) { return node.op == Op::Symbol; };
  return !holds(expr, site, per_site_) && holds(expr, symbol, per_step_);
}

// A stencil of an expression is the weighted sum of the shifted expressions.
Expr Builder::lower_stencil(Expr expr) {
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

// In a form for people the factor of a stencil has a name of its own.
void Builder::name_factor(Expr factor, const algebra::StencilData& stencil) {
  if (bindings_.reading && !factor.is_one()) factors_.emplace(factor.get(), factor_name(stencil));
}

// Children first: stencils with their factor, and a leading run of uniform arguments of a sum or
// product as one node, so that it is computed once a sweep and not once a site.
Expr Builder::rebuild(Expr expr) {
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

Expr Builder::prepare(Expr expr) {
  const auto found = prepared_.find(expr.get());
  if (found != prepared_.end()) return found->second;
  const Expr result = rebuild(expr);
  prepared_.emplace(expr.get(), result);
  return result;
}

void Builder::add_read(const Node& node) {
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

void Builder::add_draw(const Node& node) {
  if (!node.offset.zero())
    throw std::invalid_argument("kernel " + kernel_.name + ": a random number of another site");
  const std::string name = node.op == Op::Normal ? "normal" : "uniform";
  body_.draws.push_back({node.op, node.index, members_.fresh(name + std::to_string(node.index))});
  leaves_[&node] = {"in", body_.draws.back().member};
}

void Builder::add_parameter(Expr expr) {
  std::string wish = expr.is(Op::Symbol) ? identifier(expr->name) + "_s" : "step_factor";
  wish = parameter_names_.fresh(wish);
  leaves_[expr.get()] = {"par", wish};
  parameters_.emplace_back(wish, expr);
}

void Builder::collect(Expr expr) {
  bool& done = seen_[expr.get()];
  if (std::exchange(done, true)) return;
  if (expr.is(Op::Symbol) && shared_.contains(expr->name)) {
    body_.shared.emplace_back(expr->name, members_.fresh(expr->name));
    leaves_[expr.get()] = {"in", body_.shared.back().second};
    return;
  }
  if (uniform(expr)) return add_parameter(expr);
  if (expr.is(Op::Load) || expr.is(Op::Stencil)) return add_read(*expr);
  if (expr.is(Op::Site)) {
    body_.site_axis.at(static_cast<std::size_t>(expr->index)) = true;
    leaves_[expr.get()] = {"in", std::string("site_") + kAxis[expr->index]};
    return;
  }
  if (expr.is(Op::Normal) || expr.is(Op::Uniform)) return add_draw(*expr);
  for (Expr arg : expr.args()) collect(arg);
}

// Temporaries that involve one array alone carry its name.
std::string Builder::family(Expr expr) const {
  if (kernel_.fast && !handed_.empty() && expr.is(Op::Div) && expr.arg(0).is_one()) return "over";
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

int Builder::slot(const std::string& symbol) const {
  const auto at = std::find(bindings_.slots.begin(), bindings_.slots.end(), symbol);
  if (at == bindings_.slots.end())
    throw std::invalid_argument("kernel " + kernel_.name + ": no scalar called " + symbol);
  return static_cast<int>(at - bindings_.slots.begin());
}

/// A function at file scope, with a blank line behind it.
Code function_item(const std::string& name, std::string text, const Names& uses) {
  return Code::item(name, Code(std::move(text), uses)) + Code(std::string("\n"));
}

Code Builder::structs() const {
  const std::string real = type_name(body_.real);
  const auto fields = [&](const char* kind, const std::vector<std::string>& names) {
    std::string text = "typedef struct {\n";
    for (const std::string& name : names) text += "  " + real + " " + name + ";\n";
    if (names.empty()) text += "  " + real + " none;\n";
    const std::string name = std::string("vphi_") + kind + "_" + body_.suffix;
    return Code::item(name, text + "} " + name + ";\n", true) + Code(std::string("\n"));
  };
  std::vector<std::string> in, out, par;
  for (const Read& read : body_.reads) in.push_back(read.member);
  for (const Draw& draw : body_.draws) in.push_back(draw.member);
  for (const auto& [name, member] : body_.shared) in.push_back(member);
  for (int axis = 0; axis < 4; ++axis)
    if (body_.site_axis[static_cast<std::size_t>(axis)])
      in.push_back(std::string("site_") + kAxis[axis]);
  out = body_.store_members;
  out.insert(out.end(), body_.reduction_members.begin(), body_.reduction_members.end());
  out.insert(out.end(), body_.handed_members.begin(), body_.handed_members.end());
  for (const auto& [name, expr] : parameters_) par.push_back(name);
  return fields("in", in) + fields("out", out) + fields("par", par);
}

// Loads in the order of their use: NVIDIA's compiler takes it for the order of their arrival.
void Builder::sort_reads(std::span<const Expr> order) {
  std::unordered_map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Expr arg : order[i].args())
      if (const auto leaf = leaves_.find(arg.get()); leaf != leaves_.end())
        if (leaf->second.of == "in") first.try_emplace(leaf->second.name, i);
  std::ranges::stable_sort(body_.reads, {}, [&](const Read& read) {
    const auto found = first.find(read.member);
    return found == first.end() ? order.size() : found->second;
  });
}

Code Builder::site_function() {
  Scope scope;
  for (const char* name : {"in", "out", "par"}) scope.fresh(name);
  Printer printer(
      dialect_, body_.real,
      {[&](const Node& node) {
         const auto found = leaves_.find(&node);
         return found == leaves_.end() ? Leaf() : found->second;
       },
       [&](Expr expr) { return family(expr); }, [&](const Node& node) { return note(node); },
       [&](const Node& node) { return constant(node); }},
      scope);
  std::string named_numbers;
  for (auto& [node, name] : factors_) {
    name.name = scope.fresh(name.name);
    named_numbers += fmt::format("const {} {} = {};  // {}\n", type_name(body_.real), name.name,
                                 literal(node->number, body_.real), name.words);
  }
  std::vector<Expr> order;
  if (few_registers_ && body_.reads.size() >= kernel::kManyReads) order = order_of_many();
  printer.announce(roots_);
  if (kernel_.fast) printer.approximate();
  if (kernel_.fast && !handed_.empty()) printer.device_extremes();
  printer.share_sincos();
  const std::string s = body_.suffix;
  std::string lines;
  if (!order.empty()) {
    for (const char* name : {"place", "walker"}) scope.fresh(name);
    for (const char* stem : {"words", "radius", "angle"})
      for (std::size_t k = 0; k < body_.draws.size(); ++k)
        scope.fresh(std::string(stem) + "_" + std::to_string(k));
    lines = in_pieces(printer, order);
  }
  const std::string head = "VPHI_INLINE vphi_out_" + s + " vphi_site_" + s + "(const vphi_in_" + s +
                           " in, const vphi_par_" + s + " par) {\n  vphi_out_" + s + " out;\n";
  std::string results;
  std::size_t i = 0;
  const auto put = [&](const std::vector<std::string>& members) {
    for (const std::string& member : members)
      results += printer.assignment("out." + member, roots_[i++]);
  };
  put(body_.store_members);
  put(body_.reduction_members);
  put(body_.handed_members);
  if (roots_.empty()) results += std::string("out.none = ") + literal(0.0L, body_.real) + ";\n";
  if (parameters_.empty()) results += "(void)par;\n";
  if (body_.reads.empty() && body_.draws.empty() && body_.shared.empty()) results += "(void)in;\n";
  if (!body_.pieces.empty()) body_.pieces.back().lines += Code(results, printer.used());
  body_.calls.add(printer.calls());
  return function_item("vphi_site_" + s,
                       head + indented(named_numbers + lines + results, 2) + "  return out;\n}\n",
                       printer.used());
}

// The order of a long site function. What would not fit into a thread's registers is read again.
std::vector<Expr> Builder::order_of_many() {
  constexpr int kWords = 160;  // of what is held: the rest are addresses and what is on its way
  constexpr std::size_t kFar = 512;  // operations: some products of matrices
  const IsLeaf leaf = [&](const Node& node) { return leaves_.contains(&node); };
  std::unordered_set<const Node*> copied;
  const IsLeaf read = [&](const Node& node) {
    return leaf(node) && (node.op != Op::Symbol || copied.contains(&node));
  };
  std::vector<Expr> order = register_order(roots_, leaf);
  body_.held = most_live(order, roots_, read);
  if (body_.held * bytes_of(body_.real) / 4 > kWords) {
    const IsLeaf loaded = [&](const Node& node) { return node.op == Op::Load && leaf(node); };
    Rematerialised rematerialised = rematerialise(order, roots_, loaded, leaf, kFar);
    for (const Rematerialised::Copy& copy : rematerialised.copies) copied.insert(copy.symbol.get());
    for (const Rematerialised::Copy& copy : rematerialised.copies) {
      const std::string first = read_members_.at(copy.read.get());
      Read read = *std::ranges::find(body_.reads, first, &Read::member);
      read.copy = copy.number;
      read.member = members_.fresh(first + "_again");
      leaves_[copy.symbol.get()] = {"in", read.member};
      body_.reads.push_back(std::move(read));
    }
    roots_ = std::move(rematerialised.roots);
    order = std::move(rematerialised.order);
    body_.held = most_live(order, roots_, read);
  }
  sort_reads(order);
  return order;
}

// A piece ends where the next value wants something that has not been read yet.
std::string Builder::in_pieces(Printer& printer, std::span<const Expr> order) {
  std::unordered_map<std::string, std::size_t> reads, draws;
  for (std::size_t k = 0; k < body_.reads.size(); ++k) reads[body_.reads[k].member] = k;
  for (std::size_t k = 0; k < body_.draws.size(); ++k) draws[body_.draws[k].member] = k;
  std::vector<bool> there(body_.reads.size());
  std::vector<Piece>& pieces = body_.pieces;
  std::string lines;
  const auto close = [&] {
    if (pieces.empty()) return;
    pieces.back().lines = Code(printer.take_lines(), printer.used());
    lines += pieces.back().lines.str();
  };
  printer.compute_in(order, [&](std::size_t i) {
    Piece next{{}, pieces.empty() ? 0 : pieces.back().draws, {}};
    const std::size_t drawn = next.draws;
    for (const Expr arg : order[i].args()) {
      const auto leaf = leaves_.find(arg.get());
      if (leaf == leaves_.end() || leaf->second.of != "in") continue;
      if (const auto draw = draws.find(leaf->second.name); draw != draws.end())
        next.draws = std::max(next.draws, draw->second + 1);
      const auto read = reads.find(leaf->second.name);
      if (read == reads.end() || there[read->second]) continue;
      there[read->second] = true;
      next.reads.push_back(read->second);
    }
    if (!pieces.empty() && next.reads.empty() && next.draws == drawn) return;
    close();
    pieces.push_back(std::move(next));
  });
  close();
  Piece last{{}, body_.draws.size(), {}};  // what is stored as it was read
  for (std::size_t k = 0; k < there.size(); ++k)
    if (!there[k]) last.reads.push_back(k);
  pieces.push_back(std::move(last));
  return lines;
}

Code Builder::parameter_function() {
  Scope scope;
  for (const char* name : {"par", "scalars"}) scope.fresh(name);
  std::unordered_map<const Node*, std::string> slots;
  std::string head, tail;
  Printer printer(dialect_, Precision::F64,
                  {[&](const Node& node) -> Leaf {
                     if (node.op != Op::Symbol) return {};
                     std::string& name = slots[&node];
                     if (name.empty()) {
                       name = scope.fresh(identifier(node.name) + "_s");
                       read(node.name);
                       head += "  const double " + name + " = " + scalar_text(node.name) + ";\n";
                     }
                     return {"", name};
                   },
                   [](Expr) { return std::string("k"); }},
                  scope);
  std::vector<Expr> roots;
  for (const auto& [name, expr] : parameters_) roots.push_back(expr);
  printer.announce(roots);
  for (const auto& [name, expr] : parameters_) {
    const std::string value = printer.number(expr);
    tail += indented(printer.take_lines(), 2);
    tail += "  par." + name + " = " +
            (body_.real == Precision::F32 ? "(float)(" + value + ")" : value) + ";\n";
  }
  if (parameters_.empty())
    tail = std::string("  (void)scalars;\n  par.none = ") + literal(0.0L, body_.real) + ";\n";
  const std::string s = body_.suffix;
  body_.calls.add(printer.calls());
  return function_item("vphi_par_of_" + s,
                       "VPHI_INLINE vphi_par_" + s + " vphi_par_of_" + s + "(" + space_ +
                           "const double* scalars) {\n  vphi_par_" + s + " par;\n" + head + tail +
                           "  return par;\n}\n",
                       printer.used());
}

// The scalars are read in a function of their own, so that a device can fetch them early.
Code Builder::epilogue_function() {
  if (kernel_.reductions.empty() && kernel_.epilogue.empty()) return {};
  Scope scope;
  for (const char* name : {"scalars", "total", "before"}) scope.fresh(name);
  std::unordered_map<std::string, Leaf> current;  // by slot
  std::string lines, members, loads;
  Printer printer(
      dialect_, Precision::F64,
      {[&](const Node& node) -> Leaf {
         if (node.op != Op::Symbol) return {};
         Leaf& name = current[node.name];
         if (name.empty()) {
           const std::string member = scope.fresh(identifier(node.name) + "_s");
           name = {"before", member};
           read(node.name);
           members += "  double " + member + ";\n";
           loads += "  before." + member + " = " + scalar_text(node.name) + ";\n";
         }
         return name;
       },
       [](Expr) { return std::string("k"); }, [&](const Node& node) { return note(node); }},
      scope);
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const std::string& slot = kernel_.reductions[i].slot;
    const std::string name = scope.fresh(identifier(slot) + "_s");
    current[slot] = {"", name};
    lines += "  const double " + name + " = total[" + std::to_string(i) + "];\n";
    lines += "  " + scalar_text(slot) + " = " + name + ";\n";
    body_.slots_written.push_back(this->slot(slot));
  }
  for (const kernel::ScalarAssign& assign : kernel_.epilogue) {
    const Expr roots[1] = {assign.value};
    printer.announce(roots);
    const std::string name = scope.fresh(identifier(assign.slot) + "_new");
    const std::string line = printer.assignment("const double " + name, assign.value);
    lines += indented(line, 2);
    lines += "  " + scalar_text(assign.slot) + " = " + name + ";\n";
    body_.slots_written.push_back(slot(assign.slot));
    current[assign.slot] = {"", name};
    printer.forget(assign.value->arena->symbol(assign.slot));
  }
  if (kernel_.reductions.empty()) lines += "  (void)total;\n";
  if (members.empty()) {
    members = "  double none;\n";
    loads = "  (void)scalars;\n  before.none = 0.0;\n";
    lines += "  (void)before;\n";
  }
  const std::string s = body_.suffix;
  body_.calls.add(printer.calls());
  const std::string type = "vphi_before_" + s;
  return Code::item(type, "typedef struct {\n" + members + "} " + type + ";\n", true) +
         Code(std::string("\n")) +
         function_item("vphi_before_of_" + s,
                       "VPHI_INLINE " + type + " vphi_before_of_" + s + "(" + space_ +
                           "const double* scalars) {\n  " + type + " before;\n" + loads +
                           "  return before;\n}\n",
                       {}) +
         function_item("vphi_epilogue_" + s,
                       "VPHI_INLINE void vphi_epilogue_" + s + "(" + space_ +
                           "double* scalars, const " + type +
                           " before,\n    const double* total) {\n" + lines + "}\n",
                       printer.used());
}

Body Builder::build() {
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

}  // namespace

Body make_body(const kernel::Kernel& kernel, const Dialect& dialect, const Bindings& bindings,
               bool private_scalars, const std::vector<std::string>& shared, const Handed& handed,
               bool few_registers) {
  return Builder(kernel, dialect, bindings, private_scalars, shared, handed, few_registers).build();
}

long double stencil_factor(const algebra::StencilData& stencil, double dx) {
  return kernel::stencil_factor(stencil, dx);
}

std::string offset_name(const algebra::Offset& offset) {
  std::string text;
  for (int axis = 0; axis < 4; ++axis) {
    const int d = offset.d[axis];
    if (d == 0) continue;
    text += (text.empty() ? "" : "_") + std::string(kAxis[axis]) + (d > 0 ? "p" : "m") +
            std::to_string(d > 0 ? d : -d);
  }
  return text.empty() ? "c" : text;
}

}  // namespace vphi::emit
