//! The data model of serde as JSON, in the shapes that `serde_json` gives it.

use std::fmt;

use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};

use super::{
    CanonicalError, INTEGER_MAX,
    key::KeySerializer,
    writer::{Object, Writer},
};

/// By this name `serde_json` asks a serializer to copy text as it stands.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

type Written = Result<(), CanonicalError>;

/// An array that is still open, perhaps inside the object that names a variant.
#[derive(Debug)]
pub(super) struct Array<'a> {
    writer: &'a mut Writer,
    empty: bool,
    variant: Option<Object>,
}

/// An object that is still open, perhaps inside the object that names a variant.
#[derive(Debug)]
pub(super) struct Map<'a> {
    writer: &'a mut Writer,
    object: Object,
    variant: Option<Object>,
}

fn open_variant(writer: &mut Writer, name: &str) -> Object {
    let object = writer.open();
    writer.key_text(name);
    writer.entry(&object);
    object
}

fn close_variant(writer: &mut Writer, object: &Object) -> Written {
    writer.end_entry();
    writer.close(object)
}

fn integer(writer: &mut Writer, negative: bool, magnitude: u64) -> Written {
    if magnitude > INTEGER_MAX {
        let sign = if negative { "-" } else { "" };
        return Err(CanonicalError::Number(format!("{sign}{magnitude}")));
    }
    if negative {
        writer.byte(b'-');
    }
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = magnitude;
    loop {
        at -= 1;
        // A remainder by ten always fits.
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    writer.plain(str::from_utf8(&digits[at..]).unwrap_or_default());
    Ok(())
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = CanonicalError;
    type SerializeSeq = Array<'a>;
    type SerializeTuple = Array<'a>;
    type SerializeTupleStruct = Array<'a>;
    type SerializeTupleVariant = Array<'a>;
    type SerializeMap = Map<'a>;
    type SerializeStruct = Map<'a>;
    type SerializeStructVariant = Map<'a>;

    fn serialize_bool(self, value: bool) -> Written {
        self.plain(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Written {
        integer(self, value < 0, value.unsigned_abs())
    }

    fn serialize_i128(self, value: i128) -> Written {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) => Err(CanonicalError::Number(value.to_string())),
        }
    }

    fn serialize_u8(self, value: u8) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Written {
        integer(self, false, value)
    }

    fn serialize_u128(self, value: u128) -> Written {
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => Err(CanonicalError::Number(value.to_string())),
        }
    }

    fn serialize_f32(self, value: f32) -> Written {
        Err(CanonicalError::Number(value.to_string()))
    }

    fn serialize_f64(self, value: f64) -> Written {
        Err(CanonicalError::Number(value.to_string()))
    }

    fn serialize_char(self, value: char) -> Written {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Written {
        self.string(text);
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Written {
        self.display(value)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Written {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Written {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.plain("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Written {
        self.string(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        let object = open_variant(self, variant);
        value.serialize(&mut *self)?;
        close_variant(self, &object)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Array<'a>, CanonicalError> {
        self.byte(b'[');
        Ok(Array { writer: self, empty: true, variant: None })
    }

    fn serialize_tuple(self, len: usize) -> Result<Array<'a>, CanonicalError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Array<'a>, CanonicalError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Array<'a>, CanonicalError> {
        let object = open_variant(self, variant);
        self.byte(b'[');
        Ok(Array { writer: self, empty: true, variant: Some(object) })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Map<'a>, CanonicalError> {
        let object = self.open();
        Ok(Map { writer: self, object, variant: None })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Map<'a>, CanonicalError> {
        if name == RAW_VALUE {
            return Err(CanonicalError::Raw);
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Map<'a>, CanonicalError> {
        let outer = open_variant(self, variant);
        let object = self.open();
        Ok(Map { writer: self, object, variant: Some(outer) })
    }
}

impl Array<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        if !self.empty {
            self.writer.byte(b',');
        }
        self.empty = false;
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> Written {
        self.writer.byte(b']');
        self.variant.map_or(Ok(()), |object| close_variant(self.writer, &object))
    }
}

impl Map<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Written {
        self.writer.key_text(key);
        self.value(value)
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.writer.entry(&self.object);
        value.serialize(&mut *self.writer)?;
        self.writer.end_entry();
        Ok(())
    }

    fn close(self) -> Written {
        self.writer.close(&self.object)?;
        self.variant.map_or(Ok(()), |object| close_variant(self.writer, &object))
    }
}

macro_rules! arrays {
    ($($name:ident::$method:ident,)+) => {$(
        impl $name for Array<'_> {
            type Ok = ();
            type Error = CanonicalError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
                self.element(value)
            }

            fn end(self) -> Written {
                self.close()
            }
        }
    )+};
}

arrays! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

impl SerializeMap for Map<'_> {
    type Ok = ();
    type Error = CanonicalError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        key.serialize(KeySerializer(self.writer))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.value(value)
    }

    fn end(self) -> Written {
        self.close()
    }
}

macro_rules! structs {
    ($($name:ident,)+) => {$(
        impl $name for Map<'_> {
            type Ok = ();
            type Error = CanonicalError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Written {
                self.field(key, value)
            }

            fn end(self) -> Written {
                self.close()
            }
        }
    )+};
}

structs! { SerializeStruct, SerializeStructVariant, }
