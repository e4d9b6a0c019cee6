//! A store of things.
use std::collections::{HashMap, HashSet as Set};
use std::fmt::{self, Display};
use crate::other::*;
use super::thing::Thing as Other;
extern crate serde;

mod inner {
    pub fn helper(value: u32) -> u32 {
        value + 1
    }
}

pub mod outside;

pub const LIMIT: usize = 10;
static NAME: &str = "store";

/// A kept thing.
#[derive(Debug, Clone)]
pub struct Item {
    pub name: String,
    at: u64,
}

pub struct Pair(u32, u32);
struct Unit;

pub enum Kind {
    Plain,
    Tuple(u32),
    Named { field: String },
    Valued = 7,
}

pub union Bits {
    whole: u32,
    part: f32,
}

pub type Items = HashMap<String, Item>;

pub trait Read<T> {
    const MAX: usize;
    type Output;
    fn read(&self, name: &str) -> Option<T>;
    fn twice(&self, name: &str) -> Option<T> {
        self.read(name)
    }
}

pub struct Store<T> {
    items: Vec<T>,
}

impl<T: Clone> Store<T> {
    pub const START: usize = 1;

    pub fn new() -> Self {
        Store { items: Vec::new() }
    }

    pub async fn find<F>(&self, check: F) -> Option<&T>
    where
        F: Fn(&T) -> bool,
    {
        for (index, item) in self.items.iter().enumerate() {
            if check(item) {
                return self.items.get(index);
            }
        }
        let Some(first) = self.items.first() else { return None };
        let pick = |one: &T, (a, b): (u32, u32)| a + b;
        match first {
            found @ _ if check(found) => Some(found),
            _ => None,
        }
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.at)
    }
}

impl<T> Read<T> for Store<T> {
    const MAX: usize = 3;
    type Output = T;
    fn read(&self, name: &str) -> Option<T> {
        let Item { name: text, at } = load(name);
        let mut total = at;
        while let Some(x) = next() {
            total += x;
        }
        None
    }
}

macro_rules! keep {
    ($name:ident) => {
        fn $name() {}
    };
}

fn main() {
    let r#type = 'c';
    println!("raw: {}", r#"some "text""#);
}
