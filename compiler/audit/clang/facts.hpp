// Counts and proofs on clang's syntax tree; compiler/audit/audit.hpp states the rules.
#pragma once

#include <clang/AST/ASTContext.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace vphi::plugin {

/// Counts for the body of one function, without the functions that it calls. What a counted loop of
/// a site function holds counts once for each round.
struct OwnFacts {
  int ifs = 0, switches = 0, gotos = 0, loops = 0, shortcuts = 0, selects = 0, branches = 0;
  int choices = 0, minmods = 0;
  int assembly = 0, loads = 0, stores = 0, flops = 0, special = 0;
  std::vector<const clang::FunctionDecl*> calls;  ///< in order, with repetitions
  /// Functions that lanes call in each of their rounds, with the number of rounds.
  std::map<const clang::FunctionDecl*, int> rounds;
  std::set<const clang::FieldDecl*> read;  ///< members of arguments that are counted as loads
  /// Called functions that are neither in the source nor in libm.
  std::vector<std::pair<std::string, unsigned>> unknown;
  /// Violations of the rules of site functions: (sentence, line).
  std::vector<std::pair<std::string, unsigned>> site_breaks;
  /// Conditions and loop bounds: (expression, what it controls, line).
  struct Condition {
    const clang::Expr* expr;
    const char* of;
    unsigned line;
  };
  std::vector<Condition> conditions;
};

/// Whether the function computes a site: its name says so.
bool is_site(const clang::FunctionDecl& function);

OwnFacts own_facts(const clang::FunctionDecl& function, const clang::ASTContext& context);

/// Declarations whose value may depend on floating-point data: integers and truth values that come
/// from it by comparison or conversion, also through assignments and calls.
class DataDependence {
 public:
  explicit DataDependence(const std::vector<const clang::FunctionDecl*>& functions);
  bool depends(const clang::Expr* expr) const;

 private:
  std::set<const clang::ValueDecl*> tainted_;
};

}  // namespace vphi::plugin
