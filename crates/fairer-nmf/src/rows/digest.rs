//! A number that tells data from any other: of all entries with their places, and of the groups and weights of rows. It adds over rows,
//! without rounding, so that it is the same in whatever order and by whomever it is summed.

use crate::data::GroupedData;
use crate::random::{Purpose, Stream, mix};
use rayon::prelude::*;

/// Parts that a digest is handed over in: each is a whole number that f64 adds exactly.
pub(super) const PARTS: usize = 4;
const BITS: usize = 64 / PARTS;

/// Of the rows of these data, the first of which is `first` among all rows.
pub(super) fn digest(data: &GroupedData<'_>, first: u64) -> u64 {
    let of_group = |(l, group): (usize, &crate::data::Group)| {
        let of_row = |&row: &usize| of_row(data, row, l as u64, first);
        group.rows.par_iter().map(of_row).reduce(|| 0, u64::wrapping_add)
    };
    data.groups().iter().enumerate().map(of_group).fold(0, u64::wrapping_add)
}

/// Zeros do not count, whether they are stored or not; cells that are unobserved do.
fn of_row(data: &GroupedData<'_>, row: usize, group: u64, first: u64) -> u64 {
    let mut sum = data.root(row).to_bits();
    let mut count = |j: u64, bits: u64| sum = sum.wrapping_add(mix(bits ^ mix(j + 1)));
    data.matrix.for_each_in_row(row, |j, x| {
        if x != 0.0 {
            count(j as u64, x.to_bits());
        }
    });
    data.gaps_of(row).iter().for_each(|&j| count(u64::from(j), f64::NAN.to_bits()));
    Stream::new(sum, Purpose::Digest(group), first + data.key(row)).next_u64()
}

pub(super) fn to_parts(digest: u64) -> [f64; PARTS] {
    std::array::from_fn(|part| ((digest >> (part * BITS)) & ((1 << BITS) - 1)) as f64)
}

/// The sum of the digests that these are the sums of the parts of.
pub(super) fn from_parts(parts: &[f64]) -> u64 {
    let shifted = |(part, sum): (usize, &f64)| (*sum as u64).wrapping_shl((part * BITS) as u32);
    parts.iter().enumerate().map(shifted).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn any_change_changes_it_and_no_partition_does() {
        let x = array![[1.0, 0.0, 2.0], [0.5, 3.0, 0.0], [4.0, 1.0, 1.0]];
        let of = |x: &ndarray::Array2<f64>, labels: [&str; 3]| {
            digest(&GroupedData::new(x.view(), &labels).unwrap(), 0)
        };
        let whole = of(&x, ["a", "b", "a"]);
        let mut last_bit = x.clone();
        last_bit[[1, 1]] = 3.0_f64.next_up();
        let (moved, swapped) = (
            array![[0.0, 1.0, 2.0], [0.5, 3.0, 0.0], [4.0, 1.0, 1.0]],
            x.select(ndarray::Axis(0), &[2, 1, 0]),
        );
        for other in [last_bit, moved, swapped] {
            assert_ne!(whole, of(&other, ["a", "b", "a"]));
        }
        assert_ne!(whole, of(&x, ["a", "b", "b"]));
        assert_ne!(whole, of(&x, ["a", "a", "b"]));
        // Two shares, of which the second begins at row 1.
        let rows = |from: usize, to: usize| x.slice(ndarray::s![from..to, ..]).to_owned();
        let (first, second) = (rows(0, 1), rows(1, 3));
        let first = GroupedData::new(first.view(), &["a"]).unwrap();
        let second = GroupedData::new(second.view(), &["b", "a"]).unwrap();
        let groups = vec![("a".to_owned(), vec![1]), ("b".to_owned(), vec![0])];
        let shares = [digest(&first, 0), digest(&second.regrouped(groups).unwrap(), 1)];
        let mut sums = [0.0; PARTS];
        for share in shares {
            sums.iter_mut().zip(to_parts(share)).for_each(|(sum, part)| *sum += part);
        }
        assert_eq!(whole, from_parts(&sums));
    }
}
