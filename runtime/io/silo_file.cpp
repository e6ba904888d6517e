// Result files in SILO, one file for each moment, as LATTICEEASY's successors and VisIt read them.
//
// "name.silo" makes "name_STEP.silo" with a mesh and the arrays of that step, "name.visit" that
// lists them in order, and the CSV tables of everything that is not a lattice. Library: LLNL, Silo
// User's Guide 4.11 (DBCreate, DBPutQuadmesh, DBPutQuadvar1). The library is opened with the first
// such file. It loads an HDF5 of its own, in some distributions one for MPI, which runs without
// such files must not load.
#include "runtime/io/output_files.hpp"
#include "runtime/io/results.hpp"

#ifdef VPHI_HAVE_SILO

#include <fmt/format.h>
#include <silo.h>

#include <cctype>
#include <fstream>
#include <set>

#include "runtime/device/library.hpp"

namespace vphi::io {
namespace {

/// Functions of libsilo under their names in silo.h.
struct Silo {
  decltype(&::DBShowErrors) show_errors;
  decltype(&::DBCreateReal) create;
  decltype(&::DBOpenReal) open;
  decltype(&::DBClose) close;
  decltype(&::DBMakeOptlist) make_options;
  decltype(&::DBAddOption) add_option;
  decltype(&::DBFreeOptlist) free_options;
  decltype(&::DBPutQuadmesh) put_mesh;
  decltype(&::DBPutQuadvar1) put_variable;
};

/// The library, opened once; null where the machine lacks it.
const Silo* silo() {
  static const std::optional<runtime::Library> library = runtime::Library::open(
      {VPHI_SILO_LIBRARY, "libsiloh5.so.0", "libsilo.so.0"}, runtime::Library::Close::Never);
  static Silo functions;
  static const bool whole = library && library->bind(functions.show_errors, "DBShowErrors") &&
                            library->bind(functions.create, "DBCreateReal") &&
                            library->bind(functions.open, "DBOpenReal") &&
                            library->bind(functions.close, "DBClose") &&
                            library->bind(functions.make_options, "DBMakeOptlist") &&
                            library->bind(functions.add_option, "DBAddOption") &&
                            library->bind(functions.free_options, "DBFreeOptlist") &&
                            library->bind(functions.put_mesh, "DBPutQuadmesh") &&
                            library->bind(functions.put_variable, "DBPutQuadvar1");
  return whole ? &functions : nullptr;
}

namespace fs = std::filesystem;

/// Names of Silo's objects: letters, digits and underscores.
std::string silo_name(const std::string& name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out = "v_" + out;
  return out;
}

const std::string kEnding = ".silo";

class SiloFile : public ResultFile {
 public:
  SiloFile(const Silo& silo, const fs::path& path, const program::Program& program,
           const Keep& keep)
      : silo_(silo), stem_(path), program_(program), tables_(open_csv(path, program, keep)) {
    stem_.replace_extension();
    silo_.show_errors(DB_NONE, nullptr);  // failures are reported by our own message
    if (keep.generation) steps_ = moments_kept(stem_, kEnding, keep.at.step);
  }

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) override {
    tables_->scalars(names, at, values);
  }

  /// Whole lattices, component by component; all else goes to the tables.
  void table(Table table, const Moment& at) override {
    if (!table.inner.empty() && is_whole(table)) {
      for (const Table& one : components(table)) put(one, at);
    } else if (is_whole(table)) {
      unpack(table);
      put(table, at);
    } else {
      tables_->table(std::move(table), at);
    }
  }

  void swept(const Moment& at, std::span<const Swept> values) override {
    tables_->swept(at, values);
  }
  void plot(const std::string& name, const std::string& against, std::span<const double> x,
            std::span<const double> y, std::span<const double> error) override {
    tables_->plot(name, against, x, y, error);
  }

  void flush() override { tables_->flush(); }
  std::string mark(std::int64_t generation) override { return tables_->mark(generation); }
  void forget_before(std::int64_t generation) override { tables_->forget_before(generation); }
  std::vector<std::string> notes() const override { return tables_->notes(); }

 private:
  /// Values at every site of a lattice of one to three dimensions, of one instance.
  bool is_whole(const Table& table) const {
    const auto own = table.shape.end() - static_cast<std::ptrdiff_t>(table.inner.size());
    std::vector<std::int64_t> whole;
    for (int axis = program_.dims - 1; axis >= 0; --axis) whole.push_back(program_.extent[axis]);
    return table.row().arrays == program::OutputArrays::Whole && table.leading.empty() &&
           program_.dims <= 3 && std::equal(table.shape.begin(), own, whole.begin(), whole.end());
  }

  void put(const Table& table, const Moment& at) {
    const std::string path = file_of_moment(stem_, at.step, kEnding).string();
    const bool fresh = steps_.insert(at.step).second;
    DBfile* file =
        fresh ? silo_.create(path.c_str(), DB_CLOBBER, DB_LOCAL, program_.model.c_str(), DB_HDF5)
              : silo_.open(path.c_str(), DB_HDF5, DB_APPEND);
    if (file == nullptr) throw ResultsError(fmt::format("{} cannot be opened", path));
    const bool whole_mesh = !fresh || put_mesh(file, at);
    int sizes[3] = {1, 1, 1};
    for (int axis = 0; axis < program_.dims; ++axis)
      sizes[axis] = static_cast<int>(program_.extent[axis]);
    std::vector<float> narrow;
    const bool f32 = table.precision == program::Precision::F32;
    if (f32) narrow.assign(table.values.begin(), table.values.end());
    const void* data = f32 ? static_cast<const void*>(narrow.data()) : table.values.data();
    const bool put = silo_.put_variable(file, silo_name(table.name).c_str(), "lattice", data, sizes,
                                        program_.dims, nullptr, 0, f32 ? DB_FLOAT : DB_DOUBLE,
                                        DB_NODECENT, nullptr) == 0;
    const bool closed = silo_.close(file) == 0;
    if (!whole_mesh || !put || !closed)
      throw ResultsError(fmt::format("{} cannot be written (is the disk full?)", path));
    if (fresh) list();
  }

  bool put_mesh(DBfile* file, const Moment& at) const {
    std::vector<double> coordinates[3];
    const void* pointers[3] = {nullptr, nullptr, nullptr};
    int sizes[3] = {1, 1, 1};
    for (int axis = 0; axis < program_.dims; ++axis) {
      const auto n = program_.extent[axis];
      sizes[axis] = static_cast<int>(n);
      for (std::int64_t i = 0; i < n; ++i)
        coordinates[axis].push_back((static_cast<double>(i) - static_cast<double>(n - 1) / 2) *
                                    program_.dx_physical);
      pointers[axis] = coordinates[axis].data();
    }
    DBoptlist* options = silo_.make_options(2);
    double time = at.time;
    int cycle = static_cast<int>(at.step);
    silo_.add_option(options, DBOPT_DTIME, &time);
    silo_.add_option(options, DBOPT_CYCLE, &cycle);
    const char* names[3] = {"x", "y", "z"};
    const int code = silo_.put_mesh(file, "lattice", names, pointers, sizes, program_.dims,
                                    DB_DOUBLE, DB_COLLINEAR, options);
    silo_.free_options(options);
    return code == 0;
  }

  void list() const {
    std::ofstream visit(stem_.string() + ".visit");
    for (std::int64_t step : steps_)
      visit << file_of_moment(stem_.filename(), step, kEnding).string() << '\n';
    visit.flush();
    if (!visit) throw ResultsError(fmt::format("{}.visit cannot be written", stem_.string()));
  }

  const Silo& silo_;
  fs::path stem_;
  const program::Program& program_;
  std::unique_ptr<ResultFile> tables_;
  std::set<std::int64_t> steps_;
};

}  // namespace

bool have_silo() { return silo() != nullptr; }

std::unique_ptr<ResultFile> open_silo(const fs::path& path, const program::Program& program,
                                      const Keep& keep) {
  if (!silo())
    throw ResultsError("a result file in SILO needs libsilo: apt-get install libsilo-dev");
  return std::make_unique<SiloFile>(*silo(), path, program, keep);
}

}  // namespace vphi::io

#else

namespace vphi::io {

bool have_silo() { return false; }

std::unique_ptr<ResultFile> open_silo(const std::filesystem::path&, const program::Program&,
                                      const Keep&) {
  throw ResultsError(
      "a result file in SILO needs libsilo: apt-get install libsilo-dev, then build again");
}

}  // namespace vphi::io

#endif
