use super::*;

/// Small whole numbers, so that every order of summation gives the same in either type.
fn whole<T: Number>(len: usize, step: usize) -> Vec<T> {
    (0..len).map(|i| T::from_f64(((i * step) % 11) as f64 - 3.0)).collect()
}

fn equal_the_plain_sums<T: Number>() {
    for r in [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 29, 50, 63, 64, 65, 130] {
        for (k, n) in [(1, 1), (3, 5), (8, 12), (9, 70), (17, 130), (9, 1_100)] {
            let (x, h) = (whole::<T>(k * n, 7), whole::<T>(n * r, 5));
            let product = |i: usize, t: usize| -> f64 {
                (0..n).map(|j| x[i * n + j].to_f64() * h[j * r + t].to_f64()).sum()
            };
            let mut out = vec![f64::NAN; room(k, r)];
            times(&x, &Packed::new(r, n, |j, t| h[j * r + t]), &mut out);
            for (at, &found) in out[..k * r].iter().enumerate() {
                assert_eq!(found, product(at / r, at % r), "XHᵀ {k}x{n}, r = {r}");
            }

            let w = whole::<T>(k * r, 3);
            let mut out = vec![T::ONE; cross_room::<T>(n, r)];
            add_cross(&x, n, &w, r, &mut Vec::new(), &mut out);
            let mut visited = 0;
            cross_places::<T>(n, r, |j, t, at| {
                let entries = (0..k).map(|i| x[i * n + j].to_f64() * w[i * r + t].to_f64());
                let sum: f64 = entries.sum();
                assert_eq!(out[at].to_f64(), 1.0 + sum, "WᵀX {k}x{n}, r = {r}");
                visited += 1;
            });
            assert_eq!(visited, n * r);
        }
    }
}

#[test]
fn products_of_a_panel_equal_the_plain_sums_for_every_shape() {
    crate::kernel::tests::at_every_level(equal_the_plain_sums::<f32>);
    crate::kernel::tests::at_every_level(equal_the_plain_sums::<f64>);
}
