//! Tables and matrices as the tools make them (`fixtures/make_tables.py`): sheets, German exports,
//! the three files of cells.

#[cfg(not(feature = "excel"))]
use fairer_nmf_io::InputError;
use fairer_nmf_io::{Dataset, DenseView, Matrix, Missing, ReadOptions, StopWords, read};
#[cfg(feature = "excel")]
use fairer_nmf_io::{Kind, look};
use ndarray::{Array2, array};

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn dense(data: &Dataset) -> Array2<f64> {
    match &data.matrix {
        Matrix::Dense(dense) => match dense.view() {
            DenseView::F64(view) => view.to_owned(),
            DenseView::F32(view) => view.mapv(f64::from),
        },
        Matrix::Sparse(sparse) => {
            let mut full = Array2::zeros((sparse.rows, sparse.cols));
            for row in 0..sparse.rows {
                let (columns, values) = sparse.row(row);
                columns.iter().zip(values).for_each(|(&j, &v)| full[[row, j as usize]] = v);
            }
            full
        }
    }
}

fn survey() -> ReadOptions {
    ReadOptions::default().with(|o| {
        o.group_by = vec!["sex".into()];
        o.drop = vec!["id,day,region".into()];
        o.missing = Missing::DropRows;
    })
}

/// The rows of the survey with an income.
fn expected() -> Array2<f64> {
    array![[1234.5, 0.5], [2000.25, 12.25], [12.0, 100.0], [1_000_000.0, 7.125]]
}

#[test]
fn a_german_export_of_pandas_is_its_numbers() {
    let data = read(&fixture("survey_german.csv"), &survey()).unwrap();
    assert_eq!(dense(&data), expected());
    assert_eq!(data.left_out.iter().map(|g| (g.rows, g.of)).collect::<Vec<_>>(), [(1, 3), (0, 2)]);
    assert_eq!(data.table.unwrap().decimal, Some(fairer_nmf_io::Decimal::Comma));
}

#[cfg(feature = "excel")]
#[test]
fn sheets_of_openpyxl_and_libreoffice_are_the_same_table() {
    for path in ["survey.xlsx:Data", "survey.ods"] {
        let data = read(&fixture(path), &survey()).unwrap();
        assert_eq!(dense(&data), expected(), "{path}");
        assert!(data.describe_cell(2, 0).ends_with("line 5, column `income`"), "{path}");
        let kinds: Vec<Kind> = look(&fixture(path), &ReadOptions::default())
            .unwrap()
            .columns
            .iter()
            .map(|column| column.kind)
            .collect();
        assert_eq!((kinds[0], kinds[2], kinds[3]), (Kind::Id, Kind::Date, Kind::Number), "{path}");
    }
    let first = read(&fixture("survey.xlsx"), &survey()).unwrap_err().to_string();
    assert!(first.contains("has no column `sex`"), "{first}");
    let absent = read(&fixture("survey.xlsx:Sheet9"), &survey()).unwrap_err().to_string();
    assert!(absent.contains("has no sheet `Sheet9`; it holds `About`, `Data`"), "{absent}");
}

#[cfg(not(feature = "excel"))]
#[test]
fn without_the_feature_a_sheet_says_how_to_get_it() {
    let error = read(&fixture("survey.xlsx"), &survey()).unwrap_err();
    assert!(matches!(error, InputError::FeatureOff { feature: "excel", .. }), "{error}");
}

#[test]
fn the_three_files_of_cells_are_cells_by_genes() {
    let counts = array![[5., 0., 1.], [0., 2., 0.], [1., 1., 7.], [3., 0., 0.]];
    let data = read(&fixture("cells"), &ReadOptions::default()).unwrap();
    assert_eq!(dense(&data), counts);
    assert_eq!(data.features, ["CD4", "MS4A1", "CD4-1"]);
    let (name, barcodes) = data.row_names();
    assert_eq!((name.as_str(), barcodes[3].as_str()), ("barcode", "AACC-1"));
    // One by one: the number of names tells that the matrix lies on its side.
    let mut options =
        ReadOptions::default().with(|o| o.feature_names = Some(fixture("cells/features.tsv.gz")));
    let matrix = fixture("cells/matrix.mtx");
    let message = read(&matrix, &options).unwrap_err().to_string();
    assert!(message.ends_with("turn it around with `--transpose`"), "{message}");
    options.transpose = true;
    assert_eq!(dense(&read(&matrix, &options).unwrap()), counts);
}

#[test]
fn single_cell_files_of_python_are_shown_the_way() {
    let message = read("some/cells.h5ad", &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("fairer_nmf.fit_anndata(anndata.read_h5ad("), "{message}");
}

#[test]
fn every_named_language_has_common_words() {
    for language in StopWords::languages() {
        assert!(matches!(StopWords::named(language), Some(StopWords::Words(w)) if !w.is_empty()));
    }
    assert_eq!(StopWords::named("no such language"), None);
}
