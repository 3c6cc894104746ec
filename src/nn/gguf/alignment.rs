//! The alignment that a GGUF file claims, read before the rest of its header.

/// The kind of a text and that of a list; the others are numbers of a fixed size.
const TEXT: u32 = 8;
const LIST: u32 = 9;

/// The most lists that lie in one another.
const MAX_DEPTH: usize = 8;

/// The value of `general.alignment`. `None` where there is none of a type that
/// counts, or the metadata is not as it should be, which others notice.
///
/// `candle` divides by it, so that a file with a zero there would end the program.
pub(super) fn alignment(file: &[u8]) -> Option<u64> {
    let mut reader = Reader { rest: file.get(4..)?, long: true };
    let version = reader.number(4)?;
    reader.long = version > 1;
    reader.length()?;
    let n_entries = reader.length()?;
    let mut alignment = None;
    for _ in 0..n_entries {
        let key = reader.text()?;
        let kind = u32::try_from(reader.number(4)?).ok()?;
        if key == b"general.alignment"
            && let Some(size) = size(kind)
            && kind < 6
        {
            alignment = Some(reader.number(size)?);
        } else {
            reader.skip(kind, 0)?;
        }
    }
    alignment
}

/// The bytes of a number of this kind.
fn size(kind: u32) -> Option<usize> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Whether lengths take eight bytes and not four, as in the first version.
    long: bool,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n_bytes)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self, n_bytes: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        bytes[..n_bytes].copy_from_slice(self.take(n_bytes)?);
        Some(u64::from_le_bytes(bytes))
    }

    fn length(&mut self) -> Option<u64> {
        self.number(if self.long { 8 } else { 4 })
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(usize::try_from(length).ok()?)
    }

    fn skip(&mut self, kind: u32, depth: usize) -> Option<()> {
        match kind {
            TEXT => self.text().map(|_| ()),
            LIST => {
                let kind = u32::try_from(self.number(4)?).ok()?;
                let length = self.length()?;
                match size(kind) {
                    Some(size) => {
                        let n_bytes = usize::try_from(length).ok()?.checked_mul(size)?;
                        self.take(n_bytes).map(|_| ())
                    }
                    None if depth < MAX_DEPTH => {
                        (0..length).try_for_each(|_| self.skip(kind, depth + 1))
                    }
                    None => None,
                }
            }
            _ => self.take(size(kind)?).map(|_| ()),
        }
    }
}
