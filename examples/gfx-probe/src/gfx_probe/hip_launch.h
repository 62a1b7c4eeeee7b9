// The few declarations that a kernel launch needs, in place of the HIP headers.
#pragma once

typedef __SIZE_TYPE__ probe_size_t;

struct dim3 {
    unsigned x, y, z;
#ifdef __HIP__
    __attribute__((host)) __attribute__((device))
#endif
    constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
};

typedef int hipError_t;
typedef struct probe_stream *hipStream_t;

extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, probe_size_t shared = 0, hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, probe_size_t *shared, hipStream_t *stream);
hipError_t hipLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, probe_size_t shared,
                           hipStream_t stream);

void probe_add(const float *left, const float *right, float *sum, int count);
void probe_sum(const float *values, float *partial, int count);
}
