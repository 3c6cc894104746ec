//! The zip archive that a document is: its parts by name, and how they refer to each other.

use std::{
    collections::HashMap,
    io::{Cursor, Read},
};

use zip::{ZipArchive, result::ZipError};

use super::{
    DocxError,
    xml::{Node, XmlReader},
};

/// As many parts may be in an archive.
pub(super) const MAX_PARTS: usize = 10_000;
/// As many bytes may one part have when it is unpacked.
pub(super) const MAX_PART_BYTES: u64 = 32 << 20;
/// As many bytes may all parts that are read have when they are unpacked.
pub(super) const MAX_TOTAL_BYTES: u64 = 64 << 20;
/// As many times may a part grow when it is unpacked, if it is longer than
/// [`FREE_BYTES`]; deflate can do 1032.
pub(super) const MAX_RATIO: u64 = 250;
/// Up to this length a part may have been packed as densely as it likes.
pub(super) const FREE_BYTES: u64 = 1 << 20;

/// An open archive.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Place and name as written, by name in lower case with slashes.
    parts: HashMap<String, (usize, String)>,
    content_types: Vec<(String, String)>,
    n_bytes: u64,
}

/// A reference of one part to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relationship {
    /// The last part of its type: `comments`, `header`.
    pub(super) kind: String,
    /// The key of the part that it leads to, whether that is there or not.
    pub(super) target: String,
}

impl<'a> Package<'a> {
    /// Opens the archive and reads what it says of its parts.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, DocxError> {
        refuse_other_formats(bytes)?;
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| DocxError::DamagedArchive)?;
        if MAX_PARTS < archive.len() {
            let limit = MAX_PARTS as u64;
            return Err(DocxError::TooMuch {
                part: "the archive".to_owned(),
                what: "parts",
                limit,
            });
        }
        let mut parts = HashMap::with_capacity(archive.len());
        for index in 0..archive.len() {
            let Some(Ok(name)) = archive.name_for_index(index) else { continue };
            parts.entry(key_of(&name)).or_insert_with(|| (index, name.escape_debug().to_string()));
        }
        let mut package = Self { archive, parts, content_types: Vec::new(), n_bytes: 0 };
        package.content_types = package.read_content_types()?;
        Ok(package)
    }

    /// Whether there is such a part.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.parts.contains_key(key)
    }

    /// The name of a part as the archive writes it.
    pub(super) fn name<'b>(&'b self, key: &'b str) -> &'b str {
        self.parts.get(key).map_or(key, |(_, name)| name)
    }

    /// The main part: what the package's relationships name as that, else what the content
    /// types do.
    pub(super) fn main_part(&mut self) -> Result<String, DocxError> {
        let related = self.relationships("")?.into_iter();
        let mut named = related.filter(|it| it.kind == "officeDocument").map(|it| it.target);
        if let Some(key) = named.find(|key| self.contains(key)) {
            return Ok(key);
        }
        let is_main = |kind: &str| {
            kind.ends_with("wordprocessingml.document.main+xml")
                || kind.ends_with("wordprocessingml.template.main+xml")
                || kind.starts_with("application/vnd.ms-word.") && kind.ends_with(".main+xml")
        };
        let mut typed = self.content_types.iter().filter(|(_, kind)| is_main(kind));
        let found = typed.find(|(key, _)| self.contains(key)).map(|(key, _)| key.clone());
        found.ok_or(DocxError::NoMainPart)
    }

    /// The parts of a content type that ends so, in the order of the list of types.
    pub(super) fn of_content_type(&self, ending: &str) -> Vec<String> {
        let fitting = self.content_types.iter().filter(|(_, kind)| kind.ends_with(ending));
        fitting.map(|(key, _)| key.clone()).filter(|key| self.contains(key)).collect()
    }

    /// The references of a part, or of the whole package for an empty key, to other parts of
    /// it; none where there is no list of them.
    pub(super) fn relationships(&mut self, key: &str) -> Result<Vec<Relationship>, DocxError> {
        let (folder, file) = key.rsplit_once('/').unwrap_or(("", key));
        let slash = if folder.is_empty() { "" } else { "/" };
        let list = format!("{folder}{slash}_rels/{file}.rels");
        if !self.contains(&list) {
            return Ok(Vec::new());
        }
        let text = self.read(&list)?;
        let mut reader = XmlReader::new(self.name(&list), &text);
        let mut found = Vec::new();
        loop {
            match reader.next()? {
                Node::Open(element) if element.local_name() == "Relationship" => {
                    let is_external =
                        element.attribute("TargetMode").is_some_and(|mode| mode == "External");
                    let kind = element.attribute("Type").unwrap_or_default();
                    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                    match element.attribute("Target") {
                        Some(target) if !is_external => {
                            found.push(Relationship { kind, target: resolve(folder, &target) });
                        }
                        _ => (),
                    }
                }
                Node::End => return Ok(found),
                Node::Open(_) | Node::Close(_) | Node::Text(_) => (),
            }
        }
    }

    /// The text of a part.
    pub(super) fn read(&mut self, key: &str) -> Result<String, DocxError> {
        let Some((index, name)) = self.parts.get(key) else {
            return Err(DocxError::DamagedPart { part: key.escape_debug().to_string() });
        };
        let too_much = |what, limit| DocxError::TooMuch { part: name.clone(), what, limit };
        let mut file = self.archive.by_index(*index).map_err(|error| part_error(&error, name))?;
        let dense = file.compressed_size().saturating_mul(MAX_RATIO).max(FREE_BYTES);
        let left = MAX_TOTAL_BYTES.saturating_sub(self.n_bytes);
        let limit = MAX_PART_BYTES.min(dense).min(left);
        // What the archive says of the length is no more than a hint.
        let hint = usize::try_from(file.size().min(FREE_BYTES)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(hint);
        let n_read = (&mut file).take(limit + 1).read_to_end(&mut bytes);
        let n_read = n_read.map_err(|_| DocxError::DamagedPart { part: name.clone() })?;
        if limit < n_read as u64 {
            return Err(if limit == MAX_PART_BYTES {
                too_much("bytes in one part", MAX_PART_BYTES)
            } else if limit == left {
                too_much("bytes in all parts", MAX_TOTAL_BYTES)
            } else {
                too_much("times the bytes that it has packed", MAX_RATIO)
            });
        }
        self.n_bytes += n_read as u64;
        decode(bytes).ok_or_else(|| DocxError::Encoding { part: name.clone() })
    }

    fn read_content_types(&mut self) -> Result<Vec<(String, String)>, DocxError> {
        let key = "[content_types].xml";
        if !self.contains(key) {
            return Ok(Vec::new());
        }
        let text = self.read(key)?;
        let mut reader = XmlReader::new(self.name(key), &text);
        let mut found = Vec::new();
        loop {
            match reader.next()? {
                Node::Open(element) if element.local_name() == "Override" => {
                    if let (Some(part), Some(kind)) =
                        (element.attribute("PartName"), element.attribute("ContentType"))
                    {
                        found.push((key_of(&part), kind));
                    }
                }
                Node::End => return Ok(found),
                Node::Open(_) | Node::Close(_) | Node::Text(_) => (),
            }
        }
    }
}

/// Tells old Word documents, encrypted ones and files of other kinds.
fn refuse_other_formats(bytes: &[u8]) -> Result<(), DocxError> {
    /// A compound file, which old documents are, and what holds an encrypted new one.
    const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    if bytes.starts_with(COMPOUND) {
        let package: Vec<u8> =
            "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let is_encrypted = bytes.windows(package.len()).any(|window| window == package);
        return Err(if is_encrypted { DocxError::Encrypted } else { DocxError::OldDoc });
    }
    if bytes.starts_with(b"PK") { Ok(()) } else { Err(DocxError::NotZip) }
}

fn part_error(error: &ZipError, name: &str) -> DocxError {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => DocxError::Encrypted,
        _ => DocxError::DamagedPart { part: name.to_owned() },
    }
}

/// The key of a part: names of parts do not tell upper from lower case, and some programs
/// write them with backslashes.
fn key_of(name: &str) -> String {
    name.replace('\\', "/").trim_start_matches('/').to_ascii_lowercase()
}

/// The key of what a reference from a part in `folder` leads to.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let mut path: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|step| !step.is_empty()).collect(),
    };
    for step in target.split('/') {
        match step {
            "" | "." => (),
            ".." => _ = path.pop(),
            step => path.push(step),
        }
    }
    key_of(&path.join("/"))
}

/// UTF-8, or UTF-16 that says so; without its byte order mark.
fn decode(bytes: Vec<u8>) -> Option<String> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).collect::<Result<String, _>>().ok()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => str::from_utf8(rest).ok().map(str::to_owned),
        _ => String::from_utf8(bytes).ok(),
    }
}
