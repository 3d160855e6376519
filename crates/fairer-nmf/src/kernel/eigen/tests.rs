//! Decompositions against what they are of, and bases against what they span.

use super::*;

/// Symmetric matrices: random, of low rank, with equal eigenvalues, in blocks that share nothing, small, zero.
fn cases() -> Vec<(usize, Vec<f64>)> {
    let mut stream = Stream::new(3, Purpose::Spectral, 0);
    let mut cases = Vec::new();
    for n in [1, 2, 3, 7, 20, 61] {
        let a: Vec<f64> = (0..n * n).map(|_| stream.normal()).collect();
        let sum = |i: usize, j: usize| a[i * n + j] + a[j * n + i];
        cases.push((n, (0..n * n).map(|at| sum(at / n, at % n)).collect()));
        let thin = n.div_ceil(3);
        cases.push((n, times(&a[..n * thin], thin, &transpose(&a[..n * thin], thin), n)));
        let mut turned: Vec<f64> = (0..n * n).map(|at| f64::from(at % (n + 1) == 0)).collect();
        turned.iter_mut().enumerate().for_each(|(at, v)| {
            *v -= 2.0 * a[at / n] * a[at % n] / a[..n].iter().map(|x| x * x).sum::<f64>();
        });
        cases.push((n, turned));
        let block = |i: usize| (i >= n / 2, i + 1 == n);
        let shared = |at: usize| block(at / n) == block(at % n);
        let apart = |at: usize| if shared(at) { sum(at / n, at % n) } else { 0.0 };
        cases.push((n, (0..n * n).map(apart).collect()));
        cases.push((n, (0..n * n).map(|at| 1e-9 * sum(at / n, at % n)).collect()));
        cases.push((n, vec![0.0; n * n]));
    }
    cases
}

fn transpose(a: &[f64], n: usize) -> Vec<f64> {
    let k = a.len() / n;
    (0..n * k).map(|at| a[at % k * n + at / k]).collect()
}

#[test]
fn eigenvectors_are_orthonormal_and_give_the_matrix_back() {
    for (n, a) in cases() {
        let Eigen { values, vectors } = symmetric(&a, n);
        let size = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let gram = transposed_times(&vectors, n, &vectors, n);
        let scaled: Vec<f64> =
            vectors.iter().enumerate().map(|(at, v)| v * values[at % n]).collect();
        let back = times(&scaled, n, &transpose(&vectors, n), n);
        let tolerance = 10.0 * n as f64 * f64::EPSILON;
        for at in 0..n * n {
            let one = f64::from(at % (n + 1) == 0);
            assert!((gram[at] - one).abs() < tolerance, "{n}: {}", gram[at]);
            assert!((back[at] - a[at]).abs() <= tolerance * size, "{n}: {}", back[at] - a[at]);
        }
        assert!(values.is_sorted_by(|a, b| a >= b));
    }
}

#[test]
fn the_leading_projection_keeps_the_largest_eigenvalues() {
    for (n, a) in cases() {
        let Eigen { values, vectors } = symmetric(&a, n);
        let size = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for d in 0..=n.min(4) {
            let p = leading_projection(&a, n, d);
            let twice = times(&p, n, &p, n);
            assert!(p.iter().zip(&twice).all(|(a, b)| (a - b).abs() < 1e-12), "{n} {d}");
            let turned = transposed_times(&vectors, n, &times(&p, n, &a, n), n);
            let kept = times(&turned, n, &vectors, n);
            for (at, kept) in kept.iter().enumerate() {
                let own = at % (n + 1) == 0 && at / n < d;
                let wanted = if own { values[at / n] } else { 0.0 };
                assert!((kept - wanted).abs() <= 1e-12 * size, "{n} {d}: {kept} {wanted}");
            }
        }
    }
}

#[test]
fn a_basis_is_orthonormal_and_spans_the_columns() {
    let mut stream = Stream::new(5, Purpose::Spectral, 0);
    let a: Vec<f64> = (0..40 * 6).map(|_| stream.normal()).collect();
    // Columns of very different lengths, and one that is the sum of two others.
    let a: Vec<f64> = a
        .chunks_exact(6)
        .flat_map(|r| [r[0] * 1e9, r[1], r[2] * 1e-9, r[0] * 1e9 + r[1], r[4], r[5]])
        .collect();
    let (q, count) = orthonormal(&a, 6, Dependent::Drop);
    assert_eq!(count, 5);
    assert_eq!(orthonormal(&a, 6, Dependent::Replace).1, 6);
    assert_eq!(orthonormal(&a[..4 * 6], 6, Dependent::Replace).1, 4);
    let gram = transposed_times(&q, count, &q, count);
    let along = transposed_times(&q, count, &a, 6);
    let back = times(&q, count, &along, 6);
    for (at, g) in gram.iter().enumerate() {
        assert!((g - f64::from(at % (count + 1) == 0)).abs() < 1e-13);
    }
    for c in 0..6 {
        let length: f64 = (0..40).map(|i| a[i * 6 + c].powi(2)).sum::<f64>().sqrt();
        let off: f64 =
            (0..40).map(|i| (back[i * 6 + c] - a[i * 6 + c]).powi(2)).sum::<f64>().sqrt();
        assert!(off < 1e-8 * length, "column {c}: {off} of {length}");
    }
}
