//! Keys of maps: what has a natural text form becomes a key, all else is refused.

use std::fmt;

use serde::{Serialize, Serializer, ser::Impossible};

use super::{CanonicalError, writer::Writer};

/// Serializes one key into a writer.
#[derive(Debug)]
pub(super) struct KeySerializer<'a>(pub(super) &'a mut Writer);

type Never = Impossible<(), CanonicalError>;

impl serde::ser::Error for CanonicalError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Value(message.to_string())
    }
}

macro_rules! displayed {
    ($($method:ident: $kind:ty,)+) => {$(
        fn $method(self, value: $kind) -> Result<(), CanonicalError> {
            self.0.key_display(&value)
        }
    )+};
}

macro_rules! refused {
    ($($method:ident($($kind:ty),*) -> $ok:ty;)+) => {$(
        fn $method(self, $(_: $kind),*) -> Result<$ok, CanonicalError> {
            Err(CanonicalError::Key)
        }
    )+};
}

impl Serializer for KeySerializer<'_> {
    type Ok = ();
    type Error = CanonicalError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    displayed! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_bool: bool,
        serialize_char: char,
    }

    refused! {
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_map(Option<usize>) -> Never;
        serialize_struct(&'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }

    fn serialize_str(self, text: &str) -> Result<(), CanonicalError> {
        self.0.key_text(text);
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), CanonicalError> {
        self.0.key_display(value)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CanonicalError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), CanonicalError> {
        Err(CanonicalError::Key)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CanonicalError> {
        value.serialize(self)
    }
}
