// u' = v, v' = lap(u)
// A group marches along z over a tile of 64 x 4 sites. Planes are staged in local memory
// 4 deep; what a plane gives to the sums of its neighbours is carried along in registers.
#define VPHI_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
// A launch may begin while the one before it ends: here it waits for that end, and then sees all
// that was written.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define VPHI_AWAIT asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define VPHI_AWAIT
#endif
// The larger and the smaller of two numbers, and NaN where one of them is.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define VPHI_HIGHER(m, a, b) asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b))
#define VPHI_LOWER(m, a, b) asm("min.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b))
#else
#define VPHI_HIGHER(m, a, b) m = a < b ? b : a
#define VPHI_LOWER(m, a, b) m = b < a ? b : a
#endif
#define VPHI_INLINE static __device__ __forceinline__
#define VPHI_GLOBAL
#define VPHI_LOCAL __shared__
#define VPHI_LOCAL_POINTER
#define VPHI_RESTRICT __restrict__
#define VPHI_UNROLL _Pragma("unroll")
#define VPHI_UNROLL_BY(n) VPHI_PRAGMA(unroll n)
#define VPHI_PRAGMA(text) _Pragma(#text)
#define VPHI_ROLLED _Pragma("unroll 1")
#define VPHI_INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define VPHI_NAN __longlong_as_double(0x7ff8000000000000LL)
typedef unsigned vphi_index;

VPHI_INLINE unsigned vphi_local_id() { return threadIdx.x; }
VPHI_INLINE unsigned vphi_group_x() { return blockIdx.x; }
VPHI_INLINE unsigned vphi_group_y() { return blockIdx.y; }
VPHI_INLINE unsigned vphi_group_z() { return blockIdx.z; }
VPHI_INLINE unsigned vphi_groups_z() { return gridDim.z; }
VPHI_INLINE unsigned vphi_group() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
VPHI_INLINE unsigned vphi_groups() { return gridDim.x * gridDim.y * gridDim.z; }
VPHI_INLINE void vphi_barrier() { __syncthreads(); }
VPHI_INLINE void vphi_barrier_all() { __syncthreads(); }
// Orders this thread's writes to device memory before what other groups see later.
VPHI_INLINE void vphi_fence() { __threadfence(); }
VPHI_INLINE unsigned vphi_count_one(unsigned* counter) { return atomicAdd(counter, 1u); }
// Written by another group: past the caches that groups do not share.
VPHI_INLINE double vphi_load_shared(const double* from) { return __ldcg(from); }

VPHI_INLINE double vphi_select_f64(int test, double yes, double no) { return test ? yes : no; }
VPHI_INLINE vphi_index vphi_select_index(int test, vphi_index yes, vphi_index no) {
  return test ? yes : no;
}
// Index of a neighbour. `up` is the distance modulo n, so that one comparison is enough.
VPHI_INLINE vphi_index vphi_wrapped(vphi_index i, vphi_index up, vphi_index n) {
  return i + up - vphi_select_index(i + up >= n, n, 0);
}
typedef double2 vphi_vector;                   // 16 bytes
typedef union {
  vphi_vector v;
  double e[2];
} vphi_pack;

// A vector from device to local memory, without passing through registers. Fetching the whole
// 128-byte line into the cache gained 1 % (H200, 512^3).
VPHI_INLINE void vphi_copy_vector(vphi_vector* to, const double* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
VPHI_INLINE void vphi_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until no more than the newest 2 groups of copies are under way.
VPHI_INLINE void vphi_arrived() {
#ifdef VPHI_WAIT_FOR_ALL_COPIES
  asm volatile("cp.async.wait_group 0;" ::: "memory");
#else
  asm volatile("cp.async.wait_group 2;" ::: "memory");
#endif
}
VPHI_INLINE void vphi_all_arrived() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
VPHI_INLINE void vphi_store_vector(double* to, vphi_vector value) { *(vphi_vector*)to = value; }
VPHI_INLINE double vphi_lane_below(double value) {
  return __shfl_up_sync(0xffffffffu, value, 1, 32);
}
VPHI_INLINE double vphi_lane_above(double value) {
  return __shfl_down_sync(0xffffffffu, value, 1, 32);
}
typedef struct {
  double v_c;
  double u_lap7;
  double u_c;
} vphi_in_wave;

typedef struct {
  double v_new;
  double u_new;
  double kinetic_sum;
} vphi_out_wave;

typedef struct {
  double dt_s;
} vphi_par_wave;

VPHI_INLINE vphi_out_wave vphi_site_wave(const vphi_in_wave in, const vphi_par_wave par) {
  vphi_out_wave out;
  const double w_1 = in.v_c + par.dt_s*in.u_lap7;
  out.v_new = w_1;
  out.u_new = in.u_c + par.dt_s*w_1;
  out.kinetic_sum = 0.5*w_1*w_1;
  return out;
}

VPHI_INLINE vphi_par_wave vphi_par_of_wave(VPHI_GLOBAL const double* scalars) {
  vphi_par_wave par;
  const double dt_s = scalars[0];
  par.dt_s = dt_s;
  return par;
}

typedef struct {
  double dt_s;
  double t_s;
} vphi_before_wave;

VPHI_INLINE vphi_before_wave vphi_before_of_wave(VPHI_GLOBAL const double* scalars) {
  vphi_before_wave before;
  before.dt_s = scalars[0];
  before.t_s = scalars[1];
  return before;
}

VPHI_INLINE void vphi_epilogue_wave(VPHI_GLOBAL double* scalars, const vphi_before_wave before,
    const double* total) {
  const double kinetic_s = total[0];
  scalars[2] = kinetic_s;
  const double t_new = before.t_s + before.dt_s;
  scalars[1] = t_new;
}

VPHI_INLINE double vphi_join_wave(unsigned which, double a, double b) {
  (void)which;
  return a + b;
}
VPHI_INLINE double vphi_neutral_wave(unsigned which) {
  (void)which;
  return 0.0;
}
// Folds the columns of `tree` (one value a thread and reduction) in a fixed order: first the
// threads that are a multiple of 32 apart, then the 32 lanes. Thread r < 1 gives the
// result of reduction r, valid for it alone.
VPHI_INLINE double vphi_fold_wave(VPHI_LOCAL_POINTER double* tree, unsigned thread) {
  VPHI_ROLLED
  for (unsigned r = thread / 32u; r < 1u; r += 128u / 32u) {
    VPHI_LOCAL_POINTER double* column = tree + r * 128u + thread % 32u;
    double value = column[0];
    VPHI_UNROLL

    for (unsigned i = 32u; i < 128u; i += 32u)
      value = vphi_join_wave(r, value, column[i]);
    column[0] = value;
  }
  vphi_barrier();
  double value = 0.0;
  if (thread < 1u) {
    const VPHI_LOCAL_POINTER double* row = tree + thread * 128u;
    double strand[4] = {row[0], row[1], row[2], row[3]};
    VPHI_UNROLL
    for (unsigned i = 4; i < 32u; i += 4) {
      VPHI_UNROLL
      for (unsigned j = 0; j < 4; ++j)
        strand[j] = vphi_join_wave(thread, strand[j], row[i + j]);
    }
    value = vphi_join_wave(thread, vphi_join_wave(thread, strand[0], strand[1]),
                             vphi_join_wave(thread, strand[2], strand[3]));
  }
  return value;
}

// The group's share goes to `partials`; the last group to arrive folds all shares in their own
// order, so the result has the same bits at every run, and takes the scalars one step on.
VPHI_INLINE void vphi_finish_wave(VPHI_LOCAL_POINTER double* tree,
                                    VPHI_LOCAL_POINTER unsigned* last, unsigned thread,
                                    VPHI_GLOBAL double* partials, VPHI_GLOBAL unsigned* counter,
                                    VPHI_GLOBAL double* scalars) {
  const unsigned groups = vphi_groups();
  const double share = vphi_fold_wave(tree, thread);
  if (thread < 1u) partials[thread * groups + vphi_group()] = share;
  vphi_barrier_all();  // and everybody has read the scalars
  if (thread == 0) {
    vphi_fence();
    *last = vphi_count_one(counter) == groups - 1u;
  }
  vphi_barrier();
  if (!*last) return;
  vphi_fence();
  const vphi_before_wave before = vphi_before_of_wave(scalars);
  VPHI_ROLLED
  for (unsigned first = 0; first < 1u; first += 1u) {
    double value[1];
    VPHI_UNROLL
    for (unsigned i = 0; i < 1u; ++i) value[i] = vphi_neutral_wave(first + i);
    VPHI_UNROLL_BY(4)
    for (unsigned group = thread; group < groups; group += 128u) {
      VPHI_UNROLL
      for (unsigned i = 0; i < 1u; ++i)
        value[i] = vphi_join_wave(first + i, value[i],
                                    vphi_load_shared(partials + (first + i) * groups + group));
    }
    VPHI_UNROLL
    for (unsigned i = 0; i < 1u; ++i) tree[(first + i) * 128u + thread] = value[i];
  }
  vphi_barrier();
  const double total_here = vphi_fold_wave(tree, thread);
  vphi_barrier();
  if (thread < 1u) tree[thread] = total_here;
  vphi_barrier_all();  // and `before` is known to everybody
  if (thread == 0) {
    double total[1];
    VPHI_UNROLL
    for (unsigned r = 0; r < 1u; ++r) total[r] = tree[r];
    vphi_epilogue_wave(scalars, before, total);
    *counter = 0u;
  }
}
VPHI_KERNEL(128, 1) vphi_wave(
    VPHI_GLOBAL const double* VPHI_RESTRICT vphi_u,
    VPHI_GLOBAL double* VPHI_RESTRICT vphi_u_next,
    VPHI_GLOBAL double* VPHI_RESTRICT vphi_v,
    VPHI_GLOBAL double* scalars,
    VPHI_GLOBAL double* partials,
    VPHI_GLOBAL unsigned* counter) {
  VPHI_AWAIT;
  extern __shared__ vphi_vector staging[];
  VPHI_LOCAL unsigned last;

  const unsigned thread = vphi_local_id();
  const unsigned lane = thread % 32u, line = thread / 32u;
  const unsigned x0 = vphi_group_x() * 64u, y0 = vphi_group_y() * 4u;
  const unsigned x = x0 + lane * 2u;
  const unsigned z0 = 64u * vphi_group_z() / vphi_groups_z();
  const unsigned planes = 64u * (vphi_group_z() + 1u) / vphi_groups_z() - z0;
  const unsigned steps = planes + 2u;
  // Where this thread's vectors come from within a plane, and where they go within a stage.
  vphi_index row_at[2];
  VPHI_UNROLL
  for (int i = 0; i < 2; ++i)
    row_at[i] = vphi_wrapped(vphi_wrapped(y0, 63u, 64u), (line + i * 4u) % 64u, 64u)*64u + x;
  const int first_lane = lane % 32u == 0u, last_lane = lane % 32u == 31u;
  const unsigned beyond_1 =
      (unsigned)vphi_select_index(first_lane, (lane*2u + 63u) % 64u,
                                  ((lane | 31u)*2u + 2u) % 64u);
  vphi_index halo_plane = (vphi_index)((z0 + 63u) % 64u) * 4096u;
  vphi_index centre_plane = (vphi_index)z0 * 4096u;
  unsigned load_step = 0u, load_stage = 0u, stage = 0u;
  VPHI_ROLLED
  for (int ahead = 0; ahead < 3; ++ahead) {
    if (load_step < steps) {
      VPHI_LOCAL_POINTER vphi_vector* to = staging + load_stage;
      VPHI_UNROLL
      for (int i = 0; i < 2; ++i) {
        const unsigned row = line + i * 4u;
        if (i < 1 || row < 6u) {
          vphi_copy_vector(to + 0 + row*32u + 0u + lane,
                           vphi_u + (halo_plane + row_at[i]));
        }
      }
      if (load_step >= 2u) {
        vphi_copy_vector(to + 192 + (line + 0u)*32u + lane,
                         vphi_v + (centre_plane + (y0 + line + 0u)*64u + x));
        centre_plane += 4096u;
      }
      halo_plane = vphi_wrapped(halo_plane, 4096u, 262144u);
    }
    vphi_commit();
    ++load_step;
    load_stage = load_stage == 960u ? 0u : load_stage + 320u;
  }
  const vphi_par_wave par = vphi_par_of_wave(scalars);
  vphi_index at = (vphi_index)z0 * 4096u + (y0 + line * 1u) * 64u + x;
  double kinetic_sum = (double)0;
  double u_lap7[1][2];
  double u_lap7_share[2][1][2] = {{{0}}};
  vphi_pack u_waiting[2][1];
  VPHI_ROLLED
  for (unsigned step = 0u; step < steps; ++step) {
    vphi_arrived();
    vphi_barrier();                             // and all are done with the stage refilled now
    if (load_step < steps) {
      VPHI_LOCAL_POINTER vphi_vector* to = staging + load_stage;
      VPHI_UNROLL
      for (int i = 0; i < 2; ++i) {
        const unsigned row = line + i * 4u;
        if (i < 1 || row < 6u) {
          vphi_copy_vector(to + 0 + row*32u + 0u + lane,
                           vphi_u + (halo_plane + row_at[i]));
        }
      }
      if (load_step >= 2u) {
        vphi_copy_vector(to + 192 + (line + 0u)*32u + lane,
                         vphi_v + (centre_plane + (y0 + line + 0u)*64u + x));
        centre_plane += 4096u;
      }
      halo_plane = vphi_wrapped(halo_plane, 4096u, 262144u);
    }
    vphi_commit();
    ++load_step;
    load_stage = load_stage == 960u ? 0u : load_stage + 320u;
    const VPHI_LOCAL_POINTER vphi_vector* here = staging + stage;
    stage = stage == 960u ? 0u : stage + 320u;
    {
      vphi_pack u_rows[3];
      VPHI_UNROLL
      for (int j = 0; j < 3; ++j)
        u_rows[j].v = here[0 + (line*1u + j)*32u + 0u + lane];
      const VPHI_LOCAL_POINTER double* u_here =
          (const VPHI_LOCAL_POINTER double*)(here + 0);
      double u_column0[1][4];
      VPHI_UNROLL
      for (int j = 0; j < 1; ++j) {
        VPHI_UNROLL
        for (int i = 0; i < 2; ++i)
          u_column0[j][1 + i] = u_rows[j + 1].e[i];
        const double beyond_value_1 = u_here[(line*1u + j + 1u)*64u + beyond_1];
        const double below_value_1 = vphi_lane_below(u_column0[j][2]);
        const double above_value_1 = vphi_lane_above(u_column0[j][1]);
        u_column0[j][0] = vphi_select_f64(first_lane, beyond_value_1, below_value_1);
        u_column0[j][3] = vphi_select_f64(last_lane, beyond_value_1, above_value_1);
      }
      double u_column1[1][2];
      VPHI_UNROLL
      for (int j = 0; j < 1; ++j) {
        VPHI_UNROLL
        for (int i = 0; i < 2; ++i)
          u_column1[j][0 + i] = u_rows[j + 0].e[i] + u_rows[j + 2].e[i];
      }
      VPHI_UNROLL
      for (int j = 0; j < 1; ++j) {
        VPHI_UNROLL
        for (int i = 0; i < 2; ++i) {
          const double class_0 = u_column0[j][i + 1];
          const double class_1 = u_column0[j][i + 0] + u_column1[j][i + 0] + u_column0[j][i + 2];
          const double share_0 = class_0;
          const double share_1 = (-6.0)*class_0 + class_1;
          u_lap7[j][i] = u_lap7_share[0][j][i] + share_0;
          u_lap7_share[0][j][i] = u_lap7_share[1][j][i] + share_1;
          u_lap7_share[1][j][i] = share_0;
        }
      }
      VPHI_UNROLL
      for (int j = 0; j < 1; ++j)
        u_waiting[1][j] = u_rows[j + 1];
    }
    if (step >= 2u) {
      VPHI_UNROLL
      for (int j = 0; j < 1; ++j) {
        vphi_pack v_here;
        v_here.v = here[192 + (line*1u + j)*32u + lane];
        vphi_pack v_new;
        vphi_pack u_new;
        double kinetic_sum_part[2];
        VPHI_UNROLL
        for (int i = 0; i < 2; ++i) {
          vphi_in_wave in;
          in.u_c = u_waiting[0][j].e[i];
          in.u_lap7 = u_lap7[j][i];
          in.v_c = v_here.e[i];
          const vphi_out_wave out = vphi_site_wave(in, par);
          v_new.e[i] = out.v_new;
          u_new.e[i] = out.u_new;
          kinetic_sum_part[i] = out.kinetic_sum;
        }
        vphi_store_vector(vphi_v + (at + j * 64u), v_new.v);
        vphi_store_vector(vphi_u_next + (at + j * 64u), u_new.v);
        kinetic_sum = kinetic_sum + kinetic_sum_part[0] + kinetic_sum_part[1];
      }
      at += 4096u;
    }
    VPHI_UNROLL
    for (int j = 0; j < 1; ++j) u_waiting[0][j] = u_waiting[1][j];
  }
  vphi_all_arrived();
  vphi_barrier();
  VPHI_LOCAL_POINTER double* tree = (VPHI_LOCAL_POINTER double*)staging;
  tree[0u + thread] = (double)kinetic_sum;
  vphi_barrier();
  vphi_finish_wave(tree, &last, thread, partials, counter, scalars);
}
