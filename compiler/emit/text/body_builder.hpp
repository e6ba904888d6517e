// Builds a Body (text/body.hpp): body.cpp finds the reads of a site and the values that are the
// same at all sites, body_functions.cpp writes the functions.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/emit/text/body.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/kernel/round_parts.hpp"

namespace vphi::emit {

/// Builds the body of one kernel; the members are the state shared between its parts.
class BodyBuilder {
 public:
  BodyBuilder(const kernel::Kernel& kernel, const Dialect& dialect, const Bindings& bindings,
              bool private_scalars, const std::vector<std::string>& shared, const Handed& handed,
              bool few_registers, Taken taken)
      : kernel_(kernel),
        dialect_(dialect),
        bindings_(bindings),
        shared_(shared.begin(), shared.end()),
        handed_(handed),
        few_registers_(few_registers),
        taken_(taken),
        space_(private_scalars ? "" : "VPHI_GLOBAL ") {}

  Body build();

 private:
  /// Its quotients, roots and extremes are those of walks.
  bool walks() const { return !handed_.empty() || taken_ == Taken::AsPhase; }
  bool uniform(algebra::Expr expr);
  algebra::Expr prepare(algebra::Expr expr);
  algebra::Expr rebuild(algebra::Expr expr);
  algebra::Expr lower_stencil(algebra::Expr expr);
  std::string constant(const algebra::Node& node) const {
    const auto found = factors_.find(&node);
    return found == factors_.end() ? std::string() : found->second.name;
  }
  void name_factor(algebra::Expr factor, const algebra::StencilData& stencil);
  std::string note(const algebra::Node& node) const { return line_note(bindings_, node); }
  std::string scalar_text(const std::string& symbol) const {
    return "scalars[" + slot_text(bindings_, slot(symbol)) + "]";
  }
  void collect(algebra::Expr expr);
  void add_read(const algebra::Node& node);
  void add_site(algebra::Expr expr);
  void add_draw(const algebra::Node& node);
  void add_parameter(algebra::Expr expr);
  std::string family(algebra::Expr expr) const;
  int slot(const std::string& symbol) const;
  void read(const std::string& symbol) { body_.slots_read.push_back(slot(symbol)); }
  Code structs() const;
  void sort_reads(std::span<const algebra::Expr> order);
  Code site_function();
  Printer printer(Scope& scope, std::function<Leaf(const algebra::Node&)> leaf);
  std::string results(Printer& printer);
  std::string named_numbers(Scope& scope);
  using Members = std::unordered_map<const algebra::Node*, std::string>;
  /// A part of a site function that is cut at loops of rounds.
  struct SitePart {
    std::string name;
    Members known;  ///< values that it reads from the struct of the lane
    std::vector<algebra::Expr> roots = {};
    std::vector<std::string> members = {};  ///< that it hands on, for each of the roots
    bool input = true;                      ///< takes `in`
    bool last = false;                      ///< makes `out`
  };
  Code site_in_parts(const kernel::RoundParts& parts);
  Code loop_functions(const kernel::Rounds& rounds, std::span<const algebra::Expr> made,
                      Members& known);
  Code part_function(const SitePart& part);
  std::string lane_member(algebra::Expr expr);
  bool differs(const algebra::Node& node) const;
  std::vector<algebra::Expr> order_of_many();
  std::string in_pieces(Printer& printer, std::span<const algebra::Expr> order);
  Code parameter_function();
  Code epilogue_function();

  const kernel::Kernel& kernel_;
  const Dialect& dialect_;
  const Bindings& bindings_;
  std::set<std::string> shared_;  // symbols that are members of `in`
  const Handed& handed_;
  bool few_registers_;
  Taken taken_;
  std::string space_;  // address space of the scalars
  Body body_;
  std::vector<algebra::Expr> roots_;  // stores, then reductions
  std::unordered_map<const algebra::Node*, algebra::Expr> prepared_;
  std::unordered_map<const algebra::Node*, bool> per_site_, per_step_;
  std::unordered_map<const algebra::Node*, Leaf> leaves_;  // in the site function
  std::unordered_map<const algebra::Node*, std::string> read_members_;
  std::unordered_map<const algebra::Node*, bool> seen_;
  std::vector<std::pair<std::string, algebra::Expr>> parameters_;
  std::map<const algebra::Node*, FactorName>
      factors_;  // names of numbers that are powers of dx, for the readable form
  Scope members_, parameter_names_, result_names_;
};

}  // namespace vphi::emit
