// The structs and functions of a Body.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/emit/text/body_builder.hpp"
#include "compiler/emit/text/layout.hpp"
#include "compiler/emit/text/printer.hpp"
#include "compiler/emit/text/register_order.hpp"
#include "compiler/emit/text/rematerialise.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Node;
using algebra::Op;

/// A function at file scope, with a blank line behind it.
Code function_item(const std::string& name, std::string text, const Names& uses) {
  return Code::item(name, Code(std::move(text), uses)) + Code(std::string("\n"));
}

}  // namespace

Code BodyBuilder::structs() const {
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
      in.push_back(std::string("site_") + algebra::kAxisNames[axis]);
  out = body_.store_members;
  out.insert(out.end(), body_.reduction_members.begin(), body_.reduction_members.end());
  out.insert(out.end(), body_.handed_members.begin(), body_.handed_members.end());
  for (const auto& [name, expr] : parameters_) par.push_back(name);
  const Code lane = body_.loops.empty() ? Code() : fields("lane", body_.lane_members);
  return fields("in", in) + lane + fields("out", out) + fields("par", par);
}

// Sorts loads by their first use: NVIDIA's compiler assumes that they arrive in the order written.
void BodyBuilder::sort_reads(std::span<const Expr> order) {
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

// A printer of a part of the site function; `leaf` names what it does not compute.
Printer BodyBuilder::printer(Scope& scope, std::function<Leaf(const Node&)> leaf) {
  Printer printer(dialect_, body_.real,
                  {std::move(leaf), [&](Expr expr) { return family(expr); },
                   [&](const Node& node) { return note(node); },
                   [&](const Node& node) { return constant(node); }},
                  scope);
  std::vector<Expr> angles;
  for (const Expr angle : kernel_.paired_angles) angles.push_back(prepare(angle));
  printer.pair_angles(angles);
  if (kernel_.fast) printer.approximate();
  if (kernel_.written_out) printer.write_out();
  if (kernel_.fast && walks()) printer.device_extremes();
  return printer;
}

// Statements that fill `out`.
std::string BodyBuilder::results(Printer& printer) {
  std::string text;
  std::size_t i = 0;
  const auto put = [&](const std::vector<std::string>& members) {
    for (const std::string& member : members)
      text += printer.assignment("out." + member, roots_[i++]);
  };
  put(body_.store_members);
  put(body_.reduction_members);
  put(body_.handed_members);
  return text;
}

// Declarations of the numbers that have names in the readable form.
std::string BodyBuilder::named_numbers(Scope& scope) {
  std::string text;
  for (auto& [node, name] : factors_) {
    name.name = scope.fresh(name.name);
    text += fmt::format("const {} {} = {};  // {}\n", type_name(body_.real), name.name,
                        literal(node->number, body_.real), name.words);
  }
  return text;
}

Code BodyBuilder::site_function() {
  const auto is_leaf = [&](const Node& node) { return leaves_.contains(&node); };
  if (taken_ == Taken::InParts) {
    if (auto loops = kernel::rounds_of_lanes(roots_, is_leaf, body_.real); !loops.empty())
      return site_in_parts(kernel::parts_between(std::move(loops), roots_, is_leaf,
                                                 [&](const Node& node) { return differs(node); }));
  }
  Scope scope;
  for (const char* name : {"in", "out", "par"}) scope.fresh(name);
  const std::string numbers = named_numbers(scope);
  const bool many = few_registers_ && body_.reads.size() >= kernel::kManyReads;
  std::vector<kernel::Rounds> rounds;
  if (!dialect_.processor()) rounds = kernel::rounds_in_loops(roots_, is_leaf, body_.real, many);
  body_.rolled = !rounds.empty();
  std::vector<Expr> order;
  if (many && rounds.empty()) order = order_of_many();
  Printer printer = this->printer(scope, [&](const Node& node) {
    const auto found = leaves_.find(&node);
    return found == leaves_.end() ? Leaf() : found->second;
  });
  printer.announce(roots_);
  printer.choose(kernel::choices_around(rounds, roots_, is_leaf));
  printer.roll(std::move(rounds));
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
                           dialect_.words.reference + " in, const vphi_par_" + s +
                           " par) {\n  vphi_out_" + s + " out;\n";
  std::string results = this->results(printer);
  if (roots_.empty()) results += std::string("out.none = ") + literal(0.0L, body_.real) + ";\n";
  if (parameters_.empty()) results += "(void)par;\n";
  if (body_.reads.empty() && body_.draws.empty() && body_.shared.empty()) results += "(void)in;\n";
  if (!body_.pieces.empty()) body_.pieces.back().lines += Code(results, printer.used());
  body_.calls.add(printer.calls());
  return function_item("vphi_site_" + s,
                       head + indented(numbers + lines + results, 2) + "  return out;\n}\n",
                       printer.used());
}

// The order of a long site function. Values that do not fit into a thread's registers are loaded
// again.
std::vector<Expr> BodyBuilder::order_of_many() {
  constexpr int kWords = 160;  // words of live values; the rest are addresses and loads in flight
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

// A piece ends where the next value needs something that has not been read yet.
std::string BodyBuilder::in_pieces(Printer& printer, std::span<const Expr> order) {
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
  Piece last{{}, body_.draws.size(), {}};  // values stored as they were read
  for (std::size_t k = 0; k < there.size(); ++k)
    if (!there[k]) last.reads.push_back(k);
  pieces.push_back(std::move(last));
  return lines;
}

Code BodyBuilder::parameter_function() {
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
Code BodyBuilder::epilogue_function() {
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

}  // namespace vphi::emit
