//! How large and how deep a program may be.

/// The longest source text that is read, in bytes: room for a category of a million levels written out.
pub const MAX_SOURCE_BYTES: usize = 16 << 20;

/// The most lines: a message about one of the last is drawn after looking at all.
pub const MAX_LINES: usize = 1 << 20;

/// The most words a text may hold outside the braces of `category { .. }`.
pub const MAX_WORDS: usize = 500_000;

/// The most words between the braces of `category { .. }`, in all: a million levels and their commas.
pub const MAX_LEVEL_WORDS: usize = 2_500_000;

/// The most bytes of a name, a number or a level: messages and certificates repeat them.
pub const MAX_WORD_BYTES: usize = 1_000;

/// How deep brackets, blocks, `if`s and operators may nest.
pub const MAX_NESTING: usize = 256;

/// The most complaints about one text.
pub const MAX_COMPLAINTS: usize = 50;
