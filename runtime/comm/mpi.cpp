#include "runtime/comm/mpi.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "runtime/comm/mpi_plugin/plugin.hpp"
#include "runtime/device/library.hpp"

namespace vphi::comm {

namespace {

using runtime::Library;

struct Api {
  decltype(vphi_mpi_version)* version = nullptr;
  decltype(vphi_mpi_begin)* begin = nullptr;
  decltype(vphi_mpi_share)* share = nullptr;
  decltype(vphi_mpi_send)* send = nullptr;
  decltype(vphi_mpi_receive)* receive = nullptr;
  decltype(vphi_mpi_to_all)* to_all = nullptr;
  decltype(vphi_mpi_swap)* swap = nullptr;
  decltype(vphi_mpi_abort)* abort = nullptr;
  decltype(vphi_mpi_end)* end = nullptr;
  decltype(vphi_mpi_library)* library = nullptr;
  decltype(vphi_mpi_words)* words = nullptr;

  bool bind(const Library& from) {
    return from.bind(version, "vphi_mpi_version") && version() == VPHI_MPI_VERSION &&
           from.bind(begin, "vphi_mpi_begin") && from.bind(share, "vphi_mpi_share") &&
           from.bind(send, "vphi_mpi_send") && from.bind(receive, "vphi_mpi_receive") &&
           from.bind(to_all, "vphi_mpi_to_all") && from.bind(swap, "vphi_mpi_swap") &&
           from.bind(abort, "vphi_mpi_abort") && from.bind(end, "vphi_mpi_end") &&
           from.bind(library, "vphi_mpi_library") && from.bind(words, "vphi_mpi_words");
  }
};

std::optional<Api> load(std::string* why) {
  *why =
      "libvphi_mpi.so is not beside the program (it is built where MPI is found: apt-get install "
      "libopenmpi-dev openmpi-bin)";
  for (const char* folder : {"/", "/../", "/lib/", "/../lib/"}) {
    const std::string file = runtime::program_folder() + folder + "libvphi_mpi.so";
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    std::string trouble;
    const auto library = Library::open({file}, Library::Close::Never, &trouble);
    Api api;
    if (library && api.bind(*library)) return api;
    *why = library ? file + " is of another version" : trouble;
  }
  return std::nullopt;
}

std::optional<int> number_in(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return std::nullopt;
  return std::atoi(text);
}

class Mpi : public Comm {
 public:
  explicit Mpi(const Api& api) : api_(api) {
    check(api_.begin(&rank_, &size_, &node_rank_, &node_size_));
  }
  ~Mpi() override { api_.end(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }
  bool processes() const override { return true; }

  void share(Bytes& bytes) override {
    long count = static_cast<long>(bytes.size());
    check(api_.share(&count, sizeof count));
    bytes.resize(static_cast<std::size_t>(count));
    check(api_.share(bytes.data(), count));
  }

  std::vector<Bytes> gather(std::span<const std::byte> own) override {
    if (rank_ != 0) {
      send(own, 0);
      return {};
    }
    std::vector<Bytes> all;
    all.emplace_back(own.begin(), own.end());
    for (int r = 1; r < size_; ++r) all.push_back(receive(r));
    return all;
  }

  Bytes deal(const std::vector<Bytes>& all) override {
    if (rank_ != 0) return receive(0);
    for (int r = 1; r < size_; ++r) send(all[static_cast<std::size_t>(r)], r);
    return all[0];
  }

  void to_all(std::span<const std::byte> own, std::span<std::byte> all) override {
    check(api_.to_all(own.data(), static_cast<long>(own.size()), all.data(),
                      static_cast<long>(all.size())));
  }

  void each_to_each(std::span<const std::span<const std::byte>> to,
                    std::span<const std::span<std::byte>> from) override {
    const auto own = static_cast<std::size_t>(rank_);
    std::ranges::copy(to[own], from[own].begin());
    for (int far = 1; far < size_; ++far) {
      const int above = (rank_ + far) % size_, below = (rank_ + size_ - far) % size_;
      swap(to[static_cast<std::size_t>(above)], above, from[static_cast<std::size_t>(below)],
           below);
    }
  }

  void ring(std::span<const std::byte> to_below, std::span<const std::byte> to_above,
            std::span<std::byte> from_below, std::span<std::byte> from_above) override {
    const int below = (rank_ + size_ - 1) % size_, above = (rank_ + 1) % size_;
    swap(to_below, below, from_above, above);
    swap(to_above, above, from_below, below);
  }

  void abort(const std::string&) noexcept override { api_.abort(4); }

 private:
  void check(int error) const {
    if (error == 0) return;
    std::array<char, 512> text{};
    api_.words(error, text.data(), static_cast<int>(text.size()));
    throw CommError(std::string("MPI: ") + text.data());
  }
  void swap(std::span<const std::byte> give, int to, std::span<std::byte> get, int from) const {
    check(api_.swap(give.data(), static_cast<long>(give.size()), to, get.data(),
                    static_cast<long>(get.size()), from));
  }
  void send(std::span<const std::byte> bytes, int to) const {
    const long count = static_cast<long>(bytes.size());
    check(api_.send(&count, sizeof count, to));
    check(api_.send(bytes.data(), count, to));
  }
  Bytes receive(int from) const {
    long count = 0;
    check(api_.receive(&count, sizeof count, from));
    Bytes bytes(static_cast<std::size_t>(count));
    check(api_.receive(bytes.data(), count, from));
    return bytes;
  }

  Api api_;
  int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
};

}  // namespace

std::optional<Launched> launched() {
  const auto of = [](const char* rank, const char* size,
                     const char* by) -> std::optional<Launched> {
    const auto own = number_in(rank);
    if (!own) return std::nullopt;
    const Launched found{*own, number_in(size).value_or(-1), by};
    return found.size == 1 ? std::nullopt : std::optional(found);
  };
  // A batch script itself has the variables of its job, but no step of it.
  const bool step = std::getenv("SLURM_STEP_NUM_TASKS") != nullptr;
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr)
    return of("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun");
  if (step) return of("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun");
  if (std::getenv("PMI_RANK") != nullptr) return of("PMI_RANK", "PMI_SIZE", "mpirun");
  return of("PMIX_RANK", "PMIX_SIZE", "mpirun");
}

std::unique_ptr<Comm> open_mpi(std::string* why) {
  const auto api = load(why);
  return api ? std::make_unique<Mpi>(*api) : nullptr;
}

std::string mpi_description() {
  std::string why;
  const auto api = load(&why);
  if (!api) return why;
  std::array<char, 512> text{};
  api->library(text.data(), static_cast<int>(text.size()));
  const std::string all = text.data();
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace vphi::comm
