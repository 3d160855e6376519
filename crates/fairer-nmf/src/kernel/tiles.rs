//! The upper triangle of a large symmetric matrix in square tiles: sums of outer products into it,
//! and its Cholesky factorisation, both at the speed of the panel kernel and with the same result
//! for any number of threads.

use crate::kernel::panel::add_cross;
use crate::kernel::{LANES, fused, vectorised};
use rayon::prelude::*;

/// Side of a tile: whole vectors, and whole blocks of the kernel.
const TILE: usize = 80;
const AREA: usize = TILE * TILE;

/// Tiles (I, J) with I ≤ J, row after row; inside, eight columns after eight columns, of these row
/// after row (the order of [`add_cross`]).
#[derive(Clone)]
pub(crate) struct Tiles {
    side: usize,
    /// Tiles along a side.
    count: usize,
    values: Vec<f64>,
}

/// Lines cut into column blocks of one tile each: k×TILE numbers a block.
pub(crate) struct Lines {
    blocks: Vec<Vec<f64>>,
}

impl Lines {
    /// k lines of `side` numbers that `fill(line, first, out)` writes, block by block: `out` is for
    /// the columns from `first` on.
    pub fn new(side: usize, k: usize, fill: impl Fn(usize, usize, &mut [f64]) + Sync) -> Self {
        let block = |first: usize| {
            let mut values = vec![0.0; k * TILE];
            let here = TILE.min(side - first);
            for (line, out) in values.chunks_exact_mut(TILE).enumerate() {
                fill(line, first, &mut out[..here]);
            }
            values
        };
        let firsts: Vec<usize> = (0..side).step_by(TILE).collect();
        Self { blocks: firsts.into_par_iter().map(block).collect() }
    }

    /// Σ of the squares of all numbers.
    pub fn squares(&self) -> f64 {
        self.blocks.iter().flatten().map(|v| v * v).sum()
    }
}

impl Tiles {
    pub fn zero(side: usize) -> Self {
        let count = side.div_ceil(TILE);
        Self { side, count, values: vec![0.0; count * (count + 1) / 2 * AREA] }
    }

    /// Where row i begins: [`Tiles::column`] of a j ≥ i (or in the same tile) added is the place.
    pub fn row(&self, i: usize) -> usize {
        let tile = i / TILE;
        (tile * self.count - tile * (tile + 1) / 2) * AREA + i % TILE * LANES
    }

    pub fn column(j: usize) -> usize {
        j / TILE * AREA + j % TILE / LANES * LANES * TILE + j % LANES
    }

    fn get(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        self.values[self.row(i) + Self::column(j)]
    }

    /// The bands of whole tile rows, for what is added entry by entry: the first row of the band,
    /// the place that its values begin at, and the values.
    pub fn bands(&mut self) -> Vec<(usize, usize, &mut [f64])> {
        let (mut rest, mut at) = (&mut self.values[..], 0);
        let mut bands = Vec::with_capacity(self.count);
        for tile in 0..self.count {
            let (band, tail) = rest.split_at_mut((self.count - tile) * AREA);
            bands.push((tile * TILE, at, band));
            at += (self.count - tile) * AREA;
            rest = tail;
        }
        bands
    }

    /// Rows of a band.
    pub fn band_rows() -> usize {
        TILE
    }

    /// Adds LᵀL of lines.
    pub fn add(&mut self, lines: &Lines) {
        if lines.blocks[0].is_empty() {
            return;
        }
        let count = self.count;
        let places = (0..count).flat_map(|i| (i..count).map(move |j| (i, j)));
        let places: Vec<(usize, usize)> = places.collect();
        self.values.par_chunks_mut(AREA).zip(places).for_each(|(tile, (i, j))| {
            add_cross(&lines.blocks[j], TILE, &lines.blocks[i], TILE, &mut Vec::new(), tile);
        });
    }

    /// The whole matrix, side×side.
    pub fn to_dense(&self) -> Vec<f64> {
        let n = self.side;
        let mut out = vec![0.0; n * n];
        let columns: Vec<usize> = (0..n).map(Self::column).collect();
        out.par_chunks_mut(n).enumerate().for_each(|(i, out)| {
            for (j, out) in out.iter_mut().enumerate() {
                *out = if i <= j {
                    self.values[self.row(i) + columns[j]]
                } else {
                    self.values[self.row(j) + columns[i]]
                };
            }
        });
        out
    }

    /// A matrix whose entries (i ≤ j) `value` gives.
    pub fn from_fn(side: usize, value: impl Fn(usize, usize) -> f64 + Sync) -> Self {
        let mut tiles = Self::zero(side);
        let count = tiles.count;
        let columns: Vec<usize> = (0..side).map(Self::column).collect();
        tiles.bands().into_par_iter().enumerate().for_each(|(tile, (first, _, band))| {
            let before = tile * AREA;
            debug_assert_eq!(band.len(), (count - tile) * AREA);
            for i in first..side.min(first + TILE) {
                for j in i..side {
                    band[columns[j] - before + i % TILE * LANES] = value(i, j);
                }
            }
        });
        tiles
    }

    /// Adds a number to the diagonal.
    pub fn raise_diagonal(&mut self, by: f64) {
        for i in 0..self.side {
            let at = self.row(i) + Self::column(i);
            self.values[at] += by;
        }
    }

    /// Σ of the diagonal.
    pub fn trace(&self) -> f64 {
        (0..self.side).map(|i| self.get(i, i)).sum()
    }

    /// Whether the Cholesky factorisation A = RᵀR runs to its end: all pivots positive. Overwrites
    /// the matrix. What that proves is said in [`super::certify`].
    pub fn factorises(mut self) -> bool {
        for i in self.side..self.count * TILE {
            let at = self.row(i) + Self::column(i);
            self.values[at] = 1.0;
        }
        let mut at = 0;
        for k in 0..self.count {
            let (done, trailing) = self.values[at..].split_at_mut((self.count - k) * AREA);
            at += done.len();
            let (diagonal, row) = done.split_at_mut(AREA);
            let mut factor = vec![0.0; AREA];
            for i in 0..TILE {
                for j in i..TILE {
                    factor[i * TILE + j] = diagonal[i * LANES + Self::column(j)];
                }
            }
            if !factor_tile(&mut factor) {
                return false;
            }
            let solved: Vec<[Vec<f64>; 2]> = row
                .par_chunks_mut(AREA)
                .map(|tile| {
                    solve_tile(&factor, tile);
                    let mut plain = vec![0.0; AREA];
                    for (i, out) in plain.chunks_exact_mut(TILE).enumerate() {
                        for (j, out) in out.iter_mut().enumerate() {
                            *out = tile[i * LANES + Self::column(j)];
                        }
                    }
                    let negative = plain.iter().map(|v| -v).collect();
                    [plain, negative]
                })
                .collect();
            let left = self.count - k - 1;
            let places = (0..left).flat_map(|i| (i..left).map(move |j| (i, j)));
            let places: Vec<(usize, usize)> = places.collect();
            trailing.par_chunks_mut(AREA).zip(places).for_each(|(tile, (i, j))| {
                add_cross(&solved[j][0], TILE, &solved[i][1], TILE, &mut Vec::new(), tile);
            });
        }
        true
    }
}

/// The Cholesky factor R (upper, row by row) of one tile; whether all pivots are positive.
fn factor_tile(a: &mut [f64]) -> bool {
    for k in 0..TILE {
        let (above, rest) = a.split_at_mut((k + 1) * TILE);
        let row = &mut above[k * TILE..];
        let pivot = row[k];
        // Also false for a NaN.
        if !pivot.is_finite() || pivot <= 0.0 {
            return false;
        }
        let root = pivot.sqrt();
        row[k..].iter_mut().for_each(|v| *v /= root);
        for (below, i) in rest.chunks_exact_mut(TILE).zip(k + 1..) {
            let times = row[i];
            below[i..].iter_mut().zip(&row[i..]).for_each(|(b, r)| *b -= times * r);
        }
    }
    true
}

vectorised! {
    /// Y with RᵀY = `tile`, in place.
    fn solve_tile(factor: &[f64], tile: &mut [f64]) {
        for strip in tile.chunks_exact_mut(LANES * TILE) {
            for i in 0..TILE {
                let (known, rest) = strip.split_at_mut(i * LANES);
                let mut sum = [0.0; LANES];
                sum.copy_from_slice(&rest[..LANES]);
                for q in 0..i {
                    let r = -factor[q * TILE + i];
                    for l in 0..LANES {
                        sum[l] = fused::<FMA>(r, known[q * LANES + l], sum[l]);
                    }
                }
                for l in 0..LANES {
                    rest[l] = sum[l] / factor[i * TILE + i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// B (k×n) and BᵀB + shift·I.
    fn gram(n: usize, k: usize, shift: f64) -> (Vec<f64>, Tiles) {
        let mut stream = Stream::new(n as u64, Purpose::Spectral, 0);
        let b: Vec<f64> = (0..k * n).map(|_| stream.normal()).collect();
        let mut tiles = Tiles::from_fn(n, |i, j| if i == j { shift } else { 0.0 });
        let lines = Lines::new(n, k, |line, first, out| {
            out.copy_from_slice(&b[line * n + first..][..out.len()]);
        });
        tiles.add(&lines);
        (b, tiles)
    }

    #[test]
    fn sums_and_copies_equal_the_plain_ones() {
        for (n, k) in [(1, 1), (79, 3), (80, 17), (81, 5), (200, 40)] {
            let (b, tiles) = gram(n, k, 0.5);
            let dense = tiles.to_dense();
            for i in 0..n {
                for j in 0..n {
                    let plain: f64 = (0..k).map(|l| b[l * n + i] * b[l * n + j]).sum();
                    let plain = plain + if i == j { 0.5 } else { 0.0 };
                    assert!((dense[i * n + j] - plain).abs() < 1e-12, "{n} {k} at {i}, {j}");
                }
            }
            let copy = Tiles::from_fn(n, |i, j| dense[i * n + j]);
            assert!(copy.to_dense() == dense);
            let trace: f64 = (0..n).map(|i| dense[i * n + i]).sum();
            assert!((tiles.trace() - trace).abs() < 1e-9);
        }
    }

    #[test]
    fn the_factorisation_ends_just_where_the_matrix_stops_being_positive() {
        for n in [1, 30, 80, 81, 239] {
            // The smallest eigenvalue of BᵀB is zero where there are fewer lines than columns.
            let k = n / 2;
            let scale = 4.0 * n as f64;
            assert!(gram(n, k, 1e-10 * scale).1.factorises(), "{n}");
            assert!(!gram(n, k, -1e-10 * scale).1.factorises(), "{n}");
            assert!(!gram(n, k, f64::NAN).1.factorises(), "{n}");
        }
        assert!(gram(100, 150, 0.0).1.factorises());
    }
}
