// The audit's entry in the plug-in: parse, count, prove, and answer as JSON.
#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/audit/clang/dialects.hpp"
#include "compiler/audit/clang/facts.hpp"
#include "runtime/device/plugin/front.hpp"
#include "runtime/device/plugin/guard.hpp"

namespace vphi::plugin {
namespace {

using Function = const clang::FunctionDecl*;

class Auditor : public clang::ASTConsumer {
 public:
  explicit Auditor(std::string& json) : json_(json) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    context_ = &context;
    collect(context.getTranslationUnitDecl());
    for (Function function : functions_) own_[function] = own_facts(*function, context);
    for (Function function : functions_)
      if (is_site(*function)) mark_site(function);
    prove();
    answer();
  }

 private:
  void collect(const clang::DeclContext* scope) {
    for (const clang::Decl* decl : scope->decls()) {
      if (const auto* inner = llvm::dyn_cast<clang::LinkageSpecDecl>(decl)) collect(inner);
      if (const auto* inner = llvm::dyn_cast<clang::NamespaceDecl>(decl)) collect(inner);
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
      if (function && function->isThisDeclarationADefinition() && in_source(function))
        functions_.push_back(function);
    }
  }

  bool in_source(Function function) const {
    const auto& sources = context_->getSourceManager();
    return sources.isInMainFile(sources.getExpansionLoc(function->getLocation()));
  }

  unsigned line(Function function) const {
    const auto& sources = context_->getSourceManager();
    return sources.getPresumedLoc(sources.getExpansionLoc(function->getLocation())).getLine();
  }

  void mark_site(Function function) {
    if (!site_.insert(function).second) return;
    for (Function callee : own_[function].calls) mark_site(callee);
  }

  void violation(Function function, unsigned at, const std::string& what) {
    violations_.push_back(function->getNameAsString() + ", line " + std::to_string(at) + ": " +
                          what);
  }

  void prove() {
    const DataDependence data(functions_);
    for (Function function : functions_) {
      const OwnFacts& own = own_[function];
      if (site_.count(function)) {
        for (const auto& [what, at] : own.site_breaks)
          violation(function, at, what + " in what runs at every site");
        for (const auto& [name, at] : own.unknown)
          violation(function, at, "a call of " + name + ", which is not known to be pure");
      }
      for (const OwnFacts::Condition& condition : own.conditions)
        if (data.depends(condition.expr))
          violation(
              function, condition.line,
              std::string("the condition of ") + condition.of + " depends on floating-point data");
    }
  }

  /// Functions, quotients and roots written out count as what they are: one special function.
  static bool written_out(llvm::StringRef name) {
    for (const char* stem :
         {"vphi_sin_", "vphi_cos_", "vphi_tan_", "vphi_asin_", "vphi_acos_", "vphi_atan_",
          "vphi_atan2_", "vphi_sinh_", "vphi_cosh_", "vphi_tanh_", "vphi_asinh_", "vphi_acosh_",
          "vphi_atanh_", "vphi_erf_", "vphi_log_", "vphi_quotient_", "vphi_root_",
          "vphi_reciprocal_", "vphi_power_near_"}) {
      if (name.starts_with(stem)) return true;
    }
    return false;
  }

  /// Own counts and those of all calls; a call cycle counts once.
  OwnFacts total(Function function, std::set<Function>& open) {
    OwnFacts sum = own_[function];
    open.insert(function);
    for (Function callee : own_[function].calls) {
      if (!own_.count(callee) || open.count(callee)) continue;
      const OwnFacts below = total(callee, open);
      sum.ifs += below.ifs;
      sum.switches += below.switches;
      sum.gotos += below.gotos;
      sum.loops += below.loops;
      sum.shortcuts += below.shortcuts;
      sum.selects += below.selects;
      sum.choices += below.choices;
      sum.minmods += below.minmods;
      sum.branches += below.branches;
      if (written_out(callee->getName())) {
        ++sum.special;
        continue;
      }
      // The least of three stands for three minima and three maxima, or with two numbers for fewer
      // of them, or for the sum of two bounds.
      if (callee->getName().starts_with("vphi_least_")) {
        sum.flops += 6;
        ++sum.minmods;
        continue;
      }
      if (callee->getName().starts_with("vphi_same_")) continue;  // the end of a loop
      sum.loads += below.loads;
      sum.stores += below.stores;
      sum.flops += below.flops;
      sum.special += below.special;
    }
    open.erase(function);
    return sum;
  }

  /// The function of which this is a part: vphi_site_K of vphi_site_before_1_K and of
  /// vphi_site_round_1_K. Null for whole functions.
  Function whole_of(Function function) const {
    const std::string name = function->getNameAsString();
    for (const llvm::StringRef stem : {"vphi_site_before_", "vphi_site_round_"}) {
      llvm::StringRef rest = name;
      if (!rest.consume_front(stem)) continue;
      rest = rest.ltrim("0123456789");
      if (!rest.consume_front("_")) continue;
      for (Function other : functions_)
        if (other->getDeclContext() == function->getDeclContext() &&
            other->getNameAsString() == "vphi_site_" + rest.str())
          return other;
    }
    return nullptr;
  }

  /// How often a site calls a part: once, or in each round.
  int times(Function part) const {
    for (const auto& [function, facts] : own_)
      if (const auto found = facts.rounds.find(part); found != facts.rounds.end())
        return found->second;
    return 1;
  }

  /// Adds what the parts of a site function count; a member that several parts read is one load.
  int add_parts(Function function, OwnFacts& sum) {
    int parts = 0;
    std::set<const clang::FieldDecl*> read = own_[function].read;
    for (Function part : functions_) {
      if (whole_of(part) != function) continue;
      ++parts;
      std::set<Function> open;
      const OwnFacts facts = total(part, open);
      const int rounds = times(part);
      sum.selects += rounds * facts.selects;
      sum.flops += rounds * facts.flops;
      sum.special += rounds * facts.special;
      for (const clang::FieldDecl* field : own_[part].read) sum.loads += read.insert(field).second;
    }
    return parts;
  }

  void answer() {
    llvm::json::Array list;
    for (Function function : functions_) {
      if (whole_of(function)) continue;
      std::set<Function> open;
      OwnFacts facts = total(function, open);
      const int parts = add_parts(function, facts);
      list.push_back(llvm::json::Object{{"name", function->getNameAsString()},
                                        {"line", line(function)},
                                        {"site", site_.count(function) != 0},
                                        {"parts", parts},
                                        {"ifs", facts.ifs},
                                        {"switches", facts.switches},
                                        {"gotos", facts.gotos},
                                        {"loops", facts.loops},
                                        {"shortcuts", facts.shortcuts},
                                        {"selects", facts.selects},
                                        {"choices", facts.choices},
                                        {"minmods", facts.minmods},
                                        {"branches", facts.branches},
                                        {"loads", facts.loads},
                                        {"stores", facts.stores},
                                        {"flops", facts.flops},
                                        {"special", facts.special}});
    }
    llvm::json::Array violations;
    for (const std::string& text : violations_) violations.push_back(text);
    llvm::raw_string_ostream out(json_);
    out << llvm::json::Value(
        llvm::json::Object{{"functions", std::move(list)}, {"violations", std::move(violations)}});
  }

  std::string& json_;
  const clang::ASTContext* context_ = nullptr;
  std::vector<Function> functions_;
  std::map<Function, OwnFacts> own_;
  std::set<Function> site_;
  std::vector<std::string> violations_;
};

class Action : public clang::ASTFrontendAction {
 public:
  explicit Action(std::string& json) : json_(json) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    return std::make_unique<Auditor>(json_);
  }

 private:
  std::string& json_;
};

struct Job {
  std::string source, dialect_name, json, log;
  bool good = false;

  void operator()() {
    const Dialect d = dialect(dialect_name);
    FrontEnd front{
        d.arguments, {{d.file, source}, {"/vphi/include/vphi_dialect.h", d.declarations}}, nullptr};
    Action action(json);
    good = run(front, action, log) && !json.empty();
  }
};

}  // namespace
}  // namespace vphi::plugin

extern "C" int vphi_plugin_audit(const char* source, std::size_t size, const char* dialect,
                                 VphiText* facts, VphiText* log) {
  vphi::plugin::Job job{std::string(source, size), dialect, {}, {}, false};
  std::string crash;
  const bool whole = vphi::plugin::guarded(job, &crash);
  if (whole && job.good) {
    *facts = vphi::plugin::own(job.json);
    return 0;
  }
  *log = vphi::plugin::own(whole ? job.log : crash);
  return 1;
}
