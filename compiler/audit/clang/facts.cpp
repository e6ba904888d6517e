#include "compiler/audit/clang/facts.hpp"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/audit/clang/functions.hpp"

namespace vphi::plugin {
namespace {

using clang::Expr;

bool is_floating(clang::QualType type) {
  if (type.isNull()) return false;
  if (const auto* vector = type->getAs<clang::VectorType>())
    return vector->getElementType()->isRealFloatingType();
  return type->isRealFloatingType();
}

/// Local arrays live in registers or in the stack; memory is what a pointer leads to.
bool through_pointer(const Expr* expr) {
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr)) {
    const Expr* base = subscript->getBase()->IgnoreParenImpCasts();
    return base->getType()->isPointerType();
  }
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expr);
  return unary && unary->getOpcode() == clang::UO_Deref;
}

/// The member of a struct argument (read) or of a local struct (written): a site's data.
const clang::FieldDecl* member_of(const Expr* expr, bool parameter) {
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr);
  if (!member || member->isArrow()) return nullptr;
  const auto* base = llvm::dyn_cast<clang::DeclRefExpr>(member->getBase()->IgnoreParenImpCasts());
  if (!base || llvm::isa<clang::ParmVarDecl>(base->getDecl()) != parameter) return nullptr;
  return llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
}

/// A whole number that the program keeps among its scalars: how many steps a launch takes, whether
/// the clock of all instances runs. It is a counter, and the same for all.
bool reads_counter(const Expr* expr) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
  const auto* callee = call ? call->getDirectCallee() : nullptr;
  return callee && callee->getNameAsString() == "vphi_count_of";
}

/// Calls visit(expr) for each expression below, outermost first, but not inside sizeof, nor inside
/// what `skip` picks.
template <class Visit>
bool any_expression(const clang::Stmt* s, const Visit& visit, bool (*skip)(const Expr*) = nullptr) {
  if (!s || llvm::isa<clang::UnaryExprOrTypeTraitExpr>(s)) return false;
  if (const auto* expr = llvm::dyn_cast<Expr>(s)) {
    if (skip && skip(expr)) return false;
    if (visit(expr)) return true;
  }
  for (const clang::Stmt* child : s->children())
    if (any_expression(child, visit, skip)) return true;
  return false;
}

/// A value that exists already or is plain arithmetic: nothing that a select would have to skip.
bool plain_value(const Expr* expr, const clang::ASTContext& context) {
  return !expr->HasSideEffects(context) &&
         !any_expression(expr, [](const Expr* part) { return llvm::isa<clang::CallExpr>(part); });
}

/// One arithmetic instruction from registers to a register: no memory, no jump, no side effect.
bool is_pure(const clang::GCCAsmStmt& s) {
  if (s.isVolatile() || s.getNumClobbers() != 0) return false;
  for (unsigned i = 0; i < s.getNumOutputs(); ++i) {
    const auto to = s.getOutputConstraint(i);
    if (to != "=f" && to != "=d" && to != "=r") return false;
  }
  for (unsigned i = 0; i < s.getNumInputs(); ++i)
    if (s.getInputConstraint(i) != "f" && s.getInputConstraint(i) != "d") return false;
  return is_arithmetic_instruction(s.getAsmString()->getString());
}

/// The declaration that an expression refers to.
const clang::ValueDecl* named_by(const Expr* expr) {
  const auto* reference =
      expr ? llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts()) : nullptr;
  return reference ? reference->getDecl() : nullptr;
}

std::optional<std::int64_t> whole_literal(const Expr* expr) {
  const auto* number =
      expr ? llvm::dyn_cast<clang::IntegerLiteral>(expr->IgnoreParenImpCasts()) : nullptr;
  return number ? std::optional(number->getValue().getSExtValue()) : std::nullopt;
}

/// Whether an expression that is read is the counter, or a choice of it and others.
bool is_choice_of(const Expr* read, const clang::ValueDecl* counter) {
  if (named_by(read) == counter) return true;
  const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(read->IgnoreParens());
  return choice && !choice->HasSideEffects(counter->getASTContext()) &&
         (is_choice_of(choice->getTrueExpr(), counter) ||
          is_choice_of(choice->getFalseExpr(), counter));
}

/// Whether a loop may end early, or the body may change its counter: by a jump, or because the
/// counter is not only read.
bool leaves_or_writes(const clang::Stmt* s, const clang::ValueDecl* counter) {
  if (!s) return false;
  if (llvm::isa<clang::BreakStmt, clang::ContinueStmt, clang::ReturnStmt, clang::GotoStmt>(s))
    return true;
  if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(s))
    if (cast->getCastKind() == clang::CK_LValueToRValue &&
        is_choice_of(cast->getSubExpr(), counter))
      return false;
  if (const auto* expr = llvm::dyn_cast<Expr>(s); expr && llvm::isa<clang::DeclRefExpr>(expr))
    return named_by(expr) == counter;
  for (const clang::Stmt* child : s->children())
    if (leaves_or_writes(child, counter)) return true;
  return false;
}

/// `if (name) break;` at the end of the body of a loop: nothing is left out of a round. Null where
/// the body has no such end.
const clang::Stmt* end_of_rounds(const clang::Stmt* body) {
  const auto* all = llvm::dyn_cast_or_null<clang::CompoundStmt>(body);
  const auto* last =
      all && !all->body_empty() ? llvm::dyn_cast<clang::IfStmt>(all->body_back()) : nullptr;
  return last && !last->getElse() && named_by(last->getCond()) &&
                 llvm::isa<clang::BreakStmt>(last->getThen())
             ? last
             : nullptr;
}

/// Rounds of `for (int i = 0; i < N; ++i)` with a literal N whose body neither changes i nor ends
/// the loop but after whole rounds (`end_of_rounds`); 0 for other loops.
int rounds_of(const clang::ForStmt& s) {
  const auto* init = llvm::dyn_cast_or_null<clang::DeclStmt>(s.getInit());
  const auto* counter = init && init->isSingleDecl()
                            ? llvm::dyn_cast<clang::VarDecl>(init->getSingleDecl())
                            : nullptr;
  const auto* test = llvm::dyn_cast_or_null<clang::BinaryOperator>(s.getCond());
  const auto* step = llvm::dyn_cast_or_null<clang::UnaryOperator>(s.getInc());
  if (!counter || !counter->getType()->isIntegerType() || !test || !step) return 0;
  const auto rounds = whole_literal(test->getRHS());
  const bool counts = whole_literal(counter->getInit()) == 0 && test->getOpcode() == clang::BO_LT &&
                      named_by(test->getLHS()) == counter && step->isIncrementOp() &&
                      named_by(step->getSubExpr()) == counter;
  if (!counts || !rounds || *rounds < 1 || *rounds > 1000000) return 0;
  const clang::Stmt* end = end_of_rounds(s.getBody());
  for (const clang::Stmt* part : s.getBody()->children())
    if (part != end && leaves_or_writes(part, counter)) return 0;
  return static_cast<int>(*rounds);
}

/// The variables that an arm of a choice sets, where it holds only declarations, counted loops,
/// further choices and assignments to local variables; nothing for other statements.
std::optional<std::set<const clang::ValueDecl*>> set_in_arm(const clang::Stmt* arm);

bool holds_loop(const clang::Stmt* s) {
  return llvm::isa<clang::ForStmt>(s) || std::ranges::any_of(s->children(), [](const auto* part) {
           return part && holds_loop(part);
         });
}

/// The values of an `if` with a named condition whose arms set the same variables, one of them by
/// a loop: what the loop finds, or what is known without it. 0 for other statements.
int values_of_choice(const clang::IfStmt& s) {
  if (!named_by(s.getCond()) || !s.getElse() ||
      !(holds_loop(s.getThen()) || holds_loop(s.getElse())))
    return 0;
  const auto yes = set_in_arm(s.getThen()), no = set_in_arm(s.getElse());
  return yes && no && *yes == *no ? static_cast<int>(yes->size()) : 0;
}

std::optional<std::set<const clang::ValueDecl*>> set_in_arm(const clang::Stmt* arm) {
  const auto* all = llvm::dyn_cast_or_null<clang::CompoundStmt>(arm);
  if (!all) return {};
  std::set<const clang::ValueDecl*> set;
  for (const clang::Stmt* part : all->body()) {
    const auto* with_hint = llvm::dyn_cast<clang::AttributedStmt>(part);  // how to unroll a loop
    if (with_hint) part = with_hint->getSubStmt();
    const auto* loop = llvm::dyn_cast<clang::ForStmt>(part);
    const auto* choice = llvm::dyn_cast<clang::IfStmt>(part);
    if (llvm::isa<clang::DeclStmt>(part) || (loop && rounds_of(*loop) > 0) ||
        (choice && values_of_choice(*choice) > 0))
      continue;
    const auto* assigned = llvm::dyn_cast<clang::BinaryOperator>(part);
    const auto* to = assigned && assigned->getOpcode() == clang::BO_Assign
                         ? llvm::dyn_cast_or_null<clang::VarDecl>(named_by(assigned->getLHS()))
                         : nullptr;
    if (!to || !to->isLocalVarDecl()) return {};
    set.insert(to);
  }
  return set;
}

/// Calls of functions that are defined in the source, in this statement.
std::vector<const clang::FunctionDecl*> calls_in(const clang::Stmt* s) {
  std::vector<const clang::FunctionDecl*> found;
  any_expression(s, [&](const Expr* part) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(part);
    const auto* callee = call ? call->getDirectCallee() : nullptr;
    if (callee && callee->getDefinition()) found.push_back(callee->getDefinition());
    return false;
  });
  return found;
}

/// The function of a round that lanes make together in this loop (site_round_), which may end after
/// any whole round; null for other loops.
const clang::FunctionDecl* round_of_lanes(const clang::ForStmt& s) {
  if (!end_of_rounds(s.getBody()) || rounds_of(s) == 0) return nullptr;
  for (const clang::FunctionDecl* function : calls_in(s.getBody()))
    if (function->getNameAsString().starts_with("vphi_site_round_")) return function;
  return nullptr;
}

class Counter : public clang::RecursiveASTVisitor<Counter> {
 public:
  Counter(const clang::ASTContext& context, OwnFacts& facts, bool site)
      : context_(context), facts_(facts), site_(site) {}

  bool VisitIfStmt(clang::IfStmt* s) {
    if (const int values = site_ ? values_of_choice(*s) : 0; values > 0) {
      facts_.selects += values * times_, facts_.choices += values * times_;
      return true;
    }
    ++facts_.ifs;
    site_break("an if", s->getBeginLoc());
    return condition(s->getCond(), "an if", s->getBeginLoc());
  }
  bool VisitSwitchStmt(clang::SwitchStmt* s) {
    ++facts_.switches;
    site_break("a switch", s->getBeginLoc());
    return condition(s->getCond(), "a switch", s->getBeginLoc());
  }
  bool VisitGotoStmt(clang::GotoStmt* s) { return jump(s->getBeginLoc()); }
  bool VisitIndirectGotoStmt(clang::IndirectGotoStmt* s) { return jump(s->getBeginLoc()); }
  // What a counted loop of a site function holds counts once for each of its rounds.
  bool TraverseForStmt(clang::ForStmt* s) {
    const int rounds = site_ ? rounds_of(*s) : 0;
    ++facts_.loops;
    if (const auto* round = site_ ? nullptr : round_of_lanes(*s)) {
      facts_.rounds[round] = rounds_of(*s);
      traverse_whole_rounds(*s);
      return true;
    }
    if (rounds == 0) {
      site_break("a loop", s->getBeginLoc());
      condition(s->getInc(), "a loop", s->getBeginLoc());
      condition(s->getCond(), "a loop", s->getBeginLoc());
      return RecursiveASTVisitor::TraverseForStmt(s);
    }
    const int outer = std::exchange(times_, times_ * rounds);
    traverse_whole_rounds(*s);
    times_ = outer;
    return true;
  }
  bool VisitWhileStmt(clang::WhileStmt* s) {
    loop(s->getBeginLoc());
    return condition(s->getCond(), "a loop", s->getBeginLoc());
  }
  bool VisitDoStmt(clang::DoStmt* s) {
    loop(s->getBeginLoc());
    return condition(s->getCond(), "a loop", s->getBeginLoc());
  }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt* s) { return loop(s->getBeginLoc()); }
  bool VisitCXXTryStmt(clang::CXXTryStmt* s) { return site_break("a try", s->getBeginLoc()); }
  bool VisitGCCAsmStmt(clang::GCCAsmStmt* s) {
    ++facts_.assembly;
    if (is_pure(*s)) {
      facts_.special += times_;
      return true;
    }
    return site_break("inline assembly", s->getBeginLoc());
  }
  bool VisitStmtExpr(clang::StmtExpr* s) {
    return site_break("a statement expression", s->getBeginLoc());
  }

  bool VisitConditionalOperator(clang::ConditionalOperator* s) {
    const bool pure =
        plain_value(s->getTrueExpr(), context_) && plain_value(s->getFalseExpr(), context_);
    if (pure) {
      facts_.selects += times_;  // may depend on data: both values exist already
      return true;
    }
    ++facts_.branches;
    site_break("a conditional operator with a call or side effect in an arm", s->getBeginLoc());
    return condition(s->getCond(), "a conditional operator with side effects", s->getBeginLoc());
  }
  bool VisitBinaryConditionalOperator(clang::BinaryConditionalOperator* s) {
    ++facts_.branches;
    site_break("a conditional operator without a middle", s->getBeginLoc());
    return condition(s->getCommon(), "a conditional operator", s->getBeginLoc());
  }

  bool VisitBinaryOperator(clang::BinaryOperator* s) {
    if (s->isLogicalOp()) {
      ++facts_.shortcuts;
      site_break("a short-circuit (&& or ||)", s->getOperatorLoc());
      condition(s->getLHS(), "a short-circuit", s->getOperatorLoc());
      return true;
    }
    if (s->isAssignmentOp()) write(s->getLHS(), s->isCompoundAssignmentOp());
    const bool floating =
        is_floating(s->getLHS()->getType()) || is_floating(s->getRHS()->getType());
    const auto is = [&](auto... opcodes) { return ((s->getOpcode() == opcodes) || ...); };
    if (floating &&
        (s->isComparisonOp() || is(clang::BO_Add, clang::BO_Sub, clang::BO_Mul, clang::BO_AddAssign,
                                   clang::BO_SubAssign, clang::BO_MulAssign)))
      facts_.flops += times_;
    if (floating && is(clang::BO_Div, clang::BO_DivAssign)) facts_.special += times_;
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* s) {
    if (s->getOpcode() == clang::UO_Minus && is_floating(s->getType()) &&
        !llvm::isa<clang::FloatingLiteral>(s->getSubExpr()->IgnoreParenImpCasts()))
      facts_.flops += times_;
    if (s->isIncrementDecrementOp()) write(s->getSubExpr(), true);
    return true;
  }

  // Counts reads: every value read from an object passes through this conversion.
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* s) {
    if (s->getCastKind() != clang::CK_LValueToRValue) return true;
    const Expr* from = s->getSubExpr()->IgnoreParens();
    if (!is_floating(from->getType())) return true;
    if (through_pointer(from)) facts_.loads += times_;
    if (const auto* field = member_of(from, true))
      if (is_data(field) && facts_.read.insert(field).second) ++facts_.loads;
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* s) {
    const clang::FunctionDecl* callee = s->getDirectCallee();
    if (!callee) {
      facts_.unknown.emplace_back("a function pointer", line(s->getBeginLoc()));
      return true;
    }
    if (const clang::FunctionDecl* body = callee->getDefinition()) {
      facts_.calls.insert(facts_.calls.end(), static_cast<std::size_t>(times_), body);
      return true;
    }
    const std::string name = callee->getNameAsString();
    const KnownCost cost = known_cost(name);
    if (cost.flops < 0)
      facts_.unknown.emplace_back(name, line(s->getBeginLoc()));
    else
      facts_.flops += times_ * cost.flops;
    facts_.special += times_ * cost.special;
    return true;
  }

 private:
  void traverse_whole_rounds(clang::ForStmt& s) {
    const clang::Stmt* end = end_of_rounds(s.getBody());
    for (clang::Stmt* part : s.getBody()->children())
      if (part != end) TraverseStmt(part);
  }
  /// Per-step numbers are the same at every site, and what a lane hands on stays in the caches: no
  /// traffic.
  static bool is_data(const clang::FieldDecl* field) {
    const auto* type = field->getParent()->getTypedefNameForAnonDecl();
    const std::string name = type ? type->getNameAsString() : field->getParent()->getNameAsString();
    return !name.starts_with("vphi_par_") && !name.starts_with("vphi_lane_");
  }
  unsigned line(clang::SourceLocation at) const {
    const auto& sources = context_.getSourceManager();
    return sources.getPresumedLoc(sources.getExpansionLoc(at)).getLine();
  }
  bool site_break(const char* what, clang::SourceLocation at) {
    facts_.site_breaks.emplace_back(what, line(at));
    return true;
  }
  bool jump(clang::SourceLocation at) {
    ++facts_.gotos;
    return site_break("a goto", at);
  }
  bool loop(clang::SourceLocation at) {
    ++facts_.loops;
    return site_break("a loop", at);
  }
  bool condition(const Expr* expr, const char* of, clang::SourceLocation at) {
    if (expr) facts_.conditions.push_back({expr, of, line(at)});
    return true;
  }
  void write(const Expr* to, bool reads_too) {
    to = to->IgnoreParens();
    if (!is_floating(to->getType())) return;
    if (through_pointer(to)) {
      facts_.stores += times_;
      facts_.loads += times_ * reads_too;
    }
    if (const auto* field = member_of(to, false))
      if (is_data(field) && written_.insert(field).second) ++facts_.stores;
  }

  const clang::ASTContext& context_;
  OwnFacts& facts_;
  bool site_;      ///< of a site function
  int times_ = 1;  ///< how often what is visited runs
  std::set<const clang::FieldDecl*> written_;
};

/// The variable or member behind an assigned expression: a[i].b -> member b, *p -> p.
const clang::ValueDecl* target_of(const Expr* expr) {
  expr = expr->IgnoreParenImpCasts();
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expr)) return reference->getDecl();
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) return member->getMemberDecl();
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr))
    return target_of(subscript->getBase());
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expr))
    return target_of(unary->getSubExpr());
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expr))
    return target_of(cast->getSubExpr());
  return nullptr;
}

/// Reached through such a pointer or array, a number has a floating type and is known by it.
bool points_to_numbers(clang::QualType type) {
  if (const auto* array = type->getAsArrayTypeUnsafe()) return is_floating(array->getElementType());
  return type->isPointerType() && is_floating(type->getPointeeType());
}

/// One pass of spreading; `changed` says whether another is needed.
class Spread : public clang::RecursiveASTVisitor<Spread> {
 public:
  Spread(const DataDependence& data, std::set<const clang::ValueDecl*>& tainted)
      : data_(data), tainted_(tainted) {}
  bool changed = false;
  const clang::FunctionDecl* function = nullptr;

  bool VisitVarDecl(clang::VarDecl* decl) {
    if (decl->hasInit() && data_.depends(decl->getInit())) add(decl);
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* s) {
    if (s->isAssignmentOp() && data_.depends(s->getRHS())) add(target_of(s->getLHS()));
    return true;
  }
  bool VisitReturnStmt(clang::ReturnStmt* s) {
    if (s->getRetValue() && data_.depends(s->getRetValue())) add(function);
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* s) {
    const clang::FunctionDecl* callee = s->getDirectCallee();
    const clang::FunctionDecl* body = callee ? callee->getDefinition() : nullptr;
    if (!body) return true;
    for (unsigned i = 0; i < s->getNumArgs() && i < body->getNumParams(); ++i)
      if (data_.depends(s->getArg(i))) add(body->getParamDecl(i));
    return true;
  }

 private:
  void add(const clang::ValueDecl* decl) {
    if (!decl) return;
    const clang::QualType type = llvm::isa<clang::FunctionDecl>(decl)
                                     ? llvm::cast<clang::FunctionDecl>(decl)->getReturnType()
                                     : decl->getType();
    // Pointers and structs of numbers are not values: what is read through them is seen there.
    if (type->isRecordType() || points_to_numbers(type)) return;
    changed = tainted_.insert(decl).second || changed;
  }
  const DataDependence& data_;
  std::set<const clang::ValueDecl*>& tainted_;
};

}  // namespace

bool is_site(const clang::FunctionDecl& function) {
  return function.getNameAsString().find("site_") != std::string::npos;
}

OwnFacts own_facts(const clang::FunctionDecl& function, const clang::ASTContext& context) {
  OwnFacts facts;
  Counter counter(context, facts, is_site(function));
  counter.TraverseStmt(function.getBody());
  return facts;
}

DataDependence::DataDependence(const std::vector<const clang::FunctionDecl*>& functions) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const clang::FunctionDecl* function : functions) {
      Spread spread(*this, tainted_);
      spread.function = function;
      spread.TraverseStmt(function->getBody());
      changed = changed || spread.changed;
    }
  }
}

bool DataDependence::depends(const Expr* expr) const {
  const auto number = [&](const Expr* part) {
    if (is_floating(part->getType())) return true;
    // The address of an array of numbers is not a number, whatever the index.
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(part))
      return tainted_.count(reference->getDecl()) != 0;
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(part))
      return tainted_.count(member->getMemberDecl()) != 0;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(part))
      if (const auto* callee = call->getDirectCallee())
        return callee->getDefinition() && tainted_.count(callee->getDefinition()) != 0;
    return false;
  };
  return any_expression(expr, number, reads_counter);
}

}  // namespace vphi::plugin
