//! Which layers lie on which device.

/// The device of each layer: contiguous blocks, in the order of the devices, about
/// as large as each other. `head` is the size of what lies behind the last layer,
/// on the last device.
///
/// # Panics
///
/// If there is no device.
pub(super) fn place(layers: &[usize], head: usize, n_devices: usize) -> Vec<usize> {
    assert!(n_devices > 0, "no devices");
    let total = (layers.iter().sum::<usize>() + head).max(1);
    let mut before = 0;
    layers
        .iter()
        .map(|size| {
            // A layer goes where its middle falls.
            let middle = before + size / 2;
            before += size;
            (middle * n_devices / total).min(n_devices - 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn layers_are_cut_into_blocks_of_about_the_same_size() {
        assert_eq!(place(&[5; 4], 0, 2), [0, 0, 1, 1]);
        assert_eq!(place(&[5; 4], 0, 1), [0; 4]);
        assert_eq!(place(&[9, 1, 1, 1], 0, 2), [0, 1, 1, 1]);
        assert_eq!(place(&[5; 6], 0, 3), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn the_head_counts_for_the_last_device() {
        assert_eq!(place(&[5; 4], 10, 2), [0, 0, 0, 1]);
    }

    #[test]
    fn more_devices_than_layers_leave_some_empty() {
        assert_eq!(place(&[5; 2], 0, 4), [0, 2]);
    }
}
