//! Random number generator: xoshiro256++ (Blackman and Vigna 2019), seeded by SplitMix64.
//!
//! Implemented here, so that a seed gives the same numbers after an upgrade of any dependency.

/// A stream of random numbers that depends only on its seed.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
    spare_normal: Option<f64>,
}

impl Rng {
    /// The stream for a seed.
    pub fn new(seed: u64) -> Self {
        let mut z = seed;
        let state = std::array::from_fn(|_| {
            z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut x = z;
            x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            x ^ (x >> 31)
        });
        Self { state, spare_normal: None }
    }

    /// An independent stream for one part of a run, so that a change in one part does not change the numbers of another.
    pub fn stream(seed: u64, part: &str) -> Self {
        // FNV-1a hash of the name.
        let hash = part
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
        Self::new(seed ^ hash)
    }

    /// A number for one item of one part of a run, uniform on (0, 1): it depends on nothing else, so that items can be drawn
    /// anywhere and in any order.
    pub fn of_item(seed: u64, part: u64, item: u64) -> f64 {
        let mut rng = Self::new(seed ^ part.rotate_left(32) ^ item.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        rng.uniform().max(f64::MIN_POSITIVE)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.state;
        let out = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
        let (s2, s3) = (s2 ^ s0, s3 ^ s1);
        self.state = [s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17), s3.rotate_left(45)];
        out
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on 0..n. Panics if n is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "below(0) has no value to return");
        // The high half of a 128-bit product; the bias is below n / 2^64.
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Standard normal (polar method).
    pub fn normal(&mut self) -> f64 {
        if let Some(z) = self.spare_normal.take() {
            return z;
        }
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let scale = (-2.0 * s.ln() / s).sqrt();
                self.spare_normal = Some(v * scale);
                return u * scale;
            }
        }
    }

    /// Shuffles a slice (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// `k` distinct integers below `n` in increasing order; all of them if `k >= n`.
    pub fn sample(&mut self, n: usize, k: usize) -> Vec<usize> {
        if k >= n {
            return (0..n).collect();
        }
        // Floyd's algorithm: k draws for any n.
        let mut chosen = std::collections::BTreeSet::new();
        for j in n - k..n {
            let t = self.below(j + 1);
            if !chosen.insert(t) {
                chosen.insert(j);
            }
        }
        chosen.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        // First values of the reference implementation for the state {1, 2, 3, 4}.
        let mut rng = Rng { state: [1, 2, 3, 4], spare_normal: None };
        let first: Vec<u64> = (0..4).map(|_| rng.bits()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn moments_of_uniform_and_normal() {
        let mut rng = Rng::new(7);
        let n = 200_000;
        let uniform: f64 = (0..n).map(|_| rng.uniform()).sum::<f64>() / n as f64;
        let normal: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let mean = normal.iter().sum::<f64>() / n as f64;
        let variance = normal.iter().map(|z| z * z).sum::<f64>() / n as f64;
        // Five standard errors: 0.2887/sqrt(n), 1/sqrt(n), sqrt(2/n).
        assert!((uniform - 0.5).abs() < 5.0 * 0.2887 / (n as f64).sqrt());
        assert!(mean.abs() < 5.0 / (n as f64).sqrt());
        assert!((variance - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
    }

    #[test]
    fn samples_are_distinct_sorted_and_cover() {
        let mut rng = Rng::new(3);
        let mut hits = [0usize; 10];
        for _ in 0..10_000 {
            let s = rng.sample(10, 4);
            assert!(s.windows(2).all(|w| w[0] < w[1]) && s.len() == 4);
            s.iter().for_each(|&i| hits[i] += 1);
        }
        // Each index is drawn with probability 0.4: 4000 +- 5 * sqrt(10000 * 0.4 * 0.6).
        assert!(hits.iter().all(|&h| h.abs_diff(4000) < 245), "{hits:?}");
        assert_eq!(rng.sample(3, 9), [0, 1, 2]);
    }

    #[test]
    fn shuffle_permutes() {
        let mut items: Vec<usize> = (0..100).collect();
        Rng::new(1).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
