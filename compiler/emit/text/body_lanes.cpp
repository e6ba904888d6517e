// The site function in parts, between which the lanes of vectors make rounds together.
#include <fmt/format.h>

#include "compiler/emit/text/body_builder.hpp"
#include "compiler/emit/text/layout.hpp"

namespace vphi::emit {

using algebra::Expr;
using algebra::Node;

/// Whether a value that is not computed is the site's own.
bool BodyBuilder::differs(const Node& node) const {
  const auto found = leaves_.find(&node);
  return found != leaves_.end() && found->second.of == "in";
}

/// A member of the struct of a lane.
std::string BodyBuilder::lane_member(Expr expr) {
  const std::string stem = family(expr);
  body_.lane_members.push_back(result_names_.fresh((stem.empty() ? "w" : stem) + "_kept"));
  return body_.lane_members.back();
}

Code BodyBuilder::part_function(const SitePart& part) {
  const std::string& s = body_.suffix;
  const std::string lane = "vphi_lane_" + s, reference = dialect_.words.reference;
  Scope scope;
  for (const char* word : {"in", "out", "par", "lane", "held"}) scope.fresh(word);
  std::string lines = named_numbers(scope);
  Printer printer = this->printer(scope, [&](const Node& node) -> Leaf {
    if (const auto found = part.known.find(&node); found != part.known.end())
      return {"lane", found->second};
    const auto found = leaves_.find(&node);
    return found == leaves_.end() ? Leaf() : found->second;
  });
  printer.announce(part.roots);
  if (part.last) lines += results(printer);
  for (std::size_t i = 0; i < part.members.size(); ++i)
    lines += printer.assignment("held." + part.members[i], part.roots[i]);
  lines += "(void)lane;\n(void)par;\n";
  if (part.input) lines += "(void)in;\n";
  body_.calls.add(printer.calls());
  const std::string type = part.last ? "vphi_out_" + s : lane, made = part.last ? "out" : "held";
  std::string head = "VPHI_INLINE " + type + " " + part.name + "(";
  if (part.input) head += "const vphi_in_" + s + reference + " in, ";
  head += fmt::format("const {}{} lane,\n    const vphi_par_{} par) {{\n  {} {};\n", lane,
                      reference, s, type, made);
  return Code::item(part.name, Code(head + indented(lines, 2) + "  return " + made + ";\n}\n",
                                    printer.used())) +
         Code(std::string("\n"));
}

/// The part before a loop of rounds, and a round. `known`: members of the values that earlier
/// parts handed on; those of this one and of the loop are added.
Code BodyBuilder::loop_functions(const kernel::Rounds& rounds, std::span<const Expr> made,
                                 Members& known) {
  const std::size_t number = body_.loops.size() + 1;
  LaneLoop loop;
  loop.times = rounds.times;
  SitePart before{fmt::format("vphi_site_before_{}_{}", number, body_.suffix), known};
  for (Expr value : made) {
    before.members.push_back(lane_member(value));
    known[value.get()] = before.members.back();
  }
  before.roots.assign(made.begin(), made.end());
  SitePart round{fmt::format("vphi_site_round_{}_{}", number, body_.suffix), known};
  round.input = false;
  for (const kernel::RoundValue& value : rounds.values) {
    const std::string member = lane_member(value.first);
    round.roots.push_back(value.first);
    round.members.push_back(member);
    known[value.last.get()] = member;
    if (!value.before) continue;
    before.roots.push_back(value.before);
    before.members.push_back(member);
    loop.watched.push_back(member);
    round.known[value.before.get()] = member;
  }
  loop.made = before.members;
  loop.values = round.members;
  body_.loops.push_back(std::move(loop));
  return part_function(before) + part_function(round);
}

Code BodyBuilder::site_in_parts(const kernel::RoundParts& parts) {
  Code text;
  Members known;
  for (std::size_t k = 0; k < parts.loops.size(); ++k)
    text += loop_functions(parts.loops[k], parts.made[k], known);
  SitePart last{"vphi_site_" + body_.suffix, known};
  last.roots = roots_;
  last.last = true;
  return text + part_function(last);
}

}  // namespace vphi::emit
