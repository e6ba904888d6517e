// The C interface of libvphi_mpi.so: bytes between processes, by MPI.
//
// MPI has no binary interface that all its implementations share, so what calls it is a library of
// its own, compiled where it runs and opened at run time. Functions answer 0 or MPI's error, which
// vphi_mpi_words turns into text. All are called from the thread that has called vphi_mpi_begin.
#pragma once

#define VPHI_MPI_VERSION 2

extern "C" {
int vphi_mpi_version();
/// Initialises MPI where nobody has. Places and numbers among all ranks and those of this machine.
int vphi_mpi_begin(int* rank, int* size, int* node_rank, int* node_size);
/// From rank 0 to all.
int vphi_mpi_share(void* bytes, long count);
int vphi_mpi_send(const void* bytes, long count, int to);
int vphi_mpi_receive(void* bytes, long count, int from);
/// What each rank gives to all of them, by rank; together `all_count` bytes, at most 2^31 - 1.
int vphi_mpi_to_all(const void* own, long count, void* all, long all_count);
/// Sends to one rank and receives from another at the same time.
int vphi_mpi_swap(const void* give, long give_count, int to, void* get, long get_count, int from);
/// Ends all ranks, this one too.
void vphi_mpi_abort(int status);
/// Finalises MPI where vphi_mpi_begin has initialised it.
int vphi_mpi_end();
/// "Open MPI v4.1.4, ..." of the library; of an error.
void vphi_mpi_library(char* text, int room);
void vphi_mpi_words(int error, char* text, int room);
}
