//! Pages on the cells of data files: how they are read, and what a missing one means.

use super::{Entry, Kind, Page};
use crate::model::cells;

pub fn pages() -> Vec<Page> {
    let table = |p: Page| Page { body: p.body.replace("TABLE", cells::table().trim_end()), ..p };
    super::from_entries(Kind::Keyword, ENTRIES).into_iter().map(table).collect()
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "else",
        summary: "age: int in 18..99 else 40: what a missing or unreadable cell of a column counts as.",
        body: r#"
A cell that cannot be read as the type of its column (`NA`, an empty cell, a misspelt level) counts as the value after `else`. The
value is a public constant inside the domain of the column: a number, `true` or `false`, one of the levels. Of a vector it replaces
the missing components alone: one number for all of them, or a list with one for each. Without `else` the type decides: the
number of its domain nearest to 0, false, the last level. A value that can be read and lies outside of the domain is not missing; it
is moved to the nearest end.

Every row still counts, so no cost changes: a row with a missing cell is one row like any other. `is_na(age)` tells such rows apart. The certificate
states the value. In a public table an unreadable cell is an error, unless its column has an `else`.

```dpm
budget eps(2)
private staff[n >= 500] { age: int in 18..99 else 40, region: category {north, south, other} else other, smoker: bool else false }
release mean_age = mean(age) using laplace
release unknown = count(is_na(age)) using geometric
release regions = histogram(region) using geometric
```

```dpm E0203
private staff[n >= 500] { age: int in 18..99 else 0 }
release mean_age = mean(age) using laplace(scale = 1)
```

`when .. { } else { }` and `if .. then .. else ..` have the same word for their other branch.
"#,
    },
    Entry {
        name: "date",
        summary: "day: date in [\"2020-01-01\", \"2024-12-31\"]: a column of whole days.",
        body: r#"
Cells are ISO 8601 days, `2020-02-29`: four, two and two digits. A day outside the domain is moved to its nearest end, and what is not a day counts as the
value after `else`, or as the first day of the domain. Nothing else is guessed: `02/03/2020` is two different days in two countries.

Dates are compared with dates and with days in quotes. The difference of two is a whole number of days, which may be summed, counted in bins and observed; a
date itself is not a number. `year(day)`, `month(day)` and `weekday(day)` are whole numbers of the row with public bounds; weekdays are 1 for
Monday to 7 for Sunday. `min`, `max` and `quantile` of dates are dates. Certificates count days from 1970-01-01, which is day 0.

```dpm
budget eps(2)
private visits[n] { day: date in ["2020-01-01", "2024-12-31"] else "2020-01-01", left: date in ["2020-01-01", "2025-12-31"] }
release by_month = histogram(year(day), month(day)) using geometric
release weekends = count(weekday(day) >= 6 and day >= "2021-07-01") using geometric
release stay = sum(clip(left - day, 0, 60)) using laplace
```

```dpm E0203
private visits[n] { day: date }
release by_month = histogram(month(day)) using geometric(scale = 2)
```
"#,
    },
    Entry {
        name: "missing",
        summary: "Missing values: how cells are read, what an unreadable one counts as, and how to leave it out of a mean.",
        body: r#"
A cell of a private table can never make a run fail, be counted in a message or change a line of output: that would tell
something about its row. So every cell has a value. This is the whole table; blanks around a cell do not matter, and what is in no row of it
is missing or unreadable, which are the same:

TABLE

A missing or unreadable cell counts as what the column says after `else`, or else as the number of the domain nearest to 0, false, or the
last level. A number outside its domain is moved to the nearest end; that is not missing.

`is_na(x)` is true in the rows where `x` is missing or unreadable, and otherwise false. It is a `bool` of the row, kept apart
from the value that counts instead, and may be used wherever a column of the row may: in `count`, `sum`, `histogram`, `if`, `observe`
by way of a `let`. A mean over the rows that have a value is a ratio of two releases:

```dpm
budget eps(1)
private staff[n >= 500] { pay: real in [0, 200] }
release total = sum(if is_na(pay) then 0 else pay) using laplace spend 70%
release known = count(not is_na(pay)) using geometric spend 30%
output mean_pay = total / max(known, 1)
```

How many cells were mapped is private: nothing that an analyst runs reports it. The owner of the data may look with
`dpm inspect FILE --data staff=staff.csv`, before choosing types; what it prints is not a release. Bounds and levels are best known from what
the column means: bounds that are read off the data are private values in the program.
"#,
    },
];
