//! The elements that the reader knows.

/// What an element is. Of the namespaces only what matters is told apart: the two of
/// `WordprocessingML` (transitional and strict) are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    // Roots and stories.
    Document,
    Body,
    Comment,
    Footnote,
    Endnote,
    // Blocks.
    Paragraph,
    ParagraphProperties,
    Frame,
    StyleSeparator,
    TableCell,
    AltChunk,
    // Runs.
    Run,
    RunProperties,
    RunStyle,
    Highlight,
    Shading,
    Strike,
    Text,
    DeletedText,
    Tab,
    Break,
    NoBreakHyphen,
    Symbol,
    FieldChar,
    // Marks.
    Insertion,
    Deletion,
    MoveFrom,
    MoveTo,
    CommentRangeStart,
    CommentRangeEnd,
    CommentReference,
    FootnoteReference,
    EndnoteReference,
    // Alternatives of which one counts.
    AlternateContent,
    Alternative,
    // Styles.
    Style,
    BasedOn,
    // The threads of comments.
    CommentExtended,
    /// Nothing under it is text of the document.
    Skipped,
    /// Nothing of interest, but what stands in it counts.
    Other,
}

/// The namespaces that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    Word,
    Math,
    Compatibility,
    WordExtension,
    Other,
}

impl Namespace {
    pub(super) fn of(uri: &str) -> Self {
        match uri {
            "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
            | "http://purl.oclc.org/ooxml/wordprocessingml/main" => Self::Word,
            "http://schemas.openxmlformats.org/officeDocument/2006/math"
            | "http://purl.oclc.org/ooxml/officeDocument/math" => Self::Math,
            "http://schemas.openxmlformats.org/markup-compatibility/2006" => Self::Compatibility,
            _ if uri.starts_with("http://schemas.microsoft.com/office/word/") => {
                Self::WordExtension
            }
            _ => Self::Other,
        }
    }
}

impl Tag {
    pub(super) fn of(namespace: Namespace, name: &str) -> Self {
        match namespace {
            Namespace::Word => Self::of_word(name),
            Namespace::Math => match name {
                "t" => Self::Text,
                "r" => Self::Run,
                "ctrlPr" => Self::Skipped,
                _ => Self::Other,
            },
            Namespace::Compatibility => match name {
                "AlternateContent" => Self::AlternateContent,
                "Choice" | "Fallback" => Self::Alternative,
                _ => Self::Other,
            },
            Namespace::WordExtension => match name {
                "commentEx" => Self::CommentExtended,
                "symEx" => Self::Symbol,
                _ => Self::Other,
            },
            Namespace::Other => Self::Other,
        }
    }

    fn of_word(name: &str) -> Self {
        match name {
            "r" => Self::Run,
            "t" => Self::Text,
            "rPr" => Self::RunProperties,
            "p" => Self::Paragraph,
            "pPr" => Self::ParagraphProperties,
            "framePr" => Self::Frame,
            "specVanish" => Self::StyleSeparator,
            "document" => Self::Document,
            "body" => Self::Body,
            "comment" => Self::Comment,
            "footnote" => Self::Footnote,
            "endnote" => Self::Endnote,
            "tc" => Self::TableCell,
            "altChunk" | "subDoc" => Self::AltChunk,
            "rStyle" => Self::RunStyle,
            "highlight" => Self::Highlight,
            "shd" => Self::Shading,
            "strike" | "dstrike" => Self::Strike,
            "delText" => Self::DeletedText,
            "tab" | "ptab" => Self::Tab,
            "br" | "cr" => Self::Break,
            "noBreakHyphen" => Self::NoBreakHyphen,
            "sym" => Self::Symbol,
            "fldChar" => Self::FieldChar,
            "ins" => Self::Insertion,
            "del" => Self::Deletion,
            "moveFrom" => Self::MoveFrom,
            "moveTo" => Self::MoveTo,
            "commentRangeStart" => Self::CommentRangeStart,
            "commentRangeEnd" => Self::CommentRangeEnd,
            "commentReference" => Self::CommentReference,
            "footnoteReference" => Self::FootnoteReference,
            "endnoteReference" => Self::EndnoteReference,
            "style" => Self::Style,
            "basedOn" => Self::BasedOn,
            "instrText" | "delInstrText" | "sdtPr" | "sdtEndPr" | "sectPr" | "tblPr"
            | "tblPrEx" | "tblGrid" | "trPr" | "tcPr" | "rt" | "rubyPr" | "fldData" | "ffData"
            | "rPrChange" | "pPrChange" | "sectPrChange" | "tblPrChange" | "tblPrExChange"
            | "tblGridChange" | "trPrChange" | "tcPrChange" | "numberingChange" | "smartTagPr"
            | "customXmlPr" => Self::Skipped,
            _ => Self::Other,
        }
    }
}
