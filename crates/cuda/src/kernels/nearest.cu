// Nearest neighbors: distances in single precision, then the nearest of each query.

#define SIDE 128
#define DEPTH 8
#define THREADS 256

#if MANHATTAN
#define TERM(sum, a, b) sum += fabsf((a) - (b))
#else
#define TERM(sum, a, b) { float e = (a) - (b); sum = fmaf(e, e, sum); }
#endif

// Distances of queries from reference rows; both have `d` columns, a multiple of DEPTH. Query after query, `stride` numbers each.
// A block computes SIDE x SIDE of them, a thread 8 x 8. Grid: blocks of reference rows, blocks of queries.
extern "C" __global__ void __launch_bounds__(THREADS)
distances(const float* queries, int n_queries, const float* reference, int n_reference, int d, float* out,
          int stride)
{
    __shared__ __align__(16) float q[DEPTH][SIDE];
    __shared__ __align__(16) float r[DEPTH][SIDE];
    int first_query = blockIdx.y * SIDE, first_row = blockIdx.x * SIDE;
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int load_row = threadIdx.x / 2, load_column = threadIdx.x % 2 * 4;
    int query = min(first_query + load_row, n_queries - 1), row = min(first_row + load_row, n_reference - 1);
    const float* from_q = queries + (size_t)query * d + load_column;
    const float* from_r = reference + (size_t)row * d + load_column;
    float sums[8][8];
#pragma unroll
    for (int a = 0; a < 8; ++a)
#pragma unroll
        for (int b = 0; b < 8; ++b) sums[a][b] = 0.0f;
    for (int k = 0; k < d; k += DEPTH) {
        float4 four_q = *(const float4*)(from_q + k), four_r = *(const float4*)(from_r + k);
        __syncthreads();
        q[load_column][load_row] = four_q.x;
        q[load_column + 1][load_row] = four_q.y;
        q[load_column + 2][load_row] = four_q.z;
        q[load_column + 3][load_row] = four_q.w;
        r[load_column][load_row] = four_r.x;
        r[load_column + 1][load_row] = four_r.y;
        r[load_column + 2][load_row] = four_r.z;
        r[load_column + 3][load_row] = four_r.w;
        __syncthreads();
#pragma unroll
        for (int at = 0; at < DEPTH; ++at) {
            float4 q0 = *(float4*)&q[at][ty * 4], q1 = *(float4*)&q[at][64 + ty * 4];
            float4 r0 = *(float4*)&r[at][tx * 4], r1 = *(float4*)&r[at][64 + tx * 4];
            float a[8] = {q0.x, q0.y, q0.z, q0.w, q1.x, q1.y, q1.z, q1.w};
            float b[8] = {r0.x, r0.y, r0.z, r0.w, r1.x, r1.y, r1.z, r1.w};
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) TERM(sums[i][j], a[i], b[j]);
        }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        int at = first_query + (i < 4 ? ty * 4 + i : 64 + ty * 4 + i - 4);
        if (at >= n_queries) continue;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int column = first_row + half * 64 + tx * 4;
            // The stride is a multiple of SIDE, so that four numbers are within the row.
            float4 four = make_float4(sums[i][half * 4], sums[i][half * 4 + 1], sums[i][half * 4 + 2], sums[i][half * 4 + 3]);
            *(float4*)(out + (size_t)at * stride + column) = four;
        }
    }
}

#define BUFFER 1024
#define SELECTORS 128
#define STEP (4 * SELECTORS)

typedef unsigned long long key_t;

__device__ void sort(key_t* keys)
{
    for (int size = 2; size <= BUFFER; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (int pair = threadIdx.x; pair < BUFFER / 2; pair += SELECTORS) {
                int low = 2 * pair - pair % distance, high = low + distance;
                bool ascending = (low & size) == 0;
                key_t a = keys[low], b = keys[high];
                if ((a > b) == ascending) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
        }
    __syncthreads();
}

// Merges distances into the lists of the nearest: keys in ascending order, a distance (whose bits have the order of nonnegative
// numbers) above the index of the row. Grid: queries.
extern "C" __global__ void __launch_bounds__(SELECTORS)
select_nearest(const float* distances, int stride, int n_reference, int first_row, const unsigned* exclude,
               key_t* lists, int listed)
{
    __shared__ key_t keys[BUFFER];
    __shared__ int filled;
    const key_t none = ~0ull;
    size_t query = blockIdx.x;
    unsigned excluded = exclude[query];
    for (int at = threadIdx.x; at < BUFFER; at += SELECTORS)
        keys[at] = at < listed ? lists[query * listed + at] : none;
    if (threadIdx.x == 0) filled = listed;
    __syncthreads();
    key_t limit = keys[listed - 1];
    for (int start = 0; start < n_reference; start += STEP) {
        for (int part = 0; part < 4; ++part) {
            int at = start + part * SELECTORS + threadIdx.x;
            if (at >= n_reference) continue;
            unsigned row = first_row + at;
            key_t key = (key_t)__float_as_uint(distances[query * stride + at]) << 32 | row;
            if (key < limit && row != excluded) keys[atomicAdd(&filled, 1)] = key;
        }
        __syncthreads();
        bool full = filled > BUFFER - STEP;
        __syncthreads();
        if (full) {
            sort(keys);
            for (int at = listed + threadIdx.x; at < BUFFER; at += SELECTORS) keys[at] = none;
            if (threadIdx.x == 0) filled = listed;
            __syncthreads();
            limit = keys[listed - 1];
        }
    }
    sort(keys);
    for (int at = threadIdx.x; at < listed; at += SELECTORS) lists[query * listed + at] = keys[at];
}
