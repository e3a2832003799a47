//! Doing the same for many items on several threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// The most threads for one list of items.
const MAX_THREADS: usize = 8;

/// Starting a thread takes about as long as judging one small tool.
const ITEMS_A_THREAD: usize = 8;

/// What `work` makes of each of `items`, in their order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(MAX_THREADS).min(items.len() / ITEMS_A_THREAD);
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let work = &work;
    // Each thread takes every so many-th item: long ones often stand side by side.
    let share = |first| items.iter().skip(first).step_by(threads).map(work).collect::<Vec<_>>();
    let share = &share;
    let mut shares: Vec<_> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|first| scope.spawn(move || share(first))).collect();
        let own = share(0);
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        std::iter::once(own).chain(others.into_iter().map(join)).map(Vec::into_iter).collect()
    });
    (0..items.len()).filter_map(|index| shares[index % threads].next()).collect()
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn keeps_the_order() {
        for length in [0, 1, 7, 8, 15, 16, 17, 100, 1001] {
            let items: Vec<usize> = (0..length).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map(&items, |item| item * 2), expected);
        }
    }
}
