//! What the bound asks of the rows: the second statistic that adds over them.
//!
//! With X̃_ℓ = X_ℓ/N_ℓ the bound sees the data through G_ℓ = X̃_ℓᵀX̃_ℓ alone: through VᵀG_ℓV and
//! Σ w_ℓG_ℓV for a few columns V, and at the end through the whole of Σ w_ℓG_ℓ. All of these are sums
//! over rows. Where there are fewer rows than features, the matrix of the inner products of the
//! rows has the same spectrum and takes the place of the last.

mod kept;

pub(super) use kept::Kept;

use crate::Result;
use crate::data::GroupedData;
use crate::kernel::eigen::{times, transposed_times};
use crate::kernel::tiles::{Lines, Tiles};
use crate::kernel::{fused, vectorised};
use rayon::prelude::*;

/// Pieces that the rows are cut into; fixed, so that sums come in the same order for any number of
/// threads. Each has sums of its own.
const PIECES: usize = 8;
/// Rows that are multiplied at once.
const PANEL: usize = 64;
/// Lines that are added to a whole matrix at once.
const LINES: usize = 512;

/// Numbers that the Gram matrices of all groups may have together to be kept.
const KEPT_ENTRIES: usize = 1 << 26;

/// What an entry of sparse rows counts in a cost where one of a whole panel counts 1: they stand here and there.
pub(super) const SCATTERED: f64 = 4.0;

/// The data as the bound sees it, whoever holds them.
pub trait Moments {
    /// Number of groups.
    fn groups(&self) -> usize;
    /// Number of features n.
    fn features(&self) -> usize;
    /// min(m, n): the side of the smaller of the two matrices with the spectrum.
    fn side(&self) -> usize;
    /// Entries that one sum of the smaller matrix adds up.
    fn summed(&self) -> usize;
    /// What an entry of the data is good to, relative to itself.
    fn rounding(&self) -> f64;
    /// Multiplications that making and factorising the smaller matrix takes, and stored entries.
    fn cost(&self) -> (f64, f64);
    /// Makes what is worth keeping from one product to the next.
    ///
    /// # Errors
    /// The rows cannot be reached.
    fn keep(&mut self) -> Result<()>;
    /// VᵀG_ℓV of every group and Σ w_ℓG_ℓV, for V (n×p, row-major).
    ///
    /// # Errors
    /// As [`Moments::keep`].
    fn products(&self, weights: &[f64], v: &[f64], p: usize) -> Result<Products>;
    /// The smaller matrix with the spectrum of S(w) = Σ w_ℓG_ℓ, side×side, and columns near its
    /// leading eigenvectors, from such columns V (n×p) of S(w).
    ///
    /// # Errors
    /// As [`Moments::keep`].
    fn whole(&self, weights: &[f64], v: &[f64], p: usize) -> Result<(Vec<f64>, Vec<f64>)>;
}

/// The moments of data in memory.
pub(super) struct InMemory<'d, 'a> {
    data: &'d GroupedData<'a>,
    /// The group of every row, and the row, in the order of the groups.
    rows: Vec<(usize, usize)>,
    inverse_norms: Vec<f64>,
    /// Where they are worth keeping.
    kept: Option<Kept>,
}

/// Sums over rows for columns V (n×p).
pub struct Products {
    /// Σ w_ℓG_ℓV (n×p).
    pub image: Vec<f64>,
    /// VᵀG_ℓV (p×p) of every group.
    pub grams: Vec<Vec<f64>>,
}

impl<'d, 'a> InMemory<'d, 'a> {
    pub fn new(data: &'d GroupedData<'a>) -> Self {
        let groups = data.groups().iter().enumerate();
        let rows = groups.flat_map(|(l, g)| g.rows.iter().map(move |&row| (l, row))).collect();
        let inverse_norms = data.groups().iter().map(|g| 1.0 / g.norm()).collect();
        Self { data, rows, inverse_norms, kept: None }
    }

    /// Whether the matrix of the features is the smaller one.
    fn wide_side(&self) -> bool {
        self.features() <= self.rows.len()
    }

    fn rows_of(&self, group: usize) -> &[(usize, usize)] {
        let first = self.rows.partition_point(|&(l, _)| l < group);
        let end = self.rows.partition_point(|&(l, _)| l <= group);
        &self.rows[first..end]
    }

    /// Adds what the rows here are of G_ℓ.
    pub fn add_gram(&self, group: usize, tiles: &mut Tiles) {
        self.add_features(self.rows_of(group), &|_| 1.0, tiles);
    }

    pub fn by_rows(&self, weights: &[f64], v: &[f64], p: usize) -> Products {
        let n = self.features();
        let piece = self.rows.len().div_ceil(PIECES);
        let of_piece = |rows: &[(usize, usize)]| {
            let mut image = vec![0.0; n * p];
            let mut grams: Vec<(usize, Vec<f64>)> = Vec::new();
            for rows in rows.chunk_by(|a, b| a.0 == b.0) {
                let mut gram = vec![0.0; p * p];
                let group = rows[0].0;
                for panel in rows.chunks(PANEL) {
                    let y = self.panel_products(panel, v, p, weights[group], &mut image);
                    let own = transposed_times(&y, p, &y, p);
                    gram.iter_mut().zip(own).for_each(|(g, o)| *g += o);
                }
                grams.push((group, gram));
            }
            (image, grams)
        };
        let pieces: Vec<_> = self.rows.par_chunks(piece).map(of_piece).collect();
        let mut total =
            Products { image: vec![0.0; n * p], grams: vec![vec![0.0; p * p]; self.groups()] };
        for (image, grams) in pieces {
            total.image.iter_mut().zip(image).for_each(|(t, i)| *t += i);
            for (group, gram) in grams {
                total.grams[group].iter_mut().zip(gram).for_each(|(t, g)| *t += g);
            }
        }
        total
    }

    /// X̃_bV (k×p) of rows of one group; adds w·X̃_bᵀX̃_bV to the image.
    fn panel_products(
        &self,
        panel: &[(usize, usize)],
        v: &[f64],
        p: usize,
        weight: f64,
        image: &mut [f64],
    ) -> Vec<f64> {
        let n = self.features();
        match self.data.matrix().is_sparse() {
            false => {
                let mut x = vec![0.0; panel.len() * n];
                for (&(l, row), x) in panel.iter().zip(x.chunks_exact_mut(n)) {
                    let by = self.inverse_norms[l];
                    self.data.for_each_in_row(row, |j, value| x[j] = value * by);
                }
                let y = times(&x, n, v, p);
                if weight > 0.0 {
                    let own = transposed_times(&x, n, &y, p);
                    image.iter_mut().zip(own).for_each(|(i, o)| *i += weight * o);
                }
                y
            }
            true => {
                let mut y = vec![0.0; panel.len() * p];
                let mut entries = Vec::new();
                for (&(l, row), y) in panel.iter().zip(y.chunks_exact_mut(p)) {
                    let by = self.inverse_norms[l];
                    entries.clear();
                    self.data.for_each_in_row(row, |j, value| entries.push((j, value * by)));
                    gather(&entries, v, p, y);
                    if weight > 0.0 {
                        scatter(&entries, weight, y, p, image);
                    }
                }
                y
            }
        }
    }

    /// √w·X̃V (m×p), rows in the order of the groups.
    fn coordinates(&self, weights: &[f64], v: &[f64], p: usize) -> Vec<f64> {
        let panel = |rows: &[(usize, usize)]| {
            let mut y = self.panel_products(rows, v, p, 0.0, &mut []);
            for (&(l, _), y) in rows.iter().zip(y.chunks_exact_mut(p)) {
                y.iter_mut().for_each(|y| *y *= weights[l].sqrt());
            }
            y
        };
        let panels: Vec<Vec<f64>> = self.rows.par_chunks(PANEL).map(panel).collect();
        panels.concat()
    }

    /// Adds Σ s_ℓ²·x̃ᵀx̃ over rows.
    fn add_features(
        &self,
        rows: &[(usize, usize)],
        scale: &(dyn Fn(usize) -> f64 + Sync),
        tiles: &mut Tiles,
    ) {
        let n = self.features();
        match self.data.matrix().is_sparse() {
            false => {
                for rows in rows.chunks(LINES) {
                    // Row by row first: columns of a row lie together.
                    let x: Vec<Vec<f64>> = rows
                        .par_iter()
                        .map(|&(l, row)| {
                            let by = scale(l) * self.inverse_norms[l];
                            let mut x = vec![0.0; n];
                            self.data.for_each_in_row(row, |j, value| x[j] = value * by);
                            x
                        })
                        .collect();
                    let lines = Lines::new(n, rows.len(), |line, first, out| {
                        out.copy_from_slice(&x[line][first..][..out.len()]);
                    });
                    tiles.add(&lines);
                }
            }
            true => {
                let lines = rows.iter().filter(|&&(l, _)| scale(l) > 0.0).map(|&(l, row)| {
                    let by = scale(l) * self.inverse_norms[l];
                    let mut line = Vec::new();
                    self.data.for_each_in_row(row, |j, value| line.push((j, value * by)));
                    line.sort_unstable_by_key(|&(j, _)| j);
                    line
                });
                add_sparse(&lines.collect::<Vec<_>>(), tiles);
            }
        }
    }

    /// G_ℓ (n×n).
    pub fn gram(&self, group: usize) -> Vec<f64> {
        let mut tiles = Tiles::zero(self.features());
        self.add_gram(group, &mut tiles);
        tiles.to_dense()
    }

    /// Σ w_ℓG_ℓ (n×n).
    pub fn sum_of_grams(&self, weights: &[f64]) -> Vec<f64> {
        let mut tiles = Tiles::zero(self.features());
        self.add_features(&self.rows, &|l| weights[l].sqrt(), &mut tiles);
        tiles.to_dense()
    }

    /// Adds the inner products s_ℓs_k·x̃_ix̃_jᵀ of all rows.
    fn add_samples(&self, scale: &(dyn Fn(usize) -> f64 + Sync), tiles: &mut Tiles) {
        let (m, n) = (self.rows.len(), self.features());
        let by = |l: usize| scale(l) * self.inverse_norms[l];
        match self.data.matrix().is_sparse() {
            false => {
                for from in (0..n).step_by(LINES) {
                    let to = n.min(from + LINES);
                    let x: Vec<Vec<f64>> = self
                        .rows
                        .par_iter()
                        .map(|&(l, row)| {
                            let by = by(l) * self.data.root(row);
                            let factor = |j: usize| self.data.scale().map_or(by, |s| by * s[j]);
                            let row = self.data.matrix().piece_of_row(row, from..to);
                            row.into_iter().zip(from..).map(|(x, j)| x * factor(j)).collect()
                        })
                        .collect();
                    let lines = Lines::new(m, to - from, |line, first, out| {
                        out.iter_mut().zip(&x[first..]).for_each(|(out, x)| *out = x[line]);
                    });
                    tiles.add(&lines);
                }
            }
            true => {
                let mut lines: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
                for (i, &(l, row)) in self.rows.iter().enumerate() {
                    let by = by(l);
                    self.data.for_each_in_row(row, |j, value| lines[j].push((i, value * by)));
                }
                add_sparse(&lines, tiles);
            }
        }
    }
}

impl Moments for InMemory<'_, '_> {
    fn groups(&self) -> usize {
        self.inverse_norms.len()
    }

    fn features(&self) -> usize {
        self.data.features()
    }

    fn side(&self) -> usize {
        self.rows.len().min(self.features())
    }

    fn summed(&self) -> usize {
        self.rows.len().max(self.features())
    }

    fn rounding(&self) -> f64 {
        self.data.matrix.rounding()
    }

    fn cost(&self) -> (f64, f64) {
        let data = self.data;
        let (m, n) = (self.rows.len() as f64, data.features() as f64);
        let side = m.min(n);
        let (entries, squares) = match data.matrix().is_sparse() {
            false => (m * n, m * n * side),
            true => {
                let mut columns = vec![0u32; if m < n { data.features() } else { 0 }];
                let (mut stored, mut squares) = (0.0, 0.0);
                for row in data.grouped_rows() {
                    let mut here = 0.0;
                    data.for_each_in_row(row, |j, _| {
                        here += 1.0;
                        columns.get_mut(j).into_iter().for_each(|c| *c += 1);
                    });
                    stored += here;
                    squares += if m < n { 0.0 } else { here * here };
                }
                squares += columns.iter().map(|&c| f64::from(c) * f64::from(c)).sum::<f64>();
                (stored, SCATTERED * squares)
            }
        };
        (squares / 2.0 + side.powi(3) / 6.0, entries)
    }

    fn keep(&mut self) -> Result<()> {
        let n = self.data.features();
        // A product by rows reads each row twice; with the matrices, each of them once.
        let dense = !self.data.matrix().is_sparse();
        let worth = dense && self.groups() * n < 2 * self.rows.len();
        if worth && self.groups() * n * n <= KEPT_ENTRIES && self.wide_side() {
            self.kept = Some(Kept::new(n, (0..self.groups()).map(|l| self.gram(l)).collect()));
        }
        Ok(())
    }

    fn products(&self, weights: &[f64], v: &[f64], p: usize) -> Result<Products> {
        Ok(match &self.kept {
            Some(kept) => kept.products(weights, v, p),
            None => self.by_rows(weights, v, p),
        })
    }

    fn whole(&self, weights: &[f64], v: &[f64], p: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        if !self.wide_side() {
            let mut tiles = Tiles::zero(self.side());
            self.add_samples(&|l| weights[l].sqrt(), &mut tiles);
            return Ok((tiles.to_dense(), self.coordinates(weights, v, p)));
        }
        let sum = match &self.kept {
            Some(kept) => kept.sum(weights),
            None => self.sum_of_grams(weights),
        };
        Ok((sum, v.to_vec()))
    }
}

/// Adds the outer products of lines with rising positions; every thread goes through all lines
/// for a band of its own.
fn add_sparse(lines: &[Vec<(usize, f64)>], tiles: &mut Tiles) {
    let longest = lines.iter().filter_map(|line| line.last()).map(|&(j, _)| j + 1).max();
    let columns: Vec<usize> = (0..longest.unwrap_or(0)).map(Tiles::column).collect();
    let rows: Vec<usize> = (0..longest.unwrap_or(0)).map(|i| tiles.row(i)).collect();
    tiles.bands().into_par_iter().for_each(|(first, at, band)| {
        for line in lines {
            let from = line.partition_point(|&(i, _)| i < first);
            let to = line.partition_point(|&(i, _)| i < first + Tiles::band_rows());
            for (k, &(i, x)) in line[from..to].iter().enumerate() {
                for &(j, y) in &line[from + k..] {
                    band[rows[i] + columns[j] - at] += x * y;
                }
            }
        }
    });
}

vectorised! {
    /// y = Σ x_jV_j over stored entries.
    fn gather(entries: &[(usize, f64)], v: &[f64], p: usize, y: &mut [f64]) {
        y.fill(0.0);
        for &(j, x) in entries {
            for (y, v) in y.iter_mut().zip(&v[j * p..(j + 1) * p]) {
                *y = fused::<FMA>(x, *v, *y);
            }
        }
    }
}

vectorised! {
    /// image_j += weight·x_j·y over stored entries.
    fn scatter(entries: &[(usize, f64)], weight: f64, y: &[f64], p: usize, image: &mut [f64]) {
        for &(j, x) in entries {
            let x = weight * x;
            for (image, y) in image[j * p..(j + 1) * p].iter_mut().zip(y) {
                *image = fused::<FMA>(x, *y, *image);
            }
        }
    }
}
