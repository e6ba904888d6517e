// u' = v, v' = lap(u)
// One thread a site; neighbours by index arithmetic.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT ON
#ifdef VPHI_REGISTERS
#define VPHI_KERNEL(threads, blocks) __kernel void
#else
#define VPHI_KERNEL(threads, blocks) \
  __kernel void __attribute__((reqd_work_group_size(threads, 1, 1)))
#endif
#define VPHI_AWAIT
#define VPHI_INLINE static inline
#define VPHI_GLOBAL __global
#define VPHI_LOCAL __local
#define VPHI_LOCAL_POINTER __local
#define VPHI_RESTRICT restrict
#define VPHI_UNROLL __attribute__((opencl_unroll_hint))
#define VPHI_UNROLL_BY(n) __attribute__((opencl_unroll_hint(n)))
#define VPHI_ROLLED __attribute__((opencl_unroll_hint(1)))
#define VPHI_INFINITY ((double)INFINITY)
#define VPHI_NAN ((double)NAN)
#define VPHI_VECTORISE _Pragma("clang loop vectorize(enable)")
typedef unsigned vphi_index;

VPHI_INLINE unsigned vphi_local_id(void) { return (unsigned)get_local_id(0); }
VPHI_INLINE unsigned vphi_group(void) {
  return (unsigned)(get_group_id(0) +
                    get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)));
}
VPHI_INLINE unsigned vphi_groups(void) {
  return (unsigned)(get_num_groups(0) * get_num_groups(1) * get_num_groups(2));
}
VPHI_INLINE void vphi_barrier(void) { barrier(CLK_LOCAL_MEM_FENCE); }
VPHI_INLINE void vphi_barrier_all(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
// Orders this thread's writes to device memory before what other groups see later.
VPHI_INLINE void vphi_fence(void) { mem_fence(CLK_GLOBAL_MEM_FENCE); }
VPHI_INLINE unsigned vphi_count_one(__global unsigned* counter) {
  return atomic_inc((volatile __global unsigned*)counter);
}
// Written by another group: past the caches that groups do not share.
VPHI_INLINE double vphi_load_shared(__global const double* from) {
  return *(volatile __global const double*)from;
}

VPHI_INLINE double vphi_select_f64(int test, double yes, double no) { return test ? yes : no; }
VPHI_INLINE vphi_index vphi_select_index(int test, vphi_index yes, vphi_index no) {
  return test ? yes : no;
}
VPHI_INLINE vphi_index vphi_below(vphi_index i, vphi_index down) {
  return vphi_select_index(i < down, 0, i - down);
}
VPHI_INLINE vphi_index vphi_above(vphi_index i, vphi_index up, vphi_index n) {
  return vphi_select_index(i + up >= n, n - 1, i + up);
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
  for (unsigned r = thread / 32u; r < 1u; r += 256u / 32u) {
    VPHI_LOCAL_POINTER double* column = tree + r * 256u + thread % 32u;
    double value = column[0];
    VPHI_ROLLED

    for (unsigned i = 32u; i < 256u; i += 32u)
      value = vphi_join_wave(r, value, column[i]);
    column[0] = value;
  }
  vphi_barrier();
  double value = 0.0;
  if (thread < 1u) {
    value = tree[thread * 256u];
    VPHI_ROLLED
    for (unsigned i = 1; i < 32u; ++i)
      value = vphi_join_wave(thread, value, tree[thread * 256u + i]);
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
  vphi_fence();

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
    for (unsigned group = thread; group < groups; group += 256u) {
      VPHI_UNROLL
      for (unsigned i = 0; i < 1u; ++i)
        value[i] = vphi_join_wave(first + i, value[i],
                                    vphi_load_shared(partials + (first + i) * groups + group));
    }
    VPHI_UNROLL
    for (unsigned i = 0; i < 1u; ++i) tree[(first + i) * 256u + thread] = value[i];
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
VPHI_KERNEL(256, 1) vphi_wave(
    VPHI_GLOBAL const double* VPHI_RESTRICT vphi_u,
    VPHI_GLOBAL double* VPHI_RESTRICT vphi_u_next,
    VPHI_GLOBAL double* VPHI_RESTRICT vphi_v,
    VPHI_GLOBAL double* scalars,
    VPHI_GLOBAL double* partials,
    VPHI_GLOBAL unsigned* counter) {
  VPHI_AWAIT;
  const unsigned thread = vphi_local_id();
  VPHI_LOCAL double tree[256];
  VPHI_LOCAL unsigned last;

  const vphi_par_wave par = vphi_par_of_wave(scalars);
  double kinetic_sum = (double)0;
  for (vphi_index at = (vphi_index)vphi_group() * 256u + thread; at < 12288u;
       at += (vphi_index)vphi_groups() * 256u) {
    vphi_in_wave in;
    const vphi_index x = at % 3u;
    const vphi_index above_x = at/3u;
    const vphi_index y = above_x % 64u;
    const vphi_index z = above_x/64u;
    const double v_c = vphi_v[at];
    const double u_c = vphi_u[at];
    const vphi_index x_m1 = vphi_below(x, 1u);
    const int x_m1_inside = x >= 1u;
    const vphi_index row = (z*64u + y)*3u;
    const double u_xm1 = vphi_select_f64(x_m1_inside, vphi_u[row + x_m1], 0.0);
    const vphi_index x_p1 = vphi_above(x, 1u, 3u);
    const int x_p1_inside = x + 1u < 3u;
    const double u_xp1 = vphi_select_f64(x_p1_inside, vphi_u[row + x_p1], 0.0);
    const vphi_index z_m1 = vphi_below(z, 1u);
    const int z_m1_inside = z >= 1u;
    const vphi_index row_zm1 = (z_m1*64u + y)*3u;
    const double u_zm1 = vphi_select_f64(z_m1_inside, vphi_u[row_zm1 + x], 0.0);
    const vphi_index y_m1 = vphi_below(y, 1u);
    const int y_m1_inside = y >= 1u;
    const vphi_index row_ym1 = (z*64u + y_m1)*3u;
    const double u_ym1 = vphi_select_f64(y_m1_inside, vphi_u[row_ym1 + x], 0.0);
    const vphi_index y_p1 = vphi_above(y, 1u, 64u);
    const int y_p1_inside = y + 1u < 64u;
    const vphi_index row_yp1 = (z*64u + y_p1)*3u;
    const double u_yp1 = vphi_select_f64(y_p1_inside, vphi_u[row_yp1 + x], 0.0);
    const vphi_index z_p1 = vphi_above(z, 1u, 64u);
    const int z_p1_inside = z + 1u < 64u;
    const vphi_index row_zp1 = (z_p1*64u + y)*3u;
    const double u_zp1 = vphi_select_f64(z_p1_inside, vphi_u[row_zp1 + x], 0.0);
    const double u_lap7_c_rows2 = u_zm1 + u_ym1 + u_yp1 + u_zp1;
    in.v_c = v_c;
    in.u_lap7 = (-6.0)*u_c +
        (u_xm1 + u_xp1) +
        u_lap7_c_rows2;
    in.u_c = u_c;
    const vphi_out_wave out = vphi_site_wave(in, par);
    vphi_v[at] = out.v_new;
    vphi_u_next[at] = out.u_new;
    kinetic_sum = kinetic_sum + out.kinetic_sum;
  }
  tree[0u + thread] = (double)kinetic_sum;
  vphi_barrier();
  vphi_finish_wave(tree, &last, thread, partials, counter, scalars);
}
