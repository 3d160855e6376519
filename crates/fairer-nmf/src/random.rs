//! Counter-based random numbers: what row i gets depends on (seed, purpose, i) alone, so a draw
//! is the same for any number of threads and any partition of the rows.

/// What a stream of random numbers is for; streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Initial W of restart k.
    Representation(u64),
    /// Initial H of restart k.
    Components(u64),
    /// Seeds of the runs behind group ℓ's baseline: (group, run).
    Baseline(u64, u64),
    /// Rows of synthetic data of group ℓ.
    Synthetic(u64),
    /// Range finder of a spectral start.
    Spectral,
    /// Bootstrap draw b.
    Bootstrap(u64),
    /// Permutation draw b.
    Permutation(u64),
    /// Split of a group into training and held-out rows: (group, fold).
    HeldOut(u64, u64),
    /// Dictionaries and folds behind errors of unseen rows: (group, fit).
    Unseen(u64, u64),
    /// Counts of a row in all draws of a bootstrap over rows that are spread over processes.
    Resample,
    /// Draw b of random groups, and the dictionaries of its groups: (draw, fit).
    Chance(u64, u64),
    /// Folds behind the choice of a rank (group or features, 0), and its fits (rank, fold from 1).
    Rank(u64, u64),
    /// Folds and clusters behind groups that are found.
    Discover,
    /// Halves of all topics in a round of a search.
    Halves(u64),
    /// Data that are to be recognised: rows of group ℓ.
    Digest(u64),
}

impl Purpose {
    fn key(self) -> (u64, u64, u64) {
        match self {
            Self::Representation(k) => (1, k, 0),
            Self::Components(k) => (2, k, 0),
            Self::Baseline(group, run) => (3, group, run),
            Self::Synthetic(group) => (4, group, 0),
            Self::Spectral => (5, 0, 0),
            Self::Bootstrap(b) => (6, b, 0),
            Self::Permutation(b) => (7, b, 0),
            Self::HeldOut(group, fold) => (8, group, fold),
            Self::Unseen(group, fit) => (9, group, fit),
            Self::Chance(draw, fit) => (10, draw, fit),
            Self::Rank(a, b) => (40, a, b),
            Self::Resample => (20, 0, 0),
            Self::Discover => (50, 0, 0),
            Self::Halves(round) => (70, round, 0),
            Self::Digest(group) => (60, group, 0),
        }
    }
}

/// Steele, Lea and Flood's SplitMix64 (2014): a counter passed through a strong mixing function.
#[derive(Clone, Debug)]
pub(crate) struct Stream(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream of item `index` (a row, a column, …) for a purpose.
    pub(crate) fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let (kind, a, b) = purpose.key();
        let mut state = mix(seed.wrapping_add(GOLDEN));
        for word in [kind, a, b, index] {
            state = mix(state ^ mix(word.wrapping_add(GOLDEN)));
        }
        Self(state)
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Uniform on [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on {0, …, bound − 1}; `bound` is positive.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Shuffles in place (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_uniform_and_independent_of_neighbours() {
        let draws: Vec<f64> =
            (0..20_000).map(|i| Stream::new(7, Purpose::Components(0), i).uniform()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let lag: f64 =
            draws.windows(2).map(|p| (p[0] - 0.5) * (p[1] - 0.5)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.01, "mean {mean}");
        assert!(lag.abs() < 0.003, "lag-1 covariance {lag}");
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut stream = Stream::new(1, Purpose::Synthetic(0), 0);
        let mut counts = [0usize; 6];
        for _ in 0..60_000 {
            counts[stream.below(6)] += 1;
        }
        assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
    }
}
