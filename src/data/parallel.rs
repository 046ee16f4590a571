//! One pass over the rows of a file, batch by batch: in their order, or on all cores, where one thread reads blocks and workers take
//! them apart and count.
//!
//! Which worker gets a block is up to chance, so the latter is for what only adds integers: their sums are the same in any order.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::DataError;
use super::batch::Batch;
use super::block::Block;
use super::row::Rows;

/// What one worker at a time holds.
struct Lane<T> {
    sums: T,
    batch: Batch,
}

/// A block that goes back to the reader when its worker ends, however that is.
struct Lent {
    block: Block,
    back: Sender<Block>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        // The reader may have ended.
        let _ = self.back.send(std::mem::take(&mut self.block));
    }
}

/// Sees every row, in the order of the file.
pub fn in_order(rows: Rows, mut see: impl FnMut(&Batch)) -> Result<(), DataError> {
    let (mut input, layout) = rows.parts();
    let (mut block, mut batch) = (Block::default(), Batch::new(layout.slots()));
    while input.block(&mut block)? {
        block.each(input.lines(), &layout, &mut batch, &mut see)?;
    }
    Ok(())
}

/// Sees every row; what each worker has summed, in no order.
pub fn in_parts<T: Send>(rows: Rows, start: impl Fn() -> T + Sync, see: impl Fn(&mut T, &Batch) + Sync) -> Result<Vec<T>, DataError> {
    let (mut input, layout) = rows.parts();
    let lines = input.lines();
    let free: Mutex<Vec<Lane<T>>> = Mutex::new(vec![]);
    let lanes = || free.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = OnceLock::new();
    let count = |block: &Block| {
        let lane = lanes().pop();
        let mut lane = lane.unwrap_or_else(|| Lane { sums: start(), batch: Batch::new(layout.slots()) });
        let done = block.each(lines, &layout, &mut lane.batch, |rows| see(&mut lane.sums, rows));
        let _ = done.map_err(|why| failed.set(why));
        lanes().push(lane);
    };
    let mut block = Block::default();
    let mut some = input.block(&mut block)?;
    // A pool's own thread must not wait for blocks: it may be the one that would bring them back. One block is done sooner here.
    let alone = !block.is_full() || rayon::current_thread_index().is_some();
    if alone {
        while some {
            count(&block);
            some = input.block(&mut block)?;
        }
    } else {
        let (back, empty) = channel();
        (0..2 * rayon::current_num_threads() + 1).try_for_each(|_| back.send(Block::default()).map_err(|_| DataError::Unreadable))?;
        rayon::in_place_scope(|workers| {
            while some {
                let mut next = empty.recv().map_err(|_| DataError::Unreadable)?;
                some = input.block(&mut next)?;
                let lent = Lent { block: std::mem::replace(&mut block, next), back: back.clone() };
                let count = &count;
                workers.spawn(move |_| count(&lent.block));
            }
            Ok(())
        })?;
    }
    if let Some(why) = failed.into_inner() {
        return Err(why);
    }
    let lanes = free.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(lanes.into_iter().map(|lane| lane.sums).collect())
}
