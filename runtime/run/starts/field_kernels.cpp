#include "runtime/run/starts/field_kernels.hpp"

#include <array>
#include <span>

#include "program/philox.hpp"

namespace vphi::runtime {
namespace {

using program::Precision;
using program::Target;

constexpr std::uint32_t kThreads = 128;

constexpr const char* kCuda = R"(#define VPHI_KERNEL extern "C" __global__ void
#define VPHI_GLOBAL
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#define VPHI_INDEX ((i64)blockIdx.x * blockDim.x + threadIdx.x)
)";

constexpr const char* kOpenCl = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define VPHI_KERNEL __kernel void
#define VPHI_GLOBAL __global
typedef uint u32;
typedef ulong u64;
typedef long i64;
#define VPHI_INDEX ((i64)get_global_id(0))
)";

// Philox (program/philox.hpp) and Box-Muller, as runtime/random/philox.hpp.
constexpr const char* kShared = R"(
#define VPHI_PI 3.14159265358979323846
typedef struct { u32 w[4]; } vphi_words;
typedef struct { double a, b; } vphi_pair;

vphi_words vphi_philox(u32 c0, u32 c1, u32 c2, u32 c3, VPHI_GLOBAL const double* sheet) {
  u32 k0 = (u32)sheet[SEED_LOW], k1 = (u32)sheet[SEED_HIGH];
  for (int round = 0; round < PHILOX_ROUNDS; ++round) {
    const u64 p0 = (u64)PHILOX_MULTIPLY_0 * c0, p1 = (u64)PHILOX_MULTIPLY_2 * c2;
    const u32 x0 = (u32)(p1 >> 32) ^ c1 ^ k0, x2 = (u32)(p0 >> 32) ^ c3 ^ k1;
    c1 = (u32)p1, c3 = (u32)p0, c0 = x0, c2 = x2;
    k0 += PHILOX_KEY_STEP_0, k1 += PHILOX_KEY_STEP_1;
  }
  vphi_words out = {{c0, c1, c2, c3}};
  return out;
}
double vphi_uniform(u32 low, u32 high) {
  return ((double)(((u64)high << 32 | low) >> 12) + 0.5) * 2.220446049250313e-16;
}
vphi_pair vphi_normal(vphi_words v) {
  const double radius = sqrt(-2 * log(vphi_uniform(v.w[0], v.w[1])));
  const double angle = 2 * VPHI_PI * vphi_uniform(v.w[2], v.w[3]);
  vphi_pair out = {radius * cos(angle), radius * sin(angle)};
  return out;
}
i64 vphi_near(i64 i, i64 n) { return i < n - i ? i : n - i; }
)";

constexpr const char* kLayCorrelator = R"(
VPHI_KERNEL vphi_field(VPHI_GLOBAL double* box, VPHI_GLOBAL const double* correlator,
                       VPHI_GLOBAL const double* sheet) {
  const i64 nx = (i64)sheet[NX], ny = (i64)sheet[NY], nz = (i64)sheet[NZ], pitch = 2 * (nx / 2 + 1);
  const i64 i = VPHI_INDEX;
  if (i >= nx * (i64)sheet[ROWS]) return;
  const i64 row = i / nx + (i64)sheet[ROWSBEFORE];
  const double x = (double)vphi_near(i % nx, nx), y = (double)vphi_near(row % ny, ny);
  const double z = (double)vphi_near(row / ny, nz);
  const double r = sqrt(x * x + y * y + z * z) * 16;
  const i64 at = (i64)r;
  box[i / nx * pitch + i % nx] =
      correlator[at] + (r - (double)at) * (correlator[at + 1] - correlator[at]);
}
)";

// Mode n has the random numbers of (n, stream); of a pair in the planes n_x = 0 and n_x = N_x/2 the
// one that comes first is drawn and the other is its conjugate.
constexpr const char* kColourModes = R"(
VPHI_KERNEL vphi_field(VPHI_GLOBAL double* box, VPHI_GLOBAL const double* sheet) {
  const i64 nx = (i64)sheet[NX], ny = (i64)sheet[NY], nz = (i64)sheet[NZ], half_x = nx / 2 + 1;
  const i64 columns = (i64)sheet[COLUMNS], i = VPHI_INDEX;
  if (i >= (i64)sheet[MODES]) return;
  const i64 column = i % columns + (i64)sheet[COLUMNFIRST], along = i / columns;
  const i64 x = column % half_x, y = nz > 1 ? column / half_x : along, z = nz > 1 ? along : 0;
  const i64 row = z * ny + y, zero = x == 0 && row == 0;
  const i64 mirror_y = (ny - y) % ny, mirror_z = (nz - z) % nz, mirror = mirror_z * ny + mirror_y;
  double rms = box[2 * i];  // the correlator's transform is real
  if (sheet[LAID] == 0) {
    const double kx = (double)x * sheet[DKX], ky = (double)vphi_near(y, ny) * sheet[DKY];
    const double kz = (double)vphi_near(z, nz) * sheet[DKZ];
    const double k = sqrt(kx * kx + ky * ky + kz * kz);
    const double omega = sqrt(k * k + sheet[MASS2]);
    rms = zero ? 0 : sqrt(sheet[VELOCITY] != 0 ? omega / 2 : 1 / (2 * omega));
    const double q = k / sheet[CUT];
    rms *= sheet[SMOOTH] != 0 ? exp(-q * q) : k <= sheet[CUT] ? 1 : 0;
  }
  rms *= zero ? 0 : sheet[SCALE];
  const int paired = x == 0 || 2 * x == nx;
  const int drawn_there = paired && mirror < row;
  const i64 from_y = drawn_there ? mirror_y : y, from_z = drawn_there ? mirror_z : z;
  const i64 ky = from_y <= ny / 2 ? from_y : from_y - ny;
  const i64 kz = from_z <= nz / 2 ? from_z : from_z - nz;
  const vphi_pair g = vphi_normal(vphi_philox((u32)x, (u32)(int)ky, (u32)(int)kz,
                                              (u32)sheet[STREAM] | 0x80000000u, sheet));
  const int real = paired && mirror == row;
  const double half_root = 0.70710678118654752440;
  box[2 * i] = rms * (real ? g.a : g.a * half_root);
  box[2 * i + 1] = real ? 0 : rms * (drawn_there ? -g.b : g.b) * half_root;
}
)";

constexpr const char* kUnpad = R"(
VPHI_KERNEL vphi_field(VPHI_GLOBAL REAL* out, VPHI_GLOBAL const double* box,
                       VPHI_GLOBAL const double* sheet) {
  const i64 nx = (i64)sheet[NX], rows = (i64)sheet[ROWS], i = VPHI_INDEX;
  if (i < nx * rows) out[(i64)sheet[FIRST] + i] = (REAL)box[i / nx * 2 * (nx / 2 + 1) + i % nx];
}
)";

constexpr const char* kPad = R"(
VPHI_KERNEL vphi_field(VPHI_GLOBAL double* box, VPHI_GLOBAL const REAL* field,
                       VPHI_GLOBAL const double* sheet) {
  const i64 nx = (i64)sheet[NX], rows = (i64)sheet[ROWS], i = VPHI_INDEX;
  if (i < nx * rows) box[i / nx * 2 * (nx / 2 + 1) + i % nx] = (double)field[(i64)sheet[FIRST] + i];
}
)";

// Sites 2j and 2j + 1 have the two numbers of one call of the generator.
constexpr const char* kBySite = R"(
VPHI_KERNEL vphi_field(VPHI_GLOBAL REAL* out, VPHI_GLOBAL const double* sheet) {
  const i64 run = (i64)sheet[RUN], i = VPHI_INDEX;
  if (i >= (i64)sheet[SITES]) return;
  const i64 number = i / run, at = i % run;
  const i64 site = (i64)sheet[SITEFIRST] + number * (i64)sheet[RUNINLATTICE] + at, j = site / 2;
  const vphi_words v =
      vphi_philox((u32)j, (u32)((u64)j >> 32), (u32)sheet[STREAM], 0, sheet);
  out[(i64)sheet[FIRST] + number * (i64)sheet[RUNINMEMORY] + at] = (REAL)(sheet[SCALE] * VPHI_DRAW);
}
)";
constexpr const char* kNormal =
    "#define VPHI_DRAW (site % 2 == 0 ? vphi_normal(v).a : vphi_normal(v).b)\n";
constexpr const char* kUniform =
    "#define VPHI_DRAW (sheet[LOW] + (sheet[HIGH] - sheet[LOW]) * \\\n"
    "    (site % 2 == 0 ? vphi_uniform(v.w[0], v.w[1]) : vphi_uniform(v.w[2], v.w[3])))\n";

// A mode times its factor; what is done with the product, and the kind of factor, follow in front.
constexpr const char* kMultiplyModes = R"(
VPHI_KERNEL vphi_field(VPHI_GLOBAL double* to, VPHI_GLOBAL const double* from,
                       VPHI_GLOBAL const double* factors, VPHI_GLOBAL const double* sheet) {
  const i64 i = VPHI_INDEX;
  if (i >= (i64)sheet[MODES]) return;
  const double re = from[2 * i] * sheet[SCALE], im = from[2 * i + 1] * sheet[SCALE];
  to[2 * i] VPHI_PUT VPHI_RE;
  to[2 * i + 1] VPHI_PUT VPHI_IM;
}
)";
constexpr const char* kReal = "#define VPHI_RE factors[i] * re\n#define VPHI_IM factors[i] * im\n";
constexpr const char* kComplex =
    "#define VPHI_RE factors[2 * i] * re - factors[2 * i + 1] * im\n"
    "#define VPHI_IM factors[2 * i] * im + factors[2 * i + 1] * re\n";
constexpr const char *kSet = "#define VPHI_PUT =\n", *kAdd = "#define VPHI_PUT +=\n";

struct Entry {
  const char *name, *text;
  int arguments;
  const char *put = "", *factor = "";  ///< in front of the text
};

Entry entry_of(FieldKernel which) {
  switch (which) {
    case FieldKernel::LayCorrelator:
      return {"correlator of the vacuum", kLayCorrelator, 3};
    case FieldKernel::ColourModes:
      return {"modes of the vacuum", kColourModes, 2};
    case FieldKernel::Unpad:
      return {"rows to field", kUnpad, 3};
    case FieldKernel::Pad:
      return {"field to rows", kPad, 3};
    case FieldKernel::Normal:
      return {"normal numbers", kBySite, 2, kNormal};
    case FieldKernel::Uniform:
      return {"uniform numbers", kBySite, 2, kUniform};
    case FieldKernel::SetModesReal:
      return {"modes times real factors", kMultiplyModes, 4, kSet, kReal};
    case FieldKernel::AddModesReal:
      return {"modes times real factors, added", kMultiplyModes, 4, kAdd, kReal};
    case FieldKernel::SetModesComplex:
      return {"modes times factors", kMultiplyModes, 4, kSet, kComplex};
    case FieldKernel::AddModesComplex:
      return {"modes times factors, added", kMultiplyModes, 4, kAdd, kComplex};
  }
  return {};
}

/// #define NX 0 and so on, as in the enumeration.
std::string sheet_names() {
  constexpr std::array<const char*, kSheetSize> names{
      "NX",          "NY",    "NZ",     "SEED_LOW",  "SEED_HIGH",  "STREAM",      "MASS2",
      "VELOCITY",    "CUT",   "SMOOTH", "LAID",      "SCALE",      "DKX",         "DKY",
      "DKZ",         "LOW",   "HIGH",   "ROWS",      "ROWSBEFORE", "MODES",       "COLUMNS",
      "COLUMNFIRST", "FIRST", "SITES",  "SITEFIRST", "RUN",        "RUNINMEMORY", "RUNINLATTICE"};
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += std::string("#define ") + names[i] + " " + std::to_string(i) + "\n";
  return text;
}

/// The numbers of the generator.
std::string philox_names() {
  std::string text;
  const auto define = [&](const char* name, std::uint32_t value) {
    text += std::string("#define PHILOX_") + name + " " + std::to_string(value) + "u\n";
  };
  define("MULTIPLY_0", philox::kMultiply[0]);
  define("MULTIPLY_2", philox::kMultiply[1]);
  define("KEY_STEP_0", philox::kKeyStep[0]);
  define("KEY_STEP_1", philox::kKeyStep[1]);
  return text + "#define PHILOX_ROUNDS " + std::to_string(philox::kRounds) + "\n";
}

}  // namespace

program::Kernel field_kernel(FieldKernel which, Target target, Precision precision,
                             std::int64_t threads) {
  const Entry entry = entry_of(which);
  program::Kernel kernel;
  kernel.name = entry.name;
  kernel.entry = "vphi_field";
  kernel.source = std::string(target == Target::Cuda ? kCuda : kOpenCl) + sheet_names() +
                  philox_names() + "#define REAL " +
                  (precision == Precision::F32 ? "float" : "double") + "\n" + kShared + entry.put +
                  entry.factor + entry.text;
  kernel.arguments.resize(static_cast<std::size_t>(entry.arguments));
  kernel.grid[0] = static_cast<std::uint32_t>((threads + kThreads - 1) / kThreads);
  kernel.block[0] = kThreads;
  return kernel;
}

KernelHandle FieldKernels::prepare(FieldKernel which, Precision precision, std::int64_t threads) {
  KernelHandle& kernel = kernels_[{which, precision}];
  if (kernel.id < 0) {
    const auto source = field_kernel(which, device_.info().target, precision, threads);
    kernel = device_.compile(std::span(&source, 1)).front();
  }
  return kernel;
}

void FieldKernels::launch(FieldKernel which, Precision precision, std::int64_t threads,
                          std::initializer_list<BufferHandle> arguments) {
  const KernelHandle kernel = prepare(which, precision, threads);
  device_.launch(kernel, std::span(arguments.begin(), arguments.size()));
}

}  // namespace vphi::runtime
