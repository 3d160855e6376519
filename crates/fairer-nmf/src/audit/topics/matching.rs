//! Optimal assignment by the Hungarian method, in the form of shortest augmenting paths with
//! potentials (Kuhn 1955; Jonker and Volgenant 1987). Exact; O(rows²·columns).

/// For every row its column, all different, such that the sum of costs is smallest.
/// `rows ≤ columns`; costs are finite.
pub(in crate::audit) fn assign(
    rows: usize,
    columns: usize,
    cost: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    // One table: the cost is asked for many times.
    let table: Vec<f64> = (0..rows * columns).map(|i| cost(i / columns, i % columns)).collect();
    let mut row_potential = vec![0.0; rows];
    // Column `columns` is the root of every path: the row that is being placed.
    let mut column_potential = vec![0.0; columns + 1];
    let mut row_of: Vec<Option<usize>> = vec![None; columns + 1];
    for row in 0..rows {
        row_of[columns] = Some(row);
        let mut distance = vec![f64::INFINITY; columns];
        let mut previous = vec![columns; columns];
        let mut done = vec![false; columns + 1];
        let mut at = columns;
        while let Some(i) = row_of[at] {
            done[at] = true;
            for j in (0..columns).filter(|&j| !done[j]) {
                let reduced = table[i * columns + j] - row_potential[i] - column_potential[j];
                if reduced < distance[j] {
                    distance[j] = reduced;
                    previous[j] = at;
                }
            }
            let nearest = (0..columns)
                .filter(|&j| !done[j])
                .min_by(|&a, &b| distance[a].total_cmp(&distance[b]))
                .expect("a free column is left, as rows ≤ columns");
            let step = distance[nearest];
            for j in 0..=columns {
                if done[j] {
                    if let Some(i) = row_of[j] {
                        row_potential[i] += step;
                    }
                    column_potential[j] -= step;
                } else if j < columns {
                    distance[j] -= step;
                }
            }
            at = nearest;
        }
        // Back along the path, every row takes the next column.
        while at != columns {
            row_of[at] = row_of[previous[at]];
            at = previous[at];
        }
    }
    let mut column_of = vec![0; rows];
    for (j, row) in row_of[..columns].iter().enumerate() {
        if let Some(row) = row {
            column_of[*row] = j;
        }
    }
    column_of
}
