//! Values of one type that cross the boundary in one call: what a partition sets before, or gets after, an activation.
//!
//! Everything is allocated when the batch is made. Items can be left out at first (inputs for which nobody has computed a
//! value yet); the enabled ones always lie at the front of both arrays, so that a call hands over two plain slices.

use super::abi::Functions;
use super::arguments::{self, References};
use super::batch_bytes::Bytes;
use super::function::Function;
use super::shared::{CallContext, SharedInstance};
use super::status::{Failure, Outcome};
use super::types::{RawBool, RawReference};
use super::values::{for_each_number, get_function, set_function};
use std::ops::Range;
use vecud_description::{ValueReference, VariableType};

macro_rules! define_store {
    (() $($variant:ident $type:ident $get:ident $Get:ident $set:ident $Set:ident;)*) => {
        /// Values as C sees them. Booleans are bytes: an FMU may write any.
        #[derive(Debug)]
        enum Store {
            $($variant(Vec<$type>),)*
            Boolean(Vec<RawBool>),
            String(Bytes),
            Binary(Bytes),
        }

        impl Store {
            fn new(variable_type: VariableType, elements: usize) -> Option<Store> {
                Some(match variable_type {
                    $(VariableType::$variant => Store::$variant(vec![$type::default(); elements]),)*
                    VariableType::Enumeration => Store::Int64(vec![0; elements]),
                    VariableType::Boolean => Store::Boolean(vec![0; elements]),
                    VariableType::String | VariableType::Binary | VariableType::Clock => return None,
                })
            }

            #[inline]
            fn word(&self, at: usize) -> u64 {
                match self {
                    $(Store::$variant(v) => AsWord::to_word(v[at]),)*
                    Store::Boolean(v) => u64::from(v[at] != 0),
                    Store::String(_) | Store::Binary(_) => 0,
                }
            }

            #[inline]
            fn set_word(&mut self, at: usize, word: u64) {
                match self {
                    $(Store::$variant(v) => v[at] = AsWord::from_word(word),)*
                    Store::Boolean(v) => v[at] = RawBool::from(word != 0),
                    Store::String(_) | Store::Binary(_) => (),
                }
            }

            #[inline]
            fn words(&self, range: Range<usize>, places: impl Iterator<Item: FnOnce(u64)>) {
                match self {
                    $(Store::$variant(v) => {
                        v[range].iter().zip(places).for_each(|(value, place)| place(AsWord::to_word(*value)));
                    })*
                    Store::Boolean(v) => {
                        v[range].iter().zip(places).for_each(|(value, place)| place(u64::from(*value != 0)));
                    }
                    Store::String(_) | Store::Binary(_) => (),
                }
            }

            #[inline]
            fn set_words(&mut self, range: Range<usize>, words: impl Iterator<Item = u64>) {
                match self {
                    $(Store::$variant(v) => {
                        v[range].iter_mut().zip(words).for_each(|(place, word)| *place = AsWord::from_word(word));
                    })*
                    Store::Boolean(v) => {
                        v[range].iter_mut().zip(words).for_each(|(place, word)| *place = RawBool::from(word != 0));
                    }
                    Store::String(_) | Store::Binary(_) => (),
                }
            }

            fn rotate_right(&mut self, range: Range<usize>, by: usize) {
                match self {
                    $(Store::$variant(v) => v[range].rotate_right(by),)*
                    Store::Boolean(v) => v[range].rotate_right(by),
                    Store::String(v) | Store::Binary(v) => v.rotate_right(range, by),
                }
            }
        }

        impl SharedInstance {
            #[inline(never)]
            fn set_any(&self, batch: &Batch) -> Result<Outcome, Failure> {
                let (references, elements) = (batch.enabled_references(), batch.enabled_elements);
                if references.is_empty() {
                    return Ok(Outcome::Ok);
                }
                match &batch.store {
                    Store::String(v) => return self.set_strings_of(references, elements, v),
                    Store::Binary(v) => return self.set_binaries_of(references, elements, v),
                    _ => (),
                }
                // One call for all types, so that what surrounds a call is there once.
                let shown = |_: &(), _| batch.store.shown(self.named(references), elements, true);
                self.call_with(set_function(batch.variable_type), CallContext::default(), (), |(), f, i| match &batch.store {
                    $(Store::$variant(v) => {
                        let v = &v[..elements];
                        // SAFETY: as many references and values as said, alive until the call returns.
                        unsafe { (f.$set)(i, references.as_ptr(), references.len(), v.as_ptr(), v.len()) }
                    })*
                    Store::Boolean(v) => {
                        let v = &v[..elements];
                        // SAFETY: as above; the bytes are 0 or 1, for that is all that `set_word` and `get_batch` leave
                        // behind.
                        unsafe { (f.set_boolean)(i, references.as_ptr(), references.len(), v.as_ptr(), v.len()) }
                    }
                    Store::String(_) | Store::Binary(_) => unreachable!("these have returned above"),
                }, shown)
            }

            #[inline(never)]
            fn get_any(&self, batch: &mut Batch) -> Result<Outcome, Failure> {
                let elements = batch.enabled_elements;
                let references = &batch.references[..batch.enabled_items];
                if references.is_empty() {
                    return Ok(Outcome::Ok);
                }
                match &mut batch.store {
                    Store::String(v) => return self.get_strings_of(references, elements, v),
                    Store::Binary(v) => return self.get_binaries_of(references, elements, v),
                    _ => (),
                }
                let shown = |store: &&mut Store, is_read| store.shown(self.named(references), elements, is_read);
                let (function, store) = (get_function(batch.variable_type), &mut batch.store);
                let outcome = self.call_with(function, CallContext::default(), store, |store, f, i| match &mut **store {
                    $(Store::$variant(v) => {
                        let v = &mut v[..elements];
                        // SAFETY: as many references and as much room as said, alive until the call returns; any bits
                        // that the FMU writes are a value of this type.
                        unsafe { (f.$get)(i, references.as_ptr(), references.len(), v.as_mut_ptr(), v.len()) }
                    })*
                    Store::Boolean(v) => {
                        let v = &mut v[..elements];
                        let (n, values) = (references.len(), v.as_mut_ptr());
                        // SAFETY: as above; bytes, of which any value is fine.
                        unsafe { (f.get_boolean)(i, references.as_ptr(), n, values, v.len()) }
                    }
                    Store::String(_) | Store::Binary(_) => unreachable!("these have returned above"),
                }, shown);
                if outcome.is_ok() {
                    batch.no_booleans().for_each(|(reference, byte)| self.environment.host().no_boolean(reference, byte));
                }
                if let Store::Boolean(v) = &mut batch.store {
                    normalise(&mut v[..elements]);
                }
                outcome
            }
        }

        impl Store {
            /// The batch as arguments of a call, which has read the values, or not.
            fn shown(&self, references: References, elements: usize, is_read: bool) -> String {
                match self {
                    $(Store::$variant(v) => arguments::of_read(references, v[..elements].iter(), is_read),)*
                    Store::Boolean(v) => arguments::of_read(references, arguments::booleans(&v[..elements]), is_read),
                    Store::String(_) | Store::Binary(_) => String::new(),
                }
            }
        }
    };
}
for_each_number!(define_store!());

impl SharedInstance {
    /// Sets the enabled items of the batch, in one call; without any, calls nothing.
    #[inline(always)] // as `visit`
    pub(super) fn set_batch(&self, batch: &Batch) -> Result<Outcome, Failure> {
        let Batch { store: Store::Float64(v), references, is_complete: true, .. } = batch else {
            return self.set_any(batch);
        };
        // What there is most of.
        let make = |(): &mut (), f: &Functions, i| {
            // SAFETY: as many references and values as said, alive until the call returns.
            unsafe { (f.set_float64)(i, references.as_ptr(), references.len(), v.as_ptr(), v.len()) }
        };
        let shown = |_: &(), _| arguments::of_variables(self.named(references), v.iter());
        self.call_with(Function::SetFloat64, CallContext::default(), (), make, shown)
    }

    /// Gets the enabled items of the batch, in one call; without any, calls nothing.
    #[inline(always)] // as `visit`
    pub(super) fn get_batch(&self, batch: &mut Batch) -> Result<Outcome, Failure> {
        let Batch { store: Store::Float64(v), references, is_complete: true, .. } = batch else {
            return self.get_any(batch);
        };
        let make = |v: &mut &mut [f64], f: &Functions, i| {
            // SAFETY: as many references and as much room as said, alive until the call returns; any bits are a double.
            unsafe { (f.get_float64)(i, references.as_ptr(), references.len(), v.as_mut_ptr(), v.len()) }
        };
        let shown = |v: &&mut [f64], is_read| arguments::of_read(self.named(references), v.iter(), is_read);
        self.call_with(Function::GetFloat64, CallContext::default(), &mut v[..], make, shown)
    }
}

/// Makes true of every byte but 0, so that no other byte gets from one FMU into another.
pub(super) fn normalise(bytes: &mut [RawBool]) {
    for byte in bytes {
        *byte = RawBool::from(*byte != 0);
    }
}

/// A value as 64 bits.
pub(super) trait AsWord: Copy {
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}
macro_rules! integers {
    ($($type:ident via $wide:ident)*) => { $(
        impl AsWord for $type {
            #[inline]
            fn to_word(self) -> u64 { $wide::from(self) as u64 }
            #[inline]
            fn from_word(word: u64) -> $type { word as $type }
        }
    )* };
}
integers!(i8 via i64 i16 via i64 i32 via i64 i64 via i64 u8 via u64 u16 via u64 u32 via u64 u64 via u64);
impl AsWord for f32 {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline]
    fn from_word(word: u64) -> f32 {
        f32::from_bits(word as u32)
    }
}
impl AsWord for f64 {
    #[inline]
    fn to_word(self) -> u64 {
        self.to_bits()
    }
    #[inline]
    fn from_word(word: u64) -> f64 {
        f64::from_bits(word)
    }
}

/// Variables of one type, with room for their values.
///
/// An *item* is one variable, with one element or, for arrays, more. Elements are numbered through all items in the order
/// in which these were given. As *words*, floats are their bits (`f32` zero-extended), integers are sign-extended to 64
/// bits, booleans are 0 or 1. Strings and binaries are [bytes](Batch::bytes).
#[derive(Debug)]
pub struct Batch {
    variable_type: VariableType,
    store: Store,
    /// Value references, enabled items first.
    references: Vec<RawReference>,
    enabled_items: usize,
    enabled_elements: usize,
    items: Vec<Item>,
    /// Element number → place in the store.
    places: Vec<u32>,
    /// Each element's place is its number.
    in_order: bool,
    /// Whether there are items, and all of them are enabled with all elements that there is room for.
    is_complete: bool,
}

/// The place of an item. Enabled ones never move again.
#[derive(Clone, Debug)]
struct Item {
    /// The number of the variable's first element.
    first: usize,
    elements: usize,
    /// The place of the variable's first element in the store.
    place: usize,
    /// The place of the variable among the references.
    reference: usize,
}

impl Batch {
    /// A batch whose items are all enabled: the usual one for getting.
    ///
    /// # Panics
    /// For clocks, which do not cross the boundary this way, and for strings and binaries: [`Batch::awaiting_bytes`]
    /// needs their lengths.
    pub fn new(variable_type: VariableType, variables: Vec<(ValueReference, usize)>) -> Batch {
        Batch::awaiting(variable_type, variables).all_enabled()
    }

    /// The batch with all its items enabled from the start.
    pub fn all_enabled(mut self) -> Batch {
        self.enabled_items = self.items.len();
        self.enabled_elements = self.places.len();
        self.look();
        self
    }

    /// Updates whether the batch is complete.
    fn look(&mut self) {
        let (items, elements) = (self.enabled_items, self.enabled_elements);
        self.is_complete = items > 0 && items == self.items.len() && elements == self.places.len();
    }

    /// A batch whose items are all left out until they are [enabled](Batch::enable): for inputs that have no value yet.
    ///
    /// # Panics
    /// As for [`Batch::new`].
    pub fn awaiting(variable_type: VariableType, variables: Vec<(ValueReference, usize)>) -> Batch {
        let elements = variables.iter().map(|(_, elements)| elements).sum();
        let store = Store::new(variable_type, elements)
            .unwrap_or_else(|| panic!("no batch can be made of variables of type {variable_type:?}"));
        Batch::with_store(variable_type, &variables, store)
    }

    /// A batch for strings and binaries that are read; with each variable, its number of elements and their longest length
    /// in bytes.
    ///
    /// # Panics
    /// For other types.
    pub fn awaiting_bytes(variable_type: VariableType, variables: &[(ValueReference, usize, usize)]) -> Batch {
        let capacities = variables.iter().flat_map(|&(_, elements, capacity)| std::iter::repeat_n(capacity, elements));
        let bytes = Bytes::new(capacities.collect());
        let store = match variable_type {
            VariableType::String => Store::String(bytes),
            VariableType::Binary => Store::Binary(bytes),
            other => panic!("{other:?} is no type of strings or binaries"),
        };
        let variables: Vec<_> = variables.iter().map(|&(reference, elements, _)| (reference, elements)).collect();
        Batch::with_store(variable_type, &variables, store)
    }

    fn with_store(variable_type: VariableType, variables: &[(ValueReference, usize)], store: Store) -> Batch {
        let mut first = 0;
        let mut items = Vec::with_capacity(variables.len());
        for (number, &(_, elements)) in variables.iter().enumerate() {
            items.push(Item { first, elements, place: first, reference: number });
            first += elements;
        }
        let elements = u32::try_from(first).expect("a batch has at most 2^32 elements");
        Batch {
            variable_type,
            store,
            references: variables.iter().map(|(reference, _)| reference.0).collect(),
            enabled_items: 0,
            enabled_elements: 0,
            items,
            places: (0..elements).collect(),
            in_order: true,
            is_complete: false,
        }
    }

    /// Takes an item in, for good. Does not allocate; takes time in proportion to the batch the first time.
    pub fn enable(&mut self, item: usize) {
        if self.is_enabled(item) {
            return;
        }
        // Rotate the item to the front of those that are left out, which shifts them behind it.
        let Item { elements, place, reference, .. } = self.items[item];
        self.references[self.enabled_items..=reference].rotate_right(1);
        self.store.rotate_right(self.enabled_elements..place + elements, elements);
        for (number, other) in self.items.iter_mut().enumerate() {
            if number == item {
                (other.place, other.reference) = (self.enabled_elements, self.enabled_items);
            } else if (self.enabled_items..reference).contains(&other.reference) {
                other.place += elements;
                other.reference += 1;
            } else {
                continue;
            }
            for element in 0..other.elements {
                self.places[other.first + element] = (other.place + element) as u32;
            }
        }
        self.enabled_items += 1;
        self.enabled_elements += elements;
        self.in_order = self.places.iter().enumerate().all(|(element, place)| element == *place as usize);
        self.look();
    }

    /// Gives the only item of a batch another number of elements, at most as many as it was made with. With none it is
    /// left out. Does not allocate.
    ///
    /// # Panics
    /// If there are several items, or too many elements.
    pub fn resize(&mut self, elements: usize) {
        assert!(self.items.len() == 1 && elements <= self.places.len());
        self.items[0].elements = elements;
        self.enabled_items = usize::from(elements > 0);
        self.enabled_elements = elements;
        self.look();
    }

    /// Makes the only item of a batch stand for another variable of the type, with `elements` elements, as [`Batch::resize`].
    ///
    /// # Panics
    /// As for [`Batch::resize`].
    pub fn refer_to(&mut self, reference: ValueReference, elements: usize) {
        self.resize(elements);
        self.references[0] = reference.0;
    }

    /// Whether an item takes part.
    pub fn is_enabled(&self, item: usize) -> bool {
        self.items[item].reference < self.enabled_items
    }

    /// Whether all items take part, with all elements that there is room for.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The type of all its variables.
    pub fn variable_type(&self) -> VariableType {
        self.variable_type
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// The elements of an item.
    pub fn elements(&self, item: usize) -> Range<usize> {
        let Item { first, elements, .. } = self.items[item];
        first..first + elements
    }

    /// Number of elements of all items.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// An element's value; of an item that is left out as well.
    #[inline]
    pub fn word(&self, element: usize) -> u64 {
        self.store.word(self.places[element] as usize)
    }

    /// Changes an element's value; of an item that is left out as well. Integers are truncated to their type.
    #[inline]
    pub fn set_word(&mut self, element: usize, word: u64) {
        self.store.set_word(self.places[element] as usize, word);
    }

    /// Hands the values of several elements each to its place.
    #[inline]
    pub fn words(&self, elements: Range<usize>, places: impl Iterator<Item: FnOnce(u64)>) {
        match self.in_order {
            true => self.store.words(elements, places),
            false => elements.zip(places).for_each(|(element, place)| place(self.word(element))),
        }
    }

    /// Whether a number among those that take part is none (NaN).
    #[inline]
    pub fn has_nan(&self) -> bool {
        match &self.store {
            Store::Float64(v) => v[..self.enabled_elements].iter().fold(false, |any, value| any | value.is_nan()),
            Store::Float32(v) => v[..self.enabled_elements].iter().fold(false, |any, value| any | value.is_nan()),
            _ => false,
        }
    }

    /// The items that [have such a number](Batch::has_nan), and the first element that has.
    pub fn with_nan(&self) -> impl Iterator<Item = (ValueReference, usize)> {
        let is_nan = |place: usize| match &self.store {
            Store::Float64(v) => v[place].is_nan(),
            Store::Float32(v) => v[place].is_nan(),
            _ => false,
        };
        (0..self.items.len()).filter(|item| self.is_enabled(*item)).filter_map(move |number| {
            let item = &self.items[number];
            let element = (0..item.elements).find(|element| is_nan(item.place + element))?;
            Some((ValueReference(self.references[item.reference]), element))
        })
    }

    /// Bytes of Booleans, as C has them, that are neither 0 nor 1, and the items that they are of.
    fn no_booleans(&self) -> impl Iterator<Item = (ValueReference, i64)> {
        let bytes = match &self.store {
            Store::Boolean(v) if v[..self.enabled_elements].iter().any(|byte| *byte > 1) => v.as_slice(),
            _ => &[],
        };
        let items = self.items.iter().enumerate().filter(|(number, _)| !bytes.is_empty() && self.is_enabled(*number));
        items.flat_map(move |(_, item)| {
            let own = bytes[item.place..item.place + item.elements].iter().filter(|byte| **byte > 1);
            own.map(|byte| (ValueReference(self.references[item.reference]), i64::from(*byte)))
        })
    }

    /// The values of all elements one after the other, if they lie so and are doubles.
    #[inline]
    pub fn doubles(&self) -> Option<&[f64]> {
        match &self.store {
            Store::Float64(v) if self.in_order => Some(v),
            _ => None,
        }
    }

    /// [`Batch::doubles`], to be changed.
    #[inline]
    pub fn doubles_mut(&mut self) -> Option<&mut [f64]> {
        match &mut self.store {
            Store::Float64(v) if self.in_order => Some(v),
            _ => None,
        }
    }

    /// All values in the order of their places, if they are doubles.
    #[inline]
    pub fn doubles_by_place(&self) -> Option<&[f64]> {
        if let Store::Float64(v) = &self.store { Some(v) } else { None }
    }

    /// [`Batch::doubles_by_place`], to be changed.
    #[inline]
    pub fn doubles_by_place_mut(&mut self) -> Option<&mut [f64]> {
        if let Store::Float64(v) = &mut self.store { Some(v) } else { None }
    }

    /// Changes the values of several elements, as [`Batch::set_word`] does.
    #[inline]
    pub fn set_words(&mut self, elements: Range<usize>, words: impl Iterator<Item = u64>) {
        match self.in_order {
            true => self.store.set_words(elements, words),
            false => elements.zip(words).for_each(|(element, word)| self.set_word(element, word)),
        }
    }

    /// The bytes of a string (without its NUL) or a binary. After a value was read that is longer than the element may
    /// be: its size. Empty for other types.
    #[inline]
    pub fn bytes(&self, element: usize) -> Result<&[u8], usize> {
        match &self.store {
            Store::String(v) | Store::Binary(v) => v.get(self.places[element] as usize),
            _ => Ok(&[]),
        }
    }

    /// Changes a string or binary: `fill` gets room for as many bytes as the element may have, and returns the number that
    /// it has written. Precondition: a string has no NUL inside.
    #[inline]
    pub fn fill_bytes(&mut self, element: usize, fill: impl FnOnce(&mut [u8]) -> usize) {
        let place = self.places[element] as usize;
        if let Store::String(v) | Store::Binary(v) = &mut self.store {
            v.fill(place, fill);
        }
    }

    /// Changes a string or binary, unless the value is longer than the element may be: then the element keeps its value
    /// and [says so](Batch::bytes). Precondition: a string has no NUL inside.
    pub fn set_bytes(&mut self, element: usize, value: &[u8]) {
        let place = self.places[element] as usize;
        if let Store::String(v) | Store::Binary(v) = &mut self.store {
            v.take(place, value);
        }
    }

    fn enabled_references(&self) -> &[RawReference] {
        &self.references[..self.enabled_items]
    }
}
