//! The paper's four data sets, from the folder that holds them.

use fairer_nmf::data::{Csr, Indices};
use fairer_nmf::{GroupedData, Matrix};
use fairer_nmf_io::{self as io, Dataset, DenseMatrix, DenseView, GroupsSource, ReadOptions};

/// What a measurement ends with when it cannot go on.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One data set.
pub struct Set {
    /// Its name in the tables.
    pub name: &'static str,
    matrix: &'static str,
    groups: &'static str,
    /// The paper's ranks are 1 to this.
    pub ranks: usize,
}

/// All of them: 45 cells.
pub const SETS: [Set; 4] = [
    Set {
        name: "ortho1",
        matrix: "synthetic/ortho1.npz:X",
        groups: "synthetic/ortho1.npz:group",
        ranks: 9,
    },
    Set {
        name: "ortho2",
        matrix: "synthetic/ortho2.npz:X",
        groups: "synthetic/ortho2.npz:group",
        ranks: 6,
    },
    Set {
        name: "hd",
        matrix: "heart-disease/hd_297x12.npz:X",
        groups: "heart-disease/hd_297x12.npz:group",
        ranks: 10,
    },
    Set {
        name: "20n",
        matrix: "20newsgroups/20n_tfidf_1500x200.npz",
        groups: "20newsgroups/20n_rows.csv:group",
        ranks: 20,
    },
];

impl Set {
    /// Reads the set from the folder with the paper's data.
    ///
    /// # Errors
    /// As the program when it reads a file.
    pub fn read(&self, shared: &str) -> Result<Dataset, Failure> {
        let groups = format!("{shared}/data/{}", self.groups).parse::<GroupsSource>()?;
        let options = ReadOptions::default().with(|o| o.groups = Some(groups));
        Ok(io::read(&format!("{shared}/data/{}", self.matrix), &options)?)
    }
}

/// The set as the library takes it.
///
/// # Errors
/// Data without groups, or not in f64.
pub fn grouped(dataset: &Dataset) -> Result<GroupedData<'_>, Failure> {
    let labels = dataset.labels.as_ref().ok_or("no groups")?;
    let matrix: Matrix<'_, f64> = match &dataset.matrix {
        io::Matrix::Sparse(x) => {
            Csr::new(x.cols, &x.indptr, Indices::I32(&x.indices), &x.values)?.into()
        }
        io::Matrix::Dense(x) => dense(x)?.into(),
    };
    Ok(GroupedData::new(matrix, labels)?)
}

fn dense(x: &DenseMatrix) -> Result<ndarray::ArrayView2<'_, f64>, Failure> {
    match x.view() {
        DenseView::F64(view) => Ok(view),
        DenseView::F32(_) => Err("the paper's data is f64".into()),
    }
}
