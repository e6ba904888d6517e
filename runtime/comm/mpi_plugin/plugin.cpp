#include "runtime/comm/mpi_plugin/plugin.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr long kMost = 1L << 30;  ///< bytes of one message: MPI counts in int
constexpr int kTag = 1;

MPI_Comm all = MPI_COMM_NULL;  ///< own: messages of other code in this process never meet ours
bool initialised_here = false;

/// In pieces that MPI can count.
template <class Step>
int in_pieces(long count, const Step& step) {
  for (long at = 0; at < count; at += kMost) {
    const int error = step(at, static_cast<int>(std::min(kMost, count - at)));
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

void copy_text(const char* from, int length, char* to, int room) {
  const int count = std::max(0, std::min(length, room - 1));
  std::memcpy(to, from, static_cast<std::size_t>(count));
  to[count] = 0;
}

}  // namespace

int vphi_mpi_version() { return VPHI_MPI_VERSION; }

int vphi_mpi_begin(int* rank, int* size, int* node_rank, int* node_size) {
  int there = 0;
  MPI_Initialized(&there);
  if (there == 0) {
    int provided = 0;
    const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (error != MPI_SUCCESS) return error;
    initialised_here = true;
  }
  int error = MPI_Comm_dup(MPI_COMM_WORLD, &all);
  if (error != MPI_SUCCESS) return error;
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_rank(all, rank);
  MPI_Comm_size(all, size);
  MPI_Comm node = MPI_COMM_NULL;
  error = MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &node);
  if (error != MPI_SUCCESS) return error;
  MPI_Comm_rank(node, node_rank);
  MPI_Comm_size(node, node_size);
  return MPI_Comm_free(&node);
}

int vphi_mpi_share(void* bytes, long count) {
  return in_pieces(count, [&](long at, int piece) {
    return MPI_Bcast(static_cast<char*>(bytes) + at, piece, MPI_BYTE, 0, all);
  });
}

int vphi_mpi_send(const void* bytes, long count, int to) {
  return in_pieces(count, [&](long at, int piece) {
    return MPI_Send(static_cast<const char*>(bytes) + at, piece, MPI_BYTE, to, kTag, all);
  });
}

int vphi_mpi_receive(void* bytes, long count, int from) {
  return in_pieces(count, [&](long at, int piece) {
    return MPI_Recv(static_cast<char*>(bytes) + at, piece, MPI_BYTE, from, kTag, all,
                    MPI_STATUS_IGNORE);
  });
}

int vphi_mpi_to_all(const void* own, long count, void* to, long all_count) {
  int ranks = 0;
  MPI_Comm_size(all, &ranks);
  const int bytes = static_cast<int>(std::min(count, kMost));
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts.size());
  const int error = MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, all);
  if (error != MPI_SUCCESS) return error;
  long sum = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    places[r] = static_cast<int>(sum);
    sum += counts[r];
    if (sum > std::numeric_limits<int>::max()) return MPI_ERR_COUNT;
  }
  if (sum != all_count) return MPI_ERR_TRUNCATE;
  return MPI_Allgatherv(own, bytes, MPI_BYTE, to, counts.data(), places.data(), MPI_BYTE, all);
}

int vphi_mpi_swap(const void* give, long give_count, int to, void* get, long get_count, int from) {
  // Beyond the end of the shorter one its other side expects nothing.
  const auto piece = [](long count, long at) {
    return static_cast<int>(std::clamp(count - at, 0L, kMost));
  };
  return in_pieces(std::max(give_count, get_count), [&](long at, int) {
    return MPI_Sendrecv(static_cast<const char*>(give) + std::min(at, give_count),
                        piece(give_count, at), MPI_BYTE, at < give_count ? to : MPI_PROC_NULL, kTag,
                        static_cast<char*>(get) + std::min(at, get_count), piece(get_count, at),
                        MPI_BYTE, at < get_count ? from : MPI_PROC_NULL, kTag, all,
                        MPI_STATUS_IGNORE);
  });
}

void vphi_mpi_abort(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

int vphi_mpi_end() {
  if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
  if (!initialised_here) return MPI_SUCCESS;
  initialised_here = false;
  return MPI_Finalize();
}

void vphi_mpi_library(char* text, int room) {
  char name[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(name, &length);
  copy_text(name, length, text, room);
}

void vphi_mpi_words(int error, char* text, int room) {
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(error, words, &length);
  copy_text(words, length, text, room);
}
