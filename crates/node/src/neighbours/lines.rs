//! What differs between two texts, line by line, in the unified form.

use std::collections::HashMap;

/// Lines of each text. One with more is not compared.
const LINES_MAX: usize = 100_000;

/// Lines that may differ: what is kept while looking grows with its square.
pub(crate) const EDITS_MAX: usize = 2_000;

/// Lines that are shown around a change.
const AROUND: usize = 3;

/// What differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) text: String,
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Keep,
    Remove,
    Add,
}

/// The difference of two texts with these names; nothing if too much differs.
pub(crate) fn unified((from, before): (&str, &str), (to, after): (&str, &str)) -> Option<Difference> {
    let (old, new): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    if old.len().max(new.len()) > LINES_MAX {
        return None;
    }
    let edits = edits(&old, &new)?;
    let count =
        |edit| u64::try_from(edits.iter().filter(|found| **found == edit).count()).unwrap_or(u64::MAX);
    let (added, removed) = (count(Edit::Add), count(Edit::Remove));
    let mut text = String::new();
    if added + removed > 0 {
        text = format!("--- {from}\n+++ {to}\n");
        write(&mut text, &edits, (&old, &new));
    }
    Some(Difference { text, added, removed })
}

/// The fewest edits that lead from one to the other.
fn edits(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut known = HashMap::new();
    let mut numbered = |lines: &[&'_ str]| -> Vec<usize> {
        let mut numbers = Vec::with_capacity(lines.len());
        for line in lines {
            let next = known.len();
            numbers.push(*known.entry((*line).to_owned()).or_insert(next));
        }
        numbers
    };
    let (old, new) = (numbered(old), numbered(new));
    let mut all = vec![Edit::Keep; head];
    all.extend(shortest(&old, &new)?);
    all.extend(std::iter::repeat_n(Edit::Keep, tail));
    Some(all)
}

/// Myers' greedy search. Diagonals are counted from `EDITS_MAX + 1`, so that none is below zero.
fn shortest(old: &[usize], new: &[usize]) -> Option<Vec<Edit>> {
    const MIDDLE: usize = EDITS_MAX + 1;
    let mut reach = vec![0_usize; 2 * MIDDLE + 1];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for depth in 0..=EDITS_MAX {
        trace.push(reach[MIDDLE - depth - 1..=MIDDLE + depth + 1].to_vec());
        for step in 0..=depth {
            let diagonal = MIDDLE + 2 * step - depth;
            let is_down = step == 0 || (step < depth && reach[diagonal - 1] < reach[diagonal + 1]);
            let mut x = if is_down { reach[diagonal + 1] } else { reach[diagonal - 1] + 1 };
            let mut y = x + MIDDLE - diagonal;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[diagonal] = x;
            if x >= old.len() && y >= new.len() {
                return Some(backwards(&trace, (old.len(), new.len())));
            }
        }
    }
    None
}

fn backwards(trace: &[Vec<usize>], (mut x, mut y): (usize, usize)) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (depth, reach) in trace.iter().enumerate().rev() {
        // The diagonal `x - y`, counted from the first that this step could reach.
        let diagonal = x + depth + 1 - y;
        let is_down =
            diagonal == 1 || (diagonal < 2 * depth + 1 && reach[diagonal - 1] < reach[diagonal + 1]);
        let came_x = if is_down { reach[diagonal + 1] } else { reach[diagonal - 1] };
        let came_y =
            if is_down { (came_x + depth).saturating_sub(diagonal) } else { came_x + depth + 2 - diagonal };
        let (from_x, from_y) = if depth == 0 { (0, 0) } else { (came_x, came_y) };
        while x > from_x && y > from_y {
            edits.push(Edit::Keep);
            (x, y) = (x - 1, y - 1);
        }
        if depth > 0 {
            edits.push(if is_down { Edit::Add } else { Edit::Remove });
            (x, y) = (from_x, from_y);
        }
    }
    edits.reverse();
    edits
}

/// Writes the changes with the lines around them.
fn write(text: &mut String, edits: &[Edit], (old, new): (&[&str], &[&str])) {
    let changed: Vec<usize> =
        edits.iter().enumerate().filter(|(_, edit)| **edit != Edit::Keep).map(|(at, _)| at).collect();
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for at in changed {
        let (from, to) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(edits.len()));
        match groups.last_mut() {
            Some((_, end)) if *end >= from => *end = to,
            _ => groups.push((from, to)),
        }
    }
    let (mut at, mut x, mut y) = (0, 0, 0);
    let go = |edit: Edit, x: &mut usize, y: &mut usize| {
        *x += usize::from(edit != Edit::Add);
        *y += usize::from(edit != Edit::Remove);
    };
    for (from, to) in groups {
        edits[at..from].iter().for_each(|edit| go(*edit, &mut x, &mut y));
        let part = &edits[from..to];
        let olds = part.iter().filter(|edit| **edit != Edit::Add).count();
        let news = part.iter().filter(|edit| **edit != Edit::Remove).count();
        let place = |at: usize, count: usize| format!("{},{count}", at + usize::from(count > 0));
        text.push_str(&format!("@@ -{} +{} @@\n", place(x, olds), place(y, news)));
        for edit in part {
            let (sign, line) = match edit {
                Edit::Keep => (' ', old[x]),
                Edit::Remove => ('-', old[x]),
                Edit::Add => ('+', new[y]),
            };
            text.push(sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
            go(*edit, &mut x, &mut y);
        }
        at = to;
    }
}

#[cfg(test)]
#[path = "lines/tests.rs"]
mod tests;
