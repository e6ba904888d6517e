#include "embed/initial_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "dsl/messages/suggest.hpp"
#include "runtime/io/files/writer.hpp"

#ifdef VPHI_HAVE_HDF5
#include "program/hdf5_read.hpp"
#endif

namespace vphi::embed {
namespace {

namespace fs = std::filesystem;

constexpr double kSameValue = 1e-13;  ///< relative difference of values that are one

/// A temporary folder. The process that made it removes it at the end, and no fork of it does.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "vphi_initial_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(fmt::format("no folder for initial values can be made in {}",
                              fs::temp_directory_path().string()),
                  "TMPDIR names another place", "E0830", ErrorKind::Results);
    path_ = name;
  }
  ~Folder() {
    if (getpid() != owner_) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  pid_t owner_ = getpid();
};

/// "phi'" as the name and the number of primes.
std::pair<std::string, int> parts_of(const std::string& name) {
  const std::size_t primes = name.size() - std::min(name.size(), name.find('\''));
  return {name.substr(0, name.size() - primes), static_cast<int>(primes)};
}

bool is_named(const dsl::Head& head, const std::string& name) {
  return head.name == name || (!head.spelling.empty() && head.spelling == name);
}

/// Items of all `init` clauses in the order of the text.
std::vector<const dsl::Item*> items_of(const Model& model) {
  std::vector<const dsl::Item*> items;
  for (const dsl::Line& line : model.derived().resolved.model.lines)
    if (line.kind == dsl::Line::Kind::Clause && line.clause.keyword == "init")
      for (const dsl::Item& item : line.clause.items)
        if (item.head) items.push_back(&item);
  return items;
}

/// Extents of the lattice, slowest axis first.
std::vector<std::int64_t> lattice_of(const Model& model) {
  const physics::Lattice& lattice = model.derived().system->lattice;
  std::vector<std::int64_t> shape;
  for (int axis = lattice.dims; axis-- > 0;)
    shape.push_back(lattice.extent[static_cast<std::size_t>(axis)]);
  return shape;
}

std::string shown(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

void check_name(const Model& model, const std::string& name) {
  const auto [base, primes] = parts_of(name);
  std::vector<std::string> known;
  for (const dsl::Item* item : items_of(model)) {
    if (is_named(*item->head, base)) return;
    known.push_back(item->head->name +
                    std::string(static_cast<std::size_t>(item->head->primes), '\''));
  }
  const auto& variables = model.derived().system->variables;
  const auto is_one = [&](const physics::Variable& v) {
    return v.shown == name || v.shown == base;
  };
  if (std::ranges::any_of(variables, is_one)) return;
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  const auto near = dsl::suggest(name, known);
  throw Error(fmt::format("no variable `{}` has initial values", name),
              near ? fmt::format("did you mean `{}`?", *near)
                   : fmt::format("initial values have {}", dsl::enumerate(known)));
}

/// Axes of the sweep with more than one value, in the order of the text.
std::vector<const physics::Axis*> swept_axes(const Model& model) {
  std::vector<const physics::Axis*> axes;
  for (const physics::Axis& axis : model.derived().system->axes)
    if (!axis.free) axes.push_back(&axis);
  return axes;
}

bool begins_with(std::span<const std::int64_t> shape, const std::vector<std::int64_t>& part) {
  return shape.size() >= part.size() && std::equal(part.begin(), part.end(), shape.begin());
}

/// Whether the rest of a shape may be that of one value of some variable of the model.
bool is_value(const Model& model, std::span<const std::int64_t> rest) {
  std::map<int, std::int64_t> numbers;  // of a declared variable: its real components
  for (const physics::Variable& v : model.derived().system->variables)
    if (v.role != physics::Role::Momentum) ++numbers[v.field];
  std::int64_t wanted = 1;
  for (const std::int64_t extent : rest) wanted *= extent;
  return rest.empty() ||
         std::ranges::any_of(numbers, [&](const auto& one) { return one.second == wanted; });
}

/// Whether the values have the axes of the sweep in front of those of the lattice. Throws where
/// the shape is none of the two.
bool is_of_instances(const Model& model, const std::vector<std::int64_t>& lattice,
                     const InitialValues& initial) {
  std::vector<std::int64_t> swept;
  std::vector<std::string> names;
  for (const physics::Axis* axis : swept_axes(model)) {
    swept.push_back(static_cast<std::int64_t>(axis->values.size()));
    names.push_back(axis->name);
  }
  std::vector<std::int64_t> both = swept;
  both.insert(both.end(), lattice.begin(), lattice.end());
  const std::span<const std::int64_t> shape = initial.shape;
  const bool for_all = begins_with(shape, lattice);
  const bool for_each = !swept.empty() && begins_with(shape, both);
  if (for_all && for_each) {
    const bool all = is_value(model, shape.subspan(lattice.size()));
    const bool each = is_value(model, shape.subspan(both.size()));
    if (all != each) return each;
    throw Error(
        fmt::format("the shape {} of the initial values of `{}` has two meanings: the same values "
                    "in every instance, or values of each",
                    shown(initial.shape), initial.name),
        fmt::format("all axes: those of the sweep ({}), of the lattice, and of a value",
                    fmt::join(names, ", ")));
  }
  if (for_all || for_each) return for_each;
  const std::string fix =
      "the slowest axis comes first, the axes of a vector or matrix follow those of the lattice";
  throw Error(fmt::format("the initial values of `{}` have the shape {}, and the lattice {}",
                          initial.name, shown(initial.shape), shown(lattice)),
              swept.empty() ? fix
                            : fmt::format("{}; those of the sweep ({}) stand before: {}", fix,
                                          fmt::join(names, ", "), shown(both)));
}

/// 1 where a swept name has this value, up to the rounding of a number that is written out.
std::string has_value(const std::string& name, double value) {
  if (value == 0) return fmt::format("({} == 0)", name);
  return fmt::format("(abs({} - ({})) < {})", name, value, kSameValue * std::abs(value));
}

/// Indices that select an instance's place along the axes of the sweep: "[0*(r == 1) + ... ]", -1
/// where no value fits, which the compiler refuses.
std::string instance_indices(const Model& model) {
  std::vector<std::string> indices;
  for (const physics::Axis* axis : swept_axes(model)) {
    std::vector<double> sorted = axis->values;
    std::ranges::sort(sorted);
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i] - sorted[i - 1] <= 2 * kSameValue * std::abs(sorted[i]))
        throw Error(fmt::format("the sweep has the value {} of `{}` more than once, which does not "
                                "tell its instances apart",
                                sorted[i], axis->name),
                    "different values, or `init` in the text with a stack of a file");
    std::string index = "-1";
    for (std::size_t i = 0; i < axis->values.size(); ++i)
      index += fmt::format(" + {}*{}", i + 1, has_value(axis->name, axis->values[i]));
    indices.push_back(std::move(index));
  }
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

/// Throws where complex values are for a variable with one real number a site.
void check_kind(const Model& model, const InitialValues& initial) {
  if (!initial.complex) return;
  const auto& variables = model.derived().system->variables;
  const std::string base = parts_of(initial.name).first;
  const auto named = std::ranges::find(variables, base, &physics::Variable::shown);
  if (named == variables.end()) return;
  const auto parts = std::ranges::count_if(variables, [&](const physics::Variable& v) {
    return v.role != physics::Role::Momentum && v.field == named->field;
  });
  if (parts == 1)
    throw Error(fmt::format("`{}` is real, and its initial values are complex", initial.name),
                "`.real` of the array, or `field " + base + ": complex` in the model");
}

void check_numbers(const InitialValues& initial) {
  const auto bad =
      std::ranges::find_if_not(initial.values, [](double v) { return std::isfinite(v); });
  if (bad == initial.values.end()) return;
  std::int64_t rest = bad - initial.values.begin();
  std::vector<std::int64_t> place(initial.shape.size());
  for (std::size_t a = place.size(); a-- > 0; rest /= initial.shape[a])
    place[a] = rest % initial.shape[a];
  throw Error(fmt::format("the initial value of `{}`{} is {}", initial.name,
                          place.empty() ? "" : " at " + shown(place), *bad),
              "every initial value is a finite number");
}

#ifdef VPHI_HAVE_HDF5

void write_set(hid_t file, const std::string& name, const std::vector<std::int64_t>& shape,
               std::span<const double> values) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const hdf5::Handle space(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
  const hdf5::Handle set(H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose);
  if (set < 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw Error("the initial values cannot be written to a temporary file",
                "TMPDIR names a folder with more space", "E0830", ErrorKind::Results);
}

void write_file(const fs::path& path, const std::vector<InitialValues>& all) {
  io::Writer::alone([&] {
    hdf5::quiet();
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                            H5Fclose);
    for (const InitialValues& one : all) write_set(file, one.name, one.shape, one.values);
  });
}

#else

void write_file(const fs::path&, const std::vector<InitialValues>&) {
  throw Error("this build has no HDF5, through which initial values are handed over",
              "apt-get install libhdf5-dev and build again");
}

#endif

struct Replaced {
  std::size_t begin = 0, end = 0;
  std::string by;
};

/// The items that set the variable become one that reads its values, or there is a new clause.
void replace(std::string& added, std::vector<Replaced>& all,
             const std::vector<const dsl::Item*>& items, const std::string& name,
             const std::string& value) {
  const auto [base, primes] = parts_of(name);
  const std::string item_text = fmt::format("{} = {}", name, value);
  bool found = false;
  for (const dsl::Item* item : items) {
    if (!is_named(*item->head, base) || item->head->primes != primes) continue;
    if (found || item->head->form != dsl::Head::Form::Plain)
      throw Error(fmt::format("`init` sets `{}` in parts", name),
                  "initial values replace one that is set as a whole");
    found = true;
    all.push_back({item->span.begin, item->span.end, item_text});
  }
  if (!found) added += "init " + item_text + "\n";
}

}  // namespace

TextWithFiles with_initial_values(const Model& model, std::span<const InitialValues> initial) {
  const std::vector<std::int64_t> lattice = lattice_of(model);
  const auto folder = std::make_shared<const Folder>();
  const fs::path path = folder->path() / "initial.h5";
  const auto items = items_of(model);
  std::string added;
  std::vector<Replaced> replaced;
  std::vector<InitialValues> in_file;
  for (const InitialValues& one : initial) {
    check_name(model, one.name);
    check_kind(model, one);
    std::string value;
    if (one.shape.empty()) {
      value = fmt::format("{}", one.values[0]);
    } else {
      value = fmt::format("file(\"{}:{}\")", path.string(), one.name);
      if (is_of_instances(model, lattice, one)) value += instance_indices(model);
    }
    check_numbers(one);
    replace(added, replaced, items, one.name, value);
    if (!one.shape.empty()) in_file.push_back(one);
  }
  if (!in_file.empty()) write_file(path, in_file);
  std::ranges::sort(replaced, std::greater<>(), &Replaced::begin);
  std::string text = model.text();
  for (const Replaced& r : replaced) text.replace(r.begin, r.end - r.begin, r.by);
  if (!added.empty()) text += "\n" + added;
  return {std::move(text), folder};
}

}  // namespace vphi::embed
