//! XML as a stream of known elements, within limits and without document types.

use std::borrow::Cow;

use quick_xml::{
    NsReader, XmlVersion,
    errors::SyntaxError,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
    name::ResolveResult,
};

use super::{
    DocxError,
    tag::{Namespace, Tag},
};

/// As deep elements may be nested.
pub(super) const MAX_DEPTH: usize = 256;

/// The elements of one part, one after the other.
pub(super) struct XmlReader<'a> {
    part: &'a str,
    reader: NsReader<&'a [u8]>,
    open: Vec<Tag>,
    /// An empty element that has yet to be closed.
    is_empty_element: bool,
}

/// What comes next in a part.
pub(super) enum Node<'a> {
    /// An element begins.
    Open(Element<'a>),
    /// The element begun last ends.
    Close(Tag),
    /// Characters.
    Text(Cow<'a, str>),
    /// The part ends.
    End,
}

/// The beginning of an element.
pub(super) struct Element<'a> {
    pub(super) tag: Tag,
    start: BytesStart<'a>,
}

impl Element<'_> {
    /// The value of an attribute, by its name without prefix; `None` if it is not there.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.start.attributes();
        attributes
            .with_checks(false)
            .map_while(Result::ok)
            .find(|attribute| {
                let (local, prefix) = attribute.key.decompose();
                local.into_inner() == name && !prefix.is_some_and(|prefix| prefix.is_xmlns())
            })
            .map(|attribute| match attribute.normalized_value(XmlVersion::Implicit1_0) {
                Ok(value) => value.into_owned(),
                Err(_) => attribute.value.into_owned(),
            })
    }

    /// The attribute `val`.
    pub(super) fn value(&self) -> Option<String> {
        self.attribute("val")
    }

    /// Whether a switch is on: it is unless it says otherwise.
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.value().as_deref(), Some("0" | "false" | "off"))
    }

    /// Its name without prefix.
    pub(super) fn local_name(&self) -> &str {
        self.start.local_name().into_inner()
    }
}

impl<'a> XmlReader<'a> {
    /// Reads the text of a part; `part` is its name, for messages.
    pub(super) fn new(part: &'a str, text: &'a str) -> Self {
        let reader = NsReader::from_str(text);
        Self { part, reader, open: Vec::new(), is_empty_element: false }
    }

    /// The name of the part.
    pub(super) fn part(&self) -> String {
        self.part.to_owned()
    }

    /// The innermost element that is open.
    pub(super) fn current(&self) -> Option<Tag> {
        self.open.last().copied()
    }

    /// The element around the innermost one that is open.
    pub(super) fn parent(&self) -> Option<Tag> {
        self.open.iter().rev().nth(1).copied()
    }

    /// What comes next.
    pub(super) fn next(&mut self) -> Result<Node<'a>, DocxError> {
        if self.is_empty_element {
            self.is_empty_element = false;
            return Ok(self.close());
        }
        loop {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(quick_xml::Error::Syntax(error)) if is_unclosed(error) => {
                    return Err(DocxError::CutShort { part: self.part() });
                }
                Err(_) => return Err(self.malformed()),
            };
            match event {
                Event::Start(start) => return self.open(start),
                Event::Empty(start) => {
                    self.is_empty_element = true;
                    return self.open(start);
                }
                Event::End(_) if self.open.is_empty() => return Err(self.malformed()),
                Event::End(_) => return Ok(self.close()),
                Event::Text(text) => return Ok(Node::Text(text.xml10_content())),
                Event::CData(text) => return Ok(Node::Text(text.xml10_content())),
                Event::GeneralRef(reference) => {
                    if let Some(text) = resolve_predefined_entity(&reference) {
                        return Ok(Node::Text(Cow::Borrowed(text)));
                    }
                    return match reference.resolve_char_ref() {
                        Ok(Some(ch)) => Ok(Node::Text(Cow::Owned(ch.to_string()))),
                        Ok(None) => Err(DocxError::DocumentType { part: self.part() }),
                        Err(_) => Err(self.malformed()),
                    };
                }
                Event::DocType(_) => {
                    return Err(DocxError::DocumentType { part: self.part() });
                }
                Event::Eof if self.open.is_empty() => return Ok(Node::End),
                Event::Eof => return Err(DocxError::CutShort { part: self.part() }),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => (),
            }
        }
    }

    /// Passes over everything up to the end of the element begun last.
    pub(super) fn skip(&mut self) -> Result<(), DocxError> {
        let depth = self.open.len();
        while depth <= self.open.len() {
            self.next()?;
        }
        Ok(())
    }

    fn open(&mut self, start: BytesStart<'a>) -> Result<Node<'a>, DocxError> {
        if self.open.len() == MAX_DEPTH {
            return Err(DocxError::TooMuch {
                part: self.part(),
                what: "elements in one another",
                limit: MAX_DEPTH as u64,
            });
        }
        let (namespace, _) = self.reader.resolver().resolve_element(start.name());
        let tag = Tag::of(namespace_of(&namespace), start.local_name().into_inner());
        self.open.push(tag);
        Ok(Node::Open(Element { tag, start }))
    }

    fn close(&mut self) -> Node<'a> {
        Node::Close(self.open.pop().unwrap_or(Tag::Other))
    }

    fn malformed(&self) -> DocxError {
        DocxError::Xml { part: self.part(), offset: self.reader.error_position() }
    }
}

/// Whether the text ended within markup.
fn is_unclosed(error: SyntaxError) -> bool {
    !matches!(error, SyntaxError::InvalidBangMarkup)
}

fn namespace_of(resolved: &ResolveResult<'_>) -> Namespace {
    match resolved {
        ResolveResult::Bound(namespace) => Namespace::of(namespace.into_inner()),
        ResolveResult::Unbound | ResolveResult::Unknown(_) => Namespace::Other,
    }
}
