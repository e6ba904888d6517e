#include "embed/report_data.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "compiler/explain.hpp"
#include "compiler/typeset.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/units.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/fft/fft.hpp"
#include "runtime/report/read.hpp"

namespace vphi::embed {

using vphi::report::Report;

namespace {

std::string equals(const std::string& left, const std::string& right) {
  return "<mrow>" + left + "<mo>=</mo>" + right + "</mrow>";
}

std::string origin_text(const Origin& o) {
  if (o.line == 0) return "";
  return fmt::format("{}line {}: {}", o.library ? o.file + " " : "", o.line, o.text);
}

vphi::report::EquationGroup group(std::string title, std::string note,
                                  const std::vector<ExplainedEquation>& equations) {
  vphi::report::EquationGroup g{std::move(title), std::move(note), {}};
  for (const ExplainedEquation& e : equations) {
    vphi::report::Equation q;
    q.mathml = equals(e.left.mathml, e.right.mathml);
    q.text = e.left.text + " = " + e.right.text;
    for (const ExplainedTerm& t : e.terms)
      if (t.origin.line > 0) q.terms.push_back({t.formula.mathml, origin_text(t.origin)});
    g.equations.push_back(std::move(q));
  }
  return g;
}

void take_equations(Report& report, const Explanation& e) {
  report.equations.clear();
  if (!e.physical.empty())
    report.equations.push_back(
        group("In physical units", "A prime is the derivative by physical time.", e.physical));
  if (!e.program.empty())
    report.equations.push_back(
        group("In program units",
              fmt::format(
                  "Fields times A = {:.9g}, lengths times B = {:.9g}, d\u03b7 = B a^s dt with s = "
                  "{:.9g}. Lattice spacing {:.9g} ({:.9g} physical), step {:.9g} ({:.9g} "
                  "physical).",
                  e.A, e.B, e.s, e.dx, e.dx_physical, e.dt, e.dt_physical),
              e.program));
  for (const ExplainedStencil& s : e.stencils) {
    vphi::report::EquationGroup g;
    g.title = "Laplacian " + s.name;
    g.note = fmt::format("{} points, order {}, leading error {}; largest value {} = {:.6g}.",
                         s.points, s.order, s.isotropic ? "isotropic" : "depends on the direction",
                         s.largest, s.largest_value);
    const std::string k2 =
        "<mrow><msubsup><mi>k</mi><mtext>eff</mtext><mn>2</mn></msubsup><msup><mrow><mi>\u0394</mi>"
        "<mi>x</mi></mrow><mn>2</mn></msup></mrow>";
    g.equations.push_back({equals(k2, s.symbol.mathml), "k_eff^2*dx^2 = " + s.symbol.text, {}});
    report.equations.push_back(std::move(g));
  }
}

/// The unit of lengths and times as a label: "fm", "1/GeV"; empty without `units`
/// (docs/rules.md rule 9).
std::string base_length(const dsl::Resolved& resolved) {
  std::string base;
  if (const dsl::Clause* units = resolved.clause("units"))
    for (const dsl::Item& item : units->items)
      if (item.value && base.empty()) base = item.value->text;
  const auto first_unit = [&](const dsl::Line& line) {
    dsl::for_each(line, [&](const dsl::Expr& e) {
      if (e.kind == dsl::ExprKind::Unit && base.empty()) base = e.text;
    });
  };
  for (const dsl::Line& line : resolved.model.lines)
    if (line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "lattice") first_unit(line);
  for (const dsl::Line& line : resolved.model.lines) first_unit(line);
  if (base.empty()) return "";
  if (base == "reduced_planck") return "1/M\u209a";
  if (base == "planck") return "1/m\u209a";
  const auto unit = dsl::find_unit(base);
  if (!unit) return "";
  return unit->power == -1 ? base : unit->power == 1 ? "1/" + base : "";
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) {
      const auto colon = line.find(':');
      return colon == std::string::npos ? "" : line.substr(colon + 2);
    }
  return "";
}

}  // namespace

void take_compilation(Report& report, const Compilation& c, const CompileOptions& options) {
  const dsl::ModelText& model = c.resolved.model;
  report.documentation = model_documentation(model);
  if (report.title.empty()) report.title = model.title;
  if (report.model.empty()) report.model = model.name;
  report.statements.clear();
  for (const TypesetLine& line : typeset_model(model))
    report.statements.push_back({line.mathml, line.text, line.note, line.line});

  const auto written = typeset_parameters(model);
  for (const TypesetParameter& p : written) {
    auto found = std::find_if(report.parameters.begin(), report.parameters.end(),
                              [&](const auto& known) { return known.name == p.name; });
    if (found == report.parameters.end()) continue;
    found->mathml = "<mrow>" + p.mathml + "</mrow>";
    found->written = p.written;
    found->note = p.note;
    found->changed = std::any_of(options.set.begin(), options.set.end(),
                                 [&](const auto& set) { return set.first == p.name; });
  }
  if (!written.empty())  // definitions that the compiler folded stand among the formulas
    std::erase_if(report.parameters, [](const auto& p) { return p.written.empty(); });

  const Explanation e = explain(c);
  take_equations(report, e);
  const std::string length = base_length(c.resolved);
  report.length_unit = length;
  if (report.unit.empty()) report.time_name = length.empty() ? "t" : "t [" + length + "]";
  for (const std::string& remark : e.remarks) report.notes.push_back(remark);
  const auto sources = c.resolved.sources();
  for (const dsl::Diagnostic& d : c.diagnostics.all()) {
    if (d.severity == dsl::Severity::Error) continue;
    std::string text = fmt::format("{}: {}", d.code, d.message);
    if (!d.span.empty() && d.span.file == 0 && !sources.empty() && sources[0] != nullptr)
      text += fmt::format(" (line {})", sources[0]->position(d.span.begin).line);
    if (!d.hint.empty()) text += "; " + d.hint;
    (d.severity == dsl::Severity::Warning ? report.warnings : report.notes).push_back(text);
  }
  report.citations = citations(c);
}

void take_machine(Report& report, const runtime::DeviceInfo& device) {
  report.versions.clear();
  report.versions.emplace_back("vphi", VPHI_VERSION);
  report.versions.emplace_back("Device's interface", device.id);
  report.versions.emplace_back("Driver", device.driver);
  if (device.target == program::Target::Native)
    report.versions.emplace_back("Compiler of kernels", runtime::native_compiler_description());
  report.versions.emplace_back("Processor", processor());
  report.versions.emplace_back("Fourier transforms", fft::engine_name());
  utsname system{};
  if (uname(&system) == 0)
    report.versions.emplace_back(
        "System", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  std::erase_if(report.versions, [](const auto& v) { return v.second.empty(); });
}

Report begin_report(const program::Program& program, const Compilation* compilation,
                    const CompileOptions& options, const runtime::DeviceInfo& device) {
  Report page;
  vphi::report::take_program(page, program);
  if (compilation != nullptr) take_compilation(page, *compilation, options);
  take_machine(page, device);
  page.device = device.name;
  return page;
}

void finish_report(Report& page, const program::Program& program, const runtime::RunResult& result,
                   double copy_bandwidth, double flops) {
  vphi::report::take_result(page, program, result);
  page.speed.copy_bandwidth = copy_bandwidth;
  page.speed.flops = flops;
  for (const auto& file : result.files)
    if (std::filesystem::path(file).extension() == ".h5") {
      Report from_file;
      vphi::report::read_results(from_file, file, vphi::report::Origin::Ours);
      vphi::report::take_fields(page, std::move(from_file));
    }
  vphi::report::name_axes(page, program);
}

}  // namespace vphi::embed
