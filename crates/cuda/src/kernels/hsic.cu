// Sums over all pairs of rows, in double precision. Q columns of projected rows and C of the factor are fixed at compilation.

#define ROWS 128
#define TILE 32

// For row i and the rows j of part blockIdx.y: sums of A_ij and, with GRADIENT, of A_ij p_j. Results are laid out by parts,
// then rows. A thread has a row i; the rows j are read by all threads of a block together.
extern "C" __global__ void pair_sums(const double* p, const double* y, int n, int per_part, double* out)
{
    __shared__ double other_p[TILE][Q];
    __shared__ double other_y[TILE][C];
#if C > 8
    __shared__ double own_y[C][ROWS];
#else
    double own_y[C];
#endif
    int i = blockIdx.x * ROWS + threadIdx.x;
    int row = i < n ? i : n - 1;
    double own_p[Q];
#pragma unroll
    for (int k = 0; k < Q; ++k) own_p[k] = p[(size_t)k * n + row];
#pragma unroll
    for (int c = 0; c < C; ++c) {
        double value = y[(size_t)c * n + row];
#if C > 8
        own_y[c][threadIdx.x] = value;
#else
        own_y[c] = value;
#endif
    }
    double total = 0.0;
#if GRADIENT
    double sums[Q];
#pragma unroll
    for (int k = 0; k < Q; ++k) sums[k] = 0.0;
#endif
    int begin = blockIdx.y * per_part;
    int end = begin + per_part < n ? begin + per_part : n;
    for (int start = begin; start < end; start += TILE) {
        int height = end - start < TILE ? end - start : TILE;
        __syncthreads();
        for (int at = threadIdx.x; at < TILE * (Q + C); at += ROWS) {
            int column = at / TILE, r = at % TILE;
            if (r < height) {
                if (column < Q) other_p[r][column] = p[(size_t)column * n + start + r];
                else other_y[r][column - Q] = y[(size_t)(column - Q) * n + start + r];
            }
        }
        __syncthreads();
        for (int r = 0; r < height; ++r) {
            double distance = 0.0, product = 0.0;
#pragma unroll
            for (int k = 0; k < Q; ++k) {
                double difference = own_p[k] - other_p[r][k];
                distance = fma(difference, difference, distance);
            }
#pragma unroll
            for (int c = 0; c < C; ++c) {
#if C > 8
                product = fma(own_y[c][threadIdx.x], other_y[r][c], product);
#else
                product = fma(own_y[c], other_y[r][c], product);
#endif
            }
            double a = exp(-0.5 * distance) * product;
            total += a;
#if GRADIENT
#pragma unroll
            for (int k = 0; k < Q; ++k) sums[k] = fma(a, other_p[r][k], sums[k]);
#endif
        }
    }
    if (i >= n) return;
    const int width = GRADIENT ? Q + 1 : 1;
    double* to = out + ((size_t)blockIdx.y * n + i) * width;
    to[0] = total;
#if GRADIENT
#pragma unroll
    for (int k = 0; k < Q; ++k) to[k + 1] = sums[k];
#endif
}

// Adds up the parts, in order, into the first.
extern "C" __global__ void add_parts(double* sums, int cells, int parts)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= cells) return;
    double sum = sums[at];
    for (int part = 1; part < parts; ++part) sum += sums[(size_t)part * cells + at];
    sums[at] = sum;
}
