//! Doing the same for many items on several threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// The most threads for one list of items.
const MAX_THREADS: usize = 8;

/// Starting a thread takes about as long as judging one small tool.
const ITEMS_A_THREAD: usize = 8;

/// Calls `work` with each number below `count`.
pub(crate) fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(MAX_THREADS).min(count / ITEMS_A_THREAD);
    if threads < 2 {
        return (0..count).for_each(work);
    }
    // Each thread takes every so many-th item: long ones often stand side by side.
    let share = |first: usize| (first..count).step_by(threads).for_each(work);
    let share = &share;
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || share(first))).collect();
        share(0);
        for thread in others {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::for_each;

    #[test]
    fn each_has_its_turn() {
        for length in [0, 1, 7, 8, 15, 16, 17, 100, 1001] {
            let seen = Mutex::new(Vec::new());
            for_each(length, &|index| seen.lock().unwrap().push(index));
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (0..length).collect::<Vec<_>>());
        }
    }
}
