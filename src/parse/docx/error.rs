//! Why a file cannot be read as a DOCX document.

/// Why a file cannot be read as a DOCX document. No message quotes its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocxError {
    /// A document of Word before 2007.
    #[error(
        "an old Word document (.doc), not a .docx: open it in a word processor and save it as .docx"
    )]
    OldDoc,
    /// Locked with a password.
    #[error("encrypted: open it with its password and save it without one")]
    Encrypted,
    /// Something else altogether.
    #[error("not a .docx: the file is no zip archive")]
    NotZip,
    /// A zip archive without its end, or with nonsense in it.
    #[error(
        "the zip archive is cut short or damaged: fetch the file again, or let a word processor repair it"
    )]
    DamagedArchive,
    /// One part of the archive that does not unpack.
    #[error("{part}: cannot be unpacked: the archive is damaged, or packed in an unusual way")]
    DamagedPart {
        /// The name of the part.
        part: String,
    },
    /// A zip archive that holds no Word document.
    #[error(
        "no Word document in the archive: neither _rels/.rels nor [Content_Types].xml names a main part that is there"
    )]
    NoMainPart,
    /// A main part that holds something else.
    #[error("{part}: the main part is no Word document: the root element has another name")]
    NotWord {
        /// The name of the part.
        part: String,
    },
    /// A part that is not well-formed.
    #[error(
        "{part}: not well-formed XML at byte {offset}: let a word processor repair the document"
    )]
    Xml {
        /// The name of the part.
        part: String,
        /// Where it was noticed.
        offset: u64,
    },
    /// A part that ends in the middle.
    #[error("{part}: the XML ends before its last element does: the document was cut short")]
    CutShort {
        /// The name of the part.
        part: String,
    },
    /// A part that is neither UTF-8 nor UTF-16.
    #[error("{part}: neither UTF-8 nor UTF-16: let a word processor save the document anew")]
    Encoding {
        /// The name of the part.
        part: String,
    },
    /// A part that declares a document type, or entities of its own.
    #[error("{part}: declares a document type or uses an entity of its own, which no .docx may do")]
    DocumentType {
        /// The name of the part.
        part: String,
    },
    /// More than any honest document holds.
    #[error("{part}: more than {limit} {what}, which no honest document has: not read any further")]
    TooMuch {
        /// The name of the part, or of the whole.
        part: String,
        /// What there is too much of, with its unit.
        what: &'static str,
        /// As much is allowed.
        limit: u64,
    },
}
