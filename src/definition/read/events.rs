//! The events of a YAML text, with their places.
//!
//! The parser is the one inside `serde_yaml`, whose own interface does not tell places. The parser has the interface of
//! a C library: this module alone has unsafe code, and no pointer leaves it.
#![allow(unsafe_code, reason = "the interface of the parser")]

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

use libyaml_rs as sys;

/// A line and a column, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub line: u32,
    pub column: u32,
}

impl Mark {
    fn new(mark: sys::yaml_mark_t) -> Self {
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: number(mark.line), column: number(mark.column) }
    }
}

#[derive(Debug)]
pub(crate) enum Event {
    /// The beginning of the stream or of a document.
    Start,
    DocumentEnd,
    StreamEnd,
    Alias(String),
    Scalar {
        anchor: Option<String>,
        tag: Option<String>,
        text: String,
        /// The end of a scalar without quotes that is not a block.
        plain_end: Option<Mark>,
    },
    List {
        anchor: Option<String>,
        tag: Option<String>,
    },
    ListEnd,
    Map {
        anchor: Option<String>,
        tag: Option<String>,
    },
    MapEnd,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// The parser's words, or ours.
    pub words: String,
    pub mark: Option<Mark>,
    /// The beginning of the quoted text, or of the list or mapping in brackets, that the parser was reading.
    pub begun: Option<Mark>,
}

pub(crate) struct Events<'t> {
    parser: Box<MaybeUninit<sys::yaml_parser_t>>,
    /// The parser has a pointer into the text.
    text: PhantomData<&'t str>,
}

impl<'t> Events<'t> {
    pub fn new(text: &'t str) -> Self {
        let mut parser = Box::new(MaybeUninit::uninit());
        let state: *mut sys::yaml_parser_t = parser.as_mut_ptr();
        // SAFETY: the first call initializes all of the state, and does not fail: the allocator does not return without
        // memory. The state stays where it is, in its box, and the text outlives it.
        unsafe {
            let _ = sys::yaml_parser_initialize(state);
            sys::yaml_parser_set_encoding(state, sys::YAML_UTF8_ENCODING);
            sys::yaml_parser_set_input_string(state, text.as_ptr(), text.len() as u64);
        }
        Self { parser, text: PhantomData }
    }

    /// Returns the next event. Nothing follows an error.
    pub fn next(&mut self) -> Result<(Event, Mark), Failure> {
        let mut event = MaybeUninit::<sys::yaml_event_t>::uninit();
        // SAFETY: the state is initialized. The call writes the whole event, whose strings live until it is deleted.
        unsafe {
            let parsed = sys::yaml_parser_parse(self.parser.as_mut_ptr(), event.as_mut_ptr());
            if !parsed.ok {
                return Err(failure(self.parser.assume_init_ref()));
            }
            let read = (convert(event.assume_init_ref()), Mark::new(event.assume_init_ref().start_mark));
            sys::yaml_event_delete(event.as_mut_ptr());
            Ok(read)
        }
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        // SAFETY: the state is initialized, and not used any more.
        unsafe { sys::yaml_parser_delete(self.parser.as_mut_ptr()) }
    }
}

/// Returns the error in the state of the parser.
fn failure(parser: &sys::yaml_parser_t) -> Failure {
    // SAFETY: the parser's words are constants.
    let words = |words: *const i8| unsafe { string(words.cast()) };
    let mark = Mark::new(parser.problem_mark);
    let mut text = words(parser.problem).unwrap_or_default();
    let context = words(parser.context);
    let is_delimited = |words: &String| words.contains("quoted") || words.contains("flow");
    let begun = context.as_ref().filter(|words| is_delimited(words)).map(|_| Mark::new(parser.context_mark));
    // Bytes that cannot be read have no mark.
    if mark == (Mark { line: 0, column: 0 }) {
        if parser.problem_offset != 0 {
            text.push_str(&format!(" at position {}", parser.problem_offset));
        }
        if let Some(context) = context {
            text.push_str(&format!(", {context}"));
        }
    }
    Failure { words: text, mark: Some(mark), begun }
}

/// # Safety
///
/// The event is one of the parser's, and not deleted.
unsafe fn convert(event: &sys::yaml_event_t) -> Event {
    // SAFETY: the type of the event tells which of its data there is, and its strings end with NUL.
    unsafe {
        match event.type_ {
            sys::YAML_ALIAS_EVENT => Event::Alias(string(event.data.alias.anchor.cast()).unwrap_or_default()),
            sys::YAML_SCALAR_EVENT => {
                let scalar = event.data.scalar;
                let bytes = slice::from_raw_parts(scalar.value, scalar.length as usize);
                Event::Scalar {
                    anchor: string(scalar.anchor.cast()),
                    tag: string(scalar.tag.cast()),
                    text: String::from_utf8_lossy(bytes).into_owned(),
                    plain_end: (scalar.style == sys::YAML_PLAIN_SCALAR_STYLE).then(|| Mark::new(event.end_mark)),
                }
            }
            sys::YAML_SEQUENCE_START_EVENT => {
                let list = event.data.sequence_start;
                Event::List { anchor: string(list.anchor.cast()), tag: string(list.tag.cast()) }
            }
            sys::YAML_MAPPING_START_EVENT => {
                let map = event.data.mapping_start;
                Event::Map { anchor: string(map.anchor.cast()), tag: string(map.tag.cast()) }
            }
            sys::YAML_SEQUENCE_END_EVENT => Event::ListEnd,
            sys::YAML_MAPPING_END_EVENT => Event::MapEnd,
            sys::YAML_DOCUMENT_END_EVENT => Event::DocumentEnd,
            sys::YAML_STREAM_START_EVENT | sys::YAML_DOCUMENT_START_EVENT => Event::Start,
            _ => Event::StreamEnd,
        }
    }
}

/// # Safety
///
/// The pointer is null or leads to bytes that end with NUL.
unsafe fn string(bytes: *const c_char) -> Option<String> {
    // SAFETY: by the contract of this function.
    (!bytes.is_null()).then(|| unsafe { CStr::from_ptr(bytes) }.to_string_lossy().into_owned())
}
