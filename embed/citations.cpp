// The references to cite for a model.
#include <algorithm>
#include <cctype>

#include "embed/report_data.hpp"

namespace vphi::embed {
namespace {

using vphi::report::Citation;

/// Features that are not in a library text.
struct Row {
  const char *used_for, *reference, *link;
  bool (*used)(const Compilation&);
};

bool output_of(const Compilation& c, physics::Observable::Kind kind) {
  if (!c.system) return false;
  for (const auto& clause : c.system->outputs)
    for (const auto& o : clause.observables)
      if (o.kind == kind) return true;
  return false;
}

bool vacuum(const Compilation& c) {
  return c.system &&
         std::any_of(c.system->random.begin(), c.system->random.end(),
                     [](const auto& r) { return r.kind == physics::RandomField::Kind::Vacuum; });
}

bool expands(const Compilation& c) {
  const dsl::Clause* metric = c.resolved.clause("metric");
  return metric && !metric->items.empty() && metric->items.front().value &&
         metric->items.front().value->text != "scale";
}

constexpr Row kRows[] = {
    {"Fields in program units, scale factor closed by the lattice averages",
     "G. Felder, I. Tkachev, LATTICEEASY, Comput. Phys. Commun. 178 (2008) 929",
     "https://doi.org/10.1016/j.cpc.2008.02.009", expands},
    {"Vacuum fluctuations as classical initial values",
     "S. Yu. Khlebnikov, I. I. Tkachev, Phys. Rev. Lett. 77 (1996) 219",
     "https://doi.org/10.1103/PhysRevLett.77.219", vacuum},
    {"Vacuum fluctuations by a kernel in real space", "A. V. Frolov, DEFROST, JCAP 11 (2008) 009",
     "https://doi.org/10.1088/1475-7516/2008/11/009",
     [](const Compilation& c) {
       return c.system &&
              std::any_of(c.system->random.begin(), c.system->random.end(), [](const auto& r) {
                return r.kind == physics::RandomField::Kind::Vacuum && r.kernel_form;
              });
     }},
    {"Binning and normalisation of power spectra",
     "D. G. Figueroa, A. Florio, F. Torrenti, W. Valkenburg, CosmoLattice, Comput. Phys. Commun. "
     "283 (2023) 108586",
     "https://doi.org/10.1016/j.cpc.2022.108586",
     [](const Compilation& c) { return output_of(c, physics::Observable::Kind::Spectrum); }},
    {"Fast Fourier transforms, where FFTW is used",
     "M. Frigo, S. G. Johnson, Proc. IEEE 93 (2005) 216",
     "https://doi.org/10.1109/JPROC.2004.840301",
     [](const Compilation& c) {
       return vacuum(c) || output_of(c, physics::Observable::Kind::Spectrum);
     }},
    {"Counter-based random numbers (Philox)",
     "J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Proc. SC11 (2011) 16",
     "https://doi.org/10.1145/2063384.2063405",
     [](const Compilation& c) { return c.system && !c.system->random.empty(); }},
    {"Compensated sums", "W. Kahan, Commun. ACM 8 (1965) 40",
     "https://doi.org/10.1145/363707.363723",
     [](const Compilation& c) {
       return c.system && c.system->numerics.sum == physics::SumKind::Kahan;
     }},
};

bool year_at(const std::string& text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '(' || text[at + 5] != ')') return false;
  if (text.compare(at + 1, 2, "19") != 0 && text.compare(at + 1, 2, "20") != 0) return false;
  return std::isdigit(static_cast<unsigned char>(text[at + 3])) != 0 &&
         std::isdigit(static_cast<unsigned char>(text[at + 4])) != 0;
}

/// The sentences of a `##` text that hold a year in parentheses. A sentence ends at a full stop
/// after a word in small letters (names and journals begin with capitals), at a colon or semicolon.
std::vector<std::string> references(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::vector<std::string> found;
  std::string sentence;
  bool year = false;
  const auto close = [&] {
    const auto first = sentence.find_first_not_of(' ');
    if (year && first != std::string::npos) found.push_back(sentence.substr(first));
    sentence.clear();
    year = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    year = year || year_at(text, i);
    const bool gap = i + 1 == text.size() || text[i + 1] == ' ';
    const bool stop = text[i] == '.' && gap;
    if (((text[i] == ':' || text[i] == ';') && gap) || stop) {
      const auto word = sentence.find_last_of(' ');
      const char head = sentence.empty() ? 'A' : sentence[word == std::string::npos ? 0 : word + 1];
      const bool small = std::islower(static_cast<unsigned char>(head)) != 0;
      const bool page = std::isdigit(static_cast<unsigned char>(head)) != 0 && year;
      if (!stop || small || page) {
        close();
        continue;
      }
    }
    sentence += text[i];
  }
  close();
  return found;
}

std::string name_of(const dsl::Line& line) {
  if (line.kind != dsl::Line::Kind::Clause || line.clause.items.empty()) return "";
  const dsl::Item& item = line.clause.items.front();
  if (item.head) return item.head->name;
  return item.value ? item.value->text : "";
}

/// References beside the line with this name, or above the group of lines it belongs to.
void from_library(const Compilation& c, const char* keyword, const std::string& name,
                  std::vector<Citation>& list) {
  for (const dsl::ModelText& text : c.resolved.library) {
    std::string above;
    for (const dsl::Line& line : text.lines) {
      if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != keyword) continue;
      if (!line.documentation.empty()) above = line.documentation;
      if (name_of(line) != name) continue;
      for (const std::string& reference : references(above))
        list.push_back({std::string(keyword) + " " + name, reference, ""});
      return;
    }
  }
}

}  // namespace

std::vector<Citation> citations(const Compilation& c) {
  std::vector<Citation> list;
  for (const Row& row : kRows)
    if (row.used(c)) list.push_back({row.used_for, row.reference, row.link});
  if (const dsl::Clause* evolve = c.resolved.clause("evolve"))
    for (const dsl::Item* item : dsl::positional(*evolve))
      if (item->value) from_library(c, "integrator", item->value->text, list);
  if (const dsl::Clause* scheme = c.resolved.clause("scheme"))
    for (const dsl::Item* item : dsl::positional(*scheme))
      if (item->value) from_library(c, "scheme", item->value->text, list);
  if (c.system && c.system->laplacian >= 0)
    from_library(c, "stencil", c.system->arena->stencil_data(c.system->laplacian).name, list);
  return list;
}

}  // namespace vphi::embed
