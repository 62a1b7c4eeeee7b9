// Two kernels, so that the library holds GPU code worth asking about.
#include "hip_launch.h"

#define KERNEL __attribute__((global))
#define SHARED __attribute__((shared))

constexpr int kBlock = 256;

KERNEL void add_kernel(const float *left, const float *right, float *sum, int count) {
    int index = __builtin_amdgcn_workgroup_id_x() * kBlock + __builtin_amdgcn_workitem_id_x();
    if (index < count) {
        sum[index] = left[index] + right[index];
    }
}

KERNEL void sum_kernel(const float *values, float *partial, int count) {
    SHARED float held[kBlock];
    int lane = __builtin_amdgcn_workitem_id_x();
    int index = __builtin_amdgcn_workgroup_id_x() * kBlock + lane;
    held[lane] = index < count ? values[index] : 0.0f;
    __builtin_amdgcn_s_barrier();
    for (int width = kBlock / 2; width > 0; width /= 2) {
        if (lane < width) {
            held[lane] += held[lane + width];
        }
        __builtin_amdgcn_s_barrier();
    }
    if (lane == 0) {
        partial[__builtin_amdgcn_workgroup_id_x()] = held[0];
    }
}

void probe_add(const float *left, const float *right, float *sum, int count) {
    add_kernel<<<dim3((count + kBlock - 1) / kBlock), dim3(kBlock)>>>(left, right, sum, count);
}

void probe_sum(const float *values, float *partial, int count) {
    sum_kernel<<<dim3((count + kBlock - 1) / kBlock), dim3(kBlock)>>>(values, partial, count);
}
