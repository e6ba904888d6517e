// A report with something in every section, for tests of the page.
#pragma once

#include <cmath>
#include <numbers>

#include "runtime/report/report.hpp"

namespace vphi::report::test {

/// `word` is used in all places for text of a model or a user.
inline Report sample(const std::string& word = "sample") {
  Report r;
  r.model = word, r.title = word, r.documentation = word, r.name = word;
  r.text = "## " + word + "\nmodel m \"" + word + "\"\nx'' = -x  # " + word + "\n";
  r.statements = {{"<mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow>", word, word, 3},
                  {"", word, "", 0}};
  r.parameters = {{word, "", word, 0.1, word, true}};
  r.equations = {{word, word, {{"<mrow><mi>y</mi></mrow>", word, {{"<mi>z</mi>", word}}}}}};
  Series wave, fall;
  wave.name = word + " wave", fall.name = word + " fall";
  for (int i = 0; i <= 500; ++i) {
    const double t = 0.1 * i;
    wave.x.push_back(t), wave.y.push_back(std::sin(t));
    fall.x.push_back(t), fall.y.push_back(std::exp(-t));
  }
  fall.error.assign(fall.y.size(), 0.01);
  Series swept;
  swept.name = word + " mean", swept.along = word + " a";
  swept.x = {0, 1, 2}, swept.y = {1, 4, 9}, swept.error = {0.1, 0.2, 0.3};
  r.series = {wave, fall, swept};
  for (const auto kind : {Table::Kind::Spectrum, Table::Kind::Histogram, Table::Kind::Profile}) {
    Table table;
    table.kind = kind, table.name = word;
    for (int frame = 0; frame < 5; ++frame) {
      Frame f;
      f.time = frame, f.step = 10 * frame;
      for (int i = 1; i <= 32; ++i) {
        f.x.push_back(i), f.y.push_back((1 + frame) * std::pow(i, -2.0));
        if (kind == Table::Kind::Spectrum) f.other.push_back(f.y.back() * i * i * i);
      }
      table.frames.push_back(f);
    }
    r.tables.push_back(table);
  }
  Picture picture;
  picture.name = word;
  for (int frame = 0; frame < 3; ++frame) {
    Plane plane;
    plane.time = frame, plane.width = 24, plane.height = 16;
    for (int j = 0; j < 16; ++j)
      for (int i = 0; i < 24; ++i)
        plane.values.push_back(static_cast<float>(std::sin(0.4 * i + frame) * std::cos(0.3 * j)));
    picture.planes.push_back(plane);
  }
  r.pictures = {picture};
  r.checks = {{word, true, 1e-5, 3, 1e-3, {{0, 1e-6}, {1, 1e-5}, {2, 2e-6}}},
              {word + " 2", false, 2, 1, 0, {{0, 0}, {1, 2}}}};
  r.kernels = {{word, 54, 4, 32, 120, 0, 90, 0, 1e-3, true}};
  r.speed = {1e6, 12, 0.5, 1e9, 1e8, 4e10, 1e12};
  r.steps = 1000, r.time = 50;
  r.device = word, r.lattice = "100^3", r.precision = "f64", r.seed = 7;
  r.notes = {word}, r.warnings = {word};
  r.citations = {{word, word, "https://doi.org/10.1/x"}, {word, word, "javascript:alert(1)"}};
  r.command = "vphi run " + word;
  r.versions = {{word, word}};
  r.files = {word + ".h5"};
  return r;
}

}  // namespace vphi::report::test
