// The writer of report.html without a browser: no model text becomes markup, nothing is requested
// from the network, the page stays small, and its data can be read back.
#include "runtime/report/page.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/report/encode.hpp"
#include "runtime/report/record.hpp"
#include "tests/report/sample.hpp"

namespace vphi::report {
namespace {

using nlohmann::json;
using test::sample;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++n;
  return n;
}

json data_of(const std::string& html) {
  const std::string open = "id=\"data\">";
  const auto begin = html.find(open) + open.size();
  return json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

std::vector<unsigned char> bytes_of(const std::string& text) {
  static const std::string digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  unsigned word = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    word = word << 6 | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<unsigned char>(word >> (bits -= 8) & 255U));
  }
  return bytes;
}

std::vector<double> numbers_of(const json& code) {
  const bool narrow = code.contains("f");
  const auto bytes = bytes_of(code[narrow ? "f" : "d"].get<std::string>());
  std::vector<double> values(bytes.size() / (narrow ? 4 : 8));
  for (std::size_t i = 0; i < values.size(); ++i) {
    float f = 0;
    if (narrow) std::memcpy(&f, bytes.data() + 4 * i, 4), values[i] = f;
    if (!narrow) std::memcpy(&values[i], bytes.data() + 8 * i, 8);
  }
  return values;
}

TEST(Page, HasEverySection) {
  const std::string html = page(sample());
  for (const char* id : {"series", "swept", "spectra", "distributions", "profiles", "pictures",
                         "checks", "model", "equations", "speed", "notes", "cite", "reproduce"}) {
    EXPECT_EQ(count(html, "<section id=\"" + std::string(id) + "\""), 1U) << id;
    EXPECT_EQ(count(html, "<a href=\"#" + std::string(id) + "\">"), 1U) << id;
  }
  EXPECT_EQ(count(html, "<math "), 3U);
  EXPECT_EQ(count(html, "\" data-series="), 3U);
  EXPECT_EQ(count(html, "\" data-tables="), 3U);
  EXPECT_EQ(count(html, "\" data-pictures="), 1U);
  EXPECT_EQ(count(html, "class=\"dot\""), 1U) << "no kernel in the roofline";
  EXPECT_NE(html.find("1 of 2 checks failed"), std::string::npos);
  EXPECT_EQ(count(html, "<h1>"), 1U);
  EXPECT_NE(html.find("name=\"viewport\""), std::string::npos);
}

TEST(Page, EmptyReportIsAPage) {
  Report nothing;
  nothing.model = "nothing";
  const std::string html = page(nothing);
  EXPECT_EQ(count(html, "<section id=\"series\""), 0U);
  EXPECT_EQ(count(html, "<section id=\"reproduce\""), 1U);
}

/// The part of a page between the heading of a section and its end.
std::string section_of(const std::string& html, const std::string& id) {
  const auto begin = html.find("<section id=\"" + id + "\"");
  if (begin == std::string::npos) return "";
  return html.substr(begin, html.find("</section>", begin) - begin);
}

// One value is a number, at the end or at one value of a sweep: no plot with one dot, and no curve
// of the plot of several. What a live page has at its first row may grow.
TEST(Page, ASingleValueIsANumber) {
  Report r = sample();
  r.time_name = "t [fm]";
  r.series.push_back({"charge", "t", {120}, {0.25}, {}});
  r.series.push_back({"<b>mass", "T", {0.5}, {3}, {0.125}});
  const std::string html = page(r), numbers = section_of(html, "numbers");
  EXPECT_EQ(count(numbers, "<td><code>charge</code></td><td class=\"n\">0.25</td>"), 1U);
  EXPECT_EQ(count(numbers, "<td class=\"n\">t = 120</td>"), 1U);
  EXPECT_EQ(count(numbers, "<td class=\"n\">0.12</td><td class=\"n\">T = 0.5</td>"), 1U);
  EXPECT_EQ(count(numbers, "<b>"), 0U);
  EXPECT_EQ(count(html, "\" data-series="), 3U) << "a plot of one value";
  EXPECT_EQ(data_of(html)["series"][3]["single"], true);
  EXPECT_EQ(data_of(html)["series"][0]["single"], false);
  const LivePage live{0, ""};
  EXPECT_EQ(count(page(r, {}, &live), "\" data-series="), 5U);
}

TEST(Page, ManyPlotsAreFolded) {
  Report r = sample();
  const Series wave = r.series[0];
  r.series.clear();
  for (int i = 0; i < 14; ++i) {
    r.series.push_back(wave);
    r.series.back().name = "wave " + std::to_string(i);
  }
  const std::string series = section_of(page(r), "series");
  const auto fold = series.find("<details");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_EQ(count(series.substr(0, fold), "\" data-series="), 6U);
  EXPECT_EQ(count(series, "\" data-series="), 14U);
  EXPECT_EQ(count(series, "<summary>8 more: wave 6, wave 7,"), 1U);
  r.series.resize(7);
  EXPECT_EQ(count(section_of(page(r), "series"), "<details"), 0U) << "one plot folded away";
}

TEST(Page, CurvesOfASweepSayWhichTheyAre) {
  Report r = sample();
  r.series.clear();
  const std::vector<SweepAxis> axes{{"T", {0.2, 0.5}}};
  add_swept(r, "energy", axes, {2, 4}, {}, 10);
  add_histories(r, "energy", axes, {0, 10}, {{1, 3}, {2, 4}});
  r.series.push_back({"energy", "T", {0.2, 0.5}, {2, 4}, {0.1, 0.2}, "at the end"});
  r.series.push_back({"energy", "T", {0.2, 0.5}, {5, 6}, {}, "mean of late times"});
  const std::string html = page(r);
  const json data = data_of(html);
  ASSERT_EQ(data["series"].size(), 2U);
  const json& along_axis = data["series"][0]["curves"];
  ASSERT_EQ(along_axis.size(), 2U) << "the same numbers twice";
  EXPECT_EQ(along_axis[0]["name"], "at t = 10");
  EXPECT_TRUE(along_axis[0].contains("e"));
  EXPECT_EQ(along_axis[1]["name"], "mean of late times");
  const json& histories = data["series"][1]["curves"];
  ASSERT_EQ(histories.size(), 2U);
  EXPECT_EQ(histories[0]["name"], "T = 0.2");
  EXPECT_EQ(histories[1]["name"], "T = 0.5");
  EXPECT_EQ(numbers_of(data["arrays"][histories[1]["y"].get<std::size_t>()]),
            (std::vector<double>{3, 4}));
  EXPECT_EQ(r.find("energy")->along, "T");
  EXPECT_EQ(place_text({{"T", {0.2, 0.5}}, {"draw", {1, 2, 3}}}, 4), "T = 0.5, draw = 2");
}

TEST(Page, AChainCountsWhatItIsMadeOf) {
  Report r = sample();
  EXPECT_EQ(count(page(r), "<dt>Steps</dt>"), 1U);
  r.unit = r.time_name = "trajectory";
  const std::string html = page(r);
  EXPECT_EQ(count(html, "<dt>Trajectories</dt><dd>1000</dd>"), 1U);
  EXPECT_EQ(count(html, "<dt>Steps</dt>"), 0U);
  EXPECT_EQ(count(html, "Time in steps"), 0U);
  EXPECT_EQ(count(html, "<th class=\"n\">at trajectory</th>"), 1U);
  EXPECT_EQ(count(html, ">Against trajectory</h2>"), 1U);
  EXPECT_EQ(data_of(html)["series"][0]["along"], "trajectory");
  EXPECT_EQ(report_of_page(html)->unit, "trajectory");
}

TEST(Page, AveragesOfAChain) {
  Report report = sample();
  EXPECT_EQ(count(page(report), "id=\"chain\""), 0U);
  report.chain = {{"plaquette", 0.59368, 1.2e-4, 1.75, 0.2, 5000, ""},
                  {"<b>slow", 0.25, 0.125, 40, 10, 500, "too short"}};
  report.files = {"run.h5", "conf_00000010.ildg", "conf_00000020.ildg", "conf_00000100.ildg"};
  const std::string html = page(report);
  EXPECT_EQ(count(html, "<section id=\"chain\""), 1U);
  EXPECT_EQ(count(html, "<td>plaquette</td><td class=\"n\">0.59368</td>"), 1U);
  EXPECT_EQ(count(html, "&lt;b&gt;slow"), 1U);
  EXPECT_EQ(count(html, "<td class=\"n\">not known: too short</td>"), 1U);
  EXPECT_NE(html.find("conf_00000010.ildg … conf_00000100.ildg (3 files)"), std::string::npos);
  const auto again = report_of_page(html);
  ASSERT_TRUE(again);
  ASSERT_EQ(again->chain.size(), 2U);
  EXPECT_EQ(again->chain[0].mean, 0.59368);
  EXPECT_EQ(again->chain[1].unknown, "too short");
  EXPECT_EQ(again->files, report.files);
}

TEST(Page, HostileTextStaysText) {
  const std::string clean = page(sample("harmless"));
  for (const std::string& attack :
       {std::string("</script><script>alert(1)</script>"),
        std::string("<img src=x onerror=alert(1)>"), std::string("\"><svg onload=alert(1)>"),
        std::string("' onmouseover='alert(1)"),
        std::string("</title></style></pre></code><iframe>"), std::string("<!--<script>"),
        std::string("]]>&lt;script&gt;"), std::string("\xff\xfe\x80<b>"),
        std::string("a\0b<object>", 11)}) {
    const std::string html = page(sample(attack));
    // the same tags as the harmless page has, whatever the text
    for (const char* tag : {"<script", "</script", "<img", "<svg", "<iframe", "<object", "<b>",
                            "</style", "</title", "</pre", "<!--", "<a ", "<section", "<td", "<h3"})
      EXPECT_EQ(count(html, tag), count(clean, tag)) << tag << " with " << attack;
    // attributes end where they should: no handler is left outside of a quoted value
    EXPECT_EQ(count(html, "\" onmouseover="), 0U);
    EXPECT_EQ(count(html, "\"><svg onload"), 0U);
    EXPECT_EQ(count(html, "href=\"javascript"), 0U);
    EXPECT_EQ(html.find('\0'), std::string::npos);
    EXPECT_EQ(comparison(std::vector{sample(attack), sample("x")}).find("<img"), std::string::npos);
  }
}

TEST(Page, EscapeLeavesNothingActive) {
  EXPECT_EQ(escape("<a href=\"x\" title='y'>&"),
            "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(escape("φ′ ≤ 2"), "φ′ ≤ 2");
  EXPECT_EQ(escape("\xc0\xbc"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong <
  EXPECT_EQ(escape(std::string("a\x01z")), "a\xEF\xBF\xBDz");
}

TEST(Page, AsksTheNetworkForNothing) {
  const std::string html = page(sample());
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(count(html, "connect-src"), 0U);
  for (const char* way : {" src=", "<link", "@import", "url(http", "url(/", "import(", "XMLHttp"})
    EXPECT_EQ(count(html, way), 0U) << way;
  // addresses are those of references to click on, and names of notations
  for (auto at = html.find("http"); at != std::string::npos; at = html.find("http", at + 4)) {
    const std::string before = html.substr(at < 16 ? 0 : at - 16, at < 16 ? at : 16);
    const std::string after = html.substr(at, 24);
    EXPECT_TRUE(before.ends_with("href=\"") || before.ends_with("xmlns=\"") ||
                before.ends_with("\"link\":\"") || after.starts_with("http-equiv") ||
                after.starts_with("http://www.w3.org/2000"))
        << before << after;
  }
}

TEST(Page, StaysBelowFiveMegabytes) {
  Report r = sample();
  r.series.clear(), r.tables.clear(), r.pictures.clear();
  for (int i = 0; i < 150; ++i) {
    Series s;
    s.name = "series " + std::to_string(i);
    for (int j = 0; j < 20000; ++j)
      s.x.push_back(j), s.y.push_back(1 + 1e-9 * std::sin(0.01 * j * (i + 1)));
    r.series.push_back(s);
  }
  for (int i = 0; i < 4; ++i) {
    Picture p;
    p.name = "picture " + std::to_string(i);
    Plane plane;
    plane.width = plane.height = 640;
    for (int j = 0; j < 640 * 640; ++j)
      plane.values.push_back(static_cast<float>(std::sin(1e-3 * j * (i + 1))));
    for (int f = 0; f < 60; ++f) plane.time = f, p.planes.push_back(plane);
    r.pictures.push_back(p);
  }
  const std::string html = page(r);
  EXPECT_LT(html.size(), 5'000'000U);
  const json data = data_of(html);
  EXPECT_EQ(data["series"].size(), 150U);
  EXPECT_EQ(data["pictures"].size(), 4U);
  for (const auto& p : data["pictures"]) EXPECT_GE(p["frames"].size(), 3U);
}

TEST(Page, NumbersComeBack) {
  const Report r = sample();
  const json data = data_of(page(r));
  for (std::size_t i = 0; i < r.series.size(); ++i) {
    const auto& curve = data["series"][i]["curves"][0];
    const auto x = numbers_of(data["arrays"][curve["x"].get<std::size_t>()]);
    const auto y = numbers_of(data["arrays"][curve["y"].get<std::size_t>()]);
    ASSERT_EQ(x.size(), r.series[i].x.size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      EXPECT_NEAR(x[j], r.series[i].x[j], 1e-4 * 50);
      EXPECT_NEAR(y[j], r.series[i].y[j], 1e-4);
    }
  }
  // the two series against time share their times
  EXPECT_EQ(data["series"][0]["curves"][0]["x"], data["series"][1]["curves"][0]["x"]);
  EXPECT_TRUE(data["series"][2]["curves"][0].contains("e"));
}

TEST(Page, IsReadBack) {
  const Report r = sample("word \"and\" </script>");
  const auto again = report_of_page(page(r));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(record(*again), record(r));
  EXPECT_FALSE(report_of_page("<html></html>").has_value());
  EXPECT_FALSE(
      report_of_page("<script type=\"application/json\" id=\"data\">{\"record\":{}}</script>")
          .has_value());
  EXPECT_FALSE(
      report_of_page("<script type=\"application/json\" id=\"data\">{{{</script>").has_value());
}

TEST(Page, ComparisonShowsWhatDiffers) {
  Report a = sample("run"), b = sample("run");
  a.name = "first", b.name = "second";
  a.parameters = {{"m", "", "", 1, "", false}, {"g", "", "", 0.5, "", false}};
  b.parameters = {{"m", "", "", 1, "", false}, {"g", "", "", 0.25, "", false}};
  b.series[0].y.back() += 0.125;
  const std::string html = comparison(std::vector{a, b});
  const auto section = html.substr(html.find("id=\"differences\""));
  const auto table = section.substr(0, section.find("</section>"));
  EXPECT_NE(table.find("<td>g</td><td class=\"n\">0.5</td><td class=\"n\">0.25</td>"),
            std::string::npos);
  EXPECT_EQ(table.find("<td>m</td>"), std::string::npos);
  const json data = data_of(html);
  EXPECT_EQ(data["series"][0]["curves"].size(), 2U);
  EXPECT_EQ(data["runs"], json({"first", "second"}));
  EXPECT_NE(html.find(">same</td>"), std::string::npos);
}

TEST(Encode, Base64IsThatOfRfc4648) {
  const std::pair<const char*, const char*> rows[] = {{"", ""},
                                                      {"f", "Zg=="},
                                                      {"fo", "Zm8="},
                                                      {"foo", "Zm9v"},
                                                      {"foob", "Zm9vYg=="},
                                                      {"fooba", "Zm9vYmE="},
                                                      {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, code] : rows)
    EXPECT_EQ(base64(std::as_bytes(std::span(plain, std::strlen(plain)))), code);
}

TEST(Encode, DecimationKeepsPeaks) {
  std::vector<double> y(100000, 0.0);
  y[31415] = 7, y[92653] = -3;
  const auto kept = decimate(y, 500);
  EXPECT_LE(kept.size(), 500U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(kept.front(), 0U);
  EXPECT_EQ(kept.back(), y.size() - 1);
  double low = 0, high = 0;
  for (const auto i : kept) low = std::min(low, y[i]), high = std::max(high, y[i]);
  EXPECT_EQ(low, -3);
  EXPECT_EQ(high, 7);
  EXPECT_EQ(decimate(std::vector<double>(5, 1.0), 500).size(), 5U);
}

TEST(Encode, SmallDifferencesKeepDoubles) {
  EXPECT_TRUE(encode(std::vector<double>{0, 0.5, 1}).contains("f"));
  EXPECT_TRUE(encode(std::vector<double>{1, 1 + 1e-10, 1 + 2e-10}).contains("d"));
  EXPECT_TRUE(encode(std::vector<double>{1e-300, 1}).contains("d"));
  EXPECT_TRUE(encode(std::vector<double>{3, 3, 3}).contains("f"));
}

TEST(Encode, PlanesKeepTheirValues) {
  Plane plane;
  plane.width = 3, plane.height = 2;
  plane.values = {1e-6F, 1, 10, 100, 1000, NAN};
  const json code = encode(plane);
  EXPECT_TRUE(code["log"].get<bool>());
  const auto bytes = bytes_of(code["u"]);
  ASSERT_EQ(bytes.size(), 12U);
  for (int i = 0; i < 5; ++i) {
    const double step = bytes[2 * i] + 256.0 * bytes[2 * i + 1];
    const double value = std::exp(std::log(1e-6) + step / 65534 * std::log(1e9));
    EXPECT_NEAR(value / plane.values[i], 1, 1e-3);
  }
  EXPECT_EQ(bytes[10] + 256 * bytes[11], 65535);
  plane.values = {-1, 0, 1, 2, 3, 4};
  EXPECT_FALSE(encode(plane)["log"].get<bool>());
  EXPECT_EQ(shrink(plane, 2).values.size(), 2U);
  EXPECT_FLOAT_EQ(shrink(plane, 2).values[0], (-1 + 0 + 2 + 3) / 4.0F);
}

}  // namespace
}  // namespace vphi::report
