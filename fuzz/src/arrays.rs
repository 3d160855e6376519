//! NumPy's arrays and archives, most of them valid.

use super::choices::Bytes;

/// One array, of numbers or texts, with as many bytes as its shape asks for where that is not absurd.
pub fn npy_bytes(bytes: &mut Bytes<'_>) -> Vec<u8> {
    let kinds = [
        "<f8",
        "<f4",
        ">f8",
        ">f4",
        "<i8",
        "<i4",
        "<i2",
        "|i1",
        "|u1",
        "<u8",
        "|b1",
        "<U2",
        ">U1",
        "|S3",
        "<U0",
        "|S0",
        "|O",
        "<f2",
        "<c16",
        "<U99999999999999999999",
    ];
    let kind = bytes.pick(&kinds);
    let dimensions: Vec<usize> = match bytes.below(8) {
        0 => (0..bytes.below(4)).map(|_| 1 << bytes.below(63)).collect(),
        1 => vec![bytes.below(9)],
        _ => vec![bytes.below(6), bytes.below(6)],
    };
    let shape: Vec<String> = dimensions.iter().map(ToString::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let order = bytes.pick(&["True", "False"]);
    let header = format!(
        "{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({}{comma}), }}\n",
        shape.join(", ")
    );
    let mut content = b"\x93NUMPY".to_vec();
    match bytes.below(4) {
        0 => {
            content.extend([2, 0]);
            content.extend((header.len() as u32).to_le_bytes());
        }
        _ => {
            content.extend([1, 0]);
            content.extend((header.len() as u16).to_le_bytes());
        }
    }
    content.extend(header.as_bytes());
    // As many bytes as the shape asks for, where that is not absurd.
    let width = kind.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8_usize);
    let width = if kind.contains('U') { width.saturating_mul(4) } else { width };
    let wanted = dimensions.iter().fold(width, |size, &n| size.saturating_mul(n)).min(600);
    let given = bytes.some(255);
    let short = bytes.rarely(9);
    content.extend(
        given
            .iter()
            .copied()
            .chain(std::iter::repeat(0))
            .take(wanted - usize::from(short && wanted > 0)),
    );
    content
}

/// An archive of arrays, or a sparse matrix of SciPy's.
pub fn npz_bytes(bytes: &mut Bytes<'_>) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &[u8], packed: bool| {
        use zip::CompressionMethod::{Deflated, Stored};
        let method = if packed { Deflated } else { Stored };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        // A name that is there already is not added again.
        if writer.start_file(format!("{name}.npy"), options).is_ok() {
            let _ = std::io::Write::write_all(&mut writer, content);
        }
    };
    if bytes.rarely(3) {
        for _ in 0..bytes.below(4) {
            let name = bytes.pick(&["X", "arr_0", "y", "data", "shape", "format", "indices"]);
            let content = npy_bytes(bytes);
            add(name, &content, bytes.rarely(2));
        }
    } else {
        let (rows, columns) = (bytes.below(5), bytes.below(5));
        let by_row = bytes.rarely(2);
        let (lines, across) = if by_row { (rows, columns) } else { (columns, rows) };
        let mut starts = vec![0_i64];
        let mut indices = Vec::new();
        for _ in 0..lines {
            indices.extend((0..bytes.below(4)).map(|_| bytes.below(across.max(1)) as i64));
            starts.push(indices.len() as i64);
        }
        if bytes.rarely(9) {
            starts.push(i64::from(bytes.byte()) << bytes.below(56));
        }
        let mut shape = vec![rows as i64, columns as i64];
        if bytes.rarely(6) {
            shape[bytes.below(2)] = (1_i64 << bytes.below(63)) - 1;
        }
        let values: Vec<f64> = indices.iter().map(|_| f64::from(bytes.byte()) - 2.0).collect();
        let integers = |values: &[i64]| array("<i8", values.iter().map(|v| v.to_le_bytes()));
        let packed = bytes.rarely(2);
        add("indptr", &integers(&starts), packed);
        add("indices", &integers(&indices), packed);
        add("shape", &integers(&shape), packed);
        add("data", &array("<f8", values.iter().map(|v| v.to_le_bytes())), packed);
        let format: &[u8; 3] = if by_row { b"csr" } else { b"csc" };
        add("format", &array("|S3", std::iter::once(*format)), packed);
    }
    writer.finish().expect("in memory").into_inner()
}

/// A one-dimensional `.npy`.
fn array<const N: usize>(kind: &str, items: impl ExactSizeIterator<Item = [u8; N]>) -> Vec<u8> {
    let count = items.len();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}\n");
    let mut content = b"\x93NUMPY\x01\x00".to_vec();
    content.extend((header.len() as u16).to_le_bytes());
    content.extend(header.as_bytes());
    content.extend(items.flatten());
    content
}
