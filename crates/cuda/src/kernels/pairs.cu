// Screening of all pairs of features, in half precision. The header cuda_fp16.h is not part of NVRTC.

typedef unsigned short half_t;

__device__ __forceinline__ half_t to_half(float value)
{
    half_t out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(value));
    return out;
}

__device__ __forceinline__ float from_half(half_t value)
{
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(value));
    return out;
}

// Functions in half precision, and their products with each of t columns of the target: row f of `values` becomes row f of
// `functions` and rows f t, ..., f t + t - 1 of `weighted`. Rows are filled up with zeros to `stride`.
// Grid: rows, blocks of columns.
extern "C" __global__ void to_halves(const float* values, const float* target, half_t* functions,
                                     half_t* weighted, int n, int stride, int t)
{
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= stride) return;
    size_t row = blockIdx.x;
    float value = column < n ? values[row * n + column] : 0.0f;
    functions[row * stride + column] = to_half(value);
    for (int c = 0; c < t; ++c) {
        float y = column < n ? target[(size_t)c * n + column] : 0.0f;
        weighted[(row * t + c) * stride + column] = to_half(value * y);
    }
}

struct Scored {
    unsigned first, second;
    float root;
};

// Scores of pairs from products of `rows` weighted functions (of features from first_i on) and functions (of features from
// first_j on): row after row, each of length `stride`. What may reach the thresholds is appended to `out`.
// Grid: blocks of second features, first features.
extern "C" __global__ void collect(const half_t* products, int stride, const int* starts, int t,
                                   int first_i, int first_j, int end_j, const float* norms,
                                   const float* kurtosis, float max_kurtosis, const float* thresholds,
                                   float error_products, float error_result, Scored* out, unsigned* count,
                                   int capacity)
{
    int i = first_i + blockIdx.y;
    int j = first_j + blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= end_j || i >= j) return;
    int start_j = starts[j], width = starts[j + 1] - start_j;
    int start_i = starts[i], height = starts[i + 1] - start_i;
    if (width == 0 || height == 0) return;
    const half_t* cell = products + (size_t)(start_i - starts[first_i]) * t * stride + (start_j - starts[first_j]);
    float sum = 0.0f;
    if (width == 4 && ((size_t)cell & 7) == 0 && (stride & 3) == 0) {
        for (int a = 0; a < height * t; ++a, cell += stride) {
            ushort4 four = *(const ushort4*)cell;
            float x = from_half(four.x), y = from_half(four.y), z = from_half(four.z), w = from_half(four.w);
            sum += (x * x + y * y) + (z * z + w * w);
        }
    } else {
        for (int a = 0; a < height * t; ++a, cell += stride)
            for (int b = 0; b < width; ++b) {
                float x = from_half(cell[b]);
                sum += x * x;
            }
    }
    float root = sqrtf(sum);
    float reach = root * (1.0f + error_result) + error_products * norms[i] * sqrtf((float)width);
    // Written so that an overflow, which may give NaN, passes.
    if (reach < thresholds[height * width] || kurtosis[i] * kurtosis[j] > max_kurtosis) return;
    unsigned at = atomicAdd(count, 1u);
    if (at < (unsigned)capacity) {
        Scored found = {(unsigned)i, (unsigned)j, root};
        out[at] = found;
    }
}
