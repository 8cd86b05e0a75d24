// How much of a universe has changed: rows of cells before and after, compared in squares.

// Adds to *changed the number of the squares of 64 x 64 cells that differ. before, after: bands of 64 rows
// of `words` 64-bit words, one after the other. A thread for each square.
extern "C" __global__ void __launch_bounds__(256)
compare(const unsigned long long* before, const unsigned long long* after, int words, int bands,
        unsigned int* changed) {
    const int n = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (n >= words * bands) return;
    const long long at = (long long)(n / words) * 64 * words + n % words;
    unsigned long long found = 0;
    for (int r = 0; r < 64; r++) found |= before[at + (long long)r * words] ^ after[at + (long long)r * words];
    if (found) atomicAdd(changed, 1u);
}
